"""How topics relate to each other: distinct words, parents and children, siblings, weights.

For hierarchies the measures of TraCo (Wu et al., AAAI 2024), as its authors compute them in
TopMost. W_t are the best words of topic t; parents are topics of level 1 and deeper, because the
root of a tree is not a topic that anybody chose.

PCC, coherence of a parent p and a child c
    The mean of NPMI(x, y), with 1e-10 added to P(x, y), over x in W_p - W_c and y in W_c - W_p, and
    of -1 for each of the |W_p ∩ W_c|² pairs of words that both have; over all pairs of words of a
    level, then over levels. Without the second part it is CLNPMI (Chen et al., 2021).
PCD, difference of a parent and a child
    Words that only one of them has, over |W_p| + |W_c|.
SD, diversity of siblings
    Words that exactly one of the children of a topic has, over the number of all their words.
PnCD
    As PCD, of a topic and those of the next level that are not its children.

PCD, SD and PnCD are averaged over pairs (or parents) of a level, then over levels.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from strod.tree.ranking import npmi_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    List = Sequence[Hashable]

__all__ = ["balance", "difference", "diversity", "parent_child_npmi", "used_once"]

ADDED = 1e-10  # to P(x, y); TopMost


def diversity(lists: Sequence[List]) -> float | None:
    """Share of distinct words among all words of the lists (Dieng et al., 2020)."""
    words = [word for one in lists for word in one]
    return len(set(words)) / len(words) if words else None


def used_once(lists: Sequence[List]) -> float | None:
    """Words that stand once in the lists, over all: SD of siblings, PCD of two."""
    counts = Counter(word for one in lists for word in one)
    total = counts.total()
    return sum(count == 1 for count in counts.values()) / total if total else None


def difference(one: List, other: List) -> float | None:
    """Share of the words of two lists that only one of them has."""
    return used_once([one, other])


def parent_child_npmi(
    parent: Sequence[int], child: Sequence[int], pairs: NDArray[np.float64], total: int
) -> NDArray[np.float64]:
    """The values whose mean is PCC.

    `parent` and `child` are places in `pairs`, which has the number of documents with two words.
    """
    shared = set(parent) & set(child)
    above = [place for place in parent if place not in shared]
    below = [place for place in child if place not in shared]
    table = npmi_table(pairs, total, ADDED)[np.ix_(above, below)]
    return np.concatenate([table.ravel(), np.full(len(shared) ** 2, -1.0)])


def balance(weights: Sequence[float]) -> tuple[float, float] | None:
    """How even weights are: their entropy over log k, and the largest share.

    None if there are fewer than two, or they weigh nothing.
    """
    shares = np.array(weights, dtype=np.float64)
    if len(shares) < 2 or not shares.sum() > 0:
        return None
    shares /= shares.sum()
    held = shares[shares > 0]
    return float(-(held * np.log(held)).sum() / np.log(len(shares))), float(shares.max())
