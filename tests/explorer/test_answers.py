"""ETags, packing, the description, and what is text stays text."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import strod
from strod.explorer.answers import LARGEST, ROOM, Cache, Content
from strod.explorer.parameters import Parameter, body_values, query_values
from strod.explorer.routes import ROUTES
from strod.explorer.spans import found_words
from strod.text.reference import tokens, word_spans
from strod.workspace.workspace import Workspace
from tests.conftest import command as in_process
from tests.conftest import strod as command
from tests.explorer.conftest import TOKEN, serving
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.explorer.conftest import Client

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "';alert(1)//",
    "</style><style>*{display:none}",
    "a\u2028b\u2029c",
    "\u202egnp.exe\u202c",
    "{{7*7}}${7*7}",
    "日本語 العربية 👩‍👩‍👧",
    '=HYPERLINK("x")',
    "x" * 900,
)


def test_what_is_known_is_not_sent_again(client: Client) -> None:
    for path in (
        "workspace",
        "tree",
        "topic/o/1",
        "documents?topic=o",
        "history",
        "export?to=json",
    ):
        first = client.get(f"/api/{path}")
        tag = first.headers["etag"]
        again = client.get(f"/api/{path}", headers={"if-none-match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        other = client.get(f"/api/{path}", headers={"if-none-match": '"something else"'})
        assert other.content == first.content
    before = client.get("/api/tree").headers["etag"]
    assert client.get("/api/tree?topic=o").headers["etag"] != before
    client.applied("pin", "o/1")
    later = client.get("/api/tree", headers={"if-none-match": before})
    assert later.status_code == 200
    assert later.json()["revision"] == 2
    client.applied("undo")
    assert client.get("/api/tree").headers["etag"] not in (before, later.headers["etag"])


def test_answers_are_packed_where_that_is_taken(reader: Client) -> None:
    packed = reader.get("/api/tree", headers={"accept-encoding": "gzip"})
    plain = reader.get("/api/tree", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert len(gzip.compress(plain.content)) < len(plain.content)
    assert "accept-encoding" in packed.headers["vary"]


def test_the_page_is_served_at_every_address_of_its_own(reader: Client) -> None:
    pages = {reader.get(path).text for path in ("/", "/topic/o/1", "/search?q=x")}
    assert len(pages) == 1
    page = pages.pop()
    assert page.lower().startswith("<!doctype html>")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
    for name in re.findall(r"/static/([\w.-]+)", page):
        answer = reader.get(f"/static/{name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


def test_every_route_is_described(reader: Client) -> None:
    told = reader.json("openapi.json")
    assert told["openapi"].startswith("3.1")
    there = {(method.upper(), path) for path, some in told["paths"].items() for method in some}
    assert there == {(one.method, one.path) for one in ROUTES}
    names = [one["operationId"] for some in told["paths"].values() for one in some.values()]
    assert len(set(names)) == len(names)


def test_hostile_text_is_text_in_every_answer(tmp_path: Path) -> None:
    records = [
        {
            "id": f"{i}{evil}",
            "text": f"{evil} stone river market {evil} cloud {i % 7}",
            "kind": evil,
        }
        for i, evil in enumerate(HOSTILE * 12)
    ]
    path = tmp_path / "w.strod"
    strod.build(records, out=path, meta={"kind": "category"}, children=2, height=1)
    with serving(path) as client:
        for number, evil in enumerate(HOSTILE):
            told = client.json(f"document/{number}")
            assert told["id"] == f"{number}{evil}"
            assert evil in told["text"]
            assert told["meta"]["kind"] == evil
        client.applied("rename", "o/1", label=HOSTILE[0], note=HOSTILE[1])
        paths = ["tree", "topic/o/1", "documents?topic=o/1", "fields", "history", "report"]
        paths += ["slice?by=kind", "search?q=stone", "compare?a=o&b=o/1", "compare?a=1&b=2"]
        for one in [*paths, "topic/%3Cscript%3E", "search?q=%3Cscript%3E", "nothing<script>"]:
            answer = client.get(f"/api/{one}")
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"
            json.loads(answer.content)
        labels = client.json("tree")["topics"]["label"]
        assert HOSTILE[0] in labels
        for evil in HOSTILE:
            assert client.json("entity", field="kind", name=evil)["documents"] == 12
        name = client.get("/api/export?to=html").headers["content-disposition"]
        assert name == 'attachment; filename="w.html"'


def test_a_document_without_a_known_word_has_no_leaf(tmp_path: Path) -> None:
    texts = [*planted_texts(120), "zyzzyva"]
    records = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    strod.build(records, out=tmp_path / "w.strod", children=3, height=1, min_df=2)
    with serving(tmp_path / "w.strod", read_only=True) as client:
        [found] = client.json("search", q="zyzzyva")["documents"]
        listed = client.json("documents", topic="o", limit=200)["documents"]
        alone = client.json(f"document/{found['number']}")
    for row in (found, alone, *(row for row in listed if row["id"] == "d120")):
        assert (row["id"], row["leaf"]) == ("d120", None)
    assert {row["leaf"] for row in listed if row["id"] != "d120"} <= {"o/1", "o/2", "o/3"}


def test_odd_texts_have_words_where_they_are() -> None:
    text = "Don't use http://x.org, E. coli 3d 42 主题模型 with LDA. Schr\\\"odinger"
    words = [text[a:b] for a, b in word_spans(text)]
    assert words == [one for one in tokens(text) if isinstance(one, str)]
    found = [(text[a:b], word) for a, b, word in found_words(text)]
    assert ("主", "主题") in found
    assert ("题", "题模") in found
    assert ("LDA", "LDA") in found
    assert [word for _, word in found if word.startswith("Schr")] == ['Schr\\"odinger']


def test_a_change_by_another_process_is_seen(client: Client, path: Path) -> None:
    assert client.json("topic/o/1")["named"] is False
    assert command("rename", path, "o/1", "by hand").code == 0
    assert client.json("topic/o/1")["label"] == "by hand"
    assert client.json("topic/by hand")["path"] == "o/1"


def test_a_workspace_that_was_compacted_meanwhile(client: Client, path: Path) -> None:
    for name in ("a b", "c d", "e f"):
        client.applied("rename", "o/1", label=name)
    Workspace(path).compact(1)
    assert client.json("topic/o/1")["label"] == "e f"
    assert client.json("workspace")["undo"] is False
    assert client.get("/api/compare", params={"a": "1", "b": "4"}).status_code == 400


def test_a_workspace_that_is_gone_is_said_to_be(path: Path) -> None:
    with serving(path) as client:
        shutil.move(path, path.with_name("elsewhere"))
        answer = client.get("/api/tree")
        assert answer.status_code == 503
        assert "cannot be read" in answer.json()["error"]


@pytest.mark.parametrize(
    ("one", "good", "bad"),
    [
        (Parameter("n", "", kind="integer", least=2, most=9), [2, 9, 4.0], [1, 10, 4.5, "4", True]),
        (Parameter("n", "", kind="children", least=2, most=9), [2, "auto"], [1, "many", None]),
        (Parameter("b", "", kind="boolean"), [True, False], [0, "true", None]),
        (Parameter("s", "", least=1, most=3), ["a", "abc"], ["", "abcd", 5, None]),
        (Parameter("s", "", choices=("a", "b")), ["a"], ["c", ""]),
        (Parameter("s", "", many=True, required=True), [["a"]], [[], "a", ["a"] * 9, [1]]),
    ],
)
def test_parameters_of_bodies(one: Parameter, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert body_values([one], {one.name: value}) == {one.name: value}
    for value in bad:
        with pytest.raises(strod.UsageError, match=one.name):
            body_values([one], {one.name: value})


def test_parameters_of_addresses() -> None:
    known = [Parameter("n", "", kind="integer", default=3), Parameter("s", "", many=True)]
    assert query_values(known, []) == {"n": 3, "s": []}
    assert query_values(known, [("n", "5"), ("s", "a"), ("s", "b")]) == {"n": 5, "s": ["a", "b"]}
    twice, unknown, other = [("n", "1"), ("n", "2")], [("x", "")], [("n", "\u0663")]
    for wrong in ([("n", "x")], twice, unknown, other, [("n", "")]):
        with pytest.raises(strod.UsageError):
            query_values(known, wrong)


def test_nothing_slow_is_loaded_before_it_listens(path: Path) -> None:
    """What only verbs need is loaded by a thread of its own later."""
    heavy = "{'numba', 'scipy', 'tantivy'}"
    code = (
        "import sys; from strod.explorer.server import serve; "
        "from strod.explorer.state import Explorer; from strod.explorer.app import make_app; "
        f"Explorer({str(path)!r}); print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("end", ["request", "signal"])
def test_a_process_ends_well_whenever_it_is_told(path: Path, end: str) -> None:
    """Even at once, while it still reads what visitors may ask for."""
    arguments = ("explore", path, "--no-browser", "--port", "0", "--token", TOKEN)
    started = subprocess.Popen(
        in_process(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with started as process:
        assert process.stdout is not None
        found = re.search(r"(http://\S+)/\?token=(\S+)", process.stdout.readline())
        assert found is not None
        assert found[2] == TOKEN
        if end == "signal":
            process.send_signal(signal.SIGINT)
        else:
            headers = {"authorization": f"Bearer {TOKEN}"}
            address = f"{found[1]}/api/shutdown"
            assert httpx.post(address, headers=headers, trust_env=False).is_success
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_search_does_not_wait_for_ever_for_its_index(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else makes it: whoever comes meanwhile is told, and all others are answered."""
    monkeypatch.setattr("strod.explorer.view.PATIENCE", 0.0)
    with serving(path) as client:
        texts = client.explorer.view().index.texts
        with texts._lock:
            answer = client.get("/api/search", params={"q": "rivera"})
            assert answer.status_code == 503
            assert "being made" in answer.json()["error"]
            assert client.json("topic/o/1")["path"] == "o/1"
        assert client.json("search", q="rivera")["total"] > 0


def test_few_answers_are_kept() -> None:
    cache, made = Cache(), list[int]()

    def content(number: int) -> Content:
        made.append(number)
        return Content(bytes(LARGEST))

    for number in (*range(ROOM // LARGEST + 1), ROOM // LARGEST, 0):
        assert cache.made(str(number), lambda number=number: content(number))  # type: ignore[misc]
    assert made == [*range(ROOM // LARGEST + 1), 0]
