"""Trees in memory, with the iterations of the power method chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.tree.ablation import paper_options, paper_splitter
from strod.tree.matrix import grow_matrix
from strod.tree.paper import POWER as PAPER_POWER
from strod.tree.split import POWER, split_node
from strod.tree.topic import ROOT, seed_of
from strod.tree.walk import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.moments.counts import Counts
    from strod.tensor.power import Power
    from strod.tree.grow import Grown, Splitter
    from strod.tree.options import TreeOptions
    from strod.tree.split import Split
    from strod.tree.topic import Node
    from strod.work import Engine

    Array = NDArray[np.float64]

__all__ = ["MemoryTopic", "MemoryTree", "grow_tree"]

ROOM = 1 << 30  # bytes for dense moments


def grow_tree(counts: csr_array, options: TreeOptions, power: Power | None = None) -> Grown:
    """Grow a tree over the rows of `counts` by strod or a variant of the paper.

    Parameters
    ----------
    counts : csr_array of shape (documents, V)
        How often a word stands in a document.
    options : TreeOptions
        What to grow.
    power : Power, optional
        Iterations of the tensor power method instead of the usual ones.
    """
    width = counts.shape[1]
    if options.method == "strod":
        splitter = _splitter(options, width, power or POWER)
    else:
        options = paper_options(options)
        splitter = paper_splitter(options, lambda: counts, width, ROOM, power or PAPER_POWER)
    return grow_matrix(counts, options, splitter=splitter)[0]


def _splitter(options: TreeOptions, width: int, power: Power) -> Splitter:
    def split(node: Node, parts: list[Counts], engine: Engine) -> Split:
        random = np.random.default_rng(seed_of(options.seed, node.id))
        ahead = options.ahead(node.id)
        return split_node(blocks(parts), width, options, random, engine, power, ahead=ahead)

    return split


class MemoryTopic:
    """A topic of a tree in memory, with what matching topics needs."""

    def __init__(self, tree: MemoryTree, name: str, path: str) -> None:
        self._tree, self._name, self.path = tree, name, path

    @property
    def distribution(self) -> Array:
        """φ: probability of every word."""
        return self._tree.grown.nodes[self._name].words

    @property
    def children(self) -> list[MemoryTopic]:
        """The topics below."""
        names = self._tree.grown.nodes[self._name].children
        return [
            MemoryTopic(self._tree, name, f"{self.path}/{i}")
            for i, name in enumerate(names, start=1)
        ]


class MemoryTree:
    """A tree in memory that reads like `strod.Tree` as far as comparing trees goes."""

    def __init__(self, grown: Grown) -> None:
        self.grown = grown
        self.root = MemoryTopic(self, ROOT, ROOT)
        self.surfaces = [str(column) for column in range(len(grown.nodes[ROOT].words))]

    def __len__(self) -> int:
        return len(self.grown.nodes)
