"""Topics of documents: the same answer from the corpus and for the same text given anew."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.corpus import segment
from strod.errors import InputError, StrodError, UsageError
from strod.store.manifest import sealed
from strod.workspace.assign import assign_new
from strod.workspace.placements import assign_corpus
from strod.workspace.workspace import Workspace
from tests.conftest import Bench, check_error, json_lines, names, strod_process
from tests.conftest import strod as run
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = planted_texts(300, seed=3)
ODD = [
    "river",
    "riveroaka riveroaka riveroaka",
    "unheardof wordsalone",
    "the and of " + TEXTS[0],
    "RIVERA, Stoneb; cloudc!",
    " ".join([TEXTS[1]] * 40),
    TEXTS[2],
    TEXTS[2],
]
SHAPES: dict[str, dict[str, Any]] = {
    "default": {},
    "children 3": {"children": 3, "height": 3},
    "children 2": {"children": 2, "height": 3},
    "fresh splits": {"children": "auto", "height": 3, "lookahead": False},
    "no look-ahead": {"children": 3, "height": 3, "lookahead": False},
    "words alone": {"children": 3, "height": 3, "lookahead": False, "topical": "word"},
    "no thinning": {"children": 3, "height": 2, "thin": 0, "clip": 0},
    "a sample": {"children": 3, "height": 3, "sample": 150},
    "one topic": {"height": 0},
    "few words": {"children": 3, "max_vocabulary": 60, "min_df": 3},
    "strod-paper": {"children": 3, "height": 3, "method": "strod-paper"},
    "rtod3": {"children": 3, "height": 2, "method": "rtod3"},
}


@pytest.fixture(scope="module")
def workspace(tree_workspace: Path) -> Workspace:
    return Workspace(tree_workspace)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go; nothing may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert names(folder) == []


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("name", SHAPES)
def test_a_text_of_the_corpus_gets_the_answer_of_its_document(tmp_path: Path, name: str) -> None:
    texts = TEXTS + ODD
    built = strod.build(texts, out=tmp_path / "w.strod", **SHAPES[name])
    kept, new = list(assign_corpus(built)), list(assign_new(built, texts))
    assert new == kept
    assert [row["id"] for row in new] == [str(number) for number in range(1, len(texts) + 1)]
    assert len({row["leaf"] for row in new}) >= (1 if name == "one topic" else 4)
    if name in {"fresh splits", "no look-ahead", "strod-paper"}:
        owners = {part.split for node in built.tree.nodes.values() for part in node.components}
        assert len(owners) > 2  # the root and topics that were split anew


@pytest.mark.usefixtures("temporary")
def test_several_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = strod.build(TEXTS, out=tmp_path / "w.strod", children=3, height=3)
    expected = list(assign_corpus(built))
    monkeypatch.setattr(segment, "SHARD_DOCUMENTS", 70)
    assert list(assign_new(built, [TEXTS])) == expected
    parted = strod.build(TEXTS, out=tmp_path / "p.strod", children=3, height=3)
    assert len(list(parted.corpus.shards())) > 4
    assert list(assign_corpus(parted)) == list(assign_new(parted, [TEXTS]))


@pytest.mark.parametrize(
    "options",
    [
        {"stem": True},
        {"numbers": True},
        {"language": "de"},
        {"stopwords": ["cloudd", "Rivera"]},
        {"tokenizer": "bigrams"},
        {"text_field": ["title", "body"], "id_field": "key"},
    ],
    ids=str,
)
def test_words_are_found_as_the_corpus_found_them(tmp_path: Path, options: dict[str, Any]) -> None:
    records = [
        {
            "key": f"k{i}",
            "title": f"Größe running {i} the",
            "body": text,
            "text": f"{text} der 1999 runs",
        }
        for i, text in enumerate(TEXTS[:150])
    ]
    built = strod.build(records, out=tmp_path / "w.strod", children=3, **options)
    rows = list(assign_new(built, [records]))
    assert rows == list(assign_corpus(built))
    if "id_field" in options:
        assert rows[7]["id"] == "k7"


def test_rows(workspace: Workspace) -> None:
    tree = workspace.tree
    for row in assign_new(workspace, [TEXTS[:50]]):
        assert list(row) == ["id", "leaf", "known", "fit", "topics"]
        topics = row["topics"]
        assert set(topics) <= set(tree)
        assert list(topics) == [path for path in tree if path in topics]
        assert "o" not in topics
        assert all(0 < share <= 1 for share in topics.values())
        for topic in tree.values():
            if topic.children:
                below = sum(topics.get(child.path, 0) for child in topic.children)
                own = 1 if topic.level == 0 else topics.get(topic.path, 0)
                assert below == pytest.approx(own, abs=1e-5)
        check_leaf(workspace, row)


def check_leaf(workspace: Workspace, row: dict[str, Any]) -> None:
    topic = workspace.tree.root
    while topic.children:
        topic = max(topic.children, key=lambda child: row["topics"].get(child.path, 0))
    assert row["leaf"] == topic.path


def test_the_right_topic(tmp_path: Path) -> None:
    """Words of one planted topic lead to the topic that has them."""
    workspace = strod.build(TEXTS, out=tmp_path / "w.strod", children=3)
    for parent in ("river", "stone", "cloud"):
        text = " ".join(f"{parent}{letter}" for letter in "abcdefabcdef")
        (row,) = assign_new(workspace, [text])
        top = workspace.tree[row["leaf"][:3]]
        assert top.words[0][0].startswith(parent)
        assert row["topics"][top.path] > 0.9


@pytest.mark.parametrize("text", ["unheardof", "nothing known here", "the unheardof", "the of and"])
def test_unknown_words_say_nothing(workspace: Workspace, text: str) -> None:
    """Such a document has the shares that a document has before it is read, and no leaf."""
    (row,) = assign_new(workspace, [text])
    assert list(row) == ["id", "leaf", "known", "fit", "topics"]
    assert (row["leaf"], row["known"]) == (None, 0)
    for topic in workspace.tree.root.children:
        assert row["topics"][topic.path] == pytest.approx(topic.weight, abs=0.05)
    nothing = workspace.tree.place(next(iter(workspace.corpus.shards())).counts[:1] * 0)
    for path, share in row["topics"].items():
        assert share == pytest.approx(nothing[workspace.tree[path].id][0], abs=1e-6)


def test_prior_shares_are_those_of_the_splits(workspace: Workspace) -> None:
    tree = workspace.tree
    (row,) = assign_new(workspace, [["unheardof"]])
    for topic in tree.values():
        if topic.level:
            node = tree.nodes[topic.id]
            [part] = node.components
            share = tree.splits[part.split].overlap.weights[part.fine].sum()
            while part.split != "o":
                [part] = tree.splits[part.split].components
                share *= tree.splits[part.split].overlap.weights[part.fine].sum()
            assert row["topics"][topic.path] == pytest.approx(share, abs=1e-6)


def test_one_by_one_or_all_at_once(workspace: Workspace) -> None:
    texts = [*TEXTS[:25], *ODD]
    together = list(assign_new(workspace, texts))
    for text, expected in zip(texts, together, strict=True):
        (alone,) = assign_new(workspace, [text])
        assert alone | {"id": ""} == expected | {"id": ""}
    reverse = list(assign_new(workspace, texts[::-1]))[::-1]
    assert [row | {"id": ""} for row in reverse] == [row | {"id": ""} for row in together]


def test_several_sources_and_formats(workspace: Workspace, tmp_path: Path) -> None:
    lines = tmp_path / "a.txt"
    lines.write_text("\n".join(TEXTS[:3]) + "\n")
    records = tmp_path / "b.jsonl"
    records.write_bytes(json_lines(*({"id": f"x{i}", "text": TEXTS[i]} for i in range(3))))
    rows = list(assign_new(workspace, str(lines), str(records)))
    assert len(rows) == 6
    assert [row["topics"] for row in rows[:3]] == [row["topics"] for row in rows[3:]]
    assert [row["id"] for row in rows[3:]] == ["x0", "x1", "x2"]
    (whole,) = assign_new(workspace, str(lines), format="files")
    assert whole["leaf"]


def test_another_field_than_in_the_corpus(workspace: Workspace) -> None:
    records = [{"key": f"k{i}", "body": text} for i, text in enumerate(TEXTS[:5])]
    expected = list(assign_new(workspace, [TEXTS[:5]]))
    rows = list(assign_new(workspace, [records], text_field=("body",), id_field="key"))
    assert [row["id"] for row in rows] == [f"k{i}" for i in range(5)]
    assert [row["topics"] for row in rows] == [row["topics"] for row in expected]


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize(
    ("sources", "phrase"),
    [
        ([[{"other": "x"}]], "text"),
        ("no-such-file.txt", "no-such-file.txt"),
        ("a text of words", "texts are given in a list"),
        ([[]], "no"),
    ],
    ids=str,
)
def test_nothing_to_assign(workspace: Workspace, sources: Any, phrase: str) -> None:
    with pytest.raises(InputError, match=phrase) as why:
        list(assign_new(workspace, sources))
    assert len(str(why.value).splitlines()) == 1


def by_spaces(text: str) -> list[list[str]]:
    return [text.split()]


OWN = "tests.test_assign:by_spaces"


@pytest.mark.parametrize("built_with", [OWN, by_spaces])
def test_a_tokenizer_of_ones_own_is_given_again(tmp_path: Path, built_with: Any) -> None:
    built = strod.build(
        TEXTS[:100], out=tmp_path / "w.strod", children=3, tokenizer=built_with, workers=2
    )
    for again in (OWN, by_spaces):
        new = assign_new(built, [TEXTS[:100]], tokenizer=again)
        assert list(new) == list(assign_corpus(built))
    for other in ({}, {"tokenizer": "bigrams"}, {"tokenizer": partial(by_spaces)}):
        with pytest.raises(UsageError, match=f"give tokenizer {OWN}"):
            next(iter(assign_new(built, [TEXTS[:1]], **other)))
        with pytest.raises(UsageError, match=f"give tokenizer {OWN}"):
            built.add(TEXTS[:1], **other)


@pytest.mark.parametrize("name", ["os:system", "tests.trap:spring", "/etc/passwd", "words:x"])
def test_no_code_is_run_because_a_workspace_says_so(
    tree_workspace: Path, tmp_path: Path, name: str
) -> None:
    """The manifest is a stranger's, and its seal is right."""
    path = shutil.copytree(tree_workspace, tmp_path / "w.strod")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest.pop("sha256")
    manifest["corpus"]["settings"]["tokenizer"] = name
    (path / "manifest.json").write_text(json.dumps(sealed(manifest)))
    (tmp_path / "new.txt").write_text(f"touch {tmp_path / 'sprung'}\n")
    for arguments in (["assign"], ["add"], ["add", "--dry-run"]):
        verb, *more = arguments
        check_error(run(verb, path, tmp_path / "new.txt", *more), "--tokenizer", name)
    assert not (tmp_path / "sprung").exists()
    assert "tests.trap" not in sys.modules


@pytest.mark.usefixtures("temporary")
def test_whoever_stops_reading_leaves_nothing_behind(workspace: Workspace) -> None:
    rows = assign_new(workspace, [TEXTS])
    assert next(rows)["id"] == "1"
    rows.close()  # type: ignore[attr-defined]


def test_on_the_command_line(tree_workspace: Path, workspace: Workspace) -> None:
    outcome = run("assign", tree_workspace)
    assert (outcome.code, outcome.err.rpartition(":")[0]) == (0, "assigning")
    rows = [_loads(line) for line in outcome.out.splitlines()]
    assert rows == list(assign_corpus(workspace))
    again = run("assign", tree_workspace, tree_workspace.parent / "tree.jsonl", "--quiet")
    assert (again.code, again.err, again.out) == (0, "", outcome.out)
    stdin = run("assign", tree_workspace, "-", "--quiet", stdin=f"{TEXTS[0]}\n".encode())
    (expected,) = assign_new(workspace, [[TEXTS[0]]])
    assert _loads(stdin.out)["topics"] == expected["topics"]


def _loads(line: str) -> dict[str, Any]:
    import json  # noqa: PLC0415

    found: dict[str, Any] = json.loads(line)
    return found


def test_fields_on_the_command_line(tree_workspace: Path, bench: Bench) -> None:
    source = bench.write("a.csv", f"key,body\nk1,{TEXTS[0]}\n".encode())
    outcome = run(
        "assign", tree_workspace, source, "--text-field", "body", "--id-field", "key", "-q"
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert _loads(outcome.out)["id"] == "k1"


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["none.txt"], "none.txt"),
        (["empty.txt"], "no usable document"),
        (["a.jsonl", "--format", "xml"], "--format"),
        (["a.jsonl", "--nonsense"], "--nonsense"),
        (["a.jsonl", "--id-field", "missing"], "missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_one_line(
    tree_workspace: Path,
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    phrase: str,
) -> None:
    monkeypatch.chdir(bench.folder)
    bench.write("a.jsonl", json_lines({"text": TEXTS[0]}))
    bench.write("empty.txt", b"")
    check_error(run("assign", tree_workspace, *arguments), phrase)


def test_in_a_process(tree_workspace: Path) -> None:
    outcome = strod_process("assign", tree_workspace, "-", stdin=b"rivera riverb\nunheardof\n")
    assert outcome.code == 0, outcome.err
    rows = [_loads(line) for line in outcome.out.splitlines()]
    assert [row["id"] for row in rows] == ["1", "2"]


def test_a_workspace_without_its_shares(tmp_path: Path) -> None:
    built = strod.build(TEXTS[:100], out=tmp_path / "w.strod", children=3)
    (built.path / "tree" / "splits" / "o" / "0000" / "values.npy").unlink()
    with pytest.raises(StrodError, match=r"values\.npy"):
        list(assign_corpus(Workspace(built.path)))
    check_error(run("assign", built.path), "values.npy", "strod check", code=1)


def test_shares_are_rounded_for_reading(workspace: Workspace) -> None:
    for row in assign_corpus(workspace):
        values = np.array(list(row["topics"].values()))
        assert np.array_equal(values, values.round(6))
