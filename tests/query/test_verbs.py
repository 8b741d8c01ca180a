"""After any verbs, undo and new documents, the index answers as one that is made anew."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.errors import UsageError
from strod.query.derived import FOLDER
from strod.workspace.workspace import Workspace
from tests.chance import long_but
from tests.query.recount import Naive, drawn_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.query.recount import Record

VERBS, LOOKS = 50, 10  # verbs in a row, and after how many the answers are compared


def answers(workspace: Workspace) -> object:
    """Answers of every kind."""
    last = list(workspace.tree)[-1]
    found = workspace.search("riveroaka OR stonea", limit=0)
    some = workspace.search("river* -stonea", topic=last, where="year >= 1997", limit=5)
    return (
        workspace.slice(["venue", "year"]).to_pylist(),
        workspace.slice("when:quarter", topic=last, where="people = Ada").to_pylist(),
        workspace.placements().to_pylist(),
        workspace.documents(last, where="price > 0", limit=7, offset=1).to_pylist(),
        workspace.entities(last, "people"),
        workspace.entity("people", "Ada").to_pylist(),
        workspace.trends("year").as_dictionary() if len(workspace.tree) > 1 else None,
        found.as_dictionary(),
        some.as_dictionary(),
    )


class Hands:
    """Somebody who does this and that."""

    def __init__(self, workspace: Workspace, seed: int) -> None:
        self.workspace, self.random, self.added = workspace, np.random.default_rng(seed), 0
        self.records: list[Record] = []

    @property
    def some(self) -> str:
        """Path of a topic, of one below the root if there are any."""
        paths = list(self.workspace.tree)[1:] or ["o"]
        return str(self.random.choice(paths))

    def add(self) -> None:
        self.added += 1
        new = drawn_records(3, 100 + self.added)
        new = [record | {"id": f"{record['id']}-{self.added}"} for record in new]
        self.workspace.add(new)

    def replace(self) -> None:
        [old] = drawn_records(1, 5)
        self.workspace.add([old | {"text": "cloudfira cloudfirb clouda"}], replace=True)

    @property
    def verbs(self) -> list[Callable[[], object]]:
        act = self.workspace
        return [
            lambda: act.expand(self.some, children=2),
            lambda: act.expand("o", children=3),
            lambda: act.collapse(self.some),
            lambda: act.merge(self.some, self.some),
            lambda: act.remove(self.some),
            lambda: act.move(self.some, self.some),
            lambda: act.rename(self.some, f"name {self.random.integers(1000)}"),
            lambda: act.pin(self.some),
            act.undo,
            act.undo,
            act.redo,
            act.grow,
            self.add,
            self.replace,
        ]

    def act(self) -> bool:
        """Try something; whether it could be done."""
        verbs = self.verbs
        try:
            verbs[int(self.random.integers(len(verbs)))]()
        except UsageError:
            return False
        return True


@pytest.mark.parametrize("seed", long_but([0], range(3)))
def test_the_index_answers_as_a_fresh_one(kept: Path, tmp_path: Path, seed: int) -> None:
    path = shutil.copytree(kept, tmp_path / "w.strod", ignore=shutil.ignore_patterns(FOLDER))
    hands = Hands(Workspace(path), seed)
    for step in range(VERBS):
        done = hands.act()
        if done and self_check(step):
            here = answers(hands.workspace)
            copy = tmp_path / f"{step}.strod"
            shutil.copytree(path, copy, ignore=shutil.ignore_patterns(FOLDER))
            assert answers(Workspace(copy)) == here
            assert answers(Workspace(path)) == here  # by another process, from the files
            check_counts(hands.workspace)
            shutil.rmtree(copy)


def self_check(step: int) -> bool:
    """Now and then, and in the end."""
    return step % LOOKS == LOOKS - 1 or step >= VERBS - 3


def check_counts(workspace: Workspace) -> None:
    """Topics have the documents whose paths lead there, by each way of counting."""
    naive = Naive(workspace, [])
    for path, topic in workspace.tree.items():
        members = workspace.snapshot.index.placements.members(topic.id)
        assert members.size == topic.documents
        assert members.size == sum(path in naive.above(name) for name in naive.ids)
