"""Machine code: kept on disk, made anew when it is stale, done without where there is no disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import strod
from tests.chance import long_but
from tests.conftest import json_lines, strod_process
from tests.planted_text import planted_texts

ROOT = Path(strod.__file__).parent
SMALL = ("--height", "1", "--children", "2", "--phrase-min-count", "5", "--quiet")
TOLD = (
    "strod: no folder to keep machine code in can be written: every run compiles anew; "
    "NUMBA_CACHE_DIR names one"
)
APPLY = """
import numpy as np
from strod.moments.moments import _apply
out = np.zeros((1, 4))
_apply(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), np.ones((1, 4)), out)
print(out[0, 0], sum(_apply.stats.cache_hits.values()))
"""


def run(program: str, *arguments: str, **environment: str) -> str:
    """What a Python program prints in a process of its own, which must end well."""
    command = [sys.executable, "-c", program, *arguments]
    variables = os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    return done.stdout


def applied(package: Path, **environment: str) -> tuple[float, int]:
    """A small product, and how often machine code was found on disk for it."""
    result, found = run(APPLY, PYTHONPATH=str(package.parent), **environment).split()
    return float(result), int(found)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package that may be changed."""
    copy = tmp_path / "strod"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.long
def test_machine_code_is_stale_when_a_shared_file_changes(copied: Path, tmp_path: Path) -> None:
    """Sums are wrong once the code of a lane is, and right without lanes; no file is left over."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert applied(copied, **cache) == (1, 0)
    assert applied(copied, **cache) == (1, 1)
    before = {path.name for path in tmp_path.rglob("*.nb[ic]")}
    lanes = copied / "compute/lanes.py"
    text = lanes.read_text()
    product = "product = code.builder.fmul(factor, own)\n"
    assert product in text
    twice = product + " " * 12 + "product = code.builder.fadd(product, product)\n"
    lanes.write_text(text.replace(product, twice))
    assert applied(copied, **cache) == (2, 0)
    assert applied(copied, **cache) == (2, 1)
    after = {path.name for path in tmp_path.rglob("*.nb[ic]")}
    assert len(after) == len(before)
    assert not after & before
    assert applied(copied, **cache, STROD_PLAIN="1") == (1, 0)
    assert applied(copied, **cache, NUMBA_BOUNDSCHECK="1") == (1, 0)
    assert applied(copied, **cache) == (2, 1)


CHOSEN = """
import numba, sys
from llvmlite import ir
if "refuse" in sys.argv:
    def refuse(*_, **__):
        raise TypeError("no such vectors")
    ir.IRBuilder.shuffle_vector = refuse
import numpy as np
from strod.compute import rows
from strod.model.inference import infer
from strod.values.split import FineTopics
from strod.moments.counts import Counts
random = np.random.default_rng(0)
sizes = random.integers(0, 12, 20)
tokens = np.ones(sizes.sum(), dtype=np.float32)
words = random.integers(0, 50, sizes.sum()).astype(np.int32)
counts = Counts(np.concatenate([[0], np.cumsum(sizes)]), words, tokens, tokens, 50)
topics = FineTopics(random.random((5, 50), dtype=np.float32))
print(rows.divide.__module__, infer(topics, counts, evidence=True).evidence.tobytes().hex())
"""


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ((), {"STROD_PLAIN": "1"}),
        ((), {"NUMBA_DISABLE_JIT": "1"}),
        ((), {"NUMBA_BOUNDSCHECK": "1"}),
        (("refuse",), {}),
    ],
    ids=str,
)
def test_without_lanes_all_is_the_same(
    arguments: tuple[str, ...], environment: dict[str, str], tmp_path: Path
) -> None:
    if arguments:
        environment = environment | {"NUMBA_CACHE_DIR": str(tmp_path)}
    module, found = run(CHOSEN, *arguments, **environment).split()
    fast, expected = run(CHOSEN, STROD_PLAIN="0").split()
    assert (module, fast) == ("strod.compute.plain", "strod.compute.lanes")
    assert found == expected


def test_bounds_are_checked_where_that_is_asked_for() -> None:
    """What `make test-bounds` rests on: with lanes nothing would be seen."""
    beyond = APPLY.replace("np.zeros(1, np.int32)", "np.full(1, 99, np.int32)")
    with pytest.raises(subprocess.CalledProcessError) as ended:
        run(beyond, NUMBA_BOUNDSCHECK="1")
    assert "IndexError: index is out of bounds" in ended.value.stderr


def source(folder: Path, documents: int) -> Path:
    """Texts with some topics."""
    path = folder / "texts.jsonl"
    path.write_bytes(json_lines(*({"text": text} for text in planted_texts(documents))))
    return path


def strod_with(environment: dict[str, str], *arguments: object) -> str:
    """What a command prints, with this environment; it must end well and have nothing to say."""
    done = strod_process(*arguments, environment=environment)
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("variable", long_but([], ["NUMBA_DISABLE_JIT", "STROD_PLAIN"]))
def test_a_tree_without_lanes_and_without_a_compiler(variable: str, tmp_path: Path) -> None:
    texts = source(tmp_path, 60)
    trees: list[Any] = []
    for environment in ({}, {variable: "1"}):
        out = tmp_path / f"{len(trees)}.strod"
        strod_with(environment, "build", texts, "--out", out, *SMALL)
        trees.append(json.loads(strod_with(environment, "show", out, "--json"))["topics"])
    assert len(trees[0]) > 1
    assert trees[0] == trees[1]


COMMANDS = """
import sys
from tests.conftest import strod
for line in sys.argv[1:]:
    outcome = strod(*line.split())
    print(line, outcome.code, outcome.err.strip())
"""


@pytest.fixture
def nowhere(copied: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which no folder for machine code can be made, not even by root."""
    file = tmp_path / "file"
    file.touch()
    for folder in {path.parent for path in copied.rglob("*.py")}:
        (folder / "__pycache__").touch()
    path = os.pathsep.join([str(copied.parent), str(Path(__file__).parents[2])])
    below = ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    return {"PYTHONPATH": path} | {name: str(file / name) for name in below}


def lines_of(commands: list[str], environment: dict[str, str]) -> tuple[list[str], list[str]]:
    """How each of some commands ended, and what was said besides, in one process."""
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *commands],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_without_a_folder_for_machine_code(
    nowhere: dict[str, str], tree_workspace: Path, tmp_path: Path
) -> None:
    """A command that compiles works and says once that it compiles anew each time."""
    copy = tmp_path / "w.strod"
    shutil.copytree(tree_workspace, copy)
    texts = source(tmp_path, 3)
    done = strod_process("assign", copy, texts, "--quiet", environment=nowhere)
    assert (done.code, done.err.splitlines()) == (0, [TOLD])
    assert done.out == strod_with({}, "assign", copy, texts, "--quiet")


@pytest.mark.long
def test_every_command_without_a_folder_for_machine_code(
    nowhere: dict[str, str], tmp_path: Path
) -> None:
    texts, out = source(tmp_path, 200), tmp_path / "w.strod"
    commands = [
        f"build {texts} --out {out} --height 2 --children 2 --quiet",
        f"show {out}",
        f"history {out}",
        f"check {out}",
        f"assign {out} --quiet",
        f"evaluate {out} --quiet",
        f"expand {out} o/1 --children 2 --fresh --quiet",
        f"rename {out} o/1 name",
        f"add {out} {texts} --quiet",
        f"undo {out}",
        f"export {out} --to csv --out {tmp_path / 'csv'} --quiet",
        f"compact {out}",
    ]
    ended, said = lines_of(commands, nowhere)
    assert [line for line in ended if not line.endswith(" 0 ")] == []
    assert said == [TOLD]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only as root")
def test_as_a_user_who_can_write_nowhere(copied: Path, tmp_path: Path) -> None:
    """Without a home: nothing is made where the user stands, not even a folder ``~``."""
    here = tmp_path / "here"
    here.mkdir(mode=0o777)
    here.chmod(0o777)
    may = ["--inh-caps", "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search"]
    user = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups", *may]
    environment = os.environ | {"PYTHONPATH": str(copied.parent)}
    for name in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        [*user, sys.executable, "-c", APPLY],
        capture_output=True,
        text=True,
        check=False,
        cwd=here,
        env=environment,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1.0 0\n", f"{TOLD}\n")
    assert list(here.iterdir()) == []
    assert list(copied.rglob("*.nbi")) == []
