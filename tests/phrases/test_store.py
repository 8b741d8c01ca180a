"""Phrases on disk: what is written is read, and damage is told in one line."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array, vstack

import strod
from strod.corpus.phrases import UnitShard, read_counts, read_units, write_counts, write_units
from strod.errors import DamagedError
from strod.phrases.segmentation import Segmenter
from strod.phrases.units import Units
from strod.store.files import Files
from tests.conftest import files_below
from tests.phrases.helpers import book_of, spoken
from tests.phrases.test_criteria import woven

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.phrases import PhraseIndex
    from strod.workspace.workspace import Workspace

ARRAYS = ["indptr", "indices", "counts"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    passages = ("quality of service", "state of the art", "support vector machines", "graph theory")
    texts = woven(*passages, "theory of graphs", "Schrödinger equation", times=30)
    return strod.build(texts, out=tmp_path_factory.mktemp("phrases") / "w.strod", height=0)


@pytest.fixture(scope="module")
def book(workspace: Workspace) -> PhraseIndex:
    return book_of(workspace)


def check_same(one: Units, other: Units) -> None:
    """The same forms, in the same order, of the same units; links may be numbered anew."""
    assert np.array_equal(one.alphabet.words, other.alphabet.words)
    assert np.array_equal(one.unit_of, other.unit_of)
    assert np.array_equal(one.base, other.base)
    assert np.array_equal(one.counts, other.counts)
    assert one.words == other.words
    assert len(one.phrases) == len(other.phrases)
    for a, b in zip(one.phrases, other.phrases, strict=True):
        assert spoken(a.links, one.alphabet) == spoken(b.links, other.alphabet)
        assert a.words == b.words
        assert (a.count, a.significance, a.cohesion) == (b.count, b.significance, b.cohesion)
        assert one.form_tokens(a) == other.form_tokens(b)


def test_units_come_back(book: PhraseIndex, tmp_path: Path) -> None:
    units = book.units
    assert len(units.phrases) >= 6
    write_units(tmp_path / "phrases", units)
    again = read_units(Files(tmp_path), book.lexicon)
    check_same(again, units)
    write_units(tmp_path / "more" / "phrases", again)
    check_same(read_units(Files(tmp_path / "more"), book.lexicon), units)
    files = [folder / "phrases" / "forms.parquet" for folder in (tmp_path, tmp_path / "more")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_no_phrases_come_back(book: PhraseIndex, tmp_path: Path) -> None:
    units = Units.of(book.units.alphabet, [], book.lexicon)
    write_units(tmp_path / "phrases", units)
    check_same(read_units(Files(tmp_path), book.lexicon), units)


def test_documents_are_cut_the_same_with_units_that_were_read(
    book: PhraseIndex, workspace: Workspace
) -> None:
    units = book.units
    segmenter = Segmenter(units.alphabet, units.phrases)
    for ref, corpus in zip(book.refs, workspace.corpus.shards(), strict=True):
        shard = ref.open()
        counts = segmenter.counts(corpus, units.unit_of, units.size)[0]
        assert (shard.first, shard.size) == (corpus.first, corpus.size)
        assert np.array_equal(shard.counts.toarray(), counts.toarray())


@dataclass
class Spot:
    """Where consecutive documents lie."""

    first: int
    size: int
    segment: str
    begin: int


def test_counts_come_back_whatever_the_shards(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    tables = [csr_array(random.poisson(0.3, (n, 9)).astype(np.int32)) for n in (20, 1, 33)]
    whole = csr_array(vstack(tables))
    spots = []
    first = 0
    for name, table in zip(("0000", "0001", "0002"), tables, strict=True):
        borders = sorted({0, table.shape[0], *random.integers(0, table.shape[0] + 1, 3).tolist()})
        parts = [table[i:j] for i, j in pairwise(borders)]
        write_counts(tmp_path / "phrases" / name, iter(parts))
        spots += [Spot(first + i, j - i, name, i) for i, j in pairwise(borders)]
        first += table.shape[0]
    files = files_below(tmp_path)
    sizes = {spot.segment: spot.begin + spot.size for spot in spots}
    arrays = {name: read_counts(files, name, size, 9) for name, size in sizes.items()}
    found = [UnitShard(s.first, s.size, arrays[s.segment], s.begin, 9) for s in spots]
    assert [(shard.first, shard.size) for shard in found] == [(s.first, s.size) for s in spots]
    for shard in found:
        rows = whole[shard.first : shard.first + shard.size]
        assert np.array_equal(shard.counts.toarray(), rows.toarray())


def check_damaged(error: pytest.ExceptionInfo[DamagedError], path: Path) -> None:
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "strod check" in message
    assert "\n" not in message


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_of_forms(share: float, book: PhraseIndex, tmp_path: Path) -> None:
    write_units(tmp_path / "phrases", book.units)
    path = tmp_path / "phrases" / "forms.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(DamagedError) as error:
        read_units(Files(tmp_path), book.lexicon)
    check_damaged(error, path)


def test_a_missing_file_of_forms(book: PhraseIndex, tmp_path: Path) -> None:
    with pytest.raises(DamagedError) as error:
        read_units(Files(tmp_path), book.lexicon)
    check_damaged(error, tmp_path / "phrases" / "forms.parquet")


@pytest.mark.parametrize(
    "columns",
    [
        {"words": [[1]]},
        {"tokens": [1, 2]},
        {"tokens": [[10**6], [10**6, 1]], "count": [1, 2]},
        {"tokens": [[0], [1, 0, 10**7]]},
        {"tokens": [["a"], ["b"]]},
        {"tokens": [[0], [1], []], "count": [1, 1, 1]},
    ],
)
def test_forms_that_make_no_sense(
    columns: dict[str, list[object]], book: PhraseIndex, tmp_path: Path
) -> None:
    (tmp_path / "phrases").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "phrases" / "forms.parquet")
    with pytest.raises(DamagedError) as error:
        read_units(Files(tmp_path), book.lexicon)
    check_damaged(error, tmp_path / "phrases" / "forms.parquet")


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("damage", ["missing", "cut", "empty", "other kind", "no array", "folder"])
def test_damaged_counts(array: str, damage: str, tmp_path: Path) -> None:
    write_counts(tmp_path / "phrases" / "0000", [csr_array(np.eye(5, dtype=np.int32))])
    path = tmp_path / "phrases" / "0000" / f"{array}.npy"
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(data[:-3])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other kind":
        np.save(path, np.ones(5))
    elif damage == "no array":
        path.write_bytes(b"x" * len(data))
    else:
        path.unlink()
        path.mkdir()
    with pytest.raises(DamagedError) as error:
        read_counts(Files(tmp_path), "0000", 5, 5)
    check_damaged(error, path)


def test_the_files_are_part_of_the_check(workspace: Workspace, tmp_path: Path) -> None:
    copy = tmp_path / "copy.strod"
    shutil.copytree(workspace.path, copy)
    assert strod.open(copy).check() == []
    damaged = []
    for path in sorted((copy / "phrases").rglob("*.*")):
        data = bytearray(path.read_bytes())
        data[-9] ^= 1
        path.write_bytes(data)
        damaged.append(f"{path}: has changed since it was written")
    assert len(damaged) == 4
    assert strod.open(copy).check() == damaged
