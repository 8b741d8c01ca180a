"""Writing aside, locking and renaming into place."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strod
from strod.errors import BusyError, StrodError, UsageError
from strod.store.arrays import ArrayWriter
from strod.store.publish import locked, publish_folder, write_json
from tests.conftest import check_error, names, texts
from tests.conftest import strod as run

ARRAYS = [
    np.arange(1000, dtype="<i8"),
    np.array([], dtype="<i4"),
    np.array([-3, 2**31 - 1, -(2**31)], dtype="<i4"),
    np.linspace(0, 1, 77),
    np.arange(10, dtype="<u1"),
]


@pytest.mark.parametrize("values", ARRAYS, ids=lambda values: f"{values.dtype}-{values.size}")
@pytest.mark.parametrize("pieces", [1, 3])
def test_arrays_are_what_numpy_saves(tmp_path: Path, values: np.ndarray, pieces: int) -> None:
    writer = ArrayWriter(tmp_path / "a.npy", values.dtype.str)
    for piece in np.array_split(values, pieces):
        writer.append(piece)
    assert writer.size == values.size
    writer.close()
    np.save(tmp_path / "b.npy", values)
    saved = np.load(tmp_path / "b.npy")
    for mode in (None, "r"):
        loaded = np.load(tmp_path / "a.npy", mmap_mode=mode, allow_pickle=False)
        assert loaded.dtype == saved.dtype
        np.testing.assert_array_equal(loaded, saved)


def test_arrays_are_cast_and_made_contiguous(tmp_path: Path) -> None:
    writer = ArrayWriter(tmp_path / "a.npy", "<i8")
    writer.append(np.arange(20, dtype=np.int16)[::2])
    writer.append(np.zeros(1))
    writer.close()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), [*range(0, 20, 2), 0])


def test_nothing_was_appended(tmp_path: Path) -> None:
    ArrayWriter(tmp_path / "a.npy", "<i4").close()
    assert np.load(tmp_path / "a.npy").shape == (0,)


def test_json_has_a_fixed_order(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": 1, "a": "Größe"})
    assert (tmp_path / "a.json").read_text("utf-8") == '{\n "a": "Größe",\n "b": 1\n}\n'


def publish(target: Path, content: str = "new", *, overwrite: bool = False) -> None:
    with publish_folder(target, overwrite=overwrite) as draft:
        (draft.folder / "corpus").mkdir()
        (draft.folder / "corpus" / "lexicon.parquet").write_text(content)
        (draft.folder / "manifest.json").write_text('{"format": "strod workspace"}')


def test_a_folder_appears_at_once(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    with publish_folder(target) as draft:
        folder = draft.folder
        assert folder.parent == tmp_path
        assert folder.name.startswith(".")
        assert not target.exists()
        (folder / "file").write_text("new")
    assert names(tmp_path) == ["w.strod"]
    assert (target / "file").read_text() == "new"


def _fail(target: Path, error: BaseException) -> None:
    with publish_folder(target, overwrite=target.exists()) as draft:
        (draft.folder / "file").write_text("new")
        raise error


@pytest.mark.parametrize("error", [KeyError("x"), OSError(5, "Input/output error"), SystemExit(3)])
def test_a_failure_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    expected = StrodError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        _fail(tmp_path / "w.strod", error)
    assert names(tmp_path) == []


def test_an_interruption_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    publish(target, "old")
    with pytest.raises(KeyboardInterrupt):
        _fail(target, KeyboardInterrupt())
    assert names(tmp_path) == ["w.strod"]
    assert (target / "corpus" / "lexicon.parquet").read_text() == "old"


def test_overwrite(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    publish(target, "old")
    with pytest.raises(UsageError, match="exists already"):
        publish(target)
    publish(target, overwrite=True)
    assert names(tmp_path) == ["w.strod"]
    assert (target / "corpus" / "lexicon.parquet").read_text() == "new"


def test_overwrite_without_an_old_one(tmp_path: Path) -> None:
    publish(tmp_path / "w.strod", overwrite=True)
    assert names(tmp_path) == ["w.strod"]


@pytest.mark.parametrize("kind", ["folder", "file", "empty folder"])
def test_overwrite_refuses_what_is_no_workspace(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "mine"
    if kind == "file":
        target.write_text("mine")
    else:
        target.mkdir()
    if kind == "folder":
        (target / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="is not a workspace"):
        publish(target, overwrite=True)
    assert names(tmp_path) == ["mine"]
    if kind == "folder":
        assert (target / "thesis.txt").read_text() == "years of work"


def test_missing_parent(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        publish(tmp_path / "none" / "w.strod")
    assert names(tmp_path) == []


def test_relative_and_trailing_slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    publish(Path("a.strod/"))
    publish(Path("./none/../b.strod"))
    assert names(tmp_path) == ["a.strod", "b.strod"]


def test_stale_leftovers_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    deep = tmp_path / ".w.strod.building" / "deep"
    deep.mkdir(parents=True)
    (deep / "file").write_text("stale")
    (deep.parent / ".strod-building").touch()
    (tmp_path / ".w.strod.lock").write_text("99999999\n")
    (tmp_path / ".other.building").mkdir()
    publish(target)
    assert names(tmp_path) == [".other.building", "w.strod"]
    assert not (target / "deep").exists()


def _holder(target: Path, holding: object, done: object) -> None:
    with publish_folder(target) as draft:
        (draft.folder / "file").write_text("theirs")
        holding.set()  # type: ignore[attr-defined]
        done.wait(300)  # type: ignore[attr-defined]


def test_a_second_builder_is_told_who_is_first(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    holding, done = context.Event(), context.Event()
    target = tmp_path / "w.strod"
    source = tmp_path / "a.txt"
    source.write_text("\n".join(texts(5)))
    process = context.Process(target=_holder, args=(target, holding, done))
    process.start()
    try:
        assert holding.wait(300)
        with pytest.raises(BusyError, match=f"process {process.pid} "):
            publish(target)
        check_error(run("build", source, "--out", target), f"process {process.pid} ", code=1)
        assert (tmp_path / ".w.strod.building" / "file").read_text() == "theirs"
        publish(tmp_path / "other.strod")  # another name is another lock
    finally:
        done.set()
        process.join(300)
    assert process.exitcode == 0
    assert names(tmp_path) == ["a.txt", "other.strod", "w.strod"]
    assert (target / "file").read_text() == "theirs"


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from strod.store.publish import publish_folder\n"
        "with publish_folder(Path(sys.argv[1])) as draft:\n"
        "    (draft.folder / 'file').write_text('theirs')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -9
    assert names(tmp_path) == [".w.strod.building", ".w.strod.lock"]
    publish(target)
    assert names(tmp_path) == ["w.strod"]
    assert not (target / "file").exists()


def test_a_signal_while_tidying_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the work when all is tidy."""
    unlink, calls = os.unlink, 0

    def interrupted(*arguments: Any, **more: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        unlink(*arguments, **more)

    def work() -> None:
        with publish_folder(tmp_path / "w.strod") as draft:
            for number in range(4):
                (draft.folder / str(number)).touch()
            monkeypatch.setattr(os, "unlink", interrupted)
            raise ValueError

    with pytest.raises(KeyboardInterrupt):
        work()
    assert calls == 7  # two files, a signal, three files, the lock
    assert names(tmp_path) == []


def test_a_signal_leaves_the_lock_of_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, unlink = tmp_path / ".w.strod.lock", os.unlink

    def interrupted(*arguments: Any, **more: Any) -> None:
        unlink(*arguments, **more)
        lock.write_text("somebody else")
        raise KeyboardInterrupt

    def work() -> None:
        with locked(lock):
            monkeypatch.setattr(os, "unlink", interrupted)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert lock.read_text() == "somebody else"


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system_open = os.open

    def refuse(path: os.PathLike[str], *arguments: int) -> int:
        if os.fspath(path).endswith(".lock"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return system_open(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UsageError, match="cannot be written: Permission denied"):
        publish(tmp_path / "w.strod")
    assert names(tmp_path) == []


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(StrodError, match="too long"):
        strod.build(texts(3), out=tmp_path / ("x" * 300))
    assert names(tmp_path) == []


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    strod.build(["river"], out=tmp_path / "real" / "x.strod")
    (tmp_path / "link.strod").symlink_to(tmp_path / "real" / "x.strod")
    for text in ("stone", "cloud"):
        strod.build([text], out=tmp_path / "link.strod", overwrite=True)
    assert (tmp_path / "link.strod").is_symlink()
    words = strod.open(tmp_path / "real" / "x.strod").corpus.vocabulary["word"].to_pylist()
    assert words == ["cloud"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.strod", "real"]


@pytest.mark.parametrize("name", [".w.strod.building", ".w.strod.old", ".w.strod.lock"])
def test_what_others_put_beside_the_target_stays(tmp_path: Path, name: str) -> None:
    """Under the names of our own leftovers, but not ours."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "precious").write_text("mine")
    if name == ".w.strod.old":
        publish(tmp_path / "w.strod")
    else:
        with pytest.raises(UsageError, match="move it away"):
            publish(tmp_path / "w.strod")
    assert (tmp_path / name / "precious").read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "dangling", "hard link", "pipe", "text"])
def test_a_lock_that_is_something_else_is_left_alone(tmp_path: Path, kind: str) -> None:
    lock, victim = tmp_path / ".w.strod.lock", tmp_path / "victim"
    if kind != "dangling":
        victim.write_text("precious")
    if kind in ("link", "dangling"):
        lock.symlink_to(victim)
    elif kind == "hard link":
        lock.hardlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.write_text("precious")
    with pytest.raises(UsageError, match="not a lock file"):
        publish(tmp_path / "w.strod")
    assert victim.exists() == (kind != "dangling")
    assert kind == "dangling" or victim.read_text() == "precious"
    assert os.path.lexists(lock)
    assert not (tmp_path / "w.strod").exists()


@pytest.mark.parametrize(
    "extra",
    ["my-notes.txt", "thesis/chapter.txt", "corpus/notes.txt", "corpus-backup/x", ".git/x"],
)
def test_overwrite_refuses_a_workspace_that_holds_more(tmp_path: Path, extra: str) -> None:
    strod.build(["river"], out=tmp_path / "w.strod")
    (tmp_path / "w.strod" / extra).parent.mkdir(exist_ok=True)
    (tmp_path / "w.strod" / extra).write_text("mine")
    with pytest.raises(UsageError, match="which strod did not write"):
        strod.build(["stone"], out=tmp_path / "w.strod", overwrite=True)
    assert (tmp_path / "w.strod" / extra).read_text() == "mine"
    assert strod.open(tmp_path / "w.strod").corpus.vocabulary["word"].to_pylist() == ["river"]


def test_overwrite_takes_a_workspace_whose_last_verb_was_killed(tmp_path: Path) -> None:
    strod.build(["river"], out=tmp_path / "w.strod")
    left = tmp_path / "w.strod" / ".change" / "tree" / "revisions" / "00002.json"
    left.parent.mkdir(parents=True)
    left.write_text("{")
    strod.build(["stone"], out=tmp_path / "w.strod", overwrite=True)
    assert strod.open(tmp_path / "w.strod").corpus.vocabulary["word"].to_pylist() == ["stone"]


def test_overwrite_refuses_a_manifest_of_another_program(tmp_path: Path) -> None:
    (tmp_path / "extension").mkdir()
    (tmp_path / "extension" / "manifest.json").write_text('{"manifest_version": 3}')
    (tmp_path / "extension" / "a.js").write_text("precious")
    with pytest.raises(UsageError, match="is not a workspace"):
        strod.build(["stone"], out=tmp_path / "extension", overwrite=True)
    assert (tmp_path / "extension" / "a.js").read_text() == "precious"


def test_what_was_put_aside_comes_back(tmp_path: Path) -> None:
    strod.build(["river"], out=tmp_path / "w.strod")
    (tmp_path / "w.strod").rename(tmp_path / ".w.strod.old")  # killed between two renames
    with pytest.raises(UsageError, match="exists already"):
        strod.build(["stone"], out=tmp_path / "w.strod")
    assert strod.open(tmp_path / "w.strod").corpus.vocabulary["word"].to_pylist() == ["river"]
