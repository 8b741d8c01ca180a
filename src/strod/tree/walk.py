"""Down the tree with the documents of a shard: who holds which token."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from strod.moments.counts import Counts
from strod.tree.inference import likely
from strod.tree.sampling import draws
from strod.tree.topic import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.tree.inference import Shares
    from strod.tree.shares import Book
    from strod.tree.split import Split

    Array = NDArray[np.float64]
    Found = dict[tuple[str, tuple[int, ...]], Counts]

__all__ = ["Documents", "Rows", "Walk", "blocks"]

BLOCK = 1 << 18  # counts that are worth a task of their own


class Rows(Protocol):
    """Consecutive documents as rows of counts."""

    @property
    def first(self) -> int:
        """Number of the first document."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def counts(self) -> csr_array:
        """Documents by words."""


class Documents(Rows, Protocol):
    """Consecutive documents: what growing needs to know of a shard."""

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""


@dataclass(frozen=True)
class Walk:
    """Topical counts of documents, from the root down to wherever they are needed.

    Attributes
    ----------
    splits : dict
        The decompositions so far.
    book : Book
        Shares of the documents in the splits that are done.
    by_word : bool
        Whether a token's topic depends on its word alone, as in the paper.
    held : dict
        Topical counts that were gathered last, by the first document of a shard: those who are
        placed next, and the level below, need not come from the root again.
    """

    splits: Mapping[str, Split]
    book: Book
    by_word: bool = False
    held: dict[int, Found] = field(default_factory=dict)

    def place(self, shard: Documents, counts: Counts, fresh: Sequence[str]) -> dict[str, Shares]:
        """Shares of the documents in splits that nobody has been placed in yet."""
        masses = [self.splits[name].parts for name in fresh]
        known = dict(self.held.get(shard.first, {}))
        found = self._counts(counts, masses, lambda name, _: self._read(name, shard), known)
        return {
            name: self.splits[name].topics.shares(part)
            for name, part in zip(fresh, found, strict=True)
        }

    def place_new(self, counts: Counts) -> dict[str, Shares]:
        """Shares of documents that are in no book, in all splits."""
        placed: dict[str, Shares] = {}

        def place(name: str, own: Counts) -> Shares:
            placed[name] = self.splits[name].topics.shares(own)
            return placed[name]

        self._counts(counts, [[Part(name, [])] for name in self.splits], place, {})
        return placed

    def gather(
        self,
        shard: Documents,
        counts: Counts,
        masses: Mapping[str, Sequence[Part]],
        rates: Mapping[str, float],
        *,
        hold: bool = False,
    ) -> dict[str, Counts]:
        """A sample of the topical counts of some masses.

        `hold` keeps those of all documents, if there is a mass that all are drawn for.
        """
        chosen = _chosen(shard, max(rates.values()))
        wanted = [masses[name] for name in rates]
        held = self.held.pop(shard.first, {})
        known = held if chosen.all() else {}
        found = self._counts(
            drawn(counts, chosen), wanted, lambda name, _: self._read(name, shard), known, chosen
        )
        if hold and chosen.all():
            parts = {_key(part) for mass in wanted for part in mass}
            self.held[shard.first] = {part: known[part] for part in parts}
        samples = {}
        for (name, rate), part in zip(rates.items(), found, strict=True):
            kept = _chosen(shard, rate)[chosen] & (np.diff(part.indptr) > 0)
            samples[name] = part.sample(kept)
        return samples

    def _read(self, name: str, shard: Documents) -> Shares:
        return self.book.read(name, shard.first, shard.size)

    def _counts(
        self,
        counts: Counts,
        masses: Sequence[Sequence[Part]],
        shares: Callable[[str, Counts], Shares],
        found: Found,
        chosen: NDArray[np.bool_] | None = None,
    ) -> list[Counts]:
        """Topical counts of masses: of the splits they are parts of first, then their own.

        What was `found` before is taken from there, what is found now is added.
        """
        needed = self._needed(masses, found)
        wanted = [*masses, *(self.splits[name].parts for name in needed)]

        def total(mass: Sequence[Part]) -> Counts:
            some = [found[_key(part)] for part in mass if part.fine]
            return added(some or [counts])

        for name in needed:
            groups = {tuple(p.fine) for m in wanted for p in m if p.split == name and p.fine}
            groups = {fine for fine in groups if (name, fine) not in found}
            own = total(self.splits[name].parts)
            dense = self._weights(self.splits[name], shares(name, own))
            dense = dense if chosen is None else dense[chosen]
            for some in disjoint(sorted(groups)):
                parts = topical(self.splits[name], own, dense, some, by_word=self.by_word)
                found |= {(name, fine): part for fine, part in zip(some, parts, strict=True)}
        return [total(mass) for mass in masses]

    def _needed(self, masses: Sequence[Sequence[Part]], found: Found) -> list[str]:
        """Splits that have to be walked through, those above first; not if all is found."""
        names: set[str] = set()
        waiting = [part for mass in masses for part in mass]
        while waiting:
            part = waiting.pop()
            if _key(part) not in found and part.split not in names:
                names.add(part.split)
                waiting += self.splits[part.split].parts
        return [name for name in ordered(self.splits, names) if name in names]

    def _weights(self, split: Split, shares: Shares) -> Array:
        dense = shares.dense(split.topics.size)
        if self.by_word:
            dense[:] = split.overlap.weights
        return dense


def _key(part: Part) -> tuple[str, tuple[int, ...]]:
    return part.split, tuple(part.fine)


def ordered(splits: Mapping[str, Split], wanted: Iterable[str]) -> list[str]:
    """Splits and all that they come from, those first."""
    found: dict[str, None] = {}
    waiting = sorted(wanted, reverse=True)
    while waiting:
        name = waiting[-1]
        above = [part.split for part in splits[name].parts if part.split not in found]
        if above:
            waiting += above
        else:
            found.setdefault(waiting.pop())
    return list(found)


def disjoint(groups: Sequence[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """Groups of fine topics in as few lists as it takes for none to overlap in a list."""
    lists: list[list[tuple[int, ...]]] = []
    for group in groups:
        for some in lists:
            if all(set(group).isdisjoint(other) for other in some):
                some.append(group)
                break
        else:
            lists.append([group])
    return lists


def added(parts: Sequence[Counts]) -> Counts:
    """The counts of disjoint topics together: chances add."""
    first, *others = parts
    if not others:
        return first
    tables = [part.table(part.chance.astype(np.float64)) for part in parts]
    chance = sum(tables[1:], tables[0])
    tokens = [part.table(part.tokens.astype(np.float64)) for part in parts]
    most = tokens[0]
    for table in tokens[1:]:
        most = most.maximum(table)
    chance.sort_indices()
    most.sort_indices()
    return Counts(
        most.indptr.astype(np.int64), most.indices.astype(np.int32),
        most.data.astype(np.float32), np.minimum(chance.data, 1).astype(np.float32), first.width,
    )  # fmt: skip


def topical(
    split: Split,
    counts: Counts,
    shares: Array,
    fine: Sequence[Sequence[int]],
    *,
    by_word: bool = False,
) -> list[Counts]:
    """Topical counts c·p(t|x,d) of groups of fine topics of a split, a row a document."""
    groups = np.full(split.topics.size, -1, dtype=np.int64)
    for number, group in enumerate(fine):
        groups[list(group)] = number
    chance = split.topics.posterior(counts, shares, groups, by_word=by_word)
    return [likely(counts, one, split.topics.size) for one in chance]


def _chosen(shard: Documents, rate: float) -> NDArray[np.bool_]:
    if rate >= 1:
        return np.ones(shard.size, dtype=bool)
    return draws(shard.ids) < rate


def drawn(counts: Counts, chosen: NDArray[np.bool_]) -> Counts:
    """Some of the documents, or the same object if it is all of them."""
    return counts if chosen.all() else counts.sample(chosen)


def blocks(parts: Sequence[Counts]) -> list[Counts]:
    """Join small parts, so that a task is worth its start; decided by the data alone."""
    joined: list[list[Counts]] = []
    room = 0
    for part in parts:
        if not joined or room <= 0:
            joined.append([])
            room = BLOCK
        joined[-1].append(part)
        room -= len(part.indices)
    return [_join(block) for block in joined]


def _join(parts: list[Counts]) -> Counts:
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return replace(
        parts[0],
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        indices=np.concatenate([part.indices for part in parts]),
        tokens=np.concatenate([part.tokens for part in parts]),
        chance=np.concatenate([part.chance for part in parts]),
    )
