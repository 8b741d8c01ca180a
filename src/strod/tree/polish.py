"""Polish: a few sweeps of variational inference from the spectral start.

The tensor decomposition finds the right optimum to climb; the sweeps climb it. From random
starts the same sweeps end far lower. No randomness: the same start gives the same topics.

Where documents are short, some are swept twice: with the same small prior for every topic, and
with one that leans to the topic which explains all words of a document (see `inference`). If
titles have one topic each the second is right, if they are mixtures the first: what foretells
half of the words of other documents better decides for all. Which documents are tried is drawn
by lots that are the same on every run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.tree.inference import FineTopics, Inferred, sparse_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.work import Engine

    Array = NDArray[np.float64]
    State = list[NDArray[np.float32] | None]
    Prior = Callable[[Counts], Array]

__all__ = ["Overlap", "Polished", "completion", "overlap", "polish", "polish_better"]

ROUNDS = 2  # of inference in one sweep; the shares of the sweep before are the start
PRIORS = 0.02, 0.1, 0.5, 1.0  # of each topic, for documents that are mixtures
TRIAL = 40_000  # documents that tell which prior suits: half to learn from, half to foretell
ENOUGH = 500  # of them to learn from, or the trial says nothing
MARGIN = 0.005  # of the mean log-likelihood of a token, by which leaning has to win
SHORT = 12.0  # mean tokens of a document up to which it may be about one topic


class Polished(NamedTuple):
    """Topics after polish.

    Attributes
    ----------
    topics : FineTopics
        The topics.
    state : list of ndarray or None
        Weights of the documents, where the next pass may start.
    leaning : bool
        Whether the prior of the documents leant to one topic.
    """

    topics: FineTopics
    state: State
    leaning: bool = False


class Overlap(NamedTuple):
    """How topics share documents.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Share of all tokens, p_z.
    joint : ndarray of shape (m, m)
        p_{z,z'}: both of two tokens of a document, seen as its shares are.
    documents : ndarray of shape (m,)
        Effective number of documents of a topic: (Σ_d n_dz)² / Σ_d n_dz².
    """

    weights: Array
    joint: Array
    documents: Array


def polish(
    blocks: Sequence[Counts],
    start: FineTopics,
    sweeps: int,
    engine: Engine,
    *,
    leaning: bool = False,
) -> Polished:
    """Improve the words of the topics by `sweeps` passes over the sample."""
    state: State = [None] * len(blocks)
    topics = start
    for _ in range(sweeps):
        words = topics.words
        total = np.zeros_like(words)

        def sweep(index: int, topics: FineTopics = topics) -> tuple[int, Array, Inferred]:
            prior = topics.prior(blocks[index]) if leaning else None
            found = _resumed(topics, blocks[index], state[index], prior)
            return index, _evidence(blocks[index], found), found

        for index, part, found in engine.map(sweep, range(len(blocks))):
            total += part
            state[index] = found.theta.astype(np.float32)
        topics = FineTopics((words * total).T.astype(np.float32))
    return Polished(topics, state, leaning)


def polish_better(
    blocks: Sequence[Counts], start: FineTopics, sweeps: int, engine: Engine
) -> Polished:
    """Polish with the prior that suits the documents."""
    leaning = bool(sweeps) and _are_short(blocks) and _lean(blocks, start, sweeps, engine)
    return polish(blocks, start, sweeps, engine, leaning=leaning)


def _lean(blocks: Sequence[Counts], start: FineTopics, sweeps: int, engine: Engine) -> bool:
    """Whether topics that were learnt with a leaning prior foretell other documents better.

    Better than the others do with any prior: where documents are mixtures, one that gives
    each topic its due foretells best, and leaning would learn wrong topics. Too few documents,
    or a win by less than a hair, say nothing.
    """
    rate = min(1.0, TRIAL / max(sum(block.size for block in blocks), 1))
    lots = [np.random.default_rng(number).random(block.size) for number, block in enumerate(blocks)]
    learnt = [block.sample(lot < rate / 2) for block, lot in zip(blocks, lots, strict=True)]
    others = [
        block.sample((lot >= rate / 2) & (lot < rate))
        for block, lot in zip(blocks, lots, strict=True)
    ]
    if sum(block.size for block in learnt) < ENOUGH:
        return False
    plain = polish(learnt, start, sweeps, engine).topics
    leaning = polish(learnt, start, sweeps, engine, leaning=True).topics
    priors: list[Prior] = [plain.prior, *(partial(_flat, each, plain.size) for each in PRIORS)]
    best = max(completion(others, plain, engine, prior) for prior in priors)
    return completion(others, leaning, engine, leaning.prior) > best + MARGIN


def _flat(each: float, size: int, _: Counts) -> Array:
    return np.full((1, size), each)


def _are_short(blocks: Sequence[Counts]) -> bool:
    lengths = np.concatenate([block.length(1) for block in blocks])
    said = lengths[lengths > 0]
    return bool(said.size) and float(said.mean()) <= SHORT


def completion(blocks: Sequence[Counts], topics: FineTopics, engine: Engine, prior: Prior) -> float:
    """How well topics foretell every second word of the documents from the other words.

    The mean of log Σ_z θ_z·φ_zx over tokens, θ being inferred from the other words.
    """

    def one(block: Counts) -> tuple[float, float]:
        other = (np.arange(len(block.indices)) - np.repeat(block.indptr[:-1], block.sizes)) % 2
        given, hidden = block.words_where(other == 0), block.words_where(other == 1)
        chosen = prior(given)
        theta = chosen + topics.infer(given, prior=chosen).expected
        theta /= theta.sum(axis=1, keepdims=True)
        row = np.repeat(np.arange(hidden.size), hidden.sizes)
        chance = np.einsum("jz,jz->j", theta[row], topics.words[hidden.indices])
        tokens = hidden.power(1).data
        return float(tokens @ np.log(chance)), float(tokens.sum())

    parts = np.array(list(engine.map(one, blocks)))
    return float(parts[:, 0].sum() / max(parts[:, 1].sum(), np.finfo(float).tiny))


def _evidence(block: Counts, found: Inferred) -> Array:
    """Σ_d h_d·(c_dx / Σθφ)·θ_dz, V×m; times φ it is the expected count of a word."""
    ratios = block.table(found.ratio)
    result: Array = ratios.T @ (found.theta * block.say[:, None])
    return result


def _resumed(
    topics: FineTopics,
    block: Counts,
    theta: NDArray[np.float32] | None,
    prior: Array | None = None,
) -> Inferred:
    """Two more rounds of inference."""
    warm = None if theta is None else theta.astype(np.float64)
    return topics.infer(block, warm, ROUNDS, prior)


def overlap(
    blocks: Sequence[Counts], topics: FineTopics, engine: Engine, state: State | None = None
) -> Overlap:
    """One pass over the sample: weights of the topics and how they meet in documents.

    `state` is where polish left the documents; without it inference starts anew.
    """
    states: State = [None] * len(blocks) if state is None else state
    m = topics.size
    weights, joint, squares = np.zeros(m), np.zeros((m, m)), np.zeros(m)

    def one(given: tuple[Counts, NDArray[np.float32] | None]) -> tuple[Array, Array, Array]:
        block, theta = given
        found = topics.infer(block) if theta is None else _resumed(topics, block, theta)
        shares = sparse_shares(found.expected).dense(m)
        say = block.say * block.length(1)
        counts = shares * say[:, None]
        return counts.sum(axis=0), shares.T @ counts, (counts**2).sum(axis=0)

    for part in engine.map(one, zip(blocks, states, strict=True)):
        weights += part[0]
        joint += part[1]
        squares += part[2]
    total = max(weights.sum(), np.finfo(float).tiny)
    effective = np.divide(weights**2, squares, out=np.zeros(m), where=squares > 0)
    return Overlap(weights / total, joint / total, effective)
