"""Which documents came before: by id or by text, from digests, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.corpus.spill import SpillReader

__all__ = ["repeated"]

_AT_ONCE = 1 << 19  # digests sorted together


def _later_copies(digests: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows whose digest an earlier row has."""
    order = np.lexsort((rows, digests[:, 1], digests[:, 0]))
    ordered = digests[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    later: NDArray[np.int64] = rows[order[1:][same]]
    return later


def repeated(spill: SpillReader, column: str, out: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows that repeat the digest of an earlier row; rows already `out` do not count.

    Large corpora are handled in slices of the digest's range, so that memory does not
    grow with the number of documents.
    """
    slices = -(-spill.size // _AT_ONCE) or 1
    found: list[NDArray[np.int64]] = []
    for part in range(slices):
        digests, numbers = [], []
        for block in spill:
            values = block.rows[column]
            rows = np.arange(block.first, block.first + values.shape[0])
            chosen = (values[:, 0] % np.uint64(slices) == part) & ~out[rows]
            digests.append(values[chosen])
            numbers.append(rows[chosen])
        if digests:
            found.append(_later_copies(np.concatenate(digests), np.concatenate(numbers)))
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
