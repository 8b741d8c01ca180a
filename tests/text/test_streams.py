"""Bytes from files: compression, byte order marks, lines."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import itertools
import lzma
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strod.text import streams
from strod.text.streams import DamagedStreamError, blocks, chunks, compression, full_lines, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXT = "Zeile eins: Grüße\nline two\n主题 three 😀\n"


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}


def nothing(_: int) -> None:
    pass


def read(path: Path) -> bytes:
    return b"".join(chunks(path, nothing))


def stored(folder: Path, data: bytes, name: str = "data.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("name", ["plain.txt", "wrong.gz", "other.bz2"])
def test_compression_is_found_by_content(tmp_path: Path, kind: str, name: str) -> None:
    data = COMPRESSORS[kind](TEXT.encode())
    assert compression(data) == kind
    assert read(stored(tmp_path, data, name)) == TEXT.encode()


def test_plain_text_under_the_name_of_a_compressed_file(tmp_path: Path) -> None:
    assert compression(TEXT.encode()) is None
    assert read(stored(tmp_path, TEXT.encode(), "a.gz")) == TEXT.encode()


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_several_members_one_after_another(tmp_path: Path, kind: str) -> None:
    compress = COMPRESSORS[kind]
    data = compress(b"one\n") + compress(b"two\n") + compress(b"three\n")
    assert read(stored(tmp_path, data)) == b"one\ntwo\nthree\n"


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_damage_in_the_middle_is_told_after_what_could_be_read(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "CHUNK", 1 << 12)
    body = b"".join(b"line %d\n" % (i * i) for i in range(40_000))
    data = COMPRESSORS[kind](body)
    found: list[bytes] = []
    with pytest.raises(DamagedStreamError):
        found.extend(chunks(stored(tmp_path, data[: len(data) // 2]), nothing))
    assert body.startswith(b"".join(found))
    assert kind == "bz2" or found  # bz2 gives whole blocks only


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_magic_number_alone_is_damaged(tmp_path: Path, kind: str) -> None:
    data = COMPRESSORS[kind](TEXT.encode())[:6] + b"\xff" * 50
    with pytest.raises(DamagedStreamError):
        read(stored(tmp_path, data))


def test_errors_of_the_system_are_not_damage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")
    with pytest.raises(OSError, match="Is a directory") as caught:
        read(tmp_path)
    assert caught.value.errno == errno.EISDIR


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("chunk", [5, 1 << 20])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_byte_order_marks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mark: bytes,
    encoding: str,
    chunk: int,
    compress: Callable[[bytes], bytes],
) -> None:
    monkeypatch.setattr(streams, "CHUNK", chunk)  # characters lie across its borders
    data = compress(mark + TEXT.encode(encoding))
    assert read(stored(tmp_path, data)) == TEXT.encode()


def test_broken_utf8_after_a_mark_is_left_to_the_documents(tmp_path: Path) -> None:
    assert read(stored(tmp_path, codecs.BOM_UTF8 + b"a\xffb\n")) == b"a\xffb\n"


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + b"a",
        codecs.BOM_UTF16_LE + b"\x00\xd8a\x00",
        codecs.BOM_UTF32_LE + b"a\x00",
    ],
    ids=["half a character", "lone surrogate", "half a UTF-32 character"],
)
def test_broken_utf16_is_damage(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DamagedStreamError):
        read(stored(tmp_path, data))


@pytest.mark.parametrize(
    "data", [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, gzip.compress(b"", mtime=0)]
)
def test_nothing_in_nothing_out(tmp_path: Path, data: bytes) -> None:
    assert list(chunks(stored(tmp_path, data), nothing)) == []


def test_raw_bytes_are_counted(tmp_path: Path) -> None:
    data = gzip.compress(TEXT.encode() * 1000, mtime=0)
    seen: list[int] = []
    list(chunks(stored(tmp_path, data), seen.append))
    assert sum(seen) == len(data)


def test_standard_input_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.BytesIO(gzip.compress(TEXT.encode(), mtime=0))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    assert b"".join(chunks(None, nothing)) == TEXT.encode()
    assert not stdin.closed


def test_files_are_closed(tmp_path: Path) -> None:
    data = chunks(stored(tmp_path, TEXT.encode() * 2), nothing)
    assert next(data)
    data.close()  # type: ignore[attr-defined]
    assert next(data, None) is None


def test_lines_at_every_border() -> None:
    data = b"one\n\ntwo three\nx\n\n\nlast"
    for first, second in itertools.combinations(range(len(data) + 1), 2):
        pieces = [data[:first], data[first:second], data[second:]]
        assert list(lines(iter(pieces), 100)) == data.split(b"\n")
        assert list(lines(iter([*pieces, b"\n"]), 100)) == data.split(b"\n")


PIECES = st.lists(st.text("ab\n", max_size=12).map(str.encode))


@given(PIECES)
def test_pieces_of_whole_lines(pieces: list[bytes]) -> None:
    found = list(blocks(iter(pieces), 1000))
    assert all(block and block.endswith(b"\n") for block in found[:-1])
    assert b"".join(block or b"" for block in found) == b"".join(pieces)


@given(PIECES, st.integers(min_value=0, max_value=9))
def test_only_long_lines_are_missing(pieces: list[bytes], longest: int) -> None:
    expected = b"".join(pieces).removesuffix(b"\n").split(b"\n") if any(pieces) else []
    found = list(lines(iter(pieces), longest))
    slack = max(map(len, pieces), default=0)  # a line may be kept if one piece more ends it
    assert len(found) == len(expected)
    for line, wanted in zip(found, expected, strict=True):
        if line is None:
            assert len(wanted) > longest
        else:
            assert line == wanted
            assert len(line) <= longest + slack


def test_line_too_long_across_pieces() -> None:
    pieces = [b"ok\nlong", b"long", b"long", b"long\nok", b"\nlonglonglong"]
    assert list(lines(iter(pieces), 8)) == [b"ok", None, b"ok", None]


def test_an_endless_line_is_not_held_in_memory() -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(10_000):
            yield b"x" * 1000
        yield b"\nend"

    assert list(lines(endless(), 5000)) == [None, b"end"]


@given(st.lists(st.text("ab\n\n\n", max_size=9).map(str.encode)))
def test_full_lines_are_lines_with_numbers(pieces: list[bytes]) -> None:
    every = enumerate(lines(iter(pieces), 4), start=1)
    expected = [(number, line) for number, line in every if line is None or line]
    assert list(full_lines(iter(pieces), 4)) == expected


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_what_unpacks_to_far_more_than_text_ends(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREE", 1 << 20)
    monkeypatch.setattr(streams, "MOST_TIMES", 20)
    found: list[int] = []
    zeros = stored(tmp_path, COMPRESSORS[kind](bytes(20 << 20)))
    with pytest.raises(DamagedStreamError, match="unpacks to more than 20 times its size"):
        found.extend(map(len, chunks(zeros, nothing)))
    assert sum(found) < 4 << 20
    body = b"".join(b"line %d\n" % (i * i) for i in range(200_000))
    assert read(stored(tmp_path, COMPRESSORS[kind](body))) == body


def test_xz_asks_for_little_memory(tmp_path: Path) -> None:
    greedy = [
        {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}
    ]
    header = lzma.compress(b"one\n", filters=[{"id": lzma.FILTER_LZMA2, "preset": 9}])
    assert read(stored(tmp_path, header)) == b"one\n"
    with pytest.raises(DamagedStreamError, match="Memory"):
        read(stored(tmp_path, lzma.compress(b"one\n", filters=greedy)))


@pytest.mark.parametrize("rest", [b"\0" * 8, b"no stream at all", b"\0\0\0\0" + lzma.compress(b"")])
def test_xz_with_something_behind_it(tmp_path: Path, rest: bytes) -> None:
    data = lzma.compress(b"one\n")
    assert read(stored(tmp_path, data + rest)) == b"one\n"
