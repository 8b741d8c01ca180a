"""Sums over rows of numbers: by lanes where these compile, else plain; the same bits."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numba.core.errors import NumbaError

from strod.compute import plain
from strod.compute.kernels import PLAIN
from strod.compute.plain import check_lanes
from strod.values.padding import LANES

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["check_lanes", "divide", "pull", "push"]


def _chosen() -> ModuleType:
    """The module with the functions: `lanes` if the llvmlite that is installed takes its code."""
    if PLAIN:
        return plain
    try:
        lanes = import_module("strod.compute.lanes")
        lanes.trial(np.ones((1, LANES)), np.zeros(1, dtype=np.int32), np.ones(1))
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError, NumbaError):
        return plain
    return lanes


_functions = _chosen()
divide, pull, push = _functions.divide, _functions.pull, _functions.push
