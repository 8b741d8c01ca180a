"""Dividing a topic among those that are there: against loops over documents and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import psi

from strod.datasets.planted import plant
from strod.model.inference import PRIOR, document_shares, shares_in_context
from strod.model.options import TreeOptions
from strod.tree import revise
from strod.tree.dissolve import divided
from strod.tree.matrix import matrix_shards
from strod.values.shares import Placed
from strod.values.split import FineTopics
from strod.values.topic import ROOT
from tests.tree.helpers import ground, grow_matrix, model, random_counts, topical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts

DOCUMENTS = 400


def naive(topics: FineTopics, own: Counts, context: Counts) -> NDArray[np.float64]:
    """Shares of the topics and of nobody, document by document."""
    placed = document_shares(topics, context).dense(topics.size)
    found = np.zeros((own.size, topics.size + 1))
    width = topics.counts.shape[1]
    for d in range(own.size):
        expected = placed[d] * context.length(1)[d]
        weights = [np.exp(psi(PRIOR + n)) if n > 0 else 0.0 for n in expected]
        weights = weights if any(weights) else [1.0] * topics.size
        tokens = range(own.indptr[d], own.indptr[d + 1])
        for j in tokens:
            chances = weights * topics.words[own.indices[j]]
            found[d, :-1] += own.expected[j] * chances / chances.sum()
        gain = 0.0
        for j in tokens:
            mixed = found[d, :-1] / found[d].sum() @ topics.words[own.indices[j]]
            gain += own.expected[j] * np.log(width * mixed)
        if gain < 0:
            found[d] = [0.0] * topics.size + [1.0]
        kept = np.where(
            found[d] >= min(0.01, 0.5 / (topics.size + 1)) * found[d].sum(), found[d], 0
        )
        found[d] = kept / max(kept.sum(), 1e-300)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_shares_in_context(seed: int) -> None:
    random = np.random.default_rng(seed)
    topics = FineTopics(random.gamma(0.3, 20, (3, 9)).astype(np.float32))
    own, context = random_counts(seed), random_counts(seed)
    context = context.words_where(random.random(len(context.indices)) < 0.8)
    found = shares_in_context(topics, own, context).dense(4)
    np.testing.assert_allclose(found, naive(topics, own, context), atol=1e-6)
    assert (found[2] == 0).all()  # it has no words


def test_what_all_words_alike_explain_better_is_nobodys() -> None:
    topics = FineTopics(np.array([[50, 50, 1, 0, 0, 0], [1, 50, 50, 0, 0, 0]], dtype=np.float32))
    own = topical([[3, 0, 0, 0, 0, 0], [0, 0, 3, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    found = shares_in_context(topics, own, own).dense(3)
    assert found.argmax(axis=1).tolist()[:3] == [0, 1, 2]
    assert found[2].tolist() == [0, 0, 1]
    assert found[3].sum() == 0


@pytest.mark.parametrize("level", [1, 2])
def test_what_a_topic_had_is_divided(level: int) -> None:
    """All of it, among the leaves of its siblings and a rest, which then add up to the parent."""
    table = plant(1, documents=DOCUMENTS, length=60, children=3, words=300, alpha0=0.5).counts
    options = TreeOptions(children=3, height=2, lookahead=False)
    tree, book = grow_matrix(table, options)
    refs = matrix_shards(table)
    grown_on = ground(refs, np.asarray(table.sum(axis=0)).ravel(), options, book)
    parent = ROOT if level == 1 else tree.nodes[ROOT].children[0]
    name, *heirs = tree.nodes[parent].children
    weight = tree.nodes[name].weight
    legacy = divided(tree, grown_on, name, heirs, parent)
    assert set(legacy.given) == {leaf for heir in heirs for leaf in revise.leaves(tree, heir)}
    assert sum(legacy.shares.values()) + legacy.rest_share == pytest.approx(1)
    old = {one: tree.nodes[one].weight for one in heirs}
    plan = revise.remove(tree, name, legacy)
    assert set(plan.touched) == {*heirs, *legacy.given}
    gained = sum(tree.nodes[one].weight - old[one] for one in heirs)
    rest = tree.nodes[parent].rest_weight
    assert gained + rest == pytest.approx(weight)
    shares = model(tree).shares(Placed(0, DOCUMENTS, book.kept()))
    for one, node in tree.nodes.items():
        assert shares[one].mean() == pytest.approx(node.weight, abs=1e-6)
        if node.children:
            below = np.sum([shares[child] for child in node.children], axis=0)
            below += shares.rests[one] if one == parent else 0
            np.testing.assert_allclose(below, shares[one], atol=1e-6)
    [owner] = {part.split for parts in legacy.given.values() for part in parts}
    split = tree.splits[owner]
    assert split.components == revise.combined([split.components])
    assert split.context == tree.nodes[parent].components
    assert split.overlap.weights[-1] == legacy.rest_share
