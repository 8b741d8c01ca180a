"""What topics weigh, and how many documents lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.model.placed import Placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.model.model import Model
    from strod.model.placed import Ref
    from strod.tree.shares import Kept
    from strod.tree.topic import Part

    Array = NDArray[np.float64]

__all__ = ["measure", "weigh"]


def weigh(ref: Ref[Any], model: Model, kept: Kept) -> tuple[Array, NDArray[np.int64]]:
    """Sum of the documents' shares in each topic, and how many paths lead there."""
    shares = model.shares(Placed(ref.first, ref.size, kept))
    levels = np.stack(model.paths(shares))
    documents = np.bincount(levels[levels >= 0], minlength=len(model.topics))
    return np.array([shares[name].sum() for name in model.topics]), documents


def measure(ref: Ref[Any], model: Model, kept: Kept, masses: Sequence[Sequence[Part]]) -> Array:
    """Sum of the documents' shares in each of some masses."""
    known = model.masses(Placed(ref.first, ref.size, kept))
    return np.array([known.of(parts).sum() for parts in masses])
