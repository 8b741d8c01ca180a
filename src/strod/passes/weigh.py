"""What topics weigh, and how many documents lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.values.shares import Placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.model.model import Model
    from strod.model.placed import Ref, Rows
    from strod.values.shares import Kept
    from strod.values.topic import Component

    Array = NDArray[np.float64]
    Paths = NDArray[np.int32]
    Mask = NDArray[np.bool_]

__all__ = ["follow", "measure", "weigh"]


def weigh(ref: Ref[Any], model: Model, kept: Kept) -> tuple[Array, NDArray[np.int64]]:
    """Sum of the documents' shares in each topic, and how many paths lead there."""
    return model.totals(model.shares(Placed(ref.first, ref.size, kept)))


def follow(ref: Ref[Rows], model: Model, kept: Kept, height: int) -> tuple[Paths, Mask]:
    """Topic of each document on the levels from 1 to `height`, and which documents have words.

    A document whose path has ended stays at its leaf.
    """
    known = np.diff(ref.open().counts.indptr) > 0
    here, *below = model.paths(model.shares(Placed(ref.first, ref.size, kept)))
    levels = np.zeros((height, ref.size), dtype=np.int32)
    for number in range(height):
        if number < len(below):
            here = np.where(below[number] >= 0, below[number], here)
        levels[number] = here
    return levels, known


def measure(
    ref: Ref[Any], model: Model, kept: Kept, masses: Sequence[Sequence[Component]]
) -> Array:
    """Sum of the documents' shares in each of some masses."""
    known = model.masses(Placed(ref.first, ref.size, kept))
    return np.array([known.of(parts).sum() for parts in masses])
