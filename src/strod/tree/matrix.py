"""A tree straight from a count matrix: no files, everything in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from strod.progress import Silent
from strod.tree.grow import Grown, grow
from strod.tree.shares import MemoryBook
from strod.work import Serial

if TYPE_CHECKING:
    from strod.tree.grow import Splitter
    from strod.tree.options import TreeOptions
    from strod.work import Engine

__all__ = ["MatrixShard", "grow_matrix", "matrix_shards"]

SHARD = 1 << 14  # documents


@dataclass(frozen=True)
class MatrixShard:
    """Consecutive rows of a count matrix; a document's id is its row."""

    first: int
    size: int
    counts: csr_array

    @property
    def ids(self) -> list[str]:
        """Row numbers."""
        return [str(row) for row in range(self.first, self.first + self.size)]


def matrix_shards(counts: csr_array) -> list[MatrixShard]:
    """Cut a count matrix into shards."""
    counts = csr_array(counts)
    counts.sum_duplicates()
    starts = range(0, counts.shape[0], SHARD)
    parts = [counts[start : start + SHARD] for start in starts]
    return [
        MatrixShard(start, part.shape[0], part) for start, part in zip(starts, parts, strict=True)
    ]


def grow_matrix(
    counts: csr_array,
    options: TreeOptions,
    engine: Engine | None = None,
    splitter: Splitter | None = None,
) -> tuple[Grown, MemoryBook]:
    """Grow a tree over the rows of `counts`; returns it and the documents' shares.

    A `splitter` decomposes the nodes instead of `strod.tree.split.split_node`.
    """
    book = MemoryBook()
    occurrences = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    with threadpool_limits(1):
        tree = grow(
            matrix_shards(counts), occurrences, options, engine or Serial(), book, Silent(),
            splitter=splitter,
        )  # fmt: skip
    return tree, book
