"""The account of what was read, and the batches it comes in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod import InputError
from strod.corpus import intake
from strod.corpus.intake import Account, Batch, batches
from strod.corpus.spill import ROW
from strod.text.blocks import Block
from strod.text.records import Document, Fields, Reject
from strod.text.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strod.text.formats import Item


def nothing(_: int) -> None:
    pass


def give(items: list[Item], _fields: Fields, _advance: object) -> Iterator[Item]:
    return iter(items)


def part(name: str, argument: int, items: list[Item]) -> Source:
    return Source(name, argument, 0, partial(give, items))


def documents(texts: list[str], ids: list[bytes] | None = None, line: int = 1) -> list[Item]:
    return [
        Document(text.encode(), ids[i] if ids else None, (), line + i)
        for i, text in enumerate(texts)
    ]


def block(texts: list[str], ids: list[bytes] | None = None, line: int = 1) -> Block:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return Block(memoryview(b"".join(encoded)), offsets, ids, line)


def read(
    parts: list[Source],
) -> tuple[list[tuple[bytes, list[int], list[bytes], list[int]]], Account]:
    account = Account(parts, strict=False)
    found = batches(parts, Fields(), account, nothing)
    return [(b"".join(b.texts), b.sizes, b.ids, b.lines) for b in found], account


@pytest.mark.parametrize("most_documents", [1, 2, 3, 100])
@pytest.mark.parametrize("most_bytes", [1, 9, 1000])
@pytest.mark.parametrize("ids", [None, [b"%c" % i for i in b"abcdefg"]], ids=["free", "ids"])
def test_blocks_are_batched_as_single_documents(
    monkeypatch: pytest.MonkeyPatch,
    most_documents: int,
    most_bytes: int,
    ids: list[bytes] | None,
) -> None:
    monkeypatch.setattr(intake, "BATCH_DOCUMENTS", most_documents)
    monkeypatch.setattr(intake, "BATCH_BYTES", most_bytes)
    texts = ["one", "four", "a longer text", "x", "y", "z", "end"]
    bad = Reject("bad", 99)
    one, account = read([part("p", 0, [bad, *documents(texts, ids), bad, *documents(["last"])])])
    several, other = read([part("p", 0, [bad, block(texts, ids), bad, *documents(["last"])])])
    assert several == one
    assert other.summary() == account.summary()
    assert b"".join(text for text, *_ in one) == "".join([*texts, "last"]).encode()
    for text, sizes, _, _ in one[:-1]:
        full = len(text) >= most_bytes or len(sizes) == most_documents
        early = sum(sizes[:-1]) < most_bytes
        assert full
        assert early


def test_documents_without_id_are_numbered_over_all_parts() -> None:
    first = part("a", 0, [*documents(["x"]), Reject("bad", 2), block(["y", "z"])])
    second = part("b", 1, documents(["u", "v"], [b"named", b"other"]))
    third = part("c", 2, documents(["w"]))
    found, account = read([first, second, third])
    assert found[0][2] == [b"1", b"3", b"4", b"named", b"other", b"7"]
    assert (account.read, account.accepted, account.rejected) == (7, 6, 1)


def test_parts_of_a_batch() -> None:
    parts = [part("a", 0, documents(["x", "y"])), part("b", 1, documents(["z"]))]
    (found,) = batches(parts, Fields(), Account(parts, strict=False), nothing)
    assert isinstance(found, Batch)
    assert found.parts == [0, 0, 1]


def test_summary_counts_and_names_places() -> None:
    items: list[Item] = [Reject("bad", line) for line in range(1, 9)]
    _, account = read([part("a.txt", 0, [*items, Reject("worse", 0), *documents(["x"])])])
    assert account.summary() == {
        "read": 10,
        "kept": 1,
        "rejected": 9,
        "reasons": {
            "bad": {"count": 8, "first": [f"a.txt:{line}" for line in range(1, 6)]},
            "worse": {"count": 1, "first": ["a.txt"]},
        },
    }


def test_strict() -> None:
    parts = [part("a", 0, [*documents(["x"]), Reject("bad", 2, "so bad")])]
    account = Account(parts, strict=True)
    with pytest.raises(InputError, match=r"a:2: bad \(so bad\); mend it or leave out strict"):
        list(batches(parts, Fields(), account, nothing))


def test_accepted_and_rejected_later() -> None:
    _, account = read([part("a", 0, documents([f"text {i}" for i in range(9)]))])
    rows = np.zeros(7, dtype=ROW)
    rows["line"] = range(2, 9)
    account.reject_rows(rows, "no words")
    assert (account.read, account.accepted, account.rejected) == (9, 2, 7)
    first = [f"a:{line}" for line in range(2, 7)]
    assert account.summary()["reasons"] == {"no words": {"count": 7, "first": first}}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "no usable document: empty.txt: is empty"),
        ([Reject("odd", 3), Reject("other", 4)], "no usable document: empty.txt:3: odd"),
        ([Reject("no text field", 1)], "text_field"),
        ([Reject("not a JSON object", 1)], "jq -c"),
        ([Reject("broken JSON", 1)], "format"),
        ([Reject("NUL byte in the text", 1)], "is this a text file"),
        ([Reject("source cut short or damaged", 1)], "get the file again"),
    ],
)
def test_each_source_must_give_something(items: list[Item], message: str) -> None:
    good = part("good", 0, documents(["x"]))
    _, account = read([good, part("empty.txt", 1, items)])
    with pytest.raises(InputError) as caught:
        account.check_usable()
    assert message in str(caught.value)


def test_a_folder_needs_one_good_file_only() -> None:
    _, account = read([part("x/a", 0, []), part("x/b", 0, documents(["x"]))])
    account.check_usable()
    assert account.accepted == 1
