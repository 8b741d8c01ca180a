"""Agreement of clusters and classes, against scikit-learn and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from strod.evaluate.agreement import agreement, largest


def test_by_hand() -> None:
    found = agreement(["a", "a", "a", "b"], ["x", "x", "y", "y"])
    rows = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    columns = math.log(2)
    joint = -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    shared = rows + columns - joint
    assert found.nmi == pytest.approx(2 * shared / (rows + columns))
    assert found.homogeneity == pytest.approx(shared / columns)
    assert found.purity == 0.75


@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    random = np.random.default_rng(seed)
    classes = random.integers(0, 2 + 3 * seed, 200)
    clusters = np.where(random.random(200) < 0.6, classes, random.integers(0, 7, 200))
    found = agreement(clusters, classes)
    assert found.nmi == pytest.approx(metrics.normalized_mutual_info_score(classes, clusters))
    assert found.homogeneity == pytest.approx(metrics.homogeneity_score(classes, clusters))
    table = metrics.cluster.contingency_matrix(clusters, classes)
    assert found.purity == pytest.approx(table.max(axis=1).sum() / 200)


def test_edges() -> None:
    assert agreement([], []) == (0, 0, 0)
    assert agreement(["a", "a"], ["x", "x"]) == (1, 1, 1)
    one = agreement(["a", "a"], ["x", "y"])
    assert (one.nmi, one.homogeneity, one.purity) == (0, 0, 0.5)
    each = agreement(range(50), ["x"] * 25 + ["y"] * 25)
    assert each.homogeneity == pytest.approx(1)
    assert each.nmi < 0.4


def test_largest() -> None:
    assert largest(["a", "a", "b", ""]) == 0.5
    assert largest(["", ""]) == 0
