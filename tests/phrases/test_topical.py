"""Counts of units by topic against a loop over documents, units and topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.engine.threads import Serial, Threads
from strod.phrases.counts import topical_counts, total_counts
from strod.phrases.topical import MIXED, TopicBatch, batches, evidence
from strod.tree.matrix import MatrixShard
from strod.values.topic import ROOT, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine

    Array = NDArray[np.float64]


class World:
    """A random tree, documents by units, and the documents' shares."""

    def __init__(self, seed: int, documents: int = 15, units: int = 8, width: int = 6) -> None:
        self.random = np.random.default_rng(seed)
        self.width = width
        self.nodes: dict[str, Node] = {}
        self.shares: dict[str, Array] = {}
        self._add(ROOT, None, 0, np.ones(documents))
        self.words = [
            self.random.integers(0, width, self.random.integers(0, 4)).tolist()
            for _ in range(units)
        ]
        self.counts = self.random.poisson(0.7, (documents, units)).astype(np.int32)

    def _add(self, name: str, parent: str | None, level: int, share: Array) -> None:
        words = self.random.dirichlet(np.full(self.width, 0.3)) + 1e-9
        self.nodes[name] = Node(name, parent, level, [], words / words.sum())
        self.shares[name] = share
        many = int(self.random.integers(0, 4)) if level < 3 else 0
        if level == 0 or many > 1:
            many = max(many, 2)
            parts = self.random.dirichlet(np.full(many, 0.5), len(share)) * share[:, None]
            for child in range(many):
                self.nodes[name].children.append(f"{name}{child}")
                self._add(f"{name}{child}", name, level + 1, parts[:, child])
        else:
            words[1:] *= self.random.random(self.width - 1) < 0.8
            self.nodes[name].words = words / words.sum()

    def trim(self, name: str) -> None:
        """Take away what is below a topic."""
        self.nodes[name] = replace(self.nodes[name], children=[])
        for other in list(self.nodes):
            if other != name and other.startswith(name):
                del self.nodes[other]

    @property
    def parents(self) -> list[str]:
        return [name for name, node in self.nodes.items() if node.children]

    @property
    def columns(self) -> csr_array:
        """Units by words of the model; a word that is there twice counts twice."""
        table = np.zeros((len(self.words), self.width))
        for unit, words in enumerate(self.words):
            for word in words:
                table[unit, word] += 1
        return csr_array(table)

    def shards(self, pieces: int) -> list[MatrixShard]:
        borders = np.linspace(0, len(self.counts), pieces + 1).astype(int).tolist()
        return [
            MatrixShard(begin, end - begin, csr_array(self.counts[begin:end]))
            for begin, end in pairwise(borders)
        ]

    def some_shares(
        self, first: int, size: int, holding: Collection[str] | None
    ) -> tuple[NDArray[np.int64] | None, Mapping[str, Array]]:
        found = {name: share[first : first + size] for name, share in self.shares.items()}
        if holding is None:
            return None, found
        some = np.flatnonzero(sum(found[name] for name in holding))
        return some, {name: share[some] for name, share in found.items()}

    def counted(
        self, most: int = 128, pieces: int = 1, engine: Engine | None = None
    ) -> dict[str, Array]:
        """c(P, t) of all topics, as `describe` asks for them."""
        found = {}
        for batch in batches(self.nodes, self.parents, most):
            likely = evidence(batch, self.nodes, self.columns)
            shards, work = self.shards(pieces), engine or Serial()
            counts = topical_counts(batch, likely, shards, self.some_shares, work)
            place = dict(zip(batch.names, counts.T, strict=True))
            if ROOT in batch.wanted:
                found[ROOT] = place[ROOT]
            for parent in batch.wanted:
                found |= {child: place[child] for child in self.nodes[parent].children}
        return found

    def naive(self) -> dict[str, Array]:
        """The same, one document, unit and topic at a time."""
        found = {name: np.zeros(len(self.words)) for name in self.nodes}

        def spread(name: str, document: int, unit: int, count: float) -> None:
            found[name][unit] += count
            node = self.nodes[name]
            fits = []
            for child in node.children:
                words = (1 - MIXED) * self.nodes[child].words + MIXED * node.words
                product = prod(words[word] for word in self.words[unit])
                fits.append(self.shares[child][document] * product)
            for child, fit in zip(node.children, fits, strict=True):
                if count > 0 and sum(fits) > 0:
                    spread(child, document, unit, count * fit / sum(fits))

        for document, row in enumerate(self.counts.tolist()):
            for unit, count in enumerate(row):
                spread(ROOT, document, unit, float(count))
        return found


def test_counts_equal_a_naive_loop() -> None:
    for seed in range(40):
        world = World(seed)
        found, expected = world.counted(pieces=1 + seed % 4), world.naive()
        assert set(found) == set(expected)
        for name, counts in found.items():
            np.testing.assert_allclose(counts, expected[name], rtol=1e-4, atol=1e-6)


def test_children_add_up_to_their_parent() -> None:
    for seed in range(40):
        world = World(seed)
        found = world.counted()
        np.testing.assert_allclose(found[ROOT], world.counts.sum(axis=0))
        for name in world.parents:
            children = sum(found[child] for child in world.nodes[name].children)
            np.testing.assert_allclose(children, found[name], rtol=1e-9, atol=1e-9)
            assert all((found[child] >= 0).all() for child in world.nodes[name].children)


def test_documents_without_the_topic_are_passed_over() -> None:
    """What the root has of all documents is known: the others need not be counted again."""
    passed = 0
    for seed in range(30):
        world = World(seed)
        shards = world.shards(3)
        totals = total_counts(shards, len(world.words), Serial())
        assert (totals == world.counts.sum(axis=0)).all()
        for share in world.shares.values():  # the later half has none, the root's apart
            share[len(share) // 2 :] *= share is world.shares[ROOT]
        for batch in batches(world.nodes, [name for name in world.parents if name != ROOT], 1):
            likely = evidence(batch, world.nodes, world.columns)
            given = batch, likely, shards, world.some_shares, Serial()
            some, every = topical_counts(*given, totals), topical_counts(*given)
            assert some.tobytes() == every.tobytes()
            passed += 1
    assert passed > 30


@pytest.mark.parametrize("most", [1, 3, 6, 10])
def test_batches_make_no_difference(most: int) -> None:
    several = 0
    for seed in range(20):
        world = World(seed)
        one, many = world.counted(), world.counted(most)
        assert set(one) == set(many) == set(world.nodes)
        for name in one:
            assert one[name].tobytes() == many[name].tobytes()
        several += len(list(batches(world.nodes, world.parents, most))) > 1
    assert several > 5


def test_threads_make_no_difference() -> None:
    for seed in range(5):
        world = World(seed, documents=40)
        one, many = world.counted(pieces=7), world.counted(pieces=7, engine=Threads(2))
        assert all(one[name].tobytes() == many[name].tobytes() for name in one)


def test_a_branch_does_not_depend_on_what_is_below_others() -> None:
    trimmed = 0
    for seed in range(30):
        world = World(seed)
        before = world.counted()
        first, *others = world.nodes[ROOT].children
        for other in others:
            trimmed += bool(world.nodes[other].children)
            world.trim(other)
        after = world.counted()
        for name in [ROOT, *world.nodes[ROOT].children]:
            assert after[name].tobytes() == before[name].tobytes()
        for name in after:
            if name.startswith(first):
                assert after[name].tobytes() == before[name].tobytes()
    assert trimmed > 10


def check_batch(batch: TopicBatch, nodes: dict[str, Node]) -> None:
    """Parents before children, siblings side by side, nothing twice."""
    assert batch.names[0] == ROOT
    assert len(set(batch.names)) == len(batch.names)
    for place, name in enumerate(batch.names):
        begin = int(batch.first[place])
        inside = batch.names[begin : begin + int(batch.size[place])]
        assert inside in ([], nodes[name].children)
        assert not inside or begin > place
        assert inside or name not in batch.wanted or not nodes[name].children


def test_batches_have_what_they_need_and_no_more_than_they_may() -> None:
    for seed in range(30):
        world = World(seed)
        for most in (1, 4, 8, 20):
            found = list(batches(world.nodes, world.parents, most))
            assert [name for batch in found for name in batch.wanted] == world.parents
            for batch in found:
                check_batch(batch, world.nodes)
                assert len(batch.names) <= most or len(batch.wanted) == 1
                above = {ROOT, *batch.wanted}
                for name in batch.wanted:
                    above |= {name[:end] for end in range(1, len(name))}
                wanted = {child for name in above for child in world.nodes[name].children}
                assert set(batch.names) == wanted | {ROOT}
    assert list(batches(world.nodes, [])) == []


def test_a_root_without_children() -> None:
    nodes = {ROOT: Node(ROOT, None, 0, [], np.ones(2) / 2)}
    (batch,) = batches(nodes, [ROOT])
    assert batch.names == [ROOT]
    likely = evidence(batch, nodes, csr_array(np.eye(2)))
    rows = MatrixShard(0, 2, csr_array(np.array([[1, 0], [2, 5]], dtype=np.int32)))
    shares = None, {ROOT: np.ones(2)}
    counts = topical_counts(batch, likely, [rows], lambda *_: shares, Serial())
    assert counts.tolist() == [[3], [5]]


def test_a_unit_without_known_words_follows_the_documents() -> None:
    world = World(3)
    world.words[0] = []
    found = world.counted()
    for child in world.nodes[ROOT].children:
        expected = float(world.counts[:, 0] @ world.shares[child])
        assert found[child][0] == pytest.approx(expected)
