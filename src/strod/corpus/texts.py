"""The texts as they were read, compressed in blocks, for whoever wants to see a document.

They are written while they pass by in the only reading of the sources. Documents that are
rejected later stay behind in the file; `text_row` of the documents table says which text is
whose.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from strod.store.tables import Batches, integers, string_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["TextReader", "TextWriter"]

_SCHEMA = pa.schema([("text", pa.large_string())])
BLOCK = 64 << 10  # bytes of text that are unpacked for one of them
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


class TextWriter:
    """Appends blocks of texts to an Arrow file.

    Attributes
    ----------
    blocks : list of int
        The row with which each block begins, and the number of rows.
    """

    def __init__(self, path: Path) -> None:
        self.blocks = [0]
        self._file = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._file, _SCHEMA, options=_OPTIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()

    def append(self, text: bytes, sizes: NDArray[np.int64]) -> None:
        """Add the texts that lie one after another in `text`."""
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        column = string_array(np.frombuffer(text, dtype=np.uint8), offsets)
        for begin, end in pairwise(_cuts(offsets)):
            block = pa.record_batch([column.slice(begin, end - begin)], schema=_SCHEMA)
            self._writer.write_batch(block)
            self.blocks.append(self.blocks[-1] + end - begin)


def _cuts(offsets: NDArray[np.int64]) -> list[int]:
    """Rows with which blocks begin: a block ends with the text that reaches its size."""
    cuts, rows = [0], offsets.size - 1
    while cuts[-1] < rows:
        end = int(np.searchsorted(offsets, offsets[cuts[-1]] + BLOCK))
        cuts.append(min(max(end, cuts[-1] + 1), rows))
    return cuts


class TextReader:
    """Texts by row; only the blocks that hold them are unpacked.

    Parameters
    ----------
    source : bytes or mmap
        The file.
    blocks : sequence of int
        The row with which each block begins, and the number of rows.
    """

    def __init__(self, source: Any, blocks: Sequence[int]) -> None:
        self._blocks = np.array(blocks, dtype=np.int64)
        self._batches = Batches(source, _SCHEMA, len(blocks) - 1)

    def _numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._blocks, rows, side="right") - 1

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Texts in the order of `rows`."""
        found: dict[int, str] = {}
        numbers = self._numbers(rows)
        for number in np.unique(numbers).tolist():
            column, first = self._batches.read(number)["text"], int(self._blocks[number])
            inside = rows[numbers == number].tolist()
            found |= {row: column[row - first].as_py() for row in inside}
        return [found[row] for row in rows.tolist()]

    def columns(self, rows: NDArray[np.int64]) -> Iterator[pa.LargeStringArray]:
        """Texts in the order of `rows`; a column for each run of rows of one block."""
        numbers = self._numbers(rows)
        begins = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        for begin, end in pairwise([*begins, rows.size]):
            number = int(numbers[begin])
            column = self._batches.read(number)["text"]
            yield column.take(integers(rows[begin:end] - self._blocks[number]))
