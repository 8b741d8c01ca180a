"""Topics of several parts, from several decompositions: against loops over documents and words."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from scipy.special import psi

from strod.datasets.planted import plant
from strod.errors import UsageError
from strod.model.inference import MANY, PRIOR, ROUNDED, SILENT, UNLIKELY
from strod.model.model import Model, added, disjoint
from strod.model.options import TreeOptions
from strod.model.sampling import root_counts
from strod.passes.place import Wanted, place
from strod.tree import revise
from strod.tree.affected import affected
from strod.tree.grown import Grown
from strod.tree.matrix import matrix_shards
from strod.tree.revise import Legacy
from strod.tree.weights import counted_documents
from strod.values.shares import Placed, ordered, structure
from strod.values.split import FineTopics
from strod.values.topic import ROOT, Component, Node
from strod.values.words import thinning
from tests.tree.helpers import document_shares, ground, grown, model, random_counts, topical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.moments.counts import Counts
    from strod.values.shares import ShareStore

    Array = NDArray[np.float64]

DOCUMENTS, WIDTH, STEP = 600, 300, 13
THIN, CLIP = 5e-4, 3


class Planted(NamedTuple):
    """A tree of two levels whose topics are decomposed one by one."""

    tree: Grown
    book: ShareStore
    counts: Counts
    kept: Array
    table: csr_array

    def topical_counts(
        self, masses: Sequence[Sequence[Component]], chosen: NDArray[np.bool_] | None = None
    ) -> list[Counts]:
        placed, counts = Placed(0, DOCUMENTS, self.book.kept()), self.counts
        if chosen is not None:
            placed, counts = placed.of(np.flatnonzero(chosen)), counts.sample(chosen)
        return model(self.tree).topical_counts(counts, masses, placed)


class AllHold(Model):
    """A model that looks at every document."""

    def holders(self, *_: object) -> None:
        """All may hold anything."""


@pytest.fixture(
    scope="module",
    params=[{"children": 3, "height": 2, "lookahead": False}, {"children": 3, "height": 3}],
    ids=["few", "many"],
)
def built(request: pytest.FixtureRequest) -> Planted:
    """With as many fine topics as children, or with more."""
    table = plant(1, documents=DOCUMENTS, length=60, children=3, words=WIDTH, alpha0=0.5).counts
    with pytest.MonkeyPatch.context() as patch:  # as text is, whose spectrum has no end
        patch.setattr("strod.model.decompose.may_end", lambda *_: False)
        tree, book = grown(table, **request.param)
    assert len(tree.splits) == 4
    assert [len(tree.nodes[child(tree, place)].children) for place in (1, 2, 3)] == [3, 3, 3]
    kept = thinning(np.asarray(table.sum(axis=0)).ravel(), THIN)
    (shard,) = matrix_shards(table)
    return Planted(
        tree, book, root_counts(shard.counts, kept, CLIP), kept.astype(np.float64), table
    )


def fresh(built: Planted) -> Grown:
    """The same tree, to be changed."""
    nodes = {
        name: replace(node, components=list(node.components), children=list(node.children))
        for name, node in built.tree.nodes.items()
    }
    return Grown(nodes, dict(built.tree.splits))


def child(tree: Grown, *places: int) -> str:
    name = ROOT
    for number in places:
        name = tree.nodes[name].children[number - 1]
    return name


def mixed(built: Planted) -> tuple[Grown, str]:
    """A tree after a move between branches and a merge: a topic of two decompositions."""
    tree = fresh(built)
    moved, target = child(tree, 1, 1), child(tree, 2)
    revise.move(tree, moved, target)
    (whole,) = revise.merge(tree, [moved, child(tree, 2, 1)]).new
    assert len({part.split for part in tree.nodes[whole].components}) == 2
    return tree, whole


# -- loops -------------------------------------------------------------------------------


def naive_shares(built: Planted, parts: Sequence[Component], document: int) -> float:
    """Share of a mass in one document."""
    if not parts:
        return 1.0
    total = 0.0
    for name, fine in parts:
        split = built.tree.splits[name]
        found = built.book.kept().read(name, document, 1)
        own = dict(zip(found.indices.tolist(), found.values.tolist(), strict=True))
        if not own:
            own = dict(enumerate(split.overlap.weights.tolist()))
        share = naive_shares(built, split.components, document)
        total += share * sum(own.get(topic, 0.0) for topic in fine)
    return total


def naive_counts(built: Planted, parts: Sequence[Component], document: int) -> dict[int, float]:
    """For each word of a document the chance that its tokens belong to a mass."""
    whole = built.counts
    where = slice(whole.indptr[document], whole.indptr[document + 1])
    tokens = dict(zip(whole.indices[where].tolist(), whole.tokens[where].tolist(), strict=True))
    if not parts:
        return dict(
            zip(whole.indices[where].tolist(), whole.probability[where].tolist(), strict=True)
        )
    total: dict[int, float] = {}
    for name, fine in parts:
        split = built.tree.splits[name]
        above = naive_counts(built, split.components, document)
        length = sum(tokens[word] * chance for word, chance in above.items())
        found = built.book.kept().read(name, document, 1)
        theta = {
            topic: np.exp(psi(PRIOR + share * length))
            for topic, share in zip(found.indices.tolist(), found.values.tolist(), strict=True)
        }
        chances = {}
        for word, chance in above.items():
            fit = {topic: weight * split.topics.words[word, topic] for topic, weight in
                   theta.items()}  # fmt: skip
            own = sum(value for topic, value in fit.items() if topic in fine)
            if fit and own / sum(fit.values()) >= (1 - ROUNDED) * min(
                UNLIKELY, MANY / split.topics.size
            ):
                chances[word] = chance * own / sum(fit.values())
        if sum(tokens[word] * chance for word, chance in chances.items()) >= SILENT:
            for word, chance in chances.items():
                total[word] = total.get(word, 0.0) + chance
    return {word: min(chance, 1.0) for word, chance in total.items()}


def naive_weight(tree: Grown, parts: Sequence[Component]) -> float:
    if not parts:
        return 1.0
    total = 0.0
    for name, fine in parts:
        for topic in fine:
            own = float(tree.splits[name].overlap.weights[topic])
            total += naive_weight(tree, tree.splits[name].components) * own
    return total


def masses(built: Planted) -> dict[str, list[Component]]:
    """Of one part and of several, of one decomposition and of several."""
    tree, whole = mixed(built)
    own = {name: node.components for name, node in tree.nodes.items()}
    far = [child(built.tree, 1, 2), child(built.tree, 2, 2), child(built.tree, 3, 2)]
    return own | {
        "whole": tree.nodes[whole].components,
        "far": revise.combined(built.tree.nodes[name].components for name in far),
        "high and low": [
            *built.tree.nodes[child(built.tree, 1)].components,
            *built.tree.nodes[child(built.tree, 2, 3)].components,
        ],
    }


# -- masses ------------------------------------------------------------------------------


def test_shares_of_several_parts(built: Planted) -> None:
    wanted = masses(built)
    nodes = {name: Node(name, None, 0, parts, built.kept) for name, parts in wanted.items()}
    tree = Grown(nodes, built.tree.splits)
    found = document_shares(tree, built.book, 0, DOCUMENTS)
    for name, parts in wanted.items():
        for document in range(0, DOCUMENTS, STEP):
            expected = naive_shares(built, parts, document)
            assert found[name][document] == pytest.approx(expected, abs=1e-12), name


def test_children_add_up_after_moves_and_merges(built: Planted) -> None:
    tree, _ = mixed(built)
    gone, heir = child(tree, 3, 1), child(tree, 3, 2)
    revise.remove(tree, gone, revise.all_to(tree, gone, heir))
    revise.move(tree, child(tree, 3), child(tree, 1))
    found = document_shares(tree, built.book, 0, DOCUMENTS)
    for name, node in tree.nodes.items():
        if node.children:
            together = sum(found[below] for below in node.children)
            np.testing.assert_allclose(together, found[name], atol=1e-6)


def test_topical_counts_of_several_parts(built: Planted) -> None:
    wanted = masses(built)
    found = built.topical_counts(list(wanted.values()))
    tokens = built.counts.table(built.counts.tokens.astype(np.float64)).toarray()
    for (name, parts), counts in zip(wanted.items(), found, strict=True):
        assert counts.size == DOCUMENTS
        assert (np.diff(counts.indptr) >= 0).all()
        dense = counts.table(counts.probability.astype(np.float64)).toarray()
        kept = counts.table(counts.tokens.astype(np.float64)).toarray()
        assert (kept[dense > 0] == tokens[dense > 0]).all()
        for document in range(0, DOCUMENTS, STEP):
            expected = np.zeros(built.counts.width)
            for word, chance in naive_counts(built, parts, document).items():
                expected[word] = chance
            np.testing.assert_allclose(dense[document], expected, atol=2e-6, err_msg=name)


def test_topical_counts_of_a_sample(built: Planted) -> None:
    """Documents that are left out leave the others as they are."""
    wanted = list(masses(built).values())
    chosen = np.arange(DOCUMENTS) % 3 == 0
    every, some = built.topical_counts(wanted), built.topical_counts(wanted, chosen)
    for one, two in zip(every, some, strict=True):
        part = one.sample(chosen)
        for field in ("indptr", "indices", "tokens", "probability"):
            assert np.array_equal(getattr(part, field), getattr(two, field))


def test_who_holds_nothing_is_not_looked_at(built: Planted) -> None:
    """Holders are all documents with a share or with counts of a mass, and hardly any others."""
    placed, left_out = Placed(0, DOCUMENTS, built.book.kept()), 0
    for name, parts in masses(built).items():
        [counts] = built.topical_counts([parts])
        shares = model(built.tree).masses(placed).of(parts)
        held = model(built.tree).holders(placed, [parts])
        if not parts:
            assert held is None
            continue
        assert held is not None
        assert held.tolist() == np.flatnonzero(shares > 0).tolist(), name
        assert set(np.flatnonzero(counts.sizes)) <= set(held)
        left_out += DOCUMENTS - len(held)
    assert left_out > DOCUMENTS


def test_a_sample_and_shares_of_the_holders_alone(built: Planted) -> None:
    """The same as of all documents, to the last bit."""
    split = next(name for name in built.tree.splits if built.tree.splits[name].components)
    whole = model(built.tree, built.kept.astype(np.float32))
    (ref,) = matrix_shards(built.table)
    wanted = [Wanted(parts, rate) for parts in masses(built).values() if parts for rate in (1, 0.5)]
    kept = built.book.kept()
    every = AllHold(*(getattr(whole, field) for field in whole.__dataclass_fields__))
    for fresh, some in (([split], wanted), ([split], []), ([], wanted)):
        one, two = place(ref, whole, kept, fresh, some), place(ref, every, kept, fresh, some)
        for found, expected in zip(one.shares, two.shares, strict=True):
            assert [a.tobytes() for a in found] == [a.tobytes() for a in expected]
        for part, other in zip(one.samples, two.samples, strict=True):
            for field in ("indices", "tokens", "probability"):
                assert getattr(part, field).tobytes() == getattr(other, field).tobytes()


@pytest.mark.parametrize("verb", ["merge", "move", "split"])
def test_documents_elsewhere_are_not_counted_again(built: Planted, verb: str) -> None:
    """Weights and documents of the topics below are those of a count of everything."""
    tree = fresh(built)
    before = structure(tree.nodes)
    if verb == "merge":
        plan = revise.merge(tree, [child(tree, 1, 1), child(tree, 1, 2)])
    elif verb == "move":
        plan = revise.move(tree, child(tree, 1, 1), child(tree, 2))
    else:
        plan = revise.Plan(new=tuple(tree.nodes[child(tree, 3)].children))
    part = affected(structure(tree.nodes), before, plan.counted)
    every = affected(structure(tree.nodes), None)
    (ref,) = matrix_shards(built.table)
    own = ground([ref], np.ones(WIDTH), TreeOptions(), built.book)
    some, whole = counted_documents(tree, own, part), counted_documents(tree, own, every)
    assert set(plan.counted) - set(part.steps) <= set(part.below)
    assert (len(part.below) < len(tree.nodes) - 1) == (verb != "move")
    assert some == tuple({name: one[name] for name in part.below} for one in whole)
    for name in set(tree.nodes) & set(built.tree.nodes) - set(part.below):
        was = affected(before, None)
        assert whole[2][name] == counted_documents(fresh(built), own, was)[2][name]


def test_words_and_weights_of_several_parts(built: Planted) -> None:
    tree, _ = mixed(built)
    for name, parts in masses(built).items():
        assert revise.mass_weight(tree, parts) == pytest.approx(naive_weight(tree, parts))
        if not parts:
            continue
        expected = np.zeros(built.counts.width)
        for one, fine in parts:
            own = np.zeros(built.counts.width)
            for topic in fine:
                own += tree.splits[one].topics.counts[topic].astype(np.float64)
            own /= built.kept
            own[own < 1e-9 * own.max()] = 0
            expected += naive_weight(tree, [Component(one, fine)]) * own / own.sum()
        expected /= expected.sum()
        found = revise.mixed_words(tree, parts, built.kept)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12, err_msg=name)


def test_the_weight_of_what_many_removed_topics_left(built: Planted) -> None:
    """Each is made of all those before it: sums over ways would take for ever."""
    split = replace(built.tree.splits[ROOT], components=[])
    splits, weights = {"r0": split}, [1.0]
    own = float(split.overlap.weights[0])
    for number in range(1, 60):
        parts = [Component(f"r{before}", [0]) for before in range(number)]
        splits[f"r{number}"] = replace(split, components=parts)
        weights.append(sum(own * weight for weight in weights))
    found = revise.mass_weight(Grown({}, splits), [Component("r59", [0])])
    assert found == pytest.approx(own * weights[-1])


def test_words_that_vanishing_shares_leave_behind_are_none(built: Planted) -> None:
    split = built.tree.splits[ROOT]
    counts = np.full_like(split.topics.counts, 2)
    counts[0, :3] = 1e-25, 1e-8, 1e-10
    changed = Grown({}, {ROOT: replace(split, topics=FineTopics(counts))})
    found = revise.mixed_words(changed, [Component(ROOT, [0])], np.ones(WIDTH))
    assert found.tolist()[:3] == [0, pytest.approx(1e-8 / (2 * (WIDTH - 3))), 0]
    assert found.sum() == pytest.approx(1)


# -- sums of counts ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_added_rows_that_overlap(seed: int, number: int) -> None:
    """Words that stand in one part, in several or in none; documents that are empty."""
    random = np.random.default_rng(seed)
    documents, width = 9, 7
    tokens = random.integers(0, 4, (documents, width)).astype(np.float32)
    tokens[3] = 0
    chances = random.dirichlet(np.full(number + 1, 0.7), (documents, width))[..., :number]
    chances[random.random(chances.shape) < 0.4] = 0
    parts = []
    for column in range(number):
        own = chances[..., column].astype(np.float32)
        parts.append(topical(np.where(own > 0, tokens, 0), own))
    found = added(parts)
    held = (chances > 0).any(axis=2) & (tokens > 0)
    dense = found.table(found.probability.astype(np.float64)).toarray()
    np.testing.assert_allclose(dense, np.where(held, chances.sum(axis=2), 0), atol=1e-6)
    kept = found.table(found.tokens.astype(np.float64)).toarray()
    assert (kept == np.where(held, tokens, 0)).all()
    assert found.size == documents
    assert found.width == width
    for document in range(documents):
        row = found.indices[found.indptr[document] : found.indptr[document + 1]]
        assert row.tolist() == sorted(set(row.tolist()))


def test_added_chances_are_no_more_than_one() -> None:
    rows = [[2, 0, 1]]
    found = added([topical(rows, 0.7), topical(rows, 0.6)])
    assert found.probability.tolist() == [1, 1]
    one = random_counts(0)
    assert added([one]) is one


def test_groups_of_a_list_are_disjoint() -> None:
    groups = [(0, 1), (0, 2), (1,), (2,), (3, 4), (4,)]
    lists = disjoint(groups)
    assert sorted(group for some in lists for group in some) == sorted(groups)
    for some in lists:
        every = [topic for group in some for topic in group]
        assert len(every) == len(set(every))


def test_decompositions_come_after_those_they_are_made_of(built: Planted) -> None:
    tree, whole = mixed(built)
    first = next(iter(tree.splits.values()))
    tree.splits["late"] = replace(first, components=tree.nodes[whole].components)
    tree.splits["later"] = replace(first, components=[Component("late", [0]), Component(ROOT, [1])])
    order = ordered(tree.splits, ["later", ROOT, "late"])
    assert sorted(order) == sorted(set(order))
    for name in order:
        for part in tree.splits[name].components:
            assert order.index(part.split) < order.index(name)


# -- verbs -------------------------------------------------------------------------------


def test_combined() -> None:
    found = revise.combined(
        [[Component("o", [4, 1])], [Component("x", [2])], [Component("o", [0]), Component("x", [])]]
    )
    assert found == [Component("o", [0, 1, 4]), Component("x", [2])]
    assert revise.combined([]) == []


def test_merge_of_leaves(built: Planted) -> None:
    tree = fresh(built)
    names = [child(tree, 1, 1), child(tree, 1, 3)]
    old = {name: tree.nodes[name] for name in names}
    parent = child(tree, 1)
    assert revise.merge(tree, names) == revise.merge(fresh(built), names[::-1])
    (whole,) = set(tree.nodes[parent].children) - set(built.tree.nodes[parent].children)
    parts = revise.combined(
        old[name].components for name in built.tree.nodes[parent].children if name in names
    )
    assert whole == revise._merged_id(names, parts)
    node = tree.nodes[whole]
    assert (node.parent, node.level, node.children) == (parent, 2, [])
    assert node.reason == old[names[0]].reason
    assert node.alpha == sum(one.alpha for one in old.values())
    assert node.components == revise.combined(one.components for one in old.values())
    assert not set(names) & set(tree.nodes)
    assert tree.nodes[parent].components == built.tree.nodes[parent].components


def test_the_id_of_a_merged_topic_is_of_a_text_that_is_written_out() -> None:
    """No class or field that gets another name may change it."""
    found = revise._merged_id(["b", "a"], [Component("o", [0, 3]), Component("1f", [2])])
    text = "a+b/[Part(split='o', fine=[0, 3]), Part(split='1f', fine=[2])]"
    assert found == sha256(text.encode()).hexdigest()[:12] == "2841a586b878"


def test_merge_with_a_leaf(built: Planted) -> None:
    """The leaf becomes a child, a level lower, so that children add up."""
    tree = fresh(built)
    leaf, other = child(tree, 1), child(tree, 2)
    below = list(tree.nodes[other].children)
    revise.collapse(tree, leaf)
    (whole,) = revise.merge(tree, [leaf, other]).new
    assert set(tree.nodes[whole].children) == {leaf, *below}
    assert other not in tree.nodes
    for name in tree.nodes[whole].children:
        assert (tree.nodes[name].parent, tree.nodes[name].level) == (whole, 2)


def test_levels_follow_a_move(built: Planted) -> None:
    tree = fresh(built)
    moved, target = child(tree, 1), child(tree, 2)
    assert revise.move(tree, moved, target).touched == (target,)
    assert [tree.nodes[name].level for name in (moved, child(tree, 1))] == [2, 1]
    for name in tree.nodes[moved].children:
        assert tree.nodes[name].level == 3
    assert set(revise.descendants(tree, target)) >= {moved, *tree.nodes[moved].children}
    order = list(tree.nodes)
    for name, node in tree.nodes.items():
        assert node.parent is None or order.index(node.parent) < order.index(name)


def test_move_touches_what_is_not_above_both(built: Planted) -> None:
    tree = fresh(built)
    one, two, leaf = child(tree, 1), child(tree, 2), child(tree, 1, 1)
    assert set(revise.move(tree, leaf, two).touched) == {one, two}
    assert tree.nodes[one].components == revise.combined(
        tree.nodes[name].components for name in tree.nodes[one].children
    )
    assert set(revise.move(tree, leaf, ROOT).touched) == {two}
    before = built.tree.nodes[two]
    assert {part.split for part in tree.nodes[two].components} == {two}
    assert sorted(tree.nodes[two].components[0].fine) == list(range(3))
    assert before.components == built.tree.nodes[two].components


def test_the_last_child_is_removed(built: Planted) -> None:
    tree = fresh(built)
    parent = child(tree, 1)
    for _ in range(3):
        last = revise.remove(tree, child(tree, 1, 1), Legacy())
    assert (last.new, last.touched, len(last.gone)) == ((), (), 1)
    node = tree.nodes[parent]
    assert (node.children, node.alpha0, node.reason) == ([], 0.0, "collapsed")


@pytest.mark.parametrize("verb", ["collapse", "merge", "remove", "move"])
def test_what_cannot_be_done_is_not_begun(built: Planted, verb: str) -> None:
    tree = fresh(built)
    one, two, leaf = child(tree, 1), child(tree, 2), child(tree, 1, 1)
    only = fresh(built)
    for _ in range(2):
        revise.remove(only, child(only, 1, 1), Legacy())
    attempts: dict[str, list[Any]] = {
        "collapse": [(tree, leaf)],
        "merge": [
            (tree, [one]), (tree, [one, one]), (tree, [one, leaf]), (tree, [ROOT, one]),
            (tree, [one, ROOT]), (only, [child(only, 2, 1), child(only, 1, 1)]),
        ],
        "remove": [(tree, ROOT, Legacy())],
        "move": [
            (tree, ROOT, one), (tree, one, one), (tree, one, leaf), (tree, leaf, one),
            (only, child(only, 1, 1), two),
        ],
    }  # fmt: skip
    for some, *arguments in attempts[verb]:
        before = {name: replace(node) for name, node in some.nodes.items()}
        with pytest.raises(UsageError):
            getattr(revise, verb)(some, *arguments)
        assert list(some.nodes) == list(before)
        for name, node in some.nodes.items():
            assert vars(node) | {"words": 0} == vars(before[name]) | {"words": 0}
