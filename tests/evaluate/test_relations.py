"""Parents, children and siblings: worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from strod.evaluate.relations import balance, difference, diversity, parent_child_npmi, used_once


def test_diversity() -> None:
    assert diversity([["a", "b"], ["b", "c"]]) == 0.75
    assert used_once([["a", "b"], ["b", "c"]]) == 0.5  # b counts for nobody
    assert difference(["a", "b", "c"], ["a", "d"]) == 3 / 5
    assert diversity([]) is None
    assert used_once([[], []]) is None


def test_parent_and_child() -> None:
    # Words p, q of the parent and p, c of the child, in documents pq, qc, c, p.
    documents = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]], float)
    pairs = documents.T @ documents
    values = parent_child_npmi([0, 1], [0, 2], pairs, 4)
    both = 0.25 + 1e-10
    of_q_and_c = math.log(both / (0.5 * 0.5)) / -math.log(both)
    assert values.tolist() == pytest.approx([of_q_and_c, -1.0], abs=1e-9)


def test_a_child_like_its_parent_is_worst() -> None:
    assert parent_child_npmi([0, 1], [0, 1], np.full((2, 2), 3.0), 9).tolist() == [-1] * 4


def test_balance() -> None:
    assert balance([0.2, 0.2]) == pytest.approx((1, 0.5))
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert balance([0.3, 0.1, 0.0]) == pytest.approx((entropy / math.log(3), 0.75))
    assert balance([1.0]) is None
    assert balance([0.0, 0.0]) is None
