"""Which tokens and which documents a node is learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from strod.moments.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["ENOUGH", "draws", "root_counts", "thinning"]

ENOUGH = 4_000_000  # counts (word in document) that the root is learnt from by default


def thinning(
    occurrences: NDArray[np.int64] | NDArray[np.float64], threshold: float
) -> NDArray[np.float32]:
    """Share of a word's tokens that is kept: min(1, √(s / f_x)).

    f_x is the word's relative frequency. The words of the thinned text follow φ·kept, so φ
    is found again by dividing: exact, while words that stand everywhere no longer rule
    the moments.
    """
    if not threshold:
        return np.ones(len(occurrences), dtype=np.float32)
    frequency = occurrences / max(occurrences.sum(), 1)
    kept: NDArray[np.float32] = np.sqrt(threshold / np.maximum(frequency, threshold)).astype(
        np.float32
    )
    return kept


def root_counts(counts: csr_array, kept: NDArray[np.float32], clip: int) -> Counts:
    """The counts of documents as the root sees them: clipped and thinned."""
    tokens = counts.data.astype(np.float32)
    if clip:
        np.minimum(tokens, clip, out=tokens)
    indices = np.asarray(counts.indices, dtype=np.int32)
    indptr = np.asarray(counts.indptr, dtype=np.int64)
    return Counts(indptr, indices, tokens, kept[indices], counts.shape[1])


def draws(ids: Iterable[str]) -> NDArray[np.float64]:
    """A number in [0, 1) for every document, from its id alone.

    A document is in a sample of share r if its number is below r: the same on every run,
    in every order, and whatever is added later.
    """
    value = np.array([crc32(name.encode()) for name in ids], dtype=np.uint64)
    value += np.uint64(0x9E3779B97F4A7C15)  # the finaliser of splitmix64 spreads the bits
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return (value >> np.uint64(11)).astype(np.float64) * 2.0**-53
