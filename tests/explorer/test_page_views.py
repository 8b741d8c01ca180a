"""What views show: filters as they were given, plots to scale, words that are not cut."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import strod
from tests.explorer.shown import records, settled, shown
from tests.explorer.test_page import base_of, enter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, Route

    from tests.browser import Browser

LABEL = "主題模型與階層式主題之張量分解及其於大規模文獻之應用" * 2
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


def test_trends_are_to_scale(browser: Browser, link: str) -> None:
    """Years lie as far apart as they are, lines do not bridge years without documents."""
    page = browser.page
    enter(page, link, "/topic/o/1")
    page.wait_for_selector(".plot circle")
    found = page.locator(".plot circle").evaluate_all("all => all.map(e => +e.getAttribute('cx'))")
    assert len(found) == len(YEARS)
    scale = (found[-1] - found[0]) / (YEARS[-1] - YEARS[0])
    for x, year in zip(found, YEARS, strict=True):
        assert x == pytest.approx(found[0] + scale * (year - YEARS[0]), abs=0.2)
    assert page.locator(".plot polyline").count() == 2
    texts = page.locator(".plot .tick").all_text_contents()
    assert (texts[3], texts[-1]) == ("1990", "2018")
    assert page.locator("#row-o ~ .row .spark >> nth=0 >> polyline").count() == 2


def test_wide_names(browser: Browser, link: str) -> None:
    """Names in the plot of a slice are inside of it, and cut at their end."""
    page = browser.page
    enter(page, link, "/slices?where=group%20=%20'a'")
    page.wait_for_selector(".dotplot text >> nth=2")
    boxes = page.locator(".dotplot text").evaluate_all("all => all.map(e => e.getBBox().x)")
    assert min(boxes) >= 0
    texts = page.locator(".dotplot text").all_text_contents()
    assert texts[0][:3] == LABEL[:3]
    assert texts[0].endswith("…")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_function(
        "() => { const t = document.querySelector('.against'), f = t.parentElement;"
        " return t.scrollWidth <= f.clientWidth; }"
    )


@pytest.mark.parametrize("field", ["topic", "documents"])
def test_fields_named_as_columns(browser: Browser, link: str, field: str) -> None:
    """A field of the name of a column is shown by its own values."""
    page = browser.page
    enter(page, link, f"/slices?by={field}")
    head = page.locator(".heat thead th").all_inner_texts()
    assert head[1:] == {"topic": ["x", "y", "z"], "documents": ["0", "1"]}[field]


def test_the_newest_values_are_seen(browser: Browser, link: str) -> None:
    """Where values are in order and many, the last ones are in view."""
    page = browser.page
    enter(page, link, "/slices?by=era")
    page.wait_for_selector(".heat thead th >> text=1939")
    frame = page.locator(".scroll:has(.heat)")
    place, most = frame.evaluate("e => [e.scrollLeft, e.scrollWidth - e.clientWidth]")
    assert place == pytest.approx(most, abs=2)
    assert most > 0


def test_commands(browser: Browser, link: str) -> None:
    """Lines for a terminal name the workspace as a shell takes it; Python is called Python."""
    page = browser.page
    texts = {}
    enter(page, link)
    for view in ("/", "/?topic=o/3", "/compare?a=o/1&b=o/2", "/document/3", "/slices?by=group"):
        page.goto(base_of(link) + view)
        page.wait_for_selector(".command")
        settled(page)
        texts[view] = page.inner_text(".command")
    for view in ("/", "/?topic=o/3", "/slices?by=group"):
        assert texts[view].startswith("On the command line")
        assert re.search(r"strod \w+ '/.*/of my papers.strod'", texts[view]), view
    for view in ("/compare?a=o/1&b=o/2", "/document/3"):
        assert texts[view].startswith("In Python")
        assert "strod.open('/" in texts[view]


def test_one_name_of_a_document(browser: Browser, link: str) -> None:
    """A document is called by its id alone."""
    assert "document 3" not in enter(browser.page, link, "/document/3")


def test_what_bars_mean(browser: Browser, link: str) -> None:
    """Entities say in which order they come, and what their bars are."""
    page = browser.page
    text = enter(page, link, "/topic/o/1")
    assert "how much more typical of this topic than of the one above; bars are documents" in text


def test_nothing_found_is_neutral(browser: Browser, link: str) -> None:
    """A topic without any of the hits has no shade."""
    page = browser.page
    words = str(records(1)[0]["text"]).split()[:8]
    enter(page, link, f"/?q={'+'.join(words)}")
    page.wait_for_selector(".cell.d6, .cell.d5")
    empty = page.locator("[role=treeitem].none")
    assert empty.count()
    assert not empty.locator(".d0").count()
    assert not page.locator(".cell.d0").count()


def test_splits_that_are_offered(browser: Browser, link: str) -> None:
    """No more parts than there are documents for; an error speaks as the form does."""
    page = browser.page
    enter(page, link, "/revise?verb=expand&topics=o/1/1&children=20&preview=1")
    text = settled(page)
    assert re.search(
        "choose \\d or less at “Into”, or tick “even where few documents carry it”", text
    )
    enter(page, link, "/revise?verb=expand&topics=o/1/1")
    options = page.locator("label:has-text('Into') option")
    few = options.count()
    page.check("text=even where few documents carry it")
    page.wait_for_function("() => document.querySelectorAll('label:nth-of-type(2) option').length")
    assert few < options.count() == 20


def test_search_that_is_not_installed(browser: Browser, link: str) -> None:
    """The server says what to install."""
    page = browser.page
    text = "search needs another package: pip install 'tantivy>=0.27'"
    enter(page, link)

    def without(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"can_search": False})

    page.route("**/api/workspace", without)
    page.route("**/api/search*", lambda route: route.fulfill(status=400, json={"error": text}))
    page.goto(base_of(link) + "/search")
    page.wait_for_selector(f"main >> text={text}")
