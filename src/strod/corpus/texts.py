"""The texts as they were read, compressed in blocks, for whoever wants to see a document.

They are written while they pass by in the only reading of the sources. Documents that are
rejected later stay behind in the file; `text_row` of the documents table says which text is
whose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from strod.store.tables import read_batch, string_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["TextWriter", "read_texts"]

_SCHEMA = pa.schema([("text", pa.large_string())])
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
        self._writer.write_batch(pa.record_batch([column], schema=_SCHEMA))
        self.blocks.append(self.blocks[-1] + sizes.size)


def read_texts(source: Any, blocks: Sequence[int], rows: NDArray[np.int64]) -> list[str]:
    """Texts by row; only the blocks that hold them are decompressed.

    `source` are the bytes of the file.
    """
    found: dict[int, str] = {}
    numbers = np.searchsorted(blocks, rows, side="right") - 1
    reader = pa.ipc.open_file(pa.BufferReader(source))
    if reader.num_record_batches != len(blocks) - 1:
        raise ValueError(f"has {reader.num_record_batches} blocks, not {len(blocks) - 1}")
    for number in np.unique(numbers).tolist():
        column = read_batch(reader, number, _SCHEMA)["text"]
        inside = rows[numbers == number].tolist()
        found |= {row: column[row - blocks[number]].as_py() for row in inside}
    return [found[row] for row in rows.tolist()]
