"""The texts as they were read, compressed in blocks, for whoever wants to see a document.

They are written while they pass by in the only reading of the sources. Documents that are
rejected later stay behind in the file; `text_row` of the documents table says which text is
whose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

from strod.corpus.words import string_array

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

__all__ = ["TextWriter", "read_texts"]

_SCHEMA = pa.schema([("text", pa.large_string())])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


class TextWriter:
    """Appends blocks of texts to an Arrow file."""

    def __init__(self, path: Path) -> None:
        self._file = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._file, _SCHEMA, options=_OPTIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()

    def append(self, text: bytes, sizes: NDArray[np.int64]) -> None:
        """Add the texts that lie one after another in `text`."""
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        column = string_array(np.frombuffer(text, dtype=np.uint8), offsets)
        self._writer.write_batch(pa.record_batch([column], schema=_SCHEMA))


def read_texts(path: Path, rows: NDArray[np.int64]) -> list[str]:
    """Texts by row; only the blocks that hold them are decompressed."""
    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        found: dict[int, str] = {}
        first = 0
        for i in range(reader.num_record_batches):
            if len(found) == len(rows):
                break
            block = reader.get_batch(i)
            inside = [row for row in rows.tolist() if first <= row < first + block.num_rows]
            found |= {row: block["text"][row - first].as_py() for row in inside}
            first += block.num_rows
    return [found[row] for row in rows.tolist()]
