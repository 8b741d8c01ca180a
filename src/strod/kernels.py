"""One door to numba: typed, cached, free of the interpreter lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["helper", "kernel"]

Function = TypeVar("Function", bound="Callable[..., Any]")


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kernel(function: Function) -> Function:
    """Compile `function` on its first call and keep the machine code on disk.

    `nogil` lets threads run kernels side by side; there is no `fastmath` and no
    `parallel`, so that a kernel gives the same bytes on every run.
    """
    return cast("Function", numba.njit(cache=True, **_OPTIONS)(function))


def helper(function: Function) -> Function:
    """Compile a part of a kernel: cheaper, because Python never calls it."""
    compiled = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
    return cast("Function", compiled)
