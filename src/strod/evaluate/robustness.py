"""How much runs of a method differ: the variance of the paper, section 6.2.

Topics of two runs are matched from the top: the children of two matched topics are matched with
each other so that the sum of KL(p‖q) is least (Hungarian method), p being a topic of the first run
and q one of the second. The mean KL over all matched pairs of all levels is the difference of
the runs, and the mean over all ordered pairs of runs the variance. The roots are matched but not
counted.

KL needs q > 0 where p > 0. Both are smoothed: p becomes (1 - λ)·p + λ/V with λ = 0.01, V being the
number of words. So words that one run gives to a topic and the other does not cost a bounded
amount: no difference can exceed log(100·V).
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from strod.errors import UsageError
from strod.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.hierarchy import Topic, Tree

    Array = NDArray[np.float64]

__all__ = ["Difference", "compare_trees", "divergence", "variance"]

SMOOTHING = 0.01  # share of the uniform distribution


class Difference(NamedTuple):
    """How one tree differs from another.

    Attributes
    ----------
    mean : float
        Mean KL divergence of matched topics.
    matched : list of (str, str)
        Their paths.
    unmatched : int
        Topics of either tree that have no partner, because the trees have different shapes.
    """

    mean: float
    matched: list[tuple[str, str]]
    unmatched: int


def smoothed(distribution: Array) -> Array:
    """Mixed with the uniform distribution."""
    return (1 - SMOOTHING) * distribution + SMOOTHING / max(len(distribution), 1)


def divergence(one: Array, other: Array) -> float:
    """KL(one‖other) in nats, of smoothed distributions."""
    p, q = smoothed(one), smoothed(other)
    return max(float((p * np.log(p / q)).sum()), 0.0)


def compare_trees(one: Tree, other: Tree) -> Difference:
    """Match the topics of two trees from the top."""
    if one.surfaces != other.surfaces:
        raise UsageError("the trees have different vocabularies: build them from the same corpus")
    waiting = [(one.root, other.root)]
    values: list[float] = []
    for above, below in waiting:  # grows while it is read
        found, costs = _matched(above.children, below.children)
        waiting += found
        values += costs
    matched = [(a.path, b.path) for a, b in waiting[1:]]
    lost = len(one) + len(other) - 2 - 2 * len(matched)
    return Difference(sum(values) / len(values) if values else 0.0, matched, lost)


def _matched(
    ones: Sequence[Topic], others: Sequence[Topic]
) -> tuple[list[tuple[Topic, Topic]], list[float]]:
    costs = np.array([[divergence(a.distribution, b.distribution) for b in others] for a in ones])
    if not costs.size:
        return [], []
    rows, columns = linear_sum_assignment(costs)
    pairs = [(ones[i], others[j]) for i, j in zip(rows, columns, strict=True)]
    return pairs, costs[rows, columns].tolist()


def variance(trees: Sequence[Workspace | Tree]) -> float:
    """Mean difference over all ordered pairs of runs.

    Parameters
    ----------
    trees : sequence of Workspace or Tree
        Two runs or more on the same corpus. The paper compares trees of one shape; where shapes
        differ, topics without a partner are left out (`compare_trees` counts them).
    """
    grown = [run.tree if isinstance(run, Workspace) else run for run in trees]
    if len(grown) < 2:
        raise UsageError("variance needs two trees or more")
    if min(map(len, grown)) < 2:
        raise UsageError("a tree without topics has no variance: nothing can be matched")
    found = [compare_trees(one, other).mean for one, other in permutations(grown, 2)]
    return sum(found) / len(found)
