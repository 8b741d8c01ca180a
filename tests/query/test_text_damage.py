"""An index that is not what was written is refused, in one line, and never a reason to end."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from strod.errors import DamagedError, StrodError
from strod.query import pieces
from strod.query.build import build_pieces
from strod.query.text import TextIndex, guarded
from tests.chance import long_but
from tests.query.naive import Naive, corpus_of
from tests.query.test_text import DOCUMENTS_OF_ALL_KINDS, made, same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.corpus.reader import Corpus

META = ("label:list", "date:date")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Corpus]:
    root = tmp_path_factory.mktemp("damage")
    corpus = corpus_of(root / "c", DOCUMENTS_OF_ALL_KINDS, meta=META)
    return made(root, corpus).folder, corpus


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def linked(path: Path) -> None:
    moved = path.rename(path.with_suffix(".moved"))
    path.symlink_to(moved)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [flipped, cut, emptied, linked, folder, lambda path: path.unlink()]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("extension", long_but(["json", "idx"], ["json", *pieces.EXTENSIONS]))
def test_damaged_files_are_refused_and_made_anew(
    whole: tuple[Path, Corpus], tmp_path: Path, extension: str, damage: Callable[[Path], Any]
) -> None:
    folder, corpus = whole
    bad = shutil.copytree(folder, tmp_path / "bad")
    damage(next(bad.glob(f"*.{extension}")))
    with pytest.raises(DamagedError) as error:
        TextIndex(bad, corpus)
    assert "\n" not in str(error.value)
    index = made(tmp_path, corpus, "good", before=bad)
    same(index, Naive(corpus), "river stone OR 主")


def test_an_index_that_is_not_there(whole: tuple[Path, Corpus], tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="cannot be read"):
        TextIndex(tmp_path / "nowhere", whole[1])


@pytest.mark.parametrize("content", [b"", b"[]", b"00000000\n[]", b"\xff" * 9, b"0d4a1185\n[]"])
def test_records_that_are_none(whole: tuple[Path, Corpus], tmp_path: Path, content: bytes) -> None:
    bad = shutil.copytree(whole[0], tmp_path / "bad")
    (bad / pieces.RECORD).write_bytes(content)
    with pytest.raises(DamagedError):
        TextIndex(bad, whole[1])


def test_an_index_of_other_documents(whole: tuple[Path, Corpus], tmp_path: Path) -> None:
    others = DOCUMENTS_OF_ALL_KINDS[:-1]
    for number, corpus in enumerate(
        [
            corpus_of(tmp_path / "fewer", others, meta=META),
            corpus_of(tmp_path / "words", DOCUMENTS_OF_ALL_KINDS, meta=META, language="fr"),
            corpus_of(tmp_path / "stems", DOCUMENTS_OF_ALL_KINDS, meta=META, stem=True),
        ]
    ):
        with pytest.raises(DamagedError, match="is of other documents"):
            TextIndex(whole[0], corpus)
        index = made(tmp_path, corpus, f"new-{number}", before=whole[0])
        same(index, Naive(corpus), "river stones")


def forged(folder: Path, offset: int, extension: str) -> None:
    """A file with another bit, and a record that says it is right."""
    path = next(folder.glob(f"*.{extension}"))
    data = bytearray(path.read_bytes())
    data[offset % len(data)] ^= 1 << offset % 8
    path.write_bytes(data)
    records = pieces.read_record(folder)
    part = records[0].parts[0]
    files = {name: pieces.checksum(folder / f"{part.name}.{name}") for name in part.files}
    parts = (msgspec.structs.replace(part, files=files),)
    pieces.write_record(folder, [msgspec.structs.replace(records[0], parts=parts)])


@pytest.mark.parametrize("extension", pieces.EXTENSIONS)
def test_what_tantivy_cannot_read_is_an_error_of_ours(
    whole: tuple[Path, Corpus], tmp_path: Path, extension: str
) -> None:
    """Even where checksums lie, so that tantivy panics."""
    folder, corpus = whole
    for offset in range(0, 400, 29):
        bad = shutil.copytree(folder, tmp_path / str(offset))
        forged(bad, offset, extension)
        with suppress(DamagedError):
            index = TextIndex(bad, corpus)
            for query in ("river", '"river stone"', "sto* OR 主", "label:a date:2015"):
                assert (index.search(query).documents < corpus.documents).all()


def test_panics_are_errors_and_an_interrupt_stays_one(tmp_path: Path) -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(DamagedError, match="is of no use"), guarded(tmp_path):
        raise panic("index out of\nbounds")
    with pytest.raises(KeyboardInterrupt), guarded(tmp_path):
        raise KeyboardInterrupt


def test_a_folder_that_is_in_the_way(whole: tuple[Path, Corpus], tmp_path: Path) -> None:
    """A failed build says why, and leaves no record that would pass for an index."""
    corpus = whole[1]
    target = tmp_path / "index"
    target.mkdir()
    name = next(whole[0].glob("*.idx")).stem
    (target / f"{name}.idx").mkdir()
    with pytest.raises(StrodError):
        build_pieces(target, corpus)
    assert not (target / pieces.RECORD).exists()
