"""Slices: how many documents of each topic have each value of some fields.

Topic is a dimension with levels, metadata fields are the others. `documents` counts those whose
path leads to the topic; `share` is their part of the documents with the same values; `lift` is that
part over the topic's part of all documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.corpus.layout import PREFIX
from strod.errors import UsageError
from strod.query.index import Spread
from strod.store.tables import table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from strod.query.index import Index
    from strod.workspace.tree import Topic

__all__ = ["MEASURES", "Cells", "cells", "column_of", "sliced"]

MEASURES = ("documents", "share", "lift")
MOST = 1 << 27  # documents, each as often as it has combinations of values
_OWN = ("topic", *MEASURES)  # columns of the answer; a field of that name is meta.NAME


class Cells(NamedTuple):
    """Documents by the values of some fields; one may stand several times if fields are lists.

    Attributes
    ----------
    documents : ndarray of int
        Numbers of documents.
    codes : ndarray of int
        The cell that each is in.
    values : list of list
        The values of each cell, field by field.
    """

    documents: NDArray[np.int64]
    codes: NDArray[np.int64]
    values: list[list[Any]]


def column_of(asked: str) -> str:
    """What the column of a field is called in a slice, of which some columns have names already."""
    return f"{PREFIX}{asked}" if asked in _OWN else asked


def cells(index: Index, by: Sequence[str], where: str | None = None) -> Cells:
    """Sort the documents that are meant into cells."""
    mask = index.where(where)
    size = index.corpus.documents
    documents = np.arange(size) if mask is None else np.flatnonzero(mask)
    codes, values = np.zeros(documents.size, dtype=np.int64), list[list[Any]]()
    for asked in by:
        coded = index.metadata.coded(index.metadata.field(asked))
        first = np.searchsorted(coded.documents, np.arange(size + 1))
        times = np.diff(first)[documents]
        begin = np.repeat(first[documents] - np.concatenate([[0], np.cumsum(times)[:-1]]), times)
        rows = begin + np.arange(times.sum())
        documents = np.repeat(documents, times)
        if documents.size > MOST:
            raise UsageError(f"`by`: more than {MOST:,} combinations; take fewer lists, or `where`")
        pairs = np.repeat(codes, times) * len(coded.values) + coded.codes[rows]
        used, codes = np.unique(pairs, return_inverse=True)
        before, last = np.divmod(used, max(len(coded.values), 1))
        values = [[known[i] for i in before.tolist()] for known in values]
        values.append([coded.values[i] for i in last.tolist()])
    return Cells(documents, codes, values)


def sliced(
    index: Index,
    by: Sequence[str],
    *,
    topic: str | None = None,
    level: int | None = None,
    where: str | None = None,
) -> pa.Table:
    """One row for each topic and combination of values with at least one document.

    Parameters
    ----------
    index : Index
        The revision.
    by : sequence of str
        Fields: ``date:month``, ``price:10``, ``category``.
    topic : str, optional
        Only this topic and those below.
    level : int, optional
        Only topics of this level.
    where : str, optional
        Which documents are meant.
    """
    if len(set(by)) != len(by) or not by:
        raise UsageError("`by` takes one field or more, each once")
    topics = index.topics(topic, level)
    if not topics:
        raise UsageError(_no_level(index, topic, level))
    found = cells(index, by, where)
    totals = np.bincount(found.codes, minlength=1)
    spread = Spread(index, found.documents)
    rows, codes, counts = list["Topic"](), [], []
    for one in topics:
        here = np.bincount(found.codes[spread.of(one.id)], minlength=totals.size)
        some = np.flatnonzero(here)
        rows += [one] * some.size
        codes.append(some)
        counts.append(here[some])
    cell, documents = np.concatenate(codes), np.concatenate(counts)
    share = documents / totals[cell]
    columns: dict[str, Any] = {"topic": [one.path for one in rows]}
    for name, values in zip(by, found.values, strict=True):
        columns[column_of(name)] = [values[i] for i in cell.tolist()]
    columns |= {"documents": documents, "share": share, "lift": index.lift(share, rows)}
    return table_of(columns)


def _no_level(index: Index, topic: str | None, level: int | None) -> str:
    levels = [one.level for one in index.topics(topic)]
    if topic is None:
        return f"no topic has level {level}; the deepest is {max(levels)}"
    there = f"levels {levels[0]} to {max(levels)}" if max(levels) > levels[0] else f"{levels[0]}"
    return f"no topic of {topic} has level {level}, counted from the root; it has {there}"
