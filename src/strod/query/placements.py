"""Documents by topic: those whose path leads there, and those that hold it, the best first."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from strod.progress import Silent
from strod.query.keys import SegmentKeys
from strod.values.shares import DIGITS, largest
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Shard
    from strod.progress import Progress
    from strod.query.derived import Derived
    from strod.values.shares import TopicShares
    from strod.workspace.snapshot import Snapshot

    Numbers = NDArray[np.int32]

__all__ = ["UNIT", "Placements"]

UNIT = 10**DIGITS  # shares are kept as whole numbers of such parts


class Placements:
    """Where the documents of one revision are.

    Parameters
    ----------
    snapshot : Snapshot
        The revision.
    derived : Derived
        Where arrays are kept.
    progress : Progress, optional
        Told how far the work is.
    """

    def __init__(
        self, snapshot: Snapshot, derived: Derived, progress: Progress | None = None
    ) -> None:
        self._tree, self._corpus, self._derived = snapshot.tree, snapshot.corpus, derived
        self._nodes = snapshot.tree.structure
        self.names = list(self._nodes)
        self._keys = {name: SegmentKeys(snapshot, name) for name, _ in self._corpus.segments}
        self._complete(progress or Silent())

    # -- reading -------------------------------------------------------------------------

    def members(self, name: str) -> Numbers:
        """Numbers of the documents whose path leads to a topic, rising."""
        found = [
            self._array(self._keys[segment].paths[name], segment) + base
            for segment, base in self._bases
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def holders(self, name: str) -> tuple[Numbers, Numbers]:
        """Documents with a share of a topic, and the shares in units, the largest first.

        Of shares that are the same, documents with more different words come first.
        """
        if name == ROOT:
            everything = np.arange(self._corpus.documents, dtype=np.int32)
            return everything, np.full(everything.size, UNIT, dtype=np.int32)
        parts = []
        for segment, base in self._bases:
            array = self._array(self._keys[segment].shares[name], segment, halves=2)
            documents, shares = array.reshape(2, -1)
            parts.append((documents + base, shares))
        if len(parts) == 1:
            return parts[0]
        documents, shares = (np.concatenate(some) for some in zip(*parts, strict=True))
        order = np.lexsort((documents, -self.sizes[documents], -shares))
        return documents[order], shares[order]

    @cached_property
    def ends(self) -> Numbers:
        """For each document the number of the topic at the end of its path, as in `names`."""
        found = np.zeros(self._corpus.documents, dtype=np.int32)
        for number, name in enumerate(self.names):  # parents come first
            found[self.members(name)] = number
        return found

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many different words each document has."""
        return np.concatenate([shard.sizes for shard in self._corpus.shards()])

    @property
    def _bases(self) -> list[tuple[str, int]]:
        """Segments, and the number of the first document of each."""
        sizes = [size for _, size in self._corpus.segments]
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        names = [name for name, _ in self._corpus.segments]
        return list(zip(names, firsts, strict=True))

    def _array(self, key: str, segment: str, halves: int = 1) -> Numbers:
        """An array whose first half, or all of it, are documents of a segment."""
        found = self._derived.get(key)
        if found is not None and not self._sound(found, segment, halves):
            self._derived.forget(key)
            found = None
        if found is None:  # deleted since, or forged
            self._complete(Silent())
            found = self._derived.get(key)
        if found is None:
            raise RuntimeError("an array that was just made is not there")
        return found

    def _sound(self, array: Numbers, segment: str, halves: int) -> bool:
        if array.size % halves:
            return False
        documents = array[: array.size // halves]
        size = dict(self._corpus.segments)[segment]
        return not documents.size or bool(documents.min() >= 0 and documents.max() < size)

    # -- making --------------------------------------------------------------------------

    def _complete(self, progress: Progress) -> None:
        """Make what is missing, in one pass over the segments that miss something."""
        wanted = {name: self._missing(keys) for name, keys in self._keys.items()}
        size = sum(size for name, size in self._corpus.segments if any(wanted[name]))
        if not size:
            return
        progress.stage("indexing topics", size, "documents")
        for segment, (holders, ends) in wanted.items():
            if holders or ends:
                self._make(segment, holders, ends, progress)
        self._derived.sweep({key for keys in self._keys.values() for key in keys.all})

    def _missing(self, keys: SegmentKeys) -> tuple[list[str], list[str]]:
        """Topics whose holders, and topics whose members, are not known."""
        shares, ends = (
            [name for name, key in kind.items() if self._derived.get(key) is None]
            for kind in (keys.shares, keys.paths)
        )
        return shares, ends

    def _make(
        self, segment: str, holders: Sequence[str], ends: Sequence[str], progress: Progress
    ) -> None:
        keys = self._keys[segment]
        steps = [name for name in self.names if set(self._nodes[name].children) & set(ends)]
        near = {one for name in steps for one in (name, *self._nodes[name].children)}
        held: dict[str, list[Numbers]] = {name: [] for name in holders}
        led: dict[str, list[Numbers]] = {name: [] for name in ends}
        for shard in self._corpus.shards():
            if shard.segment != segment:
                continue
            shares = self._tree.shares(shard.first, shard.size, sorted({*holders, *near}))
            for name in holders:
                held[name].append(_holders(shares[name], shard))
            rows = self._led(keys, shard, shares, steps)
            for name in ends:
                led[name].append(rows[name])
            progress.advance(shard.size)
        for name, parts in held.items():
            self._derived.put(keys.shares[name], _ranked(parts))
        for name, parts in led.items():
            self._derived.put(keys.paths[name], np.concatenate(parts))

    def _led(
        self, keys: SegmentKeys, shard: Shard, shares: TopicShares, steps: Sequence[str]
    ) -> Mapping[str, Numbers]:
        """Documents of a shard by the topics that their paths lead to, numbered in the segment."""
        first, end = shard.begin, shard.begin + shard.size
        rows: dict[str, Numbers] = {ROOT: np.arange(first, end, dtype=np.int32)}
        for name in steps:
            if name not in rows:
                whole = self._array(keys.paths[name], shard.segment)
                rows[name] = whole[slice(*np.searchsorted(whole, (first, end)))]
            children = sorted(self._nodes[name].children)
            best = largest(name, children, shares, rows[name] - first)
            rows |= {child: rows[name][best == index] for index, child in enumerate(children)}
        return rows


def _holders(shares: NDArray[np.float64], shard: Shard) -> Numbers:
    """Documents with a share, numbered in the segment, their shares in units, and their words."""
    units = (shares.round(DIGITS) * UNIT).round().astype(np.int32)
    rows = np.flatnonzero(units)
    return np.stack([rows + shard.begin, units[rows], shard.sizes[rows]]).astype(np.int32)


def _ranked(parts: Sequence[Numbers]) -> Numbers:
    """Documents and their shares, the largest first, one after the other."""
    documents, units, words = np.concatenate(parts, axis=1)
    order = np.lexsort((documents, -words, -units))
    return np.concatenate([documents[order], units[order]])
