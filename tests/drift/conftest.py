"""A tree of rivers, stones and clouds, and strangers that speak of metals."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

OWN, NEW = 400, 90
METALS = {"river": "iron", "stone": "copper", "cloud": "gold"}


def records(texts: list[str], name: str) -> list[dict[str, Any]]:
    """Texts with ids."""
    return [{"id": f"{name}{i}", "text": text} for i, text in enumerate(texts)]


def _renamed(text: str, *, strange: bool) -> str:
    """With words of metals in most places, or in some."""
    words = text.split()
    for place, word in enumerate(words):
        if (place % 8 != 0) if strange else (place % 12 == 5):
            old = next(old for old in METALS if word.startswith(old))
            words[place] = METALS[old] + word.removeprefix(old)
    return " ".join(words)


def own_texts(number: int = NEW, seed: int = 7) -> list[str]:
    """Texts of rivers, stones and clouds; every twelfth word is one of metals."""
    return [_renamed(text, strange=False) for text in planted_texts(number, seed)]


def strange_texts(number: int = NEW, seed: int = 8) -> list[str]:
    """Texts of metals; every eighth word is one of rivers, stones or clouds."""
    return [_renamed(text, strange=True) for text in planted_texts(number, seed)]


@pytest.fixture(scope="session")
def metals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nobody changes this one."""
    target = tmp_path_factory.mktemp("metals") / "w.strod"
    strod.build(records(own_texts(OWN, 1), "d"), out=target, children=3, height=2, workers=2)
    return target


@pytest.fixture
def workspace(metals: Path, tmp_path: Path) -> Workspace:
    """A copy to change."""
    return Workspace(shutil.copytree(metals, tmp_path / "w.strod"))
