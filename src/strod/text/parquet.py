"""Parquet files, whose rows may be larger by far than the file.

Strings come as numbers into dictionaries and are written out some rows at a time; pages that
would unpack to too much are not read at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strod.store.pages import BadPageError, chunk_places, pages
from strod.text import formats, slices
from strod.text.blocks import Block
from strod.text.records import Reject
from strod.text.streams import CHUNK, DamagedStreamError, Expansion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from strod.text.formats import Item
    from strod.text.records import Fields

__all__ = ["read_parquet"]

LARGEST_PAGE = 256 << 20  # bytes, unpacked
LARGEST_ROW = 512 << 20  # bytes that the lists of a page may become
MOST_VALUES = 1 << 24  # in a page
MOST_MEMBERS = 1 << 26  # of the lists of a row group
BATCH_BYTES = 32 << 20  # at most, about
ROW_BYTES = 64  # what a row counts for, however little is in it


class _Chunk:
    """What the headers say of a column in a row group; an error if too much is in it."""

    def __init__(self, file: BinaryIO, place: tuple[int, int], *, is_list: bool) -> None:
        self.width = self.entries = self.dictionary = members = 0
        for page in pages(file, *place):
            if page.size > LARGEST_PAGE or page.values > MOST_VALUES:
                raise DamagedStreamError(f"a page of {page.size:,} bytes; write smaller pages")
            if page.is_dictionary:
                self.dictionary, self.entries = page.size, page.values
                continue
            members += page.values
            if is_list and page.width * page.values > LARGEST_ROW:
                raise DamagedStreamError("lists of values that repeat others; write them plainly")
            if not page.in_dictionary:
                self.width = max(self.width, page.width)
        if is_list and members > MOST_MEMBERS:
            raise DamagedStreamError("lists that are too long; write smaller row groups")


class _File:
    """A Parquet file and its columns that are needed."""

    def __init__(self, path: Path, fields: Fields) -> None:
        with pq.ParquetFile(path) as file:
            names, self.about = file.schema_arrow.names, file.metadata
            leaves = [file.schema.column(i) for i in range(len(file.schema))]
        fields.meet(names)
        self.names = [name for name in dict.fromkeys(fields.used) if name in names]
        if not set(fields.text) & set(names):
            self.names = names  # so that the error can name what is there
        self._used = {i: leaf for i, leaf in enumerate(leaves) if self._is_used(leaf.path)}
        strings = [one for one in self._used.values() if one.physical_type == "BYTE_ARRAY"]
        self.lists = [one.path for one in strings if one.max_repetition_level]
        self._flat = [one.path for one in strings if not one.max_repetition_level]
        self._path = path
        self._chunks: list[list[tuple[int, int]]] | None = None

    def _is_used(self, path: str) -> bool:
        return any(path == name or path.startswith(f"{name}.") for name in self.names)

    def _places(self, raw: BinaryIO, group: int) -> list[tuple[int, int]]:
        """Where the columns of a row group are, as the file itself says."""
        if self._chunks is None:
            self._chunks = chunk_places(raw)
        if len(self._chunks) <= group or len(self._chunks[group]) <= max(self._used, default=-1):
            raise BadPageError("fewer columns than it says")
        return self._chunks[group]

    def row_bytes(self, raw: BinaryIO, group: int) -> int:
        """About how large a value of a row group is at most."""
        places, largest, asked = self._places(raw, group), 1, {}
        for i, leaf in self._used.items():
            chunk = _Chunk(raw, places[i], is_list=leaf.max_repetition_level > 0)
            largest = max(largest, chunk.width, leaf.length)
            if chunk.dictionary and leaf.path in self._flat:
                asked[leaf.path] = chunk
        return max(largest, self._longest_entry(group, asked)) if asked else largest

    def _longest_entry(self, group: int, chunks: dict[str, _Chunk]) -> int:
        """The longest string in dictionaries: any number of rows may be that long."""
        with pq.ParquetFile(self._path, buffer_size=CHUNK, read_dictionary=list(chunks)) as file:
            rows = file.iter_batches(1, [group], list(chunks), use_threads=False)
            batch: Any = next(rows, None)
        longest = 0
        for path, chunk in chunks.items():
            there = batch is not None and path in batch.schema.names
            column = batch.column(path) if there else None
            if isinstance(column, pa.DictionaryArray) and len(column.dictionary) == chunk.entries:
                longest = max(longest, pc.max(pc.binary_length(column.dictionary)).as_py() or 0)
            else:  # it cannot be told
                longest = max(longest, chunk.dictionary)
        return longest


def _batches(
    path: Path, fields: Fields, advance: Callable[[int], None]
) -> Iterator[pa.RecordBatch | None]:
    size, file = path.stat().st_size, _File(path, fields)
    expansion, rows = Expansion(size), max(file.about.num_rows, 1)
    with (
        pq.ParquetFile(path, buffer_size=CHUNK, read_dictionary=file.lists) as open_file,
        path.open("rb") as raw,
    ):
        for i in range(file.about.num_row_groups):
            if not file.about.row_group(i).num_rows:
                continue
            at_once = min(slices.ROWS, max(BATCH_BYTES // file.row_bytes(raw, i), 1))
            for batch in open_file.iter_batches(at_once, [i], file.names, use_threads=False):
                expansion.add(batch.nbytes + ROW_BYTES * batch.num_rows)
                for piece in slices.pieces(batch):
                    expansion.add(0 if piece is None else piece.nbytes)
                    yield piece
                advance(size * batch.num_rows // rows)


def read_parquet(path: Path, fields: Fields, advance: Callable[[int], None]) -> Iterator[Item]:
    """Rows of a Parquet file; only the columns that are needed are read."""
    number = 1
    try:
        for item in formats.read_table(_batches(path, fields, advance), fields):
            yield item
            number = item.line + (len(item) if isinstance(item, Block) else 1)
    except (BadPageError, DamagedStreamError) as error:
        yield Reject(formats.DAMAGED, number, str(error))
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        yield Reject(formats.DAMAGED, number, str(error).splitlines()[0] if str(error) else "")
