"""The manifest: what a workspace says about itself."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod import __version__
from strod.errors import DamagedError, InputError, StrodError
from strod.store.manifest import FORMAT, VERSION, checksum, file_digests, read_manifest
from strod.store.schema import FileRecord, as_json
from tests.conftest import check_error
from tests.conftest import strod as run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path, small_workspace: Path) -> Path:
    """A workspace to damage."""
    return shutil.copytree(small_workspace, tmp_path / "w.strod")


def change(workspace: Path, **values: Any) -> None:
    path = workspace / "manifest.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | values), "utf-8")


def test_every_file_has_its_checksum(small_workspace: Path) -> None:
    manifest = read_manifest(small_workspace)
    assert manifest.format == FORMAT
    assert manifest.version == VERSION
    assert manifest.writer == f"strod {__version__}"
    files = {
        path.relative_to(small_workspace).as_posix(): path.read_bytes()
        for path in small_workspace.rglob("*")
        if path.is_file() and path.parent != small_workspace
    }
    assert manifest.parts == {
        name: FileRecord(bytes=len(data), sha256=sha256(data).hexdigest())
        for name, data in files.items()
    }
    for part in ("corpus", "phrases", "tree"):
        own = {n: digest for n, digest in manifest.parts.items() if n.startswith(f"{part}/")}
        assert own
        assert getattr(manifest, part).sha256 == checksum(own)
    assert all(name.startswith(("corpus/", "phrases/", "tree/")) for name in manifest.parts)


def test_digests_do_not_depend_on_workers(small_workspace: Path) -> None:
    parts = list(read_manifest(small_workspace).parts)
    assert file_digests(small_workspace, parts, 1) == file_digests(small_workspace, parts, 4)


def test_checksum_depends_on_names_and_contents() -> None:
    one, two = (FileRecord(bytes=1, sha256=letter * 64) for letter in "ab")
    sums = {
        checksum({}),
        checksum({"x": one}),
        checksum({"y": one}),
        checksum({"x": two}),
        checksum({"x": one, "y": two}),
    }
    assert len(sums) == 5
    assert checksum({"x": one, "y": two}) == checksum({"y": two, "x": one})


def test_no_such_workspace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such workspace"):
        read_manifest(tmp_path / "none")


def test_not_a_workspace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a workspace"):
        read_manifest(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder"):
        read_manifest(tmp_path / "file")


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_future_version_is_refused_by_name(workspace: Path, command: str) -> None:
    change(workspace, version=VERSION + 1, writer="strod 9.9.9")
    with pytest.raises(DamagedError, match=rf"version {VERSION + 1}.* to {VERSION};.*9\.9\.9"):
        strod.open(workspace)
    outcome = run(command, workspace)
    check_error(outcome, f"version {VERSION + 1}", "strod 9.9.9", str(workspace), code=1)


DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "cut": b'{"format": "strod workspace", "version": 1, "par',
    "not JSON": b"river",
    "not UTF-8": b'{"format": "\xff"}',
    "NUL": b"\0" * 500,
    "array": b"[]",
    "number": b"1",
    "another format": b'{"format": "other", "version": 1}',
    "no version": b'{"format": "strod workspace"}',
    "version is text": b'{"format": "strod workspace", "version": "1"}',
    "nothing else": b'{"format": "strod workspace", "version": 1}',
    "parts is null": b'{"format": "strod workspace", "version": 1, "parts": null, "corpus": {}}',
    "corpus is null": b'{"format": "strod workspace", "version": 1, "parts": {}, "corpus": null}',
    "no corpus": b'{"format": "strod workspace", "version": 1, "parts": {}}',
    "part without digest": b'{"format": "strod workspace", "version": 1, "corpus": {}, '
    b'"parts": {"corpus/lexicon.parquet": {}}}',
    "nested": b"[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("command", ["show", "check"])
def test_a_damaged_manifest(workspace: Path, command: str, name: str) -> None:
    (workspace / "manifest.json").write_bytes(DAMAGES[name])
    check_error(run(command, workspace), str(workspace / "manifest.json"), code=1)


@pytest.mark.parametrize("name", DAMAGES)
def test_overwrite_replaces_a_damaged_workspace(workspace: Path, name: str) -> None:
    (workspace / "manifest.json").write_bytes(DAMAGES[name])
    built = strod.build(["river stone", "cloud market"], out=workspace, overwrite=True)
    assert built.check() == []


def test_a_changed_number_is_found(workspace: Path) -> None:
    corpus = as_json(read_manifest(workspace).corpus)
    change(workspace, corpus=corpus | {"documents": corpus["documents"] + 1})
    with pytest.raises(StrodError, match="manifest"):
        strod.open(workspace)
    check_error(run("check", workspace), "manifest.json", code=1)
