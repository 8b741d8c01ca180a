"""Faults that were found once, one test each."""

from __future__ import annotations

import errno
import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.errors import DamagedError, StrodError, UsageError
from strod.workspace import check as integrity
from strod.workspace.assign import assign_new
from strod.workspace.workspace import Workspace
from tests.fault.points import Points
from tests.planted_text import planted_texts, planted_words
from tests.revise.seen import check_tree, files_of, state_of, topics_of

if TYPE_CHECKING:
    from pathlib import Path

    from strod.store.files import Files


def test_expand_after_remove_counts_a_fine_topic_twice(workspace: Workspace) -> None:
    workspace.remove("o/1/1")
    workspace.expand("o/1", 3)
    check_tree(workspace)


def test_expand_after_move_loses_a_fine_topic(workspace: Workspace) -> None:
    workspace.move("o/1/1", "o/2")
    workspace.expand("o", 2)
    check_tree(workspace)


def test_a_split_of_an_earlier_revision_is_overwritten(workspace: Workspace) -> None:
    workspace.expand("o/1", 2, fresh=True)
    before, shares = files_of(workspace), workspace.tree.shares()
    workspace.collapse("o/1")
    workspace.expand("o/1", 4, fresh=True)
    now = files_of(workspace)
    assert [n for n in before if now[n] != before[n] and not n.endswith("manifest.json")] == []
    workspace.undo()
    workspace.undo()
    for name, share in workspace.tree.shares().items():
        assert np.array_equal(share, shares[name])


def test_a_kill_while_a_split_is_overwritten_damages_the_workspace(workspace: Workspace) -> None:
    """expand, undo, expand otherwise, killed before the manifest: the undone one is damaged."""
    workspace.expand("o/1", 2, fresh=True)
    workspace.undo()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    calls = Points(0, stop)
    other = Workspace(shutil.copytree(workspace.path, workspace.path.parent / "c.strod"))
    with pytest.MonkeyPatch.context() as patch:
        calls.install(patch.setattr)
        other.expand("o/1", 4, fresh=True, workers=1)
    at = max(i for i, call in enumerate(calls.calls, 1) if call == "replace")
    with pytest.MonkeyPatch.context() as patch:
        Points(at, stop).install(patch.setattr)
        with pytest.raises(KeyboardInterrupt):
            workspace.expand("o/1", 4, fresh=True, workers=1)
    assert Workspace(workspace.path).check() == []


def test_pinned_children_remain_alone(workspace: Workspace) -> None:
    workspace.pin("o/1/1")
    workspace.pin("o/1/2")
    with suppress(UsageError):
        workspace.expand("o/1", 4)
    check_tree(workspace)


@pytest.mark.parametrize("children", ["auto", 2])
def test_fine_topics_that_were_never_a_group(tmp_path: Path, children: int | str) -> None:
    """Topics of several parts of one dendrogram that do not form a subtree of it."""
    workspace = strod.build(
        planted_texts(300), out=tmp_path / "w.strod", children=3, height=2, workers=1
    )
    first, second, third = workspace.tree.root.children
    for topic in (first.children[0], third.children[0]):
        workspace.move(topic.id, second.id)
    workspace.collapse(second.id)
    workspace.expand(second.id, children)
    assert children == "auto" or len(workspace.tree[second.id].children) == children


def test_children_are_numbered_by_falling_weight(workspace: Workspace) -> None:
    named = {path: topic.id for path, topic in workspace.tree.items()}
    for verb, arguments in (
        ("move", [named["o/1/1"], named["o/3"]]),
        ("expand", [named["o/1"], 3]),
        ("merge", [named["o/1"], named["o/3"]]),
    ):
        getattr(workspace, verb)(*arguments)
        for topic in workspace.tree.values():
            weights = [child.weight for child in topic.children]
            assert weights == sorted(weights, reverse=True), (workspace.tree.change, topic.path)
        workspace.undo()


def test_an_expansion_that_changes_nothing_keeps_the_paths(workspace: Workspace) -> None:
    for path in ("o/1", "o/2", "o/3"):
        before = [child.id for child in workspace.tree[path].children]
        change = workspace.expand(path, 3)
        assert (change.added, change.changed, change.removed) == ([], [], [])
        assert [child.id for child in workspace.tree[path].children] == before


@pytest.mark.parametrize("verb", ["merge", "remove"])
def test_documents_are_those_whose_path_leads_there(tmp_path: Path, verb: str) -> None:
    workspace = strod.build(
        planted_texts(300), out=tmp_path / "w.strod", children=3, height=2, workers=1
    )
    named = {path: topic.id for path, topic in workspace.tree.items()}
    pairs = [("o/1", "o/2"), ("o/1", "o/3"), ("o/2", "o/3")]
    for pair in pairs:
        if verb == "merge":
            workspace.merge(*(named[path] for path in pair))
        else:
            workspace.remove(named[pair[0]])
        for topic in workspace.tree.values():
            if topic.children:
                below = sum(child.documents for child in topic.children)
                assert below <= topic.documents
                assert below == topic.documents or topic.rest > 0
        workspace.undo()


def test_a_name_that_was_given_stays(workspace: Workspace) -> None:
    name = workspace.tree["o/1"].id
    workspace.rename(name, "mine")
    workspace.move("o/1/1", "o/2")
    assert workspace.tree[name].label == "mine"


def test_a_damaged_topic_is_not_sealed_anew(workspace: Workspace) -> None:
    topic = workspace.tree["o/2/1"]
    right = np.array(topic.distribution)
    (path,) = (workspace.path / "tree" / "words").glob(f"{topic.id}-*.npy")
    data = bytearray(path.read_bytes())
    data[-8 * len(right) + 8 * int(np.argmax(right)) + 6] ^= 1
    path.write_bytes(data)
    workspace = Workspace(workspace.path)
    try:
        workspace.rename("o/1", "x")
        found = workspace.tree[topic.id].distribution
    except DamagedError:
        return
    assert np.array_equal(found, right)


@pytest.mark.parametrize(
    "name", ["tree/splits/o/0000/indices.npy", "tree/splits/o/0000/indptr.npy"]
)
def test_a_verb_on_damaged_arrays_is_a_clear_error(workspace: Workspace, name: str) -> None:
    path = workspace.path / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 0x40
    path.write_bytes(data)
    with pytest.raises(StrodError):
        Workspace(workspace.path).merge("o/1", "o/2")


def test_a_failed_change_has_not_happened(workspace: Workspace) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    calls = Points(0, fail)
    with pytest.MonkeyPatch.context() as patch:
        calls.install(patch.setattr)
        workspace.rename("o/1", "one")
    at = max(i for i, call in enumerate(calls.calls, 1) if call == "fsync")
    before = state_of(workspace)
    with pytest.MonkeyPatch.context() as patch:
        Points(at, fail).install(patch.setattr)
        with pytest.raises(StrodError):
            workspace.rename("o/1", "two")
    assert state_of(Workspace(workspace.path)) == before


def test_the_lock_cannot_be_removed(workspace: Workspace) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    calls = Points(0, fail)
    with pytest.MonkeyPatch.context() as patch:
        calls.install(patch.setattr)
        workspace.rename("o/1", "one")
    with pytest.MonkeyPatch.context() as patch:
        Points(len(calls.calls), fail).install(patch.setattr)
        with suppress(StrodError):
            workspace.rename("o/1", "two")


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_files_of_a_failed_expansion_are_closed(workspace: Workspace) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    calls = Points(0, fail)
    with pytest.MonkeyPatch.context() as patch:
        calls.install(patch.setattr)
        workspace.expand("o/1", 2, fresh=True, dry_run=True)
    at = calls.calls.index("close") + 1
    with pytest.MonkeyPatch.context() as patch:
        Points(at, fail).install(patch.setattr)
        with pytest.raises(StrodError):
            workspace.expand("o/1", 2, fresh=True)


@pytest.mark.parametrize("height", [0, -1])
def test_a_height_of_nothing_is_refused(workspace: Workspace, height: int) -> None:
    with pytest.raises(UsageError):
        workspace.expand("o/1", 2, height)


@pytest.mark.parametrize("how", ["label", "note"])
def test_what_is_no_text_is_refused(workspace: Workspace, how: str) -> None:
    wrong: dict[str, Any] = {"label": "x", "note": ""} | {how: "\udc80"}
    with pytest.raises(UsageError):
        workspace.rename("o/1", **wrong)


def test_a_merged_id_is_one_topic(workspace: Workspace) -> None:
    named = {path: topic.id for path, topic in workspace.tree.items()}
    pair = named["o/1/1"], named["o/1/2"]
    (whole,) = workspace.merge(*pair).added
    words = topics_of(workspace.tree)[whole].numbers.words
    workspace.undo()
    workspace.remove(named["o/1/3"])
    (again,) = workspace.merge(*pair).added
    assert again != whole or topics_of(workspace.tree)[again].numbers.words == words


def test_history_reads_no_words(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        workspace.rename("o/1", f"n{number}")
    monkeypatch.delattr(np, "load")
    assert len(workspace.history()) == 6


def planted_leaf(documents: int) -> list[dict[str, str]]:
    """Documents of one leaf alone."""
    words = planted_words(0, 0)
    return [
        {"id": f"n{i}", "text": " ".join(words[(i + j) % len(words)] for j in range(20))}
        for i in range(documents)
    ]


def test_heirs_gain_however_much_was_added(workspace: Workspace) -> None:
    workspace.add(planted_leaf(600))
    for path in ("o/1", "o/2", "o/3"):
        before = {topic.id: topic.weight for topic in workspace.tree.values()}
        gone = workspace.tree[path]
        workspace.remove(path)
        for topic in workspace.tree.values():
            assert topic.weight >= before[topic.id] - 1e-12
        root = workspace.tree.root
        assert sum(child.weight for child in root.children) + root.rest == pytest.approx(1)
        assert gone.id not in workspace.tree.nodes
        assert workspace.check() == []
        workspace.undo()


def test_texts_without_ids_can_be_added(tmp_path: Path) -> None:
    texts = planted_texts(150)
    workspace = strod.build(texts[:100], out=tmp_path / "w.strod", children=3, workers=1)
    assert workspace.add(texts[100:]).replaced == 0
    ids = [one for shard in workspace.corpus.shards() for one in shard.ids]
    assert ids == [str(number) for number in range(1, 151)]
    found = [text for s in workspace.corpus.shards() for text in s.texts(list(range(s.size)))]
    assert found == texts


def test_numbers_of_revisions_are_used_once(workspace: Workspace) -> None:
    workspace.add(planted_leaf(5))
    reader = Workspace(workspace.path)
    workspace.undo()
    workspace.compact(1)
    workspace.collapse("o/1")
    assert [entry["revision"] for entry in workspace.history()] == [1, 3]
    with pytest.raises(DamagedError, match="00002"):  # gone, not another one
        assert reader.tree
    workspace.add(planted_leaf(5))
    assert [name for name, _ in workspace.corpus.segments] == ["0000", "0002"]


def test_check_looks_again_if_the_workspace_has_changed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.rename("o/1", "x")
    seen = integrity._files

    def meanwhile(files: Files, workers: int) -> list[str]:
        monkeypatch.setattr(integrity, "_files", seen)
        problems = seen(files, workers)
        Workspace(files.root).compact(1)
        return [*problems, "a file is missing"]

    monkeypatch.setattr(integrity, "_files", meanwhile)
    assert workspace.check() == []


def test_a_note_that_is_no_text_adds_nothing(workspace: Workspace) -> None:
    before = state_of(workspace)
    with pytest.raises(UsageError, match="the note"):
        workspace.add(planted_leaf(5), note="\udc80")
    assert state_of(Workspace(workspace.path)) == before


def test_a_workspace_that_was_built_again(workspace: Workspace) -> None:
    workspace.expand("o/1", 2, fresh=True)
    other = planted_texts(150, seed=4) + ["market garden market garden"] * 40
    strod.build(other, out=workspace.path, children=3, height=2, overwrite=True, workers=1)
    workspace.refresh()
    workspace.expand("o/1", 2, fresh=True)
    again = Workspace(workspace.path)
    assert again.check() == []
    known = set(again.corpus.lexicon["surface"].to_pylist())
    for topic in again.tree.values():
        assert {word for text, _ in topic.phrases for word in text.split()} <= known


@pytest.mark.parametrize("verb", ["merge", "move", "expand"])
def test_alpha0_is_the_sum_of_the_childrens(workspace: Workspace, verb: str) -> None:
    if verb == "merge":
        workspace.merge("o/1", "o/2")
    elif verb == "move":
        workspace.move("o/1/1", "o/2")
    else:
        workspace.pin("o/1/1")
        workspace.expand("o/1", 3)
    for topic in workspace.tree.values():
        if topic.children:
            assert topic.alpha0 == pytest.approx(sum(child.alpha for child in topic.children))


def test_names_that_were_given_survive(workspace: Workspace) -> None:
    name = workspace.tree["o/1/1"].id
    workspace.rename(name, "mine")
    workspace.remove(workspace.tree["o/1/2"].id)
    workspace.expand("o/1", 3)
    assert workspace.tree[name].label == "mine"
    other = next(child.id for child in workspace.tree["o/1"].children if child.id != name)
    (whole,) = workspace.merge(name, other).added
    assert workspace.tree[whole].label == "mine"
    assert workspace.tree.find("mine").id == whole


def test_errors_speak_of_paths(workspace: Workspace) -> None:
    for verb, topics in (
        ("move", ["o/1/1", "o/1"]),
        ("collapse", ["o/1/1"]),
        ("merge", ["o/1/1", "o/1"]),
    ):
        with pytest.raises(UsageError) as raised:
            getattr(workspace, verb)(*topics)
        assert not re.search("[0-9a-f]{12}", str(raised.value))


def test_paths_that_shift_are_told(workspace: Workspace) -> None:
    before = {topic.id: path for path, topic in workspace.tree.items()}
    change = workspace.merge("o/1", "o/2")
    now = {topic.id: path for path, topic in workspace.tree.items()}
    both = before.keys() & now.keys()
    assert change.moved == {n: (before[n], now[n]) for n in both if before[n] != now[n]}
    assert change.moved


def test_documents_of_the_same_id_are_all_assigned(workspace: Workspace) -> None:
    texts = planted_texts(3, seed=9)
    rows = [{"id": "a", "text": text} for text in texts] + [{"id": "b", "text": "?"}]
    told: list[str] = []
    found = list(assign_new(workspace, rows, tell=told.append))
    alone = [next(assign_new(workspace, [row])) for row in rows]
    assert found == alone
    assert told == ["no word of the model in 1 document: they have no leaf"]
