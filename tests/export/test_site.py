"""The explorer as files: what is written, over what, and how it looks in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import strod
from strod.cli.console import size
from strod.errors import UsageError
from strod.explorer.postings import Postings, form, shard_of
from strod.export import export
from strod.query.parse import All, Either, Not, parse
from strod.query.terms import Term, Words
from tests.conftest import names
from tests.explorer.shown import META, records, settled
from tests.export.conftest import NAMES, SCRIPT
from tests.export.test_writing import Told, run
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strod.query.parse import Query
    from strod.workspace.workspace import Workspace
    from tests.browser import Browser

WORD = "riveroaka"
SAFE = re.compile(r"[a-z0-9_-]+\.(?:json|html|js|css|svg|txt)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Three topics with three each, with dates."""
    out = tmp_path_factory.mktemp("shared") / "papers.strod"
    return strod.build(records(400), out=out, meta=META, children=3, height=2, workers=1)


@pytest.fixture(scope="module")
def site(built: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "papers"
    export(built, "site", out, documents=30)
    return out


def contents(folder: Path) -> dict[str, str]:
    """Digest of every file."""
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read(site: Path, name: str) -> Any:
    return json.loads((site / "data" / f"{name}.json").read_bytes())


# -- files ---------------------------------------------------------------------------------


def test_files(built: Workspace, site: Path) -> None:
    assert names(site) == ["app.css", "app.js", "data", "icon.svg", "index.html", "licences.txt"]
    assert all(SAFE.fullmatch(path.name) for path in site.rglob("*") if path.is_file())
    paths = {f"{topic.path.replace('/', '-')}.json" for topic in built.tree.values()}
    assert set(names(site / "data/topic")) == set(names(site / "data/documents")) == paths
    listed = {
        row["number"]
        for path in paths
        for row in read(site, f"documents/{path.removesuffix('.json')}")["documents"]
    }
    assert set(names(site / "data/document")) == {f"{number}.json" for number in listed}
    assert read(site, "search/documents")["number"] == sorted(listed)
    about = read(site, "workspace")
    assert about["read_only"]
    assert (about["documents"], about["shown"]) == (400, len(listed))
    assert read(site, "trends")["rows"]
    assert read(site, "topic/o-1")["trend"]["series"]


def test_the_page_names_its_files_beside_it(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="([^"]+)"', page) == ["icon.svg", "app.css", "app.js"]
    assert "default-src 'none'; script-src 'self'" in page
    assert page.index("Content-Security-Policy") < page.index("app.js")


def test_where_the_workspace_lies_is_not_told(built: Workspace, site: Path) -> None:
    folder = str(built.path.parent).encode()
    assert not [path for path in site.rglob("*.json") if folder in path.read_bytes()]


def test_the_same_bytes_twice(built: Workspace, site: Path, tmp_path: Path) -> None:
    export(built, "site", tmp_path / "again", documents=30)
    assert contents(tmp_path / "again") == contents(site)


def test_lists_are_as_long_as_asked(built: Workspace, tmp_path: Path) -> None:
    export(built, "site", tmp_path / "few", documents=2)
    found = read(tmp_path / "few", "documents/o-1")
    assert len(found["documents"]) == 2 < found["total"]
    export(built, "site", tmp_path / "none", documents=0)
    assert names(tmp_path / "none/data/document") == []
    assert read(tmp_path / "none", "workspace")["shown"] == 0


def test_long_texts_are_cut(tmp_path: Path) -> None:
    texts = [" ".join([text] * 60) for text in planted_texts(120)]
    workspace = strod.build(texts, out=tmp_path / "w.strod", children=3, height=1, workers=1)
    export(workspace, "site", tmp_path / "site")
    found = read(tmp_path / "site", "document/0")
    assert len(found["text"]) == 2000 < found["length"]
    assert found["words"]
    assert max(end for _, end, _ in found["words"]) <= 2000


# -- over what -----------------------------------------------------------------------------


def test_only_a_site_is_replaced(flat: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "site"
    export(flat, "site", out)
    with pytest.raises(UsageError, match="exists already"):
        export(flat, "site", out)
    export(flat, "site", out, overwrite=True)
    for name in ("mine.txt", "data/mine.json", "data/document/mine.txt", "data/topic/x/y"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("keep", encoding="utf-8")
        with pytest.raises(UsageError, match="is not a folder that an export made"):
            export(flat, "site", out, overwrite=True)
        (out / name).unlink()
    export(flat, "site", out, overwrite=True)
    (out / "index.html").write_text("<h1>mine</h1>", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a folder that an export made"):
        export(flat, "site", out, overwrite=True)
    (out / "index.html").unlink()
    for to in ("site", "csv"):  # files of the same names are no site without its page
        with pytest.raises(UsageError, match="is not a folder that an export made"):
            export(flat, to, out, overwrite=True)


def test_what_a_killed_run_left_is_no_obstacle(flat: Workspace, tmp_path: Path) -> None:
    export(flat, "site", tmp_path / "a")
    (tmp_path / "a/data/workspace.json").unlink()
    (tmp_path / "a").rename(tmp_path / ".b.building")
    export(flat, "site", tmp_path / "b")
    assert names(tmp_path) == ["b"]
    (tmp_path / ".c.building").mkdir()
    (tmp_path / ".c.building/mine.txt").touch()
    with pytest.raises(UsageError, match="was not left by strod"):
        export(flat, "site", tmp_path / "c")


def test_the_command(built: Workspace, tmp_path: Path) -> None:
    said = run(built.path, "--to", "site", "--out", tmp_path / "s", "--documents", 1)
    assert said.exit_code == 0, said.output
    written = sum(path.stat().st_size for path in (tmp_path / "s").rglob("*") if path.is_file())
    assert said.stdout.endswith(f"12 topics, {size(written)}\n")


def test_wrong_usage(flat: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="writes a folder"):
        export(flat, "site")
    with pytest.raises(UsageError, match="is not for"):
        export(flat, "site", tmp_path / "x", phrases=3)
    assert names(tmp_path) == []


def test_progress_is_told(built: Workspace, tmp_path: Path) -> None:
    export(built, "site", tmp_path / "first", documents=3)  # what it asks is there now
    told = Told()
    export(built, "site", tmp_path / "x", documents=3, progress=told)
    assert told.total == told.done == len(built.tree) + len(names(tmp_path / "x/data/document"))


# -- words ---------------------------------------------------------------------------------


def test_forms_and_files() -> None:
    assert form("Schrödinger\u2019s") == "schrodinger's"
    assert [shard_of(one) for one in ("models", "a", "éa", "../x", "漢字")] == [
        "mo", "a", "_9a", "_e_e", "_2_n",
    ]  # fmt: skip


def test_postings_are_folded_as_the_corpus_is() -> None:
    postings = Postings(lambda word: word.lower().removesuffix("s"))
    for text in ("Models of rivers", "nothing", "a model, two models"):
        postings.add(text)
    shards = postings.shards()
    assert shards["mo"] == {
        "forms": {"model": ["model"], "models": ["model"]},
        "words": {"model": [0, 1, 2, 2]},  # in documents 0 and 0 + 2, once and twice
    }
    assert postings.lengths == [3, 1, 4]


# -- in a browser --------------------------------------------------------------------------


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Where Python's own server shows a folder, until the block ends."""
    arguments = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(arguments, cwd=folder, **pipes) as server:
        found = re.search(r"http://\S+?/", server.stdout.readline() if server.stdout else "")
        try:
            assert found is not None
            yield found[0]
        finally:
            server.terminate()


def test_in_a_browser(browser: Browser, site: Path) -> None:
    """Below a path: the tree, a topic, a document, a search; reloading and going back."""
    page = browser.page
    with served(site.parent) as base:
        page.goto(f"{base}papers/")
        assert "400 documents" in settled(page)
        assert "Slices" not in page.inner_text("header")
        page.goto(f"{base}papers/#/topic/o/1")
        page.wait_for_selector("text=Documents with most of it")
        page.wait_for_selector("text=Over time")
        page.click(".documents .docline a >> nth=0")
        page.wait_for_selector("text=Its topics")
        assert page.locator(".text .w").count()
        page.reload()
        assert "Its topics" in settled(page)
        page.go_back()
        page.wait_for_selector("text=Documents with most of it")
        page.fill("#search", WORD)
        page.press("#search", "Enter")
        page.wait_for_selector("text=Where they live")
        assert page.locator("mark", has_text=WORD).count()
        assert page.locator("[role=treeitem] .lift").count()
        page.goto(f"{base}papers/#/documents?topic=o/1")
        page.wait_for_selector("text=this site has 30 of")
        assert "1–20 of the best 30 documents" in settled(page)
        page.goto(f"{base}papers/#/slices")
        page.wait_for_selector("text=This view needs a server.")
        for view in ("history", "report"):
            page.goto(f"{base}papers/#/{view}")
            assert not re.search("needs a server|missing", settled(page))
    assert browser.problems == []
    assert all(address.startswith(f"{base}papers/") for address in browser.requests)


def hits(page: Any, base: str, query: str) -> int:
    """How many documents a search of the page finds."""
    page.goto("about:blank")
    page.goto(f"{base}#/search?q={query}")
    text = settled(page)
    found = re.search(r"^([\d,]+) documents?$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def test_searches(browser: Browser, site: Path) -> None:
    """As often as the texts of the site say."""
    texts = [read(site, f"document/{n}")["text"] for n in read(site, "search/documents")["number"]]
    bags = [set(re.findall(r"\w+", text.lower())) for text in texts]
    word, *others = sorted({one for bag in bags for one in bag if len(one) > 4})
    other = max(others, key=lambda one: sum(one in bag and word in bag for bag in bags))
    with served(site) as base:
        page = browser.page
        found = [hits(page, base, q) for q in (word, word.upper(), f"{word}+{other}")]
        assert found[0] == found[1] == sum(word in bag for bag in bags) > 0
        assert found[2] == sum({word, other} <= bag for bag in bags)
        assert hits(page, base, f"{word}+OR+{other}") == sum(bool({word, other} & b) for b in bags)
        assert hits(page, base, f"{word}+-{other}") == found[0] - found[2]
        begun = sum(any(one.startswith(word[:3]) for one in bag) for bag in bags)
        assert hits(page, base, f"{word[:3]}*") == begun
        assert hits(page, base, "nowhereatall") == hits(page, base, "__proto__") == 0


def drawn_query(draw: Random, known: list[str]) -> str:
    """Words, operators and parentheses in a row, which need not make sense."""
    parts = []
    for _ in range(draw.randint(1, 5)):
        word = draw.choice(known)
        cut = draw.choice([f"{word[: draw.randint(1, 4)]}*", word, word, f'"{word}"', f"-{word}"])
        one = draw.choice([cut, cut, cut, f"({cut} OR {draw.choice(known)})", f"({cut}"])
        parts += [one, draw.choice(["", "", "", "OR", "OR", "AND", "NOT"])]
    return " ".join(parts)


def agrees(query: Query, bag: set[str]) -> bool:
    """Whether a document has what a query asks for."""
    if isinstance(query, Term):
        if query.prefix:
            return any(one.startswith(query.words[0]) for one in bag)
        return bag.issuperset(query.words)
    if isinstance(query, All):
        return all(agrees(part, bag) for part in query.parts)
    if isinstance(query, Either):
        return any(agrees(part, bag) for part in query.parts)
    return isinstance(query, Not) and not agrees(query.part, bag)


def test_the_language_of_queries(browser: Browser, built: Workspace, site: Path) -> None:
    """What the server takes means the same here, and what it refuses is refused."""
    texts = [read(site, f"document/{n}")["text"] for n in read(site, "search/documents")["number"]]
    bags = [set(re.findall(r"\w+", text.lower())) for text in texts]
    often = Counter(one for bag in bags for one in bag if len(one) > 3).most_common(60)
    draw, words = Random(9), Words(built.corpus.about.settings)
    known = [one for one, size in often if size < len(bags)]
    a, b, c = known[:3]
    asked = [
        f"{a} OR {b} {c}",
        f"{a} OR -{b}",
        f"{a[0]}*",
        f"-{a}",
        f"{a} -({b} OR {c})",
        "AND",
        f'"{a}',
    ]
    with served(site) as base:
        for query in [*asked, *(drawn_query(draw, known) for _ in range(25))]:
            found = hits(browser.page, base, quote(query))
            refused = browser.page.locator("main [role=alert]").count()
            try:
                meant = parse(query, words, {})
            except UsageError:
                assert refused, query
            else:
                assert (found, refused) == (sum(agrees(meant, bag) for bag in bags), 0), query
        hits(browser.page, base, "group:a")
        assert "values of metadata are looked up by a server alone" in settled(browser.page)


def test_searches_in_any_letters(browser: Browser, tmp_path: Path) -> None:
    """The page and the files agree on what a word is, and in which file it stands."""
    texts = [f"Schrödinger\u2019s équation 主题模型 МОДЕЛЬ ภาษาไทย 3d river {n}" for n in range(20)]
    workspace = strod.build(texts, out=tmp_path / "w.strod", height=0, workers=1)
    export(workspace, "site", tmp_path / "site", documents=7)
    asked = ["schrodinger's", "SCHRÖDINGER\u2019S", "Équation", "equat*", "主题模型", "题模"]
    with served(tmp_path / "site") as base:
        for query in [*asked, "модель", "ภาษา", "3D", '"RIVER"']:
            assert hits(browser.page, base, query) == 7, query
        assert hits(browser.page, base, "型主") == 0
    assert browser.problems == []


def test_what_was_undone_is_not_told(browser: Browser, built: Workspace, tmp_path: Path) -> None:
    """The history of a site is that of what it shows."""
    shutil.copytree(built.path, tmp_path / "own.strod")
    own = strod.open(tmp_path / "own.strod")
    own.rename("o/1", "kept")
    own.rename("o/1", "taken back")
    own.undo()
    export(own, "site", tmp_path / "site", documents=1)
    with served(tmp_path / "site") as base:
        browser.page.goto(f"{base}#/history")
        text = settled(browser.page)
    assert "kept" in text
    assert "taken back" not in text


def test_hostile_text_is_text(browser: Browser, nasty: Workspace, tmp_path: Path) -> None:
    export(nasty, "site", tmp_path / "site", documents=5)
    assert all(SAFE.fullmatch(path.name) for path in tmp_path.rglob("*.*") if path.is_file())
    page = browser.page
    with served(tmp_path / "site") as base:
        shown = ""
        for view in ("", "topic/o/1", "documents?topic=o/1", "document/0", "search?q=quoted"):
            page.goto(f"{base}#/{view}")
            shown += settled(page) + page.inner_text("aside")
            assert page.evaluate("document.scripts.length") == 1
        assert SCRIPT in shown
        assert "=1+2 <script>" in NAMES["o/1"]
        assert "=1+2 <script>" in shown
        for view in ("topic/../../x", "document/../report", "documents?topic=../workspace"):
            page.goto(f"{base}#/{view}")
            page.wait_for_selector("text=/There is no topic|A document has a number/")
        assert not [address for address in browser.requests if ".." in address]
    assert browser.problems == []
