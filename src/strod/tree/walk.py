"""Down the tree with the documents of a shard: who holds which token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from strod.moments.counts import Counts
from strod.tree.sampling import draws
from strod.tree.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.tree.inference import Shares
    from strod.tree.shares import Book
    from strod.tree.split import Split
    from strod.tree.topic import Node

    Array = NDArray[np.float64]

__all__ = ["Documents", "Rows", "Walk", "blocks"]

UNLIKELY = 0.01  # chance below which a token does not belong to a topic
SILENT = 0.1  # tokens below which a document says nothing about a topic
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
    nodes, splits : dict
        The tree so far.
    book : Book
        Shares of the documents in the splits that are done.
    by_word : bool
        Whether a token's topic depends on its word alone, as in the paper.
    """

    nodes: Mapping[str, Node]
    splits: Mapping[str, Split]
    book: Book
    by_word: bool = False

    def place(self, shard: Documents, counts: Counts, fresh: Sequence[str]) -> dict[str, Shares]:
        """Shares of the documents in splits that nobody has been placed in yet."""
        placed: dict[str, Shares] = {}
        for owner, part in self._visit(shard, counts, fresh):
            if owner in fresh:
                placed[owner] = self.splits[owner].topics.shares(part)
        return placed

    def place_new(self, counts: Counts) -> dict[str, Shares]:
        """Shares of documents that are in no book, in all splits."""
        placed: dict[str, Shares] = {}
        waiting = [(ROOT, counts)] if ROOT in self.splits else []
        while waiting:
            owner, part = waiting.pop()
            split = self.splits[owner]
            placed[owner] = split.topics.shares(part)
            below = [n for n in self.nodes.values() if n.owner == owner and n.id in self.splits]
            shares = self._weights(split, placed[owner])
            found = topical(split, part, shares, below, by_word=self.by_word)
            waiting += [(node.id, one) for node, one in zip(below, found, strict=True)]
        return placed

    def gather(
        self, shard: Documents, counts: Counts, rates: Mapping[str, float]
    ) -> dict[str, Counts]:
        """A sample of the topical counts of some topics."""
        chosen = _chosen(shard, max(rates.values()))
        samples = {}
        for name, part in self._visit(shard, counts, list(rates), chosen):
            if name in rates:
                kept = _chosen(shard, rates[name])[chosen] & (np.diff(part.indptr) > 0)
                samples[name] = part.sample(kept)
        return samples

    def _visit(
        self,
        shard: Documents,
        counts: Counts,
        wanted: Sequence[str],
        chosen: NDArray[np.bool_] | None = None,
    ) -> Iterator[tuple[str, Counts]]:
        """The topical counts of `wanted` topics and of all on the way to them."""
        needed = self._needed(wanted)
        counts = counts if chosen is None else drawn(counts, chosen)
        waiting = [(ROOT, counts)]
        while waiting:
            owner, part = waiting.pop()
            yield owner, part
            below = [n for n in self.nodes.values() if n.owner == owner and n.id in needed]
            if below:
                split = self.splits[owner]
                read = self.book.read(owner, shard.first, shard.size)
                shares = self._weights(split, read)
                shares = shares if chosen is None else shares[chosen]
                found = topical(split, part, shares, below, by_word=self.by_word)
                waiting += [(node.id, one) for node, one in zip(below, found, strict=True)]

    def _weights(self, split: Split, shares: Shares) -> Array:
        dense = shares.dense(split.topics.size)
        if self.by_word:
            dense[:] = split.overlap.weights
        return dense

    def _needed(self, wanted: Sequence[str]) -> set[str]:
        """The topics themselves, and those whose splits they are parts of."""
        needed: set[str] = set()
        for name in wanted:
            above: str | None = name
            while above is not None:
                needed.add(above)
                above = self.nodes[above].owner
        return needed


def topical(
    split: Split, counts: Counts, shares: Array, nodes: Sequence[Node], *, by_word: bool = False
) -> list[Counts]:
    """Topical counts c·p(t|x,d) of some topics of a split, a row a document."""
    if not nodes:
        return []
    groups = np.full(split.topics.size, -1, dtype=np.int64)
    for number, node in enumerate(nodes):
        groups[node.fine] = number
    chance = split.topics.posterior(counts, shares, groups, by_word=by_word)
    return [_likely(counts, chance[:, number]) for number in range(len(nodes))]


def _likely(counts: Counts, chance: NDArray[np.float32]) -> Counts:
    """The tokens that may belong to a topic, in documents where they amount to something."""
    keep = chance >= UNLIKELY
    row = np.repeat(np.arange(counts.size), np.diff(counts.indptr))
    mass = counts.tokens * counts.chance * chance
    heard = np.bincount(row[keep], mass[keep], counts.size) >= SILENT
    keep &= heard[row]
    sizes = np.bincount(row[keep], minlength=counts.size)
    return Counts(
        np.concatenate([[0], np.cumsum(sizes)]), counts.indices[keep], counts.tokens[keep],
        (counts.chance * chance)[keep], counts.width,
    )  # fmt: skip


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
