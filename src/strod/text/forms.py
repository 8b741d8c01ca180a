"""Values as people write them: dates, numbers and lists in other forms than JSON has."""

from __future__ import annotations

import datetime as dt
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["META_TYPES", "MetaField", "asked_form", "likely_forms", "likely_marks", "read_form"]

META_TYPES = ("auto", "date", "number", "category", "list")
_ENTRY = re.compile(r"(.+):(date|number|list):(.+)", re.DOTALL)
_GROUPED = {  # thousands may be apart; by decimal mark
    ",": re.compile(r"[+-]?(?:\d{1,3}(?:[. '\u2019\u00a0\u202f]\d{3})+|\d+)?(?:,\d+)?", re.ASCII),
    ".": re.compile(r"[+-]?(?:\d{1,3}(?:[, '\u2019\u00a0\u202f]\d{3})+|\d+)?(?:\.\d+)?", re.ASCII),
}
_NOT_DIGIT = re.compile(r"[^0-9+-]")
_TRIED = dt.datetime(1987, 11, 23)  # noqa: DTZ001 - a day without a place
_DATES = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y"),
    *("%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"),
)
_MARKS, MANY = "|;,", 0.1  # between members of a list; share of the values that have it
_LIKE_A_DATE = re.compile(r"[\d./: -]{6,16}|(?=.*\d)[\w ,]{8,20}")


class MetaField(NamedTuple):
    """A metadata field that is to be kept: its name, its type and how values are written.

    `form` is that of strptime for dates, the decimal mark for numbers, what stands between the
    members of a list; empty for values as JSON has them.
    """

    name: str
    kind: str = "auto"
    form: str = ""

    @classmethod
    def from_entry(cls, entry: str) -> MetaField:
        """NAME, NAME:TYPE or NAME:TYPE:FORM; what is neither belongs to the name.

        Examples
        --------
        >>> MetaField.from_entry("day:date:%d.%m.%Y")
        MetaField(name='day', kind='date', form='%d.%m.%Y')
        """
        name, colon, kind = entry.rpartition(":")
        if colon and name and kind in META_TYPES:
            return cls(name, kind)
        match = _ENTRY.fullmatch(entry)
        if match is not None and (match[2] != "date" or "%" in match[3]):
            return cls(match[1], match[2], match[3])
        return cls(entry)

    @property
    def entry(self) -> str:
        """The reverse of `from_entry`."""
        return ":".join([self.name, self.kind, *([self.form] if self.form else [])])

    @property
    def problem(self) -> str:
        """What is wrong with the form, if anything."""
        if self.kind == "number" and self.form and self.form not in _GROUPED:
            return f"{self.form} is no decimal mark; give , or ."
        if self.kind == "date" and self.form and not _has_year(self.form):
            return f"{self.form} is no form of dates with a year; write it as %d.%m.%Y"
        return ""


def _has_year(form: str) -> bool:
    found = _date(_TRIED.strftime(form), form)
    return found is not None and found.year == _TRIED.year


def _date(text: str, form: str) -> dt.date | None:
    try:
        return dt.datetime.strptime(text.strip(), form).date()  # noqa: DTZ007 - days have no zone
    except (ValueError, re.error):
        return None


def _number(text: str, mark: str) -> float | None:
    text = text.strip()
    if not text or _GROUPED[mark].fullmatch(text) is None or not text[-1].isdigit():
        return None
    whole, _, fraction = text.partition(mark)
    return float(f"{_NOT_DIGIT.sub('', whole)}.{fraction}")


def read_form(value: str, kind: str, form: str) -> Any:
    """What a text says that is written in some form, None if it is not."""
    if kind == "date":
        return _date(value, form)
    if kind == "number":
        return _number(value, form)
    return [member for one in value.split(form) if (member := one.strip())]


def likely_forms(values: Sequence[Any]) -> list[str]:
    """Types with forms that fit all of some values, though none of them is as JSON has it.

    Examples
    --------
    >>> likely_forms(["16.02.1999", "1.3.2000"]), likely_forms(["12,50", "7"])
    (['date:%d.%m.%Y'], ['number:,'])
    """
    if not values or not all(isinstance(value, str) for value in values):
        return []
    if all(_LIKE_A_DATE.fullmatch(value.strip()) for value in values):
        found = [f for f in _DATES if None not in map(partial(_date, form=f), values)]
        if found:
            return [f"date:{form}" for form in found]
    numbers = None not in map(partial(_number, mark=","), values)
    return ["number:,"] if numbers and any("," in value for value in values) else []


def likely_marks(texts: Sequence[str]) -> list[str]:
    """What may stand between the members of lists: the first mark that many of them have.

    Examples
    --------
    >>> likely_marks(["a|b", "c"]), likely_marks(["a, b; c", "d"]), likely_marks(["a"])
    (['|'], [';'], [])
    """
    found = (mark for mark in _MARKS if sum(mark in text for text in texts) >= MANY * len(texts))
    return list(islice(found, 1)) if texts else []


def asked_form(entry: str, names: Sequence[str]) -> str:
    """What is wrong with an entry that was taken for a name, if a type and a form were meant."""
    match = _ENTRY.fullmatch(entry)
    return MetaField(*match.groups()).problem if match is not None and match[1] in names else ""
