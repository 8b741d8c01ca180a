"""Arrays on disk: read without copying, written without knowing their length."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from threading import Lock
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from strod.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.store.files import Files

__all__ = ["ArrayWriter", "read_array"]

_HEADER = 128  # bytes that numpy writes for one-dimensional arrays
_LONGEST = 4096  # bytes of a header
# NumPy parses the header as a Python literal. CPython 3.11 counts the depth of its parser for all
# threads together, and now and then finds it wrong (github.com/python/cpython/issues/106905).
_parser = Lock()


def _header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and kind of an array; the file stands at its data afterwards."""
    with _parser:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("is of another version")
        shape, fortran, kind = npy.read_array_header_1_0(file, max_header_size=_LONGEST)
    if fortran and len(shape) > 1:
        raise ValueError("is stored by columns")
    return shape, kind


def read_array(files: Files, name: str, kind: str, dimensions: int = 1) -> NDArray[Any]:
    """An array as it was written, memory-mapped.

    Its kind, byte order, dimensions and length are those that are declared; what its numbers may
    be is for `strod.store.validate`.
    """
    with files.open(name) as file:
        try:
            array = _mapped(file, np.dtype(kind), dimensions)
        except (OSError, ValueError, EOFError, OverflowError, SyntaxError, TokenError) as error:
            why = f"is not the array that was written ({error})"
            raise DamagedError(why, file=files.path(name)) from error
    return array


def _mapped(file: BinaryIO, kind: np.dtype[Any], dimensions: int) -> NDArray[Any]:
    shape, found = _header(file)
    if found != kind or found.byteorder != kind.byteorder:
        raise ValueError(f"holds {found} instead of {kind}")
    if len(shape) != dimensions:
        raise ValueError(f"has {len(shape)} dimensions instead of {dimensions}")
    begin = file.tell()
    size = file.seek(0, 2) - begin
    if any(side < 0 for side in shape) or prod(shape) * kind.itemsize != size:
        raise ValueError("is not as long as it says")
    if begin % npy.ARRAY_ALIGN:
        raise ValueError("is not aligned")
    if not size:
        return np.empty(shape, dtype=kind)
    return np.memmap(file, kind, "r", begin, shape).view(np.ndarray)


class ArrayWriter:
    """Writes a one-dimensional ``.npy`` file whose length is not known beforehand."""

    def __init__(self, path: Path, dtype: str) -> None:
        self._dtype = np.dtype(dtype)
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER))
        self.size = 0

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        data = np.ascontiguousarray(values, dtype=self._dtype)
        self._file.write(data.data)
        self.size += data.size

    def discard(self) -> None:
        """Close the file of an array that will not be finished."""
        with suppress(OSError):
            self._file.close()

    def close(self) -> None:
        """Write the header; numpy leaves room in it for a length of any size."""
        with self._file as file:
            file.seek(0)
            about = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size,)}
            npy.write_array_header_1_0(file, about)
            if file.tell() != _HEADER:
                raise ValueError("numpy writes headers of another length")
