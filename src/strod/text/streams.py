"""Bytes from anywhere: files and pipes, compressed or not, in UTF-8 or UTF-16."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import itertools
import lzma
import sys
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["DamagedStreamError", "blocks", "chunks", "compression", "lines"]

CHUNK = 1 << 21
PIECE = 1 << 16

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


class _Counted(io.RawIOBase):
    """A raw file that tells how many bytes were taken from it."""

    def __init__(self, raw: BinaryIO, advance: Callable[[int], None]) -> None:
        self._raw = raw
        self._advance = advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        return len(data)

    def close(self) -> None:
        if sys.stdin is None or self._raw is not sys.stdin.buffer:
            self._raw.close()
        super().close()


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
        return cast("BinaryIO", lzma.LZMAFile(stream))
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


def _read(stream: BinaryIO) -> Iterator[bytes]:
    """Chunks; what could be read before an error comes before the error."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in _pieces(stream):
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
    with io.BufferedReader(_Counted(raw, advance), buffer_size=CHUNK) as stream:
        data = _read(_decompressed(stream))
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


def lines(data: Iterator[bytes], longest: int) -> Iterator[bytes | None]:
    """Split at newlines; None stands for a line that is too long."""
    for block in blocks(data, longest):
        if block is None:
            yield None
        else:
            yield from block.removesuffix(b"\n").split(b"\n")
