"""What the reading of the text leaves behind for the second pass: flat files of ids."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ROW", "SpillReader", "SpillWriter", "SpilledRows"]

# One row a document; `tokens`, `id` and `meta` are lengths in the files of that name.
ROW = np.dtype(
    [
        ("text_digest", "<u8", 2),
        ("id_digest", "<u8", 2),
        ("tokens", "<i8"),
        ("id", "<i8"),
        ("meta", "<i8"),
        ("line", "<i8"),
        ("part", "<i4"),
        ("epoch", "<i4"),
        ("numbered", "?"),  # whether the id is the document's number
    ]
)
STREAMS = ("tokens", "id", "meta")
TOKEN = np.dtype("<i4")
_ROWS_AT_ONCE = 1 << 15


class SpillWriter:
    """Appends batches; `rows` is how many documents there are so far."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.rows = 0
        self._stack = ExitStack()
        self._files = {
            name: self._stack.enter_context((folder / name).open("wb", buffering=0))
            for name in (*STREAMS, "rows")
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def append(
        self, rows: NDArray[np.void], tokens: NDArray[np.int32], ids: bytes, meta: bytes
    ) -> None:
        """Add documents: their rows, and what the rows are the lengths of."""
        contents: dict[str, Any] = {"rows": rows, "tokens": tokens, "id": ids, "meta": meta}
        for name, content in contents.items():
            _write(self._files[name].fileno(), memoryview(content).cast("B"))
        self.rows += rows.size


def _write(descriptor: int, data: memoryview) -> None:
    """Write all of it: one call may take less than it was given."""
    while data:
        data = data[os.write(descriptor, data) :]


@dataclass(frozen=True)
class SpilledRows:
    """Some consecutive documents and where their contents begin."""

    first: int
    rows: NDArray[np.void]
    offsets: dict[str, int]


class SpillReader:
    """Reads what a `SpillWriter` wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.size = (folder / "rows").stat().st_size // ROW.itemsize

    def rows(self, first: int, count: int) -> NDArray[np.void]:
        """SpilledRows from `first` on."""
        path, offset = self._folder / "rows", first * ROW.itemsize
        rows: NDArray[np.void] = np.fromfile(path, dtype=ROW, count=count, offset=offset)
        return rows

    def __iter__(self) -> Iterator[SpilledRows]:
        """All documents, some at a time."""
        offsets = dict.fromkeys(STREAMS, 0)
        for first in range(0, self.size, _ROWS_AT_ONCE):
            rows = self.rows(first, _ROWS_AT_ONCE)
            yield SpilledRows(first, rows, dict(offsets))
            for name in STREAMS:
                offsets[name] += int(rows[name].sum())

    def tokens(self, offset: int, count: int) -> NDArray[np.int32]:
        """Token ids from `offset` on."""
        path = self._folder / "tokens"
        data: NDArray[np.int32] = np.fromfile(
            path, dtype=TOKEN, count=count, offset=offset * TOKEN.itemsize
        )
        return data

    def content(self, name: str, offset: int, count: int) -> NDArray[np.uint8]:
        """Bytes of one of the other streams."""
        path = self._folder / name
        data: NDArray[np.uint8] = np.fromfile(path, dtype=np.uint8, count=count, offset=offset)
        return data
