"""Tables for spreadsheets, data frames and databases: topics, phrases, and documents."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from strod.compute.threads import ordered_map
from strod.corpus.layout import PREFIX
from strod.corpus.metadata import arrow_type
from strod.export.cells import FORMULA, cells, joined, row, scalar, shares
from strod.export.names import name_of, phrases_of, topics_of
from strod.store.tables import arrow_array, table_of, taken, text_array
from strod.values.shares import DIGITS, known_leaves
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.corpus.reader import Shard
    from strod.progress import Progress
    from strod.workspace.tree import Tree
    from strod.workspace.workspace import Workspace

__all__ = ["harmless", "is_table", "write_tables"]

WORKERS = 2  # shards that are put into form while another is written
_Form = TypeVar("_Form")

_TEXT, _NUMBER, _COUNT = pa.large_string(), pa.float64(), pa.int64()
_NUMPY = {_NUMBER: np.float64, _COUNT: np.int64}
_COLUMNS = {
    "topics": {
        "id": _TEXT,
        "path": _TEXT,
        "parent": _TEXT,
        "level": _COUNT,
        "weight": _NUMBER,
        "documents": _COUNT,
        "label": _TEXT,
        "phrases": _TEXT,
        "sha256": _TEXT,
    },
    "phrases": {
        "topic": _TEXT,
        "path": _TEXT,
        "rank": _COUNT,
        "phrase": _TEXT,
        "score": _NUMBER,
    },
    "documents": {  # and the metadata that is kept
        "id": _TEXT,
        "leaf": _TEXT,
        "topic": _TEXT,
        "path": _TEXT,
        "share": _NUMBER,
        "label": _TEXT,
    },
}


def write_tables(
    workspace: Workspace, folder: Path, to: str, progress: Progress, phrases: int | None = None
) -> None:
    """Write the three tables as `to` says; documents pass by shard after shard."""
    tree = workspace.snapshot.tree
    write_rows = _write_csv if to == "csv" else _write_parquet
    write_rows(folder / f"topics.{to}", _COLUMNS["topics"], _topic_rows(tree, phrases))
    write_rows(folder / f"phrases.{to}", _COLUMNS["phrases"], _phrase_rows(tree, phrases))
    fields, path = _schema(workspace), folder / f"documents.{to}"
    progress.stage("assigning", workspace.corpus.documents, "documents")
    if to == "parquet":
        with pq.ParquetWriter(path, fields, compression="zstd") as writer:
            for size, table in _parts(workspace, _Part.table):
                writer.write_table(table.select(fields.names).cast(fields))
                progress.advance(size)
        return
    with path.open("wb") as file:
        file.write(row([cells(text_array([name])) for name in fields.names])[0].as_buffer())
        file.write(b"\r\n")
        for size, lines in _parts(workspace, _Part.lines):
            file.write(lines)
            progress.advance(size)


def is_table(path: Path) -> bool:
    """Whether a file is a table as an export writes it."""
    head = [*_COLUMNS.get(path.stem, ())]
    if not head or path.is_symlink() or not path.is_file():
        return False
    if path.suffix == ".parquet":
        try:
            return bool(pq.read_schema(path).names[: len(head)] == head)
        except pa.ArrowException:
            return False
    line = ",".join(head).encode()
    with path.open("rb") as file:
        return path.suffix == ".csv" and file.read(len(line)) == line


def _write_csv(path: Path, columns: dict[str, pa.DataType], rows: Iterable[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)  # RFC 4180 is what it does unless told otherwise
        writer.writerow(columns)
        writer.writerows([harmless(cell) for cell in values] for values in rows)


def _write_parquet(path: Path, columns: dict[str, pa.DataType], rows: Iterable[list[Any]]) -> None:
    found: list[list[Any]] = [[] for _ in columns]
    for values in rows:
        for column, cell in zip(found, values, strict=True):
            column.append(cell)
    arrays = [
        text_array(column) if kind == _TEXT else arrow_array(np.array(column, _NUMPY[kind]))
        for column, kind in zip(found, columns.values(), strict=True)
    ]
    pq.write_table(pa.table(arrays, list(columns)), path, compression="zstd")


def harmless(cell: Any) -> Any:
    """A text that a spreadsheet would run as a formula, as a text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _topic_rows(tree: Tree, phrases: int | None) -> Iterator[list[Any]]:
    for topic in topics_of(tree):
        yield [
            topic.id,
            topic.path,
            topic.parent.id if topic.parent else "",
            topic.level,
            topic.weight,
            topic.documents,
            name_of(topic),
            "; ".join(phrases_of(topic, phrases)),
            topic.sha256,
        ]


def _phrase_rows(tree: Tree, phrases: int | None) -> Iterator[list[Any]]:
    for topic in topics_of(tree):
        for rank, (text, score) in enumerate(topic.phrases[: phrases or None], start=1):
            yield [topic.id, topic.path, rank, text, score]


def _schema(workspace: Workspace) -> pa.Schema:
    """Columns of the table of documents."""
    meta = workspace.snapshot.corpus.meta.items()
    kept = [(PREFIX + name, arrow_type(kind)) for name, kind in meta]
    return pa.schema([*_COLUMNS["documents"].items(), *kept])


class _Placements(NamedTuple):
    """Rows of the table of documents: numbers of a document and of a topic, and the share."""

    documents: NDArray[np.int64]
    topics: NDArray[np.int64]
    shares: NDArray[np.float64]


@dataclass(frozen=True)
class _Part:
    """What a shard gives.

    Attributes
    ----------
    documents, topics : Table
        One row each.
    placements : _Placements
        What the table of documents has of them.
    """

    documents: pa.Table
    topics: pa.Table
    placements: _Placements

    def table(self) -> pa.Table:
        """The rows with their types."""
        table = taken(self.documents, self.placements.documents)
        for name in self.topics.column_names:
            column = self.topics[name].take(arrow_array(self.placements.topics))
            table = table.append_column(name, column)
        return table.append_column("share", arrow_array(self.placements.shares))

    def lines(self) -> memoryview:
        """The rows as CSV: texts are made once for each document and topic, then joined."""
        comma, end = scalar(","), scalar("\r\n")
        about = self.documents
        fields = [name for name in about.column_names if name.startswith(PREFIX)]
        front = joined([row([cells(about["id"]), cells(about["leaf"])]), comma])
        back = joined([part for name in fields for part in (comma, cells(about[name]))] + [end])
        topic, path, label = (cells(self.topics[name]) for name in ("topic", "path", "label"))
        whose, where = (arrow_array(one) for one in self.placements[:2])
        lines = joined(
            [
                front.take(whose),
                joined([row([topic, path]), comma]).take(where),
                shares(self.placements.shares),
                joined([comma, label]).take(where),
                back.take(whose) if fields else end,
            ]
        )
        _, places, data = lines.buffers()
        size = int(np.frombuffer(places, dtype=np.int64)[len(lines)])
        return memoryview(data)[:size]


def _parts(workspace: Workspace, form: Callable[[_Part], _Form]) -> Iterator[tuple[int, _Form]]:
    """For each shard how many documents it has, and its part in some form."""
    tree = workspace.snapshot.tree
    topics = [topic for name, topic in tree.items() if name != ROOT] + [tree.root]
    columns = {"topic": "id", "path": "path"}
    table = {name: [getattr(topic, what) for topic in topics] for name, what in columns.items()}
    table["label"] = [name_of(topic) for topic in topics]
    about = pa.table({name: text_array(values) for name, values in table.items()})

    def formed(shard: Shard) -> tuple[int, _Form]:
        return shard.size, form(_part(shard, tree, about))

    return ordered_map(formed, workspace.snapshot.corpus.shards(), WORKERS)


def _part(shard: Shard, tree: Tree, topics: pa.Table) -> _Part:
    found = tree.shares(shard.first, shard.size)
    names = topics["topic"].to_pylist()
    # The root stands last, and for documents that no other topic has a share of.
    held = np.stack([found[name] for name in names], axis=1).round(DIGITS)
    held[:, -1] = ~held[:, :-1].any(axis=1)
    rows, columns = np.nonzero(held)
    documents = shard.documents().drop_columns(["text_row"])
    leaves = known_leaves(tree.leaves(found), shard.sizes)
    documents = documents.append_column("leaf", table_of({"leaf": leaves})["leaf"])
    return _Part(documents, topics, _Placements(rows, columns, held[rows, columns]))
