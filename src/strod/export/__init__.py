"""A tree in the formats of other tools: tables, graphs, vocabularies, and a page to read."""

from strod.export.notebook import tree_html
from strod.export.run import FORMATS, export

__all__ = ["FORMATS", "export", "tree_html"]
