"""Pieces of a text index: which documents are indexed together, and the files that came of it.

A piece is a run of documents, cut by what the corpus consists of and nothing else. So whoever
indexes a corpus afresh makes the same pieces, down to the byte, as somebody who indexed what was
there before and then what was added: scores are the same, too. Large segments of the corpus are
cut into several pieces, small ones next to each other share one.
"""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import orjson

from strod.errors import DamagedError
from strod.store.files import UNBOUND, digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from strod.corpus.reader import Corpus
    from strod.store.schema import SegmentRecord

__all__ = [
    "Part",
    "Piece",
    "PieceRecord",
    "Range",
    "checked",
    "checksum",
    "largest",
    "pieces",
    "read_record",
    "write_record",
]

FORMAT = 1
RECORD = "text.json"
LARGE = 12 << 20  # bytes of texts, compressed, from which on a piece is full
SMALL = 2 << 20  # and from which on it shares nothing with the next segment
EXTENSIONS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
LONGEST = 64 << 20  # bytes of a record, or of an index of next to nothing
_CHUNK = 1 << 20

_Hex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Size = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@dataclass(frozen=True)
class Range:
    """Consecutive documents of a segment."""

    segment: str
    begin: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Documents that are indexed together.

    Attributes
    ----------
    ranges : tuple of Range
        Where they are.
    key : str
        Checksum of all that the files depend on.
    """

    ranges: tuple[Range, ...]
    key: str

    @property
    def documents(self) -> int:
        """How many there are."""
        return sum(one.end - one.begin for one in self.ranges)


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Files that hold some documents of a piece: size and CRC-32 by extension."""

    name: _Hex
    documents: _Size
    files: dict[str, tuple[_Size, _Size]]


class PieceRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece that was indexed."""

    key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    parts: tuple[Part, ...]


def pieces(corpus: Corpus, salt: list[Any]) -> list[Piece]:
    """The pieces of a corpus; `salt` is whatever else their files depend on."""
    found: list[Piece] = []
    open_: list[Range] = []
    weight = 0.0
    digests: dict[str, list[str]] = {}

    def close() -> None:
        nonlocal weight
        where = [[r.segment, *digests[r.segment], r.begin, r.end] for r in open_]
        content = [FORMAT, salt, where]
        found.append(Piece(tuple(open_), sha256(orjson.dumps(content)).hexdigest()))
        open_.clear()
        weight = 0.0

    for segment in corpus.about.segments:
        size, digests[segment.name] = _identity(corpus, segment)
        for begin, end in pairwise(segment.boundaries):
            _extend(open_, Range(segment.name, begin, end))
            weight += size * (end - begin) / segment.documents
            if weight >= LARGE:
                close()
        if weight >= SMALL:
            close()
    if open_:
        close()
    return found


def _extend(ranges: list[Range], more: Range) -> None:
    """Add a range, or lengthen the last one if it goes on there."""
    if ranges and (ranges[-1].segment, ranges[-1].end) == (more.segment, more.begin):
        ranges[-1] = Range(more.segment, ranges[-1].begin, more.end)
    else:
        ranges.append(more)


def _identity(corpus: Corpus, segment: SegmentRecord) -> tuple[int, list[str]]:
    """Bytes of the texts of a segment, and checksums of texts and documents."""
    names = [f"corpus/{segment.name}/{name}" for name in ("texts.arrow", "documents.parquet")]
    files = corpus.files
    if files.digests is not None:
        known = [files.digests[name] for name in names if name in files.digests]
        if len(known) == len(names):
            return known[0].bytes, [one.sha256 for one in known]
    found = []
    for name in names:
        with files.open(name) as file:
            found.append(digest_of(file))
    return found[0][0], [digest for _, digest in found]


def write_record(folder: Path, records: list[PieceRecord]) -> None:
    """Say what a finished index consists of."""
    content = orjson.dumps(msgspec.to_builtins(records))
    (folder / RECORD).write_bytes(b"%08x\n" % zlib.crc32(content) + content)


def read_record(folder: Path) -> list[PieceRecord]:
    """What an index consists of."""
    try:
        with _opened(folder / RECORD, LONGEST) as file:
            head, _, content = file.read().partition(b"\n")
        whole = head == b"%08x" % zlib.crc32(content)
        records = msgspec.json.decode(content, type=list[PieceRecord]) if whole else None
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise DamagedError(f"cannot be read ({why})", file=folder / RECORD) from error
    if records is None:
        raise DamagedError("has changed since it was written", file=folder / RECORD)
    return records


def _opened(path: Path, most: int) -> Any:
    """A regular file of at most so many bytes, never through a link."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    file = os.fdopen(handle, "rb", buffering=0)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise OSError(0, "is no regular file")
    if os.fstat(handle).st_size > most:
        file.close()
        raise OSError(0, "is larger than strod writes")
    return file


_known: dict[tuple[int, ...], tuple[int, int]] = {}  # files that were read, and what they hold


def checksum(path: Path, most: int = UNBOUND) -> tuple[int, int]:
    """Size and CRC-32 of a file; it is read once in a process, as long as it stays the same."""
    with _opened(path, most) as file:
        about = os.fstat(file.fileno())
        identity = about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
        found = _known.get(identity)
        if found is None:
            value = 0
            while data := file.read(_CHUNK):
                value = zlib.crc32(data, value)
            found = _known[identity] = about.st_size, value
        return found


def largest(corpus: Corpus) -> int:
    """Bytes that no file of its index has: a word takes more in the corpus than in the index."""
    return LONGEST + 4 * corpus.files.size


def checked(folder: Path, records: list[PieceRecord], most: int) -> None:
    """Refuse files that are not what was written, or have more bytes than `most`."""
    for part in (part for record in records for part in record.parts):
        if sorted(part.files) != sorted(EXTENSIONS):
            raise DamagedError("names other files than there should be", file=folder / RECORD)
        for extension, wanted in part.files.items():
            path = folder / f"{part.name}.{extension}"
            try:
                same = checksum(path, min(most, wanted[0])) == wanted
            except OSError as error:
                why = error.strerror or error
                raise DamagedError(f"cannot be read ({why})", file=path) from error
            if not same:
                raise DamagedError("has changed since it was written", file=path)
