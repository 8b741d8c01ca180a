"""The best words and phrases of topics, as columns of the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from strod.workspace.tree import Topic, Tree
    from strod.workspace.workspace import Workspace

    Numbers = NDArray[np.int64]

__all__ = ["phrase_lists", "top_words"]


def top_words(tree: Tree, topic: Topic, top: int) -> Numbers:
    """Columns of the best words of a topic, as `strod show` has them."""
    node = tree.nodes[topic.id]
    best = np.array(node.top_words, dtype=np.int64)
    order = best if len(best) >= top else tree.order(node)
    found = order[topic.distribution[order] > 0]
    if len(found) < top and order is best:
        order = tree.order(node)
        found = order[topic.distribution[order] > 0]
    return found[:top]


def phrase_lists(workspace: Workspace, topics: Iterable[Topic], top: int) -> dict[str, Numbers]:
    """Units of the best phrases of topics, by id."""
    nodes = workspace.tree.nodes
    return {topic.id: np.array(nodes[topic.id].units[:top], dtype=np.int64) for topic in topics}
