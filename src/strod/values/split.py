"""Decompositions: fine topics, how they share documents, and which belong together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.values.padding import whole_lanes, with_lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.values.topic import Component
    from strod.values.usual import Usual

    Array = NDArray[np.float64]

__all__ = ["Cooccurrence", "Decomposition", "FineTopics", "Merge"]

PSEUDO = 1.0  # at most added to every expected count of a word in a topic, unless told otherwise
SMOOTH = 0.25  # at most so many pseudo-counts for every count


@dataclass(frozen=True)
class FineTopics:
    """Topics by their expected counts of words.

    Attributes
    ----------
    counts : ndarray of shape (m, V), float32
        Expected number of (thinned) tokens of each word in each topic.
    pseudo : float
        At most added to every count.
    """

    counts: NDArray[np.float32]
    pseudo: float = PSEUDO

    def __reduce__(self) -> tuple[type[FineTopics], tuple[NDArray[np.float32], float]]:
        """Without what follows from the counts, which is three times as much."""
        return FineTopics, (self.counts, self.pseudo)

    @property
    def size(self) -> int:
        """Number of topics, m."""
        return len(self.counts)

    def spread(self, present: NDArray[np.int64], width: int) -> FineTopics:
        """The same topics over `width` words, of which they know those in `present`."""
        counts = np.zeros((self.size, width), dtype=np.float32)
        counts[:, present] = self.counts
        return FineTopics(counts)

    def learnt(self, evidence: Array) -> FineTopics:
        """The topics that the evidence, with whole lanes, makes of these."""
        counts = np.empty_like(self.counts)
        for z in range(self.size):
            counts[z] = evidence[:, z] * self.padded[:, z]
        return replace(self, counts=counts)

    def mixed(self, others: FineTopics, share: float) -> FineTopics:
        """The counts of these and of others, which have a share of the sum."""
        return replace(self, counts=(1 - share) * self.counts + share * others.counts)

    @property
    def words(self) -> Array:
        """V×m: φ with something added to every word, so that nothing is impossible.

        One token of every word, or less where that would outweigh what was seen of the words
        that occur.
        """
        return self.padded[:, : self.size]

    @cached_property
    def padded(self) -> Array:
        """`words` with whole lanes, as kernels take it."""
        occur = max(int(np.count_nonzero(self.counts.sum(axis=0))), 1)
        totals = self.counts.sum(axis=1, dtype=np.float64)
        pseudo = max(min(self.pseudo, SMOOTH * float(totals.sum()) / (self.size * occur)), 1e-9)
        words = np.zeros((self.counts.shape[1], whole_lanes(self.size)))
        for z, own in enumerate(self.counts):  # whole rows at a time: numpy is slow across them
            words[:, z] = own
            words[:, z] += pseudo
            words[:, z] /= totals[z] + pseudo * len(words)
        return words

    @cached_property
    def logs(self) -> tuple[Array, Array]:
        """Logarithms of φ, V×m with whole lanes, and of the topics' weights."""
        weights = self.counts.sum(axis=1, dtype=np.float64) + np.finfo(float).tiny
        return with_lanes(np.log(self.words)), np.log(weights / weights.sum())


class Cooccurrence(NamedTuple):
    """How topics share documents.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Share of all tokens, p_z.
    joint : ndarray of shape (m, m)
        p_{z,z'}: both of two tokens of a document, seen as its shares are.
    documents : ndarray of shape (m,)
        Effective number of documents of a topic: (Σ_d n_dz)² / Σ_d n_dz².
    """

    weights: Array
    joint: Array
    documents: Array


class Merge(NamedTuple):
    """Two groups become one; groups are named by their first fine topic.

    Attributes
    ----------
    kept, gone : int
        Smallest fine topic of each group; the merged group has the name `kept`.
    lift : float
        How much more often than by chance they share documents.
    """

    kept: int
    gone: int
    lift: float


@dataclass(frozen=True)
class Decomposition:
    """What a node was decomposed into.

    Attributes
    ----------
    topics : FineTopics
        The fine topics.
    overlap : Cooccurrence
        Their weights, and how they share documents.
    merges : list of Merge
        Their dendrogram.
    alpha0 : float
        α_{t,0}: as given or found.
    total : float
        S(α0), 1 where model and α0 are right; 0 if not computed.
    values : list of float
        Largest eigenvalues of E2.
    noise : float
        Eigenvalue that chance alone may reach.
    documents : int
        Documents it was learnt from.
    components : list of Component
        What was decomposed; none is all there is.
    context : list of Component or None
        If a topic was removed: what its parent is made of. The text that is decomposed is then
        divided among topics that were there, as the rest of the parent's text suggests; the last
        fine topic is what none of them explains.
    usual : Usual, optional
        How well its topics explain documents that they were not learnt from.
    apart : int
        0, or the how manieth decomposition it is of documents that fitted nowhere: those with
        shares in it have left whatever was decomposed, and no others have a part in it.
    children : int
        How many children its topics were put together to; 0 if each is one.
    """

    topics: FineTopics
    overlap: Cooccurrence
    merges: list[Merge]
    alpha0: float
    total: float
    values: list[float]
    noise: float
    documents: int
    components: list[Component] = field(default_factory=list)
    context: list[Component] | None = None
    usual: Usual | None = None
    apart: int = 0
    children: int = field(default=0, compare=False)  # of the build, and not kept

    @property
    def masses(self) -> list[list[Component]]:
        """All that is read when documents are placed in it."""
        return [self.components] if self.context is None else [self.components, self.context]

    @property
    def sources(self) -> list[Component]:
        """The components of other decompositions that it depends on."""
        return [part for mass in self.masses for part in mass]

    @cached_property
    def heirs(self) -> FineTopics:
        """Where it has a context: the topics that were there, without the last."""
        return FineTopics(self.topics.counts[:-1])

    @cached_property
    def digest(self) -> str:
        """Of the fine topics: two splits of the same topic differ in it."""
        return sha256(self.topics.counts.astype("<f4").tobytes()).hexdigest()
