"""A workspace for strangers to forge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import strod
from tests.conftest import json_lines
from tests.hostile.forge import victims
from tests.hostile.trial import asked, warm_up
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


def _record(name: str, text: str, number: int) -> dict[str, object]:
    date = f"{2010 + number % 10}-01-02"
    return {"id": name, "text": text, "n": number, "c": "xy"[number % 2], "d": date}


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace with two revisions, new documents, and what lies outside."""
    folder = tmp_path_factory.mktemp("hostile") / "base"
    folder.mkdir()
    texts = planted_texts(60)
    records = [_record(f"d{i}", text, i) for i, text in enumerate(texts)]
    new = [_record(f"n{i}", text, i) for i, text in enumerate(texts[:5])]
    (folder / "new.jsonl").write_bytes(json_lines(*new))
    victims(folder)
    meta = ["n:number", "c", "d:date"]
    workspace = strod.build(
        records, out=folder / "w.strod", children=3, height=2, meta=meta, workers=1
    )
    workspace.pin("o/2")
    for command in ("search", "slice", "trends", "entity"):  # what they need is kept beside it
        assert asked(folder, command).code == 0
    warm_up(workspace.path, folder.parent / "warm")
    return workspace.path
