"""Which prior suits the documents, one for mixtures or one that leans to a single topic.

Where documents are short, some are swept twice: with the same small prior for every topic, and
with one that leans to the topic which explains all words of a document (see `inference`). If
titles have one topic each the second is right, if they are mixtures the first: leaning is given
up where the first foretells half of the words of other documents better, by more than a hair.
Which documents are tried is drawn by lots that are the same on every run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from strod.compute.threads import spread
from strod.model.inference import infer, prior_of
from strod.model.polish import polish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from strod.model.polish import Polished
    from strod.moments.counts import Counts
    from strod.values.split import FineTopics

    Array = NDArray[np.float64]
    Prior = Callable[[Counts], Array]

__all__ = ["completion", "polish_better"]

PRIORS = 0.02, 0.1, 0.5, 1.0  # of each topic, for documents that are mixtures
TRIAL = 40_000  # documents that tell which prior suits: half to learn from, half to foretell
ENOUGH = 500  # of them to learn from, or the trial says nothing
MARGIN = 0.005  # of the mean log-likelihood of a token, by which leaning may lose
SHORT = 12.0  # mean tokens of a document, whole ones, up to which it may be about one topic


def polish_better(
    blocks: Sequence[Counts], start: FineTopics, sweeps: int, threads: int
) -> Polished:
    """Polish from equal shares, with the prior that suits the documents."""
    leaning = bool(sweeps) and _are_short(blocks) and _lean(blocks, start, sweeps, threads)
    return polish(blocks, start, sweeps, threads, leaning=leaning)


def _lean(blocks: Sequence[Counts], start: FineTopics, sweeps: int, threads: int) -> bool:
    """Whether topics that were learnt with a leaning prior foretell other documents as well.

    As the others do with any prior: where documents are mixtures, one that gives each topic its
    due foretells best, and leaning would learn wrong topics. Too few documents say nothing.
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
    plain = polish(learnt, start, sweeps, threads).topics
    leaning = polish(learnt, start, sweeps, threads, leaning=True).topics
    priors: list[Prior] = [
        partial(prior_of, plain),
        *(partial(_flat, each, plain.size) for each in PRIORS),
    ]
    best = max(completion(others, plain, threads, prior) for prior in priors)
    return completion(others, leaning, threads, partial(prior_of, leaning)) > best - MARGIN


def _flat(each: float, size: int, _: Counts) -> Array:
    return np.full((1, size), each)


def _are_short(blocks: Sequence[Counts]) -> bool:
    lengths = np.concatenate([block.length(0) for block in blocks])
    said = lengths[lengths > 0]
    return bool(said.size) and float(said.mean()) <= SHORT


def completion(blocks: Sequence[Counts], topics: FineTopics, threads: int, prior: Prior) -> float:
    """How well topics foretell every second word of the documents from the other words.

    The mean of log Σ_z θ_z·φ_zx over tokens, θ being inferred from the other words; not a
    number if there are none.
    """

    def one(block: Counts) -> tuple[float, float]:
        other = (np.arange(len(block.indices)) - np.repeat(block.indptr[:-1], block.sizes)) % 2
        given, hidden = block.words_where(other == 0), block.words_where(other == 1)
        chosen = prior(given)
        theta = chosen + infer(topics, given, prior=chosen).expected
        theta /= theta.sum(axis=1, keepdims=True)
        row = np.repeat(np.arange(hidden.size), hidden.sizes)
        chance = np.einsum("jz,jz->j", theta[row], topics.words[hidden.indices])
        tokens = hidden.power(1).data
        return float(tokens @ np.log(chance)), float(tokens.sum())

    parts = np.array(list(spread(one, blocks, threads)))
    likelihood, tokens = parts.sum(axis=0)
    return float(likelihood / tokens) if tokens > 0 else float("nan")
