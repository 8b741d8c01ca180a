"""The command line from end to end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import strod as package
from strod.datasets import docstrings
from strod.workspace.workspace import Workspace
from tests.conftest import (
    Bench,
    Outcome,
    check_error,
    command,
    contents,
    json_lines,
    names,
    strod,
    strod_process,
    texts,
)

COMMANDS = ["build", "show", "assign", "check", "demo"]
STAGES = [  # and on, if there are topics
    "reading", "counting", "mining phrases", "cutting into phrases", "sampling", "learning topics",
]  # fmt: skip
ESCAPE = "\x1b"


def stages(outcome: Outcome) -> list[str]:
    """What the build was at, one after the other; compiling is for the first run only."""
    found = [line.partition(":")[0] for line in outcome.err.splitlines()]
    return [name for name in found if not name.startswith("compiling")]


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name: str, option: str) -> None:
    outcome = strod(name, option)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Example" in outcome.out
    assert re.search(rf"^ +.*\bstrod {name}\b", outcome.out, re.MULTILINE)
    assert re.match(rf"Usage: .*\bstrod {name}\b", outcome.out)


def test_every_option_is_explained() -> None:
    lines = strod("build", "--help").out.partition("Options:")[2].splitlines()
    entries = [line for line in lines if re.match(r"  -", line)]
    assert len(entries) > 15
    assert all(len(line.split()) > 1 for line in entries)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments: list[str]) -> None:
    outcome = strod(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    for name in COMMANDS:
        assert re.search(rf"^ +{name} ", outcome.out, re.MULTILINE)


def test_no_arguments_in_a_process() -> None:
    outcome = strod_process()
    assert (outcome.code, outcome.err) == (0, "")
    assert "Usage: strod" in outcome.out.replace("python -m strod", "strod")


def test_version() -> None:
    outcome = strod("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"strod {package.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["build", "--nonsense"], "--nonsense"),
        (["build"], "SOURCE"),
        (["build", "a.jsonl"], "--out"),
        (["build", "a.jsonl", "--out"], "--out"),
        (["build", "a.jsonl", "--out", "w.strod", "--min-df", "few"], "--min-df"),
        (["build", "a.jsonl", "--out", "w.strod", "--min-df", "0"], "--min-df"),
        (["build", "a.jsonl", "--out", "w.strod", "--max-df", "2"], "--max-df"),
        (["build", "a.jsonl", "--out", "w.strod", "--max-df", "nan"], "--max-df"),
        (["build", "a.jsonl", "--out", "w.strod", "--max-vocabulary", "0"], "--max-vocabulary"),
        (["build", "a.jsonl", "--out", "w.strod", "--workers", "0"], "--workers"),
        (["build", "a.jsonl", "--out", "w.strod", "--memory", "much"], "--memory"),
        (["build", "a.jsonl", "--out", "w.strod", "--memory", "1MB"], "--memory"),
        (["build", "a.jsonl", "--out", "w.strod", "--format", "xml"], "--format"),
        (["build", "a.jsonl", "--out", "w.strod", "--duplicates", "burn"], "--duplicates"),
        (["build", "a.jsonl", "--out", "w.strod", "--language", "xx"], "--language"),
        (["build", "a.jsonl", "--out", "w.strod", "--meta", ":date"], "--meta"),
        (["build", "a.jsonl", "--out", "w.strod", "--meta", "n", "--meta", "n:date"], "--meta"),
        (["build", "a.jsonl", "--out", "w.strod", "--meta", ""], "--meta"),
        (["build", "a.jsonl", "--out", "w.strod", "--tokenizer", "x"], "--tokenizer"),
        (["build", "a.jsonl", "--out", "w.strod", "--tokenizer", "no.such:x"], "--tokenizer"),
        (["build", "a.jsonl", "--out", "w.strod", "--stopwords", "none.txt"], "none.txt"),
        (["build", "a.jsonl", "--out", ""], "exists"),
        (["build", "", "--out", "w.strod"], "empty"),
        (["show"], "W.strod"),
        (["show", "none.strod"], "none.strod: no such workspace"),
        (["show", "."], "is not a workspace"),
        (["assign"], "W.strod"),
        (["assign", "none.strod"], "none.strod: no such workspace"),
        (["assign", ".", "a.jsonl"], "is not a workspace"),
        (["check", "none.strod"], "none.strod: no such workspace"),
        (["check", "a.jsonl"], "is not a folder"),
        (["demo", "--nonsense"], "--nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], phrase: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(json_lines({"text": "river stone"}))
    check_error(strod(*arguments), phrase)
    assert names(tmp_path) == ["a.jsonl"]


def test_wrong_usage_in_a_process() -> None:
    outcome = strod_process("build", "--nonsense")
    check_error(outcome, "--nonsense", "--help")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Forty documents with metadata, and two that are bad."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    path = folder / "papers.jsonl"
    records = [{"id": f"d{i}", "text": text, "year": 2000 + i} for i, text in enumerate(texts(40))]
    path.write_bytes(json_lines(*records) + b'{"text": ""}\n{\n')
    return path


def test_build_show_check(bench: Bench, source: Path) -> None:
    outcome = bench.build(source, "--meta", "year")
    assert outcome.code == 0
    bench.check_built(
        outcome, 40, {"broken JSON": [f"{source}:42"], "empty document": [f"{source}:41"]}
    )
    assert stages(outcome)[: len(STAGES)] == STAGES
    assert "40 documents" in " ".join(outcome.out.split())
    assert "left out 2 of 42" in outcome.out

    shown = strod("show", bench.workspace)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    tree = Workspace(bench.workspace).tree
    assert lines[0] == f"40 documents, 280 words, {len(tree) - 1} topics"
    topics = [line for line in lines if re.search(r"\bo[/0-9]* +[0-9.]+%", line)]
    assert len(topics) == len(tree)
    assert topics[0].startswith(f"o 100.0%  {tree.root.phrases[0][0]}, ")
    assert len(topics[0].split(", ")) == 8

    few = strod("show", bench.workspace, "--words", 3).out.splitlines()
    assert len(few) == len(lines)
    assert len(few[-1].split(", ")) == 3

    checked = strod("check", bench.workspace)
    assert (checked.code, checked.err) == (0, "")
    assert "all as they were written" in checked.out


def test_the_summary_does_not_break_lines(bench: Bench, source: Path) -> None:
    """A pipe has no width: a path that is cut in two is of no use to a program."""
    lines = bench.build(source).out.splitlines()
    assert lines[0].startswith(f"{bench.workspace}: 40 documents, ")
    assert lines[0].endswith(str(len(Workspace(bench.workspace).corpus.vocabulary)))
    assert f"  1 with broken JSON: {source}:42" in lines


@pytest.mark.parametrize("columns", ["0", "1", "-5", "x"])
def test_a_terminal_without_width(
    bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    bench.build(source)
    wide = strod("show", bench.workspace)
    monkeypatch.setenv("COLUMNS", columns)
    assert strod("show", bench.workspace) == wide


def test_show_as_json(bench: Bench, source: Path) -> None:
    bench.build(source, "--meta", "year")
    outcome = strod("show", bench.workspace, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    shown = json.loads(outcome.out)
    corpus = Workspace(bench.workspace).corpus
    tree = Workspace(bench.workspace).tree
    root = tree.root
    assert [topic["path"] for topic in shown["topics"]] == list(tree)
    assert shown["topics"][0]["sha256"] == root.sha256
    assert shown["topics"][0]["words"] == [list(pair) for pair in root.words]
    assert shown["corpus"] == {
        "documents": 40,
        "tokens": corpus.tokens,
        "vocabulary": len(corpus.vocabulary),
        "meta": {"year": "number"},
        "sha256": corpus.sha256,
    }
    assert corpus.tokens == 40 * 7


def test_report(bench: Bench, source: Path) -> None:
    bench.build(source)
    report = json.loads((bench.workspace / "report.json").read_text("utf-8"))
    assert report["stages"]["corpus"]["passes"] == 1
    assert report["stages"]["corpus"]["seconds"] > 0
    assert 1 <= report["stages"]["tree"]["passes"] <= 5  # two levels, words
    assert report["stages"]["tree"]["seconds"] > 0
    assert report["peak_memory_bytes"] > 1 << 20
    assert report["compile_seconds"] >= 0
    assert set(report["documents"]) >= {"read", "kept", "rejected", "reasons", "duplicate_texts"}


def test_quiet(bench: Bench, source: Path) -> None:
    outcome = bench.build(source, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_no_escape_codes_in_a_pipe(bench: Bench, source: Path) -> None:
    environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    built = strod_process("build", source, "--out", bench.workspace, environment=environment)
    shown = strod_process("show", bench.workspace, environment=environment)
    for outcome in (built, shown):
        assert outcome.code == 0
        assert ESCAPE not in outcome.out + outcome.err
        assert "\r" not in outcome.out + outcome.err
    assert stages(built)[: len(STAGES)] == STAGES
    assert set(stages(built)) <= {*STAGES, "placing documents", "ranking phrases"}
    assert shown.err == ""


def test_overwrite(bench: Bench, source: Path) -> None:
    bench.build(source)
    outcome = bench.build(source)
    bench.check_failed(outcome, str(bench.workspace), "--overwrite")
    assert bench.build(source, "--overwrite", "--max-vocabulary", 3).code == 0
    assert len(Workspace(bench.workspace).corpus.vocabulary) == 3
    assert names(bench.folder) == ["papers.jsonl", "w.strod"]


def test_stop_words_of_the_user(bench: Bench, source: Path) -> None:
    path = bench.write("stop.txt", "\ufeffRiver # a comment\n\nstone\n".encode())
    assert bench.build(source, "--stopwords", path).code == 0
    words = Workspace(bench.workspace).corpus.vocabulary["word"].to_pylist()
    assert "cloud" in words
    assert not {"river", "stone"} & set(words)


def test_stop_words_that_are_not_text(bench: Bench, source: Path) -> None:
    path = bench.write("stop.txt", b"caf\xe9\n")
    bench.check_failed(bench.build(source, "--stopwords", path), str(path), "not UTF-8")


def test_text_fields_are_joined(bench: Bench) -> None:
    path = bench.write(
        "a.csv", b"title,abstract,text\nriver,stone,never\ncloud,,never\n,market,never\n,,x\n"
    )
    outcome = bench.build(path, "--text-field", "title", "--text-field", "abstract")
    bench.check_built(outcome, 3, {"empty document": [f"{path}:5"]})
    words = Workspace(bench.workspace).corpus.vocabulary["word"].to_pylist()
    assert words == ["cloud", "market", "river", "stone"]


@pytest.mark.parametrize(
    "arguments", [["show", "--json"], ["show"], ["assign"], ["check"], ["--help"]]
)
def test_a_reader_that_leaves(small_workspace: Path, arguments: list[str]) -> None:
    """As in ``strod show w.strod | head -0``: no word, and the exit code of a broken pipe."""
    if arguments != ["--help"]:
        arguments = [arguments[0], str(small_workspace), *arguments[1:]]
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(command(*arguments), stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    error = process.communicate(timeout=300)[1].decode()
    assert error == ""
    assert process.returncode == 128 + signal.SIGPIPE


def test_output_to_a_full_disk(small_workspace: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("show", small_workspace, "--json"),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=300,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == ["strod: system: No space left on device"]


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> int:
    """The demo reads a handful of modules."""
    wanted = {"textwrap", "json.decoder", "collections.__init__", "collections", "random"}
    files = [file for file in docstrings.source_files(["stdlib"]) if file.module in wanted]
    assert len(files) >= 4
    monkeypatch.setattr(docstrings, "source_files", lambda: files)
    return len(files)


@pytest.mark.usefixtures("few_files")
def test_demo_of_a_few_files(bench: Bench) -> None:
    outcome = strod("demo", "--out", bench.workspace)
    assert outcome.code == 0, outcome.err
    workspace = Workspace(bench.workspace)
    documents = workspace.report["documents"]
    assert documents["kept"] == workspace.corpus.documents > 10
    assert documents["read"] == documents["kept"] + documents["rejected"]
    assert workspace.corpus.meta == {"package": "category", "module": "category"}
    assert workspace.check() == []
    assert outcome.err.startswith("collecting docstrings: ")
    lines = outcome.out.splitlines()
    shown = strod("show", bench.workspace).out.splitlines()
    assert lines[-len(shown) :] == shown
    assert shown[0].startswith(f"{workspace.corpus.documents:,} documents, ")
    first = contents(bench.workspace)
    again = strod("demo", "--out", bench.workspace, "--quiet")
    assert (again.code, again.out, again.err) == (0, "", "")
    assert contents(bench.workspace) == first
    assert names(bench.folder) == ["w.strod"]


@pytest.mark.usefixtures("few_files")
def test_demo_does_not_replace_what_is_no_workspace(bench: Bench) -> None:
    bench.write("w.strod/thesis.txt", b"years of work")
    check_error(strod("demo", "--out", bench.workspace), "is not a workspace")
    assert names(bench.workspace) == ["thesis.txt"]
    assert names(bench.folder) == ["w.strod"]


def test_demo(tmp_path: Path) -> None:
    outcome = strod_process("demo", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert names(tmp_path) == ["demo.strod"]
    workspace = Workspace(tmp_path / "demo.strod")
    assert workspace.corpus.documents > 5000
    assert workspace.check() == []
    words = workspace.corpus.vocabulary["word"].to_pylist()
    assert {"array", "matrix", "string"} <= set(words)
    tree = workspace.tree
    assert len(tree.root.children) == 6
    assert {topic.level for topic in tree.values()} == {0, 1, 2}
    for topic in tree.values():
        assert re.search(
            rf"^[ │├└─]*{topic.path} +{100 * topic.weight:.1f}%", outcome.out, re.MULTILINE
        )
    assert ESCAPE not in outcome.out + outcome.err


@pytest.mark.long
def test_the_same_bytes_everywhere(bench: Bench) -> None:
    """Neither hash seeds nor threads nor the locale change a byte of the corpus."""
    records = [
        {"id": i, "text": f"{text} naïve Größe don't", "tag": [text[:3], "x"], "day": "2024-01-05"}
        for i, text in enumerate(texts(3000))
    ]
    source = bench.write("größe.jsonl", json_lines(*records))
    settings: list[tuple[int, dict[str, str]]] = [
        (1, {"PYTHONHASHSEED": "0"}),
        (2, {"PYTHONHASHSEED": "1"}),
        (2, {"PYTHONHASHSEED": "random", "LC_ALL": "C"}),
        (1, {"LC_ALL": "C.UTF-8"}),
        (2, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ]
    results = []
    for number, (workers, environment) in enumerate(settings):
        target = bench.folder / f"{number}.strod"
        outcome = strod_process(
            "build", source, "--out", target, "--workers", workers, "--meta", "tag", "--meta",
            "day", "--quiet", environment=environment,
        )  # fmt: skip
        assert (outcome.code, outcome.err) == (0, "")
        results.append(contents(target))
    assert all(result == results[0] for result in results)
    shown = [json.loads(strod("show", bench.folder / f"{i}.strod", "--json").out) for i in range(5)]
    assert len({one["corpus"]["sha256"] for one in shown}) == 1


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_words_of_other_scripts_in_any_locale(bench: Bench, locale: str) -> None:
    bench.write("größe.txt", "Größe Ωμέγα 主题\nнаука Größe\n\ud800\n".encode(errors="replace"))
    environment = {"LC_ALL": locale}
    built = strod_process(
        "build", "größe.txt", "--out", "größe.strod", cwd=bench.folder, environment=environment
    )
    assert built.code == 0, built.err
    assert "größe.txt:3" in built.out
    shown = strod_process("show", "größe.strod", cwd=bench.folder, environment=environment)
    assert "Größe" in shown.out
    as_json = strod_process(
        "show", "größe.strod", "--json", cwd=bench.folder, environment=environment
    )
    assert json.loads(as_json.out)["corpus"]["documents"] == 2


def test_the_commonest_reason_is_named(bench: Bench) -> None:
    good = [{"text": f"river stone w{i}"} for i in range(10)]
    data = b'{"broken\n' + b'{"text": ""}\n' * 9 + json_lines(*good)
    outcome = bench.build(bench.write("a.jsonl", data), "-q")
    assert outcome.code == 0
    assert "10 of 20 documents were left out, mostly: empty document" in outcome.err
    again = bench.build(bench.folder / "a.jsonl", "--overwrite")
    assert again.out.index("9 with empty document") < again.out.index("1 with broken JSON")


def test_links_of_a_folder(bench: Bench) -> None:
    bench.write("out/secret.txt", b"river stone secret")
    bench.write("in/a.txt", b"river stone market")
    (bench.folder / "in/b.txt").symlink_to(bench.folder / "out/secret.txt")
    outcome = bench.build(bench.folder / "in")
    assert "1 with link out of the folder" in outcome.out
    assert bench.documents["kept"] == 1
    followed = bench.build(bench.folder / "in", "--follow-links", "--overwrite")
    assert followed.code == 0
    assert bench.documents["kept"] == 2
