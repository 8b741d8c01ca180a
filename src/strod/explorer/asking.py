"""Answers to questions: searches, slices, trends, entities, fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.explorer.errors import TooLargeError
from strod.explorer.reading import listed
from strod.query.bursts import bursts
from strod.query.entities import entity_topics
from strod.query.search import search as found_by
from strod.query.slices import column_of, sliced
from strod.query.trends import trends as found_trends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strod.explorer.view import View

__all__ = ["entity", "fields", "search", "slice_", "trends"]

ROWS = 200_000  # of a slice
BURSTS = 10
VALUES = 50  # of a field


def _asked(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Parameters as the library takes them: nothing is None, not an empty text."""
    return {name: None if given[name] == "" else given[name] for name in names}


def search(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """Documents by what they say."""
    page = {"limit": given["limit"], "offset": given["offset"]}
    asked = _asked(given, "topic", "where")
    found = found_by(view.index, given["q"], **asked, **page)
    rows = zip(found.documents.to_pylist(), found.snippets, strict=True)
    return found.as_dictionary() | {
        "documents": [
            listed(view, row)
            | {"score": row["score"], "snippet": [[text, int(hit)] for text, hit in pieces]}
            for row, pieces in rows
        ],
        "command": view.command("search", given["q"], **asked, **page),
    }


def slice_(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """Documents of topics by the values of fields."""
    asked = _asked(given, "topic", "level", "where")
    table = sliced(view.index, given["by"], **asked)
    if len(table) > ROWS:
        raise TooLargeError(
            f"{len(table):,} rows, more than {ROWS:,}", advice="give `level`, `topic` or `where`"
        )
    return {
        "by": given["by"],
        "columns": [column_of(one) for one in given["by"]],
        "measure": given["measure"],
        "rows": table.to_pylist(),
        "command": view.command("slice", by=given["by"], **asked, measure=given["measure"]),
    }


def trends(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """Topics that grew or shrank, and phrases at their time."""
    asked = _asked(given, "field", "topic", "level", "where")
    found = found_trends(view.index, **asked)
    topics, where = [one.topic for one in found.rows], asked["where"]
    burst = bursts(view.index, found.field, topics, where=where, limit=BURSTS)
    content = found.as_dictionary()
    for row, one in zip(content["rows"], topics, strict=True):
        row["label"] = one.label
    return content | {
        "bursts": [one._asdict() for one in burst],
        "command": view.command("trends", **asked),
    }


def entity(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """The topics of an entity."""
    field, name = given["field"], given["name"]
    documents, table = entity_topics(view.index, field, name)
    return {
        "field": field,
        "name": name,
        "documents": documents,
        "topics": table.to_pylist(),
        "command": view.command("entity", field, name),
    }


def fields(view: View, _: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata fields with their most frequent values; numbers and dates in their order."""
    metadata, found = view.index.metadata, []
    for name, kind in metadata.kinds.items():
        coded = metadata.coded(metadata.field(name))
        counts = np.bincount(coded.codes, minlength=len(coded.values))
        rows = np.argsort(-counts, kind="stable")[:VALUES]
        rows = np.sort(rows) if kind in ("date", "number") else rows
        values = [[coded.values[row], int(counts[row])] for row in rows.tolist()]
        found.append({"name": name, "kind": kind, "values": values})
    return {"fields": found}
