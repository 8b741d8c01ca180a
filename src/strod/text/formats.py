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
import pyarrow.parquet as pq

from strod.text.blocks import Block, block_from_json, block_from_table, json_table
from strod.text.records import LONGEST_DOCUMENT, Document, Fields, Reject, document, from_record
from strod.text.streams import CHUNK, DamagedStreamError, blocks, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = [
    "Item",
    "read_csv",
    "read_json_lines",
    "read_lines",
    "read_parquet",
    "read_table",
    "read_whole",
]

Item = Document | Reject | Block

DAMAGED = "source cut short or damaged"
TOO_LONG = "document too long"
# A record may hold more than its text; a line is worth keeping up to this size.
LONGEST_LINE = 2 * LONGEST_DOCUMENT
PARQUET_ROWS = 4096
PARQUET_BYTES = 4 << 20  # about, for rows of the mean size
_LOOSE_COLON = re.compile(rb'"[ \t\r]+:')


class _DuplicateKeyError(ValueError):
    pass


class _DamagedRowError(Exception):
    def __init__(self, line: int) -> None:
        self.line = line


class _JsonReader:
    """Parses lines: fast where nothing is in doubt, exactly where something is."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._used = frozenset(fields.used)
        self._last: list[tuple[str, Any]] = []

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
            table = json_table(line, self._fields, pa.string())
            if table is not None and len(table) == 1:
                block = block_from_table(table, self._fields, reject.line)
                if block is not None:
                    identifier = block.ids[0] if block.ids else None
                    return document(bytes(block.text), reject.line, identifier)
        return reject

    def document(self, line: bytes, number: int) -> Document | Reject:  # noqa: PLR0911
        """The document on a line."""
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
    id_types = [pa.string(), pa.int64()]
    number = 1
    try:
        for piece in blocks(data, LONGEST_LINE):
            if piece is None:
                yield Reject(TOO_LONG, number)
                number += 1
                continue
            block = block_from_json(piece, fields, number, id_types)
            if block is not None:
                yield block
                number += len(block)
                continue
            for line in piece.removesuffix(b"\n").split(b"\n"):
                if line and not line.isspace():
                    yield reader.document(line, number)
                number += 1
    except DamagedStreamError as error:
        yield Reject(DAMAGED, number, str(error))


def read_lines(data: Iterator[bytes], fields: Fields) -> Iterator[Item]:
    """One document a line; empty lines are passed over."""
    nothing = (None,) * len(fields.meta)
    number = 0
    try:
        for number, line in enumerate(lines(data, LONGEST_LINE), start=1):
            if line is None:
                yield Reject(TOO_LONG, number)
            elif line and not line.isspace():
                yield document(line.removesuffix(b"\r"), number, meta=nothing)
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


def _decoded(data: Iterator[bytes]) -> Iterator[str]:
    for line in lines(data, LONGEST_LINE):
        if line is None:
            raise DamagedStreamError("a line is too long")
        # Broken bytes become lone surrogates, and the document they are in is rejected.
        yield line.decode(errors="surrogateescape") + "\n"


def _delimiter(header: str) -> str:
    return max(",\t;|", key=header.count)


def _rows(
    data: Iterator[bytes], delimiter: str | None
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Rows, or what is wrong with them, with the number of the line on which each begins."""
    text = _decoded(data)
    header = next(text, "")
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(
        itertools.chain([header], text), delimiter=delimiter or _delimiter(header), strict=True
    )
    while True:
        start = reader.line_num + 1
        try:
            yield start, next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # the reader goes on with the next line
            yield start, error
        except DamagedStreamError as error:
            raise _DamagedRowError(start) from error


def read_csv(data: Iterator[bytes], fields: Fields, delimiter: str | None = None) -> Iterator[Item]:
    """Comma, tab, semicolon or bar separated values with a header line."""
    header: list[str] | None = None
    try:
        for number, row in _rows(data, delimiter):
            if isinstance(row, csv.Error):
                quote = "unexpected end of data" in str(row)
                yield Reject("unclosed quote" if quote else "broken CSV", number, str(row))
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


def _filled(header: list[str], row: list[str], fields: Fields) -> dict[str, str]:
    """The row without empty ids and metadata: CSV has no other way to say that one is missing."""
    cells = zip(header, row, strict=True)
    return {name: value for name, value in cells if value != "" or name in fields.text}


def read_table(batches: Iterable[pa.RecordBatch], fields: Fields) -> Iterator[Item]:
    """Rows of Arrow data, numbered from 1."""
    number = 1
    for batch in batches:
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


def _parquet_batches(
    path: Path, fields: Fields, advance: Callable[[int], None]
) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path, buffer_size=CHUNK) as file:  # pages, not whole columns
        names = file.schema_arrow.names
        columns = [name for name in dict.fromkeys(fields.used) if name in names]
        if not set(fields.text) & set(names):
            columns = names  # so that the error can name what is there
        size, rows = path.stat().st_size, max(file.metadata.num_rows, 1)
        groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
        row_size = max((g.total_byte_size // max(g.num_rows, 1) for g in groups), default=1)
        at_once = min(PARQUET_ROWS, max(PARQUET_BYTES // max(row_size, 1), 1))
        for batch in file.iter_batches(batch_size=at_once, columns=columns):
            yield batch
            advance(size * batch.num_rows // rows)


def read_parquet(path: Path, fields: Fields, advance: Callable[[int], None]) -> Iterator[Item]:
    """Rows of a Parquet file; only the columns that are needed are read."""
    number = 1
    try:
        for item in read_table(_parquet_batches(path, fields, advance), fields):
            yield item
            number = item.line + (len(item) if isinstance(item, Block) else 1)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        yield Reject(DAMAGED, number, str(error).splitlines()[0] if str(error) else "")
