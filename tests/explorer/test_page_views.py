"""What views show: filters as they were given, plots to scale, words that are not cut."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import strod
from tests.explorer.shown import records, settled, shown
from tests.explorer.test_page import base_of, enter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.browser import Browser

LABEL = "主題模型與階層式主題之張量分解及其於大規模文獻之應用"
RIGHT = "نمذجة الموضوعات الهرمية للنصوص الطويلة جدا في المكتبات الرقمية العامة"
YEARS = [1990, 1991, 1992, 1993, 1994, 2018]
META = ["date", "group", "topic", "documents", "era:number"]


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Years with a gap, fields that are called as columns of answers are, wide names."""
    target = tmp_path_factory.mktemp("views") / "of my papers.strod"
    rows = records(600)
    for place, row in enumerate(rows):
        row |= {"date": f"{YEARS[place % 6]}-05-01", "topic": "xyz"[place % 3]}
        row |= {"documents": str(place % 2), "era": 1900 + place % 40}
    built = strod.build(rows, out=target, meta=META, children=3, height=2)
    built.rename("o/1", LABEL)
    built.rename("o/2", RIGHT)
    with shown(target) as address:
        yield address


def where_of(page: Page) -> str:
    """The filters in the address."""
    return parse_qs(urlsplit(page.url).query)["where"][0]


def test_filters_are_as_given(browser: Browser, link: str) -> None:
    """Whatever the other values are, changing one filter changes nothing else."""
    page, draw = browser.page, Random(4)
    enter(page, link)
    signs = [*"ab  '\"(),=<>-15", "AND", "é", "漢"]
    values = ["  spaced ", "", "''", "2015 ", " "]
    values += ["".join(draw.choices(signs, k=draw.randint(1, 8))) for _ in range(8)]
    for value in values:
        written = f"'{value.replace(chr(39), chr(39) * 2)}'"
        where = f"group != {written} AND date >= 1991"
        page.goto(f"{base_of(link)}/documents?where={quote(where)}")
        settled(page)
        page.wait_for_selector("button:enabled >> text=Add a filter")
        boxes = page.locator(".filter input")
        assert boxes.nth(0).input_value() == value
        boxes.nth(1).fill("1992")
        boxes.nth(1).press("Tab")
        page.wait_for_url(lambda url: "1992" in url)
        kept = where_of(page).partition(" AND date")[0]
        assert kept.removeprefix("group != ").strip("'") == written.strip("'")
        assert where_of(page).endswith(" AND date >= 1992")
        settled(page)
        assert boxes.nth(0).input_value() == value
