"""What Sphinx needs to know; `build.py` calls it."""

from kinetix import __version__

project = "kinetix"
version = release = __version__
project_copyright = "the kinetix authors, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"

html_theme = "furo"
html_title = f"kinetix {__version__}"
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["static"]
html_css_files = ["pages.css"]
smartquotes_action = "D"  # dashes only: van 't Hoff, "..." stay as they are written
highlight_options = {"python": {"stripnl": True}, "pycon": {"stripnl": True}}  # no empty line at the end of an example

myst_heading_anchors = 4  # links such as rate-laws.md#reversible are checked too
default_role = "code"  # docstrings write `name`, as Markdown does

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_display_short_literal_types = True
maximum_signature_line_length = 90
