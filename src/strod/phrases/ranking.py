"""Which phrases stand for a topic, in which order.

The score of a unit is p·log(p / √(q·r)), the pointwise Kullback-Leibler divergence of its share
p in the topic from those in the parent, q, and in the corpus, r: popular here, less so above.
More words say more, so phrases get a bonus. As with the words of a topic, what goes together
comes first. Then the list is drawn one by one; each word that is in the list already halves
what it adds, so that near-duplicates do not crowd it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.tree.top_words import affinity
from strod.values.words import NOTHING, thinning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["CANDIDATES", "LISTED", "Candidates", "candidates", "drawn", "popular"]

CANDIDATES = 60
LISTED = 20
TONED = 5e-4  # relative frequency from which units are toned down, as in learning
BONUS = 2.0  # for each further content word, and more
DEEPER = 0.75  # on each level: what is special has longer names
MOST = 4.0
TELLING = 3  # content words; more say no more
AGAIN = 0.5  # what a word still adds that was there before
HALF = 0.5  # how far a single word uses itself up
SEEN = 3.0  # least expected count of a listed unit
TOGETHER = 4.0  # what affinity is worth


class Candidates(NamedTuple):
    """The units of a topic, the best first: their numbers and scores."""

    units: NDArray[np.int64]
    scores: Array

    @property
    def best(self) -> Candidates:
        """As many as may be drawn for its list."""
        return Candidates(self.units[:CANDIDATES], self.scores[:CANDIDATES])


def candidates(
    topic: Array, parent: Array, root: Array, lengths: NDArray[np.int64], level: int
) -> Candidates:
    """All units that say something of a topic, the best first.

    From the counts c(P, t) of a topic and those above; `lengths` are the numbers of content
    words, and a unit of length 0 is not listed.
    """
    tone = np.sqrt(thinning(root, TONED))
    p, q, r = (_normal(counts * tone) for counts in (topic, parent, root))
    tiny = np.finfo(float).tiny
    with np.errstate(under="ignore"):
        divergence = p * (np.log(p + tiny) - (np.log(q + tiny) + np.log(r + tiny)) / 2)
    score = divergence * _bonus(lengths, level)
    score[(topic < SEEN) | (lengths == 0)] = 0
    if score.max(initial=0) < NOTHING:  # a topic that is all there is: what is popular in it
        return popular(np.where(topic < SEEN, 0, topic), lengths)
    return _best(score)


def popular(counts: Array, lengths: NDArray[np.int64]) -> Candidates:
    """The units of the root: those that stand in the corpus most often."""
    score = _normal(counts * np.sqrt(thinning(counts, TONED))) * _bonus(lengths, 0)
    return _best(np.where(lengths > 0, score, 0))


def _bonus(lengths: NDArray[np.int64], level: int) -> Array:
    """What a unit gets for its words, up to the third."""
    each = min(BONUS + DEEPER * level, MOST)
    result: Array = 1 + each * (np.clip(lengths, 1, TELLING).astype(np.float64) - 1)
    return result


def _best(score: Array) -> Candidates:
    there = np.flatnonzero(score > 0)
    best = there[np.argsort(-score[there], kind="stable")]
    return Candidates(best, score[best])


def _normal(values: Array) -> Array:
    return values / max(float(values.sum()), np.finfo(float).tiny)


def drawn(
    found: Candidates, pairs: Array, documents: int, words: Sequence[Sequence[int]]
) -> list[tuple[int, float]]:
    """The list of a topic: units and what they add, falling.

    Parameters
    ----------
    found : Candidates
        The best units.
    pairs : ndarray
        In how many documents two of them stand.
    documents : int
        How many there are.
    words : sequence of sequences of int
        Content words of each candidate, in the singular.
    """
    share = _normal(found.scores)
    mean = affinity(pairs, documents) @ share / np.maximum(1 - share, 0.1)
    score = found.scores * np.exp(TOGETHER * mean)
    used: dict[int, float] = {}
    left = list(range(len(score)))
    result: list[tuple[int, float]] = []
    while left and len(result) < LISTED:
        worth = [score[c] * _new(words[c], used) for c in left]
        place = int(np.argmax(worth))
        chosen = left.pop(place)
        result.append((int(found.units[chosen]), float(worth[place])))
        for word in words[chosen]:
            # A phrase still adds to its word, a word hardly to its phrase.
            used[word] = used.get(word, 0.0) + (1.0 if len(words[chosen]) > 1 else HALF)
    return result


def _new(words: Sequence[int], used: dict[int, float]) -> float:
    """How much of a unit is not in the list already; one new word is worth half of it."""
    fresh: list[float] = [AGAIN ** used.get(word, 0.0) for word in words]
    return (sum(fresh) / len(fresh) + max(fresh)) / 2
