"""Topics of documents as tables: a row for each share, or one for each document."""

from __future__ import annotations

import csv
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from strod.corpus.layout import PREFIX
from strod.errors import UsageError
from strod.export.files import new_file
from strod.export.samples import meta_text
from strod.export.tables import harmless
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from strod.workspace.workspace import Workspace

    Row = dict[str, Any]

__all__ = ["TABLES", "Table", "assigned_table", "write_table"]

TABLES = ("csv", "parquet")
GROUP = 1 << 16  # rows that are written together


class Table(NamedTuple):
    """Rows with columns of these names, the last of them metadata, whose kinds are known."""

    heads: list[str]
    meta: dict[str, str]
    rows: Iterator[Row]


def assigned_table(workspace: Workspace, rows: Iterable[Row], *, wide: bool = False) -> Table:
    """What `Workspace.assign` gives as a table.

    A document has a row for each of its shares or, if `wide`, one row with a column for each
    topic.
    """
    paths = [path for path in workspace.tree if path != ROOT]
    meta = dict(workspace.corpus.meta)
    shaped = _wide(rows, paths) if wide else _long(rows)
    heads = ["id", "leaf", "known", "fit", *(paths if wide else ["topic", "share"])]
    return Table(heads, meta, (_with_meta(row, meta) for row in shaped))


def write_table(table: Table, out: Path, to: str, *, overwrite: bool = False) -> None:
    """Write a table as ``csv`` or ``parquet``; `overwrite` replaces a file of that name."""
    if to not in TABLES:
        raise UsageError(f"`to` must be {' or '.join(TABLES)}, not {to}")
    with new_file(out, overwrite=overwrite) as building:
        (_write_csv if to == "csv" else _write_parquet)(building, table)


def _about(row: Row) -> Row:
    return {name: row[name] for name in ("id", "leaf", "known", "fit")} | {
        "meta": row.get("meta", {})
    }


def _long(rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each share; a document without any has one."""
    for row in rows:
        for path, share in row["topics"].items() or [(None, None)]:
            yield _about(row) | {"topic": path, "share": share}


def _wide(rows: Iterable[Row], paths: list[str]) -> Iterator[Row]:
    for row in rows:
        yield _about(row) | {path: row["topics"].get(path, 0.0) for path in paths}


def _with_meta(row: Row, meta: Iterable[str]) -> Row:
    """Metadata in columns of their own, as text; what is new has none."""
    kept = row.pop("meta")
    for name in meta:
        value = kept.get(name)
        row[PREFIX + name] = None if value is None else meta_text(value)
    return row


def _names(table: Table) -> list[str]:
    return [*table.heads, *(PREFIX + name for name in table.meta)]


def _write_csv(path: Path, table: Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        names = _names(table)
        writer.writerow(map(harmless, names))
        numbers = {PREFIX + name for name, kind in table.meta.items() if kind == "number"}
        guards = [_itself if name in numbers else harmless for name in names]
        for row in table.rows:
            writer.writerow([guard(cell) for guard, cell in zip(guards, row.values(), strict=True)])


def _itself(cell: Any) -> Any:
    """A number stays one, below 0 too."""
    return cell


def _write_parquet(path: Path, table: Table) -> None:
    text = {"id", "leaf", "topic", *(PREFIX + name for name in table.meta)}
    kinds = {name: pa.string() for name in text} | {"known": pa.int64()}
    schema = pa.schema([(name, kinds.get(name, pa.float64())) for name in _names(table)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(table.rows, GROUP)):
            writer.write_table(pa.Table.from_pylist(some, schema))
