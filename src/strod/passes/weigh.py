"""What topics weigh, and how many documents lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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

__all__ = ["Met", "Weighed", "follow", "measure", "meet", "weigh"]


class Weighed(NamedTuple):
    """Of each topic: sums of the documents' shares and of their squares, paths that lead there."""

    shares: Array
    squares: Array
    documents: NDArray[np.int64]


def weigh(ref: Ref[Any], model: Model, kept: Kept) -> Weighed:
    """What some documents have of each topic."""
    shares = model.shares(Placed(ref.first, ref.size, kept))
    total, documents = model.totals(shares)
    return Weighed(total, np.array([(own**2).sum() for own in shares.values()]), documents)


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
    """Sums of the documents' shares in each of some masses, and of their squares."""
    known = model.masses(Placed(ref.first, ref.size, kept))
    shares = [known.of(parts) for parts in masses]
    return np.array([[own.sum() for own in shares], [(own**2).sum() for own in shares]])


class Met(NamedTuple):
    """Sums of the documents' shares in some masses, and of the products of any two."""

    sums: Array
    joint: Array


def meet(ref: Ref[Any], model: Model, kept: Kept, masses: Sequence[Sequence[Component]]) -> Met:
    """How masses share some documents."""
    known = model.masses(Placed(ref.first, ref.size, kept))
    shares = np.stack([known.of(parts) for parts in masses])
    return Met(shares.sum(axis=1), shares @ shares.T)
