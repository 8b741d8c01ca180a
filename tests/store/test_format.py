"""Workspaces of other versions: an older one opens, fields that come and go break nothing."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.store.files import is_name
from strod.store.manifest import VERSION, file_digests, sealed
from strod.store.schema import as_json
from strod.workspace.placements import assign_corpus
from strod.workspace.workspace import Workspace
from tests.conftest import strod as run
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURE = Path(__file__).parents[1] / "data" / "format-3.tar.xz"


@pytest.fixture
def older(tmp_path: Path) -> Workspace:
    """A workspace that format 3 wrote, with a merge, a move, added documents and an undo."""
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    return Workspace(tmp_path / "format-3.strod")


def test_an_older_workspace_is_sound_and_shows_what_it_showed(older: Workspace) -> None:
    assert older.manifest.version == 3
    assert older.check() == []
    assert older.corpus.documents == 170
    assert list(older.tree) == [
        "o", "o/1", "o/2", "o/3", "o/1/1", "o/1/2", "o/2/1", "o/2/2", "o/3/1", "o/3/2",
    ]  # fmt: skip
    assert older.tree["o/2"].label == "clouds"
    assert older.tree["o/3"].pinned
    assert [entry["undone"] for entry in older.history()] == [False] * 7 + [True]
    outcome = run("show", older.path)
    assert outcome.code == 0
    assert "clouds" in outcome.out


@pytest.mark.usefixtures("endless")
def test_its_numbers_are_those_that_are_computed_now(older: Workspace, tmp_path: Path) -> None:
    texts = planted_texts(150)
    records = [
        {"id": f"d{i}", "text": text, "year": 1990 + i % 30, "kind": "ab"[i % 2]}
        for i, text in enumerate(texts)
    ]
    meta = ["year:number", "kind"]
    new = strod.build(records, out=tmp_path / "n.strod", children=3, height=2, meta=meta)
    while len(older.history()) > len([e for e in older.history() if e["undone"]]) + 1:
        older.undo()
    assert [topic.id for topic in older.tree.values()] == [t.id for t in new.tree.values()]
    for name, topic in older.tree.items():
        np.testing.assert_allclose(topic.distribution, new.tree[name].distribution, atol=1e-9)
        assert topic.weight == pytest.approx(new.tree[name].weight, abs=1e-9)
        assert topic.label == new.tree[name].label
    for one, other in zip(assign_corpus(older), assign_corpus(new), strict=True):
        assert (one["id"], one["leaf"]) == (other["id"], other["leaf"])
        assert one["topics"] == pytest.approx(other["topics"], abs=2e-6)


def test_it_can_be_revised_and_is_of_the_newest_version_then(older: Workspace) -> None:
    before = {path: topic.id for path, topic in older.tree.items()}
    older.merge("o/3/1", "o/3/2")
    older.expand("o/2/1", 2)
    older.add([{"id": "new", "text": planted_texts(1, 9)[0], "year": 2000, "kind": "a"}])
    assert older.manifest.version == VERSION
    assert older.check() == []
    assert {p: t.id for p, t in older.tree.items() if p in before} == {
        path: name for path, name in before.items() if path not in ("o/3/1", "o/3/2")
    }
    for _ in range(3):
        older.undo()
    assert {path: topic.id for path, topic in older.tree.items()} == before
    assert older.check() == []


def resealed(root: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    path = root / name
    content = json.loads(path.read_text())
    content.pop("sha256")
    change(content)
    path.write_text(json.dumps(sealed(content)))
    if is_name(name):
        digest = as_json(file_digests(root, [name])[name])
        resealed(root, "manifest.json", lambda manifest: manifest["parts"].update({name: digest}))


def test_fields_may_come_and_go(planted_copy: Path) -> None:
    """As a version with the same number might have them."""
    expected = run("show", planted_copy, "--json").out

    def more(content: dict[str, Any]) -> None:
        content["colour"] = {"made": "up"}

    def topics(content: dict[str, Any]) -> None:
        more(content)
        for topic in content["topics"]:
            more(topic)
            for name in ("named", "pinned", "path_scores", "rest", "rest_weight", "surplus"):
                del topic[name]

    def split(content: dict[str, Any]) -> None:
        more(content)
        del content["context"]

    def manifest(content: dict[str, Any]) -> None:
        for part in (content, content["corpus"], content["tree"], content["tree"]["settings"]):
            more(part)
        del content["tree"]["undone"], content["tree"]["settings"]["iterations"]
        del content["corpus"]["settings"]["numbers"]

    resealed(planted_copy, "tree/revisions/00001.json", topics)
    resealed(planted_copy, "tree/splits/o/split.json", split)
    resealed(planted_copy, "manifest.json", manifest)
    workspace = Workspace(planted_copy)
    assert workspace.check() == []
    assert run("show", planted_copy, "--json").out == expected
    workspace.merge("o/1/1", "o/1/2")
    assert workspace.check() == []


@pytest.fixture
def planted_copy(tree_workspace: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tree_workspace, tmp_path / "w.strod")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("rest_weight", 0.5, "the children of topic o do not add up to it"),
        ("rest_weight", 2.0, "is damaged"),
        ("rest", [["o", [0, 99]]], "has fewer topics"),
        ("rest", [["abcabcabcabc", [0]]], "'abcabcabcabc' is missing"),
        ("rest", [["o", [0, 0]]], "is made of no component, or of one twice"),
        ("context", [["abcabcabcabc", [0]]], "'abcabcabcabc' is missing"),
        ("context", "ITSELF", "is made of itself"),
    ],
    ids=lambda value: str(value).replace("/", ""),
)
def test_a_rest_that_cannot_be(planted_copy: Path, field: str, value: Any, told: str) -> None:
    """What a removed topic left is looked at as all else."""
    workspace = Workspace(planted_copy)
    workspace.remove("o/1")
    [name] = {part.split for part in workspace.tree.nodes["o"].rest}
    record = f"tree/splits/{name}/split.json" if field == "context" else "tree/revisions/00002.json"

    def change(content: dict[str, Any]) -> None:
        owner = content if field == "context" else content["topics"][0]
        owner[field] = [[name, [0]]] if value == "ITSELF" else value

    assert workspace.check() == []
    resealed(planted_copy, record, change)
    assert any(told in line for line in Workspace(planted_copy).check())


def test_a_rest_needs_children(planted_copy: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        content["topics"][-1]["rest_weight"] = 0.01

    resealed(planted_copy, "tree/revisions/00001.json", change)
    assert any("has a rest and no children" in line for line in Workspace(planted_copy).check())
