"""How authors write a phrase: its casing and what stands between its words."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Speller"]

_BETWEEN = r"[\W_]{1,4}?"
_NOTHING = r"[\W_]{0,4}?"  # scripts without spaces
_JOINS = {"-", "\u2010", "\u2013", "/", "'", "\u2019", ""}
_INITIAL = re.compile(r"([^\W\d_])[^\W\d_]{3,}")
CLEAR = 0.65  # share of one form
SURE = 3  # places that tell the casing of a word
_AROUND = 60  # characters on either side that show whether a text writes Like This
_SENTENCE_END = ".!?:;\n\"'(\u201c\u2018"


class Speller:
    """Collects how a phrase is written.

    A capital says something about a word only where others are small: not in a title that
    capitalises every word, and not at the beginning of a sentence.

    Parameters
    ----------
    words : sequence of str
        Folded words of the phrase, stop words too.
    stemmed : bool
        Whether they are stems, of which texts have longer forms.
    """

    def __init__(self, words: Sequence[str], *, stemmed: bool = False) -> None:
        self._words = words
        rest = r"\w*" if stemmed else ""
        between = _BETWEEN if all(word.isascii() for word in words) else _NOTHING
        inner = between.join(f"({re.escape(word)}{rest})" for word in words)
        self._pattern = re.compile(rf"(?<!\w){inner}(?!\w)", re.IGNORECASE)
        self._telling = [Counter[str]() for _ in words]
        self._others = [Counter[str]() for _ in words]
        self._joins: Counter[tuple[str, ...]] = Counter()

    def read(self, text: str, small: str) -> None:
        """Look at the first place where the phrase stands in a text, and in `small` letters."""
        match = self._found(text, small)
        if match is None:
            return
        title = _is_title(
            text[max(0, match.start() - _AROUND) : match.start()]
            + " "
            + text[match.end() : match.end() + _AROUND]
        )
        first = match.start() == 0 or text[: match.start()].rstrip()[-1:] in _SENTENCE_END
        for place, word in enumerate(match.groups()):
            tells = not title and not (place == 0 and first)
            (self._telling if tells else self._others)[place][word] += 1
        spans = [match.span(place + 1) for place in range(len(self._words))]
        between = [text[a[1] : b[0]] for a, b in pairwise(spans)]
        self._joins[tuple(join if join in _JOINS else " " for join in between)] += 1

    def _found(self, text: str, small: str) -> re.Match[str] | None:
        """The first place of the phrase, or the first in plain letters.

        A pattern that heeds no case tries every letter of a text: a word is found sooner.
        """
        first = self._words[0]
        place = small.find(first) if len(small) == len(text) else -1
        while place >= 0:
            match = self._pattern.match(text, place)
            if match is not None:
                return match
            place = small.find(first, place + 1)
        # Some letters are folded otherwise: a final sigma, or \u017f, which is an s.
        return None if text.isascii() else self._pattern.search(text)

    def written(self, otherwise: Sequence[str]) -> str:
        """The commonest way; `otherwise` has the words as they are written elsewhere."""
        forms = [
            _form(telling, others) or form
            for telling, others, form in zip(self._telling, self._others, otherwise, strict=True)
        ]
        joins = _commonest_joins(self._joins, len(forms) - 1)
        return forms[0] + "".join(join + form for join, form in zip(joins, forms[1:], strict=True))


def _is_title(around: str) -> bool:
    """Whether a text capitalises every word, or has no others that would show."""
    initials = _INITIAL.findall(around)
    return not initials or 2 * sum(map(str.isupper, initials)) > len(initials)


def _form(telling: Counter[str], others: Counter[str]) -> str:
    """The commonest form where it tells; small letters if there is doubt and they occur."""
    best = _commonest(telling)
    if telling[best] >= max(SURE, CLEAR * telling.total()):
        return best
    everywhere = telling + others
    small = Counter({form: n for form, n in everywhere.items() if form == form.lower()})
    return _commonest(small) or _commonest(everywhere)


def _commonest(forms: Counter[str]) -> str:
    """Ties go to small letters: they sort last."""
    return max(forms, key=lambda form: (forms[form], form), default="")


def _commonest_joins(joins: Counter[tuple[str, ...]], number: int) -> tuple[str, ...]:
    return max(joins, key=lambda join: (joins[join], join), default=(" ",) * number)
