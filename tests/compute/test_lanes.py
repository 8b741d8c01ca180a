"""Rows by lanes and without: against sums that are written out, to the last bit."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

import numba
import numpy as np
import pytest
from llvmlite import ir
from llvmlite.binding import parse_assembly
from numba.core.errors import TypingError

from strod.compute import lanes, plain
from strod.compute.kernels import fixed
from strod.compute.plain import ROWS, check_lanes
from strod.values.padding import LANES, with_lanes

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Calls = dict[str, Callable[..., None]]

TABLE = 40


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Not cached: the code that is there now."""
    return cast("Callable[..., None]", numba.njit(error_model="numpy")(function))


def calling(module: ModuleType) -> dict[str, Callable[..., None]]:
    """The functions of a module as kernels that Python can call."""

    def entry(part: Callable[..., None]) -> Callable[..., None]:
        def call(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
            part(rows, d, table, indices, values)

        return kernel(call)

    return {name: entry(getattr(module, name)) for name in WRITTEN}


WRITTEN = {"divide": 4, "pull": 0, "push": 2}  # which argument each function writes
CALLS = {module.__name__: calling(module) for module in (lanes, plain)}
both = pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)


@kernel
def _check(rows: Any, table: Any) -> None:
    check_lanes(rows, table)


def drawn(columns: int, words: int) -> tuple[Array, Array, NDArray[np.int32], Array]:
    """Rows, a table, some of its rows, and a number for each of these."""
    random = np.random.default_rng([columns, words])
    rows, table = random.random((3, columns)), random.random((TABLE, columns))
    indices = random.permutation(TABLE)[:words].astype(np.int32)
    return with_lanes(rows), with_lanes(table), indices, random.random(words)


def by_pairs(terms: list[Any]) -> Any:
    while len(terms) > 1:
        terms = [one + other for one, other in zip(terms[::2], terms[1::2], strict=True)]
    return terms[0]


def by_lanes(one: Array, other: Array) -> float:
    sums = np.zeros(LANES)
    for start in range(0, len(one), LANES):
        sums += one[start : start + LANES] * other[start : start + LANES]
    return float(by_pairs(list(sums)))


shapes = pytest.mark.parametrize("columns", [1, 4, 5, 8, 13, 28])
sizes = pytest.mark.parametrize("words", [0, 1, 3, 4, 5, 8, 11])


@shapes
@sizes
@both
def test_divide(calls: Calls, columns: int, words: int) -> None:
    rows, table, indices, values = drawn(columns, words)
    expected = [
        value / by_lanes(rows[1], table[i]) for i, value in zip(indices, values, strict=True)
    ]
    calls["divide"](*fixed(rows), 1, *fixed(table, indices), values)
    assert values.tolist() == expected


@shapes
@sizes
@both
def test_pull(calls: Calls, columns: int, words: int) -> None:
    rows, table, indices, values = drawn(columns, words)
    expected = rows.copy()
    whole = words - words % ROWS
    for start in range(0, whole, ROWS):
        some = range(start, start + ROWS)
        expected[2] += by_pairs([values[j] * table[indices[j]] for j in some])
    for j in range(whole, words):
        expected[2] += values[j] * table[indices[j]]
    calls["pull"](rows, 2, *fixed(table, indices, values))
    assert np.array_equal(rows, expected)


@shapes
@sizes
@both
def test_push(calls: Calls, columns: int, words: int) -> None:
    rows, table, indices, values = drawn(columns, words)
    expected = table.copy()
    for i, value in zip(indices, values, strict=True):
        expected[i] += value * rows[0]
    calls["push"](*fixed(rows), 0, table, *fixed(indices, values))
    assert np.array_equal(table, expected)


@pytest.mark.parametrize("name", WRITTEN)
@shapes
def test_lanes_and_plain_give_the_same_bits(name: str, columns: int) -> None:
    """For numbers of all sizes, where another order of a sum would show."""
    random = np.random.default_rng(columns)
    for words in (*range(10), TABLE):
        given = drawn(columns, words)
        rows, table, _, values = (array * 10.0 ** random.integers(-9, 9) for array in given)
        rows *= 10.0 ** random.uniform(-6, 6, rows.shape)
        table *= 10.0 ** random.uniform(-6, 6, table.shape)
        seen = []
        for calls in CALLS.values():
            arguments: list[Any] = [rows.copy(), 1, table.copy(), given[2], values.copy()]
            calls[name](*arguments)
            seen.append(arguments[WRITTEN[name]])
        assert seen[0].tobytes() == seen[1].tobytes()


@both
def test_a_row_may_be_pushed_to_twice(calls: Calls) -> None:
    rows, table, _, values = drawn(5, 5)
    expected = table[7].copy()
    for value in values:
        expected += value * rows[1]
    calls["push"](rows, 1, table, np.full(5, 7, dtype=np.int32), values)
    assert np.array_equal(table[7], expected)


OTHER_KINDS = [
    {"rows": np.zeros((3, 8), dtype=np.float32)},
    {"table": np.zeros((TABLE, 8), dtype=np.float32)},
    {"table": np.zeros((TABLE, 8), order="F")},
    {"rows": np.zeros((3, 16))[:, ::2]},
    {"indices": np.zeros(3, dtype=np.uint16)},
    {"indices": np.zeros(6, dtype=np.int32)[::2]},
    {"values": np.zeros(3, dtype=np.float32)},
    {"values": np.zeros(6)[::2]},
]


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("change", OTHER_KINDS, ids=str)
def test_arrays_of_another_kind_are_refused(name: str, change: dict[str, Any]) -> None:
    rows, table, indices, values = drawn(8, 3)
    given = {"rows": rows, "d": 0, "table": table, "indices": indices, "values": values} | change
    with pytest.raises(TypingError, match="not as strod"):
        CALLS[lanes.__name__][name](*given.values())


@pytest.mark.parametrize(("name", "written"), WRITTEN.items())
def test_what_may_not_be_written_is_refused(name: str, written: int) -> None:
    rows, table, indices, values = drawn(8, 3)
    call = CALLS[lanes.__name__][name]
    given = [rows, 0, table, indices, values]
    call(*given)
    given[written] = fixed(given[written])[0]  # type: ignore[arg-type]
    with pytest.raises(TypingError, match="not as strod"):
        call(*given)


@pytest.mark.parametrize(("columns", "own", "good"), [(8, 4, 0), (4, 8, 0), (6, 6, 0), (8, 8, 1)])
def test_other_widths_are_refused(columns: int, own: int, good: int) -> None:
    with nullcontext() if good else pytest.raises(ValueError, match="whole lanes"):
        _check(np.ones((3, own)), np.ones((TABLE, columns)))


@pytest.mark.parametrize(("columns", "lanes"), [(0, 0), (1, 4), (4, 4), (5, 8), (25, 28)])
def test_rows_get_whole_lanes(columns: int, lanes: int) -> None:
    found = with_lanes(np.ones((2, columns)))
    assert found.shape == (2, lanes)
    assert found.flags.c_contiguous
    assert found.sum() == 2 * columns
    assert not found[:, columns:].any()


@pytest.mark.parametrize("generate", [lanes._divide, lanes._pull, lanes._push])
@pytest.mark.parametrize("many", [1, ROWS])
def test_lanes_need_no_typed_pointers(generate: Any, many: int) -> None:
    """Typed ones are going to be removed from llvmlite."""
    size, pointer = ir.IntType(64), ir.PointerType()
    kind = ir.FunctionType(ir.VoidType(), [size, *[pointer] * (1 + 2 * many)])
    module = ir.Module()
    function = ir.Function(module, kind, "rows")
    builder = ir.IRBuilder(function.append_basic_block())
    width, own, *rest = function.args
    generate(lanes._Code(builder, width, own, rest[:many], rest[many:]))
    builder.ret_void()
    parse_assembly(str(module)).verify()
