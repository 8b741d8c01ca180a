"""Workspaces of strangers: a result or one clear line, whatever is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import strod
from tests.conftest import json_lines
from tests.hostile.forge import forgeries, victims
from tests.hostile.trial import MEMORY, tried, warm_up
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

PARTS = 20  # tests, so that processes can share them
EVERY = 100  # of so many forgeries one is tried every day


@pytest.fixture(scope="module")
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


@pytest.mark.parametrize("part", range(PARTS))
def test_forged(base: Path, tmp_path: Path, part: int) -> None:
    """Some of the forgeries, all commands; says all that went wrong."""
    problems = []
    for number, forgery in enumerate(forgeries(base)[::EVERY][part::PARTS]):
        ended = tried(base, tmp_path / str(number), forgery)
        problems += [f"{forgery.name}: {wrong}" for wrong in ended.wrong]
        if ended.signal:
            problems.append(f"{forgery.name}: signal {ended.signal}")
        if ended.peak > MEMORY:
            problems.append(f"{forgery.name}: {ended.peak >> 20} MB")
        if ended.codes.get("check") == 0 and 1 in ended.codes.values():
            problems.append(f"{forgery.name}: called sound, but {ended.codes}")
    assert problems == []
