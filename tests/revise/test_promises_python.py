"""What verbs promise, in Python; `test_promises_cli.py` has the same for people."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.errors import UsageError
from strod.export.assigned import assigned_table
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts
from tests.revise.seen import check_tree, topics_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.workspace.change import Change

VERBS: dict[str, Callable[..., Change]] = {
    "expand": lambda w, **how: w.expand("o/1", 2, **how),
    "expand --fresh": lambda w, **how: w.expand("o/1", 2, fresh=True, **how),
    "collapse": lambda w, **how: w.collapse("o/2", **how),
    "merge": lambda w, **how: w.merge("o/1/1", "o/2/1", **how),
    "remove": lambda w, **how: w.remove("o/2", **how),
    "remove --into": lambda w, **how: w.remove("o/1/1", into="o/1/2", **how),
    "move": lambda w, **how: w.move("o/1/1", "o/2/2", **how),
    "rename": lambda w, **how: w.rename("o/1", "Clouds", **how),
    "pin": lambda w, **how: w.pin("o/1", **how),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here


@pytest.fixture
def fixed(planted: Path) -> Workspace:
    """For previews, which write nothing."""
    return Workspace(planted)


def of_kind(change: Change, kind: str) -> list[str]:
    """Topics of which a change warns."""
    return [one.topic for one in change.warnings if one.kind == kind]


# -- one preview for all verbs -----------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_previewed_is_applied_and_taken_back(workspace: Workspace, verb: str) -> None:
    before = topics_of(workspace.tree)
    planned = VERBS[verb](workspace, dry_run=True)
    assert topics_of(workspace.refresh().tree) == before
    done = VERBS[verb](workspace)
    assert planned.as_dictionary() == done.as_dictionary()
    after = topics_of(workspace.tree)
    assert set(planned.added) == set(after) - set(before)
    assert planned.paths == {name: after[name].path for name in planned.added}
    back = workspace.undo()
    assert topics_of(workspace.tree) == before
    assert (set(back.added), set(back.removed)) == (set(done.removed), set(done.added))
    assert back.weights == {name: pair[::-1] for name, pair in done.weights.items()}
    assert set(workspace.redo().added) == set(done.added)
    assert topics_of(workspace.tree) == after


def test_what_a_change_says(fixed: Workspace) -> None:
    tree = fixed.tree
    merged = fixed.merge("o/1/1", "o/3/2", dry_run=True)
    assert merged.joined == {merged.added[0]: [tree["o/1/1"].id, tree["o/3/2"].id]}
    assert merged.paths == {merged.added[0]: "o/1/4"}
    assert set(merged.weights) == {tree["o/1"].id, tree["o/3"].id}
    moved = fixed.move("o/1/1", "o/2", dry_run=True)
    assert moved.moved == {tree["o/1/1"].id: ("o/1/1", "o/2/4")}
    gone = fixed.remove("o/2", dry_run=True).gone
    paths = ("o/2", "o/2/1", "o/2/2", "o/2/3")
    assert gone == {tree[path].id: (path, tree[path].label) for path in paths}


def test_warnings(workspace: Workspace) -> None:
    tree = workspace.tree
    assert of_kind(workspace.remove("o/1/1", "o/1/3", dry_run=True), "doubles") == [
        tree["o/1/3"].id
    ]
    few = workspace.expand("o/1", 6, force=True, dry_run=True)
    assert set(of_kind(few, "small")) == {n for n in few.added if few.effective[n] < 20} != set()
    workspace.rename("o/1/2", "mine")
    named = workspace.move("o/3", "o/1/2", dry_run=True)
    assert of_kind(named, "name") == [tree["o/1/2"].id]
    workspace.move("o/1/1", "o/2")
    change = workspace.move("o/1/2", "o/2", dry_run=True)
    assert of_kind(change, "large") == [tree["o/1/3"].id]
    assert of_kind(change, "halves") == [tree["o/1"].id]


def test_undo_says_how_many_documents(workspace: Workspace) -> None:
    more = [{"id": f"n{i}", "text": text} for i, text in enumerate(planted_texts(20))]
    found = workspace.add(more, dry_run=True)
    assert workspace.add(more).as_dictionary() == found.as_dictionary()
    assert (workspace.undo(dry_run=True).documents, workspace.undo().documents) == (-20, -20)
    assert workspace.redo().documents == 20


# -- remove, expand, move, merge ---------------------------------------------------------


def test_every_share_goes_where_its_document_fits(workspace: Workspace) -> None:
    """To the siblings or, if none explains it, to nobody; other topics have what they had."""
    before, name = workspace.tree.shares(), workspace.tree["o/1/1"].id
    parent = workspace.tree["o/1"]
    siblings = [child.id for child in parent.children if child.id != name]
    workspace.remove("o/1/1")
    after = workspace.tree.shares()
    gained = {one: after[one] - before[one] for one in siblings}
    together = np.sum(list(gained.values()), axis=0) + after.rests[parent.id]
    np.testing.assert_allclose(together, before[name], atol=1e-5)
    assert all(gain.min() > -1e-6 and gain.max() > 0.01 for gain in gained.values())
    for one in after:
        assert one in siblings or np.array_equal(after[one], before[one])
    assert workspace.tree["o/1"].rest == pytest.approx(after.rests[parent.id].mean(), abs=1e-5)
    check_tree(workspace)


def test_all_of_it_into_one(workspace: Workspace) -> None:
    weights = {path: workspace.tree[path].weight for path in ("o/1/1", "o/3/1")}
    workspace.remove("o/1/1", into="o/3/1")
    assert workspace.tree["o/3/1"].weight == pytest.approx(sum(weights.values()))
    assert workspace.tree["o/1"].rest == 0


def test_expand(workspace: Workspace) -> None:
    joined = workspace.expand("o", 2, dry_run=True)
    [(whole, members)] = joined.joined.items()
    assert members == [workspace.tree["o/2"].id, workspace.tree["o/3"].id]
    assert len(joined.nodes[whole].children) == 6
    assert joined.removed == members
    assert workspace.expand("o", 2, fresh=True, dry_run=True).joined == {}
    flat = workspace.expand("o", 2, 1, dry_run=True)
    assert {node.level for node in flat.nodes.values()} == {0, 1}
    with pytest.raises(UsageError) as refused:
        workspace.expand("o/1", 50)
    found = re.search(r"it has (\d+) effective documents.* (\d+) or less", str(refused.value))
    assert found is not None
    assert int(found[2]) == int(found[1]) // 10
    assert len(workspace.expand("o/1", int(found[2]) + 1, force=True, dry_run=True).added) > 3
    workspace.pin("o/1/2")
    pinned = workspace.expand("o/1", 3, fresh=True, dry_run=True).pinned
    assert list(pinned) == [workspace.tree["o/1/2"].id]
    with pytest.raises(UsageError, match=r"must be 3 or more beside the pinned o/1/2"):
        workspace.expand("o/1", 2)


def test_a_leaf_that_becomes_a_parent(workspace: Workspace) -> None:
    leaf, moved = workspace.tree["o/2/2"], workspace.tree["o/1/1"]
    change = workspace.move("o/1/1", "o/2/2")
    assert change.former_leaves == {change.added[0]: leaf.id}
    assert {one.id for one in workspace.tree["o/2/2"].children} == {moved.id, change.added[0]}
    assert np.array_equal(workspace.tree[change.added[0]].distribution, leaf.distribution)
    assert workspace.merge("o/3/1", "o/3/2", dry_run=True).former_leaves == {}


def test_topics_of_two_parents(workspace: Workspace) -> None:
    members = [workspace.tree[path] for path in ("o/1/1", "o/3/2")]
    [name] = workspace.merge("o/1/1", "o/3/2").added
    whole = workspace.tree[name]
    assert whole.path == "o/1/4"
    assert whole.weight == pytest.approx(sum(one.weight for one in members))


# -- assign, show, metadata --------------------------------------------------------------


def test_rows_as_a_table(fixed: Workspace) -> None:
    """A row a share, or a row a document."""
    texts = ["clouda cloudb", "", "unheardof", *planted_texts(5)]
    rows = list(fixed.assign(texts))
    assert [row["id"] for row in rows] == [str(number + 1) for number in range(8)]
    assert [(row["known"], row["leaf"]) for row in rows[1:3]] == [(0, None)] * 2
    long = list(assigned_table(fixed, rows).rows)
    shares = [(one["id"], one["topic"], one["share"]) for one in long]
    assert shares == [(row["id"], *pair) for row in rows for pair in row["topics"].items()]
    wide = list(assigned_table(fixed, rows, wide=True).rows)
    assert len(wide) == len(rows)
    for one, row in zip(wide, rows, strict=True):
        assert {path: one[path] for path in row["topics"]} == row["topics"]
        assert (one["leaf"], one["fit"], one["known"]) == (row["leaf"], row["fit"], row["known"])


def test_assign_tells_which_fit_no_topic(fixed: Workspace) -> None:
    told: list[str] = []
    strange = [f"clouda stoneb riverc unheard{i} unseen{i} unknown{i}" for i in range(5)]
    rows = list(fixed.assign(strange, tell=told.append))
    assert [row["fit"] < 0.04 for row in rows] == [True] * 5
    assert told == ["5 of 5 documents fit no topic (1, 2, 3, …), fit below 0.04; usual is 4%"]


def test_names_phrases_and_numbers(fixed: Workspace) -> None:
    topic = fixed.tree["o/1"]
    assert topic.label == ", ".join(text for text, _ in topic.phrases[:2])
    assert len(fixed.all_phrases("o/1")) > len(topic.phrases)
    assert len(fixed.topics_table()) - 1 == len(fixed.tree) - 1 == 12
    assert "12 topics" in repr(fixed)


def records(count: int = 40) -> list[dict[str, Any]]:
    return [
        {"text": text, "day": f"{i % 28 + 1}.02.1999", "price": f"{i},50", "tags": "a|b"}
        for i, text in enumerate(planted_texts(count))
    ]


def test_metadata_as_people_have_it(tmp_path: Path) -> None:
    meta = {"day": "date:%d.%m.%Y", "price": "number:,", "tags": "list:|"}
    built = strod.build(records(), out=tmp_path / "w.strod", meta=meta, height=1)
    row = next(iter(built.assign()))
    assert row["meta"] == {"day": "1999-02-01", "price": 0.5, "tags": ["a", "b"]}
    with pytest.raises(UsageError, match=r"'1.02.1999' is not; `?meta=?`? ?.*%d.%m.%Y would read"):
        strod.build(records(), out=tmp_path / "v.strod", meta="day:date")
    with pytest.warns(strod.StrodWarning) as caught:
        strod.build(records(), out=tmp_path / "v.strod", meta=["day", "tags:list"], height=1)
    said = "\n".join(str(one.message) for one in caught)
    assert "day is kept as text; to have '1.02.1999' read: meta=day:date:%d.%m.%Y" in said
    assert "tags: 'a|b' is a list of one; to have it split: meta=tags:list:|" in said
