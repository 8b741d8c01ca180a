"""Trees in memory, with the iterations of the power method chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.engine.threads import Serial
from strod.methods.paper import POWER as PAPER_POWER
from strod.methods.variants import paper_options, paper_splitter
from strod.model.decompose import POWER
from strod.tree.matrix import grow_matrix
from strod.values.topic import ROOT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.options import TreeOptions
    from strod.tensor.power import Power
    from strod.tree.grown import Grown

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
    if options.method == "strod":
        return grow_matrix(counts, options, Serial(), power=power or POWER)[0]
    options = paper_options(options)
    width = counts.shape[1]
    splitter = paper_splitter(options, lambda: counts, width, ROOM, power or PAPER_POWER)
    return grow_matrix(counts, options, Serial(), splitter=splitter)[0]


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
