"""The page while the tree changes: what it says is what was done."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from tests.explorer.shown import META, records, settled, shown
from tests.explorer.test_page import enter, keeps, paths, settled_revision

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page, Route

    from tests.browser import Browser

REVISION_IS = "n => fetch('/api/workspace').then(r => r.json()).then(w => w.revision === n)"
COLLAPSE = "/revise?verb=collapse&topics=o/1&preview=1"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of three topics with three each; nobody changes it."""
    target = tmp_path_factory.mktemp("shown") / "papers.strod"
    strod.build(records(600), out=target, meta=META, children=3, height=2)
    return target


@pytest.fixture
def path(built: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return shutil.copytree(built, tmp_path / "papers.strod")


@pytest.fixture
def own(path: Path) -> Iterator[str]:
    """Where that copy is shown."""
    with shown(path) as address:
        yield address


def planned(page: Page, link: str, path: str = COLLAPSE) -> None:
    """A preview, ready to be applied."""
    enter(page, link, path)
    page.wait_for_selector("button >> text=Apply")


def test_cancelled_too_late(browser: Browser, own: str) -> None:
    """Cancel before the server answered: the page waits for what it says, and shows it."""
    page, held = browser.page, []

    def hold(route: Route) -> None:
        held.append((route, route.fetch()))

    planned(page, own)
    page.route("**/api/apply*", hold)
    page.click("button >> text=Apply")
    page.wait_for_function(REVISION_IS, arg=2)
    page.click("button >> text=Cancel")
    page.wait_for_selector("text=Cancelling")
    [(route, response)] = held
    route.fulfill(response=response)
    page.wait_for_url("**/revise?done=2")
    page.wait_for_selector("main h1 >> text=Revision 2")
    assert "nothing was changed" not in page.inner_text("body")


def test_cancelled_in_time(browser: Browser, own: str) -> None:
    """Only what the server calls cancelled is said to have changed nothing."""
    page = browser.page
    planned(page, own)
    job = {"id": "x", "stage": "", "done": 0, "total": None}
    states = {"GET": "running", "DELETE": "cancelled"}

    def answer(route: Route) -> None:
        if route.request.method == "DELETE":
            states["GET"] = "cancelled"
        route.fulfill(json=job | {"state": states[route.request.method]})

    page.route("**/api/apply*", lambda route: route.fulfill(status=202, json={"job": "x"}))
    page.route("**/api/jobs/x", answer)
    page.click("button >> text=Apply")
    page.click("button >> text=Cancel")
    page.wait_for_selector(".news >> text=Cancelled: nothing was changed.")
    assert page.is_visible("button >> text=Apply")


def test_nobody_knows(browser: Browser, own: str) -> None:
    """Where the server falls silent the page claims nothing."""
    page = browser.page
    planned(page, own)
    page.route("**/api/apply*", lambda route: (route.fetch(), route.abort())[1])
    page.click("button >> text=Apply")
    page.wait_for_selector("text=The server did not say how it ended")
    page.wait_for_function(REVISION_IS, arg=2)
    assert "nothing was changed" not in page.inner_text("body")


def test_busy_server(browser: Browser, own: str) -> None:
    """Pin, undo and redo follow a job where the server has no time to do it at once."""
    page = browser.page

    def later(route: Route) -> None:
        route.continue_(url=f"{route.request.url.partition('?')[0]}?wait=0")

    page.route(re.compile(r"/api/(preview|apply)\b"), later)
    enter(page, own, "/topic/o/1")
    page.click("button >> text=Pin")
    page.wait_for_selector(".news >> text=done")
    page.click("header [aria-label=Undo]")
    page.wait_for_selector(".news >> text=undo")
    page.click("header [aria-label=Redo]")
    page.wait_for_selector(".news >> text=redo")
    assert settled_revision(page) == 2
    page.wait_for_selector("main >> text=pinned")


def test_undone(browser: Browser, own: str) -> None:
    """After Undo the view of a change says that it is undone, and what is there now."""
    page = browser.page
    planned(page, own)
    page.click("button >> text=Apply")
    page.wait_for_url("**/revise?done=2")
    assert "undone" not in settled(page)
    keeps(page)
    page.click("main button >> text=Undo")
    page.wait_for_selector("main >> text=This change was undone.")
    page.wait_for_selector("main h1:focus >> text=(undone)")
    text = settled(page)
    assert "What you see now is revision 1" in text
    assert "compared" not in text
    keeps(page)
    page.click("main button >> text=Redo")
    page.wait_for_selector("main button >> text=Undo")
    assert "other topics compared" in settled(page)
    page.click("header a >> text=Overview")
    settled(page)
    page.go_back()
    page.wait_for_selector("main h1 >> text=Revision 2")
    keeps(page)


def test_kept(browser: Browser, own: str) -> None:
    """Marks and a note that is half written are there when the page is loaded again."""
    page = browser.page
    enter(page, own)
    rows = page.locator("[role=treeitem][aria-level='2']")
    for place in (0, 1):
        rows.nth(place).click(modifiers=["Control"])
    page.reload()
    page.wait_for_selector("text=2 topics marked")
    page.click(".marked >> text=Merge")
    page.click("button >> text=Preview")
    page.fill("label:has-text('Note') input", "they are one")
    keeps(page)
    assert page.input_value("label:has-text('Note') input") == "they are one"
    page.click("button >> text=Don’t")
    page.click("button >> text=Preview")
    page.wait_for_selector("button >> text=Apply")
    assert page.input_value("label:has-text('Note') input") == ""


def test_built_anew(browser: Browser, path: Path, own: str) -> None:
    """A workspace that was built again in its place has revision 1, too, and is noticed."""
    page = browser.page
    assert "600 documents" in enter(page, own)
    strod.build(records(300), out=path, meta=META, children=2, height=1, overwrite=True)
    page.wait_for_selector("main >> text=300 documents")
    assert paths(page) == ["o", "o/1", "o/2"]
    page.wait_for_selector(".news >> text=changed elsewhere")
    assert page.locator("[role=treeitem]").count() == 3


def test_too_late(browser: Browser, path: Path, own: str) -> None:
    """What is refused because others were first is called so, whenever the page hears of it."""
    page = browser.page
    planned(page, own)
    strod.open(path).rename("o/2", "elsewhere")
    page.click("button >> text=Apply")
    page.wait_for_selector("text=This workspace was changed elsewhere")
    page.click("button >> text=Preview again")
    page.wait_for_selector("button >> text=Apply")
