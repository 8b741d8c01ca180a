"""Every kind of bad input ends as it should: counted, or in one clear line."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import lzma
import os
import random
import subprocess
import termios
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import (
    WORDS,
    Bench,
    check_error,
    command,
    json_lines,
    names,
    strod,
    strod_process,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST, LAST = b'{"text": "river stone cloud"}\n', b'{"text": "market letter garden"}\n'
DAMAGED = "source cut short or damaged"


@dataclass(frozen=True)
class Case:
    """A file with bad documents in it.

    `reasons` has the lines of the bad documents, in the order in which they are met;
    `detail` is what --strict says beside the reason.
    """

    name: str
    file: str
    data: bytes
    reasons: dict[str, list[int]]
    kept: int = 2
    options: list[str] = field(default_factory=list)
    detail: str = ""


def bad_line(name: str, line: bytes, reason: str, detail: str = "", **more: Any) -> Case:
    """A bad line between two good ones."""
    data = FIRST + line + b"\n" + LAST
    return Case(name, "a.jsonl", data, {reason: [2]}, detail=detail, **more)


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


BRACKETS = 100_000
CASES = [
    bad_line("broken-utf8", b'{"text": "caf\xe9 noir"}', "broken UTF-8", "byte 13"),
    bad_line("overlong-utf8", b'{"text": "slash \xc0\xaf word"}', "broken UTF-8"),
    bad_line("overlong-utf8-three-bytes", b'{"text": "word \xe0\x80\xaf"}', "broken UTF-8"),
    bad_line("cut-utf8", b'{"text": "caf\xc3', "broken UTF-8"),
    bad_line("utf8-above-unicode", b'{"text": "word \xf4\x90\x80\x80"}', "broken UTF-8"),
    bad_line("surrogate-as-utf8", b'{"text": "word \xed\xa0\x80"}', "broken UTF-8"),
    bad_line("lone-high-surrogate", rb'{"text": "word \ud800 word"}', "lone surrogate"),
    bad_line("lone-low-surrogate", rb'{"text": "word \udc00 word"}', "lone surrogate"),
    bad_line("swapped-surrogates", rb'{"text": "word \udf48\ud800"}', "lone surrogate"),
    bad_line("escaped-nul", rb'{"text": "word \u0000 word"}', "NUL byte in the text"),
    bad_line("raw-nul", b'{"text": "word \0 word"}', "broken JSON"),
    bad_line("nan-as-text", b'{"text": NaN}', "text is not a string", "'text'"),
    bad_line("infinity-as-text", b'{"text": -Infinity}', "text is not a string"),
    bad_line("duplicate-key", b'{"text": "river", "text": "stone"}', "duplicate key", "text"),
    bad_line("duplicate-key-escaped", rb'{"text": "river", "te\u0078t": "two"}', "duplicate key"),
    bad_line("duplicate-key-loose", b'{"text" : "river", "text": "stone"}', "duplicate key"),
    bad_line("duplicate-key-tab", b'{"text":"river","text"\t:"two"}', "duplicate key"),
    bad_line("duplicate-key-hidden", rb'{"text" : "a\":", "text" : "b"}', "duplicate key"),
    bad_line("duplicate-id-key", b'{"id": 1, "text": "river", "id": 2}', "duplicate key", "id"),
    bad_line("nested", b"[" * BRACKETS + b"]" * BRACKETS, "broken JSON", "nested too deeply"),
    bad_line("nested-unclosed", b"[" * BRACKETS, "broken JSON", "nested too deeply"),
    bad_line("nested-objects", b'{"a":' * BRACKETS, "broken JSON", "nested too deeply"),
    bad_line("no-text", b'{"title": "one", "body": "two"}', "no text field", "title, body"),
    bad_line("no-fields", b"{}", "no text field", "no fields"),
    bad_line("null-text", b'{"text": null}', "no text field"),
    bad_line("number-as-text", b'{"text": 17}', "text is not a string"),
    bad_line("list-as-text", b'{"text": ["one", "two"]}', "text is not a string"),
    bad_line("object-as-text", b'{"text": {"text": "river"}}', "text is not a string"),
    bad_line("boolean-as-text", b'{"text": true}', "text is not a string"),
    bad_line("array-line", b'["one", "two"]', "not a JSON object"),
    bad_line("number-line", b"17", "not a JSON object"),
    bad_line("null-line", b"null", "not a JSON object"),
    bad_line("broken-json", b'{"text": "one', "broken JSON"),
    bad_line("two-objects", b'{"text": "river"} {"text": "stone"}', "broken JSON"),
    bad_line("empty-text", b'{"text": ""}', "empty document"),
    bad_line("blank-text", rb'{"text": " \t\r\n "}', "empty document"),
    bad_line("no-words", rb'{"text": "12, 13 ... !? \u3000"}', "no words"),
    bad_line("empty-id", b'{"text": "river", "id": ""}', "no id", "'id'"),
    bad_line("boolean-id", b'{"text": "river", "id": true}', "id is not a string"),
    bad_line("fractional-id", b'{"text": "river", "id": 1.5}', "id is not a string"),
    bad_line("list-id", b'{"text": "river", "id": ["x"]}', "id is not a string"),
    bad_line("long-id", b'{"text": "river", "id": "' + b"x" * 1001 + b'"}', "id too long"),
    bad_line("surrogate-id", rb'{"text": "river", "id": "\ud800"}', "broken id"),
    bad_line("nul-id", rb'{"text": "river", "id": "a\u0000b"}', "broken id"),
    Case(
        "missing-id",
        "a.jsonl",
        json_lines({"text": "river", "key": "a"}, {"text": "stone"}, {"text": "cloud", "key": "b"}),
        {"no id": [2]},
        options=["--id-field", "key"],
        detail="'key'",
    ),
    Case(
        "duplicate-ids",
        "a.jsonl",
        json_lines(*({"id": i, "text": text} for i, text in zip("abacba", texts(6), strict=True))),
        {"duplicate id": [3, 5, 6]},
        kept=3,
    ),
    Case(
        "duplicate-ids-of-two-types",
        "a.jsonl",
        json_lines(
            {"id": 7, "text": "river"}, {"id": "7", "text": "stone"}, {"id": 8, "text": "x"}
        ),
        {"duplicate id": [2]},
    ),
    Case(
        "duplicate-texts-dropped",
        "a.jsonl",
        json_lines({"text": "river"}, {"text": "stone"}, {"text": "river"}, {"text": "river"}),
        {"duplicate text": [3, 4]},
        options=["--duplicates", "drop"],
    ),
    Case(
        "more-than-five",
        "a.jsonl",
        FIRST + b'{"text": ""}\n' * 7 + LAST,
        {"empty document": list(range(2, 9))},
    ),
    Case(
        "blank-lines-are-no-documents",
        "a.jsonl",
        b"\n" + FIRST + b"\n  \n{\n\r\n" + LAST + b"\n",
        {"broken JSON": [5]},
    ),
    Case(
        "document-too-long",
        "a.jsonl",
        FIRST + b'{"text": "' + b"river " * 3_000_000 + b'"}\n' + LAST,
        {"document too long": [2]},
        detail="18,000,000 bytes",
    ),
    Case(
        "line-too-long",
        "a.txt",
        b"river stone\n" + b"x" * (65 << 20) + b"\nmarket letter\n",
        {"document too long": [2]},
    ),
    Case("endless-word", "a.txt", b"river\n" + b"x" * 3_000_000 + b"\nstone\n", {"no words": [2]}),
    Case("lines-broken-utf8", "a.txt", b"river\ncaf\xe9 noir\nstone\n", {"broken UTF-8": [2]}),
    Case("lines-nul", "a.txt", b"river\ngarden \0\nstone\n", {"NUL byte in the text": [2]}),
    Case("lines-cut-utf8", "a.txt", b"river\nstone\ncaf\xc3", {"broken UTF-8": [3]}),
    Case(
        "csv-broken-utf8",
        "a.csv",
        b"text,n\nriver,1\ncaf\xe9,2\nstone,3\n",
        {"broken UTF-8": [3]},
    ),
    Case("csv-nul", "a.csv", b"text,n\nriver,1\na\0b,2\nstone,3\n", {"NUL byte in the text": [3]}),
    Case("csv-empty-cell", "a.csv", b"text,n\nriver,1\n,2\nstone,3\n", {"empty document": [3]}),
    Case("csv-blank-cell", "a.csv", b"text,n\nriver,1\n  ,2\nstone,3\n", {"empty document": [3]}),
    Case(
        "csv-wrong-number-of-columns",
        "a.csv",
        b"text,n\nriver,1\nstone\ncloud,2,3\n\nmarket,4\n",
        {"wrong number of columns": [3, 4]},
        detail="1 of 2",
    ),
    Case(
        "csv-columns-after-a-long-row",
        "a.csv",
        b'text,n\n"river\n\nstone",1\ncloud\nmarket,4\n',
        {"wrong number of columns": [5]},
    ),
    Case(
        "csv-unclosed-quote",
        "a.csv",
        b'text,n\nriver,1\nstone,2\n"cloud,3\nmarket,4\n',
        {"unclosed quote": [4]},
    ),
    Case(
        "csv-unclosed-quote-after-a-long-row",
        "a.csv",
        b'text,n\nriver,1\n"stone\n\ncloud",2\n"market,3\n',
        {"unclosed quote": [6]},
    ),
    Case(
        "csv-text-after-a-quote",
        "a.csv",
        b'text,n\nriver,1\nstone,2\n"cloud"y,3\n',
        {"broken CSV": [4]},
    ),
    Case(
        "tsv-columns", "a.tsv", b"text\tn\nriver\t1\na,b\nx\t2\n", {"wrong number of columns": [3]}
    ),
    Case(
        "parquet-null",
        "a.parquet",
        parquet(pa.table({"text": ["river", None, "stone"]})),
        {"no text field": [2]},
    ),
    Case(
        "parquet-empty",
        "a.parquet",
        parquet(pa.table({"text": ["river", "stone", ""], "id": [3, 4, 5]})),
        {"empty document": [3]},
    ),
    Case(
        "parquet-ids",
        "a.parquet",
        parquet(pa.table({"text": ["river", "stone", "cloud"], "id": [3, 4, 3]})),
        {"duplicate id": [3]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_documents_are_counted(bench: Bench, case: Case) -> None:
    path = bench.write(case.file, case.data)
    outcome = bench.build(path, *case.options)
    expected = {why: [f"{path}:{n}" for n in where] for why, where in case.reasons.items()}
    bench.check_built(outcome, case.kept, expected)
    for reason, where in case.reasons.items():
        assert f"{len(where)} with {reason}" in " ".join(outcome.out.split())


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name != "duplicate-texts-dropped"],  # the user's wish
    ids=lambda case: case.name,
)
def test_strict_stops_at_the_first(bench: Bench, case: Case) -> None:
    path = bench.write(case.file, case.data)
    outcome = bench.build(path, "--strict", *case.options)
    (reason, where), *_ = case.reasons.items()
    bench.check_failed(outcome, f"{path}:{where[0]}: {reason}", case.detail, "--strict")


# What is odd but good: nothing is rejected, with --strict or without.
GOOD = {
    "utf8-bom": ("a.jsonl", b"\xef\xbb\xbf" + FIRST + LAST, 2),
    "utf8-bom-csv": ("a.csv", b"\xef\xbb\xbftext,n\nriver,1\nstone,2\n", 2),
    "utf8-bom-lines": ("a.txt", b"\xef\xbb\xbfriver\nstone\n", 2),
    "utf16-little": ("a.jsonl", b"\xff\xfe" + (FIRST + LAST).decode().encode("utf-16-le"), 2),
    "utf16-big": ("a.jsonl", b"\xfe\xff" + (FIRST + LAST).decode().encode("utf-16-be"), 2),
    "utf16-lines": ("a.txt", "grüner Fluss\nweiße Wolke 𝄞\n".encode("utf-16"), 2),
    "utf16-csv": ("a.csv", "text,n\nFluss,1\nWolke,2\n".encode("utf-16"), 2),
    "utf16-gzip": ("a.txt.gz", gzip.compress("Fluss\nWolke\n".encode("utf-16"), mtime=0), 2),
    "utf32-lines": ("a.txt", "Fluss\nWolke\n".encode("utf-32"), 2),
    "nan-in-unused-field": ("a.jsonl", FIRST + b'{"text": "river", "x": NaN}\n', 2),
    "duplicate-unused-key": ("a.jsonl", FIRST + b'{"text": "river", "x": 1, "x": 2}\n', 2),
    "surrogate-in-unused-field": ("a.jsonl", FIRST + rb'{"text": "river", "x": "\ud800"}', 2),
    "nested-text-key": ("a.jsonl", FIRST + b'{"text": "river", "x": {"text": "stone"}}\n', 2),
    "surrogate-pair": ("a.jsonl", FIRST + rb'{"text": "\ud834\udd1e clef"}', 2),
    "one-repeated-word": ("a.jsonl", json_lines({"text": "river " * 100_000}), 1),
    "one-word": ("a.txt", b"river", 1),
    "integer-ids": (
        "a.jsonl",
        json_lines(*({"id": i, "text": "river"} for i in (0, -5, 2**63))),
        3,
    ),
    "longest-id": ("a.jsonl", json_lines({"id": "x" * 1000, "text": "river"}), 1),
    "null-id": ("a.jsonl", json_lines({"id": None, "text": "river"}, {"id": "b", "text": "x"}), 2),
    "windows-line-ends": ("a.jsonl", (FIRST + LAST).replace(b"\n", b"\r\n"), 2),
    "no-last-newline": ("a.jsonl", FIRST + LAST.rstrip(), 2),
    "csv-quoted-newlines": ("a.csv", b'text,n\r\n"river\r\n""stone""",1\r\ncloud,2\r\n', 2),
    "csv-semicolons": ("a.csv", b"n;text\n1;river, stone\n2;cloud\n", 2),
    "two-gzip-members": (
        "a.jsonl.gz",
        gzip.compress(FIRST, mtime=0) + gzip.compress(LAST, mtime=0),
        2,
    ),
    "compressed-without-suffix": ("a.jsonl", bz2.compress(FIRST + LAST), 2),
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_but_good(bench: Bench, name: str) -> None:
    file, data, kept = GOOD[name]
    path = bench.write(file, data)
    bench.check_built(bench.build(path), kept, {})
    bench.check_built(bench.build(path, "--strict", "--overwrite", "--quiet"), kept, {})


def test_a_line_of_twelve_megabytes_is_kept(bench: Bench) -> None:
    line = json_lines({"text": " ".join(WORDS) * 220_000})
    assert len(line) > 12_000_000
    path = bench.write("a.jsonl", FIRST + line + LAST)
    bench.check_built(bench.build(path, "--strict"), 3, {})


# Files that hold nothing usable: what the one line must say.
CUT_PARQUET = parquet(pa.table({"text": texts(50)}))
USELESS = {
    "empty-file": ("a.jsonl", b"", ["a.jsonl: is empty"]),
    "empty-gzip": ("a.jsonl.gz", gzip.compress(b"", mtime=0), ["a.jsonl.gz: is empty"]),
    "blank-file": ("a.txt", b"\n  \n\r\n", ["a.txt: is empty"]),
    "csv-header-only": ("a.csv", b"text,n\n", ["a.csv: is empty"]),
    "empty-csv": ("a.csv", b"", ["a.csv: is empty"]),
    "empty-parquet": ("a.parquet", b"", ["a.parquet", DAMAGED]),
    "parquet-without-rows": (
        "a.parquet",
        parquet(pa.table({"text": pa.array([], pa.string())})),
        ["a.parquet: is empty"],
    ),
    "empty-documents": ("a.jsonl", b'{"text": ""}\n' * 3, ["a.jsonl:1: empty document"]),
    "no-words": ("a.txt", b"12 34\n...\n", ["no usable document", "word"]),
    "stop-words-only": ("a.txt", b"the and of\n", ["stop words", "--language"]),
    "utf16-without-bom": ("a.txt", "river\nstone\n".encode("utf-16-le"), ["a.txt:1: NUL byte"]),
    "utf16-json-without-bom": (
        "a.jsonl",
        FIRST.decode().encode("utf-16-le"),
        ["a.jsonl:1: broken JSON"],
    ),
    "binary": ("a.txt", bytes(range(256)) * 8, ["a.txt:1: "]),
    "utf16-cut": ("a.txt", "river stone\n".encode("utf-16")[:-1], ["a.txt:1", DAMAGED, "again"]),
    "json-array": ("a.json", b'[{"text": "a"}, {"text": "b"}]', ["a.json:1", "array", "jq"]),
    "json-array-over-lines": (
        "a.json",
        b'[\n  {\n    "text": "river"\n  },\n  {\n    "text": "stone"\n  }\n]\n',
        ["a.json:1", "array", "jq"],
    ),
    "json-wrong-field": ("a.jsonl", b'{"body": "river"}', ["a.jsonl:1", "body", "--text-field"]),
    "csv-wrong-field": ("a.csv", b"n,body\n1,river\n", ["a.csv:2", "body", "--text-field"]),
    "parquet-wrong-field": (
        "a.parquet",
        parquet(pa.table({"body": ["river"]})),
        ["a.parquet:1", "body", "--text-field"],
    ),
    "parquet-numbers": (
        "a.parquet",
        parquet(pa.table({"text": [1, 2]})),
        ["a.parquet:1", "text is not a string"],
    ),
    "cut-gzip": (
        "a.jsonl.gz",
        gzip.compress(FIRST, mtime=0)[:-20],
        ["a.jsonl.gz:1", DAMAGED, "again"],
    ),
    "cut-gzip-header": ("a.jsonl.gz", gzip.compress(FIRST, mtime=0)[:5], ["a.jsonl.gz:1", DAMAGED]),
    "cut-bz2": ("a.jsonl.bz2", bz2.compress(FIRST * 99)[:-20], ["a.jsonl.bz2:1", DAMAGED]),
    "cut-xz": ("a.jsonl.xz", lzma.compress(FIRST)[:40], ["a.jsonl.xz:1", DAMAGED]),
    "cut-parquet": ("a.parquet", CUT_PARQUET[:-30], ["a.parquet:1", DAMAGED]),
    "cut-parquet-head": ("a.parquet", CUT_PARQUET[:100], ["a.parquet:1", DAMAGED]),
    "no-parquet": ("a.parquet", b"river stone\n" * 20, ["a.parquet:1", DAMAGED]),
    "parquet-in-gzip": ("a.gz", gzip.compress(CUT_PARQUET, mtime=0), ["Parquet", "uncompressed"]),
    "csv-unclosed-at-once": ("a.csv", b'text\n"river\nstone\n', ["a.csv:2", "unclosed quote"]),
    "csv-unclosed-header": ("a.csv", b'"text,n\nriver,1\n', ["a.csv:1", "unclosed quote"]),
}


@pytest.mark.parametrize("strict", [False, True], ids=["skip", "strict"])
@pytest.mark.parametrize("name", USELESS)
def test_nothing_usable(bench: Bench, name: str, strict: bool) -> None:
    file, data, phrases = USELESS[name]
    path = bench.write(file, data)
    options = ["--strict"] if strict else []
    outcome = bench.build(path, *options)
    advice = {"again", "jq", "--text-field", "word"}  # of the summary, not of the first document
    if strict:
        phrases = [phrase for phrase in phrases if phrase not in advice]
        phrases = [phrase for phrase in phrases if phrase != "no usable document"]
    bench.check_failed(outcome, *phrases)


def test_nothing_usable_in_a_process(bench: Bench) -> None:
    path = bench.write("a.jsonl", b"{\n")
    outcome = strod_process("build", path, "--out", bench.workspace)
    check_error(outcome, f"{path}:1: broken JSON")
    assert names(bench.folder) == ["a.jsonl"]


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


MANY = b"".join(b'{"id": %d, "text": "river stone word%x"}\n' % (i, i * i) for i in range(9000))


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(MANY, mtime=0)[: len(gzip.compress(MANY, mtime=0)) // 2],
        gzip.compress(MANY, mtime=0)[:-8] + b"\0" * 8,
        lzma.compress(MANY)[: len(lzma.compress(MANY)) * 3 // 4],
        zstd(MANY)[: len(zstd(MANY)) * 3 // 4],
    ],
    ids=["gzip", "gzip-checksum", "xz", "zstd"],
)
def test_little_is_lost_before_a_cut(bench: Bench, data: bytes) -> None:
    path = bench.write("a.jsonl", data)
    assert bench.build(path).code == 0
    kept = bench.documents["kept"]
    assert 1000 < kept <= 9000
    assert bench.documents["read"] == kept + 1
    assert bench.documents["reasons"] == {DAMAGED: {"count": 1, "first": [f"{path}:{kept + 1}"]}}


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstd,
}


@pytest.fixture(scope="module")
def long_text() -> bytes:
    """Some megabytes, so that a cut leaves much to keep."""
    chosen = random.Random(3)
    return json_lines(
        *({"text": " ".join(chosen.choices(WORDS, k=40)) + f" {i}"} for i in range(16_000))
    )


@pytest.mark.parametrize("kind", PACKERS)
def test_documents_before_a_cut_are_kept(bench: Bench, kind: str, long_text: bytes) -> None:
    packed = PACKERS[kind](long_text)
    path = bench.write(f"a.jsonl.{kind}", packed[: len(packed) * 3 // 4])
    outcome = bench.build(path)
    kept = bench.documents["kept"]
    assert 1000 < kept < 16_000
    bench.check_built(outcome, kept, {DAMAGED: [f"{path}:{kept + 1}"]})
    first = next(Workspace(bench.workspace).corpus.shards()).texts([0, kept - 1])
    assert [text.split()[-1] for text in first] == ["0", str(kept - 1)]


@pytest.mark.parametrize("kind", PACKERS)
def test_a_cut_is_an_error_with_strict(bench: Bench, kind: str, long_text: bytes) -> None:
    packed = PACKERS[kind](long_text)
    path = bench.write(f"a.jsonl.{kind}", packed[: len(packed) * 3 // 4])
    bench.check_failed(bench.build(path, "--strict"), f"{path}:", DAMAGED)


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_whole(bench: Bench, kind: str, long_text: bytes) -> None:
    path = bench.write(f"a.jsonl.{kind}", PACKERS[kind](long_text))
    bench.check_built(bench.build(path, "--strict"), 16_000, {})


def test_utf16_before_damage_is_kept(bench: Bench) -> None:
    data = "".join(f"river stone {i:05}\n" for i in range(40_000)).encode("utf-16")[:-1]
    path = bench.write("a.txt", data)
    outcome = bench.build(path)
    kept = bench.documents["kept"]
    assert 10_000 < kept < 40_000
    bench.check_built(outcome, kept, {DAMAGED: [f"{path}:{kept + 1}"]})


def test_parquet_before_damage_is_kept(bench: Bench) -> None:
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink, pa.schema([("text", pa.string())]), compression="gzip", use_dictionary=False
    ) as writer:
        for first in (0, 4096):
            writer.write_table(pa.table({"text": texts(4096, first)}))
    data = bytearray(sink.getvalue().to_pybytes())
    start = pq.ParquetFile(pa.BufferReader(bytes(data))).metadata.row_group(1).column(0)
    middle = start.data_page_offset + start.total_compressed_size // 2
    data[middle : middle + 40] = bytes(40)
    path = bench.write("a.parquet", bytes(data))
    outcome = bench.build(path)
    bench.check_built(outcome, 4096, {DAMAGED: [f"{path}:4097"]})
    again = bench.build(path, "--strict", "--overwrite")
    check_error(again, f"{path}:4097: {DAMAGED}")
    assert Workspace(bench.workspace).check() == []


# Metadata that JSON can hold but nothing else: the document stays or is counted.
ODD_META = {
    "surrogate": ("a.jsonl", FIRST + rb'{"text": "one two", "m": "\ud800"}'),
    "surrogate-in-list": ("a.jsonl", FIRST + rb'{"text": "one two", "m": ["a", "\ud800"]}'),
    "large-integer": ("a.jsonl", FIRST + b'{"text": "river", "m": 123456789012345678901234}'),
    "large-integer-beside-nan": (
        "a.jsonl",
        FIRST + b'{"text": "river", "x": NaN, "m": 123456789012345678901234}',
    ),
    "huge-number": ("a.jsonl", FIRST + b'{"text": "river", "m": 1e999}'),
    "nan": ("a.jsonl", FIRST + b'{"text": "river", "m": NaN}'),
    "nested": ("a.jsonl", FIRST + b'{"text": "river", "m": ' + b"[" * 400 + b"]" * 400 + b"}"),
    "csv-broken-utf8": ("a.csv", b"text,m\nriver,a\nstone,caf\xe9\n"),
    "nul": ("a.jsonl", FIRST + rb'{"text": "river", "m": "a\u0000b"}'),
    "object": ("a.jsonl", FIRST + b'{"text": "river", "m": {"a": [1, null, {}]}}'),
    "no-date": ("a.jsonl", FIRST + b'{"text": "river", "m": "2024-02-31"}'),
}


@pytest.mark.parametrize("name", ODD_META)
def test_odd_metadata(bench: Bench, name: str) -> None:
    path = bench.write(*ODD_META[name])
    outcome = bench.build(path, "--meta", "m")
    assert outcome.code == 0, outcome.err
    documents = bench.documents
    assert documents["read"] == 2 == documents["kept"] + documents["rejected"]
    assert Workspace(bench.workspace).corpus.documents == documents["kept"]
    assert Workspace(bench.workspace).check() == []


def test_a_file_name_that_is_not_utf8(bench: Bench) -> None:
    path = bench.folder / os.fsdecode(b"\xff.jsonl")
    path.write_bytes(FIRST + b"{\n")
    outcome = bench.build(path)
    assert outcome.code == 0
    documents = bench.documents
    assert (documents["read"], documents["kept"], documents["rejected"]) == (2, 1, 1)
    assert ".jsonl:2" in documents["reasons"]["broken JSON"]["first"][0]


def test_missing_file(bench: Bench) -> None:
    path = bench.folder / "none.jsonl"
    bench.check_failed(bench.build(path), str(path), "no such file")


def test_a_path_through_a_file(bench: Bench) -> None:
    path = bench.write("a.txt", b"river")
    bench.check_failed(bench.build(path / "b.txt"), str(path / "b.txt"), "cannot be read")


def test_folder_without_text(bench: Bench) -> None:
    (bench.folder / "empty" / "below").mkdir(parents=True)
    bench.write("empty/.hidden", b"river")
    bench.check_failed(bench.build(bench.folder / "empty"), "empty: holds no file to read")


def test_folder_with_bad_files(bench: Bench) -> None:
    for name, data in {
        "b/good.txt": b"river\nstone",
        "good.md": b"cloud",
        "empty.txt": b"",
        "photo.png": b"\x89PNG\r\n\x1a\n\0\0",
        "latin.txt": b"caf\xe9",
        "nul.txt": b"river\0",
        "cut.txt.gz": gzip.compress(b"river stone", mtime=0)[:-9],
        "some.jsonl": FIRST + b"{\n",
    }.items():
        bench.write(f"notes/{name}", data)
    os.mkfifo(bench.folder / "notes/pipe")
    folder = bench.folder / "notes"
    bench.check_built(
        bench.build(folder),
        3,
        {
            "broken JSON": [f"{folder}/some.jsonl:2"],
            "broken UTF-8": [f"{folder}/latin.txt"],
            "not a text file": [f"{folder}/photo.png"],
            "empty document": [f"{folder}/empty.txt"],
            "NUL byte in the text": [f"{folder}/nul.txt"],
            DAMAGED: [f"{folder}/cut.txt.gz"],
        },
    )
    table = next(Workspace(bench.workspace).corpus.shards()).documents()
    assert set(table["id"].to_pylist()) >= {"b/good.txt", "good.md"}


def test_folder_with_bad_files_only(bench: Bench) -> None:
    bench.write("notes/photo.png", b"\x89PNG\r\n\x1a\n\0\0")
    bench.write("notes/b.txt", b"")
    outcome = bench.build(bench.folder / "notes")
    bench.check_failed(outcome, "no usable document", "notes/b.txt: empty document")


def test_fifo_does_not_hang(bench: Bench) -> None:
    path = bench.folder / "pipe.jsonl"
    os.mkfifo(path)
    outcome = strod_process("build", path, "--out", bench.workspace)
    check_error(outcome, str(path), "pipe", "'-'")
    assert names(bench.folder) == ["pipe.jsonl"]


def test_a_device_does_not_hang(bench: Bench) -> None:
    outcome = strod_process("build", "/dev/zero", "--out", bench.workspace)
    check_error(outcome, "/dev/zero", "not a regular file")
    assert names(bench.folder) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_unreadable_file(bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = bench.write(name, FIRST)
    path_open = Path.open

    def refuse(self: Path, *arguments: Any, **more: Any) -> Any:
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return path_open(self, *arguments, **more)

    monkeypatch.setattr(Path, "open", refuse)
    bench.check_failed(bench.build(path), str(path), "cannot be read", "Permission denied")


def test_unreadable_parquet(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.write("a.parquet", CUT_PARQUET)

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pq, "ParquetFile", refuse)
    bench.check_failed(bench.build(path), str(path), "cannot be read", "Permission denied")


def test_output_exists(bench: Bench) -> None:
    path = bench.write("a.jsonl", FIRST)
    (bench.workspace / "mine").mkdir(parents=True)
    bench.check_failed(bench.build(path), str(bench.workspace), "exists", "--overwrite")
    assert names(bench.workspace) == ["mine"]


def test_output_is_a_file(bench: Bench) -> None:
    path = bench.write("a.jsonl", FIRST)
    bench.write("w.strod", b"mine")
    bench.check_failed(bench.build(path), str(bench.workspace), "exists")
    bench.check_failed(bench.build(path, "--overwrite"), "not a workspace")
    assert bench.workspace.read_bytes() == b"mine"


def test_output_in_a_missing_folder(bench: Bench) -> None:
    path = bench.write("a.jsonl", FIRST)
    target = bench.folder / "none" / "w.strod"
    check_error(strod("build", path, "--out", target), str(target.parent), "no such folder")
    assert names(bench.folder) == ["a.jsonl"]


def test_a_failed_build_keeps_the_old_workspace(bench: Bench) -> None:
    bench.check_built(bench.build(bench.write("a.jsonl", FIRST + LAST)), 2, {})
    bad = bench.write("b.jsonl", b"{\n")
    bench.check_failed(bench.build(bad, "--overwrite"), "broken JSON")
    assert Workspace(bench.workspace).check() == []
    assert Workspace(bench.workspace).corpus.documents == 2


@pytest.fixture
def small_disk(make_disk: Callable[[int], Path]) -> Path:
    """A disk of four megabytes."""
    return make_disk(4096)


def test_full_disk(bench: Bench, small_disk: Path, long_text: bytes) -> None:
    path = bench.write("a.jsonl", long_text)
    outcome = strod("build", path, "--out", small_disk / "w.strod")
    check_error(outcome, str(small_disk), "the disk is full", "make room", code=1)
    assert names(small_disk) == []


def test_full_disk_keeps_the_old_workspace(
    bench: Bench, small_disk: Path, long_text: bytes
) -> None:
    target = small_disk / "w.strod"
    assert strod("build", bench.write("a.jsonl", FIRST + LAST), "--out", target).code == 0
    path = bench.write("b.jsonl", long_text)
    outcome = strod("build", path, "--out", target, "--overwrite")
    check_error(outcome, "the disk is full", code=1)
    assert names(small_disk) == ["w.strod"]
    assert Workspace(target).check() == []
    assert Workspace(target).corpus.documents == 2


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_one_of_several_sources_is_useless(bench: Bench, order: tuple[int, ...]) -> None:
    paths = [
        bench.write("a.jsonl", FIRST + LAST),
        bench.write("bad.jsonl", b"{\n"),
        bench.write("c.txt", b"river\nstone\n"),
    ]
    outcome = bench.build(*(paths[i] for i in order))
    bench.check_failed(outcome, "no usable document", f"{paths[1]}:1: broken JSON")


def test_one_of_several_sources_is_missing(bench: Bench) -> None:
    path = bench.write("a.jsonl", FIRST)
    missing = bench.folder / "b.jsonl"
    bench.check_failed(bench.build(path, missing), str(missing), "no such file")


def test_several_sources_add_up(bench: Bench) -> None:
    one = bench.write("a.jsonl", FIRST + b"{\n" + b'{"text": ""}\n')
    two = bench.write("b.csv", b"text,n\nriver,1\nstone\n")
    three = bench.write("c.parquet", parquet(pa.table({"text": ["cloud", None]})))
    four = bench.write("d.txt.gz", gzip.compress(b"market\n\ngar\0den\n", mtime=0))
    bench.check_built(
        bench.build(one, two, three, four, "-", stdin=b"winter\ncaf\xe9\n"),
        5,
        {
            "broken JSON": [f"{one}:2"],
            "empty document": [f"{one}:3"],
            "wrong number of columns": [f"{two}:3"],
            "no text field": [f"{three}:2"],
            "NUL byte in the text": [f"{four}:3"],
            "broken UTF-8": ["standard input:2"],
        },
    )


@pytest.mark.parametrize(
    "data",
    [
        b"river\nstone\n\n\xff\n",
        gzip.compress(b"river\nstone\n\n\xff\n", mtime=0),
        b'{"text": "river"}\n{"text": "stone"}\n\n{"text": "\xff"}\n',
        b"\xef\xbb\xbfriver\nstone\n\n\xff\n",
    ],
    ids=["lines", "gzip", "json", "bom"],
)
def test_standard_input(bench: Bench, data: bytes) -> None:
    outcome = bench.build("-", stdin=data)
    bench.check_built(outcome, 2, {"broken UTF-8": ["standard input:4"]})


def test_standard_input_in_a_process(bench: Bench) -> None:
    bench.before = names(bench.folder)
    outcome = strod_process("build", "-", "--out", bench.workspace, stdin=b"river\nstone\n\xff\n")
    bench.check_built(outcome, 2, {"broken UTF-8": ["standard input:3"]})


def test_standard_input_in_strict_mode(bench: Bench) -> None:
    outcome = bench.build("-", "--strict", stdin=b"river\n\xff\n")
    bench.check_failed(outcome, "standard input:2: broken UTF-8")


def test_standard_input_is_empty(bench: Bench) -> None:
    bench.check_failed(bench.build("-"), "standard input: is empty")


def test_standard_input_is_parquet(bench: Bench) -> None:
    bench.check_failed(bench.build("-", stdin=CUT_PARQUET), "standard input", "Parquet")


def test_standard_input_twice(bench: Bench) -> None:
    bench.check_failed(bench.build("-", "-", stdin=b"river\n"), "only once")


@pytest.mark.parametrize("source", ["a.jsonl", "-"])
def test_standard_input_is_closed(bench: Bench, source: str) -> None:
    bench.write("a.jsonl", FIRST + LAST)
    line = command("build", source, "--out", bench.workspace, "--quiet")
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *line],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    if source == "-":
        assert (done.returncode, names(bench.folder)) == (2, ["a.jsonl"])
        assert done.stderr.startswith("strod: standard input: ")
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert Workspace(bench.workspace).corpus.documents == 2


def test_a_slow_pipe_by_name(bench: Bench) -> None:
    """What ``strod build <(slowly)`` gives: the first read brings a single byte."""
    data = gzip.compress(b"river\nstone\n", mtime=0)
    reading, writing = os.pipe()

    def slowly() -> None:
        os.write(writing, data[:1])
        while int.from_bytes(fcntl.ioctl(reading, termios.FIONREAD, bytes(4)), "little"):
            time.sleep(0.01)
        os.write(writing, data[1:])
        os.close(writing)

    writer = threading.Thread(target=slowly)
    writer.start()
    outcome = bench.build(f"/dev/fd/{reading}")
    writer.join()
    os.close(reading)
    bench.check_built(outcome, 2, {})
