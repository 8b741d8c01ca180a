"""Damage to a workspace with a history: `check` names it, and whoever reads is told or is right."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from strod.errors import DamagedError, InputError
from strod.summary import as_dictionary
from strod.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS, DAMAGES = 10, 50


def read_everything(path: Path) -> tuple[object, ...]:
    """Nodes, words, phrases, shares, what is shown, and what has been done."""
    opened = Workspace(path)
    tree = opened.tree
    topics = {
        name: (topic.top(0), topic.phrases, topic.label, topic.weight, topic.alpha, topic.documents)
        for name, topic in tree.items()
    }
    shares = tree.shares()
    placed = {name: share.tobytes() for name, share in shares.items()}
    # When it was built stands in the report, which has no checksum.
    history = [
        entry | {"when": entry["revision"] > 1 and entry["when"]} for entry in opened.history()
    ]
    return topics, placed, tree.leaves(shares), as_dictionary(opened), history


class Revised(NamedTuple):
    """A workspace to damage and to mend again, and what is to be read there."""

    path: Path
    right: tuple[object, ...]


@pytest.fixture(scope="module")
def revised(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Revised:
    path = shutil.copytree(planted, tmp_path_factory.mktemp("damage") / "w.strod")
    workspace = Workspace(path)
    workspace.expand("o/1", 2, fresh=True)
    workspace.merge("o/2", "o/3")
    workspace.rename("o/1", "mine", note="a note")
    workspace.move("o/1/4", "o/4")
    workspace.undo()
    assert workspace.check() == []
    return Revised(path, read_everything(path))


def damage(path: Path, chosen: random.Random) -> str:
    """Flip a bit, cut or delete a file; says what was done."""
    data = bytearray(path.read_bytes())
    way = chosen.choice(["flip", "flip", "flip", "cut", "delete"])
    place = chosen.randrange(len(data))
    if way == "flip":
        data[place] ^= 1 << chosen.randrange(8)
        path.write_bytes(data)
    elif way == "cut":
        path.write_bytes(data[:place])
    else:
        path.unlink()
    return f"{path.name}: {way} at {place}"


def check_named(root: Path, path: Path) -> None:
    """The check says which file it is, in one line."""
    try:
        problems = Workspace(root).check()
    except (DamagedError, InputError) as error:
        assert path.name == "manifest.json"
        problems = [str(error)]
    assert len(problems) == 1
    assert path.name in problems[0]
    assert len(problems[0].splitlines()) == 1


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_damage_is_named_and_misleads_nobody(revised: Revised, seed: int) -> None:
    chosen = random.Random(seed)
    files = sorted(path for path in revised.path.rglob("*") if path.is_file())
    for _ in range(DAMAGES):
        path = chosen.choice(files)
        before = path.read_bytes()
        what = damage(path, chosen)
        try:
            if path.name != "report.json":
                check_named(revised.path, path)
            found = read_everything(revised.path)
            assert found == revised.right, what
        except DamagedError as error:
            assert len(str(error).splitlines()) == 1, what  # noqa: PT017
        except InputError as error:
            assert "manifest.json" in what, error  # noqa: PT017
        finally:
            path.write_bytes(before)
    assert read_everything(revised.path) == revised.right


def test_an_undone_revision_is_damaged(revised: Revised) -> None:
    """What is there now can be read; going forward again cannot."""
    workspace = Workspace(revised.path)
    (number,) = workspace.manifest.tree.undone
    path = revised.path / "tree" / "revisions" / f"{number:05d}.json"
    before = path.read_bytes()
    path.write_bytes(before[:-20])
    try:
        assert len(workspace.check()) == 1
        assert workspace.tree["o/1"].label == "mine"
        with pytest.raises(DamagedError, match=path.name):
            workspace.redo()
    finally:
        path.write_bytes(before)
    assert read_everything(revised.path) == revised.right
