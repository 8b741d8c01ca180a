"""What checksums cannot tell: files that were written wrongly, with the right checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from strod.store.manifest import NAME, file_digests, seal
from strod.store.schema import as_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.workspace.workspace import Workspace


def resealed(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a JSON file and give it the checksum of what it says now."""
    content = json.loads(path.read_text())
    content.pop("sha256")
    change(content)
    path.write_text(json.dumps(content | {"sha256": seal(content)}))


def recorded(root: Path) -> None:
    """Give the manifest the checksums of the files as they are."""

    def change(manifest: dict[str, Any]) -> None:
        found = file_digests(root, list(manifest["parts"]))
        manifest["parts"] = {name: as_json(digest) for name, digest in found.items()}

    resealed(root / NAME, change)


def topic(content: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = content["topics"][number]
    return found


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "weight": (lambda c: topic(c, 1).update(weight=0.9), "do not add up"),
    "documents": (lambda c: topic(c, 1).update(documents=0), "do not have its documents"),
    "level": (lambda c: topic(c, 1).update(level=2), "the wrong level or number"),
    "parent": (lambda c: topic(c, 5).update(parent="0" * 12), "a child that is not its own"),
    "children": (lambda c: topic(c, 1)["children"].append("0" * 12), "a child that is not its own"),
    "split": (lambda c: topic(c, 1).update(components=[["x", [0]]]), "'x' is missing"),
    "fine": (lambda c: topic(c, 1).update(components=[["o", [99]]]), "o has fewer topics"),
    "heads": (lambda c: topic(c, 1).update(top_words=[10**6]), "headed by a word"),
    "checksum": (lambda c: topic(c, 1).update(sha256="0" * 64), "another checksum"),
    "root": (lambda c: topic(c, 0).update(id="0" * 12), "not one root"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_revision_that_cannot_be(workspace: Workspace, what: str) -> None:
    change, told = WRONG[what]
    path = workspace.path / "tree" / "revisions" / "00001.json"
    resealed(path, change)
    recorded(workspace.path)
    problems = workspace.check()
    assert any(told in problem for problem in problems)


def rewrite(path: Path, change: Callable[[Any], None]) -> None:
    array = np.load(path)
    change(array)
    np.save(path, array)


def put(place: int, value: float) -> Callable[[Any], None]:
    def change(array: Any) -> None:
        array.reshape(-1)[place] = value

    return change


ARRAYS = {
    "corpus/0000/indices.npy": (put(0, 10**6), "columns that are not there"),
    "corpus/0000/counts.npy": (put(0, 0), "counts below 1"),
    "corpus/0000/tokens.npy": (put(0, 10**6), "not in the lexicon"),
    "corpus/0000/indptr.npy": (put(1, 10**6), "end before they begin"),
    "tree/splits/o/0000/values.npy": (put(0, 3.0), "shares that are none"),
    "tree/splits/o/0000/indices.npy": (put(0, 999), "topics that are not there"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_cannot_be(workspace: Workspace, name: str) -> None:
    change, told = ARRAYS[name]
    rewrite(workspace.path / name, change)
    recorded(workspace.path)
    problems = workspace.check()
    assert any(told in problem and name.rsplit("/", 1)[0] in problem for problem in problems)


def test_words_that_are_no_distribution(workspace: Workspace) -> None:
    name = workspace.tree["o/1"].id
    (path,) = (workspace.path / "tree" / "words").glob(f"{name}-*.npy")
    rewrite(path, put(0, 2.0))
    recorded(workspace.path)
    assert any("do not add up to 1" in problem for problem in workspace.check())


def test_a_split_that_cannot_be(workspace: Workspace) -> None:
    path = workspace.path / "tree" / "splits" / "o" / "split.json"
    resealed(path, lambda content: content["weights"].__setitem__(0, 0.9))
    recorded(workspace.path)
    assert any("do not add up to 1" in problem for problem in workspace.check())


def test_shares_that_are_missing(workspace: Workspace) -> None:
    def change(manifest: dict[str, Any]) -> None:
        parts = manifest["parts"]
        for name in [name for name in parts if name.startswith("tree/splits/o/0000/")]:
            del parts[name]

    resealed(workspace.path / NAME, change)
    assert any("not in the manifest" in problem for problem in workspace.check())
