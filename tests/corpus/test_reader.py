"""Reading a corpus."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import strod
from strod import Corpus, DamagedError, Workspace
from strod.corpus import segment

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["River stone. The river!", "Cloud", "stone, 5 stones", "the 12", "river cloud copper"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment, "SHARD_DOCUMENTS", 2)
        return strod.build(TEXTS, out=tmp_path_factory.mktemp("reader") / "w.strod")


def read_all(corpus: Corpus) -> int:
    shards = [(shard.counts, shard.tokens, shard.documents()) for shard in corpus.shards()]
    return len(corpus.lexicon) + len(shards)


def test_lexicon_and_vocabulary(workspace: Workspace) -> None:
    corpus = workspace.corpus
    names = ["word", "surface", "documents", "occurrences", "stop", "column"]
    assert corpus.lexicon.column_names == names
    words = ["cloud", "copper", "river", "stone", "stones", "the"]
    assert corpus.lexicon["word"].to_pylist() == words
    assert corpus.lexicon["documents"].to_pylist() == [2, 1, 2, 2, 1, 2]
    assert corpus.lexicon["occurrences"].to_pylist() == [2, 1, 3, 2, 1, 2]
    assert corpus.vocabulary["word"].to_pylist() == words[:-1]
    assert corpus.vocabulary["column"].to_pylist() == [0, 1, 2, 3, 4]


def test_shards(workspace: Workspace) -> None:
    shards = list(workspace.corpus.shards())
    assert [(shard.first, shard.size) for shard in shards] == [(0, 2), (2, 2), (4, 1)]
    assert [shard.tokens.tolist() for shard in shards] == [
        [2, 3, -1, 5, 2, 0],
        [3, -2, 4, 5],
        [2, 0, 1],
    ]
    assert [shard.token_offsets.tolist() for shard in shards] == [[0, 5, 6], [0, 3, 4], [0, 3]]
    assert [shard.counts.toarray().tolist() for shard in shards] == [
        [[0, 0, 2, 1, 0], [1, 0, 0, 0, 0]],
        [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]],
        [[1, 1, 1, 0, 0]],
    ]
    assert [shard.documents()["id"].to_pylist() for shard in shards] == [
        ["1", "2"],
        ["3", "4"],
        ["5"],
    ]


def test_numbers_of_the_corpus(workspace: Workspace) -> None:
    corpus = workspace.corpus
    assert (corpus.documents, corpus.tokens, corpus.meta) == (5, 11, {})
    assert corpus.sha256 == workspace.manifest.corpus.sha256


def test_texts(workspace: Workspace) -> None:
    first, second, third = workspace.corpus.shards()
    assert first.texts([0, 1]) == TEXTS[:2]
    assert first.texts([1, 0, 1]) == [TEXTS[1], TEXTS[0], TEXTS[1]]
    assert second.texts([1]) == [TEXTS[3]]
    assert third.texts([0]) == [TEXTS[4]]
    assert third.texts([]) == []


def test_everything_can_be_read(workspace: Workspace) -> None:
    assert read_all(workspace.corpus) == 9


def test_arrays_stay_on_disk(workspace: Workspace) -> None:
    shard = next(workspace.corpus.shards())
    with pytest.raises(ValueError, match="read-only"):
        shard.tokens[0] = 1


@pytest.mark.parametrize(
    "name", ["lexicon.parquet", "0000/tokens.npy", "0000/indptr.npy", "0000/documents.parquet"]
)
@pytest.mark.parametrize("damage", ["missing", "cut short", "garbage"])
def test_damage_is_told(workspace: Workspace, tmp_path: Path, name: str, damage: str) -> None:
    shutil.copytree(workspace.path, tmp_path / "w.strod")
    path = tmp_path / "w.strod" / "corpus" / name
    data = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(data[:-9] if damage == "cut short" else b"\x80garbage" * 50)
    corpus = strod.open(tmp_path / "w.strod").corpus
    with pytest.raises(DamagedError, match=rf"{path.name}: .*; run strod check"):
        read_all(corpus)
