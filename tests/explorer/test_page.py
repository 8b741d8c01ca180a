"""The page in a browser: every view, by mouse and by keyboard, for everybody."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest

import strod
from tests.browser import NEEDED, opened
from tests.explorer.shown import META, records, settled, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page

    from tests.browser import Browser

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
# By default axe leaves some out that WCAG 2.2 asks for, the size of targets among them.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WORD = "riveroaka"
VIEWS = {
    "overview": "/",
    "topic": "/topic/o/1",
    "documents": "/documents?topic=o/1&where=date%20%3E%3D%202012",
    "document": "/document/3",
    "search": f"/search?q={WORD}",
    "slices": "/slices?where=date%20%3E%3D%202015&by=group&measure=lift",
    "revise": "/revise?verb=expand&topics=o/2&children=2&preview=1",
    "compare": "/compare?a=o/1&b=o/2",
    "history": "/history",
    "report": "/report",
}
STATES = {  # what is not there, empty or wrong
    "no topic": "/topic/o/99",
    "no page": "/nowhere",
    "nothing asked": "/search",
    "nothing found": "/search?q=nowhereatall",
    "no such field": "/documents?where=price%20%3E%203",
    "a leaf": "/topic/o/1/1",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of three topics with three each; nobody changes it."""
    target = tmp_path_factory.mktemp("shown") / "papers.strod"
    strod.build(records(600), out=target, meta=META, children=3, height=2)
    return target


@pytest.fixture(scope="module")
def link(built: Path) -> Iterator[str]:
    """Where that tree is shown."""
    with shown(built) as address:
        yield address


@pytest.fixture
def own(built: Path, tmp_path: Path) -> Iterator[str]:
    """Where a copy is shown that may be changed."""
    with shown(shutil.copytree(built, tmp_path / "papers.strod")) as address:
        yield address


def base_of(link: str) -> str:
    """Where a server is, without the token."""
    return link.partition("/?")[0]


def enter(page: Page, link: str, path: str = "/") -> str:
    """Open a view with the token of the link; what it says."""
    page.goto(link)
    if path != "/":
        page.goto(page.url.rstrip("/") + path)
    return settled(page)


def keeps(page: Page) -> None:
    """Loading the page again shows the same."""
    address, text = page.url, settled(page)
    page.reload()
    assert settled(page) == text
    assert page.url == address


def paths(page: Page) -> list[str]:
    """All topics that there are."""
    found = page.evaluate("fetch('/api/tree').then(r => r.json())")
    return sorted(found["topics"]["path"])


# -- the path of a person ------------------------------------------------------------------


def test_by_mouse(browser: Browser, own: str) -> None:
    """Open, search, topic, document, slice, split, merge, undo, export; reloading at each step."""
    go_through(browser, own)


@pytest.mark.long
@pytest.mark.parametrize("late", [300, 1200])
def test_by_mouse_with_late_answers(chromium: Chromium, own: str, late: int) -> None:
    """The same where the server takes its time; nothing is lost that is typed meanwhile."""
    with opened(chromium, late=late) as browser:
        go_through(browser, own)


def test_typed_stays(chromium: Chromium, link: str) -> None:
    """Answers that come while a person types change nothing of what is typed."""
    with opened(chromium, late=600) as browser:
        page = browser.page
        enter(page, link, "/slices")
        page.reload()
        page.click("button >> text=Add a filter")  # waits for the names of fields
        page.type(".filter input", "2015", delay=200)
        assert page.input_value(".filter input") == "2015"
        page.press(".filter input", "Tab")
        page.wait_for_selector("text=300 documents, 50.0% of all")
        page.click("button >> text=Clear")
        page.click("button >> text=Add a filter")
        assert page.input_value(".filter input") == ""
        enter(page, link, f"/search?q={WORD}")
        page.click("#search")
        page.keyboard.press("End")
        page.keyboard.type("  abc ", delay=400)  # slower than the search that goes along
        assert page.input_value("#search") == f"{WORD}  abc "


def go_through(browser: Browser, own: str) -> None:
    """The path of a person by mouse."""
    page = browser.page
    assert "600 documents" in enter(page, own)
    keeps(page)
    page.fill("#search", WORD)
    page.press("#search", "Enter")
    page.wait_for_selector("text=Where they live")
    assert f"q={WORD}" in page.url
    assert page.locator("mark", has_text=WORD).count()
    page.wait_for_selector("[role=treeitem] .lift")  # painted over the tree
    keeps(page)
    page.click("main table .topiclink >> nth=1")
    page.wait_for_selector("text=Documents with most of it")
    assert "/topic/o/" in page.url
    keeps(page)
    page.click(".documents .docline a >> nth=0")
    page.wait_for_selector("text=Its topics")
    assert "/document/" in page.url
    assert page.locator(".text .w").count()
    keeps(page)
    page.go_back()
    page.wait_for_selector("text=Documents with most of it")
    slice_by_mouse(page)
    before = paths(page)
    split_by_mouse(page)
    merge_by_mouse(page)
    for _ in range(2):
        page.click("header [aria-label=Undo]")
    page.wait_for_selector("header [aria-label=Undo][disabled]")
    assert paths(page) == before
    page.click("nav >> text=Report")
    page.wait_for_selector("text=Take it with you")
    keeps(page)
    name, file = browser.download("a[download] >> text=JSON")
    assert name == "papers.json"
    assert json.loads(file.read_text())
    host = urlsplit(own).netloc
    assert {urlsplit(one).netloc for one in browser.requests} == {host}
    assert browser.problems == []


def settled_revision(page: Page) -> int:
    """The revision that the server is at."""
    found: int = page.evaluate("fetch('/api/workspace').then(r => r.json())")["revision"]
    return found


def slice_by_mouse(page: Page) -> None:
    """Documents since 2015, and how they differ."""
    page.click("nav >> text=Slices")
    page.click("button >> text=Add a filter")
    page.fill(".filter input", "2015")
    page.press(".filter input", "Tab")
    page.wait_for_selector("text=Share of the slice")
    assert re.search(r"where=date\+%3E%3D\+2015", page.url)
    assert "300 documents, 50.0% of all" in settled(page)
    keeps(page)
    page.click("aside [aria-label='Show the whole tree again']")
    page.wait_for_selector(".lens.painted", state="detached")


def split_by_mouse(page: Page) -> None:
    """The first topic into two; it has three."""
    page.goto(page.url.split("/slices")[0] + "/topic/o/1")
    page.click(".verbs >> text=Split")
    page.select_option("label:has-text('Into') select", "2")
    page.click("button >> text=Preview")
    page.wait_for_selector(".outcome")
    assert "all stay as they are" in settled(page)
    assert paths(page).count("o/1/3") == 1  # nothing is written yet
    keeps(page)
    page.fill("label:has-text('Note') input", "two are enough")
    page.click("button >> text=Apply")
    page.wait_for_url("**/revise?done=2")
    assert "all as they were" in settled(page)
    keeps(page)
    assert "two are enough" in settled(page)


def merge_by_mouse(page: Page) -> None:
    """Two topics that are marked in the tree."""
    rows = page.locator("[role=treeitem][aria-level='2']")
    for place in (0, 1):
        rows.nth(place).click(modifiers=["Control"])
    page.click(".marked >> text=Merge")
    page.wait_for_selector("text=Nothing is written yet.")
    page.click("button >> text=Preview")
    page.wait_for_selector(".outcome >> text=Joined")
    keeps(page)
    page.click("button >> text=Apply")
    page.wait_for_url("**/revise?done=3")
    assert "all as they were" in settled(page)


def tab_to(page: Page, selector: str, most: int = 120) -> None:
    """Press Tab until the focus is on something."""
    for _ in range(most):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} is not reached by Tab")


def test_by_keyboard(browser: Browser, own: str) -> None:
    """The same without a mouse."""
    page, keys = browser.page, browser.press
    enter(page, own)
    keys("/")
    page.keyboard.type(WORD)
    keys("Enter")
    page.wait_for_selector("text=Where they live")
    settled(page)
    tab_to(page, "main .topiclink")
    keys("Enter")
    page.wait_for_selector("text=Documents with most of it")
    settled(page)
    tab_to(page, "main .documents .docline a")
    keys("Enter")
    page.wait_for_selector("text=Its topics")
    settled(page)
    tab_to(page, "header a[href^='/slices']")
    keys("Enter")
    page.wait_for_selector("button:enabled >> text=Add a filter")
    tab_to(page, ".filters button")
    keys("Enter")
    tab_to(page, ".filter input")
    page.keyboard.type("2015")
    keys("Enter")
    page.wait_for_selector("text=Share of the slice")
    split_by_keyboard(page)
    merge_by_keyboard(page)
    tab_to(page, "header [aria-label=Undo]")
    keys("Enter")
    page.wait_for_selector(".news >> text=undo (expand")
    tab_to(page, "header a[href^='/report']", 200)
    keys("Enter")
    page.wait_for_selector("text=Take it with you")
    tab_to(page, "a[download]", 200)
    with page.expect_download() as found:
        keys("Enter")
    assert found.value.suggested_filename == "papers.json"
    assert browser.problems == []


def walk_tree(page: Page, *keys: str) -> str:
    """Press keys in the tree; the topic that has the focus."""
    tab_to(page, "[role=treeitem]", 200)
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_selector("[role=treeitem]:focus")
    found: str = page.evaluate("document.activeElement.id")
    return found


def split_by_keyboard(page: Page) -> None:
    """Shift F10 in the tree revises a topic."""
    walk_tree(page, "Home", "ArrowDown", "Shift+F10")
    page.wait_for_url(re.compile("/revise"))
    tab_to(page, "label:has(select) select", 200)
    page.keyboard.type("2")
    tab_to(page, "button.main")
    page.keyboard.press("Enter")
    page.wait_for_selector(".outcome")
    settled(page)
    tab_to(page, ".preview button.main")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("done=2"))
    page.wait_for_selector("main h1:focus >> text=Revision 2")


def merge_by_keyboard(page: Page) -> None:
    """Space marks topics."""
    walk_tree(page, "Home", "ArrowDown", "Space")
    walk_tree(page, "End", "Space")
    tab_to(page, ".marked a")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("verb=merge"))
    tab_to(page, "main form button.main", 200)
    page.keyboard.press("Enter")
    page.wait_for_selector(".outcome")
    settled(page)
    tab_to(page, ".preview button.main")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("done=3"))
    page.wait_for_selector("main h1:focus >> text=Revision 3")
    page.keyboard.press("Tab")
    assert page.inner_text(":focus").strip() == "Undo"
    page.keyboard.press("Enter")
    page.wait_for_selector("main h1:focus >> text=(undone)")


def test_tree_by_keys(browser: Browser, link: str) -> None:
    """One stop of Tab; arrows, Home, End, letters and * as in every tree."""
    page = browser.page
    enter(page, link)
    names = page.locator("[role=treeitem] .name").all_inner_texts()
    assert len(names) == 13
    assert page.locator("[role=treeitem][tabindex='0']").count() == 1
    first = walk_tree(page, "Home")
    assert first == "row-o"
    assert walk_tree(page, "ArrowDown", "ArrowLeft") != first
    assert page.get_attribute(":focus", "aria-expanded") == "false"
    assert page.locator("[role=treeitem]").count() == 10
    walk_tree(page, "*")
    assert page.locator("[role=treeitem]").count() == 13
    assert walk_tree(page, "ArrowRight") != walk_tree(page, "ArrowLeft")
    assert walk_tree(page, "ArrowLeft", "ArrowLeft") == first
    assert page.inner_text(f"#{walk_tree(page, 'End')} .name") == names[-1]
    wanted = names[6]
    walk_tree(page, "Home")
    page.keyboard.type(wanted[:12])
    assert page.inner_text(":focus .name")[:12] == wanted[:12]
    row = page.locator(":focus")
    level, size = (int(row.get_attribute(f"aria-{name}") or 0) for name in ("level", "setsize"))
    assert (level, size) == (3, 3)


def test_drag(browser: Browser, link: str) -> None:
    """Dropped on one beside it a topic is to be merged, on another, moved; after a preview."""
    page = browser.page
    enter(page, link)
    rows = page.locator("[role=treeitem]")
    rows.nth(1).drag_to(rows.nth(5))
    page.wait_for_url("**/revise?verb=merge&topics=o/2&topics=o/1")
    rows.nth(2).drag_to(rows.nth(5))
    page.wait_for_url("**/revise?verb=move&topics=o/1/1&target=o/2")
    assert "Nothing is written yet." in settled(page)
    assert settled_revision(page) == 1


def test_two_at_once(chromium: Chromium, own: str) -> None:
    """The second is told, and nothing is lost."""
    with opened(chromium) as one, opened(chromium) as two:
        for who, topic in ((one, "o/1"), (two, "o/2")):
            enter(who.page, own, f"/revise?verb=collapse&topics={topic}&preview=1")
            who.page.wait_for_selector(".outcome")
        one.page.click("button >> text=Apply")
        one.page.wait_for_url("**/revise?done=2")
        if two.page.is_visible("button >> text=Apply"):
            two.page.click("button >> text=Apply")
        two.page.wait_for_selector("text=This workspace was changed elsewhere")
        assert settled_revision(two.page) == 2
        two.page.click("button >> text=Preview again")
        two.page.wait_for_selector(".outcome")
        two.page.click("button >> text=Apply")
        two.page.wait_for_url("**/revise?done=3")
        assert paths(two.page) == ["o", "o/1", "o/2", "o/3", "o/3/1", "o/3/2", "o/3/3"]


# -- for everybody -------------------------------------------------------------------------


def axe() -> str:
    """What looks for barriers; if it is missing, so is the test, or it fails where it must run."""
    if not AXE.exists():
        missing = pytest.fail if os.environ.get(NEEDED) else pytest.skip
        missing("axe-core is not there: npm ci in web/ installs it")
    return AXE.read_text()


@pytest.mark.parametrize("needed", ["", "1"])
def test_a_missing_axe_is_a_failure_where_browsers_are_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, needed: str
) -> None:
    monkeypatch.setattr(f"{__name__}.AXE", tmp_path / "axe.js")
    monkeypatch.setenv(NEEDED, needed)
    wanted = pytest.fail.Exception if needed else pytest.skip.Exception
    with pytest.raises(wanted, match="npm ci in web/ installs it"):
        axe()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe(chromium: Chromium, link: str, scheme: Literal["light", "dark"]) -> None:
    """axe-core has nothing to say against any view."""
    source = axe()
    with opened(chromium, scheme=scheme) as browser:
        page = browser.page
        enter(page, link)
        for name, path in (VIEWS | STATES).items():
            page.goto(base_of(link) + path)
            settled(page)
            page.evaluate(source)
            found = page.evaluate("tags => axe.run({runOnly: tags})", TAGS)["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], name


@pytest.mark.parametrize("width", [320, 768])
def test_narrow(chromium: Chromium, link: str, width: int) -> None:
    """Nothing is wider than the window."""
    with opened(chromium, width=width) as browser:
        enter(browser.page, link)
        for name, path in VIEWS.items():
            browser.page.goto(base_of(link) + path)
            settled(browser.page)
            wide = browser.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, name


def test_colours_by_choice(browser: Browser, link: str) -> None:
    """The switch goes from the system's colours to dark to light, and is remembered."""
    page = browser.page
    enter(page, link)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("[aria-label^='Colours']")
    assert page.evaluate(ground) != light
    page.reload()
    settled(page)
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("[aria-label^='Colours']")
    assert page.evaluate(ground) == light


def test_read_only(browser: Browser, built: Path) -> None:
    """Nothing offers what is refused."""
    with shown(built, "--read-only") as address:
        enter(browser.page, address, "/topic/o/1")
        assert browser.page.is_visible("header >> text=read-only")
        assert not browser.page.locator(".verbs, [aria-label=Undo], [draggable=true]").count()
        assert "read-only" in enter(browser.page, address, "/revise?topics=o/1")


def test_server_that_is_gone(browser: Browser, built: Path) -> None:
    """What was shown stays, with a word about it."""
    with shown(built) as address:
        enter(browser.page, address, "/topic/o/1")
        text = settled(browser.page)
    browser.page.wait_for_selector("text=The server does not answer.")
    assert settled(browser.page) == text


# -- texts of others -----------------------------------------------------------------------

HOSTILE = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "\"><svg onload=window.hit=1>'><style>*{display:none}</style>",
    "</title></textarea></script><b>bold</b>{{7*7}}${7*7}",
    "javascript:window.hit=1 \u2028 \u2029 \u202egnirts \u2066x\u2069 \x07\x1b[31m\x9b",
]
ELEMENTS = "document.querySelectorAll('script, style, img, link').length"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A workspace whose texts, ids, fields and names want to be something else."""
    target = tmp_path_factory.mktemp("hostile") / "<b>x.strod"
    rows = records(300)
    for place, row in enumerate(rows):
        bad = HOSTILE[place % len(HOSTILE)]
        row |= {"id": f"{place} {bad}", "text": f"{bad} {row['text']} {bad}", "group": bad}
    rows[7] |= {"group": "long" * 250_000, "text": f"{'W' * 1_000_000} {rows[7]['text']}"}
    built = strod.build(rows, out=target, meta=META, children=3, height=2)
    for path, bad in zip(("o/1", "o/2", "o/3"), HOSTILE, strict=False):
        built.rename(path, bad)
    with shown(target) as address:
        yield address


def test_hostile_content(browser: Browser, hostile: str) -> None:
    """All of it is text in every view: no script, no element, no style, nothing asked for."""
    page, base = browser.page, base_of(hostile)
    enter(page, hostile)
    first = page.evaluate(ELEMENTS)
    more = {"group": "/slices?by=group&where=group%20IS%20NOT%20NULL", "found": "/search?q=script"}
    for name, path in (VIEWS | more).items():
        page.goto(base + path)
        settled(page)
        assert page.evaluate("window.hit") is None, name
        assert (
            page.locator("main b:text-is('bold'), main img, main style, main script").count() == 0
        )
        assert (
            page.evaluate("document.querySelectorAll('script, style, img, link').length") == first
        )
        assert not re.search("[\u2028\u202e\u2066\x07\x1b\x9b]", page.inner_text("body")), name
    page.goto(base + "/document/0")
    assert HOSTILE[0] in settled(page)
    page.goto(base + "/document/7")
    assert "WWWW" in settled(page)
    assert {urlsplit(one).netloc for one in browser.requests} == {urlsplit(base).netloc}
    assert browser.problems == []


# -- what it weighs ------------------------------------------------------------------------


def test_budgets(browser: Browser, link: str) -> None:
    """The script and the style sheet are small, and the first view takes few requests."""
    folder = files("strod.explorer") / "static"
    script, style = ((folder / name).read_bytes() for name in ("app.js", "app.css"))
    assert len(gzip.compress(script)) <= 60_000
    assert len(gzip.compress(style)) <= 12_000
    enter(browser.page, link)
    browser.requests.clear()
    browser.page.goto(base_of(link) + "/")
    settled(browser.page)
    asked = [one for one in browser.requests if not one.endswith(".svg")]
    assert len(asked) <= 5
