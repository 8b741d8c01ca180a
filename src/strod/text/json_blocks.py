"""Lines of JSON as blocks: parsed many at a time, if the outcome is that of line by line.

There are two ways. Arrow parses the fields that are used and passes over the others: it is fast
but has to be told the types. orjson parses everything: any types will do. The first block with
metadata is taken by orjson, and its types tell Arrow what to expect in the next.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json as pj

from strod.text.blocks import block_from_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from strod.text.blocks import Block
    from strod.text.records import Fields

__all__ = ["JsonBlocks", "json_table"]

_NEWLINE, _BRACE, _UNBRACE, _BRACKET, _QUOTE, _COLON, _SPACE, _MINUS = b'\n{}[": -'
_ARROW_TYPES = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), list: pa.list_(pa.string())}
DEEPEST = 500  # levels that any parser takes
LONGEST_NUMBER = 4000  # digits that Python turns into a number
SAMPLES = 8  # places of so long a number that are looked at


def json_table(data: bytes, types: Mapping[str, pa.DataType]) -> pa.Table | None:
    """Some fields of JSON objects, or None if Arrow does not take them.

    Arrow refuses what is not JSON, a key of `types` that is there twice and a value of another
    type; it passes over fields that are not asked for.
    """
    reading = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    parsing = pj.ParseOptions(
        explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
    )
    try:
        return pj.read_json(pa.BufferReader(data), reading, parsing)
    except pa.ArrowException:
        return None


class JsonBlocks:
    """Makes blocks of the lines of a file.

    Parameters
    ----------
    fields : Fields
        Which are used.
    parse : callable
        Gives the record on a line; raises `ValueError` if a used key stands there twice.
    """

    def __init__(self, fields: Fields, parse: Callable[[bytes], Any]) -> None:
        self._fields, self._parse = fields, parse
        self._id_types = [pa.string(), pa.int64()]  # to try; the one that fits comes first
        self._meta_types: dict[str, pa.DataType] | None = None if fields.meta else {}

    def block(self, data: bytes, line: int) -> Block | None:
        """Lines as a block, or None if a line needs a closer look."""
        count = _one_object_a_line(data)
        if not count:
            return None
        block = self._from_columns(data, line, count)
        if block is None and self._fields.meta:
            block = self._from_records(data, line)
        return block

    def _from_columns(self, data: bytes, line: int, count: int) -> Block | None:
        if self._meta_types is None or (self._meta_types and not _taken_by_all(data)):
            return None
        types = dict.fromkeys(self._fields.text, pa.string())
        for id_type in list(self._id_types):
            # A field may be text, id and metadata: then it is parsed as the first of these.
            table = json_table(data, self._meta_types | {self._fields.id: id_type} | types)
            if table is not None:
                self._id_types.sort(key=lambda other: other != id_type)
                # Of a column without a value it is not known whether the field is there.
                there = all(table[name].null_count < count for name in self._meta_types)
                good = len(table) == count and there
                return block_from_table(table, self._fields, line) if good else None
        return None

    def _from_records(self, data: bytes, line: int) -> Block | None:
        """All lines are parsed at once; those in which a key may stand twice also alone."""
        fields, lines = self._fields, data[:-1].split(b"\n")
        self._meta_types = None
        try:
            records = orjson.loads(b"[%b]" % b",".join(lines))
            if len(records) != len(lines):  # one line is two objects, or two are one
                return None
            for i in _doubtful(data, records):
                records[i] = self._parse(lines[i])
            columns = {
                name: pa.array([record.get(name) for record in records])
                for name in {*fields.text, fields.id}
            }
        except (ValueError, OverflowError, RecursionError, pa.ArrowException):
            return None
        block = block_from_table(pa.table(columns), replace(fields, meta=()), line)
        if block is None:
            return None
        if not fields.met.keys() >= set(chain.from_iterable(records)):
            for record in records:
                fields.meet(record)
        meta = tuple([record.get(name) for record in records] for name in fields.meta)
        self._meta_types = _arrow_types(dict(zip(fields.meta, meta, strict=True)))
        return replace(block, meta=meta)


def _arrow_types(columns: Mapping[str, list[Any]]) -> dict[str, pa.DataType] | None:
    """What Arrow is to expect in columns, or None if one has values that it might change."""
    found = {}
    for name, values in columns.items():
        kinds = set(map(type, values)) - {type(None)}
        if kinds == {list}:
            members = set(map(type, chain.from_iterable(filter(None, values))))
            kinds = {list} if members <= {str, type(None)} else {object}
        if len(kinds) != 1 or not kinds <= _ARROW_TYPES.keys():
            return None
        found[name] = _ARROW_TYPES[kinds.pop()]
    return found


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


def _taken_by_all(data: bytes) -> bool:
    """Whether every parser would take what Arrow takes in the fields that it passes over.

    Arrow minds neither broken UTF-8 there nor depth nor the length of numbers, and takes ``Inf``
    and ``-NaN``.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    array = np.frombuffer(data, dtype=np.uint8)
    opening = np.flatnonzero((array == _BRACE) | (array == _BRACKET))
    deep = np.bincount(np.searchsorted(np.flatnonzero(array == _NEWLINE), opening)).max() > DEEPEST
    return not (deep or _stands_in(array, b"Inf") or _stands_in(array, b"-NaN") or _long(array))


def _stands_in(array: NDArray[np.uint8], word: bytes) -> bool:
    """Whether a word stands somewhere by itself; after its first letter, which is seldom."""
    places = np.flatnonzero(array[: -len(word)] == word[0])
    for i, letter in enumerate(word[1:], start=1):
        places = places[array[places + i] == letter]
    after = array[places + len(word)]
    return bool(np.isin(after, np.frombuffer(b",]} \t\r\n", dtype=np.uint8)).any())


def _long(array: NDArray[np.uint8]) -> bool:
    """Whether there may be a number of more digits than Python takes."""
    some = array[:: LONGEST_NUMBER // SAMPLES]
    digits = np.cumsum((some >= ord("0")) & (some <= ord("9")))
    return bool((digits[SAMPLES - 1 :] - np.append(0, digits)[:-SAMPLES] == SAMPLES).any())


def _doubtful(data: bytes, records: list[dict[str, Any]]) -> list[int]:
    """Lines in which more or fewer keys seem to stand than in their records."""
    array = np.frombuffer(data, dtype=np.uint8)
    colons = array[1:] == _COLON
    ends = np.flatnonzero(array == _NEWLINE)
    keys = np.searchsorted(ends, np.flatnonzero(colons & (array[:-1] == _QUOTE)))
    sizes = np.fromiter(map(len, records), dtype=np.int64, count=len(records))
    odd = np.bincount(keys, minlength=ends.size) != sizes
    # A key may be apart from its colon.
    odd[np.searchsorted(ends, np.flatnonzero(colons & (array[:-1] <= _SPACE)))] = True
    return [int(i) for i in np.flatnonzero(odd)]
