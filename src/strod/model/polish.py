"""Polish: a few sweeps of variational inference from the spectral start.

The tensor decomposition finds the right optimum to climb; the sweeps climb it. From random
starts the same sweeps end far lower. No randomness: the same start gives the same topics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.compute.threads import spread
from strod.model.inference import (
    Inferred,
    infer,
    near,
    prior_of,
    resume,
    single_topic,
    sparse_shares,
)
from strod.values.split import Cooccurrence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.values.split import FineTopics

    Array = NDArray[np.float64]
    State = list[NDArray[np.float32] | None]

__all__ = ["Polished", "converge", "overlap", "polish"]

# Rounds of inference in the first sweep, and in those that go on from the expected counts of
# the one before: from equal shares, and from a guess.
EQUAL = 3, 1
GUESS = 2, 1
STEADY = 5, 3  # where topics are to stand still: documents must keep up with them
STILL = 2e-4  # mean L1 distance of two sweeps: topics that stand still
TRACE = 0.01  # added to every count there: a word that was not seen is next to impossible


class Polished(NamedTuple):
    """Topics after polish.

    Attributes
    ----------
    topics : FineTopics
        The topics.
    state : list of ndarray or None
        Expected counts of the documents, from which the next pass goes on.
    leaning : bool
        Whether the prior of the documents leant to one topic.
    """

    topics: FineTopics
    state: State
    leaning: bool = False


def polish(
    blocks: Sequence[Counts],
    start: FineTopics,
    sweeps: int,
    threads: int,
    *,
    leaning: bool = False,
    guess: bool = False,
) -> Polished:
    """Improve the words of the topics by `sweeps` passes over the sample.

    Documents start with equal shares or, with `guess`, near the topic that explains all of
    their words: a few rounds do not get far from equal shares, and topics stay mixtures of
    each other. But who asks how topics share documents must not begin with one topic for each.
    """
    state: State = [None] * len(blocks)
    topics = start
    for number in range(sweeps):
        rounds, total = (GUESS if guess else EQUAL)[number > 0], np.zeros(())

        def sweep(index: int, topics: FineTopics = topics, rounds: int = rounds) -> Inferred:
            block, before = blocks[index], state[index]
            prior = prior_of(topics, block) if leaning else None
            if before is not None:
                return resume(topics, block, before, rounds, prior, evidence=True)
            theta = near(single_topic(topics, block)) if guess else None
            return infer(topics, block, theta, rounds, prior, evidence=True)

        for index, found in enumerate(spread(sweep, range(len(blocks)), threads)):
            total = total + found.evidence
            state[index] = found.expected.astype(np.float32)
        topics = topics.learnt(total)
    return Polished(topics, state, leaning)


def converge(blocks: Sequence[Counts], start: FineTopics, sweeps: int, threads: int) -> Polished:
    """Sweep until the topics stand still, `sweeps` times at most.

    With every token of every document in full these are the topics that the documents were drawn
    from, the nearer the more documents there are; what was thinned, clipped or added before is
    forgotten.
    """
    state: State = [None] * len(blocks)
    topics = replace(start, pseudo=TRACE)
    for _ in range(sweeps):
        total = np.zeros(())

        def sweep(index: int, topics: FineTopics = topics) -> Inferred:
            block, before = blocks[index], state[index]
            if before is None:
                return infer(topics, block, rounds=STEADY[0], evidence=True)
            return resume(topics, block, before, STEADY[1], evidence=True)

        for index, found in enumerate(spread(sweep, range(len(blocks)), threads)):
            total = total + found.evidence
            state[index] = found.expected.astype(np.float32)
        last, topics = topics, topics.learnt(total)
        if abs(topics.words - last.words).sum(axis=0).mean() < STILL:
            break
    return Polished(topics, state)


def _expected(
    topics: FineTopics, block: Counts, before: NDArray[np.float32] | None, rounds: int
) -> Array:
    """Expected counts: found anew, by some rounds more, or as they were left."""
    if before is None:
        return infer(topics, block).expected
    return resume(topics, block, before, rounds).expected if rounds else before.astype(np.float64)


def overlap(
    blocks: Sequence[Counts],
    topics: FineTopics,
    threads: int,
    state: State | None = None,
    rounds: int = 0,
) -> Cooccurrence:
    """One pass over the sample: weights of the topics and how they meet in documents.

    `state` is where polish left the documents; `rounds` more are made from there. Without it
    inference starts anew.
    """
    states: State = [None] * len(blocks) if state is None else state
    m = topics.size
    weights, joint, squares = np.zeros(m), np.zeros((m, m)), np.zeros(m)

    def one(given: tuple[Counts, NDArray[np.float32] | None]) -> tuple[Array, Array, Array]:
        block, before = given
        shares = sparse_shares(_expected(topics, block, before, rounds)).dense(m)
        say = block.document_weight * block.length(1)
        counts = shares * say[:, None]
        return counts.sum(axis=0), shares.T @ counts, (counts**2).sum(axis=0)

    for part in spread(one, zip(blocks, states, strict=True), threads):
        weights += part[0]
        joint += part[1]
        squares += part[2]
    total = max(weights.sum(), np.finfo(float).tiny)
    effective = np.divide(weights**2, squares, out=np.zeros(m), where=squares > 0)
    return Cooccurrence(weights / total, joint / total, effective)
