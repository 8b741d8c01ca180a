"""Which documents are meant: a small language of comparisons over metadata.

::

    year >= 2015 AND (category = 'cs.LG' OR authors IN ('A. Turing', 'K. Gödel'))
    NOT price < 10        date >= 2015-03        venue IS NOT NULL

Comparisons with a missing value are neither true nor false, as in SQL, and what is not true is
left out. A date may be a year, a month or a day; a list has a value if one of its members is it.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from strod.corpus.layout import EPOCH
from strod.errors import UsageError
from strod.query.fields import Field, find_field
from strod.query.truth import Truth, between, has_member, is_text, ordered, present

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from strod.query.fields import Metadata

    Test = Callable[[Metadata], Truth]

__all__ = ["documents_where", "parse_where"]

LONGEST, DEEPEST = 10_000, 50  # characters, parentheses in parentheses

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
          |(?P<sign><=|>=|<>|!=|==|=|<|>)
          |(?P<mark>[(),])
          |(?P<word>[^\s'"()<>=!,]+))""",
    re.VERBOSE,
)
_SIGNS = {"==": "=", "<>": "!="}
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_ADVICE = "write FIELD = VALUE, <, <=, >, >=, !=, IN (…), IS NULL, with AND, OR, NOT"


@dataclass(frozen=True)
class _Token:
    kind: str  # text, sign, mark, word; end
    text: str

    def says(self, *words: str) -> bool:
        """Whether it is one of some keywords or signs."""
        return self.kind != "text" and self.text.upper() in words


def parse_where(text: str, meta: Mapping[str, str]) -> Test:
    """A test of documents; what makes no sense is refused, with what there is.

    Parameters
    ----------
    text : str
        The expression.
    meta : mapping of str
        Kinds by field.
    """
    if len(text) > LONGEST:
        raise UsageError(f"`where` has {len(text):,} characters; {LONGEST:,} are the most")
    return _Parser(text, meta).run()


def documents_where(text: str | None, metadata: Metadata) -> NDArray[np.bool_] | None:
    """Whether each document is meant; None if nothing is asked."""
    if text is None:
        return None
    return parse_where(text, metadata.kinds)(metadata).yes


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while text[place:].strip():
        token = _TOKEN.match(text, place)
        if token is None:
            rest = text[place:].strip()
            what = "a quote is not closed" if rest[0] in "'\"" else f"{rest[0]!r} makes no sense"
            raise UsageError(f"`where`: {what} at {rest[:30]!r}; {_ADVICE}")
        kind = str(token.lastgroup)
        found.append(_Token(kind, _unquoted(kind, token[kind])))
        place = token.end()
    return [*found, _Token("end", "")]


def _unquoted(kind: str, text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0]) if kind == "text" else text


class _Parser:
    """Recursive descent: OR binds least, then AND, then NOT."""

    def __init__(self, text: str, meta: Mapping[str, str]) -> None:
        self._tokens, self._place, self._depth = _tokens(text), 0, 0
        self._meta = meta

    def run(self) -> Test:
        if self._now.kind == "end":
            raise UsageError(f"`where` is empty; {_ADVICE}")
        test = self._either()
        if self._now.kind != "end":
            raise self._wrong("AND, OR or the end")
        return test

    @property
    def _now(self) -> _Token:
        return self._tokens[self._place]

    def _next(self) -> _Token:
        token = self._now
        self._place += token.kind != "end"
        return token

    def _took(self, *words: str) -> bool:
        """Whether the next token is one of these; then it is passed."""
        found = self._now.says(*words)
        self._place += found
        return found

    def _wrong(self, wanted: str) -> UsageError:
        found = repr(self._now.text) if self._now.kind != "end" else "the end"
        return UsageError(f"`where`: {found} where {wanted} should be; {_ADVICE}")

    def _either(self) -> Test:
        tests = [self._both()]
        while self._took("OR"):
            tests.append(self._both())
        return _combined(Truth.__or__, tests)

    def _both(self) -> Test:
        tests = [self._negated()]
        while self._took("AND"):
            tests.append(self._negated())
        return _combined(Truth.__and__, tests)

    def _negated(self) -> Test:
        odd = False
        while self._took("NOT"):
            odd = not odd
        test = self._grouped()
        return _negation(test) if odd else test

    def _grouped(self) -> Test:
        if not self._took("("):
            return self._comparison()
        self._depth += 1
        if self._depth > DEEPEST:
            raise UsageError(f"`where`: more than {DEEPEST} parentheses in each other")
        test = self._either()
        if not self._took(")"):
            raise self._wrong("a closing parenthesis")
        self._depth -= 1
        return test

    def _comparison(self) -> Test:
        if self._now.kind not in ("word", "text") or self._now.says("AND", "OR", "IN", "IS"):
            raise self._wrong("a field")
        name = self._next().text
        if self._now.says("("):
            raise UsageError(f"`where`: {name}(…): there are no functions; {_ADVICE}")
        field = _field(name, self._meta)
        if self._took("IS"):
            absent = not self._took("NOT")
            if not self._took("NULL"):
                raise self._wrong("NULL")
            return _missing(field, absent=absent)
        if self._now.says("NOT", "IN"):
            return self._one_of(field)
        if self._now.kind != "sign":
            raise self._wrong("a comparison")
        sign = self._next().text
        return _compared(field, _SIGNS.get(sign, sign), self._value())

    def _one_of(self, field: Field) -> Test:
        inside = not self._took("NOT")
        if not self._took("IN"):
            raise self._wrong("IN")
        if not self._took("("):
            raise self._wrong("a parenthesis with values")
        values = [self._value()]
        while self._took(","):
            values.append(self._value())
        if not self._took(")"):
            raise self._wrong("a comma or a closing parenthesis")
        test = _among(field, values)
        return test if inside else _negation(test)

    def _value(self) -> str:
        if self._now.kind not in ("word", "text") or self._now.says("AND", "OR", "NOT", "NULL"):
            hint = "; for missing values say IS NULL" if self._now.says("NULL") else ""
            raise self._wrong("a value") if not hint else UsageError(f"`where`: = NULL{hint}")
        return self._next().text


def _field(name: str, meta: Mapping[str, str]) -> Field:
    return Field("id", "category") if name == "id" and "id" not in meta else find_field(name, meta)


def _combined(how: Callable[[Truth, Truth], Truth], tests: Sequence[Test]) -> Test:
    """Tests one after another, however many: none calls the next."""
    if len(tests) == 1:
        return tests[0]
    return lambda metadata: reduce(how, (test(metadata) for test in tests))


def _negation(test: Test) -> Test:
    return lambda metadata: ~test(metadata)


def _missing(field: Field, *, absent: bool) -> Test:
    def test(metadata: Metadata) -> Truth:
        there = present(metadata.column(field.name), empty=False)
        return Truth(~there, there) if absent else Truth(there, ~there)

    return test


def _compared(field: Field, sign: str, value: str) -> Test:
    """Compare a field with a value, which must be of its kind."""
    if field.kind in ("date", "number"):
        first, last = _range(field, value)
        return lambda metadata: ordered(_numbers(field, metadata), sign, first, last)
    if sign not in ("=", "!="):
        what = "a list" if field.kind == "list" else "text"
        raise UsageError(
            f"`where`: {field.name} is {what}, which {sign} does not compare; "
            "use =, !=, IN or IS NULL"
        )
    test = _among(field, [value])
    return test if sign == "=" else _negation(test)


def _among(field: Field, values: Sequence[str]) -> Test:
    """Whether a field has one of some values: one look at the column, however many there are."""
    if field.kind in ("date", "number"):
        ranges = [_range(field, value) for value in values]
        return lambda metadata: between(_numbers(field, metadata), ranges)
    has = has_member if field.kind == "list" else is_text
    return lambda metadata: has(metadata.column(field.name), values)


def _numbers(field: Field, metadata: Metadata) -> pa.Array:
    """The numbers, days or years of a field."""
    column = metadata.column(field.name)
    return pc.year(column) if field.part else column


def _range(field: Field, value: str) -> tuple[float, float]:
    """All that a value of a number or date means: a month is its days."""
    if field.kind == "number" or field.part:
        wanted = _year(field, value) if field.part else _number(field.name, value)
        return wanted, wanted
    first, last = ((day - EPOCH).days for day in _days(field.name, value))
    return first, last


def _number(field: str, value: str) -> float:
    try:
        return float(value.replace("_", "x"))
    except ValueError:
        raise UsageError(f"`where`: {field} is a number, {value!r} is none") from None


def _year(field: Field, value: str) -> float:
    if field.part != "year":
        raise UsageError(
            f"`where`: compare {field.name} itself, as in {field.name} >= 2015-03; only year may "
            "stand alone"
        )
    return _number("year", value)


def _days(field: str, value: str) -> tuple[dt.date, dt.date]:
    """First and last day of a year, a month or a day."""
    match = _DATE.fullmatch(value)
    if match is not None:
        with suppress(ValueError):
            year, month, day = (int(part or 0) for part in match.groups())
            first = dt.date(year, month or 1, day or 1)
            end = day or calendar.monthrange(year, month or 12)[1]
            return first, dt.date(year, month or 12, end)
    raise UsageError(
        f"`where`: {field} is a date, {value!r} is none; write 2015, 2015-03 or 2015-03-01"
    )
