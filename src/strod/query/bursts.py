"""Bursts: phrases that were in fashion within their topic at one time.

A phrase is looked for in the documents of the topic that it stands for most, so that a topic that
grows makes no burst of all its phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.query.slices import cells
from strod.store.arrays import read_array
from strod.store.validate import check_offsets, naming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.query.index import Index
    from strod.workspace.tree import Topic

    Numbers = NDArray[np.int64]

__all__ = ["Burst", "bursts"]


class Burst(NamedTuple):
    """A phrase at its time.

    Attributes
    ----------
    phrase : str
        As it is written.
    topic : str
        Path of the topic that it stands for.
    bucket : str or int
        When.
    documents : int
        In how many documents of the topic and the time it stands.
    expected : float
        In how many it would if its share of the topic's documents were the same at all times.
    score : float
        (documents - expected) / √max(documents, expected), the significance of a phrase.
    """

    phrase: str
    topic: str
    bucket: Any
    documents: int
    expected: float
    score: float


class _Listed(NamedTuple):
    """A phrase and the topic in whose list it stands highest."""

    unit: int
    text: str
    topic: Topic


def bursts(
    index: Index,
    when: str,
    topics: Sequence[Topic],
    *,
    where: str | None = None,
    limit: int = 10,
) -> list[Burst]:
    """The phrases of some topics that stand out most at one time, the strongest first."""
    phrases, (times, values) = _listed(index, topics), _times(index, when, where)
    if not phrases or not values:
        return []
    counts = _counted(index, phrases, times, len(values))
    totals = np.stack([_inside(index, one.topic, times, len(values)) for one in phrases])
    rates = counts.sum(axis=1) / np.maximum(totals.sum(axis=1), 1)
    expected = rates[:, np.newaxis] * totals
    score = (counts - expected) / np.sqrt(np.maximum(np.maximum(counts, expected), 1))
    found = []
    for row, (one, best) in enumerate(zip(phrases, score.argmax(axis=1).tolist(), strict=True)):
        numbers = int(counts[row, best]), float(expected[row, best]), float(score[row, best])
        if numbers[2] > 0:
            found.append(Burst(one.text, one.topic.path, values[best], *numbers))
    return sorted(found, key=lambda one: (-one.score, one.phrase))[: limit or None]


def _times(index: Index, when: str, where: str | None) -> tuple[Numbers, list[Any]]:
    """The bucket of each document, -1 if it has none or is not meant, and the buckets."""
    found = cells(index, [when], where)
    values = found.values[0]
    times = np.full(index.corpus.documents, -1, dtype=np.int64)
    times[found.documents] = found.codes
    if values and values[-1] is None:
        values = values[:-1]
        times[times == len(values)] = -1
    return times, values


def _listed(index: Index, topics: Sequence[Topic]) -> list[_Listed]:
    """The phrases of topics, each once, by unit."""
    best: dict[int, tuple[float, _Listed]] = {}
    for topic in topics:
        node = index.tree.nodes[topic.id]
        for unit, (text, score) in zip(node.units, node.phrases, strict=False):
            if unit not in best or score > best[unit][0]:
                best[unit] = score, _Listed(unit, text, topic)
    return [best[unit][1] for unit in sorted(best)]


def _inside(index: Index, topic: Topic, times: Numbers, size: int) -> Numbers:
    """Documents of a topic by time."""
    places = index.places
    first, last = (side[index.number[topic.id]] for side in index.ranges)
    here = times[(places >= first) & (places < last)]
    return np.bincount(here[here >= 0], minlength=size)


def _counted(index: Index, phrases: Sequence[_Listed], times: Numbers, size: int) -> Numbers:
    """Documents by phrase and time, of those under the phrase's topic."""
    units = np.array([one.unit for one in phrases])
    rows = [index.number[one.topic.id] for one in phrases]
    first, last = (side[rows] for side in index.ranges)
    places = index.places
    total, begin = np.zeros(units.size * size, dtype=np.int64), 0
    other = int(units[-1]) + 1  # any unit beyond, and any that is none
    numbers = np.full(other + 1, -1, dtype=np.int32)
    numbers[units] = np.arange(units.size)
    for segment, documents in index.corpus.segments:
        indptr, indices = _segment(index, segment, documents)
        phrase = numbers[np.minimum(indices.view(np.uint32), other)]
        here = np.flatnonzero(phrase >= 0)
        phrase, document = phrase[here], begin + np.searchsorted(indptr, here, side="right") - 1
        inside = (places[document] >= first[phrase]) & (places[document] < last[phrase])
        inside &= times[document] >= 0
        cell = phrase[inside] * size + times[document[inside]]
        total += np.bincount(cell, minlength=total.size)
        begin += documents
    return total.reshape(units.size, size)


def _segment(index: Index, segment: str, documents: int) -> tuple[Numbers, NDArray[np.int32]]:
    """Documents by units, in a segment."""
    files, folder = index.snapshot.files, f"phrases/{segment}"
    indptr = read_array(files, f"{folder}/indptr.npy", "<i8")
    indices = read_array(files, f"{folder}/indices.npy", "<i4")
    with naming(files.path(folder)):
        check_offsets(indptr, documents)
        if indptr[-1] != indices.size:
            raise ValueError("offsets that do not end at the length")
    return indptr, indices
