"""Where the spectrum of E2 ends, if it does.

Documents that were drawn from r topics have moments of rank r. With enough of them r eigenvalues
stand clear of those that chance makes, and the number of topics is known. Text that people wrote
has no such end: its eigenvalues fall slowly down to the noise and into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["MOST_RANK", "may_end", "spectral_rank"]

MOST_RANK = 50  # topics that are looked for: their cube costs
# The largest eigenvalue of chance is about half of the bound on it. Text of eight kinds, from 200
# to 20,000 documents, has no step of more than 1.16 there; planted trees have 1.9 and more.
STEP = 1.3
LITTLE = 1e-6  # of the bound: as good as nothing
FLOOR = 0.75  # of the bound: the least that the last eigenvalue before the step must reach


def may_end(ritz: Array, noise: float) -> bool:
    """Whether no more eigenvalues than are looked for are known to be above the noise."""
    return int((ritz > noise).sum()) <= MOST_RANK


def spectral_rank(values: Array, noise: float) -> int | None:
    """Number of eigenvalues before the step down to those of chance; None if there is no step.

    Parameters
    ----------
    values : ndarray
        Largest eigenvalues, falling.
    noise : float
        What chance alone may reach.

    Examples
    --------
    >>> spectral_rank(np.array([9.0, 5.0, 3.0, 0.5, 0.4]), 1.0)
    3
    >>> spectral_rank(np.array([9.0, 5.0, 1.1, 0.95, 0.9]), 1.0) is None
    True
    """
    above, below = values[:-1], np.maximum(values[1:], LITTLE * noise)
    near = (above > FLOOR * noise) & (below < noise)
    steps = np.divide(above, below, out=np.zeros_like(above), where=near)
    best = int(np.argmax(steps)) if steps.size else 0
    return best + 1 if best and steps[best] >= STEP else None
