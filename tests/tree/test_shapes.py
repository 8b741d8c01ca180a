"""Shapes that people ask for: children level by level, a budget of topics, leaves with enough."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.datasets.planted import plant
from strod.errors import UsageError
from strod.model.options import TreeOptions, shape_values
from strod.tree.budget import chosen, gain
from strod.values.topic import ROOT, Node
from tests.conftest import check_error, contents, json_lines
from tests.conftest import strod as run
from tests.planted_text import planted_texts
from tests.tree.helpers import digests, grown

if TYPE_CHECKING:
    from pathlib import Path


@cache
def counts() -> Any:
    return plant(0, documents=1200, length=40, children=3, words=300, alpha0=0.5).counts


def sizes(tree: Any) -> list[int]:
    return [node.documents for node in tree.nodes.values() if not node.children]


def test_children_level_by_level() -> None:
    tree, _ = grown(counts(), children=(3, 2), height=2)
    assert [len(node.children) for node in tree.nodes.values()] == [3, 2, 2, 2, *[0] * 6]
    same, _ = grown(counts(), children=(3, 3), height=2)
    assert digests(same) == digests(grown(counts(), children=3, height=2)[0])
    assert set(tree.nodes[ROOT].children) == set(same.nodes[ROOT].children)
    deeper, _ = grown(counts(), children=(3, 2), height=3)
    assert {len(node.children) for node in deeper.nodes.values() if node.level == 2} <= {0, 2}


@pytest.mark.parametrize("children", [2, 3])
@pytest.mark.parametrize("ends", [False, True])
def test_a_larger_budget_contains_the_smaller(
    request: pytest.FixtureRequest, children: int, ends: bool
) -> None:
    if not ends:
        request.getfixturevalue("endless")
    budgets = range(3, 13, 2)
    shape = {"children": children, "height": 4}
    trees = [grown(counts(), topics=topics, **shape)[0] for topics in budgets]
    for small, large in pairwise(trees):
        assert small.nodes.keys() <= large.nodes.keys()
        for name, node in small.nodes.items():
            assert np.array_equal(node.words, large.nodes[name].words)
            assert node.weight == large.nodes[name].weight
            assert node.documents == large.nodes[name].documents
    for tree, topics in zip(trees, budgets, strict=True):
        assert topics - children < len(tree.nodes) - 1 <= topics
        split = {name for name, node in tree.nodes.items() if node.children}
        assert set(tree.splits) == ({ROOT} if ends else split)


def test_the_budget_goes_where_it_explains_most() -> None:
    """The choice is that of one who knows the gains of all topics."""
    whole, _ = grown(counts(), children=3, height=3)
    gains = {name: gain(whole.nodes, name) for name, node in whole.nodes.items() if node.children}
    tree, _ = grown(counts(), children=3, height=3, topics=12)
    # Weights differ a little: those of a finished tree are means over all documents.
    best = sorted((n for n in gains if n != ROOT), key=lambda n: -gains[n])
    split = {name for name, node in tree.nodes.items() if node.children}
    assert split == {ROOT, *best[:3]}


def test_the_choice_waits_for_what_is_not_known() -> None:
    def node(name: str, parent: str | None, *children: str) -> Node:
        return Node(name, parent, 0, [], np.ones(1), children=list(children))

    nodes = {
        one.id: one
        for one in (node(ROOT, None, "a", "b"), node("a", ROOT, "c", "d"), node("b", ROOT))
    } | {name: node(name, "a") for name in "cd"}
    assert chosen(nodes, {ROOT: 1.0}, 4) == ([ROOT], ["a", "b"])
    assert chosen(nodes, {ROOT: 1.0, "a": 0.5}, 4) == ([ROOT, "a"], [])
    assert chosen(nodes, {ROOT: 1.0, "a": 0.5}, 6) == ([ROOT, "a"], ["b", "c", "d"])
    assert chosen(nodes, {ROOT: 1.0, "a": 0.5}, 3) == ([ROOT], [])
    assert chosen(nodes, {ROOT: 1.0, "a": 0.5}, 1) == ([], [])


@pytest.mark.parametrize("least", [60, 150, 300, 1000])
@pytest.mark.parametrize("more", [{}, {"topics": 30}])
def test_leaves_have_enough_documents(least: int, more: dict[str, int]) -> None:
    options = {"children": 4, "height": 2, "least_documents": least} | more
    tree, book = grown(counts(), **options)
    assert min(sizes(tree)) >= least or len(tree.nodes) == 1
    assert min(sizes(grown(counts(), children=4, height=2)[0])) < 60
    assert sum(sizes(tree)) == 1200
    assert set(book.kept().whole) == set(tree.splits)  # type: ignore[attr-defined]
    if least == 1000:
        assert tree.nodes[ROOT].reason == "a child would have fewer than 1,000 documents"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"children": "8,x"}, "children must be numbers with commas"),
        ({"children": "8,,3"}, "children must be numbers with commas"),
        ({"children": [8, 1]}, "children must be auto, a number from 2 to 1000 or some of them"),
        ({"children": []}, "children must be auto"),
        ({"children": [8, 5, 3], "height": 2}, "children is for 3 levels and height is 2"),
        ({"topics": 1}, "topics must be at least 2"),
        ({"topics": -1}, "topics must be from 2"),
        ({"least_documents": -1}, "least_documents must be a number"),
        ({"topics": 9, "method": "lda"}, "are for method strod"),
        ({"children": [3, 2], "method": "tod"}, "are for method strod"),
    ],
)
def test_what_makes_no_sense(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        TreeOptions(**shape_values(given))
    assert told in str(caught.value)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shapes") / "t.jsonl"
    path.write_bytes(json_lines(*({"text": text} for text in planted_texts(400))))
    return path


SHAPES = [
    (["--children", "3,2"], {"children": [3, 2]}),
    (["--topics", 10, "--children", 3], {"topics": 10, "children": 3}),
    (["--least-documents", 50, "--children", 4], {"least_documents": 50, "children": 4}),
]


@pytest.mark.parametrize(("flags", "options"), SHAPES, ids=["levels", "budget", "least"])
def test_the_command_line_and_python_agree(
    source: Path, tmp_path: Path, flags: list[object], options: dict[str, Any]
) -> None:
    one, other = tmp_path / "a.strod", tmp_path / "b.strod"
    assert run("build", source, "-o", one, "--workers", 2, *flags).code == 0
    tree = strod.build(source, out=other, engine="processes", workers=1, **options).tree
    assert contents(one) == contents(other)
    assert run("check", one).code == 0
    assert "(topics)" not in run("show", one).out
    assert run("expand", one, "o/1", "--children", 2).code == 0
    leaves = [topic.documents for topic in tree.values() if not topic.children]
    assert {
        "children": [len(topic.children) for topic in tree.values()][:4] == [3, 2, 2, 2],
        "topics": len(tree) - 1 == 9,
        "least_documents": min(leaves) >= 50 and len(leaves) > 3,
    }[next(iter(options))]


def test_what_is_refused_on_the_command_line(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    for flags, told in (
        (["--height", 0], "--height must be at least 1"),
        (["--children", "8,5,3", "--height", 2], "--children is for 3 levels and --height is 2"),
        (["--topics", 2, "--children", 3], "--topics 2: the root alone has 3 children; give at"),
        (["--children", "8;5"], "--children must be a whole number or auto"),
    ):
        check_error(run("build", source, "-o", out, *flags), told)
        assert not out.exists()
