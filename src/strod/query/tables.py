"""Answers as Arrow tables: documents of a topic, all topics, all placements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from strod.corpus.layout import PREFIX
from strod.errors import UsageError
from strod.query.index import Spread
from strod.query.placements import UNIT
from strod.store.tables import arrow_array, table_of, taken, text_array
from strod.values.shares import known_leaves
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.query.index import Index

__all__ = [
    "described",
    "documents_of",
    "page_of",
    "paged",
    "placements_table",
    "topics_table",
    "whereabouts",
]


def paged(limit: int, offset: int) -> slice:
    """A page; 0 means all."""
    if limit < 0 or offset < 0:
        raise UsageError("`limit` and `offset` must be 0 or more")
    return slice(offset, offset + limit if limit else None)


def documents_of(
    index: Index,
    topic: str,
    *,
    where: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> pa.Table:
    """Documents with a share of a topic, the largest first: number, id, share, leaf, fields.

    Parameters
    ----------
    index : Index
        The revision.
    topic : str
        Path, name or id.
    where : str, optional
        Which documents are meant.
    limit, offset : int
        How many, and how many are passed over; a limit of 0 means all.
    """
    return page_of(index, topic, where, paged(limit, offset))[1]


def page_of(index: Index, topic: str, where: str | None, page: slice) -> tuple[int, pa.Table]:
    """How many documents have a share of a topic, and a page of them."""
    documents, shares = index.placements.holders(index.tree.find(topic).id)
    mask = index.where(where)
    if mask is not None:
        inside = mask[documents]
        documents, shares = documents[inside], shares[inside]
    return documents.size, described(index, documents[page], "share", shares[page] / UNIT)


def described(
    index: Index, documents: NDArray[np.int32], name: str, values: NDArray[np.float64]
) -> pa.Table:
    """Some documents with a number each, their leaves and fields."""
    rows = taken(index.metadata.table, documents.astype(np.int64))
    names, ends = index.placements.names, index.placements.ends[documents].tolist()
    leaves = (index.tree[names[end]].path for end in ends)
    table = table_of(
        {
            "number": documents,
            "id": rows["id"],
            name: values,
            "leaf": known_leaves(leaves, index.placements.sizes[documents]),
        }
    )
    for field in index.metadata.kinds:
        table = table.append_column(f"{PREFIX}{field}", rows[f"{PREFIX}{field}"])
    return table


def whereabouts(index: Index, documents: NDArray[np.integer], name: str) -> pa.Table:
    """Topics that some documents are under: path, label, how many (called `name`), and lift.

    Those with most of them first.
    """
    counts = Spread(index, documents).counts()
    topics = [one for one in index.tree.values() if counts[index.number[one.id]]]
    topics.sort(key=lambda one: -counts[index.number[one.id]])
    here = counts[[index.number[one.id] for one in topics]]
    return table_of(
        {
            "path": [one.path for one in topics],
            "label": [one.label for one in topics],
            name: here,
            "lift": index.lift(here / max(documents.size, 1), topics),
        }
    )


def topics_table(index: Index) -> pa.Table:
    """One row a topic, level by level."""
    topics = list(index.tree.values())
    return pa.table(
        {
            "path": [topic.path for topic in topics],
            "id": [topic.id for topic in topics],
            "parent": pa.array([one.parent and one.parent.path for one in topics], pa.string()),
            "level": pa.array([topic.level for topic in topics], pa.int32()),
            "label": pa.array([topic.label for topic in topics], pa.string()),
            "weight": [topic.weight for topic in topics],
            "documents": [topic.documents for topic in topics],
            "alpha": [topic.alpha for topic in topics],
            "phrases": pa.array(
                [[text for text, _ in topic.phrases] for topic in topics], pa.list_(pa.string())
            ),
            "words": pa.array(
                [[word for word, _ in topic.words] for topic in topics], pa.list_(pa.string())
            ),
        }
    )


def placements_table(index: Index) -> pa.Table:
    """One row for each document and topic that it has a share of: topic by topic, best first."""
    names = [topic.id for topic in index.tree.values() if topic.id != ROOT]
    found = [index.placements.holders(name) for name in names]
    sizes = [documents.size for documents, _ in found]
    empty = np.empty(0, dtype=np.int32)
    documents = np.concatenate([empty, *(documents for documents, _ in found)])
    shares = np.concatenate([empty, *(shares for _, shares in found)]) / UNIT
    paths = [index.tree[name].path for name in names]
    codes = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    ids = taken(index.metadata.table.select(["id"]), documents.astype(np.int64))["id"]
    return table_of(
        {
            "id": ids,
            "number": documents,
            "topic": pa.DictionaryArray.from_arrays(arrow_array(codes), text_array(paths)),
            "share": shares,
        }
    )
