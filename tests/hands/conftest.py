"""Workspaces to use with one's own hands: metadata, five children, and texts that attack."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import json_lines, strod
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

# The title of a terminal, its colour in two ways, the direction of text, a line, a deletion.
BAD = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202e\u2066\u2028\n\x7f"
SUBJECTS = ["art", "law", None]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with metadata of every kind, and the source that it is built from."""
    folder = tmp_path_factory.mktemp("kept")
    records = [
        {"id": f"d{i}", "text": text, "date": f"2020-01-{1 + i % 28:02d}", "n": i,
         "label": SUBJECTS[i % 3], "tags": [["x", "y"], ["y", "z", "x"], ["z"]][i % 3],
         "way": [["a"], ["a", "b"], ["c", "d"]][i % 3]}
        for i, text in enumerate(planted_texts(300))
    ]  # fmt: skip
    (folder / "t.jsonl").write_bytes(json_lines(*records))
    fields = [part for name in ("date", "n", "label", "tags", "way") for part in ("--meta", name)]
    arguments = ["--children", 3, *fields, "--quiet"]
    outcome = strod("build", folder / "t.jsonl", *arguments, "--out", folder / "w.strod")
    assert outcome.code == 0, outcome.err
    return folder / "w.strod"


@pytest.fixture
def workspace(kept: Path, tmp_path: Path) -> Workspace:
    """A copy of it, to change."""
    return Workspace(shutil.copytree(kept, tmp_path / "w.strod"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose file name, ids, texts, fields, names and notes attack the terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    bad_name = BAD.replace("\n", "\r")  # of a line
    records = [
        {"id": f"{i}{BAD}", "text": f"{BAD} {text}", "kind": f"{BAD}{i % 2}"}
        for i, text in enumerate(planted_texts(200))
    ]
    source = folder / f"t{BAD}.jsonl"
    source.write_bytes(json_lines(*records, {"id": f"empty{BAD}", "text": ""}))
    out = folder / f"w{bad_name}.strod"
    arguments = ["--meta", "kind", "--children", 3, "--quiet"]
    assert strod("build", source, *arguments, "--out", out).code == 0
    assert strod("rename", out, "o/1", f"name{BAD}", "--note", f"note{BAD}", "-q").code == 0
    return out
