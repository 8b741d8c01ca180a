"""The exported page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from tests.browser import opened
from tests.conftest import strod

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page

    from strod.workspace.workspace import Workspace
    from tests.browser import Browser


@pytest.fixture
def file(nasty: Workspace, tmp_path: Path) -> Path:
    """The page of a workspace with hostile names, ids and texts."""
    file = tmp_path / "page.html"
    outcome = strod("export", nasty.path, "--to", "html", "--out", file, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    return file


def seen(page: Page, selector: str) -> list[str]:
    """Texts of the elements that can be seen."""
    return page.locator(selector).filter(visible=True).all_text_contents()


def test_it_shows_the_tree_and_asks_nobody(nasty: Workspace, browser: Browser, file: Path) -> None:
    browser.open(file)
    assert browser.page.locator(".topic .path").all_text_contents() == sorted(nasty.tree)
    label = nasty.tree["o/1"].label
    assert label in seen(browser.page, ".name")  # the script in it is only text
    assert browser.requests == [file.as_uri()]
    assert browser.problems == []


def test_level_1_is_shown_first(browser: Browser, file: Path) -> None:
    browser.open(file)
    assert seen(browser.page, ".path") == ["o", "o/1", "o/2", "o/3"]
    browser.page.click("text=o/2")
    assert seen(browser.page, ".path") == ["o", "o/1", "o/2", "o/2/1", "o/2/2", "o/2/3", "o/3"]
    browser.page.click("#close")
    assert seen(browser.page, ".path") == ["o", "o/1", "o/2", "o/3"]


def test_everything_that_is_shown_is_found(nasty: Workspace, browser: Browser, file: Path) -> None:
    """Words, phrases, names and paths of all topics; the topics found are shown, with the way."""
    browser.open(file)
    words = [(path, word) for path, topic in nasty.tree.items() for word, _ in topic.top(12)]
    phrases = [(path, text) for path, topic in nasty.tree.items() for text, _ in topic.phrases[:10]]
    paths = [(path, path) for path in nasty.tree]
    names = [("o", "everything"), ("o/2", "É 漢字"), ("o/3", " a label, with COMMA ")]
    for path, text in (*words[::5], *phrases[::5], *paths, *names):
        browser.page.fill("#filter", text)
        shown = seen(browser.page, ".path")
        assert path in shown, text
        assert {up for up in nasty.tree if path.startswith(f"{up}/")} <= set(shown)
        assert browser.page.locator(".hit").count() > 0
        assert not browser.page.is_visible("#nothing")
    assert browser.problems == []


def test_what_is_found_is_marked_and_the_rest_comes_back(browser: Browser, file: Path) -> None:
    browser.open(file)
    browser.page.fill("#filter", "o/2/")
    assert browser.page.inner_text("#found") == "1 topic"
    assert seen(browser.page, ".hit") == ["o/2"]
    assert seen(browser.page, ".path") == ["o", "o/2", "o/2/1", "o/2/2", "o/2/3"]
    assert browser.page.locator(".about").filter(visible=True).count() == 1
    browser.press("Escape")
    assert browser.page.locator(".hit").count() == 0
    assert browser.page.inner_text("#found") == ""
    assert seen(browser.page, ".path") == ["o", "o/1", "o/2", "o/3"]


def test_where_nothing_fits_the_page_says_so(browser: Browser, file: Path) -> None:
    browser.open(file)
    assert not browser.page.is_visible("#nothing")
    browser.page.fill("#filter", "<i>gluon</i>")
    assert seen(browser.page, ".path") == []
    assert "No topic on this page has “<i>gluon</i>”" in browser.page.inner_text("#nothing")
    assert browser.page.inner_text("#found") == "no topics"
    browser.page.click("#clear")
    assert not browser.page.is_visible("#nothing")
    assert seen(browser.page, ".path") == ["o", "o/1", "o/2", "o/3"]
    assert browser.page.input_value("#filter") == ""


def test_the_policy_stops_what_is_not_the_page_s_own(browser: Browser, file: Path) -> None:
    added = "<script>document.title = 'taken'</script><style>h1 { display: none }</style></main>"
    file.write_text(file.read_text(encoding="utf-8").replace("</main>", added), encoding="utf-8")
    with browser.page.expect_console_message():
        browser.open(file)
    assert browser.page.title() == "na<s>ty &: topics"
    assert browser.page.is_visible("h1")
    assert browser.page.is_visible("#filter")  # its own script runs
    assert any("Content Security Policy" in problem for problem in browser.problems)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_it_can_be_read_everywhere(
    chromium: Chromium, file: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    """Nothing is cut off, and text stands out from what is behind it (WCAG: 4.5 to 1)."""
    texts = (
        "p, label, button, #found, .path, .name, .teaser, .weight, .phrases li, .words bdi, code"
    )
    with opened(chromium, width, 800, scheme) as browser:
        browser.open(file)
        browser.page.click("#open")
        for typed in ("", "o/1", "a", "gluon"):
            browser.page.fill("#filter", typed)
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.contrast(texts) >= 4.5
