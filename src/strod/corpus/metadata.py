"""Metadata fields: what type each one is, and its values as an Arrow column.

The type of a field is known only when all values have been seen, so values are set
aside as JSON and cast at the end.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from strod.text.forms import read_form

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Misfits",
    "arrow_type",
    "column",
    "decode",
    "encode",
    "encode_value",
    "field_type",
    "fits",
    "kind",
    "nearly",
]

NULL, NUMBER, NUMERAL, DATE, CATEGORY, LIST = (
    "null",
    "number",
    "numeral",
    "date",
    "category",
    "list",
)

_NUMERAL = re.compile(r"\s*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*")
_DATE = re.compile(
    r"(?!0000)(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?:[T ]\d{2}:\d{2}.*)?)?"
)
_ARROW = {
    "number": pa.float64(),
    "date": pa.date32(),
    "category": pa.string(),
    "list": pa.list_(pa.string()),
}


def arrow_type(kind: str) -> pa.DataType:
    """Type of the column that holds the values of a field."""
    return _ARROW[kind]


def kind(value: Any) -> str:  # noqa: PLR0911
    """What a single value looks like."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NULL
    if type(value).__name__ in ("NAType", "NaTType"):  # how pandas says None
        return NULL
    if isinstance(value, bool):
        return CATEGORY
    if isinstance(value, int | float | decimal.Decimal):
        return NUMBER
    if isinstance(value, dt.date):  # datetime is one too
        return DATE
    if isinstance(value, list | tuple):
        return LIST
    if isinstance(value, str):
        return _kind_of_text(value)
    return CATEGORY


def _kind_of_text(value: str) -> str:
    if not value:
        return NULL
    if _DATE.fullmatch(value):
        return DATE
    if _NUMERAL.fullmatch(value) and math.isfinite(float(value)):
        return NUMERAL
    return CATEGORY


def field_type(kinds: Iterable[str]) -> str:
    """Type of a field whose values have these kinds.

    Examples
    --------
    >>> field_type({"null", "number"}), field_type({"date", "category"})
    ('number', 'category')
    """
    seen = set(kinds) - {NULL}
    if LIST in seen:
        return "list"
    if seen and seen <= {NUMBER, NUMERAL}:
        return "number"
    return "date" if seen == {DATE} else "category"


def encode(values: tuple[Any, ...]) -> bytes:
    """Values of one document as JSON; what JSON cannot hold becomes text."""
    try:
        return _dump(values)
    except TypeError:
        return b"[%b]" % b",".join(map(encode_value, values))


def encode_value(value: Any) -> bytes:
    """A single value as JSON."""
    try:
        return _dump(value)
    except TypeError:
        return _dump(_text_of(value))


def _dump(value: Any) -> bytes:
    return orjson.dumps(
        value, default=_plain, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    )


def _plain(value: Any) -> Any:
    """What orjson does not know: lists of numpy as lists, the rest as text."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _text_of(value: Any) -> str | None:
    """The text of what is too large, nested too deeply or no Unicode."""
    with suppress(RecursionError):
        return str(value).encode(errors="replace").decode()
    return None  # nested too deeply even for that


def decode(data: bytes) -> list[Any]:
    """The reverse of `encode`."""
    values: list[Any] = orjson.loads(data)
    return values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _date(value: Any) -> dt.date | None:
    match = _DATE.fullmatch(str(value))
    if match is None:
        return None
    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return None


def _cast(value: Any, name: str, form: str = "") -> Any:
    """The value as its field's type, None if it has none."""
    what = kind(value)
    if what == NULL:
        return None
    whole = name == "date" and isinstance(value, int) and what == NUMBER  # such as 19990216
    if form and (whole or isinstance(value, str)):
        return read_form(str(value), name, form)
    if name == "list":
        items = value if what == LIST else [value]
        return [_text(item) for item in items if kind(item) != NULL]
    if name == "number":
        return float(value) if what in (NUMBER, NUMERAL) else None
    if name == "date":
        return _date(value) or _date(f"{value}-01")  # a bare year will do if dates are asked for
    return _text(value)


def fits(value: Any, name: str, form: str = "") -> bool:
    """Whether a value is of a type, and written in its form."""
    return _cast(value, name, form) is not None


def _plain_column(values: list[Any], name: str) -> pa.Array | None:  # noqa: PLR0911
    """The column if all values are as the type has them; None if one needs a closer look."""
    types = set(map(type, values))
    if name == "number" and bool in types:  # to Arrow a truth value is a number
        return None
    if name == "list" and str in types:  # and a string is a list of letters
        return None
    try:
        if name == "date":
            array = pa.array(values, type=pa.string()).cast(pa.date32())
            return array if all(map(_DATE.fullmatch, filter(None, values))) else None
        array = pa.array(values, type=_ARROW[name])
    except pa.ArrowException:
        return None
    if name == "category":
        return array if not pc.any(pc.equal(array, "")).as_py() else None
    if name == "number":
        return array if pc.all(pc.is_finite(array)).as_py() is not False else None
    flat = array.flatten()
    return array if not flat.null_count and not pc.any(pc.equal(flat, "")).as_py() else None


MOSTLY = 0.5  # share of the values, from which on they are meant to be of a type


def nearly(texts: pa.ChunkedArray) -> tuple[str, Misfits] | None:
    """The type that most values of a field are of which is kept as text, and those that are not.

    Examples
    --------
    >>> nearly(pa.chunked_array([["2024-01-31", "2024-02-01", "soon"]]))
    ('date', Misfits(number=1, example='soon'))
    """
    counts = pc.value_counts(texts.drop_null()).to_pylist()
    size = sum(one["counts"] for one in counts)
    for name in ("date", "number"):
        others = [one for one in counts if not fits(one["values"], name)]
        number = sum(one["counts"] for one in others)
        if others and number < MOSTLY * size:
            return name, Misfits(number, others[0]["values"])
    return None


class Misfits(NamedTuple):
    """How many values are not of their field's type, and the first of them."""

    number: int = 0
    example: Any = None

    def joined(self, other: Misfits) -> Misfits:
        """With those of later documents."""
        return Misfits(self.number + other.number, self.example if self.number else other.example)


def column(values: list[Any], name: str, form: str = "") -> tuple[pa.Array, Misfits]:
    """An Arrow column of the type `name`, and what does not fit it."""
    plain = None if form else _plain_column(values, name)
    if plain is not None:
        return plain, Misfits()
    cast = _cast_all(values, name, form)
    pairs = zip(cast, values, strict=True)
    misfits = [value for one, value in pairs if one is None and kind(value) != NULL]
    return pa.array(cast, type=_ARROW[name]), Misfits(len(misfits), *misfits[:1])


def _cast_all(values: list[Any], name: str, form: str) -> list[Any]:
    """Each value as its field's type; those in some form are often the same."""
    known: dict[str, Any] = {}
    if form:
        texts = {value for value in values if isinstance(value, str)}
        known = {text: _cast(text, name, form) for text in texts}
    return [
        known[value] if form and isinstance(value, str) else _cast(value, name, form)
        for value in values
    ]
