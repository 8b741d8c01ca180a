"""Tables for spreadsheets and data frames: topics, phrases, and documents."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from strod.corpus.reader import PREFIX
from strod.export.names import name_of, phrases_of, topics_of
from strod.export.samples import meta_text
from strod.placements import assign_corpus
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from strod.hierarchy import Tree
    from strod.progress import Progress
    from strod.workspace import Workspace

__all__ = ["is_table", "write_tables"]

NAMES = ("topics.csv", "phrases.csv", "documents.csv")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_TOPICS = [
    "id",
    "path",
    "parent",
    "level",
    "weight",
    "documents",
    "label",
    "phrases",
    "sha256",
]
_PHRASES = ["topic", "path", "rank", "phrase", "score"]
_DOCUMENTS = ["id", "leaf", "topic", "path", "share", "label"]  # and the metadata that is kept
_HEADS = dict(zip(NAMES, (_TOPICS, _PHRASES, _DOCUMENTS), strict=True))


def write_tables(
    workspace: Workspace, folder: Path, progress: Progress, phrases: int | None = None
) -> None:
    """Write the three tables; documents pass by shard after shard."""
    tree = workspace.tree
    _write(folder / "topics.csv", _TOPICS, _topic_rows(tree, phrases))
    _write(folder / "phrases.csv", _PHRASES, _phrase_rows(tree, phrases))
    heads = [*_DOCUMENTS, *(PREFIX + field for field in workspace.corpus.meta)]
    _write(folder / "documents.csv", heads, _document_rows(workspace, progress))


def is_table(path: Path) -> bool:
    """Whether a file is a table as an export writes it."""
    head = ",".join(_HEADS.get(path.name, [])).encode()
    if not head or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(head)) == head


def _write(path: Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)  # RFC 4180 is what it does unless told otherwise
        writer.writerow(header)
        writer.writerows([_harmless(cell) for cell in row] for row in rows)


def _harmless(cell: Any) -> Any:
    """A text that a spreadsheet would run as a formula, as a text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


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


def _document_rows(workspace: Workspace, progress: Progress) -> Iterator[list[Any]]:
    topics = {topic.path: topic for topic in topics_of(workspace.tree)}
    for row in assign_corpus(workspace, progress):
        meta = ["" if one is None else meta_text(one) for one in row.get("meta", {}).values()]
        # A document that no topic below the root has a share of is still listed.
        for path, share in (row["topics"] or {ROOT: 1.0}).items():
            topic = topics[path]
            yield [row["id"], row["leaf"], topic.id, path, share, name_of(topic), *meta]
