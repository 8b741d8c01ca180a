"""Which topics to split if there may be only so many: those where it explains most."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strod.values.topic import Node

__all__ = ["Chosen", "chosen", "gain"]


class Chosen(NamedTuple):
    """What a budget is spent on.

    Attributes
    ----------
    split : list of str
        Topics to split, in order.
    unknown : list of str
        Leaves that may have to be split, too, and were not decomposed yet.
    """

    split: list[str]
    unknown: list[str]


def gain(nodes: Mapping[str, Node], topic: str) -> float:
    """What is learnt about a word of the corpus from knowing the child it is of.

    The share of the topic times Σ_c p_c KL(φ_c ‖ Σ_c p_c φ_c), the mutual information of
    words and children within it.
    """
    children = [nodes[child] for child in nodes[topic].children]
    weights = np.array([child.weight for child in children])
    words = np.stack([child.words for child in children])
    shares = weights / weights.sum()
    ratio = words / np.maximum(shares @ words, 1e-300)
    told = (words * np.log(np.maximum(ratio, 1e-300))).sum(axis=1)
    return float(nodes[topic].weight * (shares @ told))


def chosen(nodes: Mapping[str, Node], gains: Mapping[str, float], budget: int) -> Chosen:
    """Split the topic with the largest gain, again and again, as long as the budget lasts.

    The order does not depend on the budget, so the tree of a larger one contains that of a
    smaller. Topics whose gain is not known are passed over; if none is `unknown`, the choice
    is final.
    """
    leaves, split, left = [ROOT], [], budget
    while known := [leaf for leaf in leaves if leaf in gains]:
        best = max(known, key=lambda leaf: (gains[leaf], leaf))
        children = nodes[best].children
        if len(children) > left:
            break
        leaves.remove(best)
        leaves += children
        left -= len(children)
        split.append(best)
    unknown = [leaf for leaf in leaves if leaf not in gains and not nodes[leaf].reason]
    return Chosen(split, unknown if left > 1 else [])
