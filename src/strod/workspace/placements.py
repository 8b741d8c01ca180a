"""Topics of the documents of a corpus, as they were placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.progress import Silent
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus
    from strod.progress import Progress
    from strod.workspace.tree import Tree
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["assign_corpus", "best_documents", "placement_rows"]

DIGITS = 6  # shares that differ by less are the same

# Share, different words, number of the document in the corpus.
_Place = tuple[float, int, int]


def assign_corpus(
    workspace: Workspace, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Path and shares of every document of the corpus, in its order, and its metadata if kept.

    A document without any word of the model says ``"known": 0``.
    """
    progress = progress or Silent()
    corpus, tree = workspace.snapshot.corpus, workspace.snapshot.tree
    progress.stage("assigning", corpus.documents, "documents")
    for shard in corpus.shards():
        rows = placement_rows(tree, shard.ids, tree.shares(shard.first, shard.size))
        meta = shard.metadata() if corpus.meta else [None] * shard.size
        for row, words, kept in zip(rows, shard.sizes, meta, strict=True):
            unknown = {} if words else {"known": 0}
            yield row | unknown | ({} if kept is None else {"meta": kept})
        progress.advance(shard.size)


def placement_rows(
    tree: Tree, ids: list[str], shares: dict[str, Array]
) -> Iterator[dict[str, Any]]:
    """Leaf and shares of each of some documents."""
    names = [name for name in tree if name != ROOT]
    if not names:
        yield from ({"id": one, "leaf": ROOT, "topics": {}} for one in ids)
        return
    table = np.stack([shares[tree[name].id] for name in names], axis=1).round(DIGITS)
    for one, leaf, row in zip(ids, tree.leaves(shares), table, strict=True):
        held = np.flatnonzero(row)
        yield {"id": one, "leaf": leaf, "topics": {names[i]: float(row[i]) for i in held}}


def best_documents(
    corpus: Corpus,
    tree: Tree,
    names: Sequence[str],
    number: int,
    progress: Progress | None = None,
) -> dict[str, list[_Place]]:
    """Share, different words and number of the `number` best documents of topics, by id.

    Only the decompositions that these topics are made of are read.
    """
    best: dict[str, list[_Place]] = {name: [] for name in names}
    for shard in corpus.shards() if number else ():
        shares, words = tree.shares(shard.first, shard.size, names), shard.sizes
        for name in names:
            found = _best(shares[name].round(DIGITS), words, shard.first, number)
            best[name] = sorted(best[name] + found, key=_order)[:number]
        if progress is not None:
            progress.advance(shard.size)
    return best


def _order(place: _Place) -> tuple[float, int, int]:
    share, words, document = place
    return -share, -words, document


def _best(
    shares: NDArray[np.float64], words: NDArray[np.int64], first: int, number: int
) -> list[_Place]:
    """The best documents of a shard."""
    place = max(shares.size - number, 0)
    least = np.partition(shares, place)[place]
    rows = np.flatnonzero((shares >= least) & (shares > 0))
    rows = rows[np.lexsort((rows, -words[rows], -shares[rows]))][:number]
    return [(float(shares[row]), int(words[row]), first + int(row)) for row in rows]
