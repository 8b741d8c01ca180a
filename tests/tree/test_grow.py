"""Growing: the same bytes on any engine, levels that do not depend on those below, few passes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from strod.datasets.planted import plant, recovery_error
from strod.engine.threads import Serial, Threads
from strod.errors import UsageError
from strod.methods.variants import paper_options, paper_splitter
from strod.model import inference, sampling
from strod.model import model as model_module
from strod.model.draws import draws
from strod.model.options import METHODS, TreeOptions
from strod.model.sampling import blocks, root_counts
from strod.passes.place import Wanted, place
from strod.store.topics import node_sha256
from strod.tree import ground as ground_module
from strod.tree import grow as grow_module
from strod.tree import matrix
from strod.tree.grow import grow
from strod.tree.matrix import MatrixShard, matrix_shards
from strod.values.shares import MemoryShareStore
from strod.values.topic import ROOT
from strod.values.words import thinning
from tests.tree.helpers import (
    check_tree,
    digests,
    document_shares,
    ground,
    grow_matrix,
    grown,
    model,
    on_level,
    topical,
    words_on_level,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strod.datasets.planted import Planted
    from strod.engine.protocol import Engine
    from strod.tree.grown import Grown
    from strod.values.shares import Shares

pytestmark = pytest.mark.usefixtures("endless")

DOCUMENTS = 2000
SHAPES: dict[str, dict[str, Any]] = {
    "children 3": {"children": 3},
    "children 2, height 3": {"children": 2, "height": 3},
    "auto, height 3": {"children": "auto", "height": 3},
    "no look-ahead": {"children": 3, "lookahead": False},
    "no look-ahead, auto": {"children": "auto", "lookahead": False},
    "no polish": {"children": 3, "polish": 0},
    "words alone": {"children": 3, "topical": "word", "lookahead": False},
    "alpha0 auto": {"children": 3, "alpha0": "auto"},
    "a sample": {"children": 3, "sample": 700},
    "another seed": {"children": 3, "seed": 5},
}


@cache
def planted() -> Planted:
    """Three topics with three each, so that a second split has something to find."""
    return plant(0, documents=DOCUMENTS, length=40, children=3, words=300, alpha0=0.5)


@cache
def small() -> Planted:
    """So few words that even E3 can be written out."""
    return plant(1, documents=1500, length=40, children=3, words=60, alpha0=0.5)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in a build: the order of sums never changes, and small products are quicker."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several shards and blocks, so that threads have something to mix up."""
    monkeypatch.setattr(matrix, "SHARD", 500)
    monkeypatch.setattr(sampling, "BLOCK", 20_000)


def everything(tree: Grown, book: MemoryShareStore) -> tuple[object, ...]:
    """Topics, decompositions and shares, as bytes where they are numbers."""
    splits = {
        owner: (
            split.topics.counts.tobytes(), split.overlap.weights.tobytes(),
            split.overlap.joint.tobytes(), split.merges, split.alpha0, split.values, split.noise,
            [array.tobytes() for array in book.kept().read(owner, 0, DOCUMENTS)],
        )
        for owner, split in tree.splits.items()
    }  # fmt: skip
    shares = document_shares(tree, book, 0, DOCUMENTS)
    return digests(tree), splits, {name: one.tobytes() for name, one in shares.items()}


def bytes_in(shares: Shares) -> list[bytes]:
    return [array.tobytes() for array in shares]


def bytes_of(options: dict[str, Any], engine: Engine) -> tuple[object, ...]:
    return everything(*grow_matrix(planted().counts, TreeOptions(**options), engine))


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("name", ["auto, height 3", "no look-ahead", "a sample"])
def test_the_same_bytes_on_any_engine(name: str) -> None:
    expected = bytes_of(SHAPES[name], Serial())
    for engine in (Serial(), Threads(1), Threads(2), Threads(3)):
        assert bytes_of(SHAPES[name], engine) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_a_tree_keeps_its_promises(name: str) -> None:
    tree, _ = grown(planted().counts, **SHAPES[name])
    children = SHAPES[name]["children"]
    if name != "no look-ahead, auto":
        assert len(on_level(tree, 1)) == (3 if children == "auto" else children)
    if children == 3:
        assert recovery_error(words_on_level(tree, 1), planted().parents) < 0.4


@pytest.mark.parametrize("name", ["children 3", "no look-ahead", "alpha0 auto", "a sample"])
def test_the_leaves_are_found_as_well(name: str) -> None:
    tree, _ = grown(planted().counts, **SHAPES[name])
    assert len(on_level(tree, 2)) == 9
    assert recovery_error(words_on_level(tree, 2), planted().leaves) < 0.6


@pytest.mark.parametrize("name", SHAPES)
def test_a_level_does_not_depend_on_those_below(name: str) -> None:
    options = {key: value for key, value in SHAPES[name].items() if key != "height"}
    trees = [grown(planted().counts, **options, height=height)[0] for height in (1, 2, 3)]
    for lower, higher in pairwise(trees):
        height = max(node.level for node in lower.nodes.values())
        for level in range(height + 1):
            for one, other in zip(on_level(lower, level), on_level(higher, level), strict=True):
                assert one.words.tobytes() == other.words.tobytes()
                assert (one.id, one.parent, one.components) == (
                    other.id,
                    other.parent,
                    other.components,
                )
                assert (one.weight, one.alpha) == (other.weight, other.alpha)
                assert one.documents == other.documents
                assert node_sha256(one) == node_sha256(other)
                assert one.children == (other.children if level < height else [])
    assert len(trees[2].nodes) >= len(trees[1].nodes) > len(trees[0].nodes) > 1


def test_options_that_matter_change_the_tree() -> None:
    trees = [
        digests(grown(planted().counts, **options)[0])
        for options in (
            {"children": 3},
            {"children": 3, "polish": 3},
            {"children": 3, "sample": 900},
            {"children": 3, "lookahead": False},
            {"children": 3, "lookahead": False, "topical": "word"},
            {"children": 3, "alpha0": 5.0},
            {"children": 3, "thin": 0},
            {"children": 3, "clip": 1},
            {"children": 4},
        )
    ]
    for i, one in enumerate(trees):
        assert one not in trees[:i]


def test_words_of_a_topic_are_not_thinned_any_more() -> None:
    """A word of every document: thinned in learning, but as frequent as it was in the end."""
    counts = csr_array(np.hstack([planted().counts.toarray(), np.full((DOCUMENTS, 1), 3)]))
    tree, _ = grown(counts, children=3, height=1)
    share = 3 / 43
    for node in tree.nodes.values():
        assert node.words[-1] == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize("sample", [400, 1000])
def test_a_sample_is_learnt_from_but_every_document_is_placed(sample: int) -> None:
    tree, _ = grown(planted().counts, children=3, height=1, sample=sample)
    chosen = draws([str(row) for row in range(DOCUMENTS)]) < sample / DOCUMENTS
    assert tree.splits[ROOT].documents == int(chosen.sum())
    assert abs(chosen.sum() - sample) < 100
    assert tree.nodes[ROOT].documents == DOCUMENTS


def test_a_small_topic_is_learnt_from_more_of_the_documents() -> None:
    options = {"children": 3, "height": 2, "sample": 800, "lookahead": False}
    tree, _ = grown(planted().counts, **options)
    inner = [node for node in on_level(tree, 1) if node.children]
    assert inner
    for node in inner:
        assert tree.splits[node.id].documents > tree.splits[ROOT].documents


def test_topics_below_the_root_are_learnt_from_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default, once there are more counts than it takes."""
    everything, _ = grown(planted().counts, children=3, height=2)
    counts = planted().counts.nnz
    monkeypatch.setattr(ground_module, "ENOUGH", counts // 2)
    some, _ = grown(planted().counts, children=3, height=2)
    monkeypatch.setattr(ground_module, "ENOUGH", 4 * counts)
    assert digests(grown(planted().counts, children=3, height=2)[0]) == digests(everything)
    half = everything.splits[ROOT].documents / 2
    assert 0.8 * half < some.splits[ROOT].documents < 1.2 * half
    weights = {node.id: node.weight for node in on_level(some, 1)}
    for name, weight in weights.items():
        rate = grow_module.BELOW * 0.5 / weight
        assert rate < 0.7
        found, most = some.splits[name].documents, DOCUMENTS
        assert 0.2 * rate * most < found < 1.2 * rate * most


@pytest.mark.long
def test_a_wide_node_needs_memory() -> None:
    """A tensor of as many topics as are looked for."""
    shards = matrix_shards(plant(2, documents=300, children=3, words=400).counts)
    occurrences = np.full(400, 5)
    book = MemoryShareStore()
    for lookahead, fine in ((True, 310), (False, 320)):
        for children in (150, 300):
            options = TreeOptions(children=children, lookahead=lookahead, height=1)
            given = ground(shards, occurrences, options, book)
            if children == 300:
                with pytest.raises(UsageError, match=f"a node with {fine} fine topics needs"):
                    grow(given, occurrences)
            else:
                assert grow(given, occurrences).nodes


def test_height_0_is_the_corpus() -> None:
    tree, _ = grown(planted().counts, height=0)
    assert list(tree.nodes) == [ROOT]
    assert tree.passes == 0
    occurrences = planted().counts.sum(axis=0)
    np.testing.assert_allclose(tree.nodes[ROOT].words, occurrences / occurrences.sum())


class CountingShard(MatrixShard):
    """Knows how often its documents were asked for."""

    asked: dict[int, int]

    @property
    def counts(self) -> csr_array:
        self.asked[self.first] = self.asked.get(self.first, 0) + 1
        return self.table

    @counts.setter
    def counts(self, table: csr_array) -> None:
        object.__setattr__(self, "table", table)

    table: csr_array


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"children": 3, "height": 1}, 3),
        ({"children": 2, "height": 1}, 3),
        ({"children": 2, "height": 2, "lookahead": False}, 4),
        ({"children": 3, "height": 2, "lookahead": False}, 4),
        ({"children": "auto", "height": 2}, 4),
    ],
)
def test_one_pass_a_level_one_before_and_one_for_the_words(
    options: dict[str, Any], passes: int
) -> None:
    asked: dict[int, int] = {}
    shards = []
    for part in matrix_shards(planted().counts):
        shard = object.__new__(CountingShard)
        for name, value in {"first": part.first, "size": part.size, "table": part.counts}.items():
            object.__setattr__(shard, name, value)
        object.__setattr__(shard, "asked", asked)
        shards.append(shard)
    occurrences = planted().counts.sum(axis=0)
    tree = grow(
        ground(shards, occurrences, TreeOptions(**options), MemoryShareStore()), occurrences
    )
    assert tree.passes == passes
    assert len(shards) == 4
    assert set(asked.values()) == {passes + 1}  # once more for their number, which reads nothing


@pytest.mark.usefixtures("many_parts")
def test_little_memory_takes_more_passes_for_the_same_tree() -> None:
    results, passes = [], []
    for memory in (1 << 30, 200_000, 1):
        book = MemoryShareStore()
        refs, occurrences = matrix_shards(planted().counts), planted().counts.sum(axis=0)
        options = TreeOptions(children=3, lookahead=False)
        tree = grow(ground(refs, occurrences, options, book, memory=memory), occurrences)
        results.append(everything(tree, book))
        passes.append(tree.passes)
    assert results[0] == results[1] == results[2]
    assert passes[0] == 4
    assert passes[2] == 6  # a pass for each of the three topics
    assert passes[0] <= passes[1] <= passes[2]


def test_blocks_join_small_parts_and_nothing_gets_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK", 3000)
    counts = root_counts(planted().counts, thinning(planted().counts.sum(axis=0), 0.001), 3)
    rows = np.arange(DOCUMENTS)
    parts = [counts.sample(rows // 37 == number) for number in range(DOCUMENTS // 37 + 1)]
    joined = blocks(parts)
    assert 1 < len(joined) < len(parts)
    assert blocks([counts])[0] is counts
    assert sum(block.size for block in joined) == DOCUMENTS
    whole = np.vstack([block.power(2).toarray() for block in joined])
    np.testing.assert_array_equal(whole, counts.power(2).toarray())


def gathered(*, by_word: bool) -> tuple[Grown, dict[str, Any]]:
    options = TreeOptions(children=3, height=1, topical="word" if by_word else "document")
    tree, book = grow_matrix(planted().counts, options)
    shard = matrix_shards(planted().counts)[0]
    kept = thinning(planted().counts.sum(axis=0), options.thin)
    counts = root_counts(shard.counts, kept, options.clip)
    masses = {node.id: node.components for node in on_level(tree, 1)}
    given = replace(model(tree, kept, by_word=by_word), clip=options.clip)
    wanted = [Wanted(parts, 1.0) for parts in masses.values()]
    found = place(shard, given, book.kept(), [], wanted).samples
    return tree, dict(zip(masses, found, strict=True)) | {ROOT: counts}


def test_topical_counts_of_siblings_add_up() -> None:
    """But for tokens and documents that hardly belong to a topic."""
    tree, found = gathered(by_word=False)
    together = sum(found[node.id].probability.sum() for node in on_level(tree, 1))
    assert together == pytest.approx(found[ROOT].probability.sum(), rel=0.03)
    for node in on_level(tree, 1):
        assert found[node.id].size <= DOCUMENTS
        assert (found[node.id].probability <= 1).all()


@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("by_word", [False, True])
def test_placing_and_sampling_in_one_pass_changes_not_a_byte(rate: float, by_word: bool) -> None:
    """What was counted on the way down is not counted again, and is the same."""
    topics = "word" if by_word else "document"
    tree, book = grow_matrix(planted().counts, TreeOptions(children=3, height=2, topical=topics))
    kept = thinning(planted().counts.sum(axis=0), 5e-4)
    given = replace(model(tree, kept, by_word=by_word), clip=3)
    (shard,) = matrix_shards(planted().counts)
    fresh = [name for name in tree.splits if name != ROOT]
    assert fresh
    wanted = [Wanted(node.components, rate) for node in on_level(tree, 2)]
    both = place(shard, given, book.kept(), fresh, wanted)
    alone = place(shard, given, book.kept(), fresh, [])
    after = place(shard, given, book.kept(), [], wanted)
    assert (alone.samples, after.shares) == ([], [])
    for name, one, other in zip(fresh, both.shares, alone.shares, strict=True):
        known = book.kept().read(name, 0, DOCUMENTS)
        assert bytes_in(one) == bytes_in(other) == bytes_in(known)
    for sample, again in zip(both.samples, after.samples, strict=True):
        assert sample.size
        for name in ("indptr", "indices", "tokens", "probability"):
            assert getattr(sample, name).tobytes() == getattr(again, name).tobytes()


def test_children_are_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass goes down once: the counts of those who are placed are those of the sampled."""
    tree, book = grow_matrix(planted().counts, TreeOptions(children=3, height=2, lookahead=False))
    calls = []
    original = model_module.topical

    def counted(*given: Any, **more: Any) -> Any:
        calls.append(1)
        return original(*given, **more)

    monkeypatch.setattr(model_module, "topical", counted)
    given = model(tree, np.ones(300))
    (shard,) = matrix_shards(planted().counts)
    fresh = [name for name in tree.splits if name != ROOT]
    wanted = [Wanted(node.components, 1.0) for node in on_level(tree, 2)]
    place(shard, given, book.kept(), fresh, wanted)
    assert len(calls) == len(tree.splits) == 4


def test_samples_of_topics_have_their_own_rates() -> None:
    options = TreeOptions(children=3, height=1)
    tree, book = grow_matrix(planted().counts, options)
    (shard,) = matrix_shards(planted().counts)
    given = replace(model(tree, thinning(planted().counts.sum(axis=0), options.thin)), clip=3)
    masses = [node.components for node in on_level(tree, 1)]
    rates = 0.1, 0.3, 0.6
    every, some, alone = (
        place(shard, given, book.kept(), [], wanted).samples
        for wanted in (
            [Wanted(mass, 1.0) for mass in masses],
            [Wanted(mass, rate) for mass, rate in zip(masses, rates, strict=True)],
            [Wanted(masses[1], 0.3)],
        )
    )
    for one, all_of_it, rate in zip(some, every, rates, strict=True):
        assert one.size == pytest.approx(rate * all_of_it.size, rel=0.2)
    assert alone[0].power(1).data.tolist() == some[1].power(1).data.tolist()


def test_what_hardly_belongs_to_a_topic_is_left_out() -> None:
    """Tokens by their chance, then documents by what is left of them."""
    tree, _ = grow_matrix(planted().counts, TreeOptions(children=3, height=1))
    nodes, split = on_level(tree, 1), tree.splits[ROOT]
    counts = root_counts(planted().counts, np.full(300, 0.005, dtype=np.float32), 3)
    shares = inference.document_shares(split.topics, counts).dense(split.topics.size)
    found = model_module.topical(split, counts, shares, [node.components[0].fine for node in nodes])
    groups = np.full(split.topics.size, -1)
    for number, node in enumerate(nodes):
        groups[node.components[0].fine] = number
    chance = inference.posterior(split.topics, counts, shares, groups).T
    row = np.repeat(np.arange(DOCUMENTS), np.diff(counts.indptr))
    dropped = 0
    for number, part in enumerate(found):
        least = (1 - inference.ROUNDED) * inference.UNLIKELY  # less than one of three
        likely = chance[:, number] >= least
        mass = np.bincount(row, likely * counts.tokens * 0.005 * chance[:, number], DOCUMENTS)
        keep = likely & (mass[row] >= inference.SILENT)
        dropped += int((likely & ~keep).sum())
        assert part.size == DOCUMENTS
        assert np.array_equal(part.indices, counts.indices[keep])
        np.testing.assert_allclose(part.probability, 0.005 * chance[keep, number], rtol=1e-6)
    assert dropped > 0


@pytest.mark.parametrize(
    ("topics", "kept"), [(2, [2]), (10, [2]), (20, [2]), (35, [1, 2]), (50, [0, 1, 2])]
)
def test_one_of_many_topics_needs_less(topics: int, kept: list[int]) -> None:
    one = topical(np.array([[3, 3, 3]]))
    found = inference.likely(one, np.array([0.04, 0.06, 0.2], dtype=np.float32), topics)
    assert found.indices.tolist() == kept


def test_rounding_does_not_divide_what_five_topics_share() -> None:
    one = topical(np.array([[3, 3]]))
    equal = np.float32(0.2)
    found = inference.likely(one, np.array([equal, np.nextafter(equal, np.float32(0))]), 5)
    assert found.indices.tolist() == [0, 1]


def test_by_word_means_by_word_alone() -> None:
    """Otherwise documents of different lengths would see the same word differently."""
    tree, found = gathered(by_word=True)
    kept = thinning(planted().counts.sum(axis=0), 5e-4)
    for node in on_level(tree, 1):
        part = found[node.id]
        chance = part.probability / kept[part.indices]
        least, most = np.full(300, np.inf), np.zeros(300)
        np.minimum.at(least, part.indices, chance)
        np.maximum.at(most, part.indices, chance)
        there = most > 0
        assert there.sum() > 50
        np.testing.assert_allclose(least[there], most[there], rtol=1e-5)


def grow_paper(method: str, **given: Any) -> tuple[Grown, MemoryShareStore]:
    options = paper_options(TreeOptions(method=method, **given))
    counts = small().counts
    splitter = paper_splitter(options, lambda: counts, counts.shape[1], 1 << 30)
    book = MemoryShareStore()
    occurrences = counts.sum(axis=0)
    own = ground(matrix_shards(counts), occurrences, options, book, splitter=splitter)
    return grow(own, occurrences), book


@pytest.mark.parametrize("method", METHODS[1:])
def test_methods_of_the_paper(method: str) -> None:
    tree, book = grow_paper(method, children=3, height=2)
    check_tree(tree, book, *small().counts.shape)
    assert recovery_error(words_on_level(tree, 1), small().parents) < 0.6
    assert len(on_level(tree, 2)) == (0 if method == "tod" else 9)
    if method != "tod":
        assert recovery_error(words_on_level(tree, 2), small().leaves) < 0.3
    again = grow_paper(method, children=3, height=2)[0]
    assert digests(again) == digests(tree)


def test_methods_of_the_paper_agree_at_the_root() -> None:
    """They differ in what they write out, not in what they estimate."""
    trees = [grow_paper(method, children=3, height=1)[0] for method in METHODS[1:]]
    for tree in trees[1:]:
        assert recovery_error(words_on_level(tree, 1), words_on_level(trees[0], 1)) < 1e-3


@pytest.mark.parametrize(
    ("method", "words", "size"),
    [("tod", 1000, "16.1 GB"), ("rtod", 5000, "2,003.2 GB"), ("rtod3", 50_000, "120.0 GB")],
)
def test_dense_moments_of_many_words_are_refused(method: str, words: int, size: str) -> None:
    options = paper_options(TreeOptions(method=method))
    with pytest.raises(UsageError, match=rf"method {method} .*{words:,} words need {size}") as why:
        paper_splitter(options, lambda: pytest.fail("never asked for"), words, 2 << 30)
    assert "memory leaves 2.1 GB" in str(why.value)
    assert "max_vocabulary" in str(why.value)
    assert "\n" not in str(why.value)


def test_the_sparse_method_takes_many_words() -> None:
    options = paper_options(TreeOptions(method="strod-paper"))
    assert callable(paper_splitter(options, lambda: csr_array((1, 1)), 100_000, 2 << 30))
