"""A workspace whose texts, ids and names are as nasty as can be."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "<script>alert('x')</script> & \"quoted\""
NAMES = {
    "o/1": f'=1+2 {SCRIPT} *bold* [link](x) \\ "end"',
    "o/2": "two\nlines\tand \x07 bell é 漢字 😀",
    "o/3": "-3; a label, with comma",
}


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Three topics of two each; every text begins with a script."""
    records = [
        {"id": f'={i}+<b>,"{i}"', "text": f"{SCRIPT} {text}"}
        for i, text in enumerate(planted_texts(300))
    ]
    out = tmp_path_factory.mktemp("nasty") / "na<s>ty &.strod"

    def namer(topic: strod.Topic) -> str:
        return NAMES.get(topic.path, "")

    return strod.build(records, out=out, children=3, height=2, namer=namer, workers=1)


@pytest.fixture(scope="session")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """No phrases and no topic but the root."""
    out = tmp_path_factory.mktemp("flat") / "flat.strod"
    texts = ["river stone", "cloud river", "stone cloud"]
    return strod.build(texts, out=out, language="none", height=0, phrases=False, workers=1)


@pytest.fixture
def planted(tree_workspace: Path, tmp_path: Path) -> Workspace:
    """A copy of the planted tree."""
    shutil.copytree(tree_workspace, tmp_path / "w.strod")
    return Workspace(tmp_path / "w.strod")
