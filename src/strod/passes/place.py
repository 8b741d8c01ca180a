"""Documents on their way down: placed in new decompositions, and sampled for the next ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.model.model import Judge
from strod.values.shares import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.explain import FitModel
    from strod.model.model import Found, Model
    from strod.model.placed import Documents, Ref, Rows, Streams
    from strod.moments.counts import Counts
    from strod.values.shares import Kept, Shares, TopicShares
    from strod.values.topic import Component

    Array = NDArray[np.float64]

__all__ = ["Divided", "Located", "Newcomers", "Wanted", "divide", "infer", "place", "place_new"]


class Wanted(NamedTuple):
    """A mass of which a sample is taken: what it is made of, and the share of the documents."""

    parts: list[Component]
    rate: float


class Located(NamedTuple):
    """Shares in each decomposition that was asked for, and a sample of each mass."""

    shares: list[Shares]
    samples: list[Counts]


class Newcomers(NamedTuple):
    """Documents that were in no decomposition.

    Attributes
    ----------
    shares : mapping of Shares
        By decomposition.
    weights : ndarray of shape (topics,)
        Sum of the shares of those that fit.
    documents : ndarray of shape (topics,)
        How many paths lead to each topic.
    strange : ndarray of bool
        Which of them fit no topic.
    """

    shares: Mapping[str, Shares]
    weights: Array
    documents: NDArray[np.int64]
    strange: NDArray[np.bool_]


class Divided(NamedTuple):
    """Shares of documents in a decomposition.

    Attributes
    ----------
    shares : Shares
        Shares within what was decomposed.
    mass, squares : ndarray of shape (m,)
        Sum over the documents that say something of their shares in all there is, and of the
        squares of these.
    """

    shares: Shares
    mass: Array
    squares: Array


def place(
    ref: Ref[Documents],
    model: Model,
    kept: Kept,
    fresh: Sequence[str],
    wanted: Sequence[Wanted],
) -> Located:
    """Place the documents in the decompositions `fresh`, and sample the masses `wanted`.

    Masses may be made of what is fresh: what has been counted on the way is not counted again.
    The sample of the root is not clipped: who learns from it decides on that.
    """
    placed = Placed(ref.first, ref.size, kept)
    masses = [model.decompositions[name].components for name in fresh]
    holders = model.holders(placed, [*masses, *(one.parts for one in wanted)], fresh)
    some = _Some(ref.open(), holders)
    if wanted and not fresh:  # nobody asks for others
        some = some.drawn(max(one.rate for one in wanted))
    known: Found = {}
    placed, counts = some.of(placed), model.root_counts(some.table)
    found = model.place(counts, placed, fresh, known) if fresh else {}
    placed = placed.extended(found)
    samples = _sampled(some, counts, model, placed, wanted, known) if wanted else []
    return Located([some.among(found[name]) for name in fresh], samples)


@dataclass(frozen=True)
class _Some:
    """Some documents of a shard, or all of them."""

    shard: Documents
    rows: NDArray[np.int64] | None

    @cached_property
    def table(self) -> csr_array:
        """Their counts."""
        counts = self.shard.counts
        return counts if self.rows is None else counts[self.rows]

    def of(self, placed: Placed) -> Placed:
        """Their shares."""
        return placed if self.rows is None else placed.of(self.rows)

    def among(self, shares: Shares) -> Shares:
        """Their shares as rows of the shard: those of all others are empty."""
        if self.rows is None:
            return shares
        places = np.zeros(self.shard.size, dtype=bool)
        places[self.rows] = True
        return shares.among(places)

    def chosen(self, rate: float) -> NDArray[np.bool_]:
        """Which of them are in a sample of so many."""
        if rate >= 1:
            return np.ones(self.shard.size if self.rows is None else len(self.rows), dtype=bool)
        draws = self.shard.draws
        return (draws if self.rows is None else draws[self.rows]) < rate

    def drawn(self, rate: float) -> _Some:
        """Those in a sample."""
        if rate >= 1:
            return self
        chosen = np.flatnonzero(self.chosen(rate))
        return _Some(self.shard, chosen if self.rows is None else self.rows[chosen])


def _sampled(
    some: _Some,
    counts: Counts,
    model: Model,
    placed: Placed,
    wanted: Sequence[Wanted],
    known: Found,
) -> list[Counts]:
    """A sample of each mass, of documents that have something of it."""
    chosen = some.chosen(max(one.rate for one in wanted))
    every = bool(chosen.all())
    parts = model.topical_counts(
        counts if every else counts.sample(chosen),
        [one.parts for one in wanted],
        placed if every else placed.of(np.flatnonzero(chosen)),
        known if every else {},
    )
    samples = []
    for one, part in zip(wanted, parts, strict=True):
        stay = some.chosen(one.rate)[chosen] & (part.sizes > 0)
        if one.parts:
            samples.append(part.sample(stay))
        else:
            whole = model.root_counts(some.table, clipped=False)
            samples.append(whole.sample(chosen).sample(stay))
    return samples


def divide(ref: Ref[Rows], model: Model, kept: Kept, name: str) -> Divided:
    """Place the documents in one decomposition, and say what its topics have of them."""
    placed, split = Placed(ref.first, ref.size, kept), model.decompositions[name]
    [shares] = model.place(model.root_counts(ref.open().counts), placed, [name]).values()
    own = model.masses(placed).of(split.components)
    held = np.repeat(own, np.diff(shares.indptr)) * shares.values
    mass, squares = (
        np.bincount(shares.indices, values, split.topics.size).astype(np.float64)
        for values in (held, held**2)
    )
    return Divided(shares, mass, squares)


def infer(ref: Ref[Rows], model: Model) -> TopicShares:
    """Shares of all topics in documents that are new."""
    return model.shares(model.place_new(ref.open().counts))


def place_new(ref: Ref[Streams], model: Model, fit_model: FitModel | None) -> Newcomers:
    """Place documents that are new in all decompositions, and say where they belong, if anywhere.

    Where nothing is known about what is usual, those without known words are strange.
    """
    shard = ref.open()
    counts = shard.counts
    judge = None if fit_model is None else Judge(fit_model, fit_model.texts(shard))
    placed = model.place_new(counts, judge)
    strange = np.diff(counts.indptr) == 0
    if judge is not None:
        strange |= judge.fit_model.of(judge.texts, placed) < judge.fit_model.threshold
    shares = model.shares(placed)
    weights = np.array([own[~strange].sum() for own in shares.values()])
    return Newcomers(placed.found, weights, model.totals(shares)[1], strange)
