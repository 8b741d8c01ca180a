"""Topics of the documents of a corpus, as they were placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.progress import Silent
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.progress import Progress
    from strod.workspace.tree import Tree
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["assign_corpus", "placement_rows"]

DIGITS = 6


def assign_corpus(
    workspace: Workspace, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Path and shares of every document of the corpus, in its order, and its metadata if kept.

    A document without any word of the model says ``"known": 0``.
    """
    progress = progress or Silent()
    progress.stage("assigning", workspace.corpus.documents, "documents")
    for shard in workspace.corpus.shards():
        shares = workspace.tree.shares(shard.first, shard.size)
        rows = placement_rows(workspace.tree, shard.ids, shares)
        meta = shard.metadata() if workspace.corpus.meta else [None] * shard.size
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
