"""Which tokens and which documents a node is learnt from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.moments.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["ENOUGH", "blocks", "root_counts"]

ENOUGH = 4_000_000  # counts (word in document) that the root is learnt from by default
BLOCK = 1 << 18  # counts that are worth a task of their own


def root_counts(counts: csr_array, kept: NDArray[np.float32], clip: int) -> Counts:
    """The counts of documents as the root sees them: clipped and thinned."""
    tokens = counts.data.astype(np.float32)
    if clip:
        np.minimum(tokens, clip, out=tokens)
    indices = np.asarray(counts.indices, dtype=np.int32)
    indptr = np.asarray(counts.indptr, dtype=np.int64)
    return Counts(indptr, indices, tokens, kept[indices], counts.shape[1])


def blocks(parts: Sequence[Counts]) -> list[Counts]:
    """Join small parts, so that a task is worth its start; decided by the data alone."""
    joined: list[list[Counts]] = []
    room = 0
    for part in parts:
        if not joined or room <= 0:
            joined.append([])
            room = BLOCK
        joined[-1].append(part)
        room -= len(part.indices)
    return [_join(block) for block in joined]


def _join(parts: list[Counts]) -> Counts:
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return replace(
        parts[0],
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        indices=np.concatenate([part.indices for part in parts]),
        tokens=np.concatenate([part.tokens for part in parts]),
        probability=np.concatenate([part.probability for part in parts]),
    )
