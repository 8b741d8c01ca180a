"""Rows with a multiple of four numbers, as kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["LANES", "whole_lanes", "with_lanes"]

LANES = 4  # `strod.compute.plain` is written for these


def whole_lanes(columns: int) -> int:
    """The next multiple of `LANES`."""
    return -(-columns // LANES) * LANES


def with_lanes(rows: NDArray[Any]) -> Array:
    """The same rows with zeros up to the next multiple of `LANES`."""
    result = np.zeros((len(rows), whole_lanes(rows.shape[1])))
    result[:, : rows.shape[1]] = rows
    return result
