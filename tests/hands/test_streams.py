"""How a command ends: closed streams, readers that leave, a terminal that goes, strange folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Outcome, command, names, strod_process

if TYPE_CHECKING:
    from pathlib import Path


def in_shell(script: str, *arguments: object) -> Outcome:
    """A command in bash, as ``"$@"``."""
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {script}", "bash", *command(*arguments)],
        capture_output=True,
        timeout=300,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"], ["assign"], ["check"]])
def test_closed_output(kept: Path, arguments: list[str]) -> None:
    """As ``cat`` says it."""
    outcome = in_shell('"$@" >&-', arguments[0], kept, *arguments[1:])
    told = [line for line in outcome.err.splitlines() if line.startswith("strod: ")]
    assert told == ["strod: standard output: Bad file descriptor"]
    assert "Traceback" not in outcome.err
    assert outcome.code == 1


def test_closed_error(kept: Path) -> None:
    outcome = in_shell('"$@" 2>&-', "show", kept, "--depth", 0)
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 2)
    refused = in_shell('"$@" 2>&-', "show", kept, "o/9")
    assert (refused.code, refused.out) == (2, "")
    both = in_shell('"$@" >&- 2>&-', "show", kept)
    assert both.code == 1


def test_closed_input(kept: Path) -> None:
    outcome = in_shell('"$@" <&-', "assign", kept, "-")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("strod: ")


def test_a_reader_of_one_line(kept: Path) -> None:
    """Quiet, and 141 for pipefail, as with any tool that is ended by SIGPIPE."""
    sources = [kept.parent / "t.jsonl"] * 12  # more than a pipe holds
    outcome = in_shell('"$@" | head -1', "assign", kept, *sources, "-q")
    assert (outcome.code, outcome.err) == (128 + signal.SIGPIPE, "")
    assert len(outcome.out.splitlines()) == 1


HANG_UP = """
import os, signal, sys
from strod.corpus import ingest
import strod.corpus.build as build
def gone(*_, **__):
    os.kill(os.getpid(), signal.SIGHUP)
    signal.pause()
build.ingest = gone
from strod.cli.main import main
sys.argv = ["strod", "build", sys.argv[1], "-o", sys.argv[2], "-q"]
main()
"""


def test_a_terminal_that_goes(kept: Path, tmp_path: Path) -> None:
    """SIGHUP ends a build as SIGTERM does: nothing is left behind."""
    script = tmp_path / "hang.py"
    script.write_text(HANG_UP)
    work = tmp_path / "work"
    work.mkdir()
    source, target = kept.parent / "t.jsonl", work / "w.strod"
    arguments = [sys.executable, str(script), str(source), str(target)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 128 + signal.SIGHUP, done.stderr
    assert done.stderr == "strod: stopped; nothing is half done\n"
    assert names(work) == []


@pytest.mark.parametrize("module", ["orjson", "typing", "numpy", "typer", "json", "__future__"])
def test_the_current_folder_is_not_imported_from(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("open('PWNED', 'w').close()\n")
    outcome = strod_process("--version", cwd=tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert names(tmp_path) == [f"{module}.py"]


@pytest.mark.parametrize("module", ["pickle", "signal", "json"])
def test_nor_is_it_by_workers(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("open('PWNED', 'w').close()\n")
    (tmp_path / "t.txt").write_text("river stone\nstone cloud\nriver cloud\n")
    arguments = ["build", "t.txt", "-o", "w.strod", "--engine", "processes", "-q"]
    outcome = strod_process(*arguments, cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert names(tmp_path) == [f"{module}.py", "t.txt", "w.strod"]


def test_a_script_needs_no_guard_for_its_workers(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import strod\n"
        "texts = ['river stone', 'stone cloud', 'river cloud'] * 20\n"
        "print(strod.build(texts, out='w.strod', engine='processes', workers=2).corpus.documents)\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "60\n"


def test_a_folder_that_was_asked_for_stays(tmp_path: Path) -> None:
    """Only what ``python -m`` puts first is taken off, not what PYTHONPATH names."""
    (tmp_path / "mine.py").write_text("def words(text):\n    return [text.split()]\n")
    (tmp_path / "t.txt").write_text("river stone\nstone cloud\nriver cloud\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    arguments = ["build", "t.txt", "-o", "w.strod", "--tokenizer", "mine:words", "-q"]
    outcome = strod_process(*arguments, cwd=tmp_path, environment={"PYTHONPATH": path})
    assert outcome.code == 0, outcome.err
