"""The place of a text that shows best why a query found it."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import regex

from strod.text.tokenizers import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strod.query.terms import Term, Terms

__all__ = ["snippet"]

WIDTH = 180  # characters
ELLIPSIS = "…"
_SLACK = 15  # characters that a border may move to stand between words
# As in `text/reference.py`, but for what it leaves out: an address is marked, too.
_ACCENT = r"\{?\\[\"'`^~=.](?:\{[A-Za-z]\}|[A-Za-z])\}?"


def _quick(word: str, letter: str) -> re.Pattern[str]:
    """Words of a text of plain characters, by classes that `re` knows."""
    accented = rf"{_ACCENT}{word}*+"
    more = rf"(?=['\u2019\\{{])(?:{accented}|(?<={letter})['\u2019](?={letter}){word}++)"
    return re.compile(rf"((?:{word}++|(?=[\\{{]){accented})(?:{more})*+)")


# Several times as fast as `_WORD`, with the same outcome where nothing combines.
_ASCII, _LATIN = _quick("[A-Za-z0-9]", "[A-Za-z]"), _quick(r"[^\W_]", r"[^\W\d_]")
_IS_LATIN = re.compile(r"[\0-\xac\xae-\xb1\xb4-\xb8\xba\xbb\xbf-\u02ff\u2010-\u2027]*+")
_WORD = regex.compile(
    r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{M}ー々]*"
    rf"|(?:[\p{{L}}\p{{N}}]|{_ACCENT})"
    rf"(?:[\p{{L}}\p{{N}}\p{{M}}\u00ad\u200c\u200d\u2060]|{_ACCENT}"
    r"|(?<=[\p{L}\p{M}])['\u2019\uff07](?=\p{L}))*)"
)
_WHITE, _UNEVEN = re.compile(r"\s+"), re.compile(r"[^\S ]|\s\s")


class _Span(NamedTuple):
    """Where something stands, in a text or among its words, and what it is."""

    start: int
    end: int
    what: str


def snippet(text: str, terms: Terms, width: int = WIDTH) -> list[tuple[str, bool]]:
    """The best window of a text, in pieces: what is written, and whether it is a match.

    The window with the most different terms is best, then that with the most matches, then the
    first. White space becomes a single space. Characters that a terminal obeys are still there.

    Parameters
    ----------
    text : str
        Of a document.
    terms : Terms
        Of a query: see `TextIndex.matched_terms`.
    width : int
        Characters, about.

    Examples
    --------
    >>> snippet("On federated learning.", index.matched_terms("learning"))  # doctest: +SKIP
    [('On federated ', False), ('learning', True), ('.', False)]
    """
    matches = _matches(text, terms)
    begin, end = _window(text, matches, width)
    pieces: list[tuple[str, bool]] = [(ELLIPSIS, False)] if begin > 0 else []
    place = begin
    for start, stop in _merged(matches):
        if start >= begin and stop <= end:
            pieces += [(text[place:start], False), (text[start:stop], True)]
            place = stop
    pieces += [(text[place:end], False), (ELLIPSIS if end < len(text) else "", False)]
    if _UNEVEN.search(text, begin, end):
        pieces = [(_WHITE.sub(" ", piece), marked) for piece, marked in pieces]
    return _joined(pieces)


def _joined(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Pieces without empty ones, and without two in a row that are no match."""
    found: list[tuple[str, bool]] = []
    for piece, marked in pieces:
        if found and not marked and not found[-1][1]:
            found[-1] = (found[-1][0] + piece, False)
        elif piece:
            found.append((piece, marked))
    return found


def _matches(text: str, terms: Terms) -> list[_Span]:
    """Where terms stand in a text, in order; parts of phrases if no whole one is there."""
    # Words of a text; characters of scripts without spaces one by one.
    parts = _pattern(text).split(text)  # what is between words, a word, what is between, …
    words = list(map(terms.fold, parts[1::2]))
    found = [one for term in terms.terms for one in _occurrences(words, term)]
    if not found and any(len(term.words) > 1 for term in terms.terms):
        single = {word for term in terms.terms for word in term.words}
        found = [_Span(i, i + 1, word) for i, word in enumerate(words) if word in single]
    if not found:
        return []
    ends = list(accumulate(map(len, parts)))
    return sorted(_Span(ends[2 * a], ends[2 * b - 1], what) for a, b, what in found)


def _pattern(text: str) -> Any:
    """What finds the words of a text."""
    if text.isascii():
        return _ASCII
    return _LATIN if _IS_LATIN.fullmatch(text) else _WORD


def _occurrences(words: list[str], term: Term) -> Iterator[_Span]:
    """Which words a term is, by their numbers; `what` names it."""
    units, name = _units(term), " ".join(term.words)
    if term.prefix:
        places = (i for i, word in enumerate(words) if word.startswith(name))
        yield from (_Span(i, i + 1, name) for i in places)
        return
    size = len(units)
    for i in _places(words, units[0]):
        if size == 1 or words[i : i + size] == units:
            yield _Span(i, i + size, name)


def _places(words: list[str], wanted: str) -> Iterator[int]:
    """Where a word stands."""
    place = -1
    with suppress(ValueError):
        while True:
            place = words.index(wanted, place + 1)
            yield place


def _units(term: Term) -> list[str]:
    """Words of a term, overlapping pairs of characters as the characters they are of."""
    units: list[str] = []
    for word in term.words:
        characters = _WORD.findall(word) if not word.isascii() else [word]
        if len(characters) > 1 and all(map(is_unspaced, characters)):
            units += characters[1:] if units[-1:] == characters[:1] else characters
        else:
            units.append(word)
    return units


def _window(text: str, matches: list[_Span], width: int) -> tuple[int, int]:
    """Begin and end of the best window."""
    best, chosen = (0, 0), (0, 0)
    last = 0
    for i, first in enumerate(matches):
        last = max(last, i)
        while last + 1 < len(matches) and matches[last + 1].end - first.start <= width:
            last += 1
        inside = matches[i : last + 1]
        score = len({one.what for one in inside}), len(inside)
        if score > best:
            best, chosen = score, (first.start, max(one.end for one in inside))
    return _widened(text, *chosen, width)


def _widened(text: str, begin: int, end: int, width: int) -> tuple[int, int]:
    """A window of the full width around what must be in it, with whole words at its borders."""
    spare = max(width - (end - begin), 0)
    left = max(0, begin - spare // 2)
    right = min(len(text), left + max(width, end - begin))
    left = max(0, min(left, right - width))
    return _border(text, left, begin, 1), _border(text, right, end, -1)


def _border(text: str, place: int, limit: int, step: int) -> int:
    """The nearest place between words on the way to `limit`; `place` itself if none is near."""
    if place in (0, len(text)):
        return place
    for moved in range(place, place + step * _SLACK, step):
        if (moved - limit) * step > 0:
            break
        if text[moved - 1 if step > 0 else moved].isspace():
            return moved
    return place if (place - limit) * step <= 0 else limit


def _merged(matches: list[_Span]) -> Iterator[tuple[int, int]]:
    """Stretches that some match covers, in order."""
    begin, end = -1, -1
    for match in matches:
        if match.start > end:
            if end > begin:
                yield begin, end
            begin, end = match.start, match.end
        end = max(end, match.end)
    if end > begin:
        yield begin, end
