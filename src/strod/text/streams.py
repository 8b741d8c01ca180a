"""Bytes from anywhere: files and pipes, compressed or not, in UTF-8 or UTF-16."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import itertools
import lzma
import re
import sys
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = [
    "DamagedStreamError",
    "Expansion",
    "blocks",
    "chunks",
    "compression",
    "full_lines",
    "lines",
]

CHUNK = 1 << 21
PIECE = 1 << 16
MOST_TIMES = 1000  # as large as it is packed; text is packed to a tenth
UNPACKED_FREE = 256 << 20
XZ_MEMORY = 128 << 20  # bytes; the highest level of xz needs 65 MB

_FULL_LINE = re.compile(rb"[^\n]+")
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class DamagedStreamError(Exception):
    """The stream cannot be read to its end."""


class Expansion:
    """Ends the reading of what unpacks to far more than text ever does."""

    def __init__(self, packed: int = 0) -> None:
        self.packed = packed
        self._unpacked = 0

    def add(self, unpacked: int) -> None:
        """So many bytes more came out."""
        self._unpacked += unpacked
        if self._unpacked > UNPACKED_FREE + MOST_TIMES * self.packed:
            raise DamagedStreamError(f"it unpacks to more than {MOST_TIMES:,} times its size")


class _Counted(io.RawIOBase):
    """A raw file that tells how many bytes were taken from it."""

    def __init__(self, raw: BinaryIO, advance: Callable[[int], None]) -> None:
        self._raw = raw
        self._advance = advance
        self.expansion = Expansion()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        self.expansion.packed += len(data)
        return len(data)

    def close(self) -> None:
        if sys.stdin is None or self._raw is not sys.stdin.buffer:
            self._raw.close()
        super().close()


class _Xz(io.RawIOBase):
    """What `lzma.LZMAFile` gives, in bounded memory: a stream may ask for gigabytes."""

    def __init__(self, packed: io.BufferedReader[Any]) -> None:
        self._packed = packed
        self._unpacker = self._new()

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data: bytes | None = b""
        while data == b"":
            data = self._next(len(buffer)) if self._unpacker.eof else self._more(len(buffer))
        data = data or b""
        buffer[: len(data)] = data
        return len(data)

    def _more(self, size: int) -> bytes:
        more = self._packed.read1() if self._unpacker.needs_input else b""
        if self._unpacker.needs_input and not more:
            raise EOFError("the end of the stream is missing")
        return self._unpacker.decompress(more, size)

    def _next(self, size: int) -> bytes | None:
        """Go on with the stream that follows; None if none does."""
        more = (self._unpacker.unused_data or self._packed.read1()).lstrip(b"\0")
        if not more:
            return None
        unpacker = self._new()
        try:
            data = unpacker.decompress(more, size)
        except lzma.LZMAError:  # what follows is no stream: as other tools do, leave it
            return None
        self._unpacker = unpacker
        return data


def compression(head: bytes) -> str | None:
    """Name of the compression that `head` is the beginning of."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def _decompressed(stream: io.BufferedReader[Any]) -> BinaryIO:
    kind = compression(stream.peek(8)[:8])
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream))
    if kind == "bz2":
        return cast("BinaryIO", bz2.BZ2File(stream))
    if kind == "xz":
        return cast("BinaryIO", io.BufferedReader(_Xz(stream), buffer_size=CHUNK))
    if kind == "zstd":
        return cast("BinaryIO", pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd"))
    return stream


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    """What one step of reading gives at a time, so that little is lost before a cut."""
    take = getattr(stream, "read1", stream.read)
    size = PIECE if isinstance(stream, pa.NativeFile) else CHUNK
    while True:
        try:
            data = take(size)
        except (EOFError, zlib.error, lzma.LZMAError, pa.ArrowException, ValueError) as error:
            raise DamagedStreamError(str(error)) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise DamagedStreamError(str(error)) from error  # of a decompressor, not of the system
        if not data:
            return
        yield data


def _read(stream: BinaryIO, expansion: Expansion) -> Iterator[bytes]:
    """Chunks; what could be read before an error comes before the error."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in _pieces(stream):
            expansion.add(len(piece))
            held.append(piece)
            size += len(piece)
            if size >= CHUNK:
                yield b"".join(held)
                held, size = [], 0
    except DamagedStreamError:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def _transcoded(data: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in data:
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise DamagedStreamError(str(error)) from error


def chunks(path: Path | None, advance: Callable[[int], None]) -> Iterator[bytes]:
    """Decompressed UTF-8 of a file, or of standard input if `path` is None.

    Parameters
    ----------
    path : Path or None
        What to read.
    advance : callable
        Told the number of raw bytes read, as they are read.

    Yields
    ------
    bytes
        Never empty. A byte order mark is taken off; UTF-16 and UTF-32 need one.

    Raises
    ------
    DamagedStreamError
        If compressed data ends early or does not decompress.
    """
    if path is None and sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    raw: BinaryIO = sys.stdin.buffer if path is None else path.open("rb")
    counted = _Counted(raw, advance)
    with io.BufferedReader(counted, buffer_size=CHUNK) as stream:
        data = _read(_decompressed(stream), counted.expansion)
        first = next(data, b"")
        data = itertools.chain([first], data)
        for mark, encoding in _BOMS.items():
            if first.startswith(mark):
                if encoding == "utf-8-sig":  # leave broken bytes to whoever checks documents
                    data = itertools.chain([first[len(mark) :]], itertools.islice(data, 1, None))
                else:
                    data = _transcoded(data, encoding)
                break
        yield from filter(None, data)


def blocks(data: Iterator[bytes], longest: int) -> Iterator[bytes | None]:
    """Cut at newlines into pieces of whole lines; None stands for a line that is too long.

    A line is too long if it goes on for more than `longest` bytes without a newline.
    """
    held: list[bytes] = []
    size = 0  # of the line that is not ended yet
    for chunk in data:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            size += len(chunk)
            held = [*held, chunk] if size <= longest else []
            continue
        first, ended = 0, chunk.find(b"\n")
        if size + ended > longest:
            yield None
            held, first = [], ended + 1
        if first < cut:
            yield b"".join([*held, chunk[first:cut]])
        size = len(chunk) - cut
        held = [chunk[cut:]] if size <= longest else []
    if size:
        yield b"".join(held) if size <= longest else None


def full_lines(data: Iterator[bytes], longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Lines that are not empty, with their numbers; None stands for one that is too long."""
    number = 1
    for block in blocks(data, longest):
        if block is None:
            yield number, None
            number += 1
            continue
        place = 0
        for match in _FULL_LINE.finditer(block):
            number += block.count(b"\n", place, match.start())
            place = match.start()
            yield number, match[0]
        number += block.count(b"\n", place)


def lines(data: Iterator[bytes], longest: int) -> Iterator[bytes | None]:
    """Split at newlines; None stands for a line that is too long."""
    for block in blocks(data, longest):
        if block is None:
            yield None
        else:
            yield from block.removesuffix(b"\n").split(b"\n")
