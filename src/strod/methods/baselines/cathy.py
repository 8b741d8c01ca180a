"""CATHY: the word co-occurrence network is divided by EM, then each subnetwork, and so on.

The model is in `strod.methods.baselines.network`. It knows no documents. They get their shares from
their words, whose chance of a child z of topic t is that of an edge's end, and those of the
levels above are multiplied on the way down::

    p(z|x, t) = ρ_z·θ_zx / Σ_z' ρ_z'·θ_z'x,    n_dz = Σ_x c_dx·p(t|x)·p(z|x, t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.methods.baselines.learner import SMALLEST, Division
from strod.methods.baselines.network import (
    Network,
    Parts,
    check_room,
    count_edges,
    start,
    subnetworks,
    sweep,
)
from strod.model.decompose import NotSplit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.methods.baselines.learner import Clock, Piece
    from strod.model.options import TreeOptions

    Array = NDArray[np.float64]

__all__ = ["Cathy", "State"]

ENOUGH = 1e-7  # gain of the log-likelihood, relative to it, at which EM stops
ROWS = 1 << 16  # documents at a time


class State(NamedTuple):
    """A topic: its network, p(t|x) of every word, and its level."""

    network: Network
    chance: Array
    level: int


class Cathy:
    """Divides the network of a topic.

    Parameters
    ----------
    whole : Piece
        The corpus.
    options : TreeOptions
        Children and height of the tree.
    memory : int
        Bytes that the network may take.
    """

    def __init__(self, whole: Piece, options: TreeOptions, memory: int) -> None:
        self._whole, self._children, self._height = whole, options.least, options.height
        self._memory = memory
        self._weight = 1.0

    def root(self) -> State:
        """The network of the corpus."""
        network = count_edges(self._whole.counts, self._memory)
        check_room(network, self._children, self._height, self._memory)
        self._weight = max(float(network.weights.sum()), 1.0)
        return State(network, np.ones(self._whole.counts.shape[1]), 0)

    def divide(self, state: State, seed: int, clock: Clock) -> Division:
        """EM on one network."""
        k, network = self._children, state.network
        if np.count_nonzero(network.strength) < SMALLEST * k:
            raise NotSplit("too few words")
        parts = start(network, k, np.random.default_rng(seed))
        share = float(network.weights.sum()) / self._weight / self._height
        before = -np.inf
        for _ in clock.steps(share):
            parts, likelihood = sweep(network, parts)
            if likelihood - before < ENOUGH * abs(likelihood):
                break
            before = likelihood
        chance = _chance(parts) * state.chance[:, None]
        tokens = self._tokens(chance)
        some = np.flatnonzero(tokens.any(axis=1))
        states: list[State | None] = [None] * k
        if state.level + 1 < self._height:
            below = enumerate(subnetworks(network, parts))
            states = [State(inside, chance[:, z].copy(), state.level + 1) for z, inside in below]
        return Division(parts.theta.T.copy(), self._whole.rows[some], tokens[some], states)

    def _tokens(self, chance: Array) -> Array:
        """Documents by children: n_dz."""
        counts = self._whole.counts
        blocks = range(0, max(counts.shape[0], 1), ROWS)
        found: list[Array] = [counts[first : first + ROWS] @ chance for first in blocks]
        return np.concatenate(found)


def _chance(parts: Parts) -> Array:
    """p(z|x, t) of every word; 0 for a word without edges."""
    mine = parts.theta * parts.rho
    total = mine.sum(axis=1, keepdims=True)
    result: Array = np.divide(mine, total, out=np.zeros_like(mine), where=total > 0)
    return result
