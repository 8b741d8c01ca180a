"""Records become documents or are rejected with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from strod.text import records
from strod.text.records import Document, Fields, Reject, document, from_record

GOOD = "Good text."


def reason(item: Document | Reject) -> str:
    assert isinstance(item, Reject)
    return item.reason


@pytest.mark.parametrize("text", [GOOD, GOOD.encode()])
def test_good_document(text: str | bytes) -> None:
    assert document(text, 7, b"x", (1,)) == Document(GOOD.encode(), b"x", (1,), 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a\xffb", Reject("broken UTF-8", 3, "byte 1")),
        (b"\xed\xa0\x80", Reject("broken UTF-8", 3, "byte 0")),
        ("a\udcffb", Reject("broken UTF-8", 3)),
        ("a\ud800b", Reject("lone surrogate", 3)),
        ("a\0b", Reject("NUL byte in the text", 3)),
        (b"a\0b", Reject("NUL byte in the text", 3)),
        ("", Reject("empty document", 3)),
        (" \t\r\n", Reject("empty document", 3)),
    ],
)
def test_bad_document(text: str | bytes, expected: Reject) -> None:
    assert document(text, 3) == expected


def test_longest_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LONGEST_DOCUMENT", 10)
    assert isinstance(document("é" * 5, 1), Document)
    assert document("é" * 5 + "e", 1) == Reject("document too long", 1, "11 bytes")


def test_record() -> None:
    record = {"text": GOOD, "id": "x", "year": 1999, "more": None}
    fields = Fields(meta=("year", "missing"))
    assert from_record(record, 4, fields) == Document(GOOD.encode(), b"x", (1999, None), 4)


def test_text_fields_are_joined_as_sentences() -> None:
    fields = Fields(text=("title", "missing", "body"))
    item = from_record({"body": "Body.", "title": "Title", "id": 5}, 1, fields)
    assert item == Document(b"Title\n\nBody.", b"5", (), 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x", b"x"), (0, b"0"), (-12, b"-12"), ("é", "é".encode()), ("i" * 1000, b"i" * 1000)],
)
def test_good_ids(value: Any, expected: bytes) -> None:
    item = from_record({"text": GOOD, "id": value}, 1, Fields(id_required=True))
    assert isinstance(item, Document)
    assert item.id == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "no id"),
        (True, "id is not a string"),
        (1.5, "id is not a string"),
        (["x"], "id is not a string"),
        ("\ud800", "broken id"),
        ("a\0", "broken id"),
        ("i" * 1001, "id too long"),
        ("é" * 501, "id too long"),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_bad_ids(value: Any, expected: str, required: bool) -> None:
    item = from_record({"text": GOOD, "id": value}, 9, Fields(id_required=required))
    assert item == Reject(expected, 9, "field 'id'")


@pytest.mark.parametrize("record", [{"text": GOOD}, {"text": GOOD, "key": None}])
def test_missing_id(record: dict[str, Any]) -> None:
    assert from_record(record, 1, Fields(id="key")) == Document(GOOD.encode(), None, (), 1)
    assert reason(from_record(record, 1, Fields(id="key", id_required=True))) == "no id"


@pytest.mark.parametrize("value", [1, ["a"], {"a": 1}, True])
def test_text_must_be_a_string(value: Any) -> None:
    item = from_record({"text": value}, 2, Fields())
    assert item == Reject("text is not a string", 2, "field 'text'")


@pytest.mark.parametrize(
    ("record", "detail"),
    [
        ({}, "'text' is not among no fields"),
        ({"text": None}, "'text' is null"),
        ({"body": 1, "id": 2}, "'text' is not among body, id"),
        ({f"f{i}": 1 for i in range(9)}, "'text' is not among f0, f1, f2, f3, f4, f5, f6, f7, …"),
        ({"x" * 99: 1}, f"'text' is not among {'x' * 40}"),
    ],
)
def test_missing_text_says_what_is_there(record: dict[str, Any], detail: str) -> None:
    assert from_record(record, 2, Fields()) == Reject("no text field", 2, detail)


def test_used_fields() -> None:
    assert Fields(text=("a", "b"), id="c", meta=("d",)).used == ("a", "b", "c", "d")
