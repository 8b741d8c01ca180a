"""The fitted model: how documents are placed in decompositions, and what share topics have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.model.inference import document_shares, likely, posterior, shares_in_context
from strod.model.sampling import root_counts
from strod.moments.counts import Counts
from strod.values.holders import Holders
from strod.values.shares import (
    Masses,
    Placed,
    Shares,
    TopicShares,
    apart,
    ends,
    late_splits,
    left_by,
    ordered,
    paths,
)
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.explain import FitModel, Texts
    from strod.values.shares import Structure
    from strod.values.split import Decomposition
    from strod.values.topic import Component

    Array = NDArray[np.float64]
    Found = dict[tuple[str, tuple[int, ...]], Counts]  # by decomposition and its topics

__all__ = ["MOST", "Judge", "Model", "added", "disjoint", "topical"]

MOST = 0.5  # of a document: what a topic must have for it to join documents apart below it


class Judge(NamedTuple):
    """How well new documents fit, for which it takes to know their words in order."""

    fit_model: FitModel
    texts: Texts


@dataclass(frozen=True)
class Model:
    """All that places documents and says what share of them a topic has: no file, no engine.

    Attributes
    ----------
    retention : ndarray of shape (V,), float32
        Share of a word's tokens that is kept: thinning, fixed by the first build.
    clip : int
        Most occurrences of a word that count in a document; 0 for any number.
    by_word : bool
        Whether a token's topic depends on its word alone, as in the paper.
    decompositions : mapping of Decomposition
        By name.
    topics : mapping of Structure
        By id, parents before children; none are needed to place documents.
    """

    retention: NDArray[np.float32]
    clip: int
    by_word: bool
    decompositions: Mapping[str, Decomposition]
    topics: Mapping[str, Structure]

    def root_counts(self, counts: csr_array, *, clipped: bool = True) -> Counts:
        """The counts of documents as the root sees them."""
        return root_counts(counts, self.retention, self.clip if clipped else 0)

    def place(
        self,
        counts: Counts,
        placed: Placed,
        only: Collection[str] | None = None,
        known: Found | None = None,
        judge: Judge | None = None,
    ) -> dict[str, Shares]:
        """Shares of documents in decompositions that they have not been placed in yet.

        Parameters
        ----------
        counts : Counts
            The documents as the root sees them.
        placed : Placed
            Their shares in all other decompositions that are needed on the way.
        only : collection of str, optional
            The decompositions, if not all of them.
        known : dict, optional
            Topical counts of these documents, to which those are added that are found.
        judge : Judge, optional
            Says which documents belong to decompositions apart.
        """
        names = list(self.decompositions if only is None else only)
        late = self._late()
        found = self._place([name for name in names if name not in late], counts, placed, known)
        for name in apart(self.decompositions):
            if name in names:
                found[name] = self._join(name, counts, placed.extended(found), judge)
        rest = [n for n in names if n in late and not self.decompositions[n].apart]
        return found | self._place(rest, counts, placed.extended(found), {}) if rest else found

    def _place(
        self, names: list[str], counts: Counts, placed: Placed, known: Found | None
    ) -> dict[str, Shares]:
        """Shares in decompositions, none of which is apart."""
        known = {} if known is None else known
        masses = [mass for name in names for mass in self.decompositions[name].masses]
        found = self._descend(counts, masses, placed, known, fresh=set(names))
        for name in names:
            if name not in found:
                found[name] = self._shares(name, counts, known)
        return found

    def _shares(self, name: str, counts: Counts, known: Found) -> Shares:
        """Shares of documents in a decomposition, what it is made of being known."""
        split = self.decompositions[name]
        own, *context = (_total(mass, counts, known) for mass in split.masses)
        if context:
            return shares_in_context(split.heirs, own, *context)
        return document_shares(split.topics, own)

    def _late(self) -> set[str]:
        return late_splits(self.decompositions)

    def _earlier(self, name: str) -> Model:
        """The model as it was before a decomposition apart was made."""
        number, late = self.decompositions[name].apart, self._late()
        kept = {
            other: split
            for other, split in self.decompositions.items()
            if (other not in late or split.apart) and split.apart < number
        }
        return replace(self, decompositions=kept, topics={})

    def _mass(self, name: str, counts: Counts, placed: Placed) -> Counts:
        """What a decomposition apart was made of, of all documents."""
        mass = self.decompositions[name].components
        if not mass:
            return counts
        return self._earlier(name).topical_counts(counts, [mass], placed)[0]

    def _join(self, name: str, counts: Counts, placed: Placed, judge: Judge | None) -> Shares:
        """Shares of new documents in a decomposition apart, of those that belong there.

        A document does if it fits nowhere else, its words are likelier there, and most of it is
        of the topic above.
        """
        split, mass = self.decompositions[name], self._mass(name, counts, placed)
        if judge is None:
            return Shares.none(counts.size)
        shares = document_shares(split.topics, mass)
        belongs = self._earlier(name).masses(placed).of(split.components) >= MOST
        belongs &= mass.sizes > 0
        fits = judge.fit_model.joining(name, judge.texts, placed.extended({name: shares}))
        return shares.only(belongs & fits)

    def place_new(self, counts: csr_array, judge: Judge | None = None) -> Placed:
        """Shares of documents that are new, in all decompositions.

        The `judge` says which of them belong to documents apart; without one, none does.
        """
        new = Placed(0, counts.shape[0])
        return new.extended(self.place(self.root_counts(counts), new, judge=judge))

    def topical_counts(
        self,
        counts: Counts,
        masses: Sequence[Sequence[Component]],
        placed: Placed,
        known: Found | None = None,
    ) -> list[Counts]:
        """What documents have of some masses.

        Parameters
        ----------
        counts : Counts
            The documents as the root sees them.
        masses : sequence of list of Component
            What is asked for.
        placed : Placed
            Their shares in the decompositions on the way.
        known : dict, optional
            Topical counts of these documents that were found before; more are added.
        """
        known = {} if known is None or self._late() else known  # those had not left yet
        self._descend(counts, masses, placed, known)
        return [_total(mass, counts, known) for mass in masses]

    def masses(self, placed: Placed) -> Masses:
        """Shares of documents in any mass."""
        return Masses(self.decompositions, placed, placed.size)

    def holders(
        self,
        placed: Placed,
        masses: Sequence[Sequence[Component]],
        fresh: Collection[str] = (),
    ) -> NDArray[np.int64] | None:
        """Documents that may have something of some masses; None if all may.

        They have not been placed yet in the decompositions that are `fresh`.
        """
        if self.by_word or not all(masses):  # a word is of a topic in whatever document it stands
            return None
        return np.flatnonzero(Holders(self.decompositions, placed, fresh).of(masses))

    def shares(self, placed: Placed, only: Collection[str] | None = None) -> TopicShares:
        """Share of every topic in documents, or of some topics."""
        topics = self.topics
        topics = topics if only is None else {name: topics[name] for name in only}
        return TopicShares(topics, self.masses(placed))

    def paths(self, shares: Mapping[str, Array]) -> list[NDArray[np.int64]]:
        """Numbers of the topics on each document's path, an array a level; -1 below a leaf."""
        return paths(self.topics, ROOT, shares)

    def totals(self, shares: TopicShares) -> tuple[Array, NDArray[np.int64]]:
        """Sum of the documents' shares in each topic, and how many paths lead there."""
        return np.array([shares[name].sum() for name in self.topics]), self.paths_to(shares)

    def paths_to(self, shares: Mapping[str, Array]) -> NDArray[np.int64]:
        """How many paths lead to each topic."""
        levels = np.stack(self.paths(shares))
        return np.bincount(levels[levels >= 0], minlength=len(self.topics))

    def ends(self, shares: Mapping[str, Array]) -> NDArray[np.int64]:
        """Number of the topic at the end of each document's path."""
        return ends(self.paths(shares))

    def _descend(
        self,
        counts: Counts,
        masses: Sequence[Sequence[Component]],
        placed: Placed,
        known: Found,
        fresh: Collection[str] = (),
    ) -> dict[str, Shares]:
        """Topical counts of the parts of masses, and of all that they come from, into `known`.

        Documents are placed in decompositions that are `fresh`; these shares are returned.
        """
        needed = self._needed(masses, known)
        wanted = [*masses, *(self.decompositions[name].components for name in needed)]
        found: dict[str, Shares] = {}
        for name in needed:
            split = self.decompositions[name]
            groups = {tuple(p.fine) for m in wanted for p in m if p.split == name and p.fine}
            groups = {fine for fine in groups if (name, fine) not in known}
            own = _total(split.components, counts, known)
            if split.apart:
                own = self._mass(name, counts, placed)
            if name in fresh:
                found[name] = self._shares(name, counts, known)
            dense = self._weights(split, found[name] if name in found else placed[name])
            self._leave(name, dense, placed)
            for some in disjoint(sorted(groups)):
                parts = topical(split, own, dense, some, by_word=self.by_word)
                known |= {(name, fine): part for fine, part in zip(some, parts, strict=True)}
        return found

    def _needed(self, masses: Sequence[Sequence[Component]], known: Found) -> list[str]:
        """Decompositions on the way, those above first; not if all is known."""
        names: set[str] = set()
        waiting = [part for mass in masses for part in mass]
        while waiting:
            part = waiting.pop()
            if _key(part) not in known and part.split not in names:
                names.add(part.split)
                waiting += self.decompositions[part.split].components
        return [name for name in ordered(self.decompositions, names) if name in names]

    def _leave(self, name: str, dense: Array, placed: Placed) -> None:
        """Take away what documents apart had of a decomposition, if it is known who they are."""
        for other in apart(self.decompositions):
            if other not in placed:
                continue
            gone = np.flatnonzero(placed[other].there)
            for part in left_by(self.decompositions, other):
                if part.split == name:
                    dense[np.ix_(gone, np.array(part.fine))] = 0

    def _weights(self, split: Decomposition, shares: Shares) -> Array:
        dense = shares.dense(split.topics.size)
        if self.by_word:
            dense[shares.there if split.apart else slice(None)] = split.overlap.weights
        return dense


def _total(mass: Sequence[Component], counts: Counts, known: Found) -> Counts:
    """Topical counts of a mass, from those of its parts; without any, of all there is."""
    return added([known[_key(part)] for part in mass if part.fine] or [counts])


def _key(part: Component) -> tuple[str, tuple[int, ...]]:
    return part.split, tuple(part.fine)


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
    tables = [part.table(part.probability.astype(np.float64)) for part in parts]
    chance = sum(tables[1:], tables[0])
    tokens = [part.table(part.tokens.astype(np.float64)) for part in parts]
    most = tokens[0]
    for table in tokens[1:]:
        most = most.maximum(table)
    chance.sort_indices()
    most.sort_indices()
    return Counts(
        most.indptr.astype(np.int64),
        most.indices.astype(np.int32),
        most.data.astype(np.float32),
        np.minimum(chance.data, 1).astype(np.float32),
        first.width,
    )


def topical(
    split: Decomposition,
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
    chance = posterior(split.topics, counts, shares, groups, by_word=by_word)
    return [likely(counts, one, split.topics.size) for one in chance]
