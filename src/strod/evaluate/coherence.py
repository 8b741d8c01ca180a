"""How well the words of a topic go together, from how often they meet.

With P(x) the share of the documents (or windows) that have x and P(x, y) of those with both::

    NPMI(x, y) = log(P(x, y) / (P(x)·P(y))) / -log P(x, y)                (Bouma, 2009)

NPMI of a list is the mean over its pairs. Words that never meet score -1, the limit.

C_V (Röder, Both and Hinneburg, 2015) compares each word with all of them by their company: with
v(x) = (NPMI(x, y) for y in the list), it is the mean over x of cos(v(x), Σ_y v(y)), and
P(x, y) + 1e-12 stands for P(x, y).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.engine.threads import Serial
from strod.passes.cooccur import cooccurrences
from strod.tree.matrix import MatrixShard
from strod.tree.top_words import npmi_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Array = NDArray[np.float64]

__all__ = ["c_v", "mean_npmi", "mean_of", "npmi_of_counts"]

TINY = 1e-12  # Röder et al.


def mean_npmi(pairs: Array, total: int) -> float | None:
    """Mean NPMI of the pairs of a list; None if it has no pair."""
    if len(pairs) < 2:
        return None
    return float(npmi_table(pairs, total)[np.triu_indices(len(pairs), 1)].mean())


def c_v(pairs: Array, total: int) -> float | None:
    """C_V of a list; None if it has no pair."""
    if len(pairs) < 2:
        return None
    company = npmi_table(pairs, total, TINY)
    whole = company.sum(axis=0)
    lengths = np.sqrt((company**2).sum(axis=1) * (whole**2).sum())
    similar = (company * whole).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return float(similar.mean())


def mean_of(values: Sequence[float | None]) -> float | None:
    """Mean of those that are there; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def npmi_of_counts(lists: Sequence[Sequence[int]], counts: csr_array) -> float | None:
    """Mean over the lists of the mean NPMI of their pairs, by documents.

    Lists with fewer than two words have no pairs and are left out; None if there are no others.
    """
    chosen = [np.asarray(words, dtype=np.int64) for words in lists if len(words) > 1]
    if not chosen:
        return None
    documents, width = counts.shape
    met = cooccurrences([MatrixShard(0, documents, counts)], chosen, width, Serial())
    return mean_of([mean_npmi(pairs, documents) for pairs in met])
