"""Answers about topics and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus.layout import fields_of
from strod.errors import TopicError
from strod.explorer.spans import explained
from strod.query.index import Spread
from strod.query.tables import page_of, paged
from strod.values.shares import DIGITS
from strod.values.topic import ROOT
from strod.workspace.placements import placement_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from strod.explorer.view import View
    from strod.workspace.tree import Topic

__all__ = ["document", "documents", "listed", "topic", "tree"]

FEW, TOPICS = 3, 2000  # phrases of each topic in a tree, if it has no more topics than this
PHRASES, WORDS, ENTITIES = 40, 30, 10
BEGINNING = 400  # characters of a document in a list
LONGEST, MARKED = 1_000_000, 100_000  # characters that are shown, and in which words are marked


def _tree_command(view: View, given: Mapping[str, Any]) -> str:
    """The command that gives the tree or, of a slice of it, the documents."""
    if given["query"]:
        return view.command("search", given["query"], topic=given["topic"], where=given["where"])
    if given["where"]:
        return view.python("documents", given["topic"] or "o", where=given["where"])
    return view.command("show", topic=given["topic"], depth=given["depth"])


def tree(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """All topics in columns."""
    topics = view.tree.branch(given["topic"], given["depth"])
    place = {one.id: row for row, one in enumerate(topics)}
    columns: dict[str, Any] = {
        "id": [one.id for one in topics],
        "path": [one.path for one in topics],
        "parent": [place.get(one.parent.id, -1) if one.parent else -1 for one in topics],
        "label": [one.label for one in topics],
        "weight": [round(one.weight, DIGITS) for one in topics],
        "documents": [one.documents for one in topics],
        "pinned": [int(one.pinned) for one in topics],
        "named": [int(one.named) for one in topics],
        "trend": None,
    }
    if len(topics) <= TOPICS:
        columns["phrases"] = [[text for text, _ in one.phrases[:FEW]] for one in topics]
    times = view.times
    if times is not None:
        totals = np.maximum(times.totals, 1)
        columns["trend"] = [
            (times.counts(one.id) / totals).round(DIGITS).tolist() for one in topics
        ]
    sliced = _slice(view, topics, given["where"], given["query"])
    return {
        "revision": view.snapshot.revision,
        "topics": columns,
        "buckets": None if times is None else times.buckets,
        **sliced,
        "command": _tree_command(view, given),
    }


def _slice(
    view: View, topics: list[Topic], where: str | None, query: str | None
) -> dict[str, dict[str, list[float]]]:
    """Documents of topics that are meant, against all of them."""
    if not where and not query:
        return {}
    meant = _meant(view, where, query)
    counts = Spread(view.index, meant).counts()
    here = np.array([counts[view.index.number[one.id]] for one in topics])
    share = here / max(meant.size, 1)
    return {
        "slice": {
            "documents": here.tolist(),
            "share": share.round(DIGITS).tolist(),
            "lift": view.index.lift(share, topics).round(DIGITS).tolist(),
        }
    }


def _meant(view: View, where: str | None, query: str | None) -> NDArray[np.integer[Any]]:
    """Numbers of the documents that an expression and a search find."""
    mask = view.index.where(where or None)
    if not query:
        return np.flatnonzero(np.ones(view.snapshot.corpus.documents) if mask is None else mask)
    found = view.index.found(query, best=1).everything
    return found if mask is None else found[mask[found]]


def topic(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """One topic."""
    one = view.tree.find(given["path"])
    siblings = one.parent.children if one.parent else []
    return {
        "id": one.id,
        "path": one.path,
        "parent": one.parent.path if one.parent else None,
        "level": one.level,
        "label": one.label,
        "named": one.named,
        "pinned": one.pinned,
        "weight": one.weight,
        "alpha": one.alpha,
        "alpha0": one.alpha0,
        "documents": one.documents,
        "rest": one.rest,
        "reason": one.reason,
        "sha256": one.sha256,
        "phrases": [list(pair) for pair in one.phrases[:PHRASES]],
        "words": [list(row) for row in one.against_parent(WORDS)],
        "children": [_neighbour(child) for child in one.children],
        "siblings": [_neighbour(other) for other in siblings if other.id != one.id],
        "entities": view.entities(one, ENTITIES),
        "trend": _trend(view, one),
        "command": view.command("show", one.path),
    }


def _neighbour(one: Topic) -> dict[str, Any]:
    return {
        "path": one.path,
        "label": one.label,
        "weight": one.weight,
        "documents": one.documents,
        "phrases": [text for text, _ in one.phrases[:FEW]],
    }


def _trend(view: View, one: Topic) -> dict[str, Any] | None:
    """How a topic changes over time; the root does not, and without dates nobody knows."""
    times = view.times
    if times is None or one.parent is None:
        return None
    trend = times.trend(one)
    return {"field": times.field, **trend.slope._asdict(), "series": list(map(list, trend.series))}


def listed(view: View, row: Mapping[str, Any]) -> dict[str, Any]:
    """A document in a list; one without a known word has no leaf."""
    leaf = row["leaf"]
    return {
        "number": row["number"],
        "id": row["id"],
        "leaf": leaf,
        "leaf_label": None if leaf is None else view.tree[leaf].label,
        "meta": fields_of(row),
    }


def documents(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the documents of a topic."""
    asked, page = given["topic"] or ROOT, paged(given["limit"], given["offset"])
    total, table = page_of(view.index, asked, given["where"] or None, page)
    rows, texts = table.to_pylist(), view.snapshot.corpus.texts(table["number"].to_pylist())
    return {
        "total": total,
        "documents": [
            listed(view, row) | {"share": row["share"], "text": text[:BEGINNING]}
            for row, text in zip(rows, texts, strict=True)
        ],
        "command": _listing(view, asked, given),
    }


def _listing(view: View, asked: str, given: Mapping[str, Any]) -> str:
    """The command that lists documents; a later page, or some of them, only Python gives."""
    if not given["where"] and not given["offset"]:
        return view.command("show", asked, documents=given["limit"])
    options = {name: given[name] for name in ("where", "limit", "offset") if given[name]}
    return view.python("documents", asked, **options)


def document(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """One document with its words."""
    corpus, number = view.snapshot.corpus, given["number"]
    if number >= corpus.documents:
        last = corpus.documents - 1
        raise TopicError(f"there is no document {number}: they are numbered from 0 to {last}")
    index, text = view.index, corpus.text(number)
    name = index.metadata.column("id")[number].as_py()
    known = corpus.alone(number).sizes
    [row] = placement_rows(view.tree, [name], view.tree.shares(number, 1), known)
    held = ((view.tree[path], share) for path, share in row["topics"].items())
    leaves = [(one, share) for one, share in held if not one.children]
    return {
        **listed(view, row | {"number": number}),
        "topics": row["topics"],
        "meta": index.metadata.row(number),
        "text": text[:LONGEST],
        "length": len(text),
        "words": explained(text[:MARKED], view.fold, view.columns, leaves),
        "command": view.python("document", name),
    }
