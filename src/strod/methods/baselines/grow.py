"""A tree from a baseline: the same topics, decompositions and shares as of one of our own.

A baseline gives for every topic the words of its children and how many words of each document
they have. That becomes one decomposition with a fine topic for each child, and what a document
has of a child, divided by what it has of the topic, is its share. The shares are the method's
own, not inferred anew.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from strod.methods.baselines.cathy import Cathy
from strod.methods.baselines.factors import Factors
from strod.methods.baselines.learner import Clock, Division, Piece
from strod.methods.baselines.options import check_memory
from strod.methods.baselines.pachinko import Pachinko
from strod.methods.baselines.restaurant import Restaurant
from strod.methods.baselines.splitlda import SplitLda
from strod.model.decompose import NotSplit
from strod.model.grouping import dendrogram
from strod.model.inference import sparse_shares
from strod.tree.grow import expand
from strod.tree.grown import Grown
from strod.tree.weights import finish
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.topic import ROOT, Node, seed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.methods.baselines.learner import Learner
    from strod.model.options import TreeOptions
    from strod.model.placed import Documents, Ref
    from strod.tree.ground import Ground

    Array = NDArray[np.float64]

__all__ = ["as_split", "grow_baseline"]

SEEDS = 2**31  # what tomotopy and scikit-learn both take


def grow_baseline(ground: Ground, occurrences: NDArray[np.int64]) -> Grown:
    """Grow a tree by the method of the options.

    They have been through `baseline_options`, and the memory is what the whole corpus and the
    method's own state may take.
    """
    root = Node(ROOT, None, 0, [], occurrences / max(int(occurrences.sum()), 1))
    tree = Grown({ROOT: root})
    if ground.options.height:
        _Baseline(tree, ground).run(root)
    else:
        root.reason = "height"
    finish(tree, ground, list(tree.nodes))
    return tree


class _Baseline:
    """A growing tree and the learner that divides its topics."""

    def __init__(self, tree: Grown, ground: Ground) -> None:
        self._tree, self._ground = tree, ground
        options, memory = ground.options, ground.memory
        self._learner = _learner(_corpus(ground.refs, options, memory), options, memory)
        iterations = int(options.iterations or 0)
        self._clock = Clock(iterations, options.method_seconds, ground.progress)

    def run(self, root: Node) -> None:
        """Divide level by level, as far as the height allows."""
        progress = self._ground.progress
        progress.stage("preparing", 0, "")
        pending: list[tuple[Node, Any]] = [(root, self._learner.root())]
        while pending:
            name = f"learning topics of level {pending[0][0].level + 1}"
            progress.stage(name, len(pending) * self._clock.iterations, "iterations")
            pending = [below for node, state in pending for below in self._divide(node, state)]

    def _divide(self, node: Node, state: Any) -> list[tuple[Node, Any]]:
        """Children of a topic that may be divided in turn, with what it takes."""
        tree, started = self._tree, time.perf_counter()
        random = np.random.default_rng(seed_of(self._ground.options.seed, node.id))
        try:
            division = self._learner.divide(state, int(random.integers(SEEDS)), self._clock)
            division = _some(division)
        except NotSplit as leaf:
            node.reason = str(leaf)
            return []
        split = as_split(division, self._ground.retention.astype(np.float64))
        tree.splits[node.id] = replace(split, components=node.components)
        tree.learning[node.id] = {
            "iterations": self._clock.done,
            "iterating_seconds": self._clock.spent,
            "seconds": time.perf_counter() - started,
        }
        below = [one for one in expand(tree, self._ground, node.id, node.id) if not one.reason]
        self._write(node.id, division)
        return [(child, division.states[child.components[0].fine[0]]) for child in below]

    def _write(self, name: str, division: Division) -> None:
        """The shares of all documents, those without text in the topic have none."""
        for shard in self._ground.refs:
            ends = np.searchsorted(division.rows, [shard.first, shard.first + shard.size])
            mine = slice(*ends.tolist())
            tokens = np.zeros((shard.size, division.tokens.shape[1]))
            tokens[division.rows[mine] - shard.first] = division.tokens[mine]
            self._ground.book.append(name, sparse_shares(tokens))
        self._ground.book.close(name)


def _corpus(refs: Sequence[Ref[Documents]], options: TreeOptions, memory: int) -> Piece:
    """All documents that have words of the model."""
    parts = [ref.open().counts for ref in refs]
    documents = sum(ref.size for ref in refs)
    entries = sum(part.nnz for part in parts)
    tokens = sum(int(part.data.sum(dtype=np.int64)) for part in parts)
    check_memory(options, documents, entries, tokens, memory)
    return Piece.of(np.arange(documents), csr_array(vstack(parts, format="csr")))


def _learner(whole: Piece, options: TreeOptions, memory: int) -> Learner:
    if options.method == "cathy":
        return Cathy(whole, options, memory)
    kinds: dict[str, type[SplitLda | Pachinko | Restaurant | Factors]] = {
        "splitlda": SplitLda,
        "hpam": Pachinko,
        "ncrp": Restaurant,
        "nmf": Factors,
        "lda": Factors,
        "kmeans": Factors,
    }
    return kinds[options.method](whole, options)


def _some(division: Division) -> Division:
    """Without the children that have no text or no words."""
    held = (division.tokens.sum(axis=0) > 0) & (division.words.sum(axis=1) > 0)
    if held.sum() < division.fewest:
        raise NotSplit("all text is in one topic")
    if held.all():
        return division
    states = [state for state, good in zip(division.states, held, strict=True) if good]
    return replace(
        division, words=division.words[held], tokens=division.tokens[:, held], states=states
    )


def as_split(division: Division, kept: Array) -> Decomposition:
    """A decomposition with a fine topic for each child.

    Parameters
    ----------
    division : Division
        What a learner found.
    kept : ndarray of shape (V,)
        Share of a word's tokens that is left after thinning: documents that come later are
        thinned before they are placed.

    Notes ----- With n_dz words of document d in child z and n = Σ n_dz: weights p_z = Σ_d n_dz
    / n, joint p_zz' = Σ_d n_dz·n_dz'/n_d / n, effective documents (Σ_d n_dz)² / Σ_d n_dz².
    """
    tokens = division.tokens
    lengths, sizes = tokens.sum(axis=1, keepdims=True), tokens.sum(axis=0)
    shares = np.divide(tokens, lengths, out=np.zeros_like(tokens), where=lengths > 0)
    total = float(sizes.sum())
    shared = Cooccurrence(
        sizes / total, shares.T @ tokens / total, sizes**2 / (tokens**2).sum(axis=0)
    )
    words = division.words / division.words.sum(axis=1, keepdims=True)
    counts = (words * kept * sizes[:, None]).astype(np.float32)
    documents = int(np.count_nonzero(lengths))
    return Decomposition(
        FineTopics(counts), shared, dendrogram(shared), division.alpha0, 0.0, [], 0.0, documents
    )
