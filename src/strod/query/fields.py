"""Metadata by field: columns of the whole corpus, and what a field may be asked as."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.corpus.layout import PREFIX, fields_of
from strod.errors import UsageError
from strod.query.truth import plain_values, present
from strod.store.tables import integers, numbers, text_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus

__all__ = ["PARTS", "Coded", "Field", "Metadata", "find_field"]

PARTS = ("year", "quarter", "month", "day")
DISTINCT = 60  # whole numbers of so many values or fewer are shown one by one
BINS = 12  # of other numbers, about
EDGE = 1e-12  # what a number may lack to be in the next bin
CODED = 16  # fields whose values are remembered


@dataclass(frozen=True)
class Field:
    """A metadata field as somebody asks for it.

    Attributes
    ----------
    name : str
        The field.
    kind : str
        ``number``, ``date``, ``category`` or ``list``.
    part : str
        Of a date: ``year``, ``quarter``, ``month`` or ``day``; empty if none was named.
    width : float
        Of a number: how wide a bin is; 0 if none was named.
    """

    name: str
    kind: str
    part: str = ""
    width: float = 0.0

    @property
    def asked(self) -> str:
        """The field as one asks for it."""
        more = self.part or (f"{self.width:g}" if self.width else "")
        return f"{self.name}:{more}" if more else self.name


def known(meta: Mapping[str, str]) -> str:
    """Names what there is."""
    return f"fields: {', '.join(sorted(meta))}" if meta else "no field was kept; build with `meta`"


def find_field(asked: str, meta: Mapping[str, str]) -> Field:
    """The field that is meant by ``date``, ``date:month``, ``price:10`` or ``year``.

    Parameters
    ----------
    asked : str
        A field; after a colon the part of a date or the width of the bins of a number. The
        name of a part alone means that of the only date field.
    meta : mapping of str
        Kinds by field.
    """
    if asked in meta:
        return Field(asked, meta[asked])
    name, colon, how = asked.rpartition(":")
    if colon and name in meta:
        return _with(name, meta[name], how)
    dates = sorted(field for field, kind in meta.items() if kind == "date")
    if asked in PARTS and len(dates) == 1:
        return Field(dates[0], "date", part=asked)
    if asked in PARTS and dates:
        choices = " or ".join(f"{field}:{asked}" for field in dates)
        raise UsageError(f"{asked}: of which date? say {choices}")
    raise UsageError(f"{asked}: no such field; {known(meta)}")


def _with(name: str, kind: str, how: str) -> Field:
    """A field with what stands after the colon."""
    if kind == "date" and how in PARTS:
        return Field(name, kind, part=how)
    if kind == "number":
        try:
            width = float(how)
        except ValueError:
            width = 0.0
        if isfinite(width) and width > 0:
            return Field(name, kind, width=width)
    choices = {"date": f"one of {', '.join(PARTS)}", "number": "the width of a bin, a number"}
    if kind in choices:
        raise UsageError(f"{name}:{how}: after the colon comes {choices[kind]}")
    raise UsageError(f"{name}:{how}: {name} is a {kind}, which has no parts; say {name}")


class Coded(NamedTuple):
    """Documents by the values of a field; a document of a list stands once for each member.

    Attributes
    ----------
    values : list
        The values in their order; None, for documents without one, comes last if there are any.
    documents : ndarray of int64
        Numbers of documents, rising.
    codes : ndarray of int64
        Which value each has.
    """

    values: list[Any]
    documents: NDArray[np.int64]
    codes: NDArray[np.int64]


class Metadata:
    """The kept fields of all documents of a corpus.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.kinds: dict[str, str] = dict(corpus.meta)
        self._coded: dict[Field, Coded] = {}

    @cached_property
    def table(self) -> pa.Table:
        """One row a document: ``id`` and a column for each field."""
        names = ["id", *(f"{PREFIX}{field}" for field in self.kinds)]
        parts = [
            self._corpus.segment(name).documents.select(names) for name, _ in self._corpus.segments
        ]
        return pa.concat_tables(parts).combine_chunks()

    def field(self, asked: str) -> Field:
        """The field that is meant."""
        return find_field(asked, self.kinds)

    def column(self, name: str) -> pa.Array:
        """Values of a field, or the ids."""
        column = self.table[f"{PREFIX}{name}" if name in self.kinds else name]
        return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)

    def row(self, document: int) -> dict[str, Any]:
        """The fields of a document, as JSON has them."""
        return fields_of(self.table.slice(document, 1).to_pylist()[0])

    def coded(self, field: Field) -> Coded:
        """Documents by the values, members, parts or bins of a field."""
        if field not in self._coded:
            if len(self._coded) >= CODED:
                self._coded.pop(next(iter(self._coded)), None)
            column, many = self.column(field.name), field.kind == "list"
            self._coded[field] = _members(column) if many else _values(column, field)
        return self._coded[field]


def _values(column: pa.Array, field: Field) -> Coded:
    """Documents by a value each."""
    column = _bucketed(column, field)
    return _joined(column, np.arange(len(column)), np.empty(0, dtype=np.int64))


def _members(column: pa.Array) -> Coded:
    """Documents by the members of a list; a member that stands twice counts once."""
    parents = numbers(pa.chunked_array([pc.list_parent_indices(column)])).astype(np.int64)
    empty = np.bincount(parents, minlength=len(column)) == 0
    coded = _joined(pc.list_flatten(column), parents, np.flatnonzero(empty))
    pairs = np.unique(coded.documents * len(coded.values) + coded.codes)
    documents, codes = np.divmod(pairs, max(len(coded.values), 1))
    return coded._replace(documents=documents, codes=codes)


def _joined(values: pa.Array, documents: NDArray[np.int64], without: NDArray[np.int64]) -> Coded:
    """Values in their order, and the documents that have none."""
    coded = values.dictionary_encode(null_encoding="mask")
    order = np.asarray(numbers(pa.chunked_array([pc.sort_indices(coded.dictionary)])), np.int64)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    codes = rank[np.where(present(coded.indices), plain_values(coded.indices), len(order))]
    names = [_as_json(value) for value in coded.dictionary.take(integers(order)).to_pylist()]
    if without.size:
        documents = np.concatenate([documents, without])
        codes = np.concatenate([codes, np.full(without.size, len(order))])
    missing = [None] if (codes == len(order)).any() else []
    return Coded(names + missing, documents, codes)


def _as_json(value: Any) -> Any:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _bucketed(column: pa.Array, field: Field) -> pa.Array:
    """Values as they are grouped: parts of dates, bins of numbers."""
    if field.kind == "date":
        return _dates(column, field.part or "year")
    return _bins(column, field.width) if field.kind == "number" else column


def _dates(column: pa.Array, part: str) -> pa.Array:
    year = pc.year(column)
    if part == "year":
        return year
    years = pc.utf8_lpad(pc.cast(year, pa.string()), 4, "0")
    if part == "quarter":
        return pc.binary_join_element_wise(
            years, pc.cast(pc.quarter(column), pa.string()), _text("-Q")
        )
    month = pc.utf8_lpad(pc.cast(pc.month(column), pa.string()), 2, "0")
    if part == "month":
        return pc.binary_join_element_wise(years, month, _text("-"))
    day = pc.utf8_lpad(pc.cast(pc.day(column), pa.string()), 2, "0")
    return pc.binary_join_element_wise(years, month, day, _text("-"))


def _text(value: str) -> pa.Scalar:
    """A text for Arrow; `pyarrow.scalar` would load pandas."""
    return text_array([value]).cast(pa.string())[0]


def _bins(column: pa.Array, width: float) -> pa.Array:
    """The values themselves if they are few and whole, else where their bins begin.

    What is no number, or endless, is missing: only somebody else's workspace has such values.
    """
    values = plain_values(column) + 0.0  # of two zeros one
    there = present(column) & np.isfinite(values)
    found = np.unique(values[there])
    if width or found.size > DISTINCT or not np.equal(np.mod(found, 1), 0).all():
        width = width or _round_width(float(found[0]), float(found[-1]))
        values = _floored(np.where(there, values, 0), width)
    valid = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(pa.float64(), len(column), [valid, pa.py_buffer(values)])


def _floored(values: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Where bins begin; .3 is the beginning of one that is .1 wide, whatever binary says."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = values / width
        steps = np.floor(steps + EDGE * np.maximum(1, np.abs(steps)))
    if not np.isfinite(steps).all():
        raise UsageError(f"bins of {width:g} are too narrow for these numbers; give a wider one")
    bins, codes = np.unique(steps, return_inverse=True)
    begins = np.array([float(f"{step * width:.12g}") + 0.0 for step in bins.tolist()])
    return begins[codes]


def _round_width(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are some BINS bins."""
    rough = max(high / BINS - low / BINS, abs(high) * 1e-12, 1e-300)
    power = 10.0 ** floor(log10(rough))
    return min(next(step * power for step in (1, 2, 5, 10) if step * power >= rough), 1e308)
