"""A tree straight from a count matrix: no files, everything in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.compute.blas import one_blas_thread
from strod.model.draws import draws
from strod.progress import Silent
from strod.tree.ground import Ground
from strod.tree.grow import grow
from strod.values.shares import MemoryShareStore
from strod.values.words import thinning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.options import TreeOptions
    from strod.tree.grown import Grown

__all__ = ["MatrixShard", "grow_matrix", "matrix_shards"]

SHARD = 1 << 14  # documents


@dataclass(frozen=True)
class MatrixShard:
    """Consecutive rows of a count matrix; a document's id is its row."""

    first: int
    size: int
    counts: csr_array

    @property
    def draws(self) -> NDArray[np.float64]:
        """From row numbers."""
        return draws(str(row) for row in range(self.first, self.first + self.size))

    def open(self) -> MatrixShard:
        """It is its own reference: nothing has to be read."""
        return self


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
    counts: csr_array, options: TreeOptions, engine: Engine, **more: Any
) -> tuple[Grown, MemoryShareStore]:
    """Grow a tree over the rows of `counts`; returns it and the documents' shares.

    `more` are attributes of `strod.tree.ground.Ground`.
    """
    book = MemoryShareStore()
    occurrences = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    refs, retention = matrix_shards(counts), thinning(occurrences, options.thin)
    ground = Ground(refs, retention, options, engine, book, Silent(), **more)
    with one_blas_thread():
        return grow(ground, occurrences), book
