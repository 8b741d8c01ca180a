"""Workspaces of strangers: a result or one clear line, whatever is in them."""

from __future__ import annotations

import signal
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest

from tests.hostile.forge import forgeries
from tests.hostile.trial import MEMORY, tried, tried_together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.hostile.forge import Forgery

PARTS = 20  # tests, so that processes can share them
EVERY = 4  # of so many forgeries one is tried: more than two thousand
DAILY = 10  # and of so many of these one every day
FOUND = [
    "corpus/0000/documents.parquet: meta.n float",
    "tree/revisions/00002.json: topics/12/components/0/0 empty",
    "tree/revisions/00002.json: topics/1/components/0/1 list",
    "tree/revisions/00002.json: topics/12/components/0 missing",
    # An index that a stranger has sent: files without end, and what only looks like one.
    "index/arrays/*.bin: sparse",
    "index/text/*/text.json: sparse",
    "index/text/*/*.store: sparse",
    "index/text/*/*.term: endless",
    "index/text/*/*.term: bit 3970",
    "index/text/*/*.idx: empty",
]


def problems(base: Path, folder: Path, chosen: Sequence[Forgery]) -> list[str]:
    """All that went wrong when the commands met these forgeries."""
    folder.mkdir(exist_ok=True)
    if tried_together(base, folder / "all", (one.apply for one in chosen)):
        return []
    found = []
    for number, forgery in enumerate(chosen):
        ended = tried(base, folder / str(number), forgery.apply)
        if ended.signal == signal.SIGALRM:  # a machine may stall; what hangs hangs again
            ended = tried(base, folder / str(number), forgery.apply)
        found += [f"{forgery.name}: {wrong}" for wrong in ended.wrong]
        if ended.signal:
            found.append(f"{forgery.name}: signal {ended.signal}")
        if ended.peak > MEMORY:
            found.append(f"{forgery.name}: {ended.peak >> 20} MB")
        if ended.codes.get("check") == 0 and 1 in ended.codes.values():
            found.append(f"{forgery.name}: called sound, but {ended.codes}")
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_forged(base: Path, tmp_path: Path, part: int) -> None:
    assert problems(base, tmp_path, forgeries(base)[:: EVERY * DAILY][part::PARTS]) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS * DAILY))
def test_forged_in_more_ways(base: Path, tmp_path: Path, part: int) -> None:
    chosen = [one for n, one in enumerate(forgeries(base)[::EVERY]) if n % DAILY]
    assert problems(base, tmp_path, chosen[part :: PARTS * DAILY]) == []


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once(base: Path, tmp_path: Path, name: str) -> None:
    """Forgeries that a command once stumbled over."""
    chosen = next(one for one in forgeries(base) if fnmatch(one.name, name))
    ended = tried(base, tmp_path / "all", chosen.apply)
    assert (ended.wrong, ended.signal) == ([], 0)
    assert ended.codes["search"] == ended.codes["check"]


ASKED = ("slice", "search", "entities")


@pytest.mark.parametrize(
    "name", ["corpus/0000/indptr.npy", "tree/splits/o/0000/values.npy", "corpus/0000/texts.arrow"]
)
def test_questions_about_what_is_missing(base: Path, tmp_path: Path, name: str) -> None:
    [chosen] = [
        one for one in forgeries(base) if one.name == f"manifest.json: parts/{name} missing"
    ]
    ended = tried(base, tmp_path / "w", chosen.apply, ASKED)
    assert (ended.wrong, ended.signal) == ([], 0)
    assert 1 in ended.codes.values()
