"""Blocks of documents are what the rules for single documents say."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.text import blocks
from strod.text.blocks import Block, block_from_table
from strod.text.formats import _JsonReader, read_json_lines, read_table
from strod.text.json_blocks import JsonBlocks
from strod.text.records import Document, Fields, Reject, from_record
from tests.chance import drawn
from tests.text.items import unpacked

ID_TYPES = [pa.string(), pa.int64()]

ANY_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "id", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=6,
)
TEXTS = st.sampled_from(
    ["good", "zwei Wörter", " x ", " ", "", "a\0b", "line\nline", "\u2028", '{"']
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS | ANY_VALUES,
        "title": TEXTS | st.none(),
        "id": st.integers(0, 9) | st.text(max_size=4) | ANY_VALUES,
        "other": ANY_VALUES,
    },
)
GOOD_RECORDS = st.fixed_dictionaries(
    {"text": st.sampled_from(["good", "zwei Wörter"]), "id": st.integers(0, 9)},
    optional={"other": ANY_VALUES, "title": st.just("Title")},
)
FIELDS = st.sampled_from(
    [
        Fields(),
        Fields(text=("title", "text")),
        Fields(id="key"),
        Fields(id_required=True),
        Fields(id="title", id_required=True),
        Fields(meta=("other",)),
        Fields(text=("title", "text"), meta=("other", "id", "none")),
    ]
)


def line_by_line(data: bytes, fields: Fields) -> list[Document | Reject]:
    reader = _JsonReader(fields)
    return [
        reader.document(line, number)
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1)
        if line and not line.isspace()
    ]


@settings(max_examples=drawn(400))
@given(st.lists(RECORDS | GOOD_RECORDS, min_size=1, max_size=6), FIELDS, st.booleans())
def test_json_blocks_equal_single_lines(
    records: list[dict[str, Any]], fields: Fields, escape: bool
) -> None:
    data = b"".join(json.dumps(r, ensure_ascii=escape).encode() + b"\n" for r in records)
    assert list(unpacked(read_json_lines(iter([data]), fields))) == line_by_line(data, fields)


COLUMNS = {
    "strings": st.text(max_size=4) | st.none() | st.sampled_from(["2020-01-31", "1.5", "a\0b"]),
    "whole": st.none() | st.integers(-(2**63), 2**64),
    "truth": st.none() | st.booleans(),
    "lists": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
    "numbers": st.none() | st.floats() | st.integers(-3, 3),
    "any": ANY_VALUES,
}


@settings(max_examples=drawn(300))
@given(st.sampled_from(sorted(COLUMNS)), st.integers(1, 4), st.data())
def test_columns_of_one_type_equal_single_lines(kind: str, size: int, data: st.DataObject) -> None:
    """The first piece tells the types of the others, which may be wrong."""
    one = COLUMNS[kind] | (ANY_VALUES if data.draw(st.booleans()) else st.nothing())
    values = data.draw(st.lists(one, min_size=1, max_size=12))
    lines = [json.dumps({"text": "good", "m": v, "n": "x"}).encode() + b"\n" for v in values]
    pieces = [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]
    fields, plain = Fields(meta=("m", "n", "o")), Fields(meta=("m", "n", "o"))
    found = list(unpacked(read_json_lines(iter(pieces), fields)))
    assert repr(found) == repr(line_by_line(b"".join(lines), plain))  # NaN equals nothing
    assert fields.met == plain.met


def test_arrow_reads_metadata_once_the_types_are_known() -> None:
    pieces = [b'{"text": "a", "m": ["x"], "n": 1}\n'] * 2 + [b'{"text": "a", "m": [1], "n": 1}\n']
    found: list[Any] = list(read_json_lines(iter(pieces), Fields(meta=("m", "n"))))
    assert [[type(values) for values in block.meta] for block in found] == [
        [list, list],
        [pa.ListArray, pa.Int64Array],
        [list, list],
    ]


RAW = [
    b'{"text": "a"}', b'{"text": "a", "id": 1}', b'{"text": "b", "id": "x"}', b'{"text": "a"} ',
    b'{"text": "a", "id": 1.0}', b'{"text": "a", "id": 1e3}', b'{"text": "a", "id": -0}', b"{}",
    b'{"text": "a", "id": 9223372036854775808}', b'{"text": "a", "x": "\xff"}', b' {"text": "a"}',
    b'{"text": "a", "x": {"id": 1, "id": 2}}', b'{"text": "a", "x": [{"text": 1, "text": 2}]}',
    b'{"text": "a", "x": NaN}', b'{"text": "a", "x": 1e999}', b'{"text": "a", "x": "\\ud800"}',
    b'{"text": "a", "x": 01}', b'{"text": "a", "x": .5}', b'{"text": "a",}', b'{"text": "\x01"}',
    b'{"text": "a", "x": "\x01"}', b'{"text": "a"}{"text": "b"}', b'{"text": "a"', b'"string"',
    b'{"text": "\\ud83d\\ude00"}', b'{"text": "\\ud83d"}', b'{"text": "a\\/b"}', b'{"text": "\\x"}',
    b'{"te\\u0078t": "a"}', b'{"text": "a", "id": "\\u0031"}', b'{"text": "a", "id": null}', b"",
    b'{"text": "a", "id": true}', b'{"text": "a"} // c', b'{"text": "a", "x": 1, "x": 2}', b"[]",
    b'{"text": "a", "id": 1, "id": 1}', b'{"id": 2, "text": "a", "": 0}', b'{"text": "a"}\r',
    b'{"text": "a", "x": ' + b"[" * 2000 + b"]" * 2000 + b"}", b'{"text": "\xed\xa0\x80"}',
    b'{"text": "a", "m": "v", "x": ' + b"[" * 2000 + b"]" * 2000 + b"}", b'{"text": "a", "m": 1}',
    b'{"text": "a", "m": "v", "x": ' + b"1" * 4301 + b"}", b'{"text": "a", "m": "v", "m": "w"}',
    b'{"text": "a", "m": "v", "x": Inf}', b'{"text": "a", "m": "v", "x": -NaN}',
    b'{"text": "a", "m": "v", "x": [-Inf , 1]}', b'{"text": "a", "m": "v", "x": -Infinity}',
    b'{"text": "a", "m": "v", "x": "\xff"}', b'{"text": "a", "m": "\xff"}',
    b'{"text": "a", "m" : "v", "m": "w"}', b'{"text": "a", "m": "v", "x": "\\\\": "}',
    b'{"text": "a", "m": "v", "\\u006d": "w"}', b'{"text": "a", "m": "\\ud800"}',
    b'{"text": "a", "m": "v", "x": {"m": 1, "m": 2}}', b'{"text": "a", "m": 18446744073709551616}',
]  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [Fields(), Fields(id_required=True), Fields(meta=("m",)), Fields(meta=("m", "x"))],
    ids=["free", "required", "meta", "more meta"],
)
@pytest.mark.parametrize("line", RAW, ids=lambda line: line[:40])
def test_a_line_is_judged_alike_alone_and_among_others(line: bytes, fields: Fields) -> None:
    good = b'{"text": "good", "id": 7, "m": "v"}'
    odd = b'{"text": "odd"} '  # ends in a space: such a piece is never a block
    for data in ([line], [good, line], [good, line, good], [odd, line]):
        joined = b"".join(entry + b"\n" for entry in data)
        expected = line_by_line(joined, fields)
        assert repr(list(unpacked(read_json_lines(iter([joined]), fields)))) == repr(expected)
        pieces = iter([good + b"\n", joined])  # Arrow knows what to expect in the second
        found = list(unpacked(read_json_lines(pieces, fields)))[1:]
        assert repr([item._replace(line=item.line - 1) for item in found]) == repr(expected)


@settings(max_examples=drawn(150))
@given(
    st.lists(st.sampled_from(RAW), max_size=5),
    st.integers(1, 40),
    st.sampled_from([(), ("m",), ("x",), ("m", "id")]),
)
def test_pieces_of_any_size_give_the_same_documents(
    entries: list[bytes], size: int, meta: tuple[str, ...]
) -> None:
    data, fields = b"\n".join(entries), Fields(meta=meta)
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    whole = list(unpacked(read_json_lines(iter([data]), fields)))
    assert repr(list(unpacked(read_json_lines(iter(pieces), fields)))) == repr(whole)


def test_plain_json_makes_a_block() -> None:
    reader = JsonBlocks(Fields(), json.loads)
    data = b'{"text": "one", "id": 1, "x": [1]}\n{"id": 2, "text": "zw\xc3\xb6lf"}\n'
    block = reader.block(data, 5)
    assert isinstance(block, Block)
    assert (bytes(block.text), block.offsets.tolist()) == (b"onezw\xc3\xb6lf", [0, 3, 9])
    assert (block.ids, block.line, len(block)) == ([b"1", b"2"], 5, 2)


TABLES = st.lists(
    st.tuples(TEXTS | st.none(), st.none() | TEXTS, st.none() | st.integers(-5, 5)), max_size=8
)
OTHERS = [
    (pa.string(), st.none() | st.text(max_size=4)),
    (pa.int64(), st.none() | st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.none() | st.integers(0, 2**64 - 1)),
    (pa.bool_(), st.none() | st.booleans()),
    (pa.float64(), st.none() | st.floats()),
    (pa.list_(pa.string()), st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3)),
    (pa.list_(pa.int8()), st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3)),
    (pa.struct([("a", pa.int8())]), st.none() | st.fixed_dictionaries({"a": st.integers(0, 9)})),
    (pa.timestamp("us"), st.none() | st.datetimes()),
    (pa.date32(), st.none() | st.dates()),
    (pa.binary(), st.none() | st.binary(max_size=4)),
    (pa.dictionary(pa.int8(), pa.string()), st.none() | st.sampled_from(["a", "b"])),
]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@settings(max_examples=drawn(200))
@given(TABLES, FIELDS, st.sampled_from(TEXT_TYPES), st.data())
def test_table_blocks_equal_single_rows(
    rows: list[tuple[Any, Any, Any]], fields: Fields, kind: pa.DataType, data: st.DataObject
) -> None:
    text, title, number = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {
            "text": pa.array(text, type=kind),
            "title": pa.array(title, type=pa.string()),
            "id": pa.array(number, type=pa.int8()).cast(data.draw(st.sampled_from(ID_TYPES))),
        }
    )
    other, values = data.draw(st.sampled_from(OTHERS))
    column = data.draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
    table = table.append_column("other", pa.array(column, type=other))
    first = data.draw(st.integers(0, len(rows)))
    table = table.slice(first)  # buffers that do not begin at 0
    batches = table.to_batches(max_chunksize=data.draw(st.integers(1, 8)))
    expected = [from_record(row, i, fields) for i, row in enumerate(table.to_pylist(), start=1)]
    assert repr(list(unpacked(read_table(batches, fields)))) == repr(expected)


def test_a_plain_table_makes_a_block_of_each_batch() -> None:
    table = pa.table({"text": ["a", "bb", "ccc", "dddd"], "id": ["w", "x", "y", "z"]})
    found = list(read_table(table.slice(1).to_batches(max_chunksize=2), Fields()))
    assert [type(item) for item in found] == [Block, Block]
    assert list(unpacked(found)) == [
        Document(b"bb", b"x", (), 1),
        Document(b"ccc", b"y", (), 2),
        Document(b"dddd", b"z", (), 3),
    ]


def test_broken_utf8_in_arrow_strings() -> None:
    offsets, data = pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")
    column = pa.StringArray.from_buffers(2, offsets, data)
    assert block_from_table(pa.table({"text": column}), Fields(), 1) is None


def test_long_texts_need_a_closer_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_DOCUMENT", 5)
    assert block_from_table(pa.table({"text": ["12345"]}), Fields(), 1) is not None
    assert block_from_table(pa.table({"text": ["1", "123456"]}), Fields(), 1) is None
