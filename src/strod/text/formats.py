"""Readers: each turns one file into documents and rejects, in the order of the file.

Documents already read stay good when the rest of a file is damaged; the rest counts as
one rejected document.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from strod.text.blocks import Block, block_from_table
from strod.text.json_blocks import JsonBlocks, json_table
from strod.text.records import LONGEST_DOCUMENT, Document, Fields, Reject, document, from_record
from strod.text.streams import DamagedStreamError, blocks, full_lines, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Item",
    "read_csv",
    "read_json_lines",
    "read_lines",
    "read_table",
    "read_whole",
]

Item = Document | Reject | Block

DAMAGED = "source cut short or damaged"
TOO_LONG = "document too long"
# A record may hold more than its text; a line is worth keeping up to this size.
LONGEST_LINE = 2 * LONGEST_DOCUMENT
MOST_VALUES = 1 << 20  # in a record; each takes about a hundred bytes
_EMPTY_LINES = re.compile(rb"(?:\r?\n)*+")
_LOOSE_COLON = re.compile(rb'"[ \t\r]+:')


class _DuplicateKeyError(ValueError):
    pass


class _LongRowError(csv.Error):
    pass


class _DamagedRowError(Exception):
    def __init__(self, line: int) -> None:
        self.line = line


def _is_crowded(data: bytes) -> bool:
    """Whether there may be too many values in it."""
    return len(data) > MOST_VALUES and sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES


class _JsonReader:
    """Parses lines: fast where nothing is in doubt, exactly where something is."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._used = frozenset(fields.used)
        self._last: list[tuple[str, Any]] = []
        self._blocks = JsonBlocks(fields, self._parse)

    def _pairs(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        self._last = items  # of the outermost object in the end
        return dict(items)

    def _parse(self, line: bytes) -> Any:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            pass  # Python writes NaN, which is not JSON
        else:
            # With as many keys in the line as in the record, none can be there twice.
            if not isinstance(record, dict) or (
                line.count(b'":') == len(record) and not _LOOSE_COLON.search(line)
            ):
                return record
        record = json.loads(line.decode(), object_pairs_hook=self._pairs)
        if isinstance(record, dict) and len(record) < len(self._last):
            names = [name for name, _ in self._last]
            for name in self._used:
                if names.count(name) > 1:
                    raise _DuplicateKeyError(name)
        return record

    def _rescued(self, line: bytes, reject: Reject) -> Document | Reject:
        """Blocks do not mind what is in the fields they pass over, so neither do lines."""
        if not self._fields.meta:
            types = dict.fromkeys((self._fields.id, *self._fields.text), pa.string())
            table = json_table(line, types)
            if table is not None and len(table) == 1:
                block = block_from_table(table, self._fields, reject.line)
                if block is not None:
                    identifier = block.ids[0] if block.ids else None
                    return document(bytes(block.text), reject.line, identifier)
        return reject

    def block(self, data: bytes, number: int) -> Block | None:
        """The documents of some lines, or None if one needs a closer look."""
        return None if _is_crowded(data) else self._blocks.block(data, number)

    def document(self, line: bytes, number: int) -> Document | Reject:  # noqa: PLR0911
        """The document on a line."""
        if _is_crowded(line):
            return Reject(TOO_LONG, number, "too many values")
        try:
            record = self._parse(line)
        except UnicodeDecodeError as error:
            return self._rescued(line, Reject("broken UTF-8", number, f"byte {error.start}"))
        except _DuplicateKeyError as error:
            return Reject("duplicate key", number, f"{error} stands twice in the record")
        except RecursionError:
            return self._rescued(line, Reject("broken JSON", number, "nested too deeply"))
        except ValueError as error:
            if line.lstrip().startswith(b"["):
                return Reject("not a JSON object", number, "an array over several lines")
            return self._rescued(line, Reject("broken JSON", number, str(error)))
        if isinstance(record, dict):
            return from_record(record, number, self._fields)
        return Reject("not a JSON object", number, "one object a line is expected")


def read_json_lines(data: Iterator[bytes], fields: Fields) -> Iterator[Item]:
    """One JSON object a line; empty lines are passed over."""
    reader = _JsonReader(fields)
    number = 1
    try:
        for piece in blocks(data, LONGEST_LINE):
            if piece is None:
                yield Reject(TOO_LONG, number)
                number += 1
                continue
            block = reader.block(piece, number)
            if block is not None:
                yield block
                number += len(block)
                continue
            for at, line in full_lines(iter([piece]), LONGEST_LINE):
                if line and not line.isspace():
                    yield reader.document(line, number + at - 1)
            number += piece.count(b"\n")
    except DamagedStreamError as error:
        yield Reject(DAMAGED, number, str(error))


def read_lines(data: Iterator[bytes], fields: Fields) -> Iterator[Item]:
    """One document a line; empty lines are passed over unless they may be documents."""
    nothing = (None,) * len(fields.meta)
    number = 0
    try:
        every = enumerate(lines(data, LONGEST_LINE), start=1) if fields.blank else None
        for number, line in every or full_lines(data, LONGEST_LINE):
            if line is None:
                yield Reject(TOO_LONG, number)
            elif fields.blank or not line.isspace():
                text = line.removesuffix(b"\r")
                yield document(text, number, meta=nothing, blank=fields.blank)
    except DamagedStreamError as error:
        yield Reject(DAMAGED, number + 1, str(error))


def read_whole(data: Iterator[bytes], fields: Fields, name: str) -> Iterator[Item]:
    """One document a file, named after it."""
    held, size = [], 0
    try:
        for chunk in data:
            size += len(chunk)
            if size > LONGEST_DOCUMENT:
                yield Reject(TOO_LONG, 0)
                return
            held.append(chunk)
    except DamagedStreamError as error:
        yield Reject(DAMAGED, 0, str(error))
        return
    yield document(b"".join(held), 0, name.encode(errors="replace"), (None,) * len(fields.meta))


class _CsvLines:
    """Lines for the CSV reader, which asks for more of them as long as a quote is open."""

    def __init__(self, data: Iterator[bytes]) -> None:
        self._blocks = blocks(data, LONGEST_LINE)
        self._block, self._at = b"", 0
        self.delimiter = b""
        self.start = 1  # line with which the row begins
        self._next = 1
        self._cells = self._bytes = 0  # of the row so far

    def __iter__(self) -> Iterator[str]:
        return self

    def begin(self) -> None:
        """A row begins: empty lines before it are passed over."""
        self._cells = self._bytes = 0
        while True:
            end = _EMPTY_LINES.match(self._block, self._at).end()  # type: ignore[union-attr]
            self._next += self._block.count(b"\n", self._at, end)
            self._at = end
            self.start = self._next
            if self._at < len(self._block) or not self._load():
                break

    def _load(self) -> bool:
        block = next(self._blocks, b"")
        if block is None:
            raise DamagedStreamError("a line is too long")
        self._block, self._at = block, 0
        return bool(block)

    def __next__(self) -> str:
        if self._at >= len(self._block) and not self._load():
            raise StopIteration
        end = self._block.find(b"\n", self._at)
        end = len(self._block) if end < 0 else end
        line = self._block[self._at : end]
        self._at = end + 1
        self._next += 1
        self._bytes += len(line)
        self._cells += line.count(self.delimiter) if self.delimiter else 0
        if self._bytes > LONGEST_LINE or self._cells > MOST_VALUES:
            raise _LongRowError
        # Broken bytes become lone surrogates, and the document they are in is rejected.
        return line.decode(errors="surrogateescape") + "\n"


def _delimiter(header: str) -> str:
    return max(",\t;|", key=header.count)


def _rows(
    data: Iterator[bytes], delimiter: str | None
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Rows, or what is wrong with them, with the number of the line on which each begins."""
    text = _CsvLines(data)
    try:
        header = next(text, "")
    except DamagedStreamError as error:
        raise _DamagedRowError(1) from error
    delimiter = delimiter or _delimiter(header)
    text.delimiter = delimiter.encode()
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(itertools.chain([header], text), delimiter=delimiter, strict=True)
    while True:
        try:
            if reader.line_num:
                text.begin()
            yield text.start, next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # the reader goes on with the next line
            yield text.start, error
        except DamagedStreamError as error:
            raise _DamagedRowError(text.start) from error


def read_csv(data: Iterator[bytes], fields: Fields, delimiter: str | None = None) -> Iterator[Item]:
    """Comma, tab, semicolon or bar separated values with a header line."""
    header: list[str] | None = None
    try:
        for number, row in _rows(data, delimiter):
            if isinstance(row, csv.Error):
                yield _csv_reject(row, number)
            elif header is None:
                header = row
                twice = _twice(header, fields)
                if twice:
                    yield Reject("duplicate key", number, f"column {twice!r} is there twice")
                    return
            elif row and len(row) != len(header):
                yield Reject("wrong number of columns", number, f"{len(row)} of {len(header)}")
            elif row:
                yield from_record(_filled(header, row, fields), number, fields)
    except _DamagedRowError as error:
        yield Reject(DAMAGED, error.line, str(error.__cause__))


def _csv_reject(error: csv.Error, number: int) -> Reject:
    if isinstance(error, _LongRowError):
        return Reject(TOO_LONG, number, "a row without end")
    quote = "unexpected end of data" in str(error)
    return Reject("unclosed quote" if quote else "broken CSV", number, str(error))


def _filled(header: list[str], row: list[str], fields: Fields) -> dict[str, str]:
    """The row without empty ids and metadata: CSV has no other way to say that one is missing."""
    cells = zip(header, row, strict=True)
    return {name: value for name, value in cells if value != "" or name in fields.text}


def read_table(batches: Iterable[pa.RecordBatch | None], fields: Fields) -> Iterator[Item]:
    """Rows of Arrow data, numbered from 1; None stands for a row that is too long."""
    number = 1
    for batch in batches:
        if batch is None:
            yield Reject(TOO_LONG, number)
            number += 1
            continue
        twice = _twice(batch.schema.names, fields)
        if twice:
            yield Reject("duplicate key", number, f"column {twice!r} is there twice")
            return
        block = block_from_table(pa.Table.from_batches([batch]), fields, number)
        if block is not None:
            yield block
        else:
            for i in range(batch.num_rows):
                yield from_record(_row(batch, i, fields), number + i, fields)
        number += batch.num_rows


def _twice(names: list[str], fields: Fields) -> str | None:
    return next((name for name in fields.used if names.count(name) > 1), None)


def _row(batch: pa.RecordBatch, i: int, fields: Fields) -> dict[str, Any]:
    """One row, value by value: what one of them holds is no matter to the others."""
    names = batch.schema.names
    used = [name for name in fields.used if name in names]
    if not set(fields.text) & set(names):
        return dict.fromkeys(names)  # so that the error can name what is there
    return {name: _value(batch[name][i]) for name in used}


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()
    except (ValueError, OverflowError):  # a date that Python has not
        return None
