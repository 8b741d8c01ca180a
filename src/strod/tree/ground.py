"""What a tree grows on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from strod.model.decompose import POWER
from strod.model.model import Model
from strod.model.sampling import ENOUGH
from strod.values.shares import structure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.options import TreeOptions
    from strod.model.placed import Documents, Ref
    from strod.moments.counts import Counts
    from strod.progress import Progress
    from strod.tensor.power import Power
    from strod.tree.grown import Grown
    from strod.values.shares import ShareStore
    from strod.values.split import Decomposition
    from strod.values.topic import Node

    Splitter = Callable[[Node, list[Counts]], Decomposition]

__all__ = ["Ground", "model_of"]


@dataclass(frozen=True)
class Ground:
    """What a tree grows on, and how.

    Attributes
    ----------
    refs : sequence of Ref
        All documents, in their order.
    retention : ndarray of shape (V,), float32
        Share of a word's tokens that is kept.
    options : TreeOptions
        What to grow.
    engine : Engine
        Maps over documents and nodes.
    book : ShareStore
        Takes the shares of the documents.
    progress : Progress
        Is told how far the work is.
    memory : int
        Bytes that the samples of a level may take; a level that needs more is gathered in
        several passes.
    splitter : callable, optional
        Decomposes a node instead of `split_node`: a method of the paper.
    power : Power
        Iterations of the tensor power method.
    taken : collection of str
        Names of decompositions that only other revisions have.
    """

    refs: Sequence[Ref[Documents]]
    retention: NDArray[np.float32]
    options: TreeOptions
    engine: Engine
    book: ShareStore
    progress: Progress
    memory: int = 1 << 30
    splitter: Splitter | None = None
    power: Power = POWER
    taken: Collection[str] = ()

    @cached_property
    def documents(self) -> int:
        """How many there are."""
        return sum(ref.size for ref in self.refs)

    @cached_property
    def counts(self) -> int:
        """Words of documents, each once."""
        return sum(ref.open().counts.nnz for ref in self.refs)

    @property
    def enough(self) -> int:
        """Counts that the root is learnt from, unless told otherwise."""
        return ENOUGH

    @cached_property
    def rate(self) -> float:
        """Share of the documents that the root is learnt from."""
        wanted = self.options.sample
        if isinstance(wanted, int):
            return min(1.0, wanted / max(self.documents, 1))
        return 1.0 if wanted == "all" else min(1.0, self.enough / max(self.counts, 1))


def model_of(tree: Grown, ground: Ground) -> Model:
    """The model as far as the tree has grown."""
    by_word = ground.options.topical == "word"
    topics = structure(tree.nodes)
    return Model(ground.retention, ground.options.clip, by_word, dict(tree.splits), topics)
