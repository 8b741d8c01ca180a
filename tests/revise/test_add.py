"""Documents that are added: placed as `assign` would, topics untouched, undo takes them out."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.errors import DamagedError, InputError, StrodError, UsageError
from strod.workspace.assign import assign_new
from strod.workspace.placements import assign_corpus
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts
from tests.revise.seen import check_documents, state_of, topics_of
from tests.store.test_format import resealed

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = 200, 30


def records(number: int, seed: int, first: int = 0) -> list[dict[str, Any]]:
    texts = planted_texts(number, seed)
    return [{"id": f"d{first + i}", "text": text} for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("add") / "w.strod"
    strod.build(records(OLD, 0), out=path, children=3, height=2, workers=1)
    return path


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace(shutil.copytree(built, tmp_path / "w.strod"))


def numbers(workspace: Workspace) -> dict[str, Any]:
    return {name: topic.numbers for name, topic in topics_of(workspace.tree).items()}


def documents(workspace: Workspace) -> dict[str, int]:
    """How many documents each topic says it has."""
    return {topic.path: topic.documents for topic in workspace.tree.values()}


def counted(workspace: Workspace) -> dict[str, int]:
    """How many documents have each topic on their path, counted one by one."""
    found = dict.fromkeys(workspace.tree, 0)
    for row in assign_corpus(workspace):
        steps = row["leaf"].split("/")
        for end in range(1, len(steps) + 1):
            found["/".join(steps[:end])] += 1
    return found


def test_new_documents_are_where_assign_puts_them(workspace: Workspace) -> None:
    new = records(NEW, 5, OLD)
    expected = list(assign_new(workspace, [new]))
    before = numbers(workspace)
    rows = list(assign_corpus(workspace))
    found = workspace.add(new)
    assert (found.documents, found.rejected, found.replaced) == (NEW, 0, 0)
    assert list(assign_corpus(workspace)) == rows + expected
    assert numbers(workspace) == before
    assert documents(workspace) == counted(workspace)
    assert workspace.corpus.documents == OLD + NEW
    assert workspace.check() == []


def test_growth_is_what_the_shares_say(workspace: Workspace) -> None:
    new = records(NEW, 5, OLD)
    rows = list(assign_new(workspace, [new]))
    tree = workspace.tree
    found = workspace.add(new)
    assert len(found.strangers) < NEW
    shares = [row["topics"] for row in rows if row["id"] not in found.strangers]
    for path, topic in tree.items():
        among = np.mean([share.get(path, 0.0) if path != "o" else 1.0 for share in shares])
        assert found.growth[topic.id] == pytest.approx(among / topic.weight, abs=1e-4)


def test_words_and_phrases_that_nobody_knows(workspace: Workspace) -> None:
    new = [{"id": f"n{i}", "text": "quantum entanglement swapping"} for i in range(40)]
    found = workspace.add(new)
    assert found.unknown == 1
    assert found.strangers == [f"n{i}" for i in range(40)]
    assert found.words == ["entanglement", "quantum", "swapping"]
    assert found.phrases[0] == ("quantum entanglement swapping", 40)


def test_the_same_ids_are_refused(workspace: Workspace) -> None:
    before = state_of(workspace)
    with pytest.raises(UsageError, match=r"d3, d4, d5, …; give the new ones other ids"):
        workspace.add(records(NEW, 5, 3))
    assert state_of(Workspace(workspace.path)) == before


def test_a_dry_run_writes_nothing(workspace: Workspace) -> None:
    before = state_of(workspace)
    found = workspace.add(records(NEW, 5, OLD), dry_run=True)
    assert found.documents == NEW
    assert state_of(Workspace(workspace.path)) == before
    assert workspace.corpus.documents == OLD


def test_what_is_foreseen_or_fails_counts_no_document(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change would write it down for good, and who reads the old revision would see it."""
    new, held = records(NEW, 5, OLD), workspace.snapshot
    workspace.add(new, dry_run=True)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("strod.store.change.Staging.publish", fail)
        with pytest.raises(StrodError):
            workspace.add(new)
    workspace.rename("o/1", "Mine")
    check_documents(workspace)
    workspace.add(new)
    check_documents(workspace)
    assert held.tree.root.documents == OLD
    assert workspace.check() == []


def test_check_counts_the_documents_of_the_root(workspace: Workspace) -> None:
    def lose(content: dict[str, Any]) -> None:
        content["topics"][0]["documents"] -= 1

    resealed(workspace.path, "tree/revisions/00001.json", lose)
    problems = Workspace(workspace.path).check()
    assert any("the root does not have all 200 documents" in problem for problem in problems)


def test_undo_takes_documents_out_and_redo_puts_them_back(workspace: Workspace) -> None:
    before = state_of(workspace)
    workspace.add(records(NEW, 5, OLD))
    after = state_of(workspace)
    workspace.undo()
    assert state_of(workspace) == before
    assert workspace.corpus.documents == OLD
    workspace.redo()
    assert state_of(workspace) == after


def test_two_additions_and_every_way_back(workspace: Workspace) -> None:
    states = [state_of(workspace)]
    for number in range(3):
        workspace.add(records(NEW, 5 + number, OLD + number * NEW))
        workspace.merge("o/1/1", "o/1/2") if number == 1 else None
        states.append(state_of(workspace))
    assert documents(workspace) == counted(workspace)
    workspace.undo()
    assert state_of(workspace) == states[2]
    workspace.undo()
    workspace.undo()
    assert state_of(workspace) == states[1]
    assert workspace.check() == []


def test_replaced_documents_are_as_if_they_had_never_been(workspace: Workspace) -> None:
    before = numbers(workspace)
    rows = {row["id"]: row for row in assign_corpus(workspace)}
    new = records(NEW, 9, 50) + records(5, 10, OLD)
    expected = list(assign_new(workspace, [new]))
    found = workspace.add(new, replace=True)
    assert (found.documents, found.replaced) == (NEW + 5, NEW)
    gone = {f"d{number}" for number in range(50, 50 + NEW)}
    stay = [row for name, row in rows.items() if name not in gone]
    assert list(assign_corpus(workspace)) == stay + expected
    assert documents(workspace) == counted(workspace)
    assert workspace.corpus.documents == OLD + 5
    assert numbers(workspace) == before
    words = sum(int((shard.tokens >= 0).sum()) for shard in workspace.corpus.shards())
    assert workspace.corpus.tokens <= words + 1  # stop words and the like are tokens too
    texts = [text for s in workspace.corpus.shards() for text in s.texts(list(range(s.size)))]
    assert texts[-len(new) :] == [record["text"] for record in new]
    assert workspace.check() == []


def test_replacing_can_be_undone(workspace: Workspace) -> None:
    before = state_of(workspace)
    rows = list(assign_corpus(workspace))
    workspace.add(records(NEW, 9, 50), replace=True)
    workspace.expand("o/1", 2, fresh=True)
    assert workspace.check() == []
    workspace.undo()
    workspace.undo()
    assert state_of(workspace) == before
    assert list(assign_corpus(workspace)) == rows
    assert workspace.check() == []


def test_everything_can_be_replaced(workspace: Workspace) -> None:
    workspace.add(records(OLD, 9), replace=True)
    assert workspace.corpus.documents == OLD
    assert documents(workspace) == counted(workspace)
    assert workspace.check() == []
    workspace.add(records(10, 11), replace=True)
    assert workspace.corpus.documents == OLD
    assert workspace.check() == []


def test_a_branch_can_use_the_new_evidence(workspace: Workspace) -> None:
    other = Workspace(shutil.copytree(workspace.path, workspace.path.parent / "o.strod"))
    workspace.add(records(NEW, 5, OLD))
    for one in (workspace, other):
        one.expand("o/1", 2, fresh=True)
        assert one.check() == []
    words = [one.tree["o/1"].children[0].distribution for one in (workspace, other)]
    assert not np.array_equal(words[0], words[1])
    assert documents(workspace) == counted(workspace)


def test_workers_make_no_difference(workspace: Workspace) -> None:
    other = Workspace(shutil.copytree(workspace.path, workspace.path.parent / "o.strod"))
    for workers, one in ((1, workspace), (4, other)):
        one.add(records(NEW, 5, 190), replace=True, workers=workers)
    assert state_of(workspace)[:2] == state_of(other)[:2]
    assert workspace.manifest.corpus.sha256 == other.manifest.corpus.sha256


def test_compaction_forgets_what_was_and_keeps_what_is(workspace: Workspace) -> None:
    workspace.add(records(NEW, 9, 50), replace=True)
    workspace.expand("o/1", 2, fresh=True)
    workspace.add(records(5, 12, OLD))
    workspace.rename("o/1", "mine")
    workspace.undo()
    state, rows = state_of(workspace), list(assign_corpus(workspace))
    size = sum(path.stat().st_size for path in workspace.path.rglob("*") if path.is_file())
    done = workspace.compact(keep=2)
    left = sum(path.stat().st_size for path in workspace.path.rglob("*") if path.is_file())
    assert done.revisions == 3
    assert done.bytes > 0
    assert abs(size - left - done.bytes) < 1 << 16  # the manifest is shorter too
    assert state_of(workspace).topics == state.topics
    assert list(assign_corpus(workspace)) == rows
    assert [entry["revision"] for entry in workspace.history()] == [3, 4]
    assert workspace.check() == []
    workspace.undo()
    assert workspace.corpus.documents == OLD
    assert documents(workspace) == counted(workspace)
    with pytest.raises(UsageError, match="nothing to undo"):
        workspace.undo()
    workspace.redo()
    assert state_of(workspace).topics == state.topics


def test_compaction_to_the_present(workspace: Workspace) -> None:
    for number in range(3):
        workspace.rename("o/1", f"n{number}")
    assert workspace.compact(dry_run=True, keep=1).revisions == 3
    assert workspace.compact().revisions == 0  # ten stay
    assert workspace.compact(1).revisions == 3
    assert workspace.tree["o/1"].label == "n2"
    assert workspace.compact(1).revisions == 0
    with pytest.raises(UsageError, match="keep"):
        workspace.compact(0)
    assert workspace.check() == []


def test_damaged_topics_take_no_documents(workspace: Workspace) -> None:
    (path,) = (workspace.path / "tree" / "splits" / "o").glob("fine.npy")
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError, match="fine"):
        Workspace(workspace.path).add(records(NEW, 5, OLD))


def test_an_empty_addition_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "none.jsonl"
    source.write_text(json.dumps({"id": "x", "text": ""}) + "\n")
    before = state_of(workspace)
    with pytest.raises(InputError, match="no usable document"):
        workspace.add(source)
    assert state_of(workspace) == before
