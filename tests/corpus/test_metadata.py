"""Metadata: kinds of values, types of fields, columns."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strod.corpus.metadata import column, decode, encode, field_type, kind


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        ("", "null"),
        (float("nan"), "null"),
        (float("inf"), "null"),
        (0, "number"),
        (1.5, "number"),
        (True, "category"),
        ("x", "category"),
        ("2020", "numeral"),
        (" -1.5e3 ", "numeral"),
        (".5", "numeral"),
        ("5.", "numeral"),
        ("1,000", "category"),
        ("nan", "category"),
        ("1_000", "category"),
        ("2020-05", "date"),
        ("2020-05-01", "date"),
        ("2020-05-01T10:00:00Z", "date"),
        ("2020-05-01 10:00", "date"),
        ("2020-5-1", "category"),
        (dt.date(2020, 5, 1), "date"),
        (dt.datetime(2020, 5, 1, tzinfo=dt.UTC), "date"),
        ([], "list"),
        (("a",), "list"),
        ({"a": 1}, "category"),
        (b"x", "category"),
    ],
)
def test_kinds(value: Any, expected: str) -> None:
    assert kind(value) == expected


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (set(), "category"),
        ({"null"}, "category"),
        ({"number", "null"}, "number"),
        ({"numeral"}, "number"),
        ({"number", "numeral"}, "number"),
        ({"date", "null"}, "date"),
        ({"date", "numeral"}, "category"),
        ({"number", "category"}, "category"),
        ({"list", "number"}, "list"),
    ],
)
def test_types(kinds: set[str], expected: str) -> None:
    assert field_type(kinds) == expected


@pytest.mark.parametrize(
    ("name", "values", "expected", "misfits"),
    [
        ("number", [1, "2.5", None, "x", True, [1]], [1.0, 2.5, None, None, None, None], 3),
        (
            "date",
            ["2020-05", "2020-02-30", 5, "", "2020-05-01T10:00"],
            [dt.date(2020, 5, 1), None, None, None, dt.date(2020, 5, 1)],
            2,
        ),
        ("category", ["x", 1, 1.5, True, [1], {"a": None}, None], None, 0),
        ("list", [["a", 1, None, ""], "b", 5, [], None], [["a", "1"], ["b"], ["5"], [], None], 0),
    ],
)
def test_columns(name: str, values: list[Any], expected: list[Any] | None, misfits: int) -> None:
    found, (wrong, _) = column(values, name)
    if expected is None:
        expected = ["x", "1", "1.5", "true", "[1]", '{"a":null}', None]
    assert (found.to_pylist(), wrong) == (expected, misfits)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("number", pa.float64()),
        ("date", pa.date32()),
        ("category", pa.string()),
        ("list", pa.list_(pa.string())),
    ],
)
def test_column_types_do_not_depend_on_values(name: str, expected: pa.DataType) -> None:
    assert column([], name)[0].type == column([None], name)[0].type == expected


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=5,
)


@given(st.lists(VALUES).map(tuple))
def test_values_come_back(values: tuple[Any, ...]) -> None:
    assert decode(encode(values)) == list(values)


def test_values_json_does_not_have() -> None:
    values = (dt.date(2020, 5, 1), decimal.Decimal("1.5"), float("nan"), b"x", {1: 2})
    assert decode(encode(values)) == ["2020-05-01", "1.5", None, "b'x'", {"1": 2}]


@given(VALUES, st.sampled_from(["number", "date", "category", "list"]))
def test_any_value_fits_or_is_a_misfit(value: Any, name: str) -> None:
    found, (wrong, _) = column([value], name)
    missing = found[0].as_py() is None
    assert wrong == (missing and kind(value) != "null")


def test_values_of_numpy_are_what_they_hold() -> None:
    values = (np.array(["a", "b"]).tolist(), np.array([1, 2]), np.float64(1.5), np.int64(3))
    assert [kind(value) for value in values] == ["list", "list", "number", "number"]
    assert decode(encode(values)) == [["a", "b"], [1, 2], 1.5, 3]
