"""Helpers for tests that go through the command line."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from strod.cli.main import main
from strod.progress import Silent
from strod.store.files import Files
from strod.store.manifest import file_digests
from strod.workspace.warmup import compile_kernels
from strod.workspace.workspace import Workspace
from tests import chance  # noqa: F401 - decides what is drawn, before any test is read
from tests.browser import browser, chromium  # noqa: F401 - fixtures for all tests
from tests.compiled import compile_meanwhile, wait_for_machine_code
from tests.memory import folder_in_memory
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Tests may run where signals are ignored, in the background of a shell or by nohup; what they start
# must not.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _usual)

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)  # those that a command may catch
WORDS = ["river", "stone", "cloud", "market", "letter", "garden", "engine", "signal", "winter"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Prepare what all processes of a run share; the first of them does.

    Files go to memory, those of the product and of browsers too, unless `--basetemp` is given.
    """
    if hasattr(config, "workerinput"):
        return
    if not config.option.basetemp:
        room = contextlib.ExitStack()
        folder = room.enter_context(folder_in_memory())
        if folder is not None:
            config.add_cleanup(room.close)
            config.option.basetemp = folder / "tests"
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    if config.getoption("numprocesses", None):
        config.add_cleanup(compile_meanwhile())


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests begin once their machine code is there."""
    gc.collect()
    gc.freeze()  # thousands of tests and what they import: not to be looked through each time
    if hasattr(session.config, "workerinput"):
        wait_for_machine_code()


@dataclass(frozen=True)
class Outcome:
    """What a command ended with."""

    code: int
    out: str
    err: str


def strod(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run a command inside this process; anything but an exit is a failure of the test."""
    raw, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(raw, "utf-8", newline="", write_through=True)
    saved = sys.argv, sys.stdin
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    sys.argv = ["strod", *map(str, arguments)]
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(stdin))
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.argv, sys.stdin = saved
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return Outcome(code, raw.getvalue().decode(), err.getvalue())


def command(*arguments: object) -> list[str]:
    """The command line that runs strod in a process of its own."""
    return [sys.executable, "-m", "strod", *map(str, arguments)]


def strod_process(
    *arguments: object,
    stdin: bytes = b"",
    environment: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Outcome:
    """Run a command in a process of its own; one that hangs is a failure of the test."""
    done = subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        env=os.environ | (environment or {}),
        cwd=cwd,
        timeout=300,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def names(folder: Path) -> list[str]:
    """Everything in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path, *, without: str = "report.json") -> dict[str, bytes]:
    """Every file below a folder but the one whose bytes may differ."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != without)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def files_below(root: Path) -> Files:
    """The files of a folder, said to be what was written."""
    found = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return Files(root, file_digests(root, sorted(found)))


def json_lines(*records: object) -> bytes:
    """One record a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def texts(count: int, first: int = 0) -> list[str]:
    """Small texts, all different, made of a few words."""
    return [
        " ".join(WORDS[(i * 7 + j * j + j * (i % 3)) % len(WORDS)] for j in range(6))
        + f" item{i % 17}x"
        for i in range(first, first + count)
    ]


@dataclass
class Bench:
    """A folder with sources, and the workspace ``w.strod`` that is built from them."""

    folder: Path
    before: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        """Where builds go."""
        return self.folder / "w.strod"

    def write(self, name: str, data: bytes) -> Path:
        """Make a source."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def build(self, *arguments: object, stdin: bytes = b"") -> Outcome:
        """Run ``strod build``."""
        self.before = names(self.folder)
        return strod("build", *arguments, "--out", self.workspace, "--workers", 2, stdin=stdin)

    @property
    def documents(self) -> dict[str, Any]:
        """What the report says about documents."""
        found: dict[str, Any] = Workspace(self.workspace).report["documents"]
        return found

    def check_built(self, outcome: Outcome, kept: int, reasons: dict[str, list[str]]) -> None:
        """The build went well, with exactly these documents kept and rejected."""
        assert (
            outcome.code,
            [x for x in outcome.err.splitlines() if "strod:" in x and "strod: warning" not in x],
        ) == (0, [])
        documents = self.documents
        expected = {
            reason: {"count": len(where), "first": where[:5]} for reason, where in reasons.items()
        }
        assert documents["reasons"] == expected
        assert documents["rejected"] == sum(map(len, reasons.values()))
        assert documents["kept"] == kept
        assert documents["read"] == documents["kept"] + documents["rejected"]
        workspace = Workspace(self.workspace)
        assert workspace.corpus.documents == kept
        assert sum(shard.size for shard in workspace.corpus.shards()) == kept
        assert workspace.check() == []
        assert names(self.folder) == sorted({*self.before, "w.strod"})

    def check_failed(self, outcome: Outcome, *phrases: str, code: int = 2) -> None:
        """The build ended with one line that says all of `phrases`, and left nothing behind."""
        check_error(outcome, *phrases, code=code)
        assert names(self.folder) == self.before


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted documents are treated as text is, whose spectrum has no end."""
    monkeypatch.setattr("strod.model.decompose.may_end", lambda *_: False)


def check_error(outcome: Outcome, *phrases: str, code: int = 2) -> None:
    """The command ended with one line on standard error that says all of `phrases`."""
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    errors = [line for line in lines if line.startswith("strod: ")]
    stages = [line for line in lines if line.endswith(" s") and ": " in line]
    assert len(errors) == 1, outcome.err
    assert lines == [*stages, *errors], outcome.err
    for phrase in phrases:
        assert phrase in errors[0]
    assert outcome.code == code, outcome.err


@pytest.fixture(autouse=True, scope="module")
def _collected() -> Iterator[None]:
    """Workspaces that nobody holds any more keep their files open until they are collected."""
    yield
    gc.collect()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty folder to build in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Bench(folder)


@pytest.fixture(scope="session")
def warm() -> None:
    """Kernels are compiled, so that what follows is the build alone."""
    compile_kernels(Silent())


@pytest.fixture(scope="session")
def small_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace to read from; tests that change one copy it first."""
    folder = tmp_path_factory.mktemp("small")
    source = folder / "small.jsonl"
    source.write_bytes(
        json_lines(*({"id": f"d{i}", "text": text, "n": i} for i, text in enumerate(texts(60))))
    )
    outcome = strod("build", source, "--meta", "n", "--out", folder / "small.strod", "--quiet")
    assert outcome.code == 0, outcome.err
    return folder / "small.strod"


@pytest.fixture(scope="session")
def tree_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a tree of two levels, the second from decompositions of its own."""
    folder = tmp_path_factory.mktemp("tree")
    source = folder / "tree.jsonl"
    records = ({"id": f"d{i}", "text": text} for i, text in enumerate(planted_texts(400)))
    source.write_bytes(json_lines(*records))
    arguments = ["--height", 2, "--children", 3, "--lookahead", "off", "--quiet"]
    outcome = strod("build", source, *arguments, "--out", folder / "tree.strod")
    assert outcome.code == 0, outcome.err
    return folder / "tree.strod"


@pytest.fixture
def make_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Path]]:
    """Make disks of so many kilobytes; without the right to mount, writes fail instead."""
    mounted: list[Path] = []

    def make(kilobytes: int) -> Path:
        disk = tmp_path / f"disk-{kilobytes}"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        try:
            subprocess.run(mount, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"a full disk is imitated: {error}")
            _limit_writes(monkeypatch, kilobytes << 10)
        else:
            mounted.append(disk)
        return disk

    yield make
    gc.collect()  # Arrow closes the files of a failed build only now
    for disk in mounted:
        subprocess.run(["umount", str(disk)], check=True)


def _limit_writes(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    left = size
    write = os.write

    def limited(descriptor: int, data: Any) -> int:
        nonlocal left
        left -= len(data)
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", limited)
