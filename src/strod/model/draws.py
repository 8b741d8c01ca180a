"""Which documents are in a sample: a number for each, from its id alone."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["draws"]


def draws(ids: Iterable[str]) -> NDArray[np.float64]:
    """A number in [0, 1) for every document, from its id alone.

    A document is in a sample of share r if its number is below r: the same on every run,
    in every order, and whatever is added later.
    """
    value = np.array([crc32(name.encode()) for name in ids], dtype=np.uint64)
    value += np.uint64(0x9E3779B97F4A7C15)  # the finaliser of splitmix64 spreads the bits
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return (value >> np.uint64(11)).astype(np.float64) * 2.0**-53
