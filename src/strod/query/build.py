"""Making a text index: pieces that are new are written, the others are linked."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

import orjson

from strod.compute.threads import spread
from strod.errors import DamagedError, StrodError
from strod.options import CorpusOptions
from strod.progress import Silent
from strod.query.feed import Tokenizer, text_columns
from strod.query.pieces import (
    EXTENSIONS,
    Part,
    PieceRecord,
    checked,
    checksum,
    largest,
    read_record,
    write_record,
)
from strod.query.terms import Words
from strod.query.text import TEXT, engine, guarded, pieces_of, schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strod.corpus.reader import Corpus
    from strod.progress import Progress
    from strod.query.pieces import Piece

__all__ = ["build_pieces"]

HEAP = 2_000_000_000  # bytes that a part may take in memory before tantivy would cut it
PART = 256 << 20  # characters of words, at which a part ends: far below


def build_pieces(
    folder: Path,
    corpus: Corpus,
    progress: Progress | None = None,
    before: Path | None = None,
    workers: int | None = None,
) -> None:
    """Write the files of an index into a folder, and the record of them last."""
    wanted = pieces_of(corpus)
    old = {} if before is None else _usable(before, largest(corpus))
    records = {one.key: old[one.key] for one in wanted if one.key in old}
    for record in records.values():
        _link(before, folder, record)
    new = [one for one in wanted if one.key not in records]
    work = _Work(folder, corpus, progress or Silent(), sum(one.documents for one in new))
    records |= {one.key: one for one in spread(work, new, workers or CorpusOptions().workers)}
    write_record(folder, [records[one.key] for one in wanted])


def _usable(before: Path, most: int) -> dict[str, PieceRecord]:
    """Pieces of another index that are whole."""
    found = {}
    try:
        records = read_record(before)
    except DamagedError:
        return {}
    for record in records:
        try:
            checked(before, [record], most)
        except DamagedError:
            continue
        found[record.key] = record
    return found


def _link(source: Path | None, target: Path, record: PieceRecord) -> None:
    """Files of a piece in another folder, by hard links where the disk has them."""
    if source is None:
        return
    for part in record.parts:
        for extension in EXTENSIONS:
            name = f"{part.name}.{extension}"
            try:
                os.link(source / name, target / name)
            except OSError:
                shutil.copyfile(source / name, target / name)


class _Work:
    """Indexes pieces; called from several threads at once."""

    def __init__(self, folder: Path, corpus: Corpus, progress: Progress, total: int) -> None:
        self._folder, self._corpus, self._progress = folder, corpus, progress
        self._tokenizer = Tokenizer(Words(corpus.about.settings).options)
        self._lock = Lock()
        if total:
            progress.stage("indexing texts", total, "documents")

    def __call__(self, piece: Piece) -> PieceRecord:
        parts: list[Part] = []
        part = self._part(piece, 0)
        for texts in self._batches(piece):
            if part.characters >= PART:
                parts.append(part.close())
                part = self._part(piece, len(parts))
            part.add(texts)
            with self._lock:
                self._progress.advance(len(texts))
        return PieceRecord(key=piece.key, parts=(*parts, part.close()))

    def _part(self, piece: Piece, number: int) -> _PartWriter:
        name = sha256(f"{piece.key}/{number}".encode()).hexdigest()[:32]
        return _PartWriter(self._folder, name)

    def _batches(self, piece: Piece) -> Iterator[list[str]]:
        """Words of documents, some documents at a time."""
        for one in piece.ranges:
            segment = self._corpus.segment(one.segment)
            yield from map(self._tokenizer, text_columns(segment, one.begin, one.end))


@dataclass
class _PartWriter:
    """Documents on their way into one segment of tantivy, in their order."""

    folder: Path
    name: str
    characters: int = 0
    documents: int = 0

    def __post_init__(self) -> None:
        """Begin an index of its own."""
        self._place = self.folder / f".{self.name}"
        self._place.mkdir()
        package = engine()
        self._document = package.Document
        with guarded(self._place, StrodError):
            index = package.Index(schema(), str(self._place))
            words = package.TextAnalyzerBuilder(package.Tokenizer.whitespace()).build()
            index.register_tokenizer(TEXT, words)
            self._writer = index.writer(HEAP, 1)

    def add(self, texts: list[str]) -> None:
        """Take in documents."""
        add, make = self._writer.add_document, self._document
        with guarded(self._place, StrodError):
            for text in texts:
                document = make()
                document.add_text(TEXT, text)
                add(document)
        self.characters += sum(map(len, texts))
        self.documents += len(texts)

    def close(self) -> Part:
        """Write the files, under the name of the part."""
        with guarded(self._place, StrodError):
            self._writer.commit()
            self._writer.wait_merging_threads()
            files = self._named()
            shutil.rmtree(self._place)
        return Part(name=self.name, documents=self.documents, files=files)

    def _named(self) -> dict[str, tuple[int, int]]:
        """Move the files of the only segment to their place; their sizes and checksums."""
        about = orjson.loads((self._place / "meta.json").read_bytes())["segments"]
        if [one["max_doc"] for one in about] != [self.documents]:
            raise StrodError("the text index was cut where it should not be", file=self._place)
        written = about[0]["segment_id"].replace("-", "")
        files = {}
        for extension in EXTENSIONS:
            target = self.folder / f"{self.name}.{extension}"
            (self._place / f"{written}.{extension}").rename(target)
            files[extension] = checksum(target)
        return files
