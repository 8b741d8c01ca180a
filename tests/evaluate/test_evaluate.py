"""A whole evaluation: every number again from what the workspace holds, and the command."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse import vstack

from strod.cli.evaluate import _print_flags
from strod.errors import UsageError
from strod.evaluate import Report, evaluate, variance
from strod.evaluate.agreement import agreement
from strod.evaluate.lists import phrase_lists
from strod.evaluate.report import Flag
from strod.store.topics import node_sha256, read_revision
from strod.workspace import tree as hierarchy
from strod.workspace.workspace import Workspace
from tests.conftest import check_error, json_lines, strod
from tests.planted_text import LEAVES, PARENTS, planted_texts

if TYPE_CHECKING:
    from pathlib import Path

TOP = 6


def label(text: str) -> str:
    """The parent, and the leaf, that most words are of."""
    parents = Counter(p for word in text.split() for p in PARENTS if word.startswith(p))
    parent = max(parents, key=lambda p: parents[p])
    leaves = Counter(leaf for word in text.split() for leaf in LEAVES if parent + leaf in word)
    return f"{parent}.{max(leaves, key=lambda leaf: leaves[leaf])}"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three topics of three, with labels; every tenth document ends in the same words."""
    folder = tmp_path_factory.mktemp("labelled")
    copied = "yours truly " + " ".join(f"signature{letter}" for letter in "abcdefghijkl")
    records = [
        {
            "id": f"d{i}",
            "text": text + (". " + copied if i % 10 == 0 else ""),
            "label": label(text) if i % 20 else None,
            "year": 2000 + i % 3,
        }
        for i, text in enumerate(planted_texts(240))
    ]
    source = folder / "planted.jsonl"
    source.write_bytes(json_lines(*records))
    arguments = ["--meta", "label", "--meta", "year", "--height", 2, "--children", 3, "--quiet"]
    outcome = strod("build", source, *arguments, "--out", folder / "w.strod")
    assert outcome.code == 0, outcome.err
    return folder / "w.strod"


@pytest.fixture(scope="module")
def workspace(path: Path) -> Workspace:
    return Workspace(path)


@pytest.fixture(scope="module")
def report(workspace: Workspace) -> Report:
    return evaluate(workspace, "label", TOP)


def lists(workspace: Workspace) -> dict[str, list[int]]:
    columns = {word: i for i, word in enumerate(workspace.tree.surfaces)}
    tree = workspace.tree
    return {path: [columns[word] for word, _ in tree[path].top(TOP)] for path in tree}


def test_a_topic_without_phrases_is_called_by_its_words(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an earlier version wrote it."""

    def nameless(*given: Any) -> Any:
        found = read_revision(*given)
        for node in found.nodes.values():
            node.label, node.phrases = "", []
        sums = {name: node_sha256(node) for name, node in found.nodes.items()}
        return found._replace(checksums=sums)

    monkeypatch.setattr(hierarchy, "read_revision", nameless)
    fresh = Workspace(path)
    for found in evaluate(fresh, top=TOP).topics:
        assert found.label == ", ".join(word for word, _ in fresh.tree[found.path].top(2))


def npmi(there: Any, a: int, b: int, epsilon: float = 0.0) -> float:
    one, other = there[:, a], there[:, b]
    both = float((one & other).mean()) + epsilon
    alone = float(one.mean()) * float(other.mean())
    return math.log(both / alone) / -math.log(both) if both else -1.0


def stands(shards: Any) -> Any:
    return vstack([shard.counts for shard in shards]).toarray() > 0


def mean(values: Any) -> float:
    found: list[float] = list(values)
    return sum(found) / len(found)


def test_coherence_of_words_and_phrases(workspace: Workspace, report: Report) -> None:
    there = stands(workspace.corpus.shards())
    words = lists(workspace)
    assert len(report.topics) == len(workspace.tree) - 1 == 12
    for topic in report.topics:
        expected = mean(npmi(there, a, b) for a, b in combinations(words[topic.path], 2))
        assert topic.words.npmi == pytest.approx(expected), topic.path
        assert topic.frequency == pytest.approx(there[:, words[topic.path]].mean())
        assert topic.words.c_v is not None
        assert 0 < topic.words.c_v <= 1
    units = phrase_lists(workspace, [workspace.tree[t.id] for t in report.topics], TOP)
    there = stands(ref.open() for ref in workspace.phrase_index.refs)
    for topic in report.topics:
        assert len(units[topic.id]) == min(TOP, len(workspace.tree[topic.id].phrases))
        expected = mean(npmi(there, a, b) for a, b in combinations(units[topic.id], 2))
        assert topic.phrases.npmi == pytest.approx(expected), topic.path


def test_phrases_are_found_by_their_words(workspace: Workspace) -> None:
    """Spelled as authors do, each is its unit again: its words are those of the text."""
    book, topic = workspace.phrase_index, workspace.tree["o/1"]
    units = phrase_lists(workspace, [topic], 20)[topic.id]
    said = [text for text, _ in topic.phrases[:20]]
    assert len(units) == len(said) > 3
    for unit, text in zip(units, said, strict=True):
        tokens = [book.lexicon.words[token] for token in book.units.tokens(int(unit))]
        assert sorted(tokens) == sorted(text.lower().replace("-", " ").split())


def test_levels(workspace: Workspace, report: Report) -> None:
    words = lists(workspace)
    there = stands(workspace.corpus.shards())
    assert [level.topics for level in report.levels] == [3, 9]
    for number, level in enumerate(report.levels, 1):
        own = [topic for topic in report.topics if topic.level == number]
        assert level.words.npmi == pytest.approx(mean(topic.words.npmi for topic in own))
        assert level.phrases.c_v == pytest.approx(mean(topic.phrases.c_v for topic in own))
        flat = [word for topic in own for word in words[topic.path]]
        assert level.diversity == len(set(flat)) / len(flat)
    first, second = report.levels
    assert (first.pcc, first.pcd) == (None, None)
    families = [workspace.tree[f"o/{i}"] for i in (1, 2, 3)]
    values, differences, once = [], [], []
    for parent in families:
        used = Counter(word for child in parent.children for word in words[child.path])
        once.append(sum(n == 1 for n in used.values()) / used.total())
        for child in parent.children:
            above, below = set(words[parent.path]), set(words[child.path])
            values += [npmi(there, a, b, 1e-10) for a in above - below for b in below - above]
            values += [-1.0] * len(above & below) ** 2
            differences.append(len(above ^ below) / (2 * TOP))
    assert second.pcc == report.hierarchy.pcc == pytest.approx(mean(values))
    assert second.pcd == report.hierarchy.pcd == pytest.approx(mean(differences))
    assert second.sd == pytest.approx(mean(once))
    others = [
        len(set(words[parent.path]) ^ set(words[child.path])) / (2 * TOP)
        for parent in families
        for other in families
        for child in other.children
        if other is not parent
    ]
    assert report.hierarchy.pncd == pytest.approx(mean(others))
    shares = [topic.weight for topic in families]
    assert first.largest == pytest.approx(max(shares) / sum(shares))
    assert report.leaves.topics == 9
    assert report.leaves.words == second.words


def test_labels(path: Path, workspace: Workspace, report: Report) -> None:
    rows = [json.loads(line) for line in strod("assign", path, "--quiet").out.splitlines()]
    shards = workspace.corpus.shards()
    labels = [value for s in shards for value in s.documents()["meta.label"].to_pylist()]
    pairs = zip(rows, labels, strict=True)
    known = [(row["leaf"], one) for row, one in pairs if one is not None]
    assert len(known) == 228
    depths = {(one.level, one.depth): one for one in report.labels}
    assert set(depths) == {(level, depth) for level in (1, 2, None) for depth in (1, 2)}
    for (level, depth), found in depths.items():
        topics = ["/".join(leaf.split("/")[: (level or 9) + 1]) for leaf, _ in known]
        truth = [".".join(one.split(".")[:depth]) for _, one in known]
        expected = agreement(topics, truth)
        assert (found.nmi, found.purity, found.homogeneity) == pytest.approx(expected)
        assert found.documents == 228
    assert depths[1, 1].nmi > 0.85


def test_copied_text(workspace: Workspace, report: Report) -> None:
    """24 documents end in 14 words, of about 30 more that are never in order."""
    assert 0.01 < report.copied < 0.1
    documents = sum(topic.documents for topic in report.topics if topic.level == 1)
    assert documents == workspace.corpus.documents
    shares = [(topic.copied, topic.documents) for topic in report.topics if topic.level == 1]
    assert sum(share * size for share, size in shares) / documents == pytest.approx(
        report.copied, abs=0.02
    )


def test_only_what_is_there_can_be_compared(path: Path, workspace: Workspace) -> None:
    with pytest.raises(
        UsageError, match="no such field, there are: label, year; others need a build"
    ):
        evaluate(workspace, "genre")
    check_error(strod("evaluate", path, "--labels", "genre"), "--labels genre", "label, year")
    with pytest.raises(UsageError, match="two words"):
        evaluate(workspace, top=1)


def test_numbers_are_labels_too(workspace: Workspace) -> None:
    scores = evaluate(workspace, "year", TOP).labels
    assert {one.depth for one in scores} == {1}
    assert scores[0].classes == 3
    assert scores[0].nmi < 0.1


def test_json(path: Path, report: Report) -> None:
    arguments = ["--labels", "label", "--top", TOP, "--json", "--quiet"]
    outcome = strod("evaluate", path, *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    content = json.loads(outcome.out)
    assert content == report.as_dictionary()
    assert set(content["intrusion"]) == {"words", "phrases"}
    assert set(content["topics"][0]) > {"path", "words", "phrases", "flags", "copied"}


def test_text(path: Path) -> None:
    outcome = strod("evaluate", path, "--labels", "label", "--quiet")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "240 documents, 12 topics, the best 10 words and phrases of each"
    flags = next(i for i, line in enumerate(lines) if "wrong" in line)
    assert max(len(line.rstrip()) for line in lines[:flags]) <= 80
    rows = [line.split() for line in lines]
    assert rows[3][:8] == ["level", "topics", "NPMI", "C_V", "NPMI", "C_V", "words", "SD"]
    assert [row[0] for row in rows[4:6]] == ["1", "2"]
    table = next(i for i, row in enumerate(rows) if "homogeneity" in row)
    assert [row[0] for row in rows[table + 1 : table + 5]] == ["1", "1", "leaves", "leaves"]
    assert "wrong" in lines[table + 6]


def test_no_columns_of_phrases_without_phrases(tmp_path: Path) -> None:
    texts = planted_texts(240)
    source = tmp_path / "planted.jsonl"
    source.write_bytes(json_lines(*({"id": str(i), "text": t} for i, t in enumerate(texts))))
    arguments = ["--no-phrases", "--children", 3, "--out", tmp_path / "w.strod", "--quiet"]
    assert strod("build", source, *arguments).code == 0
    outcome = strod("evaluate", tmp_path / "w.strod")
    assert "by words" in outcome.out
    assert "by phrases" not in outcome.out
    rows = [line.split() for line in outcome.out.splitlines()]
    assert rows[3][:6] == ["level", "topics", "NPMI", "C_V", "words", "SD"]
    assert max(len(row) for row in rows[4:6]) == len(rows[3])


def test_a_field_without_values(tmp_path: Path) -> None:
    texts = enumerate(planted_texts(400))
    records = [{"id": str(n), "text": text, "genre": None} for n, text in texts]
    source = tmp_path / "t.jsonl"
    source.write_bytes(json_lines(*records))
    out = tmp_path / "a tree.strod"
    strod("build", source, "--out", out, "--children", "2", "--height", "1", "--meta", "genre")
    outcome = strod("evaluate", out, "--labels", "genre", "--quiet")
    assert outcome.code == 0
    assert "no document has a value of genre: nothing to agree with" in outcome.out
    assert "homogeneity" not in outcome.out


def test_one_command_for_a_topic(capsys: pytest.CaptureFixture[str]) -> None:
    """The first that changes something; a path with a space is quoted."""
    about = "o/1", "1", "a, b"
    flags = [
        Flag(*about, "copies", "said twice", "show o/1 --documents 5", []),
        Flag(*about, "tiny", "is small", "merge o/2 o/1", ["o/2"]),
        Flag(*about, "background", "is vague", "remove o/1", []),
        Flag("o/2", "2", "c", "copies", "said twice", "show o/2 --documents 5", []),
    ]
    _print_flags(flags, "my tree.strod", Console(width=200))
    out = capsys.readouterr().out
    commands = [line.strip() for line in out.splitlines() if "→" in line]
    assert commands == [
        "→ strod merge 'my tree.strod' o/2 o/1",
        "→ strod show 'my tree.strod' o/2 --documents 5",
    ]
    assert all(word in out for word in ("2 topics look wrong", "said twice", "small", "vague"))


def test_leaves_on_different_levels(path: Path, tmp_path: Path) -> None:
    shutil.copytree(path, tmp_path / "w.strod")
    changed = Workspace(tmp_path / "w.strod")
    changed.collapse("o/2")
    changed.refresh()
    report = evaluate(changed, "label")
    assert [level.topics for level in report.levels] == [3, 6]
    assert report.leaves.topics == 7
    assert report.leaves.words != report.levels[1].words
    by_level = {one.level: one.topics for one in report.labels}
    assert by_level == {1: 3, 2: 7, None: 7}  # documents of o/2 stay there
    copied = {topic.path: topic.copied for topic in report.topics}
    assert copied["o/2"] == pytest.approx(
        {t.path: t.copied for t in evaluate(Workspace(path)).topics}["o/2"]
    )
    lines = strod("evaluate", tmp_path / "w.strod", "--quiet").out.splitlines()
    assert [line.split()[:2] for line in lines[4:7]] == [["1", "3"], ["2", "6"], ["leaves", "7"]]


def test_phrases_of_stems(tmp_path: Path) -> None:
    pytest.importorskip("snowballstemmer", reason="snowballstemmer is not installed")
    random = np.random.default_rng(0)
    parts = [
        ["neural-networks", "learning", "images", "readers", "training", "errors", "layers"],
        ["stellar galaxies", "evolutions", "surveys", "skies", "telescopes", "masses", "orbits"],
    ]
    texts = [" ".join(random.permutation(parts[i % 2])) for i in range(120)]
    source = tmp_path / "stems.jsonl"
    source.write_bytes(json_lines(*({"id": str(i), "text": t} for i, t in enumerate(texts))))
    arguments = ["--stem", "--children", 2, "--out", tmp_path / "w.strod", "--quiet"]
    assert strod("build", source, *arguments).code == 0
    opened = Workspace(tmp_path / "w.strod")
    topics = [opened.tree[name] for name in opened.tree]
    assert any(" " in text or "-" in text for topic in topics for text, _ in topic.phrases)
    for topic in topics:
        assert len(phrase_lists(opened, [topic], 20)[topic.id]) == len(topic.phrases)


def test_one_topic(tmp_path: Path) -> None:
    source = tmp_path / "few.jsonl"
    source.write_bytes(json_lines(*({"id": str(i), "text": "only few words"} for i in range(3))))
    assert strod("build", source, "--out", tmp_path / "w.strod", "--quiet").code == 0
    outcome = strod("evaluate", tmp_path / "w.strod", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert "the corpus is one topic" in outcome.out
    content = json.loads(strod("evaluate", tmp_path / "w.strod", "--json", "-q").out)
    assert (content["topics"], content["levels"], content["flags"]) == ([], [], [])


def test_a_run_does_not_differ_from_itself(workspace: Workspace) -> None:
    assert variance([workspace, workspace.tree]) == 0


def test_names_are_kept_apart() -> None:
    import strod as package  # noqa: PLC0415

    assert "evaluate" not in package.__all__
    assert callable(package.evaluate.evaluate)
