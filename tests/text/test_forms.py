"""Values as people write them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.text.forms import _DATES, MetaField, likely_forms, read_form
from tests.chance import drawn


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("day", MetaField("day")),
        ("day:date", MetaField("day", "date")),
        ("dc:date:auto", MetaField("dc:date", "auto")),
        ("day:date:%d.%m.%Y", MetaField("day", "date", "%d.%m.%Y")),
        ("day:date:%d.%m.%Y %H:%M", MetaField("day", "date", "%d.%m.%Y %H:%M")),
        ("dc:date:date:%Y", MetaField("dc:date", "date", "%Y")),
        ("dc:date:x", MetaField("dc:date:x")),
        ("price:number:,", MetaField("price", "number", ",")),
        ("tags:list:|", MetaField("tags", "list", "|")),
        ("tags:list::", MetaField("tags", "list", ":")),
        ("tags:category:|", MetaField("tags:category:|")),
    ],
)
def test_entries(entry: str, expected: MetaField) -> None:
    assert MetaField.from_entry(entry) == expected
    assert MetaField.from_entry(expected.entry) == expected
    assert not expected.problem


@pytest.mark.parametrize("form", ["%d.%m.", "%", "%Q", "%H:%M"])
def test_forms_of_dates_need_a_year(form: str) -> None:
    assert "write it as %d.%m.%Y" in MetaField("day", "date", form).problem


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("12,50", ",", 12.5),
        (" -1.234.567,8 ", ",", -1234567.8),
        ("1 234", ",", 1234.0),
        (",5", ",", 0.5),
        ("12.50", ",", None),
        ("1.23,4", ",", None),
        ("12,", ",", None),
        ("1e3", ",", None),
        ("", ",", None),
        ("-", ",", None),
        ("\u0663", ",", None),
        ("1,234.5", ".", 1234.5),
        ("1'234'567", ".", 1234567.0),
        ("12,50", ".", None),
    ],
)
def test_numbers(text: str, mark: str, value: float | None) -> None:
    assert read_form(text, "number", mark) == value


def test_lists() -> None:
    assert read_form("a| b ||c d", "list", "|") == ["a", "b", "c d"]
    assert read_form("a; b", "list", ";") == ["a", "b"]
    assert read_form(" ", "list", ";") == []


@settings(max_examples=drawn(100))
@given(st.lists(st.dates(dt.date(1970, 1, 1), dt.date(2060, 1, 1)), min_size=1), st.data())
def test_forms_are_found_again(days: list[dt.date], data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(_DATES))
    texts = [day.strftime(form) for day in days]
    assert f"date:{form}" in likely_forms(texts)
    century = 68 if "%y" in form else 99
    assert all(
        read_form(text, "date", form) == day or day.year % 100 > century
        for text, day in zip(texts, days, strict=True)
    )


@pytest.mark.parametrize(
    "values",
    [[], ["soon"], ["16.02.1999", "soon"], [1999], ["16.02.1999", 3], ["30.02.1999"], ["a 1999 b"]],
)
def test_other_values_are_in_no_form(values: list[Any]) -> None:
    assert likely_forms(values) == []
