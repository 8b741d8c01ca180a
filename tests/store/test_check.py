"""Damage to a workspace is found and named."""

from __future__ import annotations

import contextlib
import random
import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod.errors import DamagedError, StrodError
from strod.store.manifest import read_manifest
from strod.workspace.assign import assign_new
from strod.workspace.placements import assign_corpus
from strod.workspace.summary import as_dictionary
from tests.conftest import check_error
from tests.conftest import strod as run
from tests.planted_text import planted_texts

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
    assert strod.open(small_workspace).check(workers=4) == []
    outcome = run("check", small_workspace)
    files = len(read_manifest(small_workspace).parts)
    assert (outcome.code, outcome.err) == (0, "")
    assert (
        outcome.out
        == f"{small_workspace}: {files} files, all as they were written; what they say agrees\n"
    )


@pytest.mark.parametrize("seed", range(50))
def test_damage_is_found_and_named(workspace: Path, seed: int) -> None:
    chosen = random.Random(seed)
    name = chosen.choice(sorted(read_manifest(workspace).parts))
    problem = damage(workspace / name, chosen)
    found = strod.open(workspace).check()
    assert len(found) == 1
    assert found[0].startswith(f"{workspace / name}: ")
    assert problem in found[0]
    check_error(run("check", workspace), str(workspace / name), problem, "again", code=1)


@pytest.mark.parametrize("seed", range(20))
def test_several_damages_are_all_found(workspace: Path, seed: int) -> None:
    chosen = random.Random(seed)
    hurt = chosen.sample(sorted(read_manifest(workspace).parts), 3)
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
    outcome = run("show", workspace, "--json")
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


@pytest.mark.parametrize("way", ["empty", "quote", "bracket", "digit"])
@pytest.mark.parametrize("name", ["tokens", "indptr"])
def test_reading_an_array_with_a_damaged_header(workspace: Path, name: str, way: str) -> None:
    """Numpy has a different exception for each of these."""
    path = workspace / "corpus" / "0000" / f"{name}.npy"
    data = path.read_bytes()
    damages = {
        "empty": b"",
        "quote": data.replace(b"'descr'", b"'descr\"", 1),
        "bracket": data.replace(b")", b" ", 1),
        "digit": data.replace(b"(", b"(0", 1),
    }
    assert damages[way] != data
    path.write_bytes(damages[way])
    shard = next(strod.open(workspace).corpus.shards())
    with pytest.raises(DamagedError, match=rf"{name}\.npy: .*strod check"):
        _ = shard.tokens, shard.counts


def read_everything(path: Path) -> tuple[object, ...]:
    """What a tree is for: its topics, their words, the documents of the corpus and new ones."""
    opened = strod.open(path)
    shown = as_dictionary(opened, words=0)
    new = list(assign_new(opened, [planted_texts(5, seed=9)]))
    return shown, list(assign_corpus(opened)), new


@pytest.fixture(scope="module")
def everything(tree_workspace: Path) -> tuple[object, ...]:
    """Of a whole workspace."""
    return read_everything(tree_workspace)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory, tree_workspace: Path) -> Path:
    """A workspace to damage and to mend again."""
    return shutil.copytree(tree_workspace, tmp_path_factory.mktemp("scratch") / "w.strod")


@pytest.mark.parametrize("seed", range(60))
def test_reading_a_damaged_tree(scratch: Path, everything: tuple[object, ...], seed: int) -> None:
    """A clear error, or the right values of a workspace that does not need this file."""
    chosen = random.Random(seed)
    files = [path for path in (scratch / "tree").rglob("*") if path.is_file()]
    path = chosen.choice(sorted(files))
    before = path.read_bytes()
    problem = damage(path, chosen)
    try:
        found, error = read_everything(scratch), ""
    except StrodError as raised:
        found, error = everything, str(raised)
    finally:
        checked = strod.open(scratch).check()
        path.write_bytes(before)
    assert [line.partition(": ")[0] for line in checked] == [str(path)]
    assert len(error.splitlines()) <= 1
    assert "strod check" in error or not error
    assert error or problem != "is missing"
    assert found == everything


@pytest.mark.parametrize("byte", range(0, 128, 3))
def test_a_damaged_header_of_an_array(scratch: Path, byte: int) -> None:
    """An error of ours or none, whatever numpy thinks of it."""
    split = scratch / "tree" / "splits" / "o"
    [words] = (scratch / "tree" / "words").glob("o-*.npy")
    for path in (words, split / "fine.npy", split / "0000" / "values.npy"):
        before = path.read_bytes()
        data = bytearray(before)
        data[byte] ^= 1 << byte % 7
        path.write_bytes(data)
        try:
            with contextlib.suppress(StrodError):
                tree = strod.open(scratch).tree
                _ = tree.root.top(0), tree.shares()
        finally:
            path.write_bytes(before)


@pytest.mark.parametrize("place", [0.001, 0.2, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("name", ["revisions/00001.json", "splits/o/split.json"])
def test_a_changed_digit_of_the_tree_is_found(scratch: Path, name: str, place: float) -> None:
    path = scratch / "tree" / name
    before = path.read_bytes()
    digits = [i for i, byte in enumerate(before) if chr(byte) in "123456789"]
    data = bytearray(before)
    where = digits[int(place * len(digits))]
    data[where] = ord("1") if data[where] != ord("1") else ord("2")
    path.write_bytes(data)
    try:
        with pytest.raises(DamagedError, match=f"{path.name}: .*strod check"):
            read_everything(scratch)
    finally:
        path.write_bytes(before)


def test_a_changed_word_of_a_topic_is_found(scratch: Path) -> None:
    tree = strod.open(scratch).tree
    [path] = (scratch / "tree" / "words").glob(f"{tree['o/2'].id}-*.npy")
    before = path.read_bytes()
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    try:
        damaged = strod.open(scratch).tree
        assert damaged["o/1"].words == tree["o/1"].words
        for name in ("o/2", "o/2/1"):
            with pytest.raises(DamagedError, match=rf"{tree['o/2'].id}-.*\.npy: .*strod check"):
                _ = damaged[name].words
        check_error(run("show", scratch, "--json"), tree["o/2"].id, "strod check", code=1)
    finally:
        path.write_bytes(before)


def test_shares_of_another_corpus_are_found(scratch: Path) -> None:
    """Files that are whole, but not those of this tree."""
    folder = scratch / "tree" / "splits" / "o"
    other = strod.build(planted_texts(50), out=scratch.parent / "other.strod", height=1)
    for name in ("0000/indptr.npy", "0000/values.npy", "0000/indices.npy", "fine.npy"):
        before = (folder / name).read_bytes()
        shutil.copy(other.path / "tree" / "splits" / "o" / name, folder / name)
        try:
            with pytest.raises(DamagedError, match="strod check"):
                read_everything(scratch)
        finally:
            (folder / name).write_bytes(before)
    shutil.rmtree(other.path)


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
