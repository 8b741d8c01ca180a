"""Shares of topics from shares of fine topics, and where they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pytest

from strod.errors import DamagedError
from strod.model.inference import sparse_shares
from strod.store.splits import DiskShareStore
from strod.values.shares import Masses, MemoryShareStore, Shares, joined, local_shares, paths, rows
from strod.values.topic import ROOT, Component, Node, child_id, seed_of
from tests.tree.helpers import grown

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.values.shares import ShareStore

    Array = NDArray[np.float64]

NOTHING = np.ones(1)
DOCUMENTS = 50


def random_shares(seed: int, documents: int = DOCUMENTS, topics: int = 30) -> Shares:
    random = np.random.default_rng(seed)
    expected = random.gamma(0.1, 5, (documents, topics))
    expected[random.random(documents) < 0.1] = 0
    return sparse_shares(expected)


def node(name: str, parent: str | None, owner: str | None, fine: list[int]) -> Node:
    return Node(name, parent, 0, [] if owner is None else [Component(owner, fine)], NOTHING)


class Base(NamedTuple):
    """A decomposition, as far as masses look at it: no document takes its weights."""

    components: list[Component]
    weights: Array = NOTHING
    apart: int = 0

    @property
    def overlap(self) -> Base:
        return self


class Dense(NamedTuple):
    """Shares of documents of which each has some."""

    table: Array

    @property
    def indptr(self) -> NDArray[np.int64]:
        return np.arange(len(self.table) + 1)

    def dense(self, _: int) -> Array:
        return self.table


def masses_of(
    parts: dict[str, list[Component]], local: dict[str, Array], size: int = DOCUMENTS
) -> Masses:
    splits = {name: Base(own) for name, own in parts.items()}
    placed = {name: Dense(table) for name, table in local.items()}
    return Masses(cast("Any", splits), cast("Any", placed), size)


def topic_shares(nodes: dict[str, Node], local: dict[str, Array], size: int) -> dict[str, Array]:
    masses = masses_of({name: nodes[name].components for name in local}, local, size)
    return {name: masses.of(one.components) for name, one in nodes.items()}


def small_tree() -> dict[str, Node]:
    """Root in two; the first in two by the same decomposition, the second by its own."""
    nodes = [
        node(ROOT, None, None, []),
        node("a", ROOT, ROOT, list(range(0, 30, 2))),
        node("b", ROOT, ROOT, list(range(1, 30, 2))),
        node("aa", "a", ROOT, list(range(0, 20, 2))),
        node("ab", "a", ROOT, list(range(20, 30, 2))),
        node("ba", "b", "b", [0, 2]),
        node("bb", "b", "b", [1]),
    ]
    found = {one.id: one for one in nodes}
    for one in nodes[1:]:
        found[str(one.parent)].children.append(one.id)
    return found


def small_shares() -> dict[str, Array]:
    random = np.random.default_rng(3)
    local = {
        ROOT: local_shares(random_shares(1), random.dirichlet(np.ones(30))),
        "b": local_shares(random_shares(2, topics=3), np.array([0.5, 0.25, 0.25])),
    }
    return topic_shares(small_tree(), local, DOCUMENTS)


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_book_gives_back_what_was_put_in(tmp_path: Path, kind: str) -> None:
    book: ShareStore = (
        MemoryShareStore() if kind == "memory" else DiskShareStore(tmp_path, [("0000", 50)])
    )
    whole = random_shares(0)
    dense = whole.dense(30)
    for first, size in [(0, 7), (7, 0), (7, 30), (37, 13)]:
        book.append("o", rows(whole, first, size))
        book.append("0123456789ab", rows(whole, 0, 1))
    for owner in ("o", "0123456789ab"):
        book.close(owner)
    for first, size in [(0, 50), (0, 7), (5, 10), (49, 1), (20, 0)]:
        part = book.kept().read("o", first, size)
        assert np.array_equal(part.dense(30), dense[first : first + size])
        assert part.indptr[0] == 0
    assert np.array_equal(
        book.kept().read("0123456789ab", 0, 4).dense(30), np.repeat(dense[:1], 4, axis=0)
    )


def test_a_book_of_documents_that_say_nothing(tmp_path: Path) -> None:
    book = DiskShareStore(tmp_path, [("0000", 50)])
    book.append("o", sparse_shares(np.zeros((5, 3))))
    book.close("o")
    assert not book.kept().read("o", 0, 5).dense(3).any()


def test_a_book_without_pages(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match=r"indptr\.npy: is missing.*strod check"):
        DiskShareStore(tmp_path, [("0000", 1)]).kept().read("o", 0, 1)


def test_joined_and_cut() -> None:
    whole = random_shares(4)
    cut = [rows(whole, 0, 20), rows(whole, 20, 0), rows(whole, 20, 30)]
    again = joined(cut)
    assert np.array_equal(again.indptr, whole.indptr)
    assert np.array_equal(again.indices, whole.indices)
    assert np.array_equal(again.values, whole.values)


def test_a_document_that_says_nothing_has_the_weights_of_the_topics() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    dense = local_shares(sparse_shares(np.array([[1.0, 3, 0], [0, 0, 0]])), weights)
    assert dense.tolist() == [[0.25, 0.75, 0], [0.5, 0.3, 0.2]]


def test_children_add_up_to_their_parent() -> None:
    nodes, shares = small_tree(), small_shares()
    assert (shares[ROOT] == 1).all()
    for one in nodes.values():
        if one.children:
            together = np.sum([shares[name] for name in one.children], axis=0)
            np.testing.assert_allclose(together, shares[one.id], atol=1e-6)


def test_the_share_of_a_second_decomposition_is_part_of_the_first() -> None:
    shares = small_shares()
    below = local_shares(random_shares(2, topics=3), np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(shares["ba"], shares["b"] * (below[:, 0] + below[:, 2]))
    np.testing.assert_allclose(shares["bb"], shares["b"] * below[:, 1])


def test_shares_of_a_document_do_not_depend_on_the_others() -> None:
    nodes = small_tree()
    local = {
        ROOT: np.random.default_rng(0).dirichlet(np.ones(30), DOCUMENTS),
        "b": np.random.default_rng(1).dirichlet(np.ones(3), DOCUMENTS),
    }
    together = topic_shares(nodes, local, DOCUMENTS)
    for d in range(DOCUMENTS):
        alone = topic_shares(nodes, {name: one[d : d + 1] for name, one in local.items()}, 1)
        for name in together:
            assert alone[name][0] == together[name][d]


def test_a_path_takes_the_largest_child() -> None:
    nodes, shares = small_tree(), small_shares()
    names = list(nodes)
    levels = paths(nodes, ROOT, shares)
    assert len(levels) == 3
    for d in range(DOCUMENTS):
        top = max("ab", key=lambda name: shares[name][d])
        below = max((top + "a", top + "b"), key=lambda name: shares[name][d])
        assert [names[level[d]] for level in levels] == [ROOT, top, below]


def test_a_path_does_not_jump_to_a_large_topic_elsewhere() -> None:
    """The largest leaf may lie in the smaller branch."""
    nodes = small_tree()
    shares = dict(
        zip(nodes, map(np.array, [[1], [0.6], [0.4], [0.3], [0.3], [0.4], [0]]), strict=True)
    )
    assert [list(nodes)[level[0]] for level in paths(nodes, ROOT, shares)][:2] == [ROOT, "a"]


def test_a_path_ends_in_a_leaf_on_any_level() -> None:
    nodes, shares = small_tree(), small_shares()
    for name in ("aa", "ab"):
        del nodes[name]
    nodes["a"].children = []
    levels = paths(nodes, ROOT, shares)
    short = levels[1] == list(nodes).index("a")
    assert short.any()
    assert not short.all()
    assert ((levels[2] == -1) == short).all()


def test_a_path_does_not_depend_on_the_order_of_the_children() -> None:
    """Children are sorted by weight in the end, and documents may be torn between two."""
    nodes = small_tree()
    shares = {name: np.array([0.5, 0.25, 0.75]) for name in nodes}
    before = [level.tolist() for level in paths(nodes, ROOT, shares)]
    for one in nodes.values():
        one.children.reverse()
    assert [level.tolist() for level in paths(nodes, ROOT, shares)] == before


@pytest.mark.parametrize("seed", range(5))
def test_documents_of_a_topic_are_those_whose_path_leads_there(seed: int) -> None:
    """Where a corpus is its own mirror image, documents may lie exactly between two topics."""
    random = np.random.default_rng(seed)
    side, both = random.poisson(1.5, (60, 17)), random.poisson(1, (60, 17))
    none = np.zeros_like(side)
    counts = np.vstack([np.hstack(p) for p in ((side, none), (none, side), (both, both))])
    tree, _ = grown(counts, children=2, height=1)
    assert tree.nodes[ROOT].documents == 180


def test_ids_are_those_of_the_split() -> None:
    ids = {
        child_id("o", [1, 2], "o"),
        child_id("o", [12], "o"),
        child_id("o", [1], "o"),
        child_id("x", [1, 2], "o"),
        child_id("x", [1, 2], "x"),
    }
    assert len(ids) == 5
    assert child_id("o", [1, 2], "o") in ids
    assert all(len(name) == 12 and int(name, 16) >= 0 for name in ids)


def test_seeds_differ_by_topic_and_by_seed() -> None:
    seeds = {tuple(seed_of(seed, name)) for seed in (0, 1, 2**63) for name in ("o", "x", "y")}
    assert len(seeds) == 9
    for one in seeds:
        assert np.random.default_rng(list(one)).random() < 1


def test_masses_of_several_parts_add_up() -> None:
    shares = small_shares()
    random = np.random.default_rng(3)
    local = {
        ROOT: local_shares(random_shares(1), random.dirichlet(np.ones(30))),
        "b": local_shares(random_shares(2, topics=3), np.array([0.5, 0.25, 0.25])),
    }
    nodes = small_tree()
    masses = masses_of({ROOT: [], "b": nodes["b"].components}, local)
    both = masses.of([*nodes["ab"].components, *nodes["bb"].components])
    np.testing.assert_allclose(both, shares["ab"] + shares["bb"])
    assert (masses.of([]) == 1).all()
