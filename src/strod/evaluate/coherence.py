"""How well the words of a topic go together, from how often they meet.

With P(x) the share of the documents (or windows) that have x and P(x, y) of those with both::

    NPMI(x, y) = log(P(x, y) / (P(x)·P(y))) / -log P(x, y)                (Bouma, 2009)

NPMI of a list is the mean over its pairs. Words that never meet score -1, the limit.

C_V (Röder, Both and Hinneburg, 2015) compares each word with all of them by their company: with
v(x) = (NPMI(x, y) for y in the list), it is the mean over x of cos(v(x), Σ_y v(y)), and
P(x, y) + 1e-12 stands for P(x, y).

The pooled lift of a list is Σ P(x, y) / Σ P(x)·P(y) over its pairs: how many times as often as by
chance they meet, all together. That rare words never meet says nothing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.tree.top_words import npmi_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["c_v", "mean_npmi", "mean_of", "pooled_lift"]

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


def pooled_lift(pairs: Array, total: int) -> float | None:
    """Pooled lift of a list; None if chance would have no pair of it meet."""
    upper = np.triu_indices(len(pairs), 1)
    alone = np.diag(pairs)
    expected = float(np.outer(alone, alone)[upper].sum()) / max(total, 1)
    return float(pairs[upper].sum()) / expected if expected > 0 else None


def mean_of(values: Sequence[float | None]) -> float | None:
    """Mean of those that are there; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
