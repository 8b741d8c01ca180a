"""Which questions are drawn."""

from __future__ import annotations

from itertools import chain, islice
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.intrusion.questions import SHOWN, TOP, Entry, Question, rounds
from tests.intrusion.conftest import tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Tree = dict[str, Entry]


def drawn(
    tree: Tree, kind: str, x: int = 2, seed: int = 0, most: int = 200
) -> list[list[Question]]:
    return list(islice(rounds(tree, kind, x, np.random.default_rng(seed)), most))


def folded(items: tuple[object, ...]) -> set[str]:
    return {str(item).casefold() for item in items}


def check_phrases(tree: Mapping[str, Entry], question: Question, x: int) -> None:
    """Everything that section 6.3 says of phrase intrusion."""
    topic = tree[question.topic]
    options = [option[0] for option in question.options]
    intruder = options.pop(question.answer)
    siblings = [tree[path] for path in tree[topic.parent or ""].children if path != topic.path]
    assert len(options) == len(set(options)) == x
    assert set(options) <= set(topic.items[:TOP])
    assert any(intruder in sibling.items[:TOP] for sibling in siblings)
    assert str(intruder).casefold() not in folded(topic.items)
    assert (question.level, question.above) == (topic.level, ())


def check_topics(tree: Mapping[str, Entry], question: Question, x: int) -> None:
    """Everything that section 6.3 says of topic intrusion."""
    topic = tree[question.topic]
    options = list(question.options)
    intruder = options.pop(question.answer)
    children = [tree[path].shown for path in topic.children]
    others = [one for one in tree.values() if one.level == topic.level + 1]
    assert len(options) == len(set(options)) == min(x, len(children))
    assert set(options) <= set(children)
    assert intruder in [one.shown for one in others if one.parent != topic.path]
    assert intruder not in children
    assert (question.level, question.above) == (topic.level + 1, topic.shown)


def test_phrases_of_a_topic_and_one_of_a_sibling(garden: Tree) -> None:
    questions = list(chain.from_iterable(drawn(garden, "phrase", 3)))
    for question in questions:
        check_phrases(garden, question, 3)
    assert {one.topic for one in questions} == set(garden) - {"o"}
    assert {one.answer for one in questions} == {0, 1, 2, 3}  # anywhere


def test_all_questions_that_there_are_are_found_once(garden: Tree) -> None:
    """Hand-counted: own phrases taken 3 at a time, times the intruders that are allowed."""
    questions = list(chain.from_iterable(drawn(garden, "phrase", 3)))
    found = {(one.topic, frozenset(one.options), one.options[one.answer]) for one in questions}
    assert len(found) == len(questions)
    # o/1 and o/2 have five phrases and share one; o/1/1 has four, its siblings eight others.
    assert sum(one.topic == "o/1" for one in questions) == comb(5, 3) * 4
    assert sum(one.topic == "o/1/1" for one in questions) == comb(4, 3) * 8


def test_children_of_a_topic_and_one_of_another(garden: Tree) -> None:
    questions = list(chain.from_iterable(drawn(garden, "topic", 2)))
    for question in questions:
        check_topics(garden, question, 2)
    assert len(questions) == 2 * comb(3, 2) * 3  # topics, children two at a time, intruders
    assert {one.topic for one in questions} == {"o/1", "o/2"}


def test_fewer_children_than_x_are_all_shown(garden: Tree) -> None:
    questions = list(chain.from_iterable(drawn(garden, "topic", 4)))
    assert [len(one.options) for one in questions] == [4] * 6
    for question in questions:
        check_topics(garden, question, 4)


def test_the_same_text_in_other_letters_is_no_intruder() -> None:
    tree = tree_of({"o": "", "o/1": "rose lily", "o/2": "ROSE Lily"})
    assert drawn(tree, "phrase") == []


def test_a_child_that_looks_like_another_is_no_intruder() -> None:
    lists = {"o/1": "a", "o/2": "b", "o/1/1": "c d", "o/1/2": "e f", "o/2/1": "D c"}
    assert drawn(tree_of({"o": "", **lists}), "topic") == []
    assert drawn(tree_of({"o": "", **lists, "o/2/2": "g"}), "topic") != []


@pytest.mark.parametrize("kind", ["phrase", "topic"])
@pytest.mark.parametrize(
    "lists",
    [
        {"o": "a b c d"},
        {"o": "a b", "o/1": "c d e f"},  # no sibling
        {"o": "a b", "o/1": "c", "o/2": "d"},  # one phrase each
        {"o": "a b", "o/1": "", "o/2": "", "o/1/1": "", "o/1/2": "", "o/2/1": "", "o/2/2": ""},
    ],
)  # fmt: skip
def test_trees_too_small_give_nothing(lists: dict[str, str], kind: str) -> None:
    assert drawn(tree_of(lists), kind) == []


def test_a_round_asks_about_every_topic_once(garden: Tree) -> None:
    for round_ in drawn(garden, "phrase", 2, most=5):
        assert sorted(one.topic for one in round_) == sorted(set(garden) - {"o"})


def test_the_seed_decides(garden: Tree) -> None:
    assert drawn(garden, "topic") == drawn(garden, "topic")
    assert drawn(garden, "topic")[0] != drawn(garden, "topic", seed=1)[0]


def test_only_the_best_phrases_are_drawn_from() -> None:
    many = {path: " ".join(f"{path[-1]}{i}" for i in range(30)) for path in ("o/1", "o/2")}
    tree = tree_of({"o": "", **many})
    questions = list(chain.from_iterable(drawn(tree, "phrase", 4, most=50)))
    for question in questions:
        check_phrases(tree, question, 4)
    seen = {option for one in questions for (option,) in one.options}
    assert len(seen) == 2 * TOP
    assert len(tree["o/1"].shown) == SHOWN
