"""A file that another program cuts short while a command reads it: one line, no signal."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import strod
from tests.conftest import WORDS

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import mmap, os, sys, threading
from strod.cli.signals import catch_lost_pages
{before}
catch_lost_pages()
file = open(sys.argv[1], "r+b")
file.truncate(1 << 20)
data = mmap.mmap(file.fileno(), 0)
os.truncate(sys.argv[1], 0)
"""
READERS = {
    "python": "data[1 << 19]",
    "numpy, which lets other threads run": (
        "import numpy; numpy.frombuffer(data, 'u1').astype('f8').sum()"
    ),
    "compiled code": (
        "import numba, numpy\n"
        "numba.njit('i8(u1[:])', nogil=True)(lambda a: a.sum())"
        "(numpy.frombuffer(data, 'u1'))"
    ),
    "a thread": (
        "one = threading.Thread(target=lambda: data[5]); one.start(); one.join(); sys.exit(7)"
    ),
}

SEARCH = """
import os, sys
from pathlib import Path
import strod
from strod.cli.signals import catch_lost_pages
catch_lost_pages()
workspace = strod.Workspace(sys.argv[1] + ".strod")
assert workspace.search("river").total
for file in Path(sys.argv[1] + ".strod", "index", "text").rglob("*.*"):
    os.truncate(file, 0)
workspace.search("stone OR cloud")
"""


def ended(tmp_path: Path, program: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "file").touch()
    return subprocess.run(
        [sys.executable, "-c", program, tmp_path / "file"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_cut_while_it_is_mapped(tmp_path: Path, reader: str) -> None:
    found = ended(tmp_path, HEAD.format(before="") + READERS[reader])
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("strod: a file was cut short while it was read")
    assert found.stderr.count("\n") == 1


def test_an_index_that_is_cut_under_a_search(tmp_path: Path) -> None:
    texts = [" ".join(WORDS[i % 9 :]) for i in range(60)]
    strod.build(texts, out=tmp_path / "file.strod", children=2, height=1, min_df=1)
    found = ended(tmp_path, SEARCH)
    assert found.returncode == 1, found.stderr
    assert found.stderr.startswith("strod: a file was cut short while it was read")


def test_what_others_do_about_it_stays(tmp_path: Path) -> None:
    before = "import faulthandler; faulthandler.enable()"
    found = ended(tmp_path, HEAD.format(before=before) + READERS["python"])
    assert found.returncode == -7
    assert "Fatal Python error: Bus error" in found.stderr
