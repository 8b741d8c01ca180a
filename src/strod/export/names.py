"""What every format says of a topic: its name, its phrases, its share."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strod.hierarchy import Topic, Tree

__all__ = ["EVERYTHING", "escaped", "name_of", "phrases_of", "plain", "texts_of", "topics_of"]

EVERYTHING = "everything"  # the root has no name of its own
_WORDS = 30  # words where all are asked for and there are no phrases
_NAMED_BY = 3  # words of a name where there are no phrases
# What XML 1.0 cannot hold, not even escaped; a browser does not show it either.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def topics_of(tree: Tree) -> list[Topic]:
    """All topics, each followed by what is below it."""
    found, waiting = [], [tree.root]
    while waiting:
        topic = waiting.pop()
        found.append(topic)
        waiting += reversed(topic.children)
    return found


def name_of(topic: Topic) -> str:
    """Its label, or what stands for it."""
    if topic.label:
        return topic.label
    if topic.parent is None:
        return EVERYTHING
    texts = phrases_of(topic, 2) or [word for word, _ in topic.top(_NAMED_BY)]
    return ", ".join(texts) or topic.path


def phrases_of(topic: Topic, number: int | None) -> list[str]:
    """The best `number` phrases; 0 and None mean all."""
    return [text for text, _ in topic.phrases[: number or None]]


def texts_of(topic: Topic, number: int | None) -> list[str]:
    """What a topic is read by: its best `number` phrases or, where it has none, words."""
    return phrases_of(topic, number) or [word for word, _ in topic.top(number or _WORDS)]


def plain(text: str) -> str:
    """The text without characters that markup cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Text for HTML, in elements and in quoted attributes."""
    return html.escape(plain(text), quote=True)
