"""A build that is killed leaves no half workspace, and the next one is as if nothing had been."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from strod.workspace import Workspace
from tests.conftest import Outcome, command, contents, json_lines, names
from tests.conftest import strod as run

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = 20_000
MOMENTS = 20


@dataclass(frozen=True)
class Undisturbed:
    """A build that nobody disturbed: its bytes, and when it did what."""

    source: Path
    contents: dict[str, bytes]
    begins: float
    ends: float


def start(source: Path, target: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("build", source, "--out", target, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Outcome:
    out, err = process.communicate(timeout=300)
    return Outcome(process.returncode, out, err)


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The corpus, and a build of it that is timed after a first one has warmed everything up."""
    folder = tmp_path_factory.mktemp("undisturbed")
    chosen = random.Random(5)
    words = ["".join(chosen.choices("abcdefghij", k=chosen.randint(3, 9))) for _ in range(5000)]
    records = ({"id": i, "text": " ".join(chosen.choices(words, k=80))} for i in range(DOCUMENTS))
    source = folder / "a.jsonl"
    source.write_bytes(json_lines(*records))
    begins = ends = 0.0
    for _ in range(2):
        target = folder / "w.strod"
        shutil.rmtree(target, ignore_errors=True)
        began = time.monotonic()
        process = start(source, target)
        wait_for(folder / ".w.strod.building", process)
        begins = time.monotonic() - began
        outcome = finish(process)
        ends = time.monotonic() - began
        assert outcome.code == 0, outcome.err
        assert Workspace(target).check() == []
    assert names(folder) == ["a.jsonl", "w.strod"]
    return Undisturbed(source, contents(target), begins, ends)


def check_rerun(undisturbed: Undisturbed, target: Path, *options: str) -> None:
    """After a kill there is nothing or everything, and the same command makes it good."""
    if target.exists():
        assert Workspace(target).check() == []
    if not options and target.exists():
        assert contents(target) == undisturbed.contents
        shutil.rmtree(target)
    outcome = run("build", undisturbed.source, "--out", target, "--quiet", *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert contents(target) == undisturbed.contents
    assert names(target.parent) == [target.name]


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_kill(undisturbed: Undisturbed, tmp_path: Path, moment: int) -> None:
    target = tmp_path / "w.strod"
    process = start(undisturbed.source, target)
    # One before the folder is there, one after the end, the others in between.
    if moment > 0:
        wait_for(tmp_path / ".w.strod.building", process)
        time.sleep((undisturbed.ends - undisturbed.begins) * (moment - 1) / (MOMENTS - 2))
    else:
        time.sleep(undisturbed.begins / 2)
    process.send_signal(signal.SIGKILL)
    outcome = finish(process)
    stages = ", ".join(line.split(":")[0] for line in outcome.err.splitlines())
    print(f"ended with {outcome.code} after: {stages or 'nothing'}; left: {names(tmp_path)}")
    check_rerun(undisturbed, target)


# Runs the command with a function replaced by one that kills the process before or after.
KILLER = """
import os, signal, sys
from pathlib import Path
from strod.cli.main import main
from strod.store import publish

owner, name, when, at = sys.argv[1:5]
owner = {"publish": publish, "Path": Path, "os": os}[owner]
function, calls = getattr(owner, name), 0

def killer(*arguments, **more):
    global calls
    calls += 1
    if calls == int(at) and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = function(*arguments, **more)
    if calls == int(at):
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(owner, name, killer)
sys.argv = ["strod", *sys.argv[5:]]
main()
"""
PLACES = [
    "new publish sync_tree before 1",
    "new os fsync after 3",
    "new publish put_in_place before 1",
    "new Path rename before 1",
    "new Path rename after 1",
    "new publish put_in_place after 1",
    "overwrite publish sync_tree before 1",
    "overwrite publish put_in_place before 1",
    "overwrite publish _exchange before 1",
    "overwrite publish _exchange after 1",
    "overwrite publish put_in_place after 1",
]


@pytest.mark.parametrize("place", PLACES)
def test_kill_while_publishing(undisturbed: Undisturbed, tmp_path: Path, place: str) -> None:
    target = tmp_path / "w.strod"
    how, *where = place.split()
    options = ["--overwrite"] if how == "overwrite" else []
    if options:
        shutil.copytree(undisturbed.source.parent / "w.strod", target)
    build = ["build", str(undisturbed.source), "--out", str(target), *options]
    done = subprocess.run(
        [sys.executable, "-c", KILLER, *where, *build],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    if options:
        assert contents(target) == undisturbed.contents  # at no time there is none
    check_rerun(undisturbed, target, *options)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals(undisturbed: Undisturbed, tmp_path: Path, name: str, share: float) -> None:
    target = tmp_path / "w.strod"
    process = start(undisturbed.source, target)
    wait_for(tmp_path / ".w.strod.building", process)
    time.sleep((undisturbed.ends - undisturbed.begins) * share)
    number = signal.Signals[name]
    process.send_signal(number)
    outcome = finish(process)
    if target.exists():  # it was faster this time
        assert contents(target) == undisturbed.contents
        assert names(tmp_path) == ["w.strod"]
        return
    assert outcome.code == 128 + number, outcome.err
    assert outcome.out == ""
    told = [line for line in outcome.err.splitlines() if not line.endswith(" s")]
    assert len(told) <= 1
    assert all(line.startswith("strod: ") for line in told)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_keep_the_old_workspace(
    undisturbed: Undisturbed, tmp_path: Path, name: str
) -> None:
    target = shutil.copytree(undisturbed.source.parent / "w.strod", tmp_path / "w.strod")
    process = start(undisturbed.source, target, "--overwrite")
    wait_for(tmp_path / ".w.strod.building", process)
    process.send_signal(signal.Signals[name])
    outcome = finish(process)
    assert outcome.code == 128 + signal.Signals[name], outcome.err
    assert names(tmp_path) == ["w.strod"]
    assert contents(target) == undisturbed.contents


def test_an_interrupted_pipe(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Control-C while strod waits for standard input."""
    process = subprocess.Popen(
        command("build", "-", "--out", tmp_path / "w.strod"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(undisturbed.source.read_bytes()[:100])
    process.stdin.flush()
    while not (tmp_path / ".w.strod.building" / "spill").exists() and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    code = process.wait(timeout=300)
    err = process.communicate()[1].decode()
    assert code == 130, err
    assert [line for line in err.splitlines() if not line.startswith("strod: ")] == []
    assert names(tmp_path) == []
