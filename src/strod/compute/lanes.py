"""Rows of numbers, four at a time: what LLVM does not find in short loops by itself.

A kernel over topics runs through rows of 5 to 30 numbers. They are too short for LLVM's
vectorizer, which besides must not take a sum apart, since it would no longer be the same sum.
Here both are written down, in the order of `strod.compute.plain`: a machine without such
registers gives the same bytes. To be deleted the day numba lets LLVM look for vectors in straight
code (`NUMBA_SLP_VECTORIZE`) by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from llvmlite import ir  # numba's own, of the version that it needs
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from strod.compute.kernels import helper, kernel
from strod.compute.plain import ROWS
from strod.values.padding import LANES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["divide", "pull", "push", "trial"]

_make: Any = cgutils  # which has no types
_NUMBER = ir.DoubleType()
_VECTOR = ir.VectorType(_NUMBER, LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_PLACE = ir.IntType(32)
_FIRST = ir.Constant(_PLACE, 0)
_SAME = (0,) * LANES  # lane 0 for all
_ALIGNED = 8  # bytes: rows begin anywhere


@dataclass(frozen=True)
class _Code:
    """Code of an intrinsic under construction, for some rows of a table at a time.

    Attributes
    ----------
    builder, width
        Where the code goes, and how long a row is.
    own, others, values
        Pointers: to the row that is meant, those of the table, and the numbers that go with them.
    """

    builder: Any
    width: Any
    own: Any
    others: list[Any]
    values: list[Any]

    @classmethod
    def of(cls, context: Any, builder: Any, kinds: Any, given: Any, many: int) -> _Code:
        """From rows, d, table, indices, values and j, for `many` rows: see `_intrinsic`."""
        rows, table, indices, values = (
            context.make_array(kinds[i])(context, builder, given[i]) for i in (0, 2, 3, 4)
        )
        index = context.get_value_type(kinds[3].dtype)
        width = _make.unpack_tuple(builder, table.shape)[1]

        def row(array: Any, number: Any) -> Any:
            offset = builder.mul(builder.sext(number, width.type), width)
            return builder.gep(array.data, [offset], source_etype=_NUMBER)

        def number(j: Any) -> Any:
            return builder.load(builder.gep(indices.data, [j], source_etype=index), typ=index)

        places = [builder.add(given[5], ir.Constant(given[5].type, i)) for i in range(many)]
        others = [row(table, number(j)) for j in places]
        numbers = [builder.gep(values.data, [j], source_etype=_NUMBER) for j in places]
        return cls(builder, width, row(rows, given[1]), others, numbers)

    def factors(self) -> list[Any]:
        """The values, each in all lanes."""
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        numbers = [self.builder.load(place, typ=_NUMBER) for place in self.values]
        vectors = [self.builder.insert_element(nothing, number, _FIRST) for number in numbers]
        return [self.shuffled(vector, nothing, _SAME) for vector in vectors]

    def lanes(self) -> Any:
        """A loop over the columns, some lanes at a time."""
        kind = self.width.type
        step = ir.Constant(kind, LANES)
        return _make.for_range_slice(self.builder, ir.Constant(kind, 0), self.width, step, kind)

    def load(self, row: Any, column: Any) -> Any:
        """Some lanes of a row."""
        return self.builder.load(self._at(row, column), align=_ALIGNED, typ=_VECTOR)

    def store(self, value: Any, row: Any, column: Any) -> None:
        """Write some lanes of a row."""
        self.builder.store(value, self._at(row, column), align=_ALIGNED)

    def _at(self, row: Any, column: Any) -> Any:
        place = self.builder.gep(row, [column], source_etype=_NUMBER)
        return self.builder.bitcast(place, _VECTOR.as_pointer())

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

    def totals(self, one: Any, two: Any, three: Any, four: Any) -> Any:
        """The sums over the lanes of as many vectors as there are lanes, as one vector."""
        left = self.shuffled(one, two, (0, 4, 2, 6)), self.shuffled(one, two, (1, 5, 3, 7))
        right = self.shuffled(three, four, (0, 4, 2, 6)), self.shuffled(three, four, (1, 5, 3, 7))
        ends = self.builder.fadd(*left), self.builder.fadd(*right)
        return self.builder.fadd(
            self.shuffled(*ends, (0, 1, 4, 5)), self.shuffled(*ends, (2, 3, 6, 7))
        )

    def shuffled(self, one: Any, other: Any, places: tuple[int, ...]) -> Any:
        """Lanes of two vectors, in these places of both."""
        mask = ir.Constant(ir.VectorType(_PLACE, LANES), list(places))
        return self.builder.shuffle_vector(one, other, mask)


def _intrinsic(generate: Callable[[_Code], None], written: int, many: int) -> Callable[..., None]:
    """A function for kernels that does `many` rows at a time and writes one of its arguments.

    The arguments are `rows`, of which number `d` is meant, `table`, of which those are meant
    whose numbers stand from place `j` on in `indices`, and `values`, which go with them.
    """

    def define(
        _: Any, rows: Any, d: Any, table: Any, indices: Any, values: Any, j: Any
    ) -> tuple[Any, Any]:
        kinds = rows, d, table, indices, values, j
        _check(kinds, written)

        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            generate(_Code.of(context, builder, signature.args, given, many))
            return context.get_dummy_value()

        return types.void(*kinds), code

    define.__name__ = generate.__name__
    return cast("Callable[..., None]", intrinsic(define))


def _check(kinds: tuple[Any, ...], written: int) -> None:
    """Refuse arrays that the code would read or write wrongly; while a kernel is compiled."""
    number, index = {types.float64}, {types.int32, types.int64}
    for place, dimensions, wanted in (0, 2, number), (2, 2, number), (3, 1, index), (4, 1, number):
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
            builder.store(builder.fadd(builder.load(place, typ=_VECTOR), product), place)
    found, first = [builder.load(place, typ=_VECTOR) for place in sums], code.values[0]
    if len(found) == LANES:
        code.store(builder.fdiv(code.load(first, _FIRST), code.totals(*found)), first, _FIRST)
    else:
        value = builder.load(first, typ=_NUMBER)
        builder.store(builder.fdiv(value, code.total(*found)), first)


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


_divide_some, _divide_one = (_intrinsic(_divide, 4, many) for many in (ROWS, 1))
_pull_some, _pull_one = (_intrinsic(_pull, 0, many) for many in (ROWS, 1))
_push_some, _push_one = (_intrinsic(_push, 2, many) for many in (ROWS, 1))


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


@kernel
def trial(rows: Any, indices: Any, values: Any) -> None:
    """Call all three, to see whether they compile."""
    divide(rows, 0, rows, indices, values)
    pull(rows, 0, rows, indices, values)
    push(rows, 0, rows, indices, values)
