"""Documents as rows of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.compute.kernels import fixed, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["count_matrix", "words_before"]


@kernel
def _count_rows(tokens: Any, sizes: Any, column_of: Any, width: int) -> tuple[Any, Any, Any]:
    """The rows of a sparse matrix, columns in order of appearance: counts, columns, bounds."""
    indices = np.empty(tokens.size, dtype=np.int32)
    counts = np.empty(tokens.size, dtype=np.int32)
    indptr = np.zeros(sizes.size + 1, dtype=np.int64)
    tally = np.zeros(width, dtype=np.int32)
    place = n = 0
    for d in range(sizes.size):
        begin = n
        for i in range(place, place + sizes[d]):
            if tokens[i] >= 0:
                column = column_of[tokens[i]]
                if column >= 0:
                    if tally[column] == 0:
                        indices[n] = column
                        n += 1
                    tally[column] += 1
        place += sizes[d]
        for i in range(begin, n):
            counts[i] = tally[indices[i]]
            tally[indices[i]] = 0
        indptr[d + 1] = n
    return counts[:n], indices[:n], indptr


@kernel
def _precede(tokens: Any, sizes: Any, column_of: Any, indptr: Any, indices: Any, width: int) -> Any:
    """For each count of a matrix of so many columns the column before; -1 if there is none."""
    place = np.zeros(width, dtype=np.int64)
    before = np.full(indices.size, -1, dtype=np.int32)
    begin = 0
    for d in range(sizes.size):
        for j in range(indptr[d], indptr[d + 1]):
            place[indices[j]] = j + 1
        last = -1
        for i in range(begin, begin + sizes[d]):
            column = column_of[tokens[i]] if tokens[i] >= 0 else -2
            if column >= 0:
                j = place[column] - 1
                if j >= 0:
                    before[j] = last
                    place[column] = 0
                last = column
            elif column < -1:
                last = -1
        begin += sizes[d]
        for j in range(indptr[d], indptr[d + 1]):
            place[indices[j]] = 0
    return before


def words_before(
    tokens: NDArray[np.int32],
    sizes: NDArray[np.int64],
    column_of: NDArray[np.int32],
    counts: csr_array,
) -> NDArray[np.int32]:
    """For each count, the word before the first occurrence of its word; -1 if there is none.

    Words whose column is -1 are passed over. Negative tokens, and words whose column is less,
    have nothing before and nothing behind them.
    """
    indptr, indices = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
    given = (tokens, sizes.astype(np.int64), column_of.astype(np.int32), indptr, indices)
    before: NDArray[np.int32] = _precede(*fixed(*given), counts.shape[1])
    return before


def count_matrix(
    tokens: NDArray[np.int32],
    sizes: NDArray[np.int64],
    column_of: NDArray[np.int32],
    width: int,
) -> csr_array:
    """How often each word of the model stands in each document, columns in order."""
    rows = _count_rows(tokens, sizes, column_of, width)
    matrix = csr_array(rows, shape=(sizes.size, width))
    return matrix.tocsc().tocsr()  # there and back sorts the columns, without comparing
