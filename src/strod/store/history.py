"""Which revisions there are, and which corpus belongs to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.store.schema import CorpusRecord, Last, TreeRecord, replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strod.store.schema import Manifest

__all__ = ["appended", "corpus_at", "next_segment", "shortened"]


def corpus_at(tree: TreeRecord, history: Sequence[int]) -> CorpusRecord:
    """The corpus as it was at the end of a history: documents may have been added since."""
    return tree.corpora[str(max(n for n in history if str(n) in tree.corpora))]


def next_segment(manifest: Manifest) -> int:
    """A number that no segment of the corpus has ever had."""
    return 1 + manifest.tree.last.segment


def appended(tree: TreeRecord, topics: int, corpus: CorpusRecord | None = None) -> TreeRecord:
    """The list with one revision more, after which nothing is undone.

    Its number is one that no revision has ever had, not even one that was forgotten. `corpus`
    is given if documents were added with it.
    """
    number = 1 + tree.last.revision
    corpora = tree.corpora | ({} if corpus is None else {str(number): corpus})
    segments = [] if corpus is None else [int(segment.name) for segment in corpus.segments]
    last = Last(revision=number, segment=max([tree.last.segment, *segments]))
    history = (*tree.history, number)
    return _without_lost(
        replace(tree, topics=topics, history=history, undone=(), corpora=corpora, last=last)
    )


def shortened(tree: TreeRecord, keep: int) -> TreeRecord:
    """The list with the last `keep` revisions alone."""
    history = tree.history[-keep:]
    before = tree.history[: len(tree.history) - len(history) + 1]
    corpora = tree.corpora | {str(history[0]): corpus_at(tree, before)}
    return _without_lost(replace(tree, history=history, undone=(), corpora=corpora))


def _without_lost(tree: TreeRecord) -> TreeRecord:
    """Without corpora that no revision has."""
    there = {*tree.history, *tree.undone}
    return replace(tree, corpora={n: about for n, about in tree.corpora.items() if int(n) in there})
