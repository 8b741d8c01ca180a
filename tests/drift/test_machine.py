"""Random verbs of a tree that lives: documents come, some are replaced, topics are made of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from strod.errors import UsageError
from strod.values.shares import late_splits
from tests.chance import drawn, long_but, part_of
from tests.drift.conftest import own_texts, records, strange_texts
from tests.revise.seen import (
    Scope,
    above,
    check_change,
    check_documents,
    check_files,
    check_paths,
    check_scope,
    state_of,
)
from tests.revise.seen import check_tree as check_plain_tree
from tests.revise.test_machine import OFTEN, PLACES, SOMETIMES, Revisions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.workspace.workspace import Workspace

EXAMPLES, STEPS = 100, 6
PARTS = 10  # so that processes can share them; the first is for every day
REFUSALS = ("it takes 30 to make a topic", "has no children", "are too short")


def check_tree(workspace: Workspace, *, plain: bool) -> None:
    """Of every document, children and rest have what their parent has; so have the weights.

    Topics of documents that were added come on top of the weights, which are those of the
    documents that the tree was built from.
    """
    if plain:
        check_plain_tree(workspace)
        return
    tree = workspace.tree
    shares = tree.shares()
    assert workspace.manifest.tree.topics == len(tree) == len(tree.nodes)
    check_documents(workspace)
    grown = late_splits(tree.splits)
    for topic in tree.values():
        assert abs(topic.distribution.sum() - 1) < 1e-9
        if not topic.children:
            continue
        parts = [shares[child.id] for child in topic.children]
        together = np.sum([*parts, shares.rests.get(topic.id, 0 * parts[0])], axis=0)
        np.testing.assert_allclose(together, shares[topic.id], atol=1e-5)
        nodes = [tree.nodes[child.id] for child in topic.children]
        below = sum(node.weight - node.surplus for node in nodes) + topic.rest
        rest_has_grown = grown & {part.split for part in tree.nodes[topic.id].rest}
        assert below >= topic.weight - 1e-5
        assert rest_has_grown or below <= topic.weight + 1e-5
        for node in nodes:
            assert -1e-9 <= node.surplus <= node.weight + 1e-9
            assert not node.surplus or grown & {part.split for part in node.components}


class Living(Revisions):
    """A workspace to which documents are added, too."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = 0

    def settle(self) -> None:
        check_tree(self.workspace, plain=len(self.workspace.corpus.segments) == 1)
        self.files = check_files(self.workspace, self.files)

    def published(self) -> None:
        """A new revision is there."""
        self.done.append(state_of(self.workspace))
        self.dropped += len(self.undone)
        self.undone.clear()

    @initialize(grown=OFTEN)
    def begin(self, grown: bool) -> None:
        """Strangers are there, or have topics already: else few verbs would see them."""
        self.add(40, replaced=False, dry=False)
        if grown:
            self.grow(0, anywhere=True, dry=False)

    @rule(strange=st.sampled_from([0, 6, 40, 40]), replaced=SOMETIMES, dry=OFTEN)
    def add(self, strange: int, replaced: bool, dry: bool) -> None:
        """Numbers of topics stay; what was said beforehand is what is said afterwards."""
        self.batches += 1
        seed = 100 + self.batches
        new = records(strange_texts(strange, seed), f"new{seed}-") if strange else []
        new += records(own_texts(20, seed), f"own{seed}-")
        if replaced:
            ids = [name for shard in self.workspace.corpus.shards() for name in shard.ids]
            given = dict(zip(ids[:: 1 + seed % 3], new, strict=False))
            new = [{**record, "id": name} for name, record in given.items()]
        planned = None
        if dry:
            planned = self.workspace.add(new, replace=replaced, dry_run=True, workers=1)
            self.unchanged()
        before = self.topics
        found = self.workspace.add(new, replace=replaced, workers=1)
        assert planned in (None, found)
        self.published()
        check_scope(before, self.topics, Scope(set(), set(), set()))
        self.settle()

    @rule(place=PLACES, anywhere=OFTEN, dry=OFTEN)
    def grow(self, place: int, anywhere: bool, dry: bool) -> None:
        """Every other topic is what it was; those above have new parts, and the same numbers."""
        name = "o" if anywhere else self.pick(place, False, self.parents)
        topic = self.spoken(name, place)
        before, planned = self.topics, None
        old_shares, ids = self.workspace.tree.shares(), self._ids()

        def act(**how: Any) -> Any:
            return self.workspace.grow(topic, workers=1, **how)

        try:
            if dry:
                planned = act(dry_run=True)
                self.unchanged()
            change = act(note="why")
        except UsageError as error:
            assert any(text in str(error) for text in REFUSALS)  # noqa: PT017
            self.unchanged()
            return
        self.published()
        line = above(self.topics, name)
        for one, old in before.items():
            now = self.topics[one].numbers
            assert now._replace(parts="") == old.numbers._replace(parts="")
            assert one in line or now == old.numbers
        check_change(before, self.topics, change)
        check_paths(before, self.topics, change)
        assert planned is None or planned.as_dictionary() == change.as_dictionary()
        self._check_shares(old_shares, ids, set(change.added))
        self.settle()

    def _ids(self) -> list[str]:
        return [name for shard in self.workspace.corpus.shards() for name in shard.ids]

    def _check_shares(self, old: Any, ids: list[str], new: set[str]) -> None:
        """Documents that are in no new topic have, to the last bit, the shares they had."""
        assert self._ids() == ids
        shares = self.workspace.tree.shares()
        stay = np.sum([shares[name] for name in new], axis=0) == 0
        for name in old:
            assert np.array_equal(shares[name][stay], old[name][stay]), name


def living(base: Path) -> type[Living]:
    """The machine over copies of a workspace."""
    return type("Machine", (Living,), {"base": base})


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("part", long_but([0], range(PARTS)))
def test_a_tree_that_lives(metals: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here
    run_state_machine_as_test(
        part_of(living(metals), part),
        settings=settings(
            max_examples=drawn(EXAMPLES // PARTS),
            stateful_step_count=STEPS,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_grown_topic_that_is_moved_is_what_it_was(metals: Path) -> None:
    """Found by chance: its alpha of 0 became 1."""
    one = living(metals)()
    one.begin(grown=True)
    one.move(dry=False, place=29, under=0, wild=False)
    one.teardown()


def test_a_topic_may_weigh_more_than_the_corpus(workspace: Workspace) -> None:
    """Found by chance: what was grown comes on top, and was put where nearly everything is."""
    workspace.add(records(strange_texts(400, 101), "new"))
    grown = workspace.grow().added
    [whole] = workspace.merge("o/1", "o/2", "o/3").added
    workspace.remove(grown[0], into=whole)
    assert workspace.tree[whole].weight > 1 + 1e-3
    assert workspace.check() == []


def test_all_documents_replaced(workspace: Workspace) -> None:
    """None is left of those that the tree was built from; all that are there were added."""
    ids = [name for shard in workspace.corpus.shards() for name in shard.ids]
    texts = [*strange_texts(60, 71), *own_texts(len(ids) - 60, 72)]
    workspace.add([{"id": i, "text": t} for i, t in zip(ids, texts, strict=True)], replace=True)
    assert [one.added for one in workspace.corpus.about.segments] == [True]
    change = workspace.grow()
    paths = {workspace.tree[name].path for name in change.added}
    rows = list(workspace.assign())
    moved = np.array([row["leaf"] in paths for row in rows])
    assert moved[:60].mean() >= 0.9
    assert moved[60:].mean() <= 0.1
    assert workspace.check() == []


def test_another_number_of_children_where_some_were_grown(workspace: Workspace) -> None:
    """Found by chance: what was decomposed apart was taken for a decomposition of the whole."""
    workspace.add(records(strange_texts(40, 101), "new"))
    workspace.grow()
    workspace.expand("o", 4)
    check_tree(workspace, plain=False)


def test_a_grown_topic_that_is_put_into_the_whole(workspace: Workspace) -> None:
    """Found by chance: what comes on top of the weights may be in no child."""
    workspace.add(records(strange_texts(), "new"))
    workspace.grow()
    grown = [topic.id for topic in workspace.tree.root.children if topic.path > "o/3"]
    whole = workspace.merge("o/3", *grown).added[0]
    workspace.remove(whole, into="o")
    check_tree(workspace, plain=False)
    assert workspace.check() == []


AWAY: dict[str, Callable[[Workspace, str], Any]] = {
    "move": lambda w, grown: w.move(grown, "o/2"),
    "merge with one elsewhere": lambda w, grown: w.merge(w.tree["o/2"].children[0].path, grown),
    "remove into one elsewhere": lambda w, grown: w.remove(
        grown, into=w.tree["o/2"].children[0].path
    ),
    "split it and move a half": lambda w, grown: (
        w.expand(grown, 2, fresh=True, force=True),
        w.move(w.tree[grown].children[0].path, "o/2"),
    ),
    "move what it was merged with": lambda w, grown: w.move(
        w.merge(grown, w.tree["o/1"].children[0].path).added[0], "o/2"
    ),
}


@pytest.mark.parametrize("verb", AWAY)
def test_what_was_grown_below_a_topic_and_leaves_it(workspace: Workspace, verb: str) -> None:
    """The weight that its parent never had is not taken from it; elsewhere it comes on top, too."""
    workspace.expand("o/1", 3, fresh=True)
    workspace.expand("o/2", 2, fresh=True)
    workspace.add(records(strange_texts(), "new"))
    before = {topic.id: topic.weight for topic in workspace.tree.values()}
    grown = workspace.grow("o/1").added
    tops = workspace.tree["o/1"], workspace.tree["o/2"]
    surplus = tops[0].surplus
    assert surplus > 0.01
    AWAY[verb](workspace, workspace.tree[grown[0]].path)
    assert workspace.check() == []
    check_tree(workspace, plain=False)
    total = sum(workspace.tree[top.id].weight for top in tops)
    assert abs(total - sum(before[top.id] for top in tops)) < 1e-9
    assert abs(sum(workspace.tree[top.id].surplus for top in tops) - surplus) < 1e-9
