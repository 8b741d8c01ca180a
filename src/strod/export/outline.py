"""Markdown: a nested list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strod.export.names import name_of, texts_of, topics_of
from strod.wording import line, percent, sizes

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["markdown"]

PHRASES = 10
# CommonMark allows a backslash before any of its punctuation; these can mean something in a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&#|~!$]")


def markdown(workspace: Workspace, phrases: int | None = None) -> str:
    """The tree as an outline; `phrases` of each topic, 0 means all."""
    number = PHRASES if phrases is None else phrases
    corpus, tree = workspace.corpus, workspace.tree
    head = (
        f"# {_escaped(workspace.path.stem)}\n\n"
        f"{sizes(corpus.documents, corpus.tokens, len(tree) - 1)}\n\n"
    )
    return head + "".join(_item(topic, number) for topic in topics_of(tree))


def _item(topic: Topic, phrases: int) -> str:
    texts = ", ".join(map(_escaped, texts_of(topic, phrases)))
    name = f"**{_escaped(name_of(topic))}** ({topic.path}, {_escaped(percent(topic.weight))})"
    return "  " * topic.level + f"- {name}" + (f": {texts}" if texts else "") + "\n"


def _escaped(text: str) -> str:
    """One line in which nothing is taken for markup."""
    return _SPECIAL.sub(r"\\\g<0>", line(" ".join(text.split())))
