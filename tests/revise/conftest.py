"""A small workspace with three topics of three each, to be copied and revised."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nobody changes this one."""
    target = tmp_path_factory.mktemp("planted") / "w.strod"
    built = strod.build(planted_texts(200), out=target, children=3, height=2, workers=2)
    assert len(built.tree) == 13
    return target


@pytest.fixture
def workspace(planted: Path, tmp_path: Path) -> Workspace:
    """A copy to revise."""
    return Workspace(shutil.copytree(planted, tmp_path / "w.strod"))
