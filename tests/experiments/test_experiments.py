"""The experiments as a whole: all eight in their quick form; builds in processes of their own."""

from __future__ import annotations

import contextlib
import csv
import importlib
import json
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from strod import StrodError
from strod.datasets.planted import plant
from strod.experiments import NAMES, Settings
from strod.experiments.journal import Journal
from strod.experiments.measure import Build, built
from strod.experiments.memory import MemoryTree, grow_tree
from strod.experiments.methods import available, variance
from strod.model.options import TreeOptions
from strod.store.publish import locked
from strod.tensor.power import Power
from tests.conftest import check_error, json_lines, strod
from tests.experiments.test_journal import ask
from tests.planted_text import PARENTS, planted_texts
from tests.tree.helpers import grow_matrix

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

BASELINES = ["splitlda", "cathy", "hpam"]


@pytest.fixture(scope="session", autouse=True)
def _packages() -> None:
    """Load what baselines need: tomotopy warns when it is loaded, and a warning is an error."""
    for name in ("tomotopy", "sklearn"):
        with warnings.catch_warnings(), contextlib.suppress(ImportError):
            warnings.simplefilter("ignore")
            importlib.import_module(name)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with a label that their words give away."""
    path = tmp_path_factory.mktemp("experiments") / "planted.jsonl"
    texts = planted_texts(240)
    labels = [max(PARENTS, key=text.count) for text in texts]
    records = [
        {"id": f"d{i}", "text": text, "label": label}
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_bytes(json_lines(*records))
    return path


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def run(name: str, out: Path, *arguments: object) -> list[dict[str, str]]:
    """Run one in its quick form, see that it wrote all it should, and return its rows."""
    outcome = strod("experiment", name, "--quick", "--out", out, *arguments)
    assert outcome.code == 0, outcome.err
    assert "\n| -" in outcome.out
    text, table = (out / f"{name}.md").read_text(), (out / f"{name}.csv").read_text()
    assert table.startswith("# cores: ")
    assert "Measured on: cores " in text
    assert f"]({name}.svg)" in text
    assert "(quick)" in (out / f"{name}.svg").read_text()
    kinds = {path.name for path in out.iterdir() if path.name.startswith(name)}
    assert kinds == {f"{name}.{kind}" for kind in ("csv", "md", "png", "svg", "sqlite")}
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
    return rows(out / f"{name}.csv")


def cells(journal: Path) -> list[tuple[object, ...]]:
    """What has been measured, in that order."""
    there = journal.exists() and ask(journal, "SELECT name FROM sqlite_master")
    return ask(journal, "SELECT * FROM cell ORDER BY number") if there else []


def here(*methods: str) -> list[str]:
    """Methods that can be run here, and a line on the others."""
    found, reasons = available(methods)
    print(*(f"{method}: {reason}" for method, reason in reasons.items()))
    return found


def test_scalability(source: Path, tmp_path: Path) -> None:
    found = run("scalability", tmp_path, "--corpus", source)
    methods = here("strod", *BASELINES)
    assert [(row["documents"], row["method"]) for row in found] == [
        (size, method) for size in ("100", "200") for method in methods
    ]
    for row in found:
        assert row["status"] == "ok"
        assert float(row["tree_seconds"]) <= float(row["seconds"])
        assert int(row["tokens"]) > 1000
        assert bool(row["factor"]) == (row["method"] not in {"strod", "nmf", "lda", "kmeans"})
        assert row["measured_iterations"] in ("", "3")
    assert "scaled: timed at few iterations" in (tmp_path / "scalability.md").read_text()
    # All is there: nothing is measured again, and the outcome has the same bytes.
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = strod("experiment", "scalability", "--quick", "--out", tmp_path, "--corpus", source)
    assert again.code == 0
    assert f"{len(found)} of {len(found)} cells were measured before" in again.err
    assert "[1/" not in again.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_height_and_width(source: Path, tmp_path: Path) -> None:
    both = "--corpus", source, "--methods", "strod,hpam"
    found = run("height", tmp_path, *both)
    assert [(row["method"], row["height"]) for row in found] == [("strod", "1"), ("strod", "2")]
    assert int(found[0]["topics"]) < int(found[1]["topics"])
    assert "hpam is left out: its trees have height 2" in (tmp_path / "height.md").read_text()
    found = run("width", tmp_path, *both, "--fresh")
    wide = [row for row in found if row["method"] == "strod"]
    assert [(row["children"], row["topics"]) for row in wide] == [("2", "6"), ("3", "12")]


def test_variants_on_the_usual_corpus(tmp_path: Path) -> None:
    found = run("variants", tmp_path, "--methods", "strod,rtod,tod", "--children", 3)
    assert {(row["corpus"], row["documents"]) for row in found} == {("docstrings", "200")}
    small, large = found[:3], found[3:]
    assert [row["method"] for row in small] == ["strod", "rtod", "tod"]
    assert [row["topics"] for row in small[1:]] == ["12", "3"]  # tod splits the root only
    assert 3 < int(small[0]["topics"]) <= 12  # a topic of few words may stay a leaf
    assert {row["vocabulary"] for row in small} == {"40"}
    assert [row["status"] for row in large] == ["ok", "refused", "refused"]
    assert large[0]["vocabulary"] == "600"
    text = (tmp_path / "variants.md").read_text()
    assert "refused: method rtod writes out dense moments: 600 words need 3.5 GB" in text


def test_robustness(source: Path, tmp_path: Path) -> None:
    found = run("robustness", tmp_path, "--corpus", source, "--methods", "strod,splitlda,ncrp")
    values = {row["method"]: float(row["variance"]) for row in found}
    assert values["strod"] < 0.01
    assert set(values) == set(here("strod", "splitlda"))
    assert values.get("splitlda", 1.0) > 10 * values["strod"]
    assert "ncrp is left out" in (tmp_path / "robustness.md").read_text()
    journal = tmp_path / "robustness.sqlite"
    assert len(cells(journal)) == 3 * len(found)  # two builds and a variance each
    # A run that was stopped before the variance, and whose workspaces are gone, builds them again.
    ask(journal, """DELETE FROM cell WHERE key NOT LIKE '%"seed"%'""")
    assert len(cells(journal)) == 2 * len(found)
    again = run("robustness", tmp_path, "--corpus", source, "--methods", "strod,splitlda,ncrp")
    assert {row["method"]: float(row["variance"]) for row in again} == values


def test_iterations(source: Path, tmp_path: Path) -> None:
    found = run("iterations", tmp_path, "--corpus", source, "--children", 3)
    assert len(found) == 9
    assert {(row["outer"], row["inner"]) for row in found} == {("1", "5"), ("5", "5"), ("5", "1")}
    ours = [float(row["variance"]) for row in found if row["variant"] == "strod"]
    assert max(ours) < 0.01
    poor = [
        float(row["variance"])
        for row in found
        if row["variant"] == "strod, random starts" and row["inner"] == "1"
    ]
    assert min(poor) > max(1e-3, 100 * max(ours))


@pytest.mark.long
def test_interpretability(source: Path, tmp_path: Path) -> None:
    methods = here("strod", "strod-paper", "splitlda", "nmf")
    asked = ("--corpus", source, "--methods", ",".join(methods), "--runs", 2)
    found = run("interpretability", tmp_path, *asked)
    by = {row["method"]: row for row in found}
    assert list(by) == methods
    for row in found:
        assert -1 <= float(row["npmi_leaves"]) <= 1
        for name in ("diversity", "nmi_leaves", "phrase_intrusion", "topic_intrusion"):
            assert 0 <= float(row[name]) <= 1
    assert float(by["strod"]["nmi_1"]) > 0.5  # labels are the planted parents


def test_every_name_is_there() -> None:
    asked = {"scalability", "height", "width", "variants", "robustness", "iterations", "recovery"}
    assert {*asked, "interpretability"} == set(NAMES)
    check_error(strod("experiment", "speed"), "no experiment speed; there are scalability, ")
    check_error(strod("experiment", "width", "--methods", "bert"), "--methods bert: unknown")
    check_error(strod("experiment", "width", "--memory", "2XB"), "--memory '2XB' is not a size")
    check_error(strod("experiment", "width", "--max-vocabulary", "a"), "--max-vocabulary must be")


def test_nothing_to_compare(source: Path, tmp_path: Path) -> None:
    outcome = strod(
        "experiment", "robustness", "--quick", "--methods", "ncrp", "--corpus", source,
        "--out", tmp_path,
    )  # fmt: skip
    assert outcome.code == 2
    assert "nothing to measure: ncrp is left out" in outcome.err


@pytest.mark.usefixtures("warm")
def test_a_build_in_a_process_of_its_own(source: Path, tmp_path: Path) -> None:
    settings = Settings()
    one = Build(source, tmp_path / "w.strod", "strod", children=3)
    found = built(one, settings)
    assert found["status"] == "ok"
    assert found["documents"] == 240
    assert found["topics"] == 12
    assert found["memory"] > 50e6
    assert 0 < found["tree_seconds"] < found["seconds"]
    apart = tmp_path / "w.strod" / "manifest.json"
    there = json.loads(apart.read_text())["tree"]["sha256"]
    built(one, replace(settings, quick=True))
    assert json.loads(apart.read_text())["tree"]["sha256"] == there
    refused = built(replace(one, children=1), settings)
    assert refused["status"] == "refused"
    assert refused["note"].startswith("refused: --children must be auto, a number from 2")
    stopped = built(one, replace(settings, limit=0.05))
    assert stopped == {"status": "stopped", "note": "stopped after 0.05 s"}
    busy = pytest.raises(StrodError, match=r"strod build .* failed: .*is writing the same")
    with locked(tmp_path / ".w.strod.lock"), busy:
        built(one, settings)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_memory_of_a_parent_does_not_count() -> None:
    held = np.ones(700 << 17)  # 700 MB
    code = "from strod.workspace.build import _peak_memory; print(_peak_memory())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert 20e6 < int(done.stdout) < held.nbytes


def test_power_settings_reach_the_tensor() -> None:
    counts = plant(1, documents=400, length=30, children=3, words=200).counts
    options = TreeOptions(children=3, height=2)
    plain, _ = grow_matrix(counts, options)
    same = grow_tree(counts, options)
    assert list(plain.nodes) == list(same.nodes)
    for name, node in plain.nodes.items():
        np.testing.assert_array_equal(node.words, same.nodes[name].words)
    poor = Power(starts=1, steps=0, refine=False, pointers=0)
    trees = [
        MemoryTree(grow_tree(counts, replace(options, polish=0, seed=seed), poor))
        for seed in (0, 1)
    ]
    assert (variance(trees) or 0) > 0.1
    paper = replace(options, method="strod-paper", height=1)
    few, many = (MemoryTree(grow_tree(counts, paper, power)) for power in (Power(2, 2), None))
    assert len(few) == len(many) == 4
    assert (variance([few, many]) or 0) > 0.001
    again = grow_tree(counts, paper, Power(100, 500))  # what it takes by itself
    assert variance([MemoryTree(again), many]) == 0
    nothing = MemoryTree(grow_tree(counts, replace(options, height=0)))
    assert variance([nothing, many]) is None


def test_recovery_goes_on_after_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, add = tmp_path / "recovery.sqlite", Journal.add

    def interrupted(self: Journal, key: dict[str, Any], values: dict[str, Any]) -> None:
        add(self, key, values)
        if len(cells(journal)) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Journal, "add", interrupted)
    outcome = strod("experiment", "recovery", "--out", tmp_path, "--quick")
    monkeypatch.undo()
    assert outcome.code == 130, outcome.err
    assert "has what was measured, the same command goes on" in outcome.err
    before = cells(journal)
    assert len(before) == 2
    assert not (tmp_path / "recovery.csv").exists()
    found = run("recovery", tmp_path)
    assert cells(journal)[: len(before)] == before
    assert len(cells(journal)) == len(found) == 28
    sizes = "variant", "documents", "length", "shared"
    errors = {tuple(row[name] for name in sizes): float(row["error_1"]) for row in found}
    assert all(0 < error < 2 for error in errors.values())
    for variant in ("strod", "all off", "strod-paper"):  # more and longer documents help
        best = errors[variant, "600", "40", "0.3"]
        assert best < errors[variant, "300", "40", "0.3"]
        assert best < errors[variant, "600", "20", "0.3"]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("recovery", ("--corpus", "SOURCE"), "recovery draws its own documents"),
        ("width", ("--corpus", "SOURCE", "--labels", "nope"), "--labels nope: no document of"),
        ("width", ("--corpus", "SOURCE", "--text-field", "body"), "no document has text there"),
        ("height", ("--corpus", "SOURCE", "--methods", "hpam"), "nothing to measure"),
        ("robustness", ("--corpus", "SOURCE", "--runs", "1"), "--runs must be at least 2"),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_nothing(
    name: str, given: tuple[str, ...], message: str, source: Path, tmp_path: Path
) -> None:
    words = [source if word == "SOURCE" else word for word in given]
    outcome = strod("experiment", name, "--quick", "--out", tmp_path / "out", *words)
    lines = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert message in lines[-1]
    assert not list(tmp_path.glob("out/.*"))


def test_what_is_refused_keeps_what_was_begun(source: Path, tmp_path: Path) -> None:
    begun = tmp_path / "out" / ".width.work" / "a corpus"
    begun.mkdir(parents=True)
    given = ["--corpus", source, "--labels", "nope", "--out", tmp_path / "out"]
    assert strod("experiment", "width", "--quick", *given).code == 2
    assert begun.exists()
