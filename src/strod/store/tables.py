"""Tables on disk: read as they are declared, and never more than fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strod.errors import DamagedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.store.files import Files

__all__ = ["numbers", "read_batch", "read_table", "string_array", "taken"]

ROOM, TIMES = 256 << 20, 64  # bytes that a table may become: so many, or so many times its file
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
    try:
        return _table(files, name, schema, rows)
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DamagedError(f"cannot be read ({why})", file=files.path(name)) from error


def _table(files: Files, name: str, schema: pa.Schema, rows: int | None) -> pa.Table:
    with files.open(name) as file:  # in memory: a mapped file may change under the reader
        source = file.read()
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
        table = file.read(columns=schema.names, use_threads=False).select(schema.names)
    if sum(_decoded_bytes(column) for column in table.columns) > room:
        raise ValueError("holds more than a file of its size can")
    columns = [_plain(column, field) for column, field in zip(table.columns, schema, strict=True)]
    table = pa.Table.from_arrays(columns, schema=schema)
    table.validate(full=True)
    return table


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
    where = np.ascontiguousarray(rows, dtype=np.int64)
    return table.take(pa.Array.from_buffers(pa.int64(), where.size, [None, pa.py_buffer(where)]))


def read_batch(
    reader: pa.ipc.RecordBatchFileReader, number: int, schema: pa.Schema
) -> pa.RecordBatch:
    """A block of an Arrow file, looked at before anyone uses it."""
    batch = reader.get_batch(number)
    if not batch.schema.equals(schema):
        raise ValueError("is of another schema")
    batch.validate(full=True)
    if any(column.null_count for column in batch.columns):
        raise ValueError("has missing values")
    return batch


def string_array(arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.LargeStringArray:
    """Arrow strings over bytes that are known to be UTF-8."""
    buffers = [pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(arena)]
    return pa.LargeStringArray.from_buffers(offsets.size - 1, *buffers)
