"""Labels: paths, depths, and which documents count."""

from __future__ import annotations

import numpy as np
import pytest

from strod.evaluate.agreement import agreement
from strod.evaluate.labels import compare, label_paths, separator


@pytest.mark.parametrize(
    ("labels", "mark"),
    [
        (["comp.sys.mac", "comp.graphics", "rec.autos"], "."),
        (["a/b/c", "a/b", "a/d"], "/"),
        (["a > b", "a > c", "d"], ">"),
        (["x|y", "x|z"], "|"),
        (["theory", "database"], None),
        (["a.b", "c.d", "e.f"], None),  # nothing begins alike: no tree
        (["U.S.", "Europe", "Asia", "Africa"], None),
        (["a.b/c", "a.b/d", "a.x/y"], "/"),
        ([], None),
    ],
)
def test_separator(labels: list[str], mark: str | None) -> None:
    assert separator(labels) == mark


def test_paths() -> None:
    assert label_paths(["a > b", "a > c ", None]) == [("a", "b"), ("a", "c"), None]
    assert label_paths([["a", "a.b"], [], None]) == [("a", "a.b"), None, None]
    assert label_paths(["ai", "ai", "db"]) == [("ai",), ("ai",), ("db",)]
    assert label_paths([1.5, 1.5, 1.25]) == [("1.5",), ("1.5",), ("1.25",)]


def test_level_by_level() -> None:
    first = np.array([1, 1, 2, 2, 2, 2], dtype=np.int32)
    second = np.array([1, 1, 5, 5, 6, 6], dtype=np.int32)
    labels = [("x",), ("x",), ("y", "p"), ("y", "p"), ("y", "q"), None]
    found = compare([first, second], labels, np.array([1, 1, 1, 1, 1, 1], dtype=np.bool_))
    assert [(one.level, one.depth) for one in found] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (None, 1), (None, 2),
    ]  # fmt: skip
    assert [one.nmi == pytest.approx(1) for one in found] == [True, False, False, True, False, True]
    assert {one.documents for one in found} == {5}
    assert [(one.topics, one.classes) for one in found[:4]] == [(2, 2), (2, 3), (3, 2), (3, 3)]
    by_hand = agreement([1, 1, 2, 2, 2], ["x", "x", "yp", "yp", "yq"])
    assert (found[1].nmi, found[1].purity, found[1].homogeneity) == by_hand
    assert by_hand.purity == 0.8


def test_documents_without_words_are_left_out() -> None:
    level = np.array([1, 2, 2], dtype=np.int32)
    known = np.array([True, True, False])
    (one, leaves) = compare([level], [("x",), ("y",), ("x",)], known)
    assert one.documents == 2
    assert one.nmi == pytest.approx(1)
    assert leaves.level is None
    assert compare([level], [None, None, None], known) == []
