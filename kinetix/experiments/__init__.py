"""What was measured and set: tables, what their columns mean, and the campaign of padded arrays they become.

`parse_table` reads text, `table_of_cells` a sheet, `recognise` finds the meaning of each column, `build_campaign` does all that follows.
Files are opened by `kinetix.io.tables.read_table`.
"""

from kinetix.experiments.building import build_campaign
from kinetix.experiments.campaign import Campaign, Remark, ResponseColumn, suspected
from kinetix.experiments.noise import Noise
from kinetix.experiments.plausibility import LONGEST, odd_constants, require_possible, without_effect
from kinetix.experiments.recognition import Recognition, recognise
from kinetix.experiments.table import Header, Layout, Table, parse_header, parse_table, table_of_cells
from kinetix.experiments.vocabulary import Vocabulary

__all__ = [
    "LONGEST",
    "Campaign",
    "Header",
    "Layout",
    "Noise",
    "Recognition",
    "Remark",
    "ResponseColumn",
    "Table",
    "Vocabulary",
    "build_campaign",
    "odd_constants",
    "parse_header",
    "parse_table",
    "recognise",
    "require_possible",
    "suspected",
    "table_of_cells",
    "without_effect",
]
