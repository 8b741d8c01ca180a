"""splitLDA: LDA of the corpus, then of the words that were sampled for each topic, and so on.

Pujara and Skomoroch, *Large-scale hierarchical topic models*, Big Learning workshop of NIPS
2012. LDA is tomotopy's, a collapsed Gibbs sampler::

    p(z_i = z | rest) ∝ (n_dz + α_z)·(n_zx + η) / (n_z + V·η)

with α learnt every ten sweeps. The words of a document that the last sweep gave to topic z are
what the child z has of it, so that a document can be in many topics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from strod.methods.baselines.learner import Division, Piece
from strod.methods.baselines.sampling import (
    new_model,
    sampled,
    table,
    token_places,
    topic_words,
    train,
)

if TYPE_CHECKING:
    from strod.methods.baselines.learner import Clock
    from strod.model.options import TreeOptions

__all__ = ["SplitLda"]


class SplitLda:
    """Divides a topic by LDA.

    Parameters
    ----------
    whole : Piece
        The corpus.
    options : TreeOptions
        Children and height of the tree.
    """

    def __init__(self, whole: Piece, options: TreeOptions) -> None:
        self._whole, self._children = whole, options.least
        # Every level has all the words, so a topic gets its share of its level's time.
        self._tokens = max(whole.tokens * options.height, 1)

    def root(self) -> Piece:
        """The corpus."""
        return self._whole

    def divide(self, state: Piece, seed: int, clock: Clock) -> Division:
        """LDA of the text of one topic."""
        k = self._children
        state.check(k)
        model = new_model("LDAModel", state.counts, seed, k=k)
        train(model, clock, state.tokens / self._tokens)
        documents, columns = token_places(model)
        topics = sampled(model, "topics")
        parts = []
        for topic in range(k):
            chosen = topics == topic
            where = (documents[chosen], columns[chosen])
            ones = np.ones(len(where[0]), dtype=np.int32)
            parts.append(Piece.of(state.rows, csr_array((ones, where), shape=state.counts.shape)))
        return Division(
            topic_words(model, list(range(k)), state.counts.shape[1]),
            state.rows,
            table(documents, topics, (len(state.rows), k)),
            parts,
            float(sum(model.alpha)),
        )
