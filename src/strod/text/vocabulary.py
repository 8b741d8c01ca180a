"""Which words the model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["background", "least_documents", "model_columns"]

FREQUENT = 0.03  # share of documents from which a word may be background
ENOUGH = 100  # documents, fewer say nothing
EVEN = 0.15  # residual idf, in bits, up to which a word counts as evenly spread


def least_documents(documents: int) -> int:
    """Default of ``--min-df``: 1 in a tiny corpus, 5 from a thousand documents on."""
    return int(np.clip(documents // 200, 1, 5))


def model_columns(
    frequencies: NDArray[np.int64],
    stop: NDArray[np.bool_],
    *,
    least: int,
    most: float,
    limit: int,
) -> NDArray[np.int32]:
    """Column of each word in the count matrix, -1 for words that have none.

    Parameters
    ----------
    frequencies : int64 array
        Document frequency of each word, words in sorted order.
    stop : bool array
        Which ones are stop words.
    least, most : int, float
        Bounds on the document frequency.
    limit : int
        Largest number of columns; the most frequent words stay, the earlier in the
        order of words if equally frequent.
    """
    usable = ~stop & (frequencies >= least) & (frequencies <= most)
    chosen = np.flatnonzero(usable)
    if chosen.size > limit:
        order = np.argsort(-frequencies[chosen], kind="stable")
        chosen = np.sort(chosen[order[:limit]])
    columns = np.full(frequencies.size, -1, dtype=np.int32)
    columns[chosen] = np.arange(chosen.size, dtype=np.int32)
    return columns


def background(
    frequencies: NDArray[np.int64], totals: NDArray[np.int64], documents: int
) -> NDArray[np.int64]:
    """Words that are frequent and spread as if thrown at random, most frequent first.

    A word of a topic comes back within a document, so it is in fewer documents than its
    total would fill at random. The gap is the residual idf of Church and Gale (1995),
    log2 of (1 - exp(-total / documents)) over (frequency / documents).
    """
    if documents < ENOUGH:
        return np.empty(0, dtype=np.int64)
    share = frequencies / documents
    expected = -np.expm1(-totals / documents)
    frequent = np.flatnonzero(share >= FREQUENT)
    gap = np.log2(expected[frequent] / share[frequent])
    even = frequent[gap <= EVEN]
    return even[np.argsort(-frequencies[even], kind="stable")]
