"""Blocks of documents are what the rules for single documents say."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.text import blocks
from strod.text.blocks import Block, block_from_json, block_from_table
from strod.text.formats import _JsonReader, read_json_lines, read_table
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
]  # fmt: skip


@pytest.mark.parametrize("fields", [Fields(), Fields(id_required=True)], ids=["free", "required"])
@pytest.mark.parametrize("line", RAW, ids=lambda line: line[:40])
def test_a_line_is_judged_alike_alone_and_among_others(line: bytes, fields: Fields) -> None:
    good = b'{"text": "good", "id": 7}'
    odd = b'{"text": "odd"} '  # ends in a space: such a piece is never a block
    for data in ([line], [good, line], [good, line, good], [odd, line]):
        joined = b"".join(entry + b"\n" for entry in data)
        found = list(unpacked(read_json_lines(iter([joined]), fields)))
        assert found == line_by_line(joined, fields)


@settings(max_examples=drawn(150))
@given(st.lists(st.sampled_from(RAW), max_size=5), st.integers(1, 40))
def test_pieces_of_any_size_give_the_same_documents(entries: list[bytes], size: int) -> None:
    data = b"\n".join(entries)
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    whole = list(unpacked(read_json_lines(iter([data]), Fields())))
    assert list(unpacked(read_json_lines(iter(pieces), Fields()))) == whole


def test_plain_json_makes_a_block() -> None:
    id_types = list(ID_TYPES)
    data = b'{"text": "one", "id": 1, "x": [1]}\n{"id": 2, "text": "zw\xc3\xb6lf"}\n'
    block = block_from_json(data, Fields(), 5, id_types)
    assert isinstance(block, Block)
    assert (bytes(block.text), block.offsets.tolist()) == (b"onezw\xc3\xb6lf", [0, 3, 9])
    assert (block.ids, block.line, len(block)) == ([b"1", b"2"], 5, 2)
    assert id_types == [pa.int64(), pa.string()]


def test_metadata_never_makes_a_block() -> None:
    fields = Fields(meta=("year",))
    assert block_from_json(b'{"text": "one"}\n', fields, 1, list(ID_TYPES)) is None
    assert block_from_table(pa.table({"text": ["one"]}), fields, 1) is None


TABLES = st.lists(
    st.tuples(TEXTS | st.none(), st.none() | TEXTS, st.none() | st.integers(-5, 5)), max_size=8
)
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
    first = data.draw(st.integers(0, len(rows)))
    table = table.slice(first)  # buffers that do not begin at 0
    batches = table.to_batches(max_chunksize=data.draw(st.integers(1, 8)))
    expected = [from_record(row, i, fields) for i, row in enumerate(table.to_pylist(), start=1)]
    assert list(unpacked(read_table(batches, fields))) == expected


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
