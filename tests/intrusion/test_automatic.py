"""Intrusion without people, against counting by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.errors import UsageError
from strod.intrusion import automatic
from strod.intrusion.automatic import odd_one_out
from strod.intrusion.cooccurrence import count_meetings
from strod.progress import Silent
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

# Documents by four words. Together: 01 twice, 02 once, 12 once, 3 with 0 once.
DOCUMENTS = np.array([[1, 2, 0, 0], [3, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 5]])


def npmi(a: set[int], b: set[int], documents: int) -> float:
    both = len(a & b) / documents
    if both in {0, 1}:
        return 2 * both - 1
    return math.log(both * documents**2 / (len(a) * len(b))) / -math.log(both)


def test_npmi_by_hand() -> None:
    shards = [csr_array(DOCUMENTS[:1]), csr_array(DOCUMENTS[1:])]
    found = count_meetings(shards, [0, 1, 3], 4, Silent()).npmi([3, 0, 1])
    # p_0 = 3/4, p_1 = 2/4, p_01 = 2/4: log(4/3) / log 2; p_3 = p_03 = 1/4: log(4/3) / log 4.
    assert found[1, 2] == found[2, 1] == pytest.approx(math.log(4 / 3) / math.log(2))
    assert found[0, 1] == pytest.approx(math.log(4 / 3) / math.log(4))
    assert found[0, 2] == -1  # never together
    assert found[0, 0] == found[2, 2] == 1


def test_npmi_against_sets() -> None:
    random = np.random.default_rng(0)
    table = (random.random((40, 12)) < 0.3).astype(np.int32)
    table[:, 3], table[:, 5] = 1, 0  # everywhere, nowhere
    shards = [csr_array(table[begin : begin + 9]) for begin in range(0, 40, 9)]
    wanted = [1, 3, 4, 5, 7, 11]
    found = count_meetings(shards, wanted, 40, Silent()).npmi(wanted)
    inside = [set(np.flatnonzero(table[:, item]).tolist()) for item in wanted]
    expected = [[npmi(a, b, 40) for b in inside] for a in inside]
    assert found == pytest.approx(np.array(expected))


def test_the_odd_one_out_by_hand() -> None:
    cooccurrences = count_meetings([csr_array(DOCUMENTS)], [0, 1, 2, 3], 4, Silent())
    # 3 never meets 1 and 2: mean (0.21 - 1 - 1) / 3, below all others.
    assert odd_one_out([(0,), (3,), (1,), (2,)], cooccurrences) == [1]
    assert odd_one_out([(0, 1), (3,), (2,)], cooccurrences) == [1]
    assert odd_one_out([(1,), (3,), (1,), (3,)], cooccurrences) == [0, 1, 2, 3]  # all the same


@pytest.fixture(scope="module")
def planted(tree_workspace: Path) -> Workspace:
    return Workspace(tree_workspace)


@pytest.mark.parametrize("of", ["phrases", "words"])
def test_planted_topics_are_told_apart(planted: Workspace, of: str) -> None:
    found = automatic(planted, of=of, questions=5)
    assert found["of"] == of
    tree, phrase, topic = planted.tree, found["phrase"], found["topic"]
    assert set(phrase["levels"]) == {"1", "2"}
    assert set(topic["levels"]) == {"2"}
    assert phrase["topics"] == len(tree) - 1  # all of them
    assert phrase["questions"] == 5 * phrase["topics"]
    assert (phrase["chance"], topic["chance"]) == (0.25, 0.25)
    assert phrase["levels"]["1"]["accuracy"] == 1  # parents share no word
    assert phrase["accuracy"] > 0.7
    assert topic["accuracy"] == 1
    weights = [(one["questions"], one["accuracy"]) for one in phrase["levels"].values()]
    total = sum(number * accuracy for number, accuracy in weights) / phrase["questions"]
    assert phrase["accuracy"] == pytest.approx(total)


def test_topics_that_mean_nothing_are_no_better_than_chance(planted: Workspace) -> None:
    """Phrases dealt out at random: co-occurrence says nothing about them."""
    mixed = Workspace(planted.path)
    topics = [topic for topic in mixed.tree.values() if topic.level]
    nodes = mixed.tree.nodes
    units = sorted({unit for topic in topics for unit in nodes[topic.id].units})
    order = np.random.default_rng(0).permutation(units).tolist()
    for number, topic in enumerate(topics):
        nodes[topic.id].units = order[number :: len(topics)]
    found = automatic(mixed, ["phrase"], questions=20)
    assert found["phrase"]["questions"] > 150
    assert 0.12 < found["phrase"]["accuracy"] < 0.4


def test_the_same_for_the_same_seed(planted: Workspace) -> None:
    first: dict[str, Any] = automatic(planted, questions=3, seed=5)
    assert automatic(Workspace(planted.path), questions=3, seed=5) == first
    assert automatic(planted, ["topic"], questions=3, seed=5)["topic"] == first["topic"]


def test_trees_without_questions(small_workspace: Path) -> None:
    workspace = Workspace(small_workspace)
    found = automatic(workspace, x=50)
    assert found["phrase"] == found["topic"] | {"levels": {}}
    assert found["phrase"]["accuracy"] is None


@pytest.mark.parametrize(
    "how",
    [{"kinds": ["word"]}, {"of": "letters"}, {"questions": 0}, {"x": 2}, {"seed": -1}],
)
def test_bad_options(planted: Workspace, how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        automatic(planted, **how)
