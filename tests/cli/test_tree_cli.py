"""Trees on the command line: options, show, and the same bytes for any number of workers."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from strod.model.options import METHODS
from strod.store.schema import as_json
from strod.workspace.workspace import Workspace
from tests.conftest import Bench, Outcome, check_error, command, json_lines, names, strod
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [
    "id", "path", "parent", "level", "weight", "alpha", "alpha0", "words", "phrases", "documents",
    "label", "pinned", "reason", "rest", "sha256",
]  # fmt: skip
LINE = re.compile(r"^[ │├└─]*(o(?:/[0-9]+)*) +([0-9.]+)%  ([^(]*)(\([^)]*\))?$")


@pytest.fixture
def source(bench: Bench) -> Path:
    """Three hundred documents with three topics of three each."""
    records = ({"id": f"d{i}", "text": text} for i, text in enumerate(planted_texts(300)))
    return bench.write("planted.jsonl", json_lines(*records))


def shown(workspace: Path, *arguments: object) -> list[dict[str, Any]]:
    outcome = strod("show", workspace, "--json", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    topics: list[dict[str, Any]] = json.loads(outcome.out)["topics"]
    return topics


def printed(workspace: Path, *arguments: object) -> list[tuple[str, list[str]]]:
    """Path and words of each line that shows a topic."""
    outcome = strod("show", workspace, *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    found = [LINE.match(line) for line in outcome.out.splitlines()[1:]]
    assert all(found)
    return [(match[1], match[3].strip().split(", ")) for match in found if match]


def tree_digests(workspace: Path) -> dict[str, str]:
    files = [path for path in (workspace / "tree").rglob("*") if path.is_file()]
    return {
        path.relative_to(workspace).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def check_tree_built(bench: Bench, outcome: Outcome, **settings: object) -> Workspace:
    assert outcome.code == 0, outcome.err
    workspace = Workspace(bench.workspace)
    assert workspace.check() == []
    kept = as_json(workspace.manifest.tree.settings)
    assert {name: kept[name] for name in settings} == settings
    return workspace


def test_build_and_show(bench: Bench, source: Path) -> None:
    outcome = bench.build(source, "--children", 3, "--height", 2, "--seed", 1)
    workspace = check_tree_built(bench, outcome, children=3, height=2, seed=1)
    assert workspace.manifest.version == 4
    assert workspace.manifest.tree.topics == len(workspace.tree) == 13
    found = workspace.manifest.phrases.phrases
    said = f"12 topics, {found:,} phrases; strod show {bench.workspace} prints them"
    assert said in " ".join(outcome.out.split())
    lines = printed(bench.workspace)
    assert [path for path, _ in lines] == sorted(workspace.tree)
    for path, phrases in lines:
        assert phrases == [text for text, _ in workspace.tree[path].phrases[:8]]
    report = workspace.report["stages"]["tree"]
    assert report["passes"] in (3, 4, 5)
    stages = [line.partition(":")[0] for line in outcome.err.splitlines()]
    assert stages[-1] == "ranking phrases"


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--children", "auto", "--width", 4], {"children": "auto", "width": 4}),
        (["--children", "3,2"], {"children": (3, 2), "height": 2}),
        (["--topics", 9, "--children", 3, "--height", 2], {"topics": 9, "height": 2}),
        (["--least-documents", 30], {"least_documents": 30}),
        (["--height", 1, "--alpha0", "0.5"], {"height": 1, "alpha0": 0.5}),
        (["--alpha0", "auto"], {"alpha0": "auto"}),
        (["--sample", 200], {"sample": 200}),
        (["--sample", "all"], {"sample": "all"}),
        (["--lookahead", "off", "--children", 3], {"lookahead": False, "children": 3}),
        (["--polish", 0], {"polish": 0}),
        (["--topical", "word"], {"topical": "word"}),
        (["--engine", "local"], {"method": "strod"}),
        (["--engine", "processes"], {"method": "strod"}),
        *(
            (["--method", method, "--children", 3], {"method": method, "polish": 0, "thin": 0})
            for method in METHODS[1:]
        ),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_options(
    bench: Bench, source: Path, arguments: list[object], settings: dict[str, Any]
) -> None:
    outcome = bench.build(source, *arguments, "--quiet")
    assert (outcome.out, outcome.err) == ("", "")
    workspace = check_tree_built(bench, outcome, **settings)
    levels = {topic.level for topic in workspace.tree.values()}
    height = 1 if settings.get("method") == "tod" else settings.get("height", 2)
    assert levels == set(range(height + 1))
    if isinstance(settings.get("children"), int):
        assert len(workspace.tree.root.children) == settings["children"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--children", value) for value in ("0", "1", "-2", "1001", "2.5", "many", "", "nan")),
        *(("--height", value) for value in ("-1", "21", "two", "1.5", "")),
        *(("--width", value) for value in ("0", "1", "1001", "auto")),
        *(("--alpha0", value) for value in ("0", "-1", "1e-7", "1e7", "nan", "inf", "x", "")),
        *(("--seed", value) for value in ("-1", "x", "1.5", str(2**64))),
        *(("--sample", value) for value in ("0", "-5", "some", "1.5", "")),
        *(("--method", value) for value in ("plsa", "", "STROD")),
        *(("--lookahead", value) for value in ("yes", "True", "")),
        *(("--polish", value) for value in ("-1", "1001", "much")),
        *(("--topical", value) for value in ("topic", "")),
        *(("--engine", value) for value in ("cluster", "")),
    ],
)
def test_bad_values(bench: Bench, source: Path, option: str, value: str) -> None:
    outcome = bench.build(source, option, value)
    bench.check_failed(outcome, option)
    assert outcome.err.count("\n") == 1


def test_a_method_that_would_not_fit(bench: Bench) -> None:
    """It is known only when the words are, but nothing is left behind even so."""
    many = json_lines(*({"text": f"w{i}ax w{i}bx w{i}cx w{i}dx"} for i in range(500)))
    source = bench.write("many.jsonl", many)
    outcome = bench.build(source, "--method", "rtod", "--min-df", 1)
    bench.check_failed(outcome, "--method rtod", "2,000 words need 128.5 GB", "--memory leaves")


@pytest.mark.parametrize("arguments", [["--children", 3], ["--height", 3], ["--lookahead", "off"]])
def test_the_same_bytes_for_any_number_of_workers(
    bench: Bench, source: Path, arguments: list[object]
) -> None:
    found = []
    for workers in (1, 2, 3):
        outcome = strod(
            "build", source, *arguments, "--workers", workers, "--overwrite", "--quiet",
            "--out", bench.workspace,
        )  # fmt: skip
        assert (outcome.code, outcome.err) == (0, "")
        found.append(tree_digests(bench.workspace))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 10


def test_seeds_matter_only_to_the_tree(bench: Bench, source: Path) -> None:
    manifests = []
    for seed in (1, 2):
        bench.build(source, "--children", 3, "--seed", seed, "--overwrite", "--quiet")
        manifests.append(Workspace(bench.workspace).manifest)
    assert manifests[0].corpus == manifests[1].corpus
    assert manifests[0].tree.settings != manifests[1].tree.settings


def test_json(tree_workspace: Path) -> None:
    topics = shown(tree_workspace)
    tree = Workspace(tree_workspace).tree
    assert [topic["path"] for topic in topics] == list(tree)
    assert topics[0]["path"] == topics[0]["id"] == "o"
    assert topics[0]["parent"] is None
    by_id = {topic["id"]: topic for topic in topics}
    for topic in topics:
        assert list(topic) == KEYS
        assert 0 < len(topic["phrases"]) <= 20
        assert all(isinstance(text, str) and score > 0 for text, score in topic["phrases"])
        assert (topic["label"] is None) == (topic["path"] == "o")
        assert re.fullmatch(r"[0-9a-f]{64}", topic["sha256"])
        assert len(topic["words"]) <= 20
        assert all(isinstance(word, str) and 0 < chance <= 1 for word, chance in topic["words"])
        found = tree[topic["id"]]
        for name in ("weight", "alpha", "alpha0", "documents", "reason", "sha256", "level"):
            assert topic[name] == getattr(found, name)
        if topic["parent"] is not None:
            assert topic["path"].startswith(by_id[topic["parent"]]["path"] + "/")
            assert topic["level"] == by_id[topic["parent"]]["level"] + 1
    assert sum(topic["weight"] for topic in topics if topic["level"] == 1) == pytest.approx(1)


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 9])
def test_depth(tree_workspace: Path, depth: int) -> None:
    tree = Workspace(tree_workspace).tree
    expected = [path for path in tree if path.count("/") <= depth]
    assert [topic["path"] for topic in shown(tree_workspace, "--depth", depth)] == expected
    assert [path for path, _ in printed(tree_workspace, "--depth", depth)] == sorted(expected)


def test_a_branch(tree_workspace: Path) -> None:
    tree = Workspace(tree_workspace).tree
    branch = [path for path in tree if f"{path}/".startswith("o/1/")]
    for name in ("o/1", tree["o/1"].id):
        assert [topic["path"] for topic in shown(tree_workspace, name)] == branch
        assert [path for path, _ in printed(tree_workspace, name)] == sorted(branch)
    assert [path for path, _ in printed(tree_workspace, "o/1", "--depth", 0)] == ["o/1"]
    below = [f"o/1/{number}" for number in range(1, len(tree["o/1"].children) + 1)]
    assert [topic["path"] for topic in shown(tree_workspace, "o/1", "--depth", 1)] == [
        "o/1",
        *below,
    ]
    found = [path for path, _ in printed(tree_workspace, "o/1", "--depth", 1)]
    assert found == ["o/1", *below]


@pytest.mark.parametrize("words", [1, 3, 50, 0])
def test_number_of_words(tree_workspace: Path, words: int) -> None:
    tree = Workspace(tree_workspace).tree
    for topic in shown(tree_workspace, "--words", words):
        assert topic["words"] == [list(pair) for pair in tree[topic["id"]].top(words)]
        if words == 0:
            assert sum(chance for _, chance in topic["words"]) == pytest.approx(1, abs=1e-9)
    for path, found in printed(tree_workspace, "--words", words):
        assert found == [word for word, _ in tree[path].top(words)]


@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize("name", ["o/9", "x", "o/1/1/1/1/1", "12345"])
def test_no_such_topic(tree_workspace: Path, name: str, json_too: list[str]) -> None:
    outcome = strod("show", tree_workspace, name, *json_too)
    check_error(outcome, f"{name}: no such topic", "o/1")


@pytest.mark.parametrize(
    "arguments", [["--depth", "-1"], ["--words", "-1"], ["--words", "x"], ["--phrases", "-1"]]
)
def test_wrong_numbers(tree_workspace: Path, arguments: list[str]) -> None:
    check_error(strod("show", tree_workspace, *arguments), arguments[0])


def on_a_terminal(columns: int, *arguments: object) -> list[str]:
    """What a person sees on a screen of so many columns, without colours."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        command(*arguments), stdout=theirs, stderr=theirs, stdin=theirs, env=environment
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        data += part
    os.close(ours)
    assert process.wait(timeout=300) == 0, data
    assert b"\x1b[" in data
    return re.sub(r"\x1b\[[0-9;]*m", "", data.decode()).replace("\r", "").splitlines()


@pytest.mark.parametrize("columns", [60, 100])
def test_lines_are_not_broken(tree_workspace: Path, columns: int) -> None:
    lines = on_a_terminal(columns, "show", tree_workspace)
    tree = Workspace(tree_workspace).tree
    assert len(lines) == len(tree) + 1
    assert all(len(line) <= columns for line in lines)
    starts = [re.sub(r"^[ │├└─]*", "", line).split()[0] for line in lines[1:]]
    assert starts == sorted(tree)
    assert sum(len(line) > columns - 25 for line in lines) > len(tree) / 2  # and well filled


def test_whoever_asks_for_many_words_gets_them(tree_workspace: Path) -> None:
    """However narrow the screen is: the terminal breaks the line, not we."""
    lines = on_a_terminal(60, "show", tree_workspace, "--words", 30)
    tree = Workspace(tree_workspace).tree
    assert len(lines) == len(tree) + 1
    for line in lines[1:]:
        match = LINE.match(line)
        assert match
        assert match[3].strip().split(", ") == [word for word, _ in tree[match[1]].top(30)]


def test_wide_characters_fit_on_the_screen(bench: Bench) -> None:
    """A Chinese character takes two columns."""
    text = "主题模型发现文本集合中的层次结构并且给出每个主题的词语"
    bench.write("a.txt", f"{text}\n{text[::-1]}\n".encode())
    bench.build(bench.folder / "a.txt", "--tokenizer", "bigrams", "--min-df", 1, "--quiet")
    line = on_a_terminal(60, "show", bench.workspace)[-1]
    assert "主题" in line or "题" in line
    assert 40 < cell_len(line) <= 60


def test_why_a_topic_has_no_children(bench: Bench, source: Path) -> None:
    """Said once after the build and beside the topic, but not where it is the height."""
    outcome = bench.build(source, "--children", 3, "--height", 4)
    tree = Workspace(bench.workspace).tree
    reasons = {topic.reason for topic in tree.values()} - {"", "height"}
    assert reasons
    for reason in reasons:
        paths = [topic.path for topic in tree.values() if topic.reason == reason]
        (line,) = [x for x in outcome.out.splitlines() if x.startswith(f"not split, {reason}: ")]
        assert line.removesuffix(" …").split(": ")[1].split(", ") == paths[:8]
    for line in strod("show", bench.workspace).out.splitlines()[1:]:
        match = LINE.match(line)
        assert match
        topic = tree[match[1]]
        hidden = topic.level == 0 or topic.reason in {"", "height"}
        assert match[4] == (None if hidden else f"({topic.reason})")


def test_a_corpus_of_one_topic(bench: Bench) -> None:
    source = bench.write("two.txt", b"river stone\ncloud market\n")
    outcome = bench.build(source)
    assert outcome.code == 0
    assert "not split, too few documents: o" in outcome.out
    assert "0 topics" in outcome.out
    lines = strod("show", bench.workspace).out.splitlines()
    assert lines[:2] == [
        "2 documents, 4 words, 0 topics",
        "the corpus is one topic: too few documents",
    ]
    assert lines[2].startswith("o 100.0%  ")
    rows = strod("assign", bench.workspace, "--quiet").out.splitlines()
    assert [json.loads(row) for row in rows] == [
        {"id": number, "leaf": "o", "known": 2, "fit": None, "topics": {}} for number in ("1", "2")
    ]


def test_an_interrupted_reader(bench: Bench, source: Path) -> None:
    """A tree that is replaced while someone has it open stays readable for them."""
    bench.build(source, "--children", 3, "--quiet")
    before = Workspace(bench.workspace)
    weights = [topic.weight for topic in before.tree.values()]
    bench.build(source, "--children", 2, "--overwrite", "--quiet")
    assert [topic.weight for topic in before.tree.values()] == weights
    assert before.tree.root.words
    assert len(Workspace(bench.workspace).tree.root.children) == 2
    assert names(bench.folder) == ["planted.jsonl", "w.strod"]
