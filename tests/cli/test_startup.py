"""Reading commands start at once: none of them loads what only computing needs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("numba", "scipy", "pandas", "sklearn")
RUN = f"""
import sys
from strod.cli.main import main
try:
    main()
finally:
    print("loaded:", *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""


def loaded(*arguments: str) -> list[str]:
    """What a command has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(
    "command",
    [
        "show W", "show W --json", "show W --words 3", "show W --documents 2", "history W",
        "check --help", "export W --to json", "export W --to markdown", "export W --to skos",
        "export W --to graphml", "export W --to html", "export W --to csv --out OUT",
        "export W --to parquet --out OUT", "export W --to site --out OUT",
    ],
)  # fmt: skip
def test_reading_loads_nothing_heavy(tree_workspace: Path, tmp_path: Path, command: str) -> None:
    names = {"W": str(tree_workspace), "OUT": str(tmp_path / "tables")}
    assert loaded(*(names.get(word, word) for word in command.split())) == []


def test_verbs_that_learn_nothing_load_nothing_heavy(tree_workspace: Path, tmp_path: Path) -> None:
    copy = str(shutil.copytree(tree_workspace, tmp_path / "w.strod"))
    for words in (["rename", copy, "o/1", "x"], ["pin", copy, "o/1"], ["unpin", copy, "o/1"],
                  ["collapse", copy, "o/2"], ["undo", copy], ["redo", copy]):  # fmt: skip
        assert loaded(*words, "-q") == [], words


def test_what_is_heavy_is_seen(tree_workspace: Path) -> None:
    """The test above can fail: a verb that learns does load it."""
    assert "numba" in loaded("expand", str(tree_workspace), "o/1", "--dry-run", "-q")
