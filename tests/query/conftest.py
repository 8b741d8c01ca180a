"""Small corpora with metadata of every kind, and the records they were built from."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod.workspace.workspace import Workspace
from tests.query.recount import META, Naive, drawn_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Asked = tuple[Workspace, Naive]


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Asked]:
    """A workspace for each number, built once."""
    known: dict[int, Asked] = {}
    folder = tmp_path_factory.mktemp("asked")

    def get(seed: int) -> Asked:
        if seed not in known:
            records = drawn_records(80 + 7 * seed, seed)
            shape = {"children": 2 + seed % 2, "height": 1 + seed % 3}
            built = strod.build(records, out=folder / f"{seed}.strod", meta=META, **shape)  # type: ignore[arg-type]
            known[seed] = built, Naive(built, records)
        return known[seed]

    return get


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that nobody changes: three topics of three each."""
    target = tmp_path_factory.mktemp("kept") / "w.strod"
    strod.build(drawn_records(250, 5), out=target, meta=META, children=3, height=2)
    return target


@pytest.fixture
def workspace(kept: Path, tmp_path: Path) -> Workspace:
    """A copy to change."""
    left = shutil.ignore_patterns("index")
    return Workspace(shutil.copytree(kept, tmp_path / "w.strod", ignore=left))
