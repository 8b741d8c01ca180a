"""Pairs of words that stand side by side in a corpus, and how often.

Stop words, and others that the model does not count, may stand between the two; the end of a
clause or an unknown word may not. A pair is kept as 32 bits of a hash: two pairs in 4 billion are
taken for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, kernel
from strod.text.characters import CLAUSE, HOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Columns = NDArray[np.int32]
    Hashes = NDArray[np.uint32]

__all__ = ["SKIPPED", "PairCounts", "Pairs", "added_pairs", "coded", "counted_pairs", "hashed"]

MOST = (1 << 16) - 1  # times that are counted
HALF = 16  # bits of a hash
SKIPPED = -1  # a word that the model does not count, as the lexicon's columns have it


@kernel
def _look_up(hashes: Any, times: Any, starts: Any, wanted: Any, before: Any, out: Any) -> None:
    """Hashes are spread evenly: those with the same upper half are few, and lie side by side."""
    for j in range(wanted.size):
        if before[j] >= 0:
            upper = wanted[j] >> HALF
            for i in range(starts[upper], starts[upper + 1]):
                if hashes[i] >= wanted[j]:
                    out[j] = times[i] if hashes[i] == wanted[j] else 0
                    break


class PairCounts(NamedTuple):
    """Pairs, rising, and how often each was seen."""

    hashes: Hashes
    times: NDArray[np.uint16]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a corpus.

    Attributes
    ----------
    columns : ndarray of int32
        For each row of the lexicon, what its word is to the model: a column, or `SKIPPED`.
    counts : PairCounts
        The pairs.
    rate : float
        Share of the documents in which they were counted.
    """

    columns: Columns
    counts: PairCounts
    rate: float

    def times(self, before: Columns, words: Columns) -> Array:
        """How often words stand behind others; never, if there is none before (-1)."""
        wanted, found = hashed(np.maximum(before, 0), words), np.zeros(len(before))
        given = (*self.counts, self._starts, wanted, np.asarray(before, dtype=np.int32))
        _look_up(*fixed(*given), found)
        return found

    @cached_property
    def _starts(self) -> NDArray[np.int32]:
        """Where the hashes begin that have the same upper half."""
        first = np.arange((1 << HALF) + 1, dtype=np.uint64) << np.uint64(HALF)
        return np.searchsorted(self.counts.hashes.astype(np.uint64), first).astype(np.int32)


def hashed(before: Columns, words: Columns) -> Hashes:
    """A number for each pair; always the same one, since it is kept."""
    value = before.astype(np.uint64) << np.uint64(32) | words.astype(np.uint64)
    value += np.uint64(0x9E3779B97F4A7C15)  # the finaliser of splitmix64 spreads the bits
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (value >> np.uint64(32)).astype(np.uint32)


def coded(tokens: NDArray[np.int32], columns: Columns) -> Columns:
    """Tokens as columns of the model, `SKIPPED`, `HOLE` if unknown, or `CLAUSE` for an end."""
    marks = np.where(tokens == HOLE, HOLE, CLAUSE)
    known = columns[np.maximum(tokens, 0)] if len(columns) else marks
    result: Columns = np.where(tokens >= 0, known, marks).astype(np.int32)
    return result


def counted_pairs(codes: Columns, owner: NDArray[np.int64]) -> PairCounts:
    """The pairs of documents, given what each token is and whose; none is `SKIPPED`."""
    here = (codes[:-1] >= 0) & (codes[1:] >= 0) & (owner[:-1] == owner[1:])
    found, times = np.unique(hashed(codes[:-1][here], codes[1:][here]), return_counts=True)
    return PairCounts(found, np.minimum(times, MOST).astype(np.uint16))


def added_pairs(parts: Sequence[PairCounts]) -> PairCounts:
    """All of them together."""
    if not parts:
        return PairCounts(np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint16))
    hashes, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(hashes, kind="stable")
    hashes, times = hashes[order], times[order]
    first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    if not len(hashes):
        return PairCounts(hashes, times)
    total = np.add.reduceat(times.astype(np.int64), first)
    return PairCounts(hashes[first], np.minimum(total, MOST).astype(np.uint16))
