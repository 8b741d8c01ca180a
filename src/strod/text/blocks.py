"""Many good documents at once: columns instead of one object a document.

A reader that has columns of text makes a block if nothing in them is in doubt. Whatever is
in doubt goes document by document through `strod.text.records`, which knows every rule; a
block only has to be sure that the outcome would be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.text.records import LONGEST_DOCUMENT, LONGEST_ID, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.text.records import Fields

__all__ = ["Block", "Values", "block_from_table"]

# In Arrow, if they are strings, whole numbers, truth values or lists of strings; else in Python.
Values: TypeAlias = pa.Array | list[Any]

_TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string)


@dataclass(frozen=True)
class Block:
    """Documents, one after another.

    Attributes
    ----------
    text : memoryview
        The texts, joined.
    offsets : int64 array
        Document `i` is ``text[offsets[i]:offsets[i + 1]]``.
    ids : list of bytes, or None
        None if the documents have none.
    line : int
        Where the first document stands; each of the others is one further.
    meta : tuple of Values
        The values of each metadata field, one a document.
    """

    text: memoryview
    offsets: NDArray[np.int64]
    ids: list[bytes] | None
    line: int
    meta: tuple[Values, ...] = ()

    def __len__(self) -> int:
        return self.offsets.size - 1

    def documents(self) -> Iterator[Document]:
        """One after another."""
        columns = [one if isinstance(one, list) else one.to_pylist() for one in self.meta]
        for i, (begin, end) in enumerate(pairwise(self.offsets.tolist())):
            meta = tuple([values[i] for values in columns])
            identifier = self.ids[i] if self.ids else None
            yield Document(bytes(self.text[begin:end]), identifier, meta, self.line + i)


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in _TEXT_TYPES)


def _joined(table: pa.Table, fields: Fields) -> pa.LargeStringArray | None:
    """The text fields as one column; None if a value is missing or no text."""
    columns = []
    for name in fields.text:
        if name not in table.column_names or not _is_text(table.schema.field(name).type):
            return None
        column = table[name].cast(pa.large_string())
        if column.null_count:
            return None
        columns.append(column)
    joined = columns[0]
    if len(columns) > 1:
        fields.seen.update(fields.text)
        joined = pc.binary_join_element_wise(*columns, pa.scalar("\n\n", pa.large_string()))
    return pa.concat_arrays(joined.chunks) if joined.num_chunks != 1 else joined.chunk(0)


def _good_texts(text: memoryview, offsets: NDArray[np.int64]) -> bool:
    """Whether each text would be accepted."""
    sizes = np.diff(offsets)
    if sizes.min() == 0 or sizes.max() > LONGEST_DOCUMENT:
        return False
    data = np.frombuffer(text, dtype=np.uint8)
    if not data.all():  # a NUL byte
        return False
    for i in np.flatnonzero(data[offsets[:-1]] <= 32).tolist():
        if bytes(text[offsets[i] : offsets[i + 1]]).isspace():
            return False
    return True


def _identifiers(table: pa.Table, fields: Fields) -> tuple[bool, list[bytes] | None]:
    """Whether the ids are good, and the ids."""
    if fields.id not in table.column_names or table[fields.id].null_count == len(table):
        return not fields.id_required, None
    column = table[fields.id]
    if column.null_count or not (_is_text(column.type) or pa.types.is_integer(column.type)):
        return False, None
    ids = column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
    good = all(0 < len(value) <= LONGEST_ID and b"\0" not in value for value in ids)
    return good, ids


def block_from_table(table: pa.Table, fields: Fields, line: int) -> Block | None:
    """The rows of a table as a block, or None if a row needs a closer look."""
    if not len(table):
        return None
    column = _joined(table, fields)
    if column is None:
        return None
    try:
        table.select([n for n in {*fields.used} if n in table.column_names]).validate(
            full=True  # Arrow does not look at the UTF-8 of strings by itself
        )
    except pa.ArrowInvalid:
        return None
    good, ids = _identifiers(table, fields)
    if not good:
        return None
    _, places, data = column.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[column.offset :][: len(column) + 1]
    text = memoryview(data)[int(offsets[0]) : int(offsets[-1])] if data else memoryview(b"")
    offsets = offsets - offsets[0]
    if not _good_texts(text, offsets):
        return None
    meta = _meta(table, fields)
    return None if meta is None else Block(text, offsets, ids, line, meta)


def _meta(table: pa.Table, fields: Fields) -> tuple[Values, ...] | None:
    """Metadata in the rows of a table, or None if a value is none that Python has."""
    names = table.column_names
    nothing = pa.chunked_array([pa.nulls(len(table), pa.string())])
    columns = [table[name] if name in names else nothing for name in fields.meta]
    fields.meet([name for name in fields.used if name in names])
    try:
        return tuple(map(_values, columns))
    except (ValueError, OverflowError):
        return None


def _values(column: pa.ChunkedArray) -> Values:
    kind = column.type
    member = kind.value_type if pa.types.is_list(kind) else kind
    if _is_text(member) or (member is kind and _is_whole(kind)):
        whole: pa.Array = (
            pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
        )
        return whole
    values: list[Any] = column.to_pylist()
    return values


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))
