"""Every route answers what the library says, in the shape that is declared."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

import strod
from strod.explorer.parameters import LONG
from strod.explorer.routes import ROUTES
from strod.explorer.shapes import schema_of
from strod.export import export
from strod.workspace.workspace import Workspace
from tests.explorer.conftest import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.explorer.conftest import Client

ASKED: dict[str, dict[str, Any]] = {
    "workspace": {},
    "tree": {"where": "year >= 1998"},
    "topic/o/1": {},
    "topic/o": {},
    "topic/o/1/2": {},
    "documents": {"topic": "o/1", "limit": 3},
    "document/7": {},
    "search": {"q": "rivera"},
    "slice": {"by": "venue", "level": 1},
    "trends": {"level": 1},
    "fields": {},
    "history": {},
    "report": {},
    "compare": {"a": "o/1", "b": "o/2"},
}


@pytest.fixture(scope="module")
def workspace(built: Path) -> Workspace:
    return Workspace(built)


def route_of(path: str) -> object:
    name = path.partition("/")[0]
    return next(one for one in ROUTES if one.path.split("/")[2] == name)


@pytest.mark.parametrize("path", ASKED)
def test_answers_have_their_shapes(reader: Client, path: str) -> None:
    found = reader.json(path, **ASKED[path])
    jsonschema_rs.validate(schema_of(route_of(path).shape), found)  # type: ignore[attr-defined]


def test_the_workspace_says_what_it_is(reader: Client, workspace: Workspace) -> None:
    told = reader.json("workspace")
    assert told["name"] == "w.strod"
    assert told["documents"] == workspace.corpus.documents
    assert told["words"] == len(workspace.corpus.vocabulary)
    assert told["topics"] == len(workspace.tree) - 1
    assert told["meta"] == dict(workspace.corpus.meta)
    assert (told["undo"], told["redo"], told["read_only"]) == (False, False, False)


def test_the_tree_comes_in_columns(reader: Client, workspace: Workspace) -> None:
    told = reader.json("tree")
    topics = told["topics"]
    assert topics["path"] == list(workspace.tree)
    assert topics["id"] == [one.id for one in workspace.tree.values()]
    above = [topics["path"][row] if row >= 0 else None for row in topics["parent"]]
    parents = (one.parent for one in workspace.tree.values())
    assert above == [one.path if one else None for one in parents]
    assert topics["documents"] == [one.documents for one in workspace.tree.values()]
    assert topics["phrases"][1] == [text for text, _ in workspace.tree["o/1"].phrases[:3]]
    assert "slice" not in told
    for shares, documents in zip(topics["trend"], topics["documents"], strict=True):
        assert len(shares) == len(told["buckets"])
        assert bool(documents) == any(shares)


def test_a_branch_of_the_tree(reader: Client, workspace: Workspace) -> None:
    topics = reader.json("tree", topic="o/2")["topics"]
    assert topics["path"] == [one for one in workspace.tree if f"{one}/".startswith("o/2/")]
    assert topics["parent"][0] == -1
    assert reader.json("tree", depth=1)["topics"]["path"] == ["o", "o/1", "o/2", "o/3"]


@pytest.mark.parametrize("asked", [{"where": "year >= 1998"}, {"query": "rivera"}])
def test_a_slice_beside_the_tree(reader: Client, workspace: Workspace, asked: dict) -> None:  # type: ignore[type-arg]
    told = reader.json("tree", **asked)
    documents, share = told["slice"]["documents"], told["slice"]["share"]
    if "where" in asked:
        everything = workspace.documents("o", where=asked["where"], limit=0).num_rows
    else:
        everything = workspace.search(asked["query"]).total
    assert documents[0] == everything > 0
    assert documents[0] == sum(documents[1:4])
    assert share[1] == pytest.approx(documents[1] / everything, abs=1e-6)
    usual = workspace.tree["o/1"].documents / workspace.corpus.documents
    assert told["slice"]["lift"][1] == pytest.approx(share[1] / usual, rel=1e-4)


def test_a_topic(reader: Client, workspace: Workspace) -> None:
    told, topic = reader.json("topic/o/1"), workspace.tree["o/1"]
    assert [word for word, _, _ in told["words"]] == [word for word, _ in topic.top(30)]
    column = {word: row for row, word in enumerate(workspace.tree.surfaces)}
    for word, here, above in told["words"]:
        assert here == topic.distribution[column[word]]
        assert above == workspace.tree["o"].distribution[column[word]]
    assert [one["path"] for one in told["children"]] == [one.path for one in topic.children]
    assert {one["path"] for one in told["siblings"]} == {"o/2", "o/3"}
    assert told["entities"]["venue"][0] == list(workspace.entities("o/1", "venue")[0])
    trend = next(one for one in workspace.trends().rows if one.topic.path == "o/1")
    assert told["trend"]["slope"] == pytest.approx(trend.slope.slope)
    assert told["trend"]["series"] == [list(row) for row in trend.series]
    assert told["command"].endswith("w.strod o/1")
    assert reader.json(f"topic/{topic.id}") == told
    assert reader.json("topic/o%2F1") == told


def test_pages_of_documents(reader: Client, workspace: Workspace) -> None:
    whole = workspace.documents("o/1", limit=0)
    found = []
    for offset in range(0, whole.num_rows + 50, 50):
        told = reader.json("documents", topic="o/1", limit=50, offset=offset)
        assert told["total"] == whole.num_rows
        found += told["documents"]
    assert [one["id"] for one in found] == whole["id"].to_pylist()
    assert [one["share"] for one in found] == whole["share"].to_pylist()
    assert found[0]["text"] == workspace.corpus.text(found[0]["number"])[:400]
    assert found[0]["leaf_label"] == workspace.tree[found[0]["leaf"]].label


def test_a_document_of_unknown_words_is_listed_without_a_leaf(tmp_path: Path) -> None:
    texts = [f"{word} model of a {word} graph" for word in ("tree", "river") * 20]
    target = tmp_path / "w.strod"
    strod.build([*texts, "the unheard of"], out=target, children=2, height=1, min_df=2, workers=1)
    assert list(Workspace(target).assign())[-1]["leaf"] is None
    with serving(target) as client:
        shapes = {
            "documents": client.json("documents", topic="o", limit=50),
            "search": client.json("search", q="unheard"),
            "document/40": client.json("document/40"),
        }
    for path, found in shapes.items():
        jsonschema_rs.validate(schema_of(route_of(path).shape), found)  # type: ignore[attr-defined]
        last = found["documents"][-1] if "documents" in found else found
        assert (last["number"], last["leaf"], last["leaf_label"]) == (40, None, None)
    export(Workspace(target), "site", tmp_path / "site")  # its search has a row for each of them
    columns = (tmp_path / "site" / "data" / "search" / "documents.json").read_text()
    assert len(json.loads(columns)["leaf"]) == len(json.loads(columns)["number"])


def test_what_is_shown_as_python_is_python(reader: Client, workspace: Workspace) -> None:
    told = reader.json("documents", topic="o/1", where="venue = 'B b'", limit=3, offset=1)
    table = workspace.documents("o/1", where="venue = 'B b'", limit=3, offset=1)
    assert [one["id"] for one in told["documents"]] == table["id"].to_pylist()
    expected = "documents('o/1', where=\"venue = 'B b'\", limit=3, offset=1)"
    assert told["command"] == f"strod.open({str(workspace.path)!r}).{expected}"


def test_a_document_and_what_explains_its_words(reader: Client, workspace: Workspace) -> None:
    told = reader.json("document/7")
    known = workspace.document(told["id"])
    assert known is not None
    assert (told["text"], told["topics"], told["leaf"]) == (
        known["text"],
        known["topics"],
        known["leaf"],
    )
    column = {word: row for row, word in enumerate(workspace.corpus.vocabulary["word"].to_pylist())}
    tree = workspace.tree
    leaves = {p: share for p, share in told["topics"].items() if not tree[p].children}
    assert told["words"]
    for begin, end, leaf in told["words"]:
        word = column[told["text"][begin:end].lower()]
        likely = {path: share * tree[path].distribution[word] for path, share in leaves.items()}
        assert likely[leaf] == max(likely.values()) > 0
    assert reader.get("/api/document/250").status_code == 404


def test_searches(reader: Client, workspace: Workspace) -> None:
    told, found = reader.json("search", q="rivera", limit=5), workspace.search("rivera", limit=5)
    assert told["total"] == found.total > 0
    assert [one["number"] for one in told["documents"]] == found.documents["number"].to_pylist()
    pieces = told["documents"][0]["snippet"]
    assert any(hit for _, hit in pieces)
    text = workspace.corpus.text(told["documents"][0]["number"])
    assert "".join(piece for piece, _ in pieces).strip("…") in text
    assert told["topics"] == found.topics.to_pylist()


def test_slices_trends_and_entities(reader: Client, workspace: Workspace) -> None:
    rows = reader.json("slice", by=["venue", "year"], level=1)["rows"]
    assert rows == workspace.slice(["venue", "year"], level=1).to_pylist()
    told = reader.json("trends", level=1)
    assert [one["topic"] for one in told["rows"]] == [
        one.topic.path for one in workspace.trends(level=1).rows
    ]
    assert all(one["label"] == workspace.tree[one["topic"]].label for one in told["rows"])
    name = reader.json("fields")["fields"][0]["values"][0][0]
    field = reader.json("fields")["fields"][0]["name"]
    kinds = {one["name"]: one["kind"] for one in reader.json("fields")["fields"]}
    assert kinds == dict(workspace.corpus.meta)
    if kinds[field] in ("category", "list"):
        topics = reader.json("entity", field=field, name=name)["topics"]
        assert topics == workspace.entity(field, name).to_pylist()


LONGEST = {  # as many members, ANDs and ORs as 2,000 characters hold, and the deepest
    f"year IN ({','.join(['1996'] * 395)})": "year = 1996",
    f"people IN ({','.join(['x'] * 980)}, Ada)": "people = Ada",
    " OR ".join(["year=1996"] * 153): "year = 1996",
    " AND ".join(["year>1996"] * 140): "year > 1996",
    "NOT (" * 50 + "year = 1996" + ")" * 50: "year = 1996",
}


@pytest.mark.parametrize("where", LONGEST, ids=[one[:9] for one in LONGEST])
def test_long_expressions_are_answered(reader: Client, where: str) -> None:
    assert len(where) <= LONG
    short = LONGEST[where]
    rows = reader.json("slice", by="venue", where=where)["rows"]
    assert rows == reader.json("slice", by="venue", where=short)["rows"] != []
    assert reader.json("tree", where=where)["slice"] == reader.json("tree", where=short)["slice"]
    deep = reader.get("/api/slice", params={"by": "venue", "where": f"{'NOT (' * 51}"})
    assert deep.status_code == 400
    assert "more than 50 parentheses in each other" in deep.json()["error"]


def test_fields_list_their_values(reader: Client, workspace: Workspace) -> None:
    for one in reader.json("fields")["fields"]:
        if one["kind"] == "category":
            for value, documents in one["values"]:
                if value is not None:
                    where = f"{one['name']} = '{value}'"
                    found = workspace.documents("o", where=where, limit=0)
                    assert found.num_rows == documents


def test_exports(reader: Client, workspace: Workspace) -> None:
    for to in ("json", "markdown", "graphml", "skos", "html"):
        answer = reader.get("/api/export", params={"to": to})
        assert answer.text == workspace.export(to)
        assert "attachment" in answer.headers["content-disposition"]
    answer = reader.get("/api/export", params={"to": "csv"})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert "topics.csv" in archive.namelist()
        assert len(archive.read("topics.csv").splitlines()) == len(workspace.tree) + 1


def test_comparisons(client: Client) -> None:
    client.applied("rename", "o/1", label="a name")
    client.applied("merge", "o/2/1", "o/2/2")
    told = client.json("compare", a=1, b=3)
    assert told["kind"] == "revisions"
    assert len(told["only_a"]) == 2
    assert len(told["only_b"]) == 1
    assert [one["path"] for one in told["changed"]][:1] == ["o/1"]
    assert told["changed"][0]["label"] == "a name"
    assert client.json("compare", a=3, b=3)["changed"] == []
    assert client.get("/api/compare", params={"a": "1", "b": "9"}).status_code == 400
    topics = client.json("compare", a="o/1", b="o/2")
    assert topics["kind"] == "topics"
    assert all(len(row) == 3 for row in topics["words"])


def test_history_and_report(client: Client, path: Path) -> None:
    client.applied("pin", "o/1", note="it is good")
    entries = client.json("history")["entries"]
    assert [one["revision"] for one in entries] == [1, 2]
    assert entries == Workspace(path).history()
    assert entries[1]["note"] == "it is good"
    told = client.json("report")
    assert told["documents"]["kept"] == 250
    assert told["settings"]["tree"]["height"] == 2
    assert set(told["versions"]) >= {"strod", "python", "numpy"}
