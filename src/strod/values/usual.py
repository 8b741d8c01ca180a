"""How well documents are explained that the model has not seen, by their length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["FEW", "LENGTHS", "MEASURE", "THRESHOLD", "Usual", "usual"]

MEASURE = 2  # how it is measured; what was usual by another measure says nothing
THRESHOLD = 0.04  # fit below which a document is said to fit no topic
LEVELS = 100  # parts of equal size that held-out documents are divided into
LENGTHS = tuple(2**power for power in range(2, 12))  # tokens
NEAR = 0.75  # powers of two by which documents of about a length may be shorter or longer
FEW = 30  # held-out documents without which nothing is known about a length
NARROW = 1e-3  # least deviation: documents that are all alike say little about others


@dataclass(frozen=True)
class Usual:
    """What log-likelihood per token held-out documents have.

    Attributes
    ----------
    lengths : ndarray
        Tokens, rising.
    means, deviations : ndarray
        Mean and standard deviation of the log-likelihood per token of documents, and of pieces of
        longer ones, of about that length.
    quantiles : ndarray
        Of the standardised log-likelihoods of whole documents, at 1 %, 2 % … 99 %.
    threshold : float
        Fit below which a document fits no topic: the share of held-out documents that do so.
    """

    lengths: Array
    means: Array
    deviations: Array
    quantiles: Array
    threshold: float = THRESHOLD

    def standardised(self, likelihoods: Array, lengths: Array) -> Array:
        """How many deviations documents are above the mean of their length."""
        place, known = np.log(np.maximum(lengths, 1)), np.log(self.lengths)
        mean = np.interp(place, known, self.means)
        result: Array = (likelihoods - mean) / np.interp(place, known, self.deviations)
        return result

    def fit(self, likelihoods: Array, lengths: Array) -> Array:
        """Share of held-out documents of the same length that are explained no better.

        Beyond the outermost quantiles it goes to 0 or 1 by an exponential law. A document of
        which nothing is known fits nothing.
        """
        score, parts = self.standardised(likelihoods, lengths), len(self.quantiles) + 1
        low, high = self.quantiles[0], self.quantiles[-1]
        found = np.interp(score, self.quantiles, np.arange(1, parts) / parts)
        found = np.where(score < low, np.exp(np.minimum(score - low, 0)) / parts, found)
        found = np.where(score > high, 1 - np.exp(np.minimum(high - score, 0)) / parts, found)
        return np.where(lengths > 0, found, 0.0)


def usual(likelihoods: Array, lengths: Array, whole: NDArray[np.bool_]) -> Usual | None:
    """What is usual, from held-out documents and pieces of them; None if they are too few."""
    some = lengths > 0
    likelihoods, lengths, whole = likelihoods[some], lengths[some], whole[some]
    place = np.log2(np.maximum(lengths, 1))
    near = {length: np.abs(place - np.log2(length)) <= NEAR for length in LENGTHS}
    near = {length: them for length, them in near.items() if them.sum() >= FEW}
    if not near or whole.sum() < FEW:
        return None
    found = Usual(
        np.array(list(near), dtype=np.float64),
        np.array([likelihoods[them].mean() for them in near.values()]),
        np.array([max(likelihoods[them].std(), NARROW) for them in near.values()]),
        np.empty(0),
    )
    score = found.standardised(likelihoods[whole], lengths[whole])
    quantiles = np.quantile(score, np.arange(1, LEVELS) / LEVELS)
    return Usual(found.lengths, found.means, found.deviations, quantiles)
