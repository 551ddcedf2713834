"""Results in words and numbers for people and machines: the text report and the summary."""

from kinetix.report.summary import summary
from kinetix.report.text import sigma_sentence, text_report

__all__ = ["sigma_sentence", "summary", "text_report"]
