"""Which revisions there are, and which corpus belongs to each.

The manifest lists them: ``history`` up to now, ``undone`` for redo, ``corpora`` with the corpus
as it was from some revisions on, ``last`` with the highest numbers that were ever given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["corpus_at", "next_revision", "next_segment", "numbered"]


def corpus_at(tree: dict[str, Any], history: Sequence[int]) -> dict[str, Any]:
    """The corpus as it was at the end of a history: documents may have been added since."""
    number = max(n for n in history if str(n) in tree["corpora"])
    return dict(tree["corpora"][str(number)])


def next_revision(tree: dict[str, Any]) -> int:
    """A number that no revision has ever had, not even one that was forgotten."""
    return 1 + int(tree["last"]["revision"])


def next_segment(manifest: dict[str, Any]) -> int:
    """A number that no segment of the corpus has ever had."""
    return 1 + int(manifest["tree"]["last"]["segment"])


def numbered(tree: dict[str, Any], corpus: dict[str, Any]) -> dict[str, Any]:
    """The list with the highest numbers, and without corpora that no revision has."""
    last = tree.get("last", {"revision": 0, "segment": 0})
    there = {*tree["history"], *tree["undone"]}
    segments = [int(segment["name"]) for segment in corpus["segments"]]
    return tree | {
        "last": {
            "revision": max([last["revision"], *there]),
            "segment": max([last["segment"], *segments]),
        },
        "corpora": {n: about for n, about in tree["corpora"].items() if int(n) in there},
    }
