"""What the arrays of a workspace may hold: nothing else ever reaches a kernel.

Every function takes arrays of the declared kind and raises `ValueError` with what is wrong.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "check_columns",
    "check_counts",
    "check_distribution",
    "check_expected_counts",
    "check_offsets",
    "check_pairs",
    "check_shares",
    "check_tokens",
    "naming",
]

BREAKS = 3  # negative numbers of a token stream: -1, -2, -3
ROWS = 1 << 20  # numbers that are looked at together
ROUNDING = 1e-4  # how far a document's shares may be from a sum of 1
EXACT = 1e-9


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Say of which file or folder something is wrong."""
    try:
        yield
    except ValueError as error:
        raise DamagedError(f"is damaged ({error})", file=path) from error


def _check(good: object, what: str) -> None:
    if not good:
        raise ValueError(what)


def check_offsets(offsets: NDArray[np.int64], size: int, length: int | None = None) -> None:
    """Offsets that rise from 0 to the length of what they point into, if that is known."""
    _check(len(offsets) == size + 1, f"{len(offsets)} offsets for {size} documents")
    _check(offsets[0] == 0, "offsets do not begin with the array")
    _check(length is None or offsets[-1] == length, "offsets do not cover the array")
    _check((offsets[1:] >= offsets[:-1]).all(), "documents end before they begin")


def _range(values: NDArray[Any]) -> tuple[int, int]:
    return (int(values.min()), int(values.max())) if len(values) else (0, 0)


def check_tokens(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], size: int, words: int
) -> None:
    """A token stream: rows of the lexicon, and breaks."""
    check_offsets(offsets, size, len(tokens))
    least, most = _range(tokens)
    _check(least >= -BREAKS, "tokens that are neither words nor breaks")
    _check(most < max(words, 1), "tokens that are not in the lexicon")


def check_counts(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[np.int32],
    size: int,
    width: int,
) -> None:
    """Counts in compressed sparse rows: columns rise within a row, counts are 1 or more."""
    check_offsets(indptr, size, len(indices))
    _check(len(counts) == len(indices), "not as many counts as columns")
    least, most = _range(indices)
    _check(least >= 0 and most < max(width, 1), "columns that are not there")
    _check(not len(counts) or counts.min() >= 1, "counts below 1")
    _check_rising(indptr, indices)


def _check_rising(indptr: NDArray[np.int64], indices: NDArray[Any]) -> None:
    """Columns rise strictly within each row."""
    for begin in range(0, max(len(indices) - 1, 0), ROWS):
        here = indices[begin : begin + ROWS + 1]
        falls = np.flatnonzero(here[1:] <= here[:-1]) + begin + 1
        where = np.searchsorted(indptr, falls)
        _check(
            (indptr[np.minimum(where, len(indptr) - 1)] == falls).all(), "a column twice in a row"
        )


def check_shares(
    indptr: NDArray[np.int64],
    indices: NDArray[np.uint16],
    values: NDArray[np.float32],
    size: int,
    topics: int,
) -> None:
    """Shares of documents: a row sums to 1 or is empty."""
    check_offsets(indptr, size, len(indices))
    _check(len(values) == len(indices), "not as many shares as topics")
    if not len(values):
        return
    _check(indices.max() < topics, "shares of topics that are not there")
    _check_rising(indptr, indices)
    _check(values.min() >= 0 and values.max() <= 1 + ROUNDING, "shares that are none")
    begins = indptr[:-1][indptr[1:] > indptr[:-1]]
    sums = np.add.reduceat(values, begins, dtype=np.float64)
    _check((np.abs(sums - 1) < ROUNDING).all(), "shares that do not add up to 1")


def check_distribution(words: NDArray[np.float64], width: int) -> None:
    """φ: no number is negative, and together they are 1."""
    _check(len(words) == width, f"{len(words)} words, not {width}")
    _check((words >= 0).all(), "probabilities below 0")  # false for what is no number, too
    _check(abs(float(words.sum()) - 1) <= EXACT, "probabilities that do not add up to 1")


def check_expected_counts(counts: NDArray[np.float32], topics: int, width: int) -> None:
    """Words of the topics of a decomposition: every topic has some."""
    _check(counts.shape == (topics, width), f"is {counts.shape[0]} × {counts.shape[1]}")
    sums = counts.sum(axis=1, dtype=np.float64)
    _check((counts >= 0).all() and np.isfinite(sums).all(), "holds what is no count")
    _check((sums > 0).all() and (sums < 1e30).all(), "a topic without words")


def check_pairs(hashes: NDArray[np.uint32], times: NDArray[np.uint16]) -> None:
    """Words side by side: each pair once, and at least once."""
    _check(len(times) == len(hashes), "not as many counts as pairs")
    _check(bool((hashes[1:] > hashes[:-1]).all()), "pairs that do not rise")
    _check(bool((times > 0).all()), "pairs that were never seen")


def check_columns(columns: NDArray[np.int32], width: int) -> None:
    """Columns of the lexicon: those that are there are 0, 1, 2 and so on."""
    there = columns[columns != -1]
    _check(np.array_equal(there, np.arange(width)), "columns are not numbered in order")
