"""The page and its key as files."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import strod as package
from strod import pages
from strod.errors import UsageError
from strod.intrusion import make
from strod.workspace.workspace import Workspace
from tests.conftest import check_error, names, strod
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


def questions_of(path: Path) -> list[dict[str, Any]]:
    """What the page holds."""
    found = re.search(r'id="data">\n(.*)\n</script>', path.read_text(encoding="utf-8"))
    assert found
    questions: list[dict[str, Any]] = json.loads(found[1])["questions"]
    return questions


@pytest.fixture
def two(tree_workspace: Path, tmp_path: Path) -> list[Path]:
    """The same tree twice, under names that a page must not tell."""
    paths = [tmp_path / "zebra.strod", tmp_path / "walrus.strod"]
    for path in paths:
        shutil.copytree(tree_workspace, path)
    return paths


def test_equally_many_from_each_tree_and_the_key_fits(two: list[Path], tmp_path: Path) -> None:
    made = make(two, tmp_path / "study.html", questions=6, x=3, seed=3)
    assert made.questions == {name: {"phrase": 6, "topic": 6} for name in ("zebra", "walrus")}
    assert made.notes == []
    key = json.loads(made.key.read_text())
    assert made.key == tmp_path / "study.key.json"
    shown = questions_of(made.page)
    assert len(shown) == len(key["questions"]) == 24
    trees = [Workspace(path).tree for path in two]
    for question, solution in zip(shown, key["questions"], strict=True):
        tree = trees[solution["method"]]
        topic, options = tree[solution["topic"]], list(question["options"])
        intruder = options.pop(solution["answer"])
        assert (question["kind"], len(options)) == (solution["kind"], 2)
        if question["kind"] == "phrase":
            own = [text for text, _ in topic.phrases]
            assert intruder[0] not in own
            assert {option[0] for option in options} <= set(own[:10])
        else:
            lists = [[text for text, _ in child.phrases[:5]] for child in topic.children]
            assert question["above"] == [text for text, _ in topic.phrases[:5]]
            assert all(option in lists for option in options)
            assert intruder not in lists


def test_trees_of_different_corpora_are_told(tree_workspace: Path, tmp_path: Path) -> None:
    other = package.build(planted_texts(200), out=tmp_path / "o.strod", children=2, height=1)
    made = make([tree_workspace, other], tmp_path / "study.html", questions=1, x=3)
    assert any("different corpora" in note for note in made.notes)


def test_the_page_tells_neither_the_solution_nor_the_tree(two: list[Path], tmp_path: Path) -> None:
    made = make(two, tmp_path / "study.html", questions=8)
    text = made.page.read_text(encoding="utf-8")
    for question in questions_of(made.page):
        assert set(question) == {"kind", "above", "options"}
    key = json.loads(made.key.read_text())
    for hidden in ("zebra", "walrus", "o/1", *(one["corpus"] for one in key["methods"])):
        assert hidden not in text
    for kind in ("phrase", "topic"):
        methods = [one["method"] for one in key["questions"] if one["kind"] == kind]
        assert methods != sorted(methods)
        assert methods != sorted(methods, reverse=True)
    assert len({one["answer"] for one in key["questions"]}) > 2


def test_the_same_seed_gives_the_same_bytes(two: list[Path], tmp_path: Path) -> None:
    first = make(two, tmp_path / "a.html", seed=1)
    again = make([Workspace(path) for path in two], tmp_path / "b.html", seed=1)
    other = make(two, tmp_path / "c.html", seed=2)
    assert first.page.read_bytes() == again.page.read_bytes()
    assert first.key.read_bytes() == again.key.read_bytes()
    assert first.study == again.study != other.study


HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>",
           "&lt;b&gt;", "\u2028\u2029", "]]>", "'\"`${1}", "\\u003c"]  # fmt: skip


def test_text_cannot_get_out_of_the_page(tmp_path: Path) -> None:
    questions = [{"kind": "topic", "above": HOSTILE, "options": [[text] for text in HOSTILE]}]
    text = pages.page("study", study="abc", questions=questions)
    body = text.partition('id="data">\n')[2].partition("\n</script>")[0]
    assert not set("<>&\u2028\u2029") & set(body)
    (tmp_path / "x.html").write_text(text, encoding="utf-8")
    assert questions_of(tmp_path / "x.html") == questions
    assert "default-src 'none'" in text
    assert not re.search(r"src\s*=|href=|@import|url\(|https?:", text.replace(body, ""))


def test_small_trees_give_fewer_questions_and_it_is_said(two: list[Path], tmp_path: Path) -> None:
    outcome = strod("intrusion", "make", two[0], "--questions", 30, "--out", tmp_path / "s.html")
    # Three topics with three children each, six intruders for each: 18 questions.
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        f"{tmp_path / 's.html'}: 48 questions about 1 tree",
        "  zebra: 18 of 30 topic questions: too few topics of one level with children",
        f"{tmp_path / 's.key.json'}: the key; keep it from the judges",
    ]


def test_a_tree_without_questions_is_refused(two: list[Path], tmp_path: Path) -> None:
    flat = tmp_path / "flat.strod"
    package.build(planted_texts(30), out=flat, height=0, workers=1)
    before = names(tmp_path)
    outcome = strod("intrusion", "make", two[0], flat, "--out", tmp_path / "s.html")
    check_error(outcome, f"{flat}: no question can be drawn from so small a tree")
    assert names(tmp_path) == before


def test_bad_options(two: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "s.html"
    for wrong in (["--x", 2], ["--x", 10], ["--questions", 0], ["--seed", -1]):
        check_error(strod("intrusion", "make", two[0], "--out", out, *wrong), str(wrong[0]))
    check_error(strod("intrusion", "make", two[0], two[0], "--out", out), "is given twice")
    check_error(
        strod("intrusion", "make", two[0], "--out", two[0] / "s.html"), "inside a workspace"
    )
    with pytest.raises(UsageError, match="no workspace"):
        make([], out)
    assert not out.exists()


@pytest.mark.parametrize("old", ["s.html", "s.key.json"])
def test_nothing_is_overwritten_unasked(two: list[Path], tmp_path: Path, old: str) -> None:
    (tmp_path / old).write_text("mine")
    before = names(tmp_path)
    check_error(strod("intrusion", "make", two[0], "--out", tmp_path / "s.html"), old, "exists")
    assert names(tmp_path) == before
    arguments = ["--out", tmp_path / "s.html", "--overwrite", "--quiet"]
    outcome = strod("intrusion", "make", two[0], *arguments)
    assert (outcome.code, outcome.out) == (0, "")
    assert (tmp_path / old).read_text() != "mine"


def test_trees_of_the_same_name_are_told_apart(two: list[Path], tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = two[1].rename(tmp_path / "b" / "zebra.strod")
    made = make([two[0], other], tmp_path / "s.html", questions=2)
    assert list(made.questions) == [f"{tmp_path.name}/zebra", "b/zebra"]


@pytest.mark.parametrize("name", [(), ("make",), ("score",)])
def test_help(name: tuple[str, ...]) -> None:
    outcome = strod("intrusion", *name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"strod {' '.join(('intrusion', *name))}" in outcome.out
    assert strod("intrusion").out == strod("intrusion", "-h").out
