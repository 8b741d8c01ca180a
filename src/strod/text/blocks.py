"""Many good documents at once: columns instead of one object a document.

A reader that has columns of text makes a block if nothing in them is in doubt. Whatever is
in doubt goes document by document through `strod.text.records`, which knows every rule; a
block only has to be sure that the outcome would be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from strod.text.records import LONGEST_DOCUMENT, LONGEST_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.text.records import Fields

__all__ = ["Block", "block_from_json", "block_from_table", "json_table"]

_NEWLINE, _BRACE, _UNBRACE = b"\n{}"
_TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string)


@dataclass(frozen=True)
class Block:
    """Documents without metadata, one after another.

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
    """

    text: memoryview
    offsets: NDArray[np.int64]
    ids: list[bytes] | None
    line: int

    def __len__(self) -> int:
        return self.offsets.size - 1


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
    if fields.meta or not len(table):
        return None
    column = _joined(table, fields)
    if column is None:
        return None
    try:
        table.select([n for n in {*fields.text, fields.id} if n in table.column_names]).validate(
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
    return Block(text, offsets, ids, line) if _good_texts(text, offsets) else None


def json_table(data: bytes, fields: Fields, id_type: pa.DataType) -> pa.Table | None:
    """The used fields of JSON objects, or None if Arrow does not take them.

    Arrow refuses what is not JSON, a used key that is there twice and a value of another
    type; it passes over fields that are not asked for.
    """
    types = dict.fromkeys(fields.text, pa.string()) | {fields.id: id_type}
    reading = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    parsing = pj.ParseOptions(
        explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
    )
    try:
        return pj.read_json(pa.BufferReader(data), reading, parsing)
    except pa.ArrowException:
        return None


def _one_object_a_line(data: bytes) -> int:
    """How many lines there are, if each looks like an object; else 0.

    Within a JSON value no ``}`` is followed by a ``{``: where one ends a line and the other
    begins the next, one object ends and another begins.
    """
    array = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(array == _NEWLINE)
    if array.size == 0 or array[0] != _BRACE or ends.size == 0 or ends[-1] != array.size - 1:
        return 0
    good = (array[ends - 1] == _UNBRACE).all() and (array[ends[:-1] + 1] == _BRACE).all()
    return ends.size if good else 0


def block_from_json(data: bytes, fields: Fields, line: int, id_types: list[Any]) -> Block | None:
    """Lines of JSON as a block, or None if a line needs a closer look.

    `id_types` are the types to try for the id; the one that fits comes first next time.
    """
    count = 0 if fields.meta else _one_object_a_line(data)
    if not count:
        return None
    for id_type in list(id_types):
        table = json_table(data, fields, id_type)
        if table is not None:
            id_types.sort(key=lambda other: other != id_type)
            return block_from_table(table, fields, line) if len(table) == count else None
    return None
