"""What is lost on the way in is said, to those who asked for quiet, too."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.conftest import check_error, json_lines
from tests.conftest import strod as run
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A file that ends in the middle, after most of its documents."""
    texts = enumerate(planted_texts(200))
    data = gzip.compress(json_lines(*({"id": f"d{i}", "text": text} for i, text in texts)))
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data[:-400])
    return path


def test_a_file_that_is_cut_short(cut: Path, tmp_path: Path) -> None:
    """It is one rejected document of many, but nobody knows how many were behind it."""
    said = run("build", cut, "-o", tmp_path / "w.strod", "--height", "1", "--quiet")
    assert said.code == 0
    assert said.err.startswith(f"strod: warning: {cut}:")
    assert "source cut short or damaged; what follows there is lost" in said.err


def test_add_says_why_documents_are_left_out(cut: Path, workspace_of: Path) -> None:
    said = run("add", workspace_of, cut, "--quiet")
    assert said.code == 0, said.err
    assert "1 with source cut short or damaged: " in said.out


@pytest.fixture
def workspace_of(tmp_path: Path) -> Path:
    source = tmp_path / "all.jsonl"
    source.write_bytes(json_lines(*({"id": i, "text": t} for i, t in enumerate(planted_texts(60)))))
    assert run("build", source, "-o", tmp_path / "a.strod", "--children", "3", "-q").code == 0
    return tmp_path / "a.strod"


@pytest.mark.parametrize("name", ["\u200b", "\u2060\u00a0", " \ufeff", "\u00ad"])
def test_a_name_that_nobody_sees(workspace_of: Path, name: str) -> None:
    check_error(run("rename", workspace_of, "o/1", name), "the name is blank; give another")
