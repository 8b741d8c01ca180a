"""Baselines from the command line: an ordinary workspace, or one line that says why not."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

import strod as package
from strod import UsageError
from strod.extras import install
from strod.model.options import BASELINES, METHODS, TreeOptions
from strod.store.manifest import sealed
from strod.store.publish import write_json
from strod.store.schema import as_json
from strod.workspace.workspace import Workspace
from tests.conftest import Bench, check_error, contents, json_lines, names, strod
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

FEW = {"splitlda": 5, "hpam": 5, "ncrp": 5, "cathy": 20, "nmf": 20, "lda": 1, "kmeans": 9}


@pytest.fixture(autouse=True, scope="module")
def packages() -> None:
    pytest.importorskip("tomotopy", reason="the samplers need strod[baselines]")
    pytest.importorskip("sklearn", reason="nmf, lda and kmeans need strod[baselines]")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "planted.jsonl"
    records = ({"id": f"d{i}", "text": text} for i, text in enumerate(planted_texts(150)))
    path.write_bytes(json_lines(*records))
    return path


def arguments_of(method: str) -> list[object]:
    return [
        "--method",
        method,
        "--iterations",
        FEW[method],
        "--children",
        3,
        "--seed",
        4,
        "--quiet",
    ]


def build(bench: Bench, source: Path, method: str) -> Workspace:
    outcome = bench.build(source, *arguments_of(method))
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    return Workspace(bench.workspace)


@pytest.fixture(scope="module", params=BASELINES)
def built(
    request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory
) -> Workspace:
    """A workspace by every method; tests that change one copy it first."""
    return build(Bench(tmp_path_factory.mktemp("built")), source, request.param)


def test_a_workspace_like_any_other(bench: Bench, source: Path, built: Workspace) -> None:
    shutil.copytree(built.path, bench.workspace)
    workspace = Workspace(bench.workspace)
    method = workspace.manifest.tree.settings.method
    assert workspace.check() == []
    settings = as_json(workspace.manifest.tree.settings)
    wanted = {"method": method, "iterations": FEW[method], "seed": 4, "method_seconds": 0.0}
    assert settings == TreeOptions(children=3).settings | wanted
    stage = workspace.report["stages"]["tree"]
    assert 1 <= stage["iterations"] <= FEW[method]
    assert 0 < stage["iterating_seconds"] <= stage["learning_seconds"] <= stage["seconds"]
    for split in stage["splits"]:
        assert 1 <= split["iterations"] <= FEW[method]
        assert 0 <= split["iterating_seconds"] <= split["seconds"]

    shown = strod("show", bench.workspace, "--json")
    topics = json.loads(shown.out)["topics"]
    assert {topic["level"] for topic in topics} == {0, 1, 2}
    assert all(topic["words"] and topic["phrases"] for topic in topics)
    records = [json.loads(line) for line in strod("assign", bench.workspace).out.splitlines()]
    assert len(records) == 150
    for record in records:
        first = [v for path, v in record["topics"].items() if path.count("/") == 1]
        assert sum(first) == pytest.approx(1, abs=1e-4)
    new = [json.loads(x) for x in strod("assign", bench.workspace, source).out.splitlines()]
    assert [record["id"] for record in new] == [record["id"] for record in records]
    out = bench.folder / "tree.json"
    assert strod("export", bench.workspace, "--to", "json", "--out", out).code == 0
    assert out.stat().st_size

    leaf = next(t["path"] for t in topics if t["level"] == 2)
    assert strod("collapse", bench.workspace, leaf.rpartition("/")[0]).code == 0
    outcome = strod("expand", bench.workspace, "o", "--children", 2, "--fresh")
    assert outcome.code == 0, outcome.err
    workspace.refresh()
    assert len(workspace.tree.root.children) == 2
    assert workspace.check() == []


def test_documents_are_added(bench: Bench, built: Workspace) -> None:
    """They are placed by strod's inference; the topics stay what they are."""
    shutil.copytree(built.path, bench.workspace)
    workspace = Workspace(bench.workspace)
    before = {path: topic.sha256 for path, topic in workspace.tree.items()}
    texts = planted_texts(160)[150:]
    more = bench.folder / "more.jsonl"
    more.write_bytes(json_lines(*({"id": f"n{i}", "text": one} for i, one in enumerate(texts))))
    outcome = strod("add", bench.workspace, more)
    assert outcome.code == 0, outcome.err
    workspace.refresh()
    assert workspace.corpus.documents == 160
    assert {path: topic.sha256 for path, topic in workspace.tree.items()} == before
    assert workspace.check() == []
    assert strod("undo", bench.workspace).code == 0
    workspace.refresh()
    assert workspace.corpus.documents == 150


def test_the_same_bytes(bench: Bench, source: Path, built: Workspace) -> None:
    """Again, and with another number of workers."""
    method = built.manifest.tree.settings.method
    arguments = [*arguments_of(method), "--workers", 1, "--out", bench.workspace]
    assert strod("build", source, *arguments).code == 0
    assert contents(bench.workspace) == contents(built.path)


def test_iterations_by_default(bench: Bench, source: Path) -> None:
    workspace = package.build(source, out=bench.workspace, method="nmf", workers=1)
    assert workspace.manifest.tree.settings.iterations == 200
    assert workspace.manifest.tree.settings.children == 5
    assert workspace.report["stages"]["tree"]["iterations"] < 200


def test_seconds_are_a_limit(bench: Bench, source: Path) -> None:
    arguments = ["--iterations", 10**8, "--method-seconds", 0.2, "--children", 3]
    outcome = bench.build(source, "--method", "splitlda", *arguments, "--quiet")
    assert outcome.code == 0
    stage = Workspace(bench.workspace).report["stages"]["tree"]
    assert 1 <= stage["iterations"] < 10**8
    assert stage["learning_seconds"] < 10


@pytest.mark.parametrize(
    ("arguments", "phrases"),
    [
        (["--iterations", 5], ["--iterations", "splitlda"]),
        (["--method", "rtod", "--iterations", 5], ["--iterations", "splitlda"]),
        (["--method-seconds", 5], ["--method-seconds", "splitlda"]),
        (["--method", "hpam", "--height", 3], ["hpam", "--height must be 2"]),
        (["--method", "cathy", "--iterations", 0], ["--iterations must be"]),
        (["--method", "cathy", "--iterations", "x"], ["--iterations"]),
        (["--method", "cathy", "--method-seconds", -1], ["--method-seconds must be"]),
        (["--method", "cathy", "--sample", 10], ["--sample", "all documents"]),
        (["--method", "nmf", "--method-seconds", 5], ["--method-seconds is for", "--iterations"]),
        (["--method", "splitLDA"], ["--method must be one of", "splitlda"]),
    ],
)
def test_refused(bench: Bench, source: Path, arguments: list[object], phrases: list[str]) -> None:
    bench.check_failed(bench.build(source, *arguments), *phrases)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *((method, "tomotopy") for method in ("splitlda", "hpam", "ncrp")),
        *((method, "scikit-learn") for method in ("nmf", "lda", "kmeans")),
    ],
)
def test_a_package_is_missing(
    bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch, method: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, {"scikit-learn": "sklearn"}.get(name, name), None)
    outcome = bench.build(source, "--method", method)
    bench.check_failed(outcome, f"--method {method} needs {name}", install("baselines"))


def test_our_own_code_needs_no_package(
    bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("tomotopy", "sklearn"):
        monkeypatch.setitem(sys.modules, module, None)
    assert build(bench, source, "cathy").check() == []


class Interrupted:
    """Progress during which somebody presses Ctrl-C."""

    def __init__(self) -> None:
        self.left = 10**9

    def stage(self, name: str, total: int, unit: str) -> None:
        if name.startswith("learning topics of level"):
            assert unit == "iterations"
            assert total
            self.left = 3

    def advance(self, amount: int) -> None:
        self.left -= amount
        if self.left <= 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["splitlda", "hpam", "ncrp", "cathy"])
def test_an_interrupt_leaves_nothing(bench: Bench, source: Path, method: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        package.build(
            source, out=bench.workspace, method=method, iterations=50, progress=Interrupted()
        )
    assert names(bench.folder) == []


def test_python_refuses_too(bench: Bench) -> None:
    with pytest.raises(UsageError, match="height must be 2"):
        package.build(["a text"], out=bench.workspace, method="hpam", height=1)


def test_names_are_known_to_the_help() -> None:
    outcome = strod("build", "--help")
    for method in (*METHODS, *BASELINES):
        assert method in outcome.out


def test_a_tree_of_an_older_version_can_be_expanded(bench: Bench, source: Path) -> None:
    """Its manifest does not say anything about iterations."""
    assert bench.build(source, "--children", 3, "--height", 1, "--quiet").code == 0
    workspace = Workspace(bench.workspace)
    content = as_json(workspace.manifest)
    settings: dict[str, Any] = content["tree"]["settings"]
    assert settings.pop("iterations") is None
    assert settings.pop("method_seconds") == 0.0
    write_json(bench.workspace / "manifest.json", sealed(content))
    outcome = strod("expand", bench.workspace, "o/1", "--children", 2)
    assert outcome.code == 0, outcome.err


def test_an_unknown_topic_is_one_line(bench: Bench, source: Path) -> None:
    build(bench, source, "nmf")
    check_error(strod("show", bench.workspace, "o/9"), "no such topic")
