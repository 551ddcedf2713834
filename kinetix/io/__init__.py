"""The only room that opens files: tables, study files, results."""

from kinetix.io.campaigns import read_csv as read_csv
from kinetix.io.candidates import read_candidate as read_candidate
from kinetix.io.folders import whole_folder as whole_folder
from kinetix.io.folders import writable_file as writable_file
from kinetix.io.folders import writable_place as writable_place
from kinetix.io.folders import write_comparison as write_comparison
from kinetix.io.folders import write_fit as write_fit
from kinetix.io.folders import write_report as write_report
from kinetix.io.results import read_tree as read_tree
from kinetix.io.results import write_figures as write_figures
from kinetix.io.results import write_summary as write_summary
from kinetix.io.results import write_tree as write_tree
from kinetix.io.studies import read_study as read_study
from kinetix.io.studies import read_tables as read_tables
from kinetix.io.studies import study_text as study_text
from kinetix.io.studies import write_study as write_study
from kinetix.io.tables import is_standard_input as is_standard_input
from kinetix.io.tables import read_table as read_table
