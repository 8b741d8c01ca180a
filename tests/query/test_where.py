"""The language of `where`: what it means, and what it refuses."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.errors import UsageError
from strod.query.fields import Field, find_field
from strod.query.where import LONGEST, documents_where, parse_where
from tests.chance import drawn as examples
from tests.query.recount import META, value

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.query.conftest import Asked

REFUSED = {
    "nobody = 3": "nobody: no such field; fields: people, price, venue, when, year",
    "people >= 3": "people is a list, which >= does not compare",
    "venue < 'A'": "venue is text, which < does not compare",
    "price > cheap": "price is a number, 'cheap' is none",
    "when > yesterday": "when is a date, 'yesterday' is none; write 2015, 2015-03 or 2015-03-01",
    "when = 2015-13": "'2015-13' is none",
    "when = 2015-02-30": "'2015-02-30' is none",
    "when:month = 3": "compare when itself, as in when >= 2015-03",
    "lower(venue) = 'a'": "lower(…): there are no functions",
    "venue LIKE 'a%'": "'LIKE' where a comparison should be",
    "venue = 'a": "a quote is not closed at",
    "price = ": "the end where a value should be",
    "price": "the end where a comparison should be",
    "= 3": "'=' where a field should be",
    "(price = 3": "the end where a closing parenthesis should be",
    "price = 3)": "')' where AND, OR or the end should be",
    "price = 3 price = 4": "'price' where AND, OR or the end should be",
    "price = NULL": "for missing values say IS NULL",
    "price IS 3": "'3' where NULL should be",
    "price IN 3": "'3' where a parenthesis with values should be",
    "price IN (3": "the end where a comma or a closing parenthesis should be",
    "price NOT 3": "'3' where IN should be",
    "venue = 'a'; DROP TABLE x": "where AND, OR or the end should be",
    "": "where is empty",
    "   ": "where is empty",
    "(" * 60 + "price = 3" + ")" * 60: "more than 50 parentheses in each other",
    "price = 3 OR " * 2000 + "price = 3": "characters; 10,000 are the most",
    "!": "'!' makes no sense",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_makes_no_sense_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_where(text, META)
    assert REFUSED[text] in str(error.value)
    assert "\n" not in str(error.value)


def test_without_fields_it_says_how_to_keep_some() -> None:
    with pytest.raises(UsageError, match="no field was kept; build with meta"):
        parse_where("year = 3", {})


LETTERS = "price when people=<>!()'\", AND OR NOT IN IS NULL 3-."


@given(st.text(st.sampled_from(LETTERS), max_size=40))
@settings(max_examples=examples(300))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with suppress(UsageError):
        parse_where(text, META)


def count(asked: Asked, where: str) -> int:
    mask = documents_where(where, asked[0].snapshot.index.metadata)
    assert mask is not None
    return int(mask.sum())


def test_binding_and_letters(drawn: Callable[[int], Asked]) -> None:
    asked = drawn(3)
    both = count(asked, "year = 1996 or year = 1997 and venue = A")
    assert both == count(asked, "year = 1996 OR (year = 1997 AND venue = 'A')")
    assert count(asked, "NOT NOT year = 1996") == count(asked, 'year == "1996"')
    assert count(asked, "year <> 1996") == count(asked, "year != 1996")
    assert count(asked, "people = 'O''Neil'") == count(asked, 'people = "O\'Neil"') > 0
    assert count(asked, "year NOT IN (1996)") == count(asked, "year != 1996")


def test_what_is_missing_is_neither_true_nor_false(drawn: Callable[[int], Asked]) -> None:
    asked = drawn(3)
    everything = count(asked, "year > 0")
    there = count(asked, "venue IS NOT NULL")
    assert 0 < there < everything
    assert count(asked, "venue = A") + count(asked, "NOT venue = A") == there
    assert count(asked, "venue IS NULL OR venue IS NOT NULL") == everything
    known = count(asked, "people = Ada") + count(asked, "people != Ada")
    assert known == everything - count(asked, "people IS NULL")
    assert any(record["people"] == [] for record in asked[1].records.values())  # missing, too


LONG = (
    f"price IN ({','.join(map(str, range(2000)))})",
    f"price NOT IN ({','.join(['7'] * 4500)})",
    f"venue IN ({','.join(f'v{n}' for n in range(1500))}, A)",
    f"people IN ({','.join(f'p{n}' for n in range(1500))}, Ada)",
    f"when IN ({','.join(f'{n}-01' for n in range(1000, 2200))})",
    " OR ".join(["venue=A"] * 900),
    " AND ".join(["price<7"] * 800),
    "NOT " * 2400 + "venue=A",
)


@pytest.mark.parametrize("where", LONG, ids=[one[:12] for one in LONG])
def test_long_expressions_are_answered(drawn: Callable[[int], Asked], where: str) -> None:
    short = {
        " OR ": "venue = A", " AND ": "price < 7", "NOT NOT": "venue = A", "NOT IN": "price != 7",
        "venue": "venue = A", "people": "people = Ada", "price": "price IN (7)",
    }  # fmt: skip
    assert len(where) <= LONGEST
    asked = drawn(3)
    if where.startswith("when"):
        january = [value(one, "when") for one in asked[1].records.values()]
        assert count(asked, where) == sum(day is not None and day.month == 1 for day in january)
    else:
        same = next(text for part, text in short.items() if part in where)
        assert 0 < count(asked, same) == count(asked, where)


def test_members_of_in_may_overlap_and_be_no_number(drawn: Callable[[int], Asked]) -> None:
    asked = drawn(3)
    wanted = count(asked, "when = 1970 OR when = 1970-03 OR when = 1975-02")
    assert count(asked, "when IN (1970-03, 1975-02, 1970)") == wanted
    assert count(asked, "price IN (nan, 7)") == count(asked, "price = 7") > 0
    assert count(asked, "price IN (nan)") == 0
    assert count(asked, "price NOT IN (nan)") == count(asked, "price IS NOT NULL")
    assert count(asked, "year IN (1996, 1999)") == count(asked, "year = 1996 OR year = 1999")


def test_ids_are_a_field(drawn: Callable[[int], Asked]) -> None:
    assert count(drawn(3), "id IN (d1, d2, 'nobody')") == 2


def test_fields_with_parts() -> None:
    meta = {"date": "date", "price": "number", "tags": "list", "a:b": "category"}
    assert find_field("date:month", meta) == Field("date", "date", part="month")
    assert find_field("year", meta) == Field("date", "date", part="year")
    assert find_field("price:2.5", meta) == Field("price", "number", width=2.5)
    assert find_field("a:b", meta) == Field("a:b", "category")
    for asked, why in {
        "date:week": "after the colon comes one of year, quarter, month, day",
        "price:0": "the width of a bin",
        "price:nan": "the width of a bin",
        "price:-1": "the width of a bin",
        "tags:3": "tags is a list, which has no parts; say tags",
        "month:3": "no such field",
    }.items():
        with pytest.raises(UsageError, match=why):
            find_field(asked, meta)
    with pytest.raises(UsageError, match=r"of which date\? say date:year or seen:year"):
        find_field("year", meta | {"seen": "date"})
