"""One door to numba: typed, cached, free of the interpreter lock."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["COMPILED", "PLAIN", "fixed", "helper", "kept_on_disk", "kernel"]

_njit = cast("Callable[..., Any]", numba.njit)
_config: Any = numba.config  # which has no types
_OPTIONS = {"nogil": True, "error_model": "numpy"}
# Files that kernels of other files take helpers or constants from.
SHARED = (
    "compute/lanes.py",
    "compute/plain.py",
    "compute/rows.py",
    "corpus/ingest.py",
    "phrases/table.py",
    "text/characters.py",
    "text/scan.py",
    "values/padding.py",
)
COMPILED = not _config.DISABLE_JIT
# Whether kernels do without lanes, where numba's bounds checks see nothing.
PLAIN = (
    not COMPILED or bool(_config.BOUNDSCHECK) or os.environ.get("STROD_PLAIN", "") not in {"", "0"}
)
_STAMP = re.compile(r"\.(?:bounds|lanes|plain)_([0-9a-f]{16})\.")


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call and keep the machine code on disk.

    `nogil` lets threads run kernels side by side; there is no `fastmath` and no
    `parallel`, so that a kernel gives the same bytes on every run.
    """
    if not COMPILED:  # what overflows or is divided by 0 is silent in machine code, too
        return np.errstate(all="ignore")(function)
    # numba takes machine code for stale if the kernel's own file has changed, and no other. It
    # names the files by this: what was made of other shared files is not found.
    function.__qualname__ = f"{_variant()}_{_shared()}.{function.__qualname__}"
    try:
        _check_home()
        compiled = _njit(cache=True, **_OPTIONS)(function)
        _tidy(Path(compiled.stats.cache_path))
    except RuntimeError:  # numba's own way to say that no folder can be written
        _tell()
        compiled = _njit(**_OPTIONS)(function)
    return cast("Callable[..., Any]", compiled)


def _variant() -> str:
    """What machine code depends on besides the sources."""
    if _config.BOUNDSCHECK:
        return "bounds"
    return "plain" if PLAIN else "lanes"


@cache
def _shared() -> str:
    """Checksum of the files in `SHARED`."""
    here = Path(__file__).parents[1]
    return sha256(b"".join((here / name).read_bytes() for name in SHARED)).hexdigest()[:16]


@cache
def _check_home() -> None:
    """Without a home numba would make a folder ``~`` where it stands."""
    if not (_config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")):
        Path("~").expanduser()


@cache
def _tell() -> None:
    """Say once that machine code is not kept; not in every process of an engine."""
    if sys.stderr and parent_process() is None:
        told = "no folder to keep machine code in can be written: every run compiles anew"
        print(f"strod: {told}; NUMBA_CACHE_DIR names one", file=sys.stderr)


def kept_on_disk() -> bool:
    """Whether the machine code of all kernels so far is kept."""
    return _tell.cache_info().currsize == 0


@cache
def _tidy(folder: Path) -> None:
    """Remove machine code that was made of other shared files."""
    for path in folder.glob("*.nb[ic]"):
        found = _STAMP.search(path.name)
        if found and found[1] != _shared():
            with suppress(OSError):
                path.unlink()


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
