"""Reading a tree back: what was written, by path and by id, with the documents' shares."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

import strod
from strod.datasets.planted import plant
from strod.errors import TopicError, UsageError
from strod.model.options import TreeOptions
from strod.store.files import Files
from strod.store.schema import ChangeRecord
from strod.store.splits import DiskShareStore, SavedShares, read_split, write_split
from strod.store.topics import node_sha256, read_revision, write_revision
from strod.tree.grow import grow
from strod.tree.matrix import matrix_shards
from strod.values.words import ranked
from strod.workspace.placements import assign_corpus
from strod.workspace.workspace import Workspace
from tests.planted_text import LEAVES, PARENTS, planted_texts, planted_words
from tests.tree.helpers import document_shares, ground, grow_matrix

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.tree import Tree


@pytest.fixture(scope="module")
def workspace(tree_workspace: Path) -> Workspace:
    return Workspace(tree_workspace)


@pytest.fixture(scope="module")
def tree(workspace: Workspace) -> Tree:
    """Two levels, of several decompositions."""
    found = workspace.tree
    assert {topic.level for topic in found.values()} == {0, 1, 2}
    assert len({part.split for node in found.nodes.values() for part in node.components}) > 2
    return found


@pytest.mark.usefixtures("endless")
def test_what_is_written_is_read(tmp_path: Path) -> None:
    counts = plant(0, documents=1000, length=40, children=3, words=200, alpha0=0.5).counts
    book = DiskShareStore(tmp_path, [("0000", 1 << 20)])
    options = TreeOptions(children="auto", height=3)
    occurrences = counts.sum(axis=0)
    with threadpool_limits(1):
        grown = grow(ground(matrix_shards(counts), occurrences, options, book), occurrences)
    assert len(grown.splits) > 1
    write_revision(tmp_path, grown.nodes.values(), ChangeRecord(what="test"), 1)
    for owner, written_split in grown.splits.items():
        write_split(tmp_path, owner, written_split)
    files, width = Files(tmp_path), counts.shape[1]
    nodes, checksums, change = read_revision(files, 1, width)
    assert change == ChangeRecord(what="test")
    assert list(nodes) == list(grown.nodes)
    for name, node in nodes.items():
        written, checksum = grown.nodes[name], checksums[name]
        assert node.words.tobytes() == written.words.tobytes()
        assert vars(node) | {"words": 0} == vars(written) | {"words": 0}
        assert checksum == node_sha256(written) == node_sha256(node)
    for owner, written_split in grown.splits.items():
        split = read_split(files, owner, width)
        assert split.topics.counts.tobytes() == written_split.topics.counts.tobytes()
        for array, written_array in zip(split.overlap, written_split.overlap, strict=True):
            assert array.tobytes() == written_array.tobytes()
        for name in ("merges", "alpha0", "total", "values", "noise", "documents"):
            assert getattr(split, name) == getattr(written_split, name)
    again = SavedShares((("0000", 1000),), files)
    for owner in grown.splits:
        m = grown.splits[owner].topics.size
        one, other = (kept.read(owner, 5, 900).dense(m) for kept in (again, book.kept()))
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("field", ["words", "weight", "alpha"])
def test_the_checksum_covers_all_numbers_of_a_topic(tree: Tree, field: str) -> None:
    node = tree.nodes[tree["o/1"].id]
    before = getattr(node, field)
    changed: Any = before + 1
    if field == "words":
        changed = before.copy()
        changed[3] = np.nextafter(changed[3], 1)
    try:
        setattr(node, field, changed)
        assert node_sha256(node) != tree["o/1"].sha256
    finally:
        setattr(node, field, before)
    assert node_sha256(node) == tree["o/1"].sha256


def test_topics_by_path_and_by_id(tree: Tree) -> None:
    assert next(iter(tree)) == "o"
    assert len(tree) == len(list(tree)) == len(tree.nodes)
    for path in tree:
        topic = tree[path]
        assert topic.path == path
        assert tree[topic.id] is topic
        assert tree.find(path) is tree.find(topic.id) is topic
        assert topic.level == path.count("/")
    assert tree["o"] is tree.root
    assert "o/1" in tree
    assert tree["o/1"].id not in list(tree)
    assert [path.count("/") for path in tree] == sorted(path.count("/") for path in tree)


def test_parents_and_children(tree: Tree) -> None:
    assert tree.root.parent is None
    for topic in tree.values():
        for number, child in enumerate(topic.children, 1):
            assert child.parent is topic
            assert child.path == f"{topic.path}/{number}"
        weights = [child.weight for child in topic.children]
        assert weights == sorted(weights, reverse=True)
        assert bool(topic.children) == (topic.reason == "")
        assert (topic.alpha0 > 0) == bool(topic.children)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("", "o"),
        ("/", "o"),
        ("O", "o"),
        ("o/", "o"),
        ("O/2", "o/2"),
        ("o/1/", "o/1"),
        ("/o/3/", "o/3"),
    ],
)
def test_a_topic_that_is_typed_wrongly(tree: Tree, name: str, meant: str) -> None:
    assert name not in tree
    with pytest.raises(UsageError, match=rf"^{name}: no such topic; do you mean {meant}\?$"):
        tree.find(name)


@pytest.mark.parametrize(
    ("name", "above"),
    [("o/9", "o"), ("o/1/9", "o/1"), ("o/0", "o"), ("gun", "o"),
     ("000000000000", "o"), ("1/9", "o/1"), ("o/9/9", "o"), ("o/2/7/1", "o/2")],
)  # fmt: skip
def test_no_such_topic(tree: Tree, name: str, above: str) -> None:
    """The children of the nearest topic that is there are listed, with their names."""
    assert name not in tree
    assert tree.get(name) is None
    children = ", ".join(f"{path} ({tree[path].label})" for path in sorted(tree)
                         if path.rpartition("/")[0] == above)  # fmt: skip
    for look in (tree.find, tree.__getitem__):
        with pytest.raises(TopicError) as why:
            look(name)
        assert isinstance(why.value, UsageError)
        assert isinstance(why.value, KeyError)
        assert str(why.value) == f"{name}: no such topic; {above} has {children}"


def test_a_path_without_its_root(tree: Tree) -> None:
    for path in list(tree)[1:]:
        assert tree.find(path.removeprefix("o/")) is tree[path]


def test_names_are_addresses(tree: Tree) -> None:
    """Automatic ones too, in any letters."""
    for topic in tree.values():
        if topic.level:
            assert topic.label is not None
            assert tree[topic.label] is tree[f" {topic.label.upper()}"] is topic
    close = f"{tree['o/1'].label}x"
    with pytest.raises(TopicError, match=r"no such topic; do you mean o/1 \("):
        tree[close]


def test_what_is_no_name_at_all(tree: Tree) -> None:
    with pytest.raises(TopicError, match=r"^3: is no topic; give a path"):
        tree[3]  # type: ignore[index]


def test_no_such_topic_where_there_is_only_one(tmp_path: Path) -> None:
    built = strod.build(["river stone", "cloud market"], out=tmp_path / "w.strod")
    assert list(built.tree) == ["o"]
    assert built.tree.leaves(built.tree.shares()) == ["o", "o"]
    with pytest.raises(UsageError, match=r"^o/1: no such topic; o has no children$"):
        built.tree.find("o/1")


def test_words_of_a_topic(tree: Tree, workspace: Workspace) -> None:
    surfaces = workspace.corpus.vocabulary["surface"].to_pylist()
    for topic in tree.values():
        every = topic.top(0)
        assert sum(chance for _, chance in every) == pytest.approx(1, abs=1e-9)
        assert len({word for word, _ in every}) == len(every) <= len(surfaces)
        assert topic.words == topic.top(20) == every[:20]
        assert topic.top(3) == every[:3]
        assert topic.top(10**6) == every
        chances = dict(every)
        for word, chance in zip(surfaces, topic.distribution, strict=True):
            assert chances.get(word, 0) == chance
        scores = [score for _, score in topic.phrases]
        assert scores == sorted(scores, reverse=True)
        assert (topic.label is None) == (topic.parent is None)


def test_words_are_ranked_by_how_much_they_say(tree: Tree, workspace: Workspace) -> None:
    probabilities = [chance for _, chance in tree.root.top(0)]
    assert probabilities == sorted(probabilities, reverse=True)
    occurrences = workspace.corpus.vocabulary["occurrences"].to_numpy()
    np.testing.assert_allclose(tree.root.distribution, occurrences / occurrences.sum())
    for topic in tree.values():
        if topic.parent is not None and topic.level < 3:
            own, above = topic.distribution, topic.parent.distribution
            column = workspace.corpus.vocabulary["surface"].to_pylist().index(topic.words[0][0])
            assert own[column] > above[column]


def test_ranking_formula() -> None:
    random = np.random.default_rng(0)
    own, parent, root = random.dirichlet(np.full(40, 0.5), 3)
    own[3] = parent[3] = 0
    kept = random.uniform(0.1, 1, 40)
    toned = [one * np.sqrt(kept) for one in (own, parent, root)]
    p, q, r = (one / one.sum() for one in toned)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(p > 0, p * np.log(p**2 / (q * r)), 0)
    found = ranked(own, parent, root, kept)
    np.testing.assert_allclose(score[found], np.sort(score)[::-1], atol=1e-12)
    assert ranked(own, None, own, kept).tolist() == np.argsort(-own, kind="stable").tolist()


def test_topics_are_those_that_were_planted(tmp_path: Path) -> None:
    tree = strod.build(planted_texts(400), out=tmp_path / "w.strod", children=3).tree
    assert len(tree.root.children) == 3
    for topic in tree.root.children:
        name = next(name for name in PARENTS if topic.words[0][0].startswith(name))
        mass = sum(chance for word, chance in topic.top(0) if word.startswith(name))
        assert mass > 0.9
    assert {topic.words[0][0][:5] for topic in tree.root.children} == set(PARENTS)


def test_shares_are_those_of_assign(tree: Tree, workspace: Workspace) -> None:
    rows = list(assign_corpus(workspace))
    shares = tree.shares()
    assert len(rows) == workspace.corpus.documents == len(shares["o"])
    for path in list(tree)[1:]:
        found = [row["topics"].get(path, 0) for row in rows]
        np.testing.assert_allclose(found, shares[tree[path].id], atol=5.1e-7)
        assert np.array_equal(tree[path].shares(), shares[tree[path].id])
    assert tree.leaves(shares) == [row["leaf"] for row in rows]


def test_shares_of_some_documents(tree: Tree) -> None:
    every = tree.shares()
    for first, size in [(0, 10), (17, 1), (399, 1), (40, 300), (5, 0)]:
        some = tree.shares(first, size)
        for name, share in every.items():
            np.testing.assert_allclose(some[name], share[first : first + size], atol=1e-15)


def test_weights_are_mean_shares_and_documents_are_paths(tree: Tree) -> None:
    shares = tree.shares()
    leaves = Counter(tree.leaves(shares))
    for topic in tree.values():
        assert topic.weight == pytest.approx(shares[topic.id].mean(), abs=1e-9)
        below = [path for path in leaves if f"{path}/".startswith(f"{topic.path}/")]
        assert topic.documents == sum(leaves[path] for path in below)
        if not topic.children:
            assert topic.documents == leaves[topic.path]
    assert sum(leaves.values()) == 400


def test_documents_are_placed_as_they_were(tree: Tree, workspace: Workspace) -> None:
    counts = csr_array(vstack([shard.counts for shard in workspace.corpus.shards()]))
    placed, kept = tree.place(counts), tree.shares()
    assert list(placed) == list(kept)
    for name, share in kept.items():
        assert placed[name].tobytes() == share.tobytes()


def test_a_document_is_placed_alone_as_among_others(tree: Tree, workspace: Workspace) -> None:
    counts = next(iter(workspace.corpus.shards())).counts
    together = tree.place(counts)
    for row in range(0, 400, 13):
        alone = tree.place(counts[[row]])
        for name, share in together.items():
            np.testing.assert_allclose(alone[name][0], share[row], atol=1e-14)


def test_the_tree_on_disk_is_the_tree_in_memory(tmp_path: Path) -> None:
    """Through files and shards of a corpus, or straight from its counts: one tree."""
    texts = planted_texts(300)
    built = strod.build(texts, out=tmp_path / "w.strod", children=3, height=2, seed=2)
    counts = csr_array(vstack([shard.counts for shard in built.corpus.shards()]))
    grown, book = grow_matrix(counts, TreeOptions(children=3, height=2, seed=2))
    for name, node in grown.nodes.items():
        found = built.tree.nodes[name]
        assert node_sha256(replace(found, phrases=[])) == node_sha256(node)
        assert found.top_words == node.top_words
    expected = document_shares(grown, book, 0, 300)
    for name, share in built.tree.shares().items():
        assert np.array_equal(share, expected[name])


def test_strings(tree: Tree, workspace: Workspace) -> None:
    assert repr(tree) == f"<Tree: {len(tree) - 1} topics>"
    assert repr(tree["o/2"]) == f"<Topic o/2: {tree['o/2'].label}>"
    assert repr(tree["o"]) == "<Topic o: everything>"
    assert f"{len(tree) - 1} topics" in repr(workspace)


def test_planted_words_are_words(workspace: Workspace) -> None:
    """The texts of these tests are tokenized as they were meant."""
    words = {
        word
        for i in range(len(PARENTS))
        for j in range(len(LEAVES))
        for word in planted_words(i, j)
    }
    assert set(workspace.corpus.vocabulary["word"].to_pylist()) == words
