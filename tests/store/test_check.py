"""Damage to a workspace is found and named."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod.errors import DamagedError, StrodError
from strod.store.check import check_files
from strod.store.manifest import read_manifest
from tests.conftest import check_error
from tests.conftest import strod as run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path, small_workspace: Path) -> Path:
    """A workspace to damage."""
    return shutil.copytree(small_workspace, tmp_path / "w.strod")


def damage(path: Path, chosen: random.Random) -> str:
    """Flip a bit, cut, add to or delete a file; return what the line about it says."""
    data = bytearray(path.read_bytes())
    way = chosen.choice(["flip", "flip", "cut", "add", "delete"])
    if way == "flip":
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        path.write_bytes(data)
        return "has changed"
    if way == "delete":
        path.unlink()
        return "is missing"
    path.write_bytes(data[: chosen.randrange(len(data))] if way == "cut" else data + b"\0")
    return f"bytes, not {len(data)}"


def test_a_whole_workspace(small_workspace: Path) -> None:
    assert check_files(small_workspace) == []
    assert strod.open(small_workspace).check(workers=4) == []
    outcome = run("check", small_workspace)
    files = len(read_manifest(small_workspace)["parts"])
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{small_workspace}: {files} files, all as they were written\n"


@pytest.mark.parametrize("seed", range(50))
def test_damage_is_found_and_named(workspace: Path, seed: int) -> None:
    chosen = random.Random(seed)
    name = chosen.choice(sorted(read_manifest(workspace)["parts"]))
    problem = damage(workspace / name, chosen)
    found = check_files(workspace)
    assert len(found) == 1
    assert found[0].startswith(f"{workspace / name}: ")
    assert problem in found[0]
    check_error(run("check", workspace), str(workspace / name), problem, "again", code=1)


@pytest.mark.parametrize("seed", range(20))
def test_several_damages_are_all_found(workspace: Path, seed: int) -> None:
    chosen = random.Random(seed)
    hurt = chosen.sample(sorted(read_manifest(workspace)["parts"]), 3)
    for name in hurt:
        damage(workspace / name, chosen)
    found = strod.open(workspace).check(workers=2)
    assert [line.split(": ")[0] for line in found] == sorted(str(workspace / n) for n in hurt)
    check_error(run("check", workspace), "(and 2 more)", code=1)


@pytest.mark.parametrize("seed", range(50))
def test_a_flipped_bit_in_the_manifest_is_found(workspace: Path, seed: int) -> None:
    chosen = random.Random(seed)
    path = workspace / "manifest.json"
    data = bytearray(path.read_bytes())
    spaces = {i for i, byte in enumerate(data) if byte in b" \n"}
    place = chosen.choice([i for i in range(len(data)) if i not in spaces])
    data[place] ^= 1 << chosen.randrange(7)
    path.write_bytes(data)
    check_error(run("check", workspace), "manifest.json", code=1)


@pytest.mark.parametrize("way", ["missing", "cut"])
def test_a_damaged_report_is_found(workspace: Path, way: str) -> None:
    path = workspace / "report.json"
    if way == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-20])
    check_error(run("check", workspace), str(path), code=1)
    with pytest.raises(DamagedError, match=r"report\.json"):
        _ = strod.open(workspace).report


@pytest.mark.parametrize("seed", range(30))
def test_reading_a_damaged_workspace(workspace: Path, seed: int) -> None:
    """Whoever reads without checking gets values or a clear error, nothing else."""
    chosen = random.Random(seed)
    name = chosen.choice(["lexicon.parquet", "0000/documents.parquet", "0000/tokens.npy"])
    path = workspace / "corpus" / name
    path.write_bytes(path.read_bytes()[: chosen.randrange(path.stat().st_size)])
    corpus = strod.open(workspace).corpus
    with pytest.raises(StrodError, match=path.name):
        _ = corpus.lexicon, [(s.tokens, s.documents()) for s in corpus.shards()]
    outcome = run("show", workspace)
    if name == "lexicon.parquet":
        check_error(outcome, str(path), "strod check", code=1)
    else:
        assert outcome.code == 0


@pytest.mark.parametrize("name", ["lexicon.parquet", "0000/documents.parquet", "0000/tokens.npy"])
def test_reading_without_a_file(workspace: Path, name: str) -> None:
    path = workspace / "corpus" / name
    path.unlink()
    corpus = strod.open(workspace).corpus
    with pytest.raises(StrodError, match=path.name):
        _ = corpus.lexicon, [(s.tokens, s.documents()) for s in corpus.shards()]


@pytest.mark.parametrize("way", ["missing", "cut", "empty"])
def test_reading_texts_of_a_damaged_file(workspace: Path, way: str) -> None:
    path = workspace / "corpus" / "0000" / "texts.arrow"
    if way == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-50] if way == "cut" else b"")
    shard = next(strod.open(workspace).corpus.shards())
    with pytest.raises(StrodError, match=r"texts\.arrow"):
        shard.texts([0])
