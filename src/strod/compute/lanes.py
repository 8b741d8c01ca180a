"""Rows of numbers, four at a time: what LLVM does not find in short loops by itself.

A kernel over topics runs through rows of 5 to 30 numbers. They are too short for LLVM's
vectorizer, which besides must not take a sum apart, since it would no longer be the same sum.
Here both are written down: a row has a multiple of `LANES` numbers (`with_lanes`), a sum runs
over lanes and then over the lanes' sums, and `ROWS` rows go at a time, so that none waits for
the one before. The order of every sum is fixed: a machine without such registers gives the
same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from llvmlite import ir  # numba's own, of the version that it needs
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from strod.compute.kernels import helper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["check_lanes", "divide", "pull", "push", "whole_lanes", "with_lanes"]

LANES = ROWS = 4  # `totals` and `_divide` are written for these
_make: Any = cgutils  # which has no types
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_PLACE = ir.IntType(32)
_SAME = ir.Constant(ir.VectorType(_PLACE, LANES), [0] * LANES)  # lane 0 for all
_ALIGNED = 8  # bytes: rows begin anywhere


def whole_lanes(columns: int) -> int:
    """The next multiple of `LANES`."""
    return -(-columns // LANES) * LANES


def with_lanes(rows: NDArray[Any]) -> Array:
    """The same rows with zeros up to the next multiple of `LANES`."""
    result = np.zeros((len(rows), whole_lanes(rows.shape[1])))
    result[:, : rows.shape[1]] = rows
    return result


class _Code:
    """Code of an intrinsic under construction, for `many` rows of a table at a time.

    The arguments are `rows`, of which number `d` is meant, and `table`, of which those are meant
    whose numbers stand from place `j` on in `indices`, and `values`, which go with them.
    """

    def __init__(self, context: Any, builder: Any, kinds: Any, given: Any, many: int) -> None:
        self.builder = builder
        rows, table, indices, values = (
            context.make_array(kinds[i])(context, builder, given[i]) for i in (0, 2, 3, 4)
        )
        places = [builder.add(given[5], ir.Constant(given[5].type, i)) for i in range(many)]
        numbers = [builder.load(builder.gep(indices.data, [place])) for place in places]
        self.width = _make.unpack_tuple(builder, table.shape)[1]
        self.own = self._row(rows, given[1])
        self.others = [self._row(table, number) for number in numbers]
        self.values = [builder.gep(values.data, [place]) for place in places]

    def _row(self, array: Any, number: Any) -> Any:
        """Pointer to a row; as wide as the table."""
        offset = self.builder.mul(self.builder.sext(number, self.width.type), self.width)
        return self.builder.gep(array.data, [offset])

    def factors(self) -> list[Any]:
        """The values, each in all lanes."""
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_PLACE, 0)
        numbers = [self.builder.load(place) for place in self.values]
        vectors = [self.builder.insert_element(nothing, number, first) for number in numbers]
        return [self.builder.shuffle_vector(vector, nothing, _SAME) for vector in vectors]

    def lanes(self) -> Any:
        """A loop over the columns, some lanes at a time."""
        kind = self.width.type
        step = ir.Constant(kind, LANES)
        return _make.for_range_slice(self.builder, ir.Constant(kind, 0), self.width, step, kind)

    def load(self, row: Any, column: Any) -> Any:
        """Some lanes of a row."""
        return self.builder.load(self._at(row, column), align=_ALIGNED)

    def store(self, value: Any, row: Any, column: Any) -> None:
        """Write some lanes of a row."""
        self.builder.store(value, self._at(row, column), align=_ALIGNED)

    def _at(self, row: Any, column: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(row, [column]), _VECTOR.as_pointer())

    def added(self, terms: Iterable[Any]) -> Any:
        """The sum of a power of two of numbers or vectors, by pairs."""
        terms = list(terms)
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=True)
            terms = [self.builder.fadd(one, other) for one, other in pairs]
        return terms[0]

    def total(self, vector: Any) -> Any:
        """The sum over the lanes."""
        places = (ir.Constant(_PLACE, i) for i in range(LANES))
        return self.added(self.builder.extract_element(vector, place) for place in places)

    def totals(self, vectors: list[Any]) -> Any:
        """The sums over the lanes of as many vectors as there are lanes, as one vector."""
        one, two, three, four = vectors
        left = self._shuffled(one, two, (0, 4, 2, 6)), self._shuffled(one, two, (1, 5, 3, 7))
        right = self._shuffled(three, four, (0, 4, 2, 6)), self._shuffled(three, four, (1, 5, 3, 7))
        ends = self.builder.fadd(*left), self.builder.fadd(*right)
        return self.builder.fadd(
            self._shuffled(*ends, (0, 1, 4, 5)), self._shuffled(*ends, (2, 3, 6, 7))
        )

    def _shuffled(self, one: Any, other: Any, places: tuple[int, ...]) -> Any:
        mask = ir.Constant(ir.VectorType(_PLACE, LANES), list(places))
        return self.builder.shuffle_vector(one, other, mask)


def _intrinsic(generate: Callable[[_Code], None], many: int, written: int) -> Callable[..., None]:
    """A function for kernels that does `many` rows at a time and writes one of its arguments."""

    def define(
        _: Any, rows: Any, d: Any, table: Any, indices: Any, values: Any, j: Any
    ) -> tuple[Any, Any]:
        kinds = rows, d, table, indices, values, j
        _check(kinds, written)

        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            generate(_Code(context, builder, signature.args, given, many))
            return context.get_dummy_value()

        return types.void(*kinds), code

    define.__name__ = generate.__name__
    return cast("Callable[..., None]", intrinsic(define))


def _check(kinds: tuple[Any, ...], written: int) -> None:
    """Refuse arrays that the code would read or write wrongly; while a kernel is compiled."""
    number, index = types.float64, (types.int32, types.int64)
    for place, dimensions, wanted in ((0, 2, (number,)), (2, 2, (number,)), (3, 1, index),
                                      (4, 1, (number,))):  # fmt: skip
        kind = kinds[place]
        good = isinstance(kind, types.Array) and kind.layout == "C" and kind.ndim == dimensions
        if not (good and kind.dtype in wanted and (kind.mutable or place != written)):
            raise TypingError(f"argument {place}, {kind}: not as strod.compute.lanes takes it")


def _divide(code: _Code) -> None:
    builder = code.builder
    sums = [_make.alloca_once_value(builder, _ZEROS) for _ in code.others]
    with code.lanes() as (column, _):
        own = code.load(code.own, column)
        for place, other in zip(sums, code.others, strict=True):
            product = builder.fmul(own, code.load(other, column))
            builder.store(builder.fadd(builder.load(place), product), place)
    found = [builder.load(place) for place in sums]
    if len(found) == LANES:
        first, nothing = code.values[0], ir.Constant(_PLACE, 0)
        code.store(builder.fdiv(code.load(first, nothing), code.totals(found)), first, nothing)
        return
    for vector, value in zip(found, code.values, strict=True):
        builder.store(builder.fdiv(builder.load(value), code.total(vector)), value)


def _pull(code: _Code) -> None:
    factors = code.factors()
    with code.lanes() as (column, _):
        products = (
            code.builder.fmul(factor, code.load(other, column))
            for factor, other in zip(factors, code.others, strict=True)
        )
        total = code.builder.fadd(code.load(code.own, column), code.added(products))
        code.store(total, code.own, column)


def _push(code: _Code) -> None:
    factors = code.factors()
    with code.lanes() as (column, _):
        own = code.load(code.own, column)
        for factor, other in zip(factors, code.others, strict=True):
            product = code.builder.fmul(factor, own)
            code.store(code.builder.fadd(code.load(other, column), product), other, column)


_divide_some, _divide_one = (_intrinsic(_divide, many, 4) for many in (ROWS, 1))
_pull_some, _pull_one = (_intrinsic(_pull, many, 0) for many in (ROWS, 1))
_push_some, _push_one = (_intrinsic(_push, many, 2) for many in (ROWS, 1))


@helper
def check_lanes(rows: Any, table: Any) -> None:
    """Refuse widths that the functions below would take wrongly; once, not for every document."""
    if rows.shape[1] != table.shape[1] or table.shape[1] % LANES:
        raise ValueError("rows and table must have the same whole lanes")


@helper
def divide(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """values_j /= Σ_z rows_dz·table_iz with i = indices_j."""
    rest = indices.size % ROWS
    for j in range(0, indices.size - rest, ROWS):
        _divide_some(rows, d, table, indices, values, j)
    for j in range(indices.size - rest, indices.size):
        _divide_one(rows, d, table, indices, values, j)


@helper
def pull(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """rows_d += Σ_j values_j·table_i with i = indices_j."""
    rest = indices.size % ROWS
    for j in range(0, indices.size - rest, ROWS):
        _pull_some(rows, d, table, indices, values, j)
    for j in range(indices.size - rest, indices.size):
        _pull_one(rows, d, table, indices, values, j)


@helper
def push(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """table_i += values_j·rows_d with i = indices_j, one after the other."""
    rest = indices.size % ROWS
    for j in range(0, indices.size - rest, ROWS):
        _push_some(rows, d, table, indices, values, j)
    for j in range(indices.size - rest, indices.size):
        _push_one(rows, d, table, indices, values, j)
