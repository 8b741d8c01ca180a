"""The index is derived: it may be missing, damaged or deleted, and grows with what changes."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.query.derived import FOLDER, Derived, key_of
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def arrays(workspace: Workspace) -> dict[str, tuple[int, int]]:
    """Files of the index, and which they are."""
    folder = workspace.path / FOLDER / "arrays"
    if not folder.is_dir():
        return {}
    return {one.name: (one.stat().st_ino, one.stat().st_size) for one in folder.iterdir()}


def answers(path: Path) -> object:
    """What a process that begins anew answers."""
    asked = Workspace(path)
    return asked.slice("year").to_pylist(), [
        asked.documents(topic, limit=0).to_pylist() for topic in asked.tree
    ]


def fresh(workspace: Workspace, tmp_path: Path) -> object:
    """What an index that is built anew answers."""
    copy = shutil.copytree(workspace.path, tmp_path / f"copy{len(list(tmp_path.iterdir()))}.strod")
    shutil.rmtree(copy / FOLDER, ignore_errors=True)
    return answers(copy)


def test_a_name_touches_nothing(workspace: Workspace) -> None:
    workspace.slice("year")
    before = arrays(workspace)
    workspace.rename("o/1", "rivers")
    workspace.pin("o/2")
    workspace.slice("year")
    assert arrays(workspace) == before


def test_a_split_makes_arrays_of_its_own_topics_only(workspace: Workspace, tmp_path: Path) -> None:
    workspace.slice("year")
    before = arrays(workspace)
    change = workspace.expand("o/1", children=2)
    workspace.slice("year")
    new = arrays(workspace).keys() - before.keys()
    # Who holds the topic that is new, and who is led to each of the children.
    assert len(new) == len(change.added) + len(workspace.tree["o/1"].children)
    assert answers(workspace.path) == fresh(workspace, tmp_path)
    workspace.undo()
    now = arrays(workspace)
    assert answers(workspace.path) == fresh(workspace, tmp_path)
    assert arrays(workspace) == now  # all that the older revision needs was still there


def test_new_documents_are_arrays_of_their_own(workspace: Workspace, tmp_path: Path) -> None:
    workspace.slice("year")
    before = arrays(workspace)
    workspace.add([{"id": "new1", "text": "riveroaka riveroakb", "year": 1999}])
    workspace.slice("year")
    assert before.items() <= arrays(workspace).items()
    assert answers(workspace.path) == fresh(workspace, tmp_path)


def test_what_is_damaged_is_made_again(workspace: Workspace, tmp_path: Path) -> None:
    wanted = answers(workspace.path)
    random = np.random.default_rng(0)
    for number, path in enumerate(sorted((workspace.path / FOLDER / "arrays").iterdir())):
        data = bytearray(path.read_bytes())
        if number % 4 == 0:
            data[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
        elif number % 4 == 1:
            del data[int(random.integers(len(data))) :]
        elif number % 4 == 2:
            data = bytearray()
        else:
            data += b"more"
        path.write_bytes(data)
    assert answers(workspace.path) == wanted
    assert fresh(workspace, tmp_path) == wanted


def test_what_is_forged_is_made_again(workspace: Workspace) -> None:
    wanted = answers(workspace.path)
    for number, path in enumerate(sorted((workspace.path / FOLDER / "arrays").iterdir())):
        data = np.array([1 << 30, -5, 7][: 1 + number % 3], dtype="<i4").tobytes()
        path.write_bytes(sha256(data).digest() + data)
    assert answers(workspace.path) == wanted


@pytest.mark.parametrize("kind", ["link", "file", "fifo", "arrays-link", "unwritable"])
def test_an_index_that_is_something_else_is_left_alone(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    wanted = fresh(workspace, tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    index = workspace.path / FOLDER
    if kind == "link":
        index.symlink_to(elsewhere)
    elif kind == "file":
        index.write_text("mine")
    elif kind == "fifo":
        os.mkfifo(index)
    elif kind == "arrays-link":
        index.mkdir()
        (index / "arrays").symlink_to(elsewhere)
    else:
        index.mkdir()
        (index / "arrays").mkdir(mode=0o500)
    assert answers(workspace.path) == wanted
    assert not list(elsewhere.iterdir())


def test_deleted_while_in_use(workspace: Workspace) -> None:
    first = workspace.slice("year").to_pylist()
    shutil.rmtree(workspace.path / FOLDER)
    assert workspace.slice("year").to_pylist() == first
    workspace.rename("o/1", "rivers")
    assert workspace.slice("year").to_pylist() == first


def test_a_reader_keeps_its_revision(workspace: Workspace) -> None:
    old = workspace.snapshot.index
    before = [old.placements.members(name).tolist() for name in old.placements.names]
    for _ in range(3):
        workspace.expand("o/2", children=2)
        workspace.slice("year")
        workspace.expand("o/2", children=3)
        workspace.slice("year")
    shutil.rmtree(workspace.path / FOLDER)
    assert [old.placements.members(name).tolist() for name in old.placements.names] == before


def test_old_arrays_are_swept_in_the_end(workspace: Workspace) -> None:
    workspace.slice("year")
    used = len(arrays(workspace))
    folder = workspace.path / FOLDER / "arrays"
    (folder / "mine.txt").write_text("stays")
    for number in range(5 * used):
        (folder / f"{key_of(number)}.bin").write_bytes(bytes(32))
    workspace.expand("o/1", children=2)
    workspace.slice("year")
    now = len(arrays(workspace))
    assert now <= 4 * (used + 4) + 1
    assert (folder / "mine.txt").read_text() == "stays"


def test_an_array_comes_back_as_it_was_put(tmp_path: Path) -> None:
    values = np.arange(7, dtype=np.int32)
    Derived(tmp_path, 60).put(key_of("a"), values)
    found = Derived(tmp_path, 60).get(key_of("a"))
    assert found is not None
    assert found.tolist() == values.tolist()
    assert Derived(tmp_path, 60).get(key_of("b")) is None
    assert Derived(tmp_path, 59).get(key_of("a")) is None  # more than there can be


def test_the_index_is_no_part_of_the_workspace(workspace: Workspace) -> None:
    workspace.slice("year")
    assert workspace.check() == []
    assert not any(name.startswith(FOLDER) for name in workspace.manifest.parts)
