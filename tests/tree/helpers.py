"""What every tree has to fulfil, and small things that tests of trees share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.engine.threads import Serial
from strod.model.model import Model
from strod.model.options import TreeOptions
from strod.moments.counts import Counts
from strod.progress import Silent
from strod.store.topics import node_sha256
from strod.tree import matrix as matrix_module
from strod.tree.ground import Ground
from strod.values.shares import MemoryShareStore, Placed, paths, structure
from strod.values.topic import ROOT
from strod.values.words import thinning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Documents, Ref
    from strod.tree.grown import Grown
    from strod.values.shares import ShareStore, TopicShares
    from strod.values.topic import Node

    Array = NDArray[np.float64]

NEAR = 1e-6  # shares are kept as float32
TOO_SMALL = "a child would have fewer than "
REASONS = {
    "no document has three words",
    "height",
    "topics",
    "too few documents",
    "no parts stand out from chance",
    "one part would be nearly all of it",
    "no valid whitening",
    "too few words",
    "no positive eigenvalue of the third moment",
}


def topical(rows: object, chance: object = 1.0) -> Counts:
    """Counts of documents by words, given as a dense table."""
    table = np.asarray(rows, dtype=np.float32)
    sparse = csr_array(table)
    chances = np.broadcast_to(np.asarray(chance, dtype=np.float32), table.shape)[table != 0]
    parts = (sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data)
    return Counts(*parts, chances.copy(), table.shape[1])


def random_counts(seed: int, documents: int = 12, width: int = 9) -> Counts:
    """Some documents, the third of them empty, whose tokens may belong to the topic."""
    random = np.random.default_rng(seed)
    rows = random.poisson(0.8, (documents, width))
    rows[2] = 0
    return topical(rows, random.uniform(0.1, 1, (documents, width)))


def ground(
    refs: Sequence[Ref[Documents]],
    occurrences: Any,
    options: TreeOptions,
    book: ShareStore,
    engine: Engine | None = None,
    **more: Any,
) -> Ground:
    """What a tree grows on, in the caller's thread unless there is an engine."""
    retention = thinning(np.asarray(occurrences), options.thin)
    return Ground(refs, retention, options, engine or Serial(), book, Silent(), **more)


def grow_matrix(
    counts: csr_array, options: TreeOptions, engine: Engine | None = None
) -> tuple[Grown, MemoryShareStore]:
    """A tree over the rows of a matrix."""
    return matrix_module.grow_matrix(counts, options, engine or Serial())


def model(tree: Grown, retention: object = (), *, by_word: bool = False) -> Model:
    """What places documents in a tree, without clipping."""
    kept = np.asarray(retention, dtype=np.float32)
    return Model(kept, 0, by_word, tree.splits, structure(tree.nodes))


def document_shares(tree: Grown, book: ShareStore, first: int, size: int) -> TopicShares:
    """Shares of all topics in some documents."""
    return model(tree).shares(Placed(first, size, book.kept()))


def on_level(tree: Grown, level: int) -> list[Node]:
    """Topics of a level, in the order in which they were made."""
    return [node for node in tree.nodes.values() if node.level == level]


def words_on_level(tree: Grown, level: int) -> Array:
    """Their words, a row a topic."""
    return np.array([node.words for node in on_level(tree, level)])


def digests(tree: Grown) -> dict[str, tuple[object, ...]]:
    """Everything about the topics, to compare byte for byte."""
    return {
        node.id: (
            node_sha256(node), node.words.tobytes(), node.weight, node.alpha, node.alpha0,
            node.documents, node.parent, node.level, str(node.components), node.children,
            node.reason,
        )
        for node in tree.nodes.values()
    }  # fmt: skip


def check_tree(tree: Grown, book: ShareStore, documents: int, width: int) -> None:
    """Fail if any promise about a tree is broken."""
    nodes = tree.nodes
    assert next(iter(nodes)) == ROOT
    assert nodes[ROOT].parent is None
    assert nodes[ROOT].documents == documents
    shares = document_shares(tree, book, 0, documents)
    for name, node in nodes.items():
        assert name == node.id
        check_words(node, width)
        assert 0 <= node.weight <= 1 + NEAR
        assert np.isfinite([node.alpha, node.alpha0]).all()
        assert (node.reason == "") == bool(node.children), node.reason
        assert (node.alpha0 > 0) == bool(node.children)
        assert node.reason in REASONS | {""} or node.reason.startswith(TOO_SMALL)
        assert shares[name].shape == (documents,)
        assert ((shares[name] >= 0) & (shares[name] <= 1 + NEAR)).all()
        assert np.isclose(shares[name].sum(), node.weight * documents, atol=NEAR * documents)
        if node.children:
            check_children(nodes, node, shares)
    check_paths(tree, shares, documents)


def check_words(node: Node, width: int) -> None:
    assert node.words.shape == (width,)
    assert np.isfinite(node.words).all()
    assert (node.words >= 0).all()
    assert abs(node.words.sum() - 1) < 1e-9


def check_children(nodes: Mapping[str, Node], node: Node, shares: Mapping[str, Array]) -> None:
    children = [nodes[name] for name in node.children]
    order = list(nodes)
    assert len(children) > 1
    assert len(set(node.children)) == len(children)
    for child in children:
        assert (child.parent, child.level) == (node.id, node.level + 1)
        assert order.index(child.id) > order.index(node.id)
    weights = [child.weight for child in children]
    assert weights == sorted(weights, reverse=True)
    assert abs(sum(weights) - node.weight) < NEAR
    assert np.isclose(sum(child.alpha for child in children), node.alpha0)
    assert sum(child.documents for child in children) == node.documents
    together = np.sum([shares[child.id] for child in children], axis=0)
    np.testing.assert_allclose(together, shares[node.id], atol=NEAR)
    owner = children[0].components[0].split
    assert {part.split for child in children for part in child.components} == {owner}
    fine = sorted(topic for child in children for topic in child.components[0].fine)
    assert fine == sorted(set(fine))
    if owner != node.id:
        assert owner == node.components[0].split
        assert fine == sorted(node.components[0].fine)


def check_paths(tree: Grown, shares: Mapping[str, Array], documents: int) -> None:
    """On its way down a document takes the largest child, and ends in a leaf."""
    names = list(tree.nodes)
    levels = paths(tree.nodes, ROOT, shares)
    reached = np.concatenate(levels)
    counted = np.bincount(reached[reached >= 0], minlength=len(names))
    assert [node.documents for node in tree.nodes.values()] == counted.tolist()
    for document in range(documents):
        here = ROOT
        for level in levels[1:]:
            if level[document] < 0:
                break
            found = names[level[document]]
            children = tree.nodes[here].children
            assert found in children
            assert shares[found][document] == max(shares[child][document] for child in children)
            here = found
        assert not tree.nodes[here].children


def grown(counts: object, **options: object) -> tuple[Grown, ShareStore]:
    """A tree that fulfils all promises, over the rows of a matrix."""
    matrix = csr_array(counts)
    tree, book = grow_matrix(matrix, TreeOptions(**options))  # type: ignore[arg-type]
    check_tree(tree, book, *matrix.shape)
    return tree, book


def parts(whole: Counts, number: int) -> list[Counts]:
    """The same documents in so many blocks."""
    block = np.arange(whole.size) * number // whole.size
    return [whole.sample(block == index) for index in range(number)]
