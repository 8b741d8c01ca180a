"""What every format says of a topic: its name, its phrases, its share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strod.workspace.tree import Topic, Tree

__all__ = ["EVERYTHING", "name_of", "phrases_of", "texts_of", "topics_of"]

EVERYTHING = "everything"  # the root has no name of its own
_WORDS = 30  # words where all are asked for and there are no phrases


def topics_of(tree: Tree) -> list[Topic]:
    """All topics, each followed by what is below it."""
    found, waiting = [], [tree.root]
    while waiting:
        topic = waiting.pop()
        found.append(topic)
        waiting += reversed(topic.children)
    return found


def name_of(topic: Topic) -> str:
    """Its label; the root may have none."""
    return topic.label or EVERYTHING


def phrases_of(topic: Topic, number: int | None) -> list[str]:
    """The best `number` phrases; 0 and None mean all."""
    return [text for text, _ in topic.phrases[: number or None]]


def texts_of(topic: Topic, number: int | None) -> list[str]:
    """What a topic is read by: its best `number` phrases or, where it has none, words."""
    return phrases_of(topic, number) or [word for word, _ in topic.top(number or _WORDS)]
