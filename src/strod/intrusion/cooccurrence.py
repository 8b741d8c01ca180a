"""In how many documents words or phrases stand, alone and together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from strod.tree.top_words import npmi_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from strod.progress import Progress

__all__ = ["Meetings", "count_meetings"]


class Meetings:
    """Documents by pairs of items.

    Parameters
    ----------
    items : sequence of int
        Numbers of the items, rising.
    together : csr_array
        Documents with both of two items, in the order of `items`; on the diagonal with one.
    documents : int
        All documents.
    """

    def __init__(self, items: Sequence[int], together: csr_array, documents: int) -> None:
        self._items, self._documents = np.asarray(items, dtype=np.int64), documents
        together.sort_indices()
        width = together.shape[1]
        rows = np.repeat(np.arange(width, dtype=np.int64), np.diff(together.indptr))
        # Pairs as one sorted list of numbers: looking up many is one search.
        self._pairs = rows * width + together.indices
        self._counts = together.data

    def npmi(self, items: ArrayLike) -> NDArray[np.float64]:
        """Normalised pointwise mutual information of all pairs of `items`.

        log(p_ab / (p_a p_b)) / -log p_ab: -1 for pairs that never meet, 1 for those that are
        never apart, also where they stand in every document.
        """
        places = np.searchsorted(self._items, np.asarray(items, dtype=np.int64))
        return npmi_table(self._found(places).astype(np.float64), self._documents)

    def _found(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        wanted = places[:, None] * len(self._items) + places
        where = np.minimum(np.searchsorted(self._pairs, wanted), max(len(self._pairs) - 1, 0))
        if not len(self._pairs):
            return np.zeros(wanted.shape, dtype=np.int64)
        return np.where(self._pairs[where] == wanted, self._counts[where], 0)


def count_meetings(
    shards: Iterable[csr_array], items: Sequence[int], documents: int, progress: Progress
) -> Meetings:
    """One pass over counts by document: how often the columns `items` meet."""
    width = len(items)
    together = csr_array((width, width), dtype=np.int64)
    for counts in shards:
        here = csr_array(counts[:, list(items)])
        here.data = np.ones(len(here.data), dtype=np.int64)
        together = together + here.T @ here
        progress.advance(counts.shape[0])
    return Meetings(items, csr_array(together), documents)
