"""Results in words and numbers for people and machines: text, HTML, Markdown, CSV and the summary."""

from kinetix.report.comparison import comparison_summary
from kinetix.report.content import Picture
from kinetix.report.markdown import markdown_report
from kinetix.report.page import html_report
from kinetix.report.rows import sigma_sentence
from kinetix.report.spreadsheet import parameters_csv
from kinetix.report.summary import summary
from kinetix.report.text import text_report

__all__ = ["Picture", "comparison_summary", "html_report", "markdown_report", "parameters_csv", "sigma_sentence", "summary", "text_report"]
