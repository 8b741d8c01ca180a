"""nCRP: hierarchical LDA with the nested Chinese restaurant process.

Griffiths, Jordan, Tenenbaum and Blei, *Hierarchical topic models and the nested Chinese
restaurant process*, NIPS 2003, as tomotopy has it. A document takes one path from the root to a
leaf and its words come from the topics on it, so that a child of a topic has a document as a
whole or not at all. The model finds the number of topics.

It tends to find more than can be read. Of the children of a topic the ones with most documents
are kept: ``--children`` of them if that is a number, else ``--width``. A document of another
child goes to the kept one that makes it likeliest::

    argmax_z  log n_z + Σ_x c_x·log φ_zx

The words of a topic are those that were sampled for it and for what the model has below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import UsageError
from strod.methods.baselines.learner import Division, as_whole
from strod.methods.baselines.sampling import chosen_words, new_model, sampled, token_places, train
from strod.model.decompose import NotSplit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.methods.baselines.learner import Clock, Piece
    from strod.model.options import TreeOptions

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Restaurant"]

ROOT = 0
ASTRAY = -1  # in a path: below a child that was not kept


class Restaurant:
    """Divides a topic into the children that the model found.

    Parameters
    ----------
    whole : Piece
        The corpus.
    options : TreeOptions
        Height of the tree, and most children of a topic.
    """

    def __init__(self, whole: Piece, options: TreeOptions) -> None:
        self._whole, self._height = whole, options.height
        wanted = options.children
        self._most = wanted if isinstance(wanted, int) else options.width
        self._model: Any = None
        self._lengths = whole.lengths()

    def root(self) -> int:
        """The model's number of the root."""
        return ROOT

    def divide(self, state: int, seed: int, clock: Clock) -> Division:
        """Learn the model at the root; then the largest children of a topic."""
        if state != ROOT:
            clock.at_once(clock.done)
            return self._kept(state)
        self._whole.check(1)
        depth = self._height + 1
        self._model = new_model("HLDAModel", self._whole.counts, seed, depth=depth)
        train(self._model, clock, 1.0)
        self._paths = np.stack([_path(document) for document in self._model.docs])
        self._found = self._paths.copy()
        self._columns, self._topics = token_places(self._model)[1], sampled(self._model, "topics")
        return self._kept(ROOT)

    def _kept(self, topic: int) -> Division:
        level = int(self._model.level(topic))
        inside = np.flatnonzero(self._paths[:, level] == topic)
        found, sizes = np.unique(self._paths[inside, level + 1], return_counts=True)
        sizes = sizes[found != ASTRAY]
        found = found[found != ASTRAY]
        if not found.size:
            raise NotSplit("the model has no topics below")
        order = np.argsort(-sizes, kind="stable")[: self._most]
        topics, sizes = found[order], sizes[order]
        words = np.stack([self._words(child, level + 1) for child in topics.tolist()])
        self._settle(inside, level + 1, topics, words, sizes)
        best = np.argmax(self._paths[inside, level + 1][:, None] == topics, axis=1)
        tokens = as_whole(best, self._lengths[inside], len(topics))
        rows = self._whole.rows[inside]
        return Division(words, rows, tokens, topics.tolist(), fewest=1)

    def _words(self, topic: int, level: int) -> Array:
        """Words that were sampled for a topic or one below it."""
        below = np.unique(self._found[self._found[:, level] == topic, level:])
        chosen = self._columns[np.isin(self._topics, below)]
        return chosen_words(chosen, self._whole.counts.shape[1])

    def _settle(
        self, inside: Numbers, level: int, topics: Numbers, words: Array, sizes: Numbers
    ) -> None:
        """Send the documents of other children to the kept ones."""
        stray = inside[~np.isin(self._paths[inside, level], topics)]
        if not stray.size:
            return
        fit = self._whole.counts[stray] @ np.log(words.T + np.finfo(float).tiny) + np.log(sizes)
        self._paths[stray, level:] = ASTRAY
        self._paths[stray, level] = topics[np.argmax(fit, axis=1)]


def _path(document: Any) -> Numbers:
    """Topics of a document from the root down, by whatever name this tomotopy has for them.

    0.13 calls it `path`; 0.14 announces `paths`, which fails, and has `_path`. Its documents take
    no question for what they do not have, so their class is asked.
    """
    for name in ("_path", "path"):
        if hasattr(type(document), name):
            return np.asarray(getattr(document, name), dtype=np.int64)
    raise UsageError("`method` ncrp: this tomotopy does not tell paths; install 0.13 or 0.14")
