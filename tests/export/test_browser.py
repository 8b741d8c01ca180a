"""The exported page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import strod

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace import Workspace
    from tests.browser import Browser


def test_it_shows_the_tree_and_asks_nobody(
    nasty: Workspace, browser: Browser, tmp_path: Path
) -> None:
    """Hostile names, ids and texts too."""
    file = tmp_path / "page.html"
    outcome = strod("export", nasty.path, "--to", "html", "--out", file, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    browser.open(file)
    paths = "[...document.querySelectorAll('.topic .path')].map(e => e.textContent)"
    assert sorted(browser.evaluate(paths)) == sorted(nasty.tree)
    assert browser.seen("summary .name")
    label = nasty.tree["o/1"].label
    assert label is not None
    names = browser.evaluate("[...document.querySelectorAll('.name')].map(e => e.textContent)")
    assert label in names  # the script in it is only text
    assert browser.requests == [file.as_uri()]
    assert browser.problems == []


def test_the_filter_finds_topics(nasty: Workspace, browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    nasty.export("html", file)
    phrase = nasty.tree["o/2"].phrases[0][0]
    browser.open(file)
    browser.click("#filter")
    browser.type(phrase.upper())
    assert browser.evaluate("document.querySelectorAll('.hit').length") > 0
    shown = "[...document.querySelectorAll('.topic')].filter(e => e.checkVisibility()).length"
    assert 0 < browser.evaluate(shown) < len(nasty.tree)
    browser.press("Escape")
    assert browser.evaluate("document.querySelectorAll('.hit').length") == 0
    assert browser.requests == [file.as_uri()]
    assert browser.problems == []
