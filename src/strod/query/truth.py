"""Comparisons of columns in which values may be missing: true, false, or neither (Kleene)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.store.tables import numbers, text_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["Truth", "between", "has_member", "is_text", "ordered", "plain_values", "present"]

_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Truth(NamedTuple):
    """Of each document whether something is true, and whether it is false."""

    yes: Mask
    no: Mask

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.yes & other.yes, self.no | other.no)

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.yes | other.yes, self.no & other.no)

    def __invert__(self) -> Truth:
        return Truth(self.no, self.yes)


def _truth(yes: Mask, there: Mask) -> Truth:
    return Truth(yes & there, ~yes & there)


def present(column: pa.Array, *, empty: bool = True) -> Mask:
    """Which values are there; an empty list counts as one only if that is asked for."""
    there = ~_mask(pc.is_null(column))
    if empty or not pa.types.is_list(column.type):
        return there
    return there & (plain_values(pc.list_value_length(column)) > 0)


def _mask(column: pa.Array) -> Mask:
    return numbers(pa.chunked_array([column])).astype(bool)


def plain_values(column: pa.Array) -> NDArray[Any]:
    """The numbers of a column; where one is missing, any."""
    if pa.types.is_date32(column.type):
        column = column.view(pa.int32())
    _, data = column.buffers()
    whole = np.frombuffer(data or b"", dtype=column.type.to_pandas_dtype())
    return whole[column.offset : column.offset + len(column)]


def ordered(column: pa.Array, sign: str, first: float, last: float) -> Truth:
    """Compare numbers or days with all that lies between two of them."""
    values, there = plain_values(column), present(column)
    if sign in ("<", ">="):
        return _truth(_ORDER[sign](values, first), there)
    if sign in ("<=", ">"):
        return _truth(_ORDER[sign](values, last), there)
    inside = _truth((values >= first) & (values <= last), there)
    return inside if sign == "=" else ~inside


def between(column: pa.Array, ranges: Sequence[tuple[float, float]]) -> Truth:
    """Whether numbers or days lie in one of some ranges, ends included."""
    values, there = plain_values(column), present(column)
    known = sorted(one for one in ranges if one[0] <= one[1])  # no NaN
    if not known:
        return _truth(np.zeros(len(column), dtype=bool), there)
    first, last = np.array(known).T
    place = np.searchsorted(first, values, side="right") - 1
    farthest = np.maximum.accumulate(last)  # a year may hold a month that begins later
    return _truth((place >= 0) & (values <= farthest[place]), there)


def is_text(column: pa.Array, values: Sequence[str]) -> Truth:
    """Whether texts are one of some."""
    return _truth(_same(column, values), present(column))


def _same(column: pa.Array, values: Sequence[str]) -> Mask:
    """Which texts are among some; given as an array, since `pyarrow.scalar` would load pandas."""
    return _mask(pc.is_in(column, value_set=text_array(list(values)).cast(column.type)))


def has_member(column: pa.Array, values: Sequence[str]) -> Truth:
    """Whether lists have one of some texts among their members; an empty list is missing."""
    same = _same(pc.list_flatten(column), values)
    found = np.zeros(len(column), dtype=bool)
    found[numbers(pa.chunked_array([pc.list_parent_indices(column)]))[same]] = True
    return _truth(found, present(column, empty=False))
