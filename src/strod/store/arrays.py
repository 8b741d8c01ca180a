"""Arrays on disk, read without copying."""

from __future__ import annotations

from threading import Lock
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["mapped"]

# NumPy parses the header as a Python literal. CPython 3.11 counts the depth of its parser for all
# threads together, and now and then finds it wrong (github.com/python/cpython/issues/106905).
_parser = Lock()


def mapped(path: Path) -> NDArray[Any]:
    """An array as it was written, memory-mapped."""
    try:
        with _parser:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, OverflowError, SyntaxError, TokenError) as error:
        raise DamagedError(f"{path}: cannot be read ({error}); run strod check") from error
    return array
