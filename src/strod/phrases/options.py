"""What phrases a build looks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from strod.errors import UsageError

__all__ = ["PhraseOptions"]

FEWEST = 5  # occurrences of a phrase in a small corpus
LONGEST = 10


@dataclass(frozen=True)
class PhraseOptions:
    """What phrases a build looks for.

    Attributes
    ----------
    phrases : bool
        Whether to look for any; without, single words are ranked.
    phrase_min_count : int or "auto"
        How often a phrase has to stand in the corpus. ``auto`` grows with the root of the
        number of words: 5 up to two million words, 16 for 22 million.
    phrase_threshold : float
        Least significance.
    phrase_length : int
        Most words of a phrase, stop words inside not counted.
    """

    phrases: bool = True
    phrase_min_count: int | Literal["auto"] = "auto"
    phrase_threshold: float = 3.0
    phrase_length: int = LONGEST

    def __post_init__(self) -> None:
        count = self.phrase_min_count
        if count != "auto" and not (isinstance(count, int) and count >= 2):  # noqa: PLR2004
            raise UsageError(f"phrase_min_count: {count!r} is neither auto nor a number above 1")
        if not (math.isfinite(self.phrase_threshold) and self.phrase_threshold >= 0):
            raise UsageError(f"phrase_threshold: {self.phrase_threshold} is not 0 or more")
        if not 2 <= self.phrase_length <= 100:  # noqa: PLR2004
            raise UsageError(f"phrase_length: {self.phrase_length} is not between 2 and 100")

    def least(self, tokens: int) -> int:
        """Smallest count of a phrase in a corpus of so many words."""
        if self.phrase_min_count == "auto":
            return max(FEWEST, math.isqrt(tokens) // 290)
        return self.phrase_min_count
