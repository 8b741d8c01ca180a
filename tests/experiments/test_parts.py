"""Corpora, scaling, tables and plots."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod import InputError, StrodError, UsageError
from strod.experiments import measure, stability
from strod.experiments.cells import NOT_TRIED, Cell, Context, measure_all
from strod.experiments.corpora import _names, read_corpora
from strod.experiments.journal import Journal
from strod.experiments.machine import fingerprint, machine
from strod.experiments.measure import Build, repeated, scaled, timed
from strod.experiments.methods import KNOWN, available
from strod.experiments.plot import COLOURS, DASHES, HATCHES, MARKERS, draw
from strod.experiments.reading import _agreement, means, named
from strod.experiments.settings import FULL, QUICK, Settings
from strod.experiments.table import Column, Panel, Result, csv_text, markdown
from strod.experiments.timing import _compare, _sizes
from strod.extras import install
from strod.progress import Silent
from tests.conftest import json_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.experiments.corpora import Texts


class Told:
    """Remembers what progress was told."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
        self.stages.append(name)

    def advance(self, amount: int) -> None:
        """Nothing."""


def texts_of(tmp_path: Path, name: str = "a.jsonl", **how: Any) -> Texts:
    source = tmp_path / name
    records = [{"id": f"d{i}", "text": f"word{i} and more", "label": "x"} for i in range(40)]
    source.write_bytes(json_lines(*records))
    work = tmp_path / f"work-{name}"
    work.mkdir(exist_ok=True)
    [texts] = read_corpora(Settings(corpora=(source,), **how), work)
    return texts


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_parts_are_drawn_by_a_hash_of_the_id_and_nested(tmp_path: Path) -> None:
    texts = texts_of(tmp_path)
    order = sorted(
        range(40), key=lambda i: hashlib.blake2b(f"d{i}".encode(), digest_size=8).digest()
    )
    parts = {size: ids(texts.part(size)) for size in (5, 10, 20)}
    for size, found in parts.items():
        assert found == [f"d{i}" for i in sorted(order[:size])]
    assert set(parts[5]) < set(parts[10]) < set(parts[20])
    assert texts.part(0) == texts.part(40) == texts.part(100) == texts.path
    assert texts.labelled


def test_a_part_of_older_texts_is_not_used(tmp_path: Path) -> None:
    path, work = tmp_path / "t.jsonl", tmp_path / "work"
    work.mkdir()
    for text in ("old", "new"):
        path.write_bytes(json_lines(*({"id": f"d{i}", "text": text} for i in range(9))))
        [texts] = read_corpora(Settings(corpora=(path,)), work)
        lines = texts.part(4).read_text().splitlines()
        assert [json.loads(line)["text"] for line in lines] == [text] * 4


def test_a_corpus_is_known_by_its_text_not_by_its_name(tmp_path: Path) -> None:
    one, other = texts_of(tmp_path), texts_of(tmp_path, "b.jsonl")
    assert (one.name, other.name) == ("a", "b")
    assert one.sha256 == other.sha256 == hashlib.sha256(one.path.read_bytes()).hexdigest()
    lines = tmp_path / "c.csv"
    rows = [f"d{i},word{i} and more,x" for i in range(39)]
    lines.write_text("\n".join(["id,text,label", *rows]) + "\n")
    [third] = read_corpora(Settings(corpora=(lines,)), tmp_path)
    assert third.sha256 != one.sha256
    assert ids(third.path) == ids(one.path)[:39]


def test_the_same_name_twice_and_nothing_to_read(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.txt").write_text("one\ntwo\n")
    paths = tmp_path / "x" / "t.txt", tmp_path / "y" / "t.txt"
    found = read_corpora(Settings(corpora=paths), tmp_path)
    assert [texts.name for texts in found] == ["t-1", "t-2"]
    assert not found[0].labelled
    paths[0].write_text('{"text": "x"}\n')
    with pytest.raises(InputError, match=r"t: no document has text there; name its field"):
        read_corpora(Settings(corpora=paths[:1], text_field=("body",)), tmp_path)


def test_scaling_does_not_multiply_the_fixed_cost() -> None:
    fixed, each = 7.0, 0.25
    found = scaled(fixed + each * 20, each * 20, 1000 / 20)
    assert found == pytest.approx(fixed + each * 1000)


@pytest.fixture
def fake_builds(monkeypatch: pytest.MonkeyPatch) -> list[Build]:
    """Builds that take 2 s and 0.5 s an iteration, converge at 30, and read for 10 s."""
    seen: list[Build] = []

    def built(one: Build, _: Settings) -> dict[str, Any]:
        seen.append(one)
        steps = min(one.iterations or 0, 30) if one.method == "cathy" else one.iterations or 0
        tree = 2 + 0.5 * steps
        return {
            "status": "ok", "tree_seconds": tree, "seconds": tree + 10, "iterations": steps,
            "iterating_seconds": tree - 2,
        }  # fmt: skip

    monkeypatch.setattr(measure, "built", built)
    return seen


def test_baselines_are_timed_at_few_iterations(fake_builds: list[Build]) -> None:
    one = Build(Path("a"), Path("b"), "splitlda")
    found = timed(one, Settings())
    assert {build.iterations for build in fake_builds} == {20}
    assert found == {
        "status": "ok", "tree_seconds": 502.0, "seconds": 512.0, "iterations": 1000,
        "measured_iterations": 20, "measured_seconds": 12.0, "factor": 502 / 12,
        "iterating_seconds": 10.0,
    }  # fmt: skip


def test_what_need_not_be_scaled_is_not(fake_builds: list[Build]) -> None:
    ours = timed(Build(Path("a"), Path("b"), "strod"), Settings())
    few = timed(Build(Path("a"), Path("b"), "hpam"), Settings(iterations=15))
    done = timed(Build(Path("a"), Path("b"), "cathy"), Settings(measured=60))
    whole = timed(Build(Path("a"), Path("b"), "nmf"), Settings())  # its start is not told apart
    wanted = [None, 15, 60, 200]
    assert list(dict.fromkeys(build.iterations for build in fake_builds)) == wanted
    assert "factor" not in ours | few | done | whole
    assert (few["iterations"], done["iterations"]) == (15, 30)  # cathy has converged


@pytest.mark.parametrize(
    ("times", "builds", "median"),
    [
        ([9, 2, 4, 3, 5], 5, 4),
        ([2, 9, 4, 5, 3], 5, 4),
        ([9, 12, 10], 3, 10),
        ([16, 15], 2, 15),  # more than half a minute is enough
        ([31], 1, 31),
    ],
)
def test_the_median_of_a_few_builds_is_taken(
    monkeypatch: pytest.MonkeyPatch, times: list[int], builds: int, median: int
) -> None:
    left = list(times)

    def built(*_: object) -> dict[str, Any]:
        seconds = float(left.pop(0))
        return {"status": "ok", "tree_seconds": seconds, "seconds": seconds}

    monkeypatch.setattr(measure, "built", built)
    found = repeated(Build(Path("a"), Path("b"), "strod"), Settings())
    assert len(times) - len(left) == builds
    assert found["tree_seconds"] == median


def test_a_build_that_was_stopped_once_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    ok = {"status": "ok", "tree_seconds": 3.0, "seconds": 4.0}
    outcomes = [ok, {"status": "stopped", "note": "stopped after 5 s"}]
    monkeypatch.setattr(measure, "built", lambda *_: outcomes.pop(0))
    assert repeated(Build(Path("a"), Path("b"), "strod"), Settings()) == ok


def test_what_found_no_topic_is_not_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = {"status": "ok", "tree_seconds": 1.0, "seconds": 2.0, "iterations": None,
               "iterating_seconds": None, "topics": 0}  # fmt: skip
    monkeypatch.setattr(measure, "built", lambda *_: nothing)
    assert timed(Build(Path("a"), Path("b"), "splitlda"), Settings()) == nothing


def test_what_was_refused_is_not_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {"status": "refused", "note": "refused: too many words"}
    monkeypatch.setattr(measure, "built", lambda *_: refused)
    assert timed(Build(Path("a"), Path("b"), "hpam"), Settings()) == refused


def test_options_and_arguments_of_a_build_are_the_same() -> None:
    one = Build(Path("a"), Path("b"), "nmf", iterations=7, vocabulary=50, labelled=True)
    options = one.options(Settings(workers=3))
    assert options == {
        "children": 5, "height": 2, "seed": 0, "phrases": False, "workers": 3, "memory": "2GB",
        "method": "nmf", "iterations": 7, "max_vocabulary": 50, "meta": "label",
    }  # fmt: skip
    arguments = one.arguments(Settings(workers=3))
    assert arguments[:6] == ["build", "a", "--out", "b", "--overwrite", "--quiet"]
    flags = " ".join(arguments[6:])
    assert flags == (
        "--children 5 --height 2 --seed 0 --no-phrases --workers 3 --memory 2GB --method nmf "
        "--iterations 7 --max-vocabulary 50 --meta label"
    )
    assert "--phrases" in replace(one, phrases=True).arguments(Settings())


def cells_of(work: Callable[[int], dict[str, Any]], count: int = 3) -> list[Cell]:
    def one(number: int) -> Cell:
        return Cell({"corpus": "c", "method": "strod", "n": number}, {"sha256": "s"},
                    lambda: work(number))  # fmt: skip

    return [one(number) for number in range(count)]


def measured(tmp_path: Path, cells: list[Cell]) -> tuple[list[dict[str, Any]], list[str], Journal]:
    told = Told()
    journal = Journal(tmp_path / "x.sqlite", "code")
    context = Context(Settings(), [], tmp_path)
    return measure_all("x", cells, context, journal, told), told.stages, journal


def test_cells_are_measured_once(tmp_path: Path) -> None:
    done: list[int] = []

    def work(number: int) -> dict[str, Any]:
        done.append(number)
        return {"value": number * 2}

    rows, stages, _ = measured(tmp_path, cells_of(work))
    assert rows == [{"corpus": "c", "method": "strod", "n": n, "value": 2 * n} for n in range(3)]
    assert stages[0] == "[1/3] c, strod, n 0"
    assert stages[2].startswith("[3/3] c, strod, n 2 (about 0 s left)")
    again, stages, _ = measured(tmp_path, cells_of(work, 4))
    assert done == [0, 1, 2, 3]
    assert again[:3] == rows
    assert stages[0] == "[4/4] c, strod, n 3"
    assert stages[1].startswith("3 of 4 cells were measured before")


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    def stopped(number: int) -> dict[str, Any]:
        if number == 1:
            raise KeyboardInterrupt
        return {"value": number}

    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path, cells_of(stopped))
    rows, stages, _ = measured(tmp_path, cells_of(lambda number: {"value": number + 10}))
    assert [row["value"] for row in rows] == [0, 11, 12]
    assert len([stage for stage in stages if stage.startswith("[")]) == 2


def test_what_was_stopped_is_remembered_when_a_run_goes_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "e.sqlite", "code")
    slow = Cell({"corpus": "c", "method": "hpam"}, {}, lambda: {"status": "stopped"})
    for _ in range(2):
        context = Context(Settings(quick=True), [], tmp_path)
        measure_all("e", [slow], context, journal, Silent())
    assert context.stopped == {("c", "hpam")}


def test_what_is_smaller_than_what_was_stopped_is_tried(tmp_path: Path) -> None:
    """A large cell that took too long says nothing about small ones; larger ones are left out."""
    journal = Journal(tmp_path / "e.sqlite", "code")

    def run(*sizes: int) -> list[str]:
        context = Context(Settings(quick=True), [], tmp_path)

        def cell(size: int) -> Cell:
            def work() -> dict[str, Any]:
                if ("c", "hpam") in context.stopped:
                    return {"status": "stopped", "note": NOT_TRIED}
                return {"status": "ok" if size < 5 else "stopped"}

            return Cell({"corpus": "c", "method": "hpam", "size": size}, {}, work)

        rows = measure_all("e", [cell(size) for size in sizes], context, journal, Silent())
        return [row.get("note") or row["status"] for row in rows]

    assert run(7) == ["stopped"]
    assert run(1, 7, 9) == ["ok", "stopped", NOT_TRIED]
    assert len(journal) == 2


def test_a_run_of_other_code_is_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Context(Settings(quick=True), [], tmp_path)
    places = []
    for code in ("old", "new", "old"):
        monkeypatch.setattr(stability, "fingerprint", partial(str, code))
        places.append(stability._place(context, {"seed": 1}))
    assert places[0] == places[2] != places[1]


def test_names_of_corpora_are_all_different() -> None:
    paths = tuple(map(Path, ("a/x.jsonl", "b/x.jsonl", "x-1.jsonl", "y.jsonl")))
    assert _names(paths) == ["x-2", "x-3", "x-1", "y"]


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("text/stopwords/en.txt", True), ("cli/shape.py", True), ("model/polish.py", True),
        ("cli/show.py", False), ("experiments/plot.py", False),
    ],
)  # fmt: skip
def test_what_the_fingerprint_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, matters: bool
) -> None:
    copy = tmp_path / "strod"
    shutil.copytree(Path(strod.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(strod, "__file__", str(copy / "__init__.py"))
    before = fingerprint()
    (copy / name).write_text((copy / name).read_text() + "\n# more\n")
    assert (fingerprint() != before) is matters


def test_versions_of_packages_are_part_of_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint()
    monkeypatch.setattr("strod.experiments.machine._version", lambda name: f"{name} of tomorrow")
    assert fingerprint() != before


def test_a_cell_that_fails_is_tried_again(tmp_path: Path) -> None:
    def failing(number: int) -> dict[str, Any]:
        if number == 0:
            raise StrodError("the disk is full")
        return {"value": number}

    rows, _, journal = measured(tmp_path, cells_of(failing))
    assert rows[0] == {
        "corpus": "c", "method": "strod", "n": 0, "status": "failed",
        "note": "failed: the disk is full",
    }  # fmt: skip
    assert len(journal) == 2
    rows, _, _ = measured(tmp_path, cells_of(lambda _: {"value": 7}))
    assert [row["value"] for row in rows] == [7, 1, 2]


def test_other_settings_are_other_cells(tmp_path: Path) -> None:
    texts = texts_of(tmp_path)
    plain = Context(Settings(), [texts], tmp_path)
    more = Context(Settings(iterations=500, measured=50), [texts], tmp_path)
    assert plain.key(texts, "strod", timed=True) == more.key(texts, "strod", timed=True)
    assert plain.key(texts, "hpam", timed=True) != more.key(texts, "hpam", timed=True)
    slow = Context(Settings(measured=50), [texts], tmp_path)
    assert plain.key(texts, "hpam", timed=False) == slow.key(texts, "hpam", timed=False)
    assert plain.key(texts, "hpam", timed=False)["sha256"] == texts.sha256


def test_methods_that_cannot_be_run_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strod.experiments.methods.find_spec", lambda _: None)
    context = Context(Settings(), [], tmp_path)
    assert context.methods(("strod", "hpam", "rtod"), {"rtod": "it is slow"}) == ["strod"]
    assert context.notes == [
        f"hpam is left out: a package is missing: {install('baselines')}",
        "rtod is left out: it is slow",
    ]
    with pytest.raises(UsageError, match=r"methods bert: unknown; there are strod, tod, "):
        available(["bert"])
    assert available(KNOWN[:6]) == (list(KNOWN[:6]), {})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"measured": 1}, "measured must be at least 2"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"sample": 0}, "sample must be at least 1"),
        ({"limit": 0.0}, "limit must be"),
        ({"workers": 0}, "workers must be"),
        ({"vocabularies": (-1,)}, "max_vocabulary must be"),
    ],
)
def test_settings_that_make_no_sense(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Settings(**given)


def test_what_is_given_goes_into_the_plan() -> None:
    assert Settings().plan == FULL
    assert Settings(quick=True).plan == QUICK
    plan = Settings(quick=True, runs=4, vocabularies=(30, 0)).plan
    assert plan == QUICK._replace(runs=4, vocabularies=(30, 0))


def test_sizes_and_comparison() -> None:
    assert _sizes(1000, 5) == [125, 250, 500, 1000]  # 62 is too few
    assert _sizes(50, 3) == [50]
    common = {"corpus": "c", "documents": 5, "children": 5, "height": 2, "max_vocabulary": 0}
    rows = [
        common | {"method": "strod", "tree_seconds": 2.0, "topics": 30},
        common | {"method": "hpam", "tree_seconds": 9.0, "topics": 30},
        common | {"method": "rtod", "status": "refused"},
        common | {"method": "hpam", "tree_seconds": 9.0, "topics": 30, "documents": 6},
        common | {"method": "strod", "tree_seconds": 0.1, "topics": 0, "documents": 6},
    ]
    _compare(rows)
    assert [row.get("times") for row in rows] == [1.0, 4.5, None, None, None]


RESULT = Result(
    "x", "A title",
    [Column("method", "method"), Column("value", "value", "{:.2f}".format), Column("none", "none")],
    [{"method": "a|b", "value": 1.234, "more": "1,2"}, {"method": "c", "note": "refused"}],
    [Panel("p", "x", "y", {"a": [(1, 2.0)]})],
    ["one\nline"],
)  # fmt: skip


def test_a_table_in_both_forms() -> None:
    about = {"cores": "2", "processor": "P"}
    assert csv_text(RESULT, about) == (
        "# cores: 2\n# processor: P\n# one line\n"
        "method,value,none,more,note\n"
        'a|b,1.234,,"1,2",\nc,,,,refused\n'
    )
    assert markdown(RESULT, about) == (
        "# A title\n\n"
        "| method | value |\n| ------ | ----: |\n| a\\|b   |  1.23 |\n| c      |       |\n\n"
        "![A title](x.svg)\n\n- one line\n\nMeasured on: cores 2, processor P.\n"
    )


def test_lines_can_be_told_apart_without_colours() -> None:
    looks = [(MARKERS[i % len(MARKERS)], str(DASHES[i % len(DASHES)])) for i in range(12)]
    assert len(set(looks)) == 12
    assert len(set(HATCHES)) == len(HATCHES) >= 10
    assert len(set(COLOURS)) == len(COLOURS)


def test_plots_are_written_and_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    panels = [
        Panel("lines", "x", "y", {"a": [(2, 3.0), (1, 1.0)], "b": [(1, 0.0)], "c": []}, "xy"),
        Panel("bars", "", "y", {"a": [("g", 1.0), ("h", 2.0)], "b": [("h", 3.0)]}, bars=True),
        Panel("many", "x", "y", {"a": [(i, 1.0 + i) for i in range(20)]}, "y"),
    ]
    for stem in ("one", "two"):
        draw(panels, tmp_path / stem)
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        data = (tmp_path / f"one.{kind}").read_bytes()
        assert data.startswith(start)
        assert data == (tmp_path / f"two.{kind}").read_bytes()
    svg = (tmp_path / "one.svg").read_text()
    for word in ("lines", "bars", "many", ">a<", ">b<", ">g<", ">h<"):
        assert word in svg


def test_the_machine() -> None:
    found = machine()
    assert int(found["cores"]) >= 1
    assert found["processor"]
    assert found["memory"].endswith(" GB")
    assert {"python", "numpy", "scipy", "numba", "strod"} <= set(found)
    assert fingerprint() == fingerprint()
    assert len(fingerprint()) == 12


def test_scores_by_name() -> None:
    level = {
        "level": 1, "words": {"npmi": 0.1, "c_v": 0.2}, "phrases": {"npmi": 0.3, "c_v": None},
        "diversity": 0.4, "sibling_diversity": 0.5,
    }  # fmt: skip
    leaves = level | {
        "level": None,
        "sibling_diversity": None,
        "words": {"npmi": 0.6, "c_v": 0.7},
        "diversity": 0.8,
    }
    labels = [
        {"level": one, "depth": depth, "nmi": value, "purity": value / 2}
        for (one, depth), value in {
            (1, 1): 0.1, (1, 2): 0.2, (2, 1): 0.3, (2, 2): 0.4, (None, 1): 0.5, (None, 2): 0.6,
        }.items()
    ]  # fmt: skip
    intruders = {"phrase": {"accuracy": 0.9}, "topic": {"accuracy": None}}
    found = named({"levels": [level], "leaves": leaves, "labels": labels}, intruders)
    assert found == {
        "npmi_1": 0.1, "npmi_leaves": 0.6, "c_v_leaves": 0.7, "phrase_npmi_leaves": 0.3,
        "diversity": 0.8, "sibling_diversity": 0.5, "phrase_intrusion": 0.9,
        "topic_intrusion": None, "nmi_1": 0.1, "nmi_leaves": 0.6, "purity_leaves": 0.3,
    }  # fmt: skip
    flat = named({"levels": [], "leaves": leaves, "labels": []}, intruders)
    assert flat["npmi_1"] is None
    assert "nmi_1" not in flat


def test_means_of_runs_leave_out_those_that_were_stopped() -> None:
    same = {"corpus": "a", "method": "b", "documents": 5}
    rows = [
        same | {"seed": 0, "status": "ok", "npmi_1": 0.1, "nmi_1": None, "tree_seconds": 1.0},
        same | {"seed": 1, "status": "stopped", "note": "took too long"},
        same | {"seed": 2, "status": "ok", "npmi_1": 0.3, "nmi_1": None, "tree_seconds": 3.0},
        same | {"method": "c", "seed": 0, "status": "stopped", "note": "took too long"},
    ]
    first, second = means(rows)
    assert first["npmi_1"] == pytest.approx(0.2)
    assert first["tree_seconds"] == pytest.approx(2.0)
    assert (first["nmi_1"], first["runs"], "seed" in first) == (None, 2, False)
    assert (second["status"], second["runs"]) == ("stopped", 1)


@pytest.mark.parametrize(("classes", "expected"), [(1, None), (2, 0.3)])
def test_one_class_is_nothing_to_agree_with(classes: int, expected: float | None) -> None:
    one = {"depth": 1, "classes": classes, "nmi": 0.3, "purity": 0.5}
    found = _agreement([one | {"level": 1}, one | {"level": None}])
    assert found["nmi_1"] == expected
    assert found["nmi_leaves"] == 0.3
