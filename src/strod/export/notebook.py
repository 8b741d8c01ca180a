"""The tree in a notebook: nested details, styled inline, since a cell has no page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod import pages
from strod.export.names import name_of, texts_of, topics_of

if TYPE_CHECKING:
    from strod.workspace.tree import Tree

__all__ = ["tree_html"]

PHRASES = 6


def tree_html(tree: Tree) -> str:
    """A compact, collapsible tree; `Tree._repr_html_` gives it to notebooks."""
    rows = [
        {"topic": topic, "name": name_of(topic), "texts": texts_of(topic, PHRASES)}
        for topic in topics_of(tree)
    ]
    return pages.part("notebook", rows=rows)
