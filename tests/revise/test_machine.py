"""Random verbs, one after the other, against a plain model of what each may touch."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from strod.errors import UsageError
from strod.values.topic import ROOT
from strod.wording import is_blank
from strod.workspace.workspace import Workspace
from tests.chance import drawn, long_but, part_of
from tests.revise.seen import (
    Scope,
    above,
    below,
    check_change,
    check_files,
    check_paths,
    check_scope,
    check_tree,
    files_of,
    scope_of_collapse,
    scope_of_expand,
    scope_of_merge,
    scope_of_move,
    scope_of_remove,
    scope_of_remove_into,
    siblings,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.workspace.change import Change
    from tests.revise.seen import State, Topics

    Act = Callable[..., Change]

EXAMPLES, STEPS = 300, 6
PARTS = 10  # so that processes can share them; the first is for every day

PLACES = st.integers(0, 30)
SOMETIMES = st.integers(0, 3).map(lambda number: number == 3)
OFTEN = st.booleans()
PATH = re.compile(r"\s*(o|\d+)(/\d+)*/?\s*|\s+", re.IGNORECASE)  # names that would mislead
LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def same_name(one: str, other: str) -> bool:
    """Whether two topics may not be called so; no name is no obstacle."""
    first, second = (" ".join(name.split()).casefold() for name in (one, other))
    return bool(first) and first == second


class Revisions(RuleBasedStateMachine):
    """A workspace and what it must look like."""

    base: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="revisions-", dir=self.base.parent))
        self.workspace = Workspace(shutil.copytree(self.base, self.folder / "w.strod"))
        self.done = [state_of(self.workspace)]
        self.undone: list[State] = []
        self.dropped = 0  # undone, and then no longer to be had back
        self.files = files_of(self.workspace)
        topics = self.topics
        self.born = {name: topic.numbers for name, topic in topics.items()}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # -- the model -----------------------------------------------------------------------

    @property
    def topics(self) -> Topics:
        return self.done[-1].topics

    def pick(self, place: int, wild: bool, sensible: set[str]) -> str:
        """Some topic, by id; a sensible one unless it is a wild guess."""
        names = [name for name in self.topics if wild or name in sensible] or list(self.topics)
        return names[place % len(names)]

    @property
    def parents(self) -> set[str]:
        return {name for name, topic in self.topics.items() if topic.children}

    @property
    def divisible(self) -> set[str]:
        """Topics of several fine topics."""
        nodes = self.workspace.tree.nodes
        return {
            name
            for name, node in nodes.items()
            if name == ROOT or sum(len(part.fine) for part in node.components) > 1
        }

    def spoken(self, name: str, place: int) -> str:
        """A topic as a user may name it: by path or by id."""
        return name if place % 2 else self.workspace.tree[name].path

    def unchanged(self) -> None:
        """Not a byte differs, here or beside the workspace."""
        assert files_of(self.workspace) == self.files
        assert self.workspace.manifest.tree.topics == len(self.topics)

    def refused(self, act: Act) -> None:
        """The verb says in one line that it cannot be done, and nothing is done."""
        for dry_run in (True, False):
            with pytest.raises(UsageError) as raised:
                act(dry_run=dry_run, workers=1)
            assert len(str(raised.value).splitlines()) == 1
            self.unchanged()

    def act(self, act: Act, scope: Scope, *, rehearse: bool) -> Change | None:
        """Carry out a verb and check all there is to check; None if it was refused."""
        planned = None
        try:
            if rehearse:
                planned = act(dry_run=True, workers=1)
                self.unchanged()
            change = act(dry_run=False, workers=1, note="why")
        except UsageError as error:
            assert "cannot be split" in str(error)  # the only thing the model cannot foresee  # noqa: PT017
            self.unchanged()
            return None
        before = self.topics
        self.done.append(state_of(self.workspace))
        self.dropped += len(self.undone)
        self.undone.clear()
        check_scope(before, self.topics, scope)
        check_change(before, self.topics, change)
        check_paths(before, self.topics, change)
        if planned is not None:
            assert planned.what == change.what
            assert planned.as_dictionary() == change.as_dictionary()
            check_change(before, self.topics, planned)
            check_paths(before, self.topics, planned)
        self.settle()
        return change

    def settle(self) -> None:
        check_tree(self.workspace)
        self.files = check_files(self.workspace, self.files)

    def welcome(self, names: list[str]) -> None:
        """An id that was there before comes back as the topic that it was when it was new."""
        for name in names:
            found = self.topics[name].numbers
            assert self.born.setdefault(name, found).words == found.words

    # -- verbs ---------------------------------------------------------------------------

    @rule(
        place=PLACES,
        children=st.sampled_from([2, 3, 4, "auto"]),
        fresh=SOMETIMES,
        wild=SOMETIMES,
        dry=OFTEN,
    )
    def expand(self, place: int, children: int | str, fresh: bool, wild: bool, dry: bool) -> None:
        name = self.pick(place, wild, self.divisible)
        topic = self.spoken(name, place)
        own = self.topics[name].children
        pinned = {child for child in own if self.topics[child].numbers.pinned}

        def act(**how: Any) -> Change:
            return self.workspace.expand(topic, children, fresh=fresh, **how)

        if (pinned and pinned == own) or (isinstance(children, int) and children - len(pinned) < 2):
            self.refused(act)
        else:
            change = self.act(act, scope_of_expand(self.topics, name), rehearse=dry)
            if change is not None:
                assert pinned < self.topics[name].children
                assert isinstance(children, str) or len(self.topics[name].children) == children
                self.welcome(change.added)

    @rule(place=PLACES, wild=SOMETIMES, dry=OFTEN)
    def collapse(self, place: int, wild: bool, dry: bool) -> None:
        name = self.pick(place, wild, self.parents)
        topic = self.spoken(name, place)

        def act(**how: Any) -> Change:
            return self.workspace.collapse(topic, **how)

        if not self.topics[name].children:
            self.refused(act)
        elif self.act(act, scope_of_collapse(self.topics, name), rehearse=dry):
            assert not self.topics[name].children
            assert self.topics[name].reason == "collapsed"

    @rule(place=PLACES, others=st.sets(PLACES, min_size=1, max_size=2), wild=SOMETIMES, dry=OFTEN)
    def merge(self, place: int, others: set[int], wild: bool, dry: bool) -> None:
        first = self.pick(place, wild, set(self.topics) - {ROOT})
        family = siblings(self.topics, first)
        names = list(dict.fromkeys([first, *(self.pick(n, wild, family) for n in others)]))
        places = [place, *others][: len(names)]
        topics = [self.spoken(name, place) for name, place in zip(names, places, strict=True)]

        def act(**how: Any) -> Change:
            return self.workspace.merge(*topics, **how)

        parents = {self.topics[name].parent for name in names}
        emptied = {
            one
            for one in parents - {self.topics[first].parent, None}
            if self.topics[str(one)].children <= set(names)
        }
        nested = any((above(self.topics, name) - {name}) & set(names) for name in names)
        if len(names) < 2 or None in parents or emptied or nested:
            self.refused(act)
            return
        old = self.topics
        change = self.act(act, scope_of_merge(self.topics, names), rehearse=dry)
        assert change is not None
        (whole,) = change.added
        children = {name: old[name].children for name in names}
        expected = set().union(*(children[name] or {name} for name in names))
        kept = self.topics[whole].children
        assert kept == (expected if any(children.values()) else set())
        weight = sum(old[name].numbers.weight for name in names)
        assert abs(self.topics[whole].numbers.weight - weight) < 1e-9
        assert self.topics[whole].parent == old[first].parent
        self.welcome([whole])

    @rule(place=PLACES, dry=OFTEN)
    def remove(self, place: int, dry: bool) -> None:
        name = self.pick(place, True, set())
        topic = self.spoken(name, place)

        def act(**how: Any) -> Change:
            return self.workspace.remove(topic, **how)

        if self.topics[name].parent is None:
            self.refused(act)
        else:
            change = self.act(act, scope_of_remove(self.topics, name), rehearse=dry)
            assert change is not None
            assert change.added == []
            assert name in change.removed

    @rule(place=PLACES, under=PLACES, wild=SOMETIMES, dry=OFTEN)
    def remove_into(self, place: int, under: int, wild: bool, dry: bool) -> None:
        name = self.pick(place, wild, set(self.topics) - {ROOT})
        heir = self.pick(under, wild, siblings(self.topics, name))
        topic, goal = self.spoken(name, place), self.spoken(heir, under)

        def act(**how: Any) -> Change:
            return self.workspace.remove(topic, into=goal, **how)

        parent, into = self.topics[name].parent, self.topics[heir]
        home = heir if heir in above(self.topics, name) else into.parent
        if (
            parent is None
            or heir in {name} | below(self.topics, name)
            or (home != parent and self.topics[parent].children == {name})
        ):
            self.refused(act)
            return
        old = self.topics
        change = self.act(act, scope_of_remove_into(old, name, heir), rehearse=dry)
        assert change is not None
        assert change.added == []
        assert set(change.removed) == {name} | below(old, name)
        gained = self.topics[heir].numbers.weight - into.numbers.weight
        if heir not in above(old, name):
            assert abs(gained - old[name].numbers.weight) < 1e-9
        elif self.topics[heir].children:
            rest = change.rests[heir]
            assert abs(rest[1] - rest[0] - old[name].numbers.weight) < 1e-9

    @rule(place=PLACES, under=PLACES, wild=SOMETIMES, dry=OFTEN)
    def move(self, place: int, under: int, wild: bool, dry: bool) -> None:
        name = self.pick(place, wild, set(self.topics) - {ROOT})
        family = {name, self.topics[name].parent} | below(self.topics, name)
        target = self.pick(under, wild, set(self.topics) - family)
        topic, goal = self.spoken(name, place), self.spoken(target, under)

        def act(**how: Any) -> Change:
            return self.workspace.move(topic, goal, **how)

        parent, new = self.topics[name].parent, self.topics[target]
        if (
            parent is None
            or parent == target
            or target in {name} | below(self.topics, name)
            or len(self.topics[parent].children) == 1
        ):
            self.refused(act)
            return
        change = self.act(act, scope_of_move(self.topics, name, target), rehearse=dry)
        assert change is not None
        assert (len(change.added), change.removed) == (0 if new.children else 1, [])
        assert self.topics[name].parent == target
        if not new.children:  # it has what it was beside what was moved
            assert self.topics[target].children == {name, *change.added}
            weight = self.topics[change.added[0]].numbers.weight
            assert weight == new.numbers.weight

    @rule(place=PLACES, label=LABELS, dry=OFTEN)
    def rename(self, place: int, label: str, dry: bool) -> None:
        name = self.pick(place, True, set())
        topic = self.spoken(name, place)

        def act(**how: Any) -> Change:
            return self.workspace.rename(topic, label, **how)

        others = (topic.numbers.label for one, topic in self.topics.items() if one != name)
        blank = bool(label) and is_blank(label)
        if blank or PATH.fullmatch(label) or any(same_name(other, label) for other in others):
            self.refused(act)
            return
        self.act(act, Scope({name}, set(), set()), rehearse=dry)
        old = self.done[-2].topics[name].numbers
        now = self.topics[name].numbers
        assert now == old._replace(label=label or now.label)
        assert bool(now.label) == (bool(label) or name != ROOT)  # an empty name: the automatic one

    @rule(place=PLACES, pinned=st.booleans(), dry=OFTEN)
    def pin(self, place: int, pinned: bool, dry: bool) -> None:
        name = self.pick(place, True, set())
        topic = self.spoken(name, place)

        def act(**how: Any) -> Change:
            return self.workspace.pin(topic, pinned=pinned, **how)

        if name == ROOT:
            self.refused(act)
            return
        self.act(act, Scope({name}, set(), set()), rehearse=dry)
        old = self.done[-2].topics[name].numbers
        assert self.topics[name].numbers == old._replace(pinned=pinned)

    @rule(name=st.sampled_from(["o/99", "", "o/", "/", "000000000000", "p"]))
    def nonsense(self, name: str) -> None:
        if not any(same_name(topic.numbers.label, name) for topic in self.topics.values()):
            self.refused(lambda **how: self.workspace.rename(name, "x", **how))
        if len(self.done) == 1:
            self.refused(self.workspace.undo)
        if not self.undone:
            self.refused(self.workspace.redo)

    # -- to and fro ----------------------------------------------------------------------

    def step(self, act: Act, source: list[State], target: list[State]) -> None:
        before = self.topics
        planned = act(dry_run=True)
        self.unchanged()
        change = act()
        target.append(source.pop())
        assert state_of(self.workspace) == self.done[-1]
        assert planned.as_dictionary() == change.as_dictionary()
        for one in (planned, change):
            check_change(before, self.topics, one)
        self.settle()

    @precondition(lambda self: len(self.done) > 1)
    @rule()
    def undo(self) -> None:
        self.step(self.workspace.undo, self.done, self.undone)

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self) -> None:
        self.step(self.workspace.redo, self.undone, self.done)

    @precondition(lambda self: len(self.done) > 2)
    @rule()
    def to_the_start_and_back(self) -> None:
        steps = len(self.done) - 1
        for _ in range(steps):
            self.workspace.undo()
            self.undone.append(self.done.pop())
            assert state_of(self.workspace) == self.done[-1]
        assert self.done[-1].file == (self.base / "tree/revisions/00001.json").read_bytes()
        for name, data in files_of(self.workspace).items():
            assert self.files[name] == data or name.endswith("manifest.json")
        for _ in range(steps):
            self.workspace.redo()
            self.done.append(self.undone.pop())
            assert state_of(self.workspace) == self.done[-1]
        self.settle()

    @rule()
    def reopen(self) -> None:
        self.workspace = Workspace(self.workspace.path)
        assert state_of(self.workspace) == self.done[-1]
        assert self.workspace.check() == []
        history, about = self.workspace.history(), self.workspace.manifest.tree
        there = {*about.history, *about.undone}
        flags = [entry["undone"] for entry in history if entry["revision"] in there]
        assert flags == [False] * len(self.done) + [True] * len(self.undone)
        lost = [entry["undone"] for entry in history if entry["revision"] not in there]
        assert lost == [True] * self.dropped
        numbers = [entry["revision"] for entry in history]
        assert numbers == sorted(numbers)  # in the order in which they were made


def machine(base: Path) -> type[Revisions]:
    """The machine over copies of a workspace."""
    return type("Machine", (Revisions,), {"base": base})


def test_a_topic_that_is_all_there_is_has_a_name(workspace: Workspace) -> None:
    """Found by chance: the whole of level 1 merged is no more one thing than the root is."""
    workspace.move("o/2", "o/1")
    (whole,) = workspace.merge("o/1", "o/3").added
    workspace.rename(whole, "")
    (topic,) = workspace.tree.root.children
    assert topic.label
    assert topic.phrases
    root = [text for text, _ in workspace.tree.root.phrases]
    assert topic.phrases[0][0] in root


def test_a_name_of_two_lines_is_refused_in_one(planted: Path) -> None:
    """Found by chance: the message had the line breaks of the name."""
    one = machine(planted)()
    one.rename(place=3, label="\r\U000da6b0", dry=False)
    one.rename(place=15, label="\r\U000da6b0", dry=False)
    one.teardown()


def test_a_name_like_a_path_is_refused_in_any_letters(planted: Path) -> None:
    """Found by chance: the model of this test thought that `O` was a name."""
    one = machine(planted)()
    one.rename(place=6, label="O", dry=False)
    one.teardown()


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("part", long_but([0], range(PARTS)))
def test_revisions(planted: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here
    run_state_machine_as_test(
        part_of(machine(planted), part),
        settings=settings(
            max_examples=drawn(EXAMPLES // PARTS),
            stateful_step_count=STEPS,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
