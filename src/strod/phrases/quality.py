"""Which frequent chains are phrases: they hold together, and nothing is missing.

Significance compares how often two parts stand side by side with what chance would give:
(obs - exp) / √max(obs, exp), exp = f₁·f₂ / L. In a large text that is large for any two words
that have something to do with each other, so the strength of the bond, its normalised
pointwise mutual information, must reach a bound too. A chain is as weak as its weakest cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.phrases.mine import Level

    Array = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Phrase", "bonds", "phrases"]

COHESION = 0.3  # normalised pointwise mutual information of the weakest cut
WHOLE = 0.5  # share of a chain's count that a longer one may have


@dataclass(frozen=True)
class Phrase:
    """A phrase as it stands in the text.

    Attributes
    ----------
    words : tuple of int
        Content words, as numbers of the alphabet.
    links : tuple of int
        Keys of the links between them.
    count : int
        How often it stands in the text.
    significance, cohesion : float
        Of its weakest cut.
    """

    words: tuple[int, ...]
    links: tuple[int, ...]
    count: int
    significance: float
    cohesion: float


def bonds(
    levels: Sequence[Level], occurrences: Integers, total: float | None = None
) -> list[tuple[Array, Array]]:
    """Significance and cohesion of the weakest cut, for the chains of each level.

    `total` is L, the number of content words of the text, if not all of them are among
    `occurrences`.
    """
    total = float(occurrences.sum()) if total is None else total
    counts = [occurrences, *(level.counts for level in levels)]
    result = []
    for level in levels:
        observed = level.counts.astype(float)
        weakest = np.full((2, len(observed)), np.inf)
        begins, ends = _parts(levels, level, "left"), _parts(levels, level, "right")
        for cut in range(1, level.size):
            first = counts[cut - 1][begins[cut]]
            second = counts[level.size - cut - 1][ends[level.size - cut]]
            weakest = np.minimum(weakest, _bond(observed, first * second / total, total))
        result.append((weakest[0], weakest[1]))
    return result


def _bond(observed: Array, expected: Array, total: float) -> Array:
    significance = (observed - expected) / np.sqrt(np.maximum(observed, expected))
    information = -np.log(np.minimum(observed / total, 1 - 1e-12))
    return np.stack([significance, np.log(observed / expected) / information])


def _parts(levels: Sequence[Level], level: Level, side: str) -> dict[int, Integers]:
    """The first (or last) n words of every chain of a level, for each n, as numbers."""
    parts = {}
    numbers = np.arange(len(level.keys))
    for size in range(level.size, 1, -1):
        numbers = getattr(levels[size - 2], side)[numbers]
        parts[size - 1] = numbers
    return parts


def phrases(
    levels: Sequence[Level], occurrences: Integers, threshold: float, total: float | None = None
) -> list[Phrase]:
    """The chains that are phrases.

    Parameters
    ----------
    levels : sequence of Level
        Frequent chains.
    occurrences : ndarray of int64
        Of the words of the alphabet.
    threshold : float
        Least significance.
    total : float, optional
        Number of content words of the text, if more than these occurrences.
    """
    found: list[Phrase] = []
    strength = bonds(levels, occurrences, total)
    chains = _chains(levels)
    strong = [
        (significance >= threshold) & (cohesion >= COHESION) for significance, cohesion in strength
    ]
    for number, level in enumerate(levels):
        good = strong[number].copy()
        if number + 1 < len(levels):
            good &= ~_incomplete(level, levels[number + 1], strong[number + 1])
        words, links = chains[number]
        for chain in np.flatnonzero(good):
            significance, cohesion = (float(values[chain]) for values in strength[number])
            found.append(
                Phrase(
                    tuple(words[chain].tolist()),
                    tuple(links[chain].tolist()),
                    int(level.counts[chain]),
                    significance,
                    cohesion,
                )
            )
    return found


def _chains(levels: Sequence[Level]) -> list[tuple[Integers, Integers]]:
    """Content words and links of all chains, level by level."""
    result: list[tuple[Integers, Integers]] = []
    for level in levels:
        if not result:
            words, links = np.stack([level.left, level.right], axis=1), level.keys[:, None]
        else:
            before, linked = result[-1]
            words = np.hstack([before[level.left], before[level.right][:, -1:]])
            links = np.hstack([linked[level.left], linked[level.right][:, -1:]])
        result.append((words, links))
    return result


def _incomplete(level: Level, longer: Level, strong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Chains that stand inside one longer phrase more often than not."""
    most = np.zeros(len(level.keys), dtype=np.int64)
    for side in (longer.left, longer.right):
        np.maximum.at(most, side[strong], longer.counts[strong])
    result: NDArray[np.bool_] = most > WHOLE * level.counts
    return result
