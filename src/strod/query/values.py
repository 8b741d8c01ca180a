"""Documents by values of metadata, from the columns of the corpus: each is read when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.corpus.layout import PREFIX
from strod.query.terms import value_term
from strod.store.tables import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus
    from strod.query.parse import Field

__all__ = ["Values"]


class Values:
    """Which documents of a corpus have a value.

    Parameters
    ----------
    corpus : Corpus
        Its documents are numbered from 0.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[int, list[_Column]] = {}

    def having(self, field: Field) -> NDArray[np.bool_]:
        """For each document whether it has the value, in one of the members of a list."""
        found = [column.having(field) for column in self._columns(field.number)]
        return np.concatenate([np.empty(0, dtype=bool), *found])

    def _columns(self, number: int) -> list[_Column]:
        """The values of a field, segment by segment."""
        if number not in self._known:
            name, kind = list(self._corpus.meta.items())[number]
            tables = [self._corpus.segment(one).documents for one, _ in self._corpus.segments]
            self._known[number] = [_Column(table[f"{PREFIX}{name}"], kind) for table in tables]
        return self._known[number]


class _Column:
    """Values of a field in one segment; each distinct one is written once, as queries write it."""

    def __init__(self, column: pa.ChunkedArray, kind: str) -> None:
        self._size = len(column)
        whole = column.combine_chunks()
        if kind == "list":
            self._rows = numbers(pa.chunked_array([pc.list_parent_indices(whole)]))
            whole = whole.flatten()
        else:
            self._rows = np.arange(self._size)
        coded = whole.dictionary_encode("encode")  # what is missing, too
        self._codes = numbers(pa.chunked_array([coded.indices]))
        self._terms: dict[str, list[int]] = {}
        for code, value in enumerate(coded.dictionary.to_pylist()):
            if value is not None:
                self._terms.setdefault(_written(value, kind), []).append(code)

    def having(self, field: Field) -> NDArray[np.bool_]:
        """For each document whether it has the value."""
        terms = [field.term]
        if field.prefix:
            terms = [term for term in self._terms if term.startswith(field.term)]
        right = [code for term in terms for code in self._terms.get(term, [])]
        there = np.zeros(self._size, dtype=bool)
        there[self._rows[np.isin(self._codes, right)]] = True
        return there


def _written(value: Any, kind: str) -> str:
    if kind == "date":
        return str(value.isoformat())
    return value_term(repr(value + 0.0) if kind == "number" else value)
