"""A workspace as plain dictionaries: what ``strod show --json`` prints and JSON exports hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["as_dictionary"]

WORDS = 20  # of a topic, unless told otherwise


def as_dictionary(
    workspace: Workspace,
    start: str | None = None,
    depth: int | None = None,
    words: int | None = None,
    phrases: int | None = None,
) -> dict[str, Any]:
    """The corpus and the topics, for programs."""
    corpus, tree = workspace.corpus, workspace.tree
    return {
        "corpus": {
            "documents": corpus.documents,
            "tokens": corpus.tokens,
            "vocabulary": len(corpus.vocabulary),
            "meta": corpus.meta,
            "sha256": corpus.sha256,
        },
        "topics": [_topic(topic, words, phrases) for topic in tree.branch(start, depth)],
    }


def _topic(topic: Topic, words: int | None, phrases: int | None) -> dict[str, Any]:
    return {
        "id": topic.id,
        "path": topic.path,
        "parent": topic.parent.id if topic.parent else None,
        "level": topic.level,
        "weight": topic.weight,
        "alpha": topic.alpha,
        "alpha0": topic.alpha0,
        "words": [list(pair) for pair in topic.top(WORDS if words is None else words)],
        "phrases": [list(pair) for pair in topic.phrases[: phrases or None]],
        "documents": topic.documents,
        "label": topic.label,
        "pinned": topic.pinned,
        "reason": topic.reason,
        "rest": topic.rest,
        "sha256": topic.sha256,
    }
