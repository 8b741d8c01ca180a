"""Documents on their way down: placed in new decompositions, and sampled for the next ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.model.model import Judge
from strod.values.shares import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
    shard = ref.open()
    known: Found = {}
    table = shard.counts
    counts = model.root_counts(table)
    placed = Placed(ref.first, ref.size, kept)
    found = model.place(counts, placed, fresh, known) if fresh else {}
    placed = placed.extended(found)
    samples: list[Counts] = []
    if wanted:
        chosen = _chosen(shard, max(one.rate for one in wanted))
        every = bool(chosen.all())
        some = model.topical_counts(
            counts if every else counts.sample(chosen),
            [one.parts for one in wanted],
            placed,
            None if every else chosen,
            known if every else {},
        )
        if not all(one.parts for one in wanted):
            whole = model.root_counts(table, clipped=False).sample(chosen)
            some = [part if one.parts else whole for one, part in zip(wanted, some, strict=True)]
        for one, part in zip(wanted, some, strict=True):
            stay = _chosen(shard, one.rate)[chosen] & (np.diff(part.indptr) > 0)
            samples.append(part.sample(stay))
    return Located([found[name] for name in fresh], samples)


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


def _chosen(shard: Documents, rate: float) -> NDArray[np.bool_]:
    if rate >= 1:
        return np.ones(shard.size, dtype=bool)
    return shard.draws < rate


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
