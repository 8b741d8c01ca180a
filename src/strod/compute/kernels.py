"""One door to numba: typed, cached, free of the interpreter lock."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["fixed", "helper", "kernel"]

_njit = cast("Callable[..., Any]", numba.njit)
_OPTIONS = {"nogil": True, "error_model": "numpy"}
# Files that kernels of other files take helpers or constants from.
SHARED = (
    "compute/lanes.py", "corpus/ingest.py", "phrases/table.py", "text/characters.py",
    "text/scan.py",
)  # fmt: skip


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call and keep the machine code on disk.

    `nogil` lets threads run kernels side by side; there is no `fastmath` and no
    `parallel`, so that a kernel gives the same bytes on every run.
    """
    compiled = _njit(cache=True, **_OPTIONS)(function)
    # numba takes machine code for stale if the kernel's own file has changed, and no other.
    file = compiled._cache._cache_file  # noqa: SLF001
    file._source_stamp = file._source_stamp, _shared()  # noqa: SLF001
    return cast("Callable[..., Any]", compiled)


@cache
def _shared() -> str:
    """Checksum of the files in `SHARED`."""
    here = Path(__file__).parents[1]
    return sha256(b"".join((here / name).read_bytes() for name in SHARED)).hexdigest()


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part of a kernel: cheaper, because Python never calls it."""
    compiled = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
    return cast("Callable[..., Any]", compiled)


def fixed(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Read-only views: arrays from disk are so anyway, and each kind is compiled apart."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views
