"""hPAM: the hierarchical Pachinko allocation model.

Mimno, Li and McCallum, *Mixtures of hierarchical topics with Pachinko allocation*, ICML 2007,
as tomotopy has it. Every word comes from the root itself, from a super topic, or from a
subtopic by way of a super topic; every super topic may use every subtopic, which is no tree. As
in the paper, a super topic gets the subtopics that are strongest below it, as many as it has
children; one subtopic can be in several places.

The words of a super topic are all that came by way of it, as a topic of a tree has all that is
below it; the model's own distribution has only those that stop there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.methods.baselines.learner import Division
from strod.methods.baselines.sampling import (
    chosen_words,
    new_model,
    sampled,
    table,
    token_places,
    topic_words,
    train,
)
from strod.model.decompose import NotSplit

if TYPE_CHECKING:
    from strod.methods.baselines.learner import Clock, Piece
    from strod.model.options import TreeOptions

__all__ = ["Pachinko"]

ROOT = 0  # in place of a super topic: the root itself; of a subtopic: the super topic itself
ELSEWHERE = 1e-3  # what a word of the same subtopic by way of another super topic counts


class Pachinko:
    """Divides the root into super topics, and these into subtopics.

    Parameters
    ----------
    whole : Piece
        The corpus.
    options : TreeOptions
        Children C of a topic: the model has C super topics and C² subtopics.
    """

    def __init__(self, whole: Piece, options: TreeOptions) -> None:
        self._whole, self._children = whole, options.least
        self._model: Any = None

    def root(self) -> int:
        """The model's number of the root."""
        return ROOT

    def divide(self, state: int, seed: int, clock: Clock) -> Division:
        """Learn the model at the root; below, take the strongest subtopics."""
        if state != ROOT:
            clock.at_once(clock.done)
            return self._subtopics(state)
        self._whole.check(self._children)
        k1, k2 = self._children, self._children**2
        self._model = new_model("HPAModel", self._whole.counts, seed, k1=k1, k2=k2)
        train(self._model, clock, 1.0)
        self._documents, columns = token_places(self._model)
        self._supers, self._subs = (sampled(self._model, n) for n in ("topics", "subtopics"))
        tokens = table(self._documents, self._supers, (len(self._whole.rows), k1 + 1))[:, 1:]
        supers, width = list(range(1, k1 + 1)), self._whole.counts.shape[1]
        words = [chosen_words(columns[self._supers == above], width) for above in supers]
        return Division(np.stack(words), self._whole.rows, tokens, supers)

    def _subtopics(self, above: int) -> Division:
        k1, k2 = self._children, self._children**2
        chosen = self._supers == above
        strength = np.bincount(self._subs[chosen], minlength=k2 + 1)[1:]
        best = np.argsort(-strength, kind="stable")[: self._children]
        best = best[strength[best] > 0]
        if not best.size:
            raise NotSplit("no subtopic has any text")
        shape = (len(self._whole.rows), k2 + 1)
        pairs = table(self._documents[chosen], self._subs[chosen], shape)
        rows = np.flatnonzero(pairs.any(axis=1))
        alike = table(self._documents, self._subs, shape)[rows][:, best + 1]
        tokens = pairs[rows][:, best + 1] + ELSEWHERE * alike
        numbers = [k1 + int(sub) + 1 for sub in best]  # after the root and the super topics
        words = topic_words(self._model, numbers, self._whole.counts.shape[1])
        return Division(words, self._whole.rows[rows], tokens, [None] * len(best))
