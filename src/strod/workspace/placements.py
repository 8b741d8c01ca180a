"""Topics of the documents of a corpus, as they were placed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import UsageError
from strod.progress import Silent
from strod.values.shares import DIGITS, Placed, known_leaves
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus, Shard
    from strod.progress import Progress
    from strod.workspace.tree import Tree
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = [
    "ALL",
    "Chosen",
    "assign_corpus",
    "assignments",
    "best_documents",
    "placement_rows",
    "shard_rows",
]

FIT_DIGITS = 4

# Share, different words, number of the document in the corpus.
_Place = tuple[float, int, int]


@dataclass(frozen=True)
class Chosen:
    """Which shares of a document are told.

    Attributes
    ----------
    least : float
        Smaller shares are left out.
    top : int
        Most topics of a level, those with the largest shares; 0 for any number.
    """

    least: float = 0.0
    top: int = 0

    def __post_init__(self) -> None:
        """Refuse what leaves nothing."""
        if not 0 <= self.least <= 1:
            raise UsageError(f"`least` must be a share from 0 to 1, not {self.least}")
        if self.top < 0:
            raise UsageError(f"`top` must be 0 (all) or more, not {self.top}")

    def of(self, table: Array, levels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which numbers of a table of documents by topics are told."""
        told: NDArray[np.bool_] = (table > 0) & (table >= self.least)
        for level in np.unique(levels) if self.top else ():
            here = np.flatnonzero(levels == level)
            order = np.argsort(-table[:, here], axis=1, kind="stable")
            np.put_along_axis(told, here[order[:, self.top :]], False, axis=1)
        return told


ALL = Chosen()


def assign_corpus(
    workspace: Workspace, progress: Progress | None = None, chosen: Chosen = ALL
) -> Iterator[dict[str, Any]]:
    """Path, shares and fit of every document of the corpus, in its order, and its metadata."""
    progress = progress or Silent()
    corpus, tree = workspace.snapshot.corpus, workspace.snapshot.tree
    progress.stage("assigning", corpus.documents, "documents")
    for shard in corpus.shards():
        meta = shard.metadata() if corpus.meta else [None] * shard.size
        for row, kept in zip(shard_rows(tree, shard, chosen), meta, strict=True):
            yield row if kept is None else row | {"meta": kept}
        progress.advance(shard.size)


def shard_rows(tree: Tree, shard: Shard, chosen: Chosen = ALL) -> Iterator[dict[str, Any]]:
    """What `assign` says of documents of the corpus, without their metadata."""
    known, shares = shard.lengths, tree.shares(shard.first, shard.size)
    rows = placement_rows(tree, shard.ids, shares, known, chosen)
    return assignments(rows, known, _fits(tree, shard))


def _fits(tree: Tree, shard: Shard) -> Array | None:
    """Fit of documents of the corpus, as if they were new."""
    if tree.fit_model is None:
        return None
    placed = Placed(shard.first, shard.size, tree.saved)
    return tree.fit_model.of(tree.fit_model.texts(shard), placed)


def assignments(
    rows: Iterator[dict[str, Any]], known: NDArray[np.int64], fits: Array | None
) -> Iterator[dict[str, Any]]:
    """Rows with the number of known tokens and the fit."""
    told = [None] * len(known) if fits is None else fits.round(FIT_DIGITS).tolist()
    for row, words, fit in zip(rows, known.tolist(), told, strict=True):
        topics = row.pop("topics")
        yield row | {"known": words, "fit": fit, "topics": topics}


def placement_rows(
    tree: Tree,
    ids: list[str],
    shares: dict[str, Array],
    known: NDArray[np.int64],
    chosen: Chosen = ALL,
) -> Iterator[dict[str, Any]]:
    """Leaf and shares of each of some documents, of which so many words are known."""
    leaves = known_leaves(tree.leaves(shares), known)
    names = [name for name in tree if name != ROOT]
    if not names:
        rows = zip(ids, leaves, strict=True)
        yield from ({"id": one, "leaf": leaf, "topics": {}} for one, leaf in rows)
        return
    table = np.stack([shares[tree[name].id] for name in names], axis=1).round(DIGITS)
    told = chosen.of(table, np.array([tree[name].level for name in names]))
    for one, leaf, row, which in zip(ids, leaves, table, told, strict=True):
        held = np.flatnonzero(which)
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
