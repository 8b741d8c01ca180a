"""The tree in a notebook: nested details, styled inline, since a cell has no page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.export.names import escaped, name_of, texts_of
from strod.wording import percent

if TYPE_CHECKING:
    from strod.hierarchy import Topic, Tree

__all__ = ["tree_html"]

PHRASES = 6
_INDENT = "margin:.1em 0 .1em 1.2em"
_MUTED = "opacity:.75"  # right on light and on dark


def tree_html(tree: Tree) -> str:
    """A compact, collapsible tree; `Tree._repr_html_` gives it to notebooks."""
    return f'<div style="line-height:1.5">{_node(tree.root)}</div>'


def _node(topic: Topic) -> str:
    children = "".join(map(_node, topic.children))
    if not children:
        return f'<div style="{_INDENT}">{_line(topic)}</div>'
    shown = " open" if topic.parent is None else ""
    line = f'<summary style="cursor:pointer">{_line(topic)}</summary>'
    return f'<details style="{_INDENT}"{shown}>{line}{children}</details>'


def _line(topic: Topic) -> str:
    texts = texts_of(topic, PHRASES)
    return (
        f"<code>{escaped(topic.path)}</code> {escaped(percent(topic.weight))} "
        f"<strong>{escaped(name_of(topic))}</strong> "
        f'<span style="{_MUTED}">{escaped(", ".join(texts))}</span>'
    )
