"""Documents on their way down: placed in new decompositions, and sampled for the next ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.values.shares import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from strod.model.model import Found, Model
    from strod.model.placed import Documents, Ref, Rows
    from strod.moments.counts import Counts
    from strod.values.shares import Kept, Shares, TopicShares
    from strod.values.topic import Component

    Array = NDArray[np.float64]

__all__ = ["Located", "Newcomers", "Wanted", "infer", "place", "place_new"]


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
    weights, documents : ndarray of shape (topics,)
        Sum of their shares, and how many paths lead to each topic.
    """

    shares: Mapping[str, Shares]
    weights: Array
    documents: NDArray[np.int64]


def place(
    ref: Ref[Documents],
    model: Model,
    kept: Kept,
    fresh: Sequence[str],
    wanted: Sequence[Wanted],
) -> Located:
    """Place the documents in the decompositions `fresh`, and sample the masses `wanted`.

    Masses may be made of what is fresh: what has been counted on the way is not counted again.
    """
    shard = ref.open()
    known: Found = {}
    counts = model.root_counts(shard.counts)
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
        for one, part in zip(wanted, some, strict=True):
            stay = _chosen(shard, one.rate)[chosen] & (np.diff(part.indptr) > 0)
            samples.append(part.sample(stay))
    return Located([found[name] for name in fresh], samples)


def _chosen(shard: Documents, rate: float) -> NDArray[np.bool_]:
    if rate >= 1:
        return np.ones(shard.size, dtype=bool)
    return shard.draws < rate


def infer(ref: Ref[Rows], model: Model) -> TopicShares:
    """Shares of all topics in documents that are new."""
    return model.shares(model.place_new(ref.open().counts))


def place_new(ref: Ref[Rows], model: Model) -> Newcomers:
    """Place documents that are new in all decompositions, and say where they belong."""
    placed = model.place_new(ref.open().counts)
    return Newcomers(placed.found, *model.totals(model.shares(placed)))
