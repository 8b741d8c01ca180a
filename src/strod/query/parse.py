"""The language of queries: words, "phrases", AND, OR, NOT, parentheses, begin*, field:value.

::

    query   = side { OR side }
    side    = part { [AND] part }
    part    = [NOT | -] ( "(" query ")" | "words in a row" | word | begin* | field:value )

Words next to each other must all be there. Something written in one piece that is several words
(k-means) is a phrase. Nothing of what the user wrote is parsed by anybody else.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from strod.errors import UsageError
from strod.options import check_text
from strod.query.terms import Term, value_term

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strod.query.terms import Words

__all__ = ["All", "Either", "Field", "Not", "Query", "has_field", "parse", "terms_of"]

LONGEST, DEEPEST = 2_000, 50  # characters of a query, parentheses in parentheses

EMPTY = "the query is empty: give a word to look for"

_QUOTES = '"\u201c\u201d\u201e'
_DAY = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?", re.ASCII)
# A quotation mark after a backslash is an accent of LaTeX: Schr\"odinger.
_PIECE = re.compile(rf"(?:\\[{_QUOTES}](?=[A-Za-z{{])|[^\s(){_QUOTES}])+")
_FIELD = re.compile(r"([^:]+):(.*)", re.DOTALL)


@dataclass(frozen=True)
class Field:
    """A value of the field with this number, or the beginning of one: a year has days."""

    number: int
    term: str
    prefix: bool = False


@dataclass(frozen=True)
class Not:
    """What documents must not have."""

    part: Query


@dataclass(frozen=True)
class All:
    """Parts that documents must have, each of them."""

    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Either:
    """Parts of which documents must have one."""

    parts: tuple[Query, ...]


Query = Term | Field | Not | All | Either


class _Token(NamedTuple):
    """A piece of a query: ``( ) - AND OR NOT``, or what it holds."""

    kind: str
    text: str = ""


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        sign = text[place]
        if sign.isspace():
            place += 1
        elif sign in "()":
            yield _Token(sign)
            place += 1
        elif sign in _QUOTES:
            place, quoted = _quoted(text, place)
            yield _Token("phrase", quoted)
        elif sign == "-" and place + 1 < len(text) and not text[place + 1].isspace():
            yield _Token("NOT")
            place += 1
        else:
            place, token = _piece(text, place)
            yield token


def _quoted(text: str, place: int) -> tuple[int, str]:
    """Where the quotation that begins at `place` ends, and what is in it."""
    end = place + 1
    while end < len(text) and (text[end] not in _QUOTES or _is_accent(text, end)):
        end += 1
    if end == len(text):
        raise UsageError(f"the query has a quotation mark without a second one: {text[place:]!r}")
    return end + 1, text[place + 1 : end]


def _is_accent(text: str, place: int) -> bool:
    return text[place - 1] == "\\" and text[place + 1 : place + 2].isalpha()


def _piece(text: str, place: int) -> tuple[int, _Token]:
    """What is written in one piece: an operator, a word, or a field with its value."""
    found = _PIECE.match(text, place)
    piece, end = (found[0], found.end()) if found else (text[place], place + 1)
    if piece in ("AND", "OR", "NOT"):
        return end, _Token(piece)
    if piece.endswith(":") and end < len(text) and text[end] in _QUOTES:
        end, quoted = _quoted(text, end)
        return end, _Token("field", piece + quoted)
    return end, _Token("field" if _FIELD.fullmatch(piece) else "word", piece)


class _Parser:
    """One reading of one query."""

    def __init__(self, text: str, words: Words, fields: Mapping[str, str]) -> None:
        self._words, self._fields = words, fields
        self._tokens = [*_tokens(text), _Token("end")]
        self._place = self._depth = 0

    @property
    def _kind(self) -> str:
        return self._tokens[self._place].kind

    def _next(self) -> _Token:
        self._place += 1
        return self._tokens[self._place - 1]

    def run(self) -> Query:
        found = self._any()
        if self._kind == ")":
            raise UsageError("the query has a closing parenthesis without an opening one")
        if found is None:
            raise UsageError("the query has no word to look for")
        if isinstance(found, Not):
            raise UsageError("the query only says what documents must not have; give a word, too")
        return found

    def _any(self) -> Query | None:
        sides = [self._all()]
        while self._kind == "OR":
            self._operator()
            sides.append(self._all())
        parts = tuple(side for side in sides if side is not None)
        if len(parts) > 1 and any(isinstance(part, Not) for part in parts):
            raise UsageError("NOT takes away from what stands beside it, not from the sides of OR")
        return Either(parts) if len(parts) > 1 else next(iter(parts), None)

    def _all(self) -> Query | None:
        parts = [self._part()]
        while self._kind not in ("OR", ")", "end"):
            if self._kind == "AND":
                self._operator()
            parts.append(self._part())
        there = tuple(part for part in parts if part is not None)
        if len(there) > 1 and all(isinstance(part, Not) for part in there):
            return Not(Either(tuple(part.part for part in there if isinstance(part, Not))))
        return All(there) if len(there) > 1 else next(iter(there), None)

    def _operator(self) -> None:
        """Step over AND or OR; something must stand on both sides."""
        name = self._next().kind
        before = self._tokens[self._place - 2].kind if self._place > 1 else "("
        if before in ("(", "AND", "OR", "NOT") or self._kind in (")", "AND", "OR", "end"):
            raise UsageError(f"{name} needs something on both sides; for the word put it in quotes")

    def _part(self) -> Query | None:
        kind = self._kind
        if kind == "NOT":
            return self._not()
        if kind == "(":
            return self._group()
        if kind in ("AND", "OR"):
            self._operator()
        if kind in (")", "end"):
            raise UsageError(self._nothing(kind))
        token = self._next()
        if token.kind == "field":
            return self._field(token.text)
        return self._phrase(token.text) if token.kind == "phrase" else self._word(token.text)

    def _nothing(self, kind: str) -> str:
        """Why there is nothing to look for before a closing parenthesis or the end."""
        if kind == "end":
            return "the query ends where a word should be" if self._place else EMPTY
        if self._place and self._tokens[self._place - 1].kind == "(":
            return "there is nothing between the parentheses of the query"
        return "the query has a closing parenthesis without an opening one"

    def _not(self) -> Query | None:
        self._deeper()
        self._next()
        if self._kind in (")", "AND", "OR", "end"):
            raise UsageError("NOT needs something after it; for the word put it in quotes")
        part = self._part()
        self._depth -= 1
        if part is None:
            return None
        return part.part if isinstance(part, Not) else Not(part)

    def _group(self) -> Query | None:
        self._deeper()
        self._next()
        found = self._any()
        if self._kind != ")":
            raise UsageError("the query has an opening parenthesis without a closing one")
        self._next()
        self._depth -= 1
        return found

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UsageError(f"the query has more than {DEEPEST} parentheses in parentheses")

    def _phrase(self, text: str) -> Query | None:
        words = tuple(self._words.of(text))
        if not words and any(map(str.isalnum, text)):
            raise UsageError(
                f"{text!r} is no word: addresses, formulas, commands and encoded data are not "
                "looked for"
            )
        return Term(words) if words else None

    def _word(self, text: str) -> Query | None:
        if not text.endswith("*") or not any(map(str.isalnum, text)):
            return self._phrase(text)
        whole = self._phrase(text.rstrip("*"))
        if not isinstance(whole, Term) or len(whole.words) != 1:
            raise UsageError(f"{text!r}: * may follow the beginning of one word only")
        begin = Term((self._words.prefix(text.rstrip("*")),), prefix=True)
        stemmed = self._words.options.stem
        return Either((begin, whole)) if stemmed and begin.words != whole.words else begin

    def _field(self, text: str) -> Field:
        name, _, value = text.partition(":")
        known = list(self._fields)
        same = [one for one in known if one == name] or [
            one for one in known if one.casefold() == name.casefold()
        ]
        if not same:
            there = f"fields: {', '.join(known)}" if known else "the documents have none"
            raise UsageError(f"there is no field {name!r}; {there}; to look for : use quotes")
        if not value:
            raise UsageError(f"{name}: needs a value, as in {name}:value")
        kind = self._fields[same[0]]
        number, term = known.index(same[0]), value_term(_checked(name, kind, value))
        period = kind == "date" and len(value) < len("2015-03-07")
        return Field(number, f"{term}-", prefix=True) if period else Field(number, term)


def _checked(name: str, kind: str, value: str) -> str:
    """A value as those of its type are written."""
    if kind == "number":
        try:
            return repr(float(value) + 0.0)  # -0.0 is 0.0
        except ValueError:
            raise UsageError(f"{name} has numbers: {value!r} is none") from None
    if kind == "date" and not _DAY.fullmatch(value):
        raise UsageError(f"{name} has dates: write 2015, 2015-03 or 2015-03-07, not {value!r}")
    return value


def parse(text: str, words: Words, fields: Mapping[str, str]) -> Query:
    """What a query asks for.

    Parameters
    ----------
    text : str
        As the user wrote it.
    words : Words
        How words are found and folded.
    fields : mapping of str
        Metadata fields and their types.
    """
    check_text("the query", text, LONGEST)
    control = [one for one in text if unicodedata.category(one) == "Cc" and not one.isspace()]
    if control:
        raise UsageError(f"the query has a control character, {ord(control[0]):#04x}")
    return _Parser(text, words, fields).run()


def has_field(query: Query) -> bool:
    """Whether a query asks for values of metadata."""
    if isinstance(query, All | Either):
        return any(map(has_field, query.parts))
    return has_field(query.part) if isinstance(query, Not) else isinstance(query, Field)


def terms_of(query: Query) -> Iterator[Term]:
    """The words that documents are found by."""
    if isinstance(query, Term):
        yield query
    elif isinstance(query, All | Either):
        for part in query.parts:
            yield from terms_of(part)
