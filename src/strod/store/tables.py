"""Tables on disk: read as they are declared, and never more than fits."""

from __future__ import annotations

from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strod.errors import DamagedError
from strod.store.blocks import unpacked
from strod.store.pages import chunk_places, pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from strod.store.files import Files

__all__ = [
    "Batches",
    "arrow_array",
    "integers",
    "numbers",
    "read_table",
    "string_array",
    "table_of",
    "taken",
    "text_array",
]

ROOM, TIMES = 256 << 20, 64  # bytes that a table may become: so many, or so many times its file
BLOCK, PACKED = 64 << 20, 256  # bytes of a block of texts: it has no more, and LZ4 packs no better
ROW = 16  # bytes of a number of any kind, and its validity


def read_table(files: Files, name: str, schema: pa.Schema, rows: int | None = None) -> pa.Table:
    """A table of the declared columns, without missing values where none may be missing.

    Parameters
    ----------
    files : Files
        The workspace.
    name : str
        Of a Parquet file.
    schema : Schema
        Columns, types, and whether values may be missing.
    rows : int, optional
        How many there must be.
    """
    with files.open(name) as file:  # in memory: a mapped file may change under the reader
        source = file.read()
    try:
        return _table(source, schema, rows)
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DamagedError(f"cannot be read ({why})", file=files.path(name)) from error


def _table(source: bytes, schema: pa.Schema, rows: int | None) -> pa.Table:
    room = max(ROOM, TIMES * len(source))
    coded = [path for field in schema for path in _coded(field)]
    options = {"read_dictionary": coded, "page_checksum_verification": True}
    # Arrow's own threads may outlive the read, and end the process at its exit by a signal.
    with pq.ParquetFile(pa.BufferReader(source), **options) as file:
        if rows is not None and file.metadata.num_rows != rows:
            raise ValueError(f"has {file.metadata.num_rows} rows, not {rows}")
        if ROW * file.metadata.num_rows * file.metadata.num_columns > room:
            raise ValueError("holds more than a file of its size can")
        missing = set(schema.names) - set(file.schema_arrow.names)
        if missing:
            raise ValueError(f"has no column {min(missing)}")
        if not file.metadata.num_rows:  # and maybe no pages
            return schema.empty_table()
        if _unpacked(source) > room:
            raise ValueError("unpacks to more than a file of its size can")
        table = file.read(columns=schema.names, use_threads=False).select(schema.names)
    if sum(_decoded_bytes(column) for column in table.columns) > room:
        raise ValueError("holds more than a file of its size can")
    columns = [_plain(column, field) for column, field in zip(table.columns, schema, strict=True)]
    table = pa.Table.from_arrays(columns, schema=schema)
    _validate(table)
    return table


def _validate(found: pa.Table | pa.RecordBatch) -> None:
    """Offsets, lengths, codes and UTF-8 are what they must be."""
    found.validate(full=True)


def _unpacked(source: bytes) -> int:
    """Bytes that the pages of a file become, by their headers: nothing is unpacked for it."""
    found, file = 0, BytesIO(source)
    for place in (place for group in chunk_places(file) for place in group):
        for page in pages(file, *place):
            if not page.is_plain:
                raise ValueError("is written in another encoding")
            found += max(page.size, ROW * page.values)
    return found


def _coded(field: pa.Field) -> list[str]:
    """Columns of strings, which a dictionary may make long: they stay so until measured.

    What the file itself says about its columns is not asked: Arrow aborts on some lies.
    """
    if pa.types.is_list(field.type) and pa.types.is_string(field.type.value_type):
        return [f"{field.name}.list.element"]
    strings = pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    return [field.name] if strings else []


def _decoded_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of strings once each stands for itself."""
    return sum(_chunk_bytes(chunk) for chunk in column.chunks)


def _chunk_bytes(chunk: pa.Array) -> int:
    if pa.types.is_list(chunk.type):
        chunk = chunk.flatten()
    if not pa.types.is_dictionary(chunk.type):
        return int(chunk.nbytes)
    used = pc.drop_null(chunk.indices)
    sizes = pc.binary_length(chunk.dictionary).take(used)
    return int(pc.sum(sizes).as_py() or 0)


def _plain(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if column.null_count and not field.nullable:
        raise ValueError(f"column {field.name} has missing values")
    if column.type == field.type:
        return column
    if pa.types.is_null(column.type):  # there was nothing to give it a type
        return column.cast(field.type)
    own = column.type.value_type if pa.types.is_list(column.type) else column.type
    if not pa.types.is_dictionary(own):
        raise ValueError(f"column {field.name} is of type {column.type}, not {field.type}")
    return column.cast(field.type)


def numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers, none of them missing.

    From its buffers: Arrow's own way imports pandas wherever it is installed, half a second.
    """
    parts = [_numbers(chunk) for chunk in column.chunks if len(chunk)]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.empty(0, dtype=_kind(column.type)), *parts])


def _kind(kind: pa.DataType) -> Any:
    return kind.to_pandas_dtype()


def _numbers(chunk: pa.Array) -> NDArray[Any]:
    data, where = chunk.buffers()[1], slice(chunk.offset, chunk.offset + len(chunk))
    if pa.types.is_boolean(chunk.type):
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")
        return bits[where].astype(bool)
    return np.frombuffer(data, dtype=_kind(chunk.type))[where]


def taken(table: pa.Table, rows: NDArray[np.int64]) -> pa.Table:
    """Some rows of a table, by number."""
    return table.take(integers(rows))


def text_array(values: Iterable[str]) -> pa.Array:
    """Texts for Arrow, likewise."""
    data = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, data)], dtype=np.int64)
    return string_array(np.frombuffer(b"".join(data), dtype=np.uint8), offsets)


def arrow_array(values: NDArray[Any]) -> pa.Array:
    """Numbers for Arrow; `pyarrow.array` would load pandas."""
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, data])


def table_of(
    columns: Mapping[str, pa.Array | pa.ChunkedArray | NDArray[Any] | list[Any]],
) -> pa.Table:
    """A table of arrays, and of lists of texts or numbers in which some may be None."""
    arrays = []
    for column in columns.values():
        if isinstance(column, list):
            arrays.append(_listed(column))
        else:
            arrays.append(arrow_array(column) if isinstance(column, np.ndarray) else column)
    return pa.Table.from_arrays(arrays, names=list(columns))


def _listed(values: list[Any]) -> pa.Array:
    """Texts, whole numbers or others, by what the first of them is; None where one is missing."""
    there = np.array([value is not None for value in values], dtype=bool)
    first = next((value for value in values if value is not None), "")
    if isinstance(first, str):
        plain = text_array(value or "" for value in values)
    else:
        kind = np.float64 if any(isinstance(value, float) for value in values) else np.int64
        plain = arrow_array(np.array([value or 0 for value in values], dtype=kind))
    valid = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(plain.type, len(values), [valid, *plain.buffers()[1:]])


def integers(values: NDArray[Any]) -> pa.Array:
    """An Arrow array of whole numbers, likewise without pandas."""
    return arrow_array(np.asarray(values, dtype=np.int64))


class Batches:
    """The blocks of an Arrow file, each looked at before anyone uses it.

    Parameters
    ----------
    source : bytes or mmap
        The file.
    schema : Schema
        Of all blocks; no value is missing.
    blocks : int
        How many there must be.
    """

    def __init__(self, source: Any, schema: pa.Schema, blocks: int) -> None:
        self._source, self._lock = source, Lock()
        # Handing the buffers of a small block to Arrow's threads takes longer than unpacking them.
        alone = pa.ipc.IpcReadOptions(use_threads=False)
        self._reader = pa.ipc.open_file(pa.BufferReader(source), options=alone)
        if self._reader.num_record_batches != blocks:
            raise ValueError(f"has {self._reader.num_record_batches} blocks, not {blocks}")
        if not self._reader.schema.equals(schema):
            raise ValueError("is of another schema")

    def read(self, number: int) -> pa.RecordBatch:
        """A block, unpacked; by one thread at a time."""
        packed, size = unpacked(self._source, number)
        if size > min(BLOCK, PACKED * packed):
            raise ValueError("unpacks to more than a block of its size can")
        with self._lock:
            batch = self._reader.get_batch(number)
        _validate(batch)
        if any(column.null_count for column in batch.columns):
            raise ValueError("has missing values")
        return batch


def string_array(arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.LargeStringArray:
    """Arrow strings over bytes that are known to be UTF-8."""
    buffers = [pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(arena)]
    return pa.LargeStringArray.from_buffers(offsets.size - 1, *buffers)
