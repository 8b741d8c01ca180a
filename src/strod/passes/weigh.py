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


def weigh(
    ref: Ref[Any], model: Model, kept: Kept, masses: Sequence[Sequence[Component]]
) -> Weighed:
    """What some documents have of each topic, of those that hold any of some masses."""
    placed = Placed(ref.first, ref.size, kept)
    rows = model.holders(placed, masses)
    shares = model.shares(placed if rows is None else placed.of(rows))
    whole = (_whole(own, ref.size, rows) for own in shares.values())
    sums, squares = np.array([(own.sum(), (own**2).sum()) for own in whole]).T
    return Weighed(sums, squares, model.paths_to(shares))


def _whole(own: Array, size: int, rows: NDArray[np.int64] | None) -> Array:
    """Shares of all documents, from those of some: the others have none.

    Sums run over all: numpy's order depends on how many there are, and a sum shall not depend on
    who is left out.
    """
    if rows is None:
        return own
    whole = np.zeros(size)
    whole[rows] = own
    return whole


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
    placed = Placed(ref.first, ref.size, kept)
    rows = model.holders(placed, masses)
    known = model.masses(placed if rows is None else placed.of(rows))
    shares = [_whole(known.of(parts), ref.size, rows) for parts in masses]
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
