"""Readers of the file formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strod.text import formats, slices
from strod.text.formats import read_csv, read_json_lines, read_lines, read_whole
from strod.text.parquet import read_parquet
from strod.text.records import Document, Fields, Reject
from strod.text.streams import DamagedStreamError
from tests.text.items import brief, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FIELDS = Fields()
META = Fields(meta=("year",))


def nothing(_: int) -> None:
    pass


def broken_off(*pieces: bytes) -> Iterator[bytes]:
    yield from pieces
    raise DamagedStreamError("cut")


def parquet(folder: Path, table: pa.Table, rows: int = 10) -> Path:
    path = folder / "data.parquet"
    pq.write_table(table, path, row_group_size=rows)
    return path


def test_json_lines() -> None:
    data = b'{"text": "one", "id": 1}\n\n{"text": "two", "id": "b", "more": [1, {}]}\n"three"\n'
    assert list(unpacked(read_json_lines(iter([data]), FIELDS))) == [
        Document(b"one", b"1", (), 1),
        Document(b"two", b"b", (), 3),
        Reject("not a JSON object", 4, "one object a line is expected"),
    ]


@pytest.mark.parametrize("fields", [FIELDS, META])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a"', "broken JSON"),
        (b"{'text': 'a'}", "broken JSON"),
        (b'{"text": "a\tb"}', "broken JSON"),
        (b'{"text": "a\xff"}', "broken UTF-8"),
        (b'{"text": "\\ud800"}', "lone surrogate"),
        (b'{"text": "a\\u0000"}', "NUL byte in the text"),
        (b'{"text": ""}', "empty document"),
        (b'{"text": "  \\n"}', "empty document"),
        (b'{"text": null}', "no text field"),
        (b'{"txet": "a"}', "no text field"),
        (b'{"text": 5}', "text is not a string"),
        (b'{"text": "a", "text": "b"}', "duplicate key"),
        (b'{"text": "a", "id": 1, "id": 2}', "duplicate key"),
        (b'{"text": "a", "te\\u0078t": "b"}', "duplicate key"),
        (b'{"text": "a", "id": ""}', "no id"),
        (b'{"text": "a", "id": 1.5}', "id is not a string"),
        (b'{"text": "a", "id": true}', "id is not a string"),
        (b'{"text": "a", "id": 100000000000000000000}', "id is not a string"),
        (b'{"text": "a", "id": "\\u0000"}', "broken id"),
        (b'[{"text": "a"}]', "not a JSON object"),
        (b"17", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"text": "a"} {"text": "b"}', "broken JSON"),
        (b'{"text": "a"}{"text": "b"}', "broken JSON"),
    ],
)
def test_bad_json_lines(line: bytes, reason: str, fields: Fields) -> None:
    good = b'{"text": "good"}\n'
    alone = brief(read_json_lines(iter([line + b"\n"]), fields))
    assert alone == [(1, reason)]
    among = brief(read_json_lines(iter([good + line + b"\n" + good]), fields))
    assert among == [(1, "good"), (2, reason), (3, "good")]


@pytest.mark.parametrize("fields", [FIELDS, META])
@pytest.mark.parametrize(
    "line",
    [
        b'{"text": "a", "x": 1, "x": 2}',
        b'{"text": "a", "x": NaN}',
        b'{"text": "a", "x": -Infinity}',
        b'{"text": "a", "x": {"text": 5}}',
        b'{"x": "\\":", "text": "a"}',
        b' \t{"text": "a"}\r',
        b'{"text": "a", "id": null}',
    ],
)
def test_odd_but_good_json_lines(line: bytes, fields: Fields) -> None:
    assert brief(read_json_lines(iter([line + b"\n"]), fields)) == [(1, "a")]
    good = b'{"text": "good"}\n'
    among = brief(read_json_lines(iter([good + line + b"\n" + good]), fields))
    assert among == [(1, "good"), (2, "a"), (3, "good")]


def test_deeply_nested_json() -> None:
    line = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    assert brief(read_json_lines(iter([line]), FIELDS)) == [(1, "broken JSON")]


def test_metadata_of_json_lines() -> None:
    data = b'{"text": "one", "year": 1999}\n{"text": "two"}\n"three"\n'
    found = list(unpacked(read_json_lines(iter([data]), META)))
    assert [item.meta for item in found if isinstance(item, Document)] == [(1999,), (None,)]


def test_long_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LONGEST_LINE", 50)
    data = [b'{"text": "a"}\n{"text": "', *[b"x" * 20] * 10, b'"}\n{"text": "b"}\n']
    expected = [(1, "a"), (2, "document too long"), (3, "b")]
    assert brief(read_json_lines(iter(data), FIELDS)) == expected


@pytest.mark.parametrize("reader", [read_json_lines, read_lines])
def test_damage_is_the_last_reject(reader) -> None:
    found = brief(reader(broken_off(b'"one"\n"two"\n"thr'), FIELDS))
    assert [line for line, _ in found] == [1, 2, 3]
    assert found[-1] == (3, formats.DAMAGED)


def test_lines() -> None:
    data = iter([b"one\r\n\n  \ntw", b"o\nbad \xff\nlast"])
    assert list(read_lines(data, META)) == [
        Document(b"one", None, (None,), 1),
        Document(b"two", None, (None,), 4),
        Reject("broken UTF-8", 5, "byte 4"),
        Document(b"last", None, (None,), 6),
    ]


def test_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LONGEST_LINE", 10)
    data = iter([b"one\n", b"x" * 8, b"x" * 8, b"x\ntwo\n"])
    assert brief(read_lines(data, FIELDS)) == [(1, "one"), (2, "document too long"), (3, "two")]


def test_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(read_whole(iter([b"one\n", b"two"]), META, "a/b.txt"))
    assert found == [Document(b"one\ntwo", b"a/b.txt", (None,), 0)]
    assert brief(read_whole(iter([]), FIELDS, "a")) == [(0, "empty document")]
    assert brief(read_whole(broken_off(b"one"), FIELDS, "a")) == [(0, formats.DAMAGED)]
    monkeypatch.setattr(formats, "LONGEST_DOCUMENT", 5)
    assert brief(read_whole(iter([b"one", b"two"]), FIELDS, "a")) == [(0, formats.TOO_LONG)]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_csv_delimiters(delimiter: str) -> None:
    rows = [
        ["id", "text", "year"],
        ["a", '"one, two; three\tfour | five"', "1999"],
        ["b", "six", ""],
    ]
    data = "".join(delimiter.join(row) + "\r\n" for row in rows).encode()
    assert list(unpacked(read_csv(iter([data]), META))) == [
        Document(b"one, two; three\tfour | five", b"a", ("1999",), 2),
        Document(b"six", b"b", (None,), 3),
    ]


def test_csv_quotes_and_lines() -> None:
    data = b'text\n"one ""two""\nthree"\n\nfour\n'
    assert brief(read_csv(iter([data]), FIELDS)) == [(2, 'one "two"\nthree'), (5, "four")]


def test_csv_rejects() -> None:
    data = b"id,text\na,one\nb\nc,two,three\nd,bad \xff\n\xff,bad id\ne,\nf,last\n"
    assert brief(read_csv(iter([data]), FIELDS)) == [
        (2, "one"),
        (3, "wrong number of columns"),
        (4, "wrong number of columns"),
        (5, "broken UTF-8"),
        (6, "broken id"),
        (7, "empty document"),
        (8, "last"),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([b'text\none\n"two\n'], "unclosed quote"),
        ([b'text\none\n"two"x\n'], "broken CSV"),
        ([b"text\none\n", b"x" * 30, b"x" * 30, b"\n"], formats.DAMAGED),
    ],
)
def test_csv_ends_where_it_breaks(
    data: list[bytes], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "LONGEST_LINE", 20)
    assert brief(read_csv(iter(data), FIELDS)) == [(2, "one"), (3, reason)]


def test_csv_damage_and_nothing() -> None:
    found = brief(read_csv(broken_off(b"text\none\ntw"), FIELDS))
    assert found == [(2, "one"), (3, formats.DAMAGED)]
    assert brief(read_csv(iter([]), FIELDS)) == []
    assert brief(read_csv(iter([b"id,text\n"]), FIELDS)) == []


def test_empty_lines_of_csv_are_passed_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, take = [], formats._CsvLines.__next__

    def counted(lines: formats._CsvLines) -> str:
        taken.append(take(lines))
        return taken[-1]

    monkeypatch.setattr(formats._CsvLines, "__next__", counted)
    data = [b'text\n"one\n\nmore"\n' + b"\n\r\n" * 50_000, b"\n" * 100, b"two\n\n"]
    assert brief(read_csv(iter(data), FIELDS)) == [(2, "one\n\nmore"), (100_105, "two")]
    assert len(taken) == 5


@pytest.mark.parametrize("reader", [read_json_lines, read_lines])
def test_empty_lines_count(reader: Callable[..., Iterator[formats.Item]]) -> None:
    one = b'{"text": "one"}\n'
    found = brief(reader(iter([one + b"\n" * 5, b"\n \n", one + b"\n\n" + one]), FIELDS))
    assert [number for number, _ in found] == [1, 9, 12]


def test_csv_rows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_VALUES", 20)
    data = b"id,text\na,one\n" + b"x," * 30 + b"\nb,two\n"
    assert brief(read_csv(iter([data]), FIELDS)) == [(2, "one"), (3, formats.TOO_LONG), (4, "two")]
    monkeypatch.setattr(formats, "LONGEST_LINE", 60)
    data = b'id,text\na,one\n"' + b'x","\n' * 20 + b'"\nb,two\n'
    found = brief(read_csv(iter([data]), FIELDS))
    assert found[:2] == [(2, "one"), (3, formats.TOO_LONG)]
    assert (24, "two") in found


@pytest.mark.parametrize("fields", [FIELDS, META])
def test_json_records_of_too_many_values(fields: Fields, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_VALUES", 20)
    lines = [b'{"text": "one"}', b'{"text": "two", "x": [' + b"{}," * 30 + b"1]}", b'{"text": "b"}']
    found = brief(read_json_lines(iter([b"\n".join(lines)]), fields))
    assert found == [(1, "one"), (2, formats.TOO_LONG), (3, "b")]


def test_tsv_keeps_commas() -> None:
    assert brief(read_csv(iter([b"text\tid\na,b,c\t1\n"]), FIELDS, "\t")) == [(2, "a,b,c")]


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ROWS", 3)
    texts = [f"text {i}" for i in range(8)]
    table = pa.table({"text": texts, "id": range(8), "year": [1990 + i for i in range(8)]})
    path = parquet(tmp_path, table)
    expected = [Document(f"text {i}".encode(), b"%d" % i, (), i + 1) for i in range(8)]
    assert list(unpacked(read_parquet(path, FIELDS, nothing))) == expected
    with_meta = [item._replace(meta=(1990 + i,)) for i, item in enumerate(expected)]
    assert list(unpacked(read_parquet(path, META, nothing))) == with_meta


def test_parquet_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ROWS", 2)
    path = parquet(tmp_path, pa.table({"text": ["a", None, "", "b", "c"], "x": [1, 2, 3, 4, 5]}))
    expected = [(1, "a"), (2, "no text field"), (3, "empty document"), (4, "b"), (5, "c")]
    assert brief(read_parquet(path, FIELDS, nothing)) == expected


def test_parquet_without_the_text_column_names_what_is_there(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.table({"body": ["a"], "x": [1]}))
    (found,) = unpacked(read_parquet(path, FIELDS, nothing))
    assert found == Reject("no text field", 1, "'text' is not among body, x")


def test_parquet_damage(tmp_path: Path) -> None:
    texts = [f"{i}-{i * i * 7919 % 1000003}" for i in range(20)]
    path = parquet(tmp_path, pa.table({"text": texts}))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert brief(read_parquet(path, FIELDS, nothing)) == [(1, formats.DAMAGED)]
    second = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(1).column(0)
    place = second.dictionary_page_offset or second.data_page_offset
    path.write_bytes(data[:place] + b"\xff" * 20 + data[place + 20 :])
    found = brief(read_parquet(path, FIELDS, nothing))
    assert found[-1][1] == formats.DAMAGED
    assert [text for _, text in found[:-1]] == texts[: len(found) - 1]


def test_parquet_progress(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.table({"text": ["a", "b", "c"]}))
    seen: list[int] = []
    assert len(list(unpacked(read_parquet(path, FIELDS, seen.append)))) == 3
    assert sum(seen) == path.stat().st_size


def test_missing_parquet_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_parquet(tmp_path / "missing", FIELDS, nothing))
