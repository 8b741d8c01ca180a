"""Documents as rows of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.compute.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["count_matrix"]


@kernel
def _count_rows(
    tokens: Any, sizes: Any, column_of: Any, tally: Any, indices: Any, counts: Any, indptr: Any
) -> int:
    """Fill the rows of a sparse matrix, columns in order of appearance.

    `tally` is as wide as the matrix, and zero before and after.
    """
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
    return n


def count_matrix(
    tokens: NDArray[np.int32],
    sizes: NDArray[np.int64],
    column_of: NDArray[np.int32],
    width: int,
) -> csr_array:
    """How often each word of the model stands in each document, columns in order."""
    indices = np.empty(tokens.size, dtype=np.int32)
    counts = np.empty(tokens.size, dtype=np.int32)
    indptr = np.zeros(sizes.size + 1, dtype=np.int64)
    tally = np.zeros(width, dtype=np.int32)
    n: int = _count_rows(tokens, sizes, column_of, tally, indices, counts, indptr)
    matrix = csr_array((counts[:n], indices[:n], indptr), shape=(sizes.size, width))
    return matrix.tocsc().tocsr()  # there and back sorts the columns, without comparing
