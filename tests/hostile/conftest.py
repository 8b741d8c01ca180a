"""A workspace for strangers to forge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import strod
from tests.conftest import json_lines
from tests.hostile.forge import victims
from tests.hostile.trial import warm_up
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace with two revisions, new documents, and what lies outside."""
    folder = tmp_path_factory.mktemp("hostile") / "base"
    folder.mkdir()
    texts = planted_texts(60)
    records = [{"id": f"d{i}", "text": t, "n": i, "c": "xy"[i % 2]} for i, t in enumerate(texts)]
    new = [{"id": f"n{i}", "text": text, "n": 1, "c": "x"} for i, text in enumerate(texts[:5])]
    (folder / "new.jsonl").write_bytes(json_lines(*new))
    victims(folder)
    workspace = strod.build(
        records, out=folder / "w.strod", children=3, height=2, meta=["n:number", "c"], workers=1
    )
    workspace.pin("o/2")
    warm_up(workspace.path, folder.parent / "warm")
    return workspace.path
