"""What phrases a build looks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from strod.errors import UsageError

__all__ = ["PhraseOptions"]

FEWEST = 10  # occurrences of a phrase in a small corpus: what a significance of 3 takes
LONGEST = 10
SIGNIFICANT = 3.0
REACHED = 0.9  # of the largest significance that the rarest phrases can have


@dataclass(frozen=True)
class PhraseOptions:
    """What phrases a build looks for.

    Attributes
    ----------
    phrases : bool
        Whether to look for any; without, single words are ranked.
    phrase_min_count : int or "auto"
        How often a phrase has to stand in the corpus. ``auto`` grows with the root of the
        number of words: 10 up to eight million words, 16 for 22 million.
    phrase_threshold : float or "auto"
        Least significance. ``auto`` is 3, or less if the least count is 10 or below, where 3 is
        out of reach: n occurrences have a significance of √n at best.
    phrase_length : int
        Most words of a phrase, stop words inside not counted.
    """

    phrases: bool = True
    phrase_min_count: int | Literal["auto"] = "auto"
    phrase_threshold: float | Literal["auto"] = "auto"
    phrase_length: int = LONGEST

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        count, threshold = self.phrase_min_count, self.phrase_threshold
        if not isinstance(self.phrases, bool):
            raise UsageError(f"phrases must be True or False, not {self.phrases!r}")
        if count != "auto" and not _whole(count, 2, 2**62):
            raise UsageError(f"phrase_min_count: {count!r} is neither auto nor a number above 1")
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if threshold != "auto" and not (number and 0 <= threshold < math.inf):
            raise UsageError(f"phrase_threshold: {threshold!r} is neither auto nor a number from 0")
        if not _whole(self.phrase_length, 2, 100):
            raise UsageError(f"phrase_length: {self.phrase_length!r} is not a number from 2 to 100")

    def threshold(self, least: int) -> float:
        """Smallest significance, if phrases occur at least so often."""
        if self.phrase_threshold == "auto":
            return min(SIGNIFICANT, REACHED * math.sqrt(least))
        return self.phrase_threshold

    def least(self, tokens: int) -> int:
        """Smallest count of a phrase in a corpus of so many words."""
        if self.phrase_min_count == "auto":
            return max(FEWEST, math.isqrt(tokens) // 290)
        return self.phrase_min_count


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
