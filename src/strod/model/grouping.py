"""Fine topics → children: a dendrogram, built from how topics share documents.

Two groups of topics belong together if documents hold both more often than chance would
have it. Their lift is p_{A,B} / (p_A·p_B); the pair with the largest
(lift - 1)·(p_A·p_B)^γ is merged, and the lift of the merged group is exact, because both
sums simply add. The small power γ prefers to join large groups a little, and fine topics
of less than half the mean weight are joined to their best partner first: both keep the
children from being one giant and some crumbs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.values.split import Merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.values.split import Cooccurrence

    Array = NDArray[np.float64]

__all__ = ["cut", "dendrogram", "inner_children", "inside", "natural_children", "separate_children"]

BALANCE = 0.1  # γ
CRUMB = 0.5  # of the mean weight
NONE = 0.01  # a lift that is as good as none
CLEAR = 2.5  # times the next largest: a step that tells how many groups there are
STEP = 0.2  # of a logarithm: what such a step is at least
INNER = 0.5  # the same among topics that all belong to one: they may well be its children
SAME = 1e-9  # rounding
APART = 0.9  # of chance: groups that meet less often than that are children of their own


def dendrogram(overlap: Cooccurrence) -> list[Merge]:
    """All merges, the first ones first, until one group is left."""
    joint, weights = overlap.joint.copy(), np.maximum(overlap.weights, 1e-12)
    names = list(range(len(weights)))
    crumb = CRUMB * weights.sum() / len(weights)
    merges = []
    while len(names) > 1:
        chance = np.outer(weights, weights)
        lift = joint / chance
        score = (lift - 1) * chance**BALANCE
        score[np.tril_indices(len(names))] = -np.inf
        small = weights < crumb
        if small.any() and not small.all():
            score[~(small[:, None] | small)] = -np.inf
        i, j = divmod(int(np.argmax(score)), len(names))
        merges.append(Merge(names[i], names[j], float(lift[i, j])))
        joint, weights = _merged(joint, weights, i, j)
        del names[j]
    return merges


def _merged(joint: Array, weights: Array, i: int, j: int) -> tuple[Array, Array]:
    joint[i] += joint[j]
    joint[:, i] += joint[:, j]
    weights[i] += weights[j]
    joint = np.delete(np.delete(joint, j, axis=0), j, axis=1)
    return joint, np.delete(weights, j)


def inside(merges: Sequence[Merge], fine: Sequence[int]) -> list[Merge]:
    """The part of the dendrogram below one group."""
    members = set(fine)
    return [merge for merge in merges if merge.kept in members and merge.gone in members]


def cut(merges: Sequence[Merge], fine: Sequence[int], k: int) -> list[list[int]]:
    """Undo the last merges of the group `fine` so that `k` groups are left."""
    groups = {topic: [topic] for topic in fine}
    for merge in inside(merges, fine)[: max(len(fine) - k, 0)]:
        groups[merge.kept] += groups.pop(merge.gone)
    return [sorted(members) for members in groups.values()]


def natural_children(merges: Sequence[Merge], fine: Sequence[int], most: int) -> int | None:
    """Number of children where the lift falls most: groups that no longer belong together.

    Looks at the merges from `most` + 1 groups downwards; the lift of a merge counts as at
    least that of the merges after it, so that one low merge in between opens no gap. Fine
    topics that share no documents at all are children of their own. None where the lift
    falls step by step: no step is `STEP` and `CLEAR` times the next largest, in logarithms.
    """
    lifts = [merge.lift for merge in inside(merges, fine)][::-1]
    after = np.maximum.accumulate(lifts)  # after[i]: merges from i + 2 groups down to 1
    lifts.append(1.0)  # not merging anything is no better than chance
    last = min(most, len(fine))
    gaps = [(lifts[k - 1] + NONE) / (after[k - 2] + NONE) for k in range(2, last + 1)]
    if not gaps:
        return len(fine)
    steps = np.log(gaps)
    best = np.flatnonzero(steps >= steps.max() - SAME)[-1]
    others = np.delete(steps, best)
    least = 0.0 if after[best] < 1 else STEP  # groups that avoid each other need no gap
    clear = steps[best] >= max(least, CLEAR * others.max(initial=0)) - SAME
    return 2 + int(best) if clear else None


def inner_children(merges: Sequence[Merge], fine: Sequence[int], most: int) -> int:
    """Number of children of a topic that is made of fine topics.

    All of them, unless the lift falls clearly somewhere on the way to one: the lifts of siblings
    are much the same, whether they meet more often than by chance or less.
    """
    lifts = np.array([merge.lift for merge in inside(merges, fine)][::-1])
    after = np.maximum.accumulate(lifts)
    steps = np.log((lifts[1:] + NONE) / (after[:-1] + NONE))  # to 2 groups, 3 and so on
    best = int(np.argmax(steps)) if steps.size else 0
    others = np.delete(steps, best) if steps.size else steps
    if steps.size and steps[best] >= max(INNER, CLEAR * others.max(initial=0)) and best + 2 <= most:
        return best + 2
    return min(len(fine), most)


def separate_children(merges: Sequence[Merge], fine: Sequence[int], most: int) -> int:
    """Number of children of a topic of text: as many as do not belong together.

    As few groups as it takes for none to meet another as often as by chance, or nearly so, but
    two at least and no more than `most`. The lifts of text fall step by step; if they fall more in
    one clear step than in all those before it, the groups after it are meant (`natural_children`).
    """
    lifts = np.array([merge.lift for merge in inside(merges, fine)][::-1])
    after = np.maximum.accumulate(lifts)
    clear = natural_children(merges, fine, most)
    if clear is not None and 2 <= clear <= len(lifts):
        before, here, all_of_them = (
            lifts[clear - 1] + NONE,
            after[clear - 2] + NONE,
            after[-1] + NONE,
        )
        if before / here >= all_of_them / before:
            return clear
    return min(max(1 + int((after < APART).sum()), 2), most, len(fine))
