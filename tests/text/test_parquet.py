"""Parquet files that are larger inside than outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strod.store.pages import BadPageError, pages
from strod.text import parquet, slices, streams
from strod.text.blocks import Block
from strod.text.formats import DAMAGED, TOO_LONG
from strod.text.parquet import read_parquet
from strod.text.records import Document, Fields, Reject
from tests.text.items import brief, unpacked

if TYPE_CHECKING:
    from pathlib import Path


FIELDS, TAGS = Fields(), Fields(meta=("tags",))
MEGABYTE = 1 << 20


def nothing(_: int) -> None:
    pass


def repeated(value: str, times: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([value]))


def write(folder: Path, columns: dict[str, Any], **how: Any) -> Path:
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns), path, compression="zstd", **how)
    return path


@pytest.mark.parametrize("store_schema", [True, False])
def test_a_dictionary_bomb_ends_soon(tmp_path: Path, store_schema: bool) -> None:
    texts = repeated("river stone " * (MEGABYTE // 12), 4000)
    path = write(tmp_path, {"text": texts}, store_schema=store_schema)
    assert path.stat().st_size < 2000
    before = pa.total_allocated_bytes()
    sizes, last = [0], None
    for item in read_parquet(path, FIELDS, nothing):
        assert pa.total_allocated_bytes() - before < 3 * parquet.BATCH_BYTES
        if isinstance(item, Reject):
            last = item
        else:
            sizes.append(len(item.text))
    assert max(sizes) <= slices.BYTES
    assert 0 < sum(sizes) <= streams.UNPACKED_FREE
    assert last is not None
    assert (last.reason, last.detail) == (DAMAGED, "it unpacks to more than 1,000 times its size")


def test_values_that_repeat_others_are_not_written_out_at_once(tmp_path: Path) -> None:
    how = {"column_encoding": "DELTA_BYTE_ARRAY", "use_dictionary": False, "store_schema": False}
    path = write(tmp_path, {"text": ["x" * (4 * MEGABYTE)] * 200}, **how)
    assert path.stat().st_size < 2000
    before = pa.total_allocated_bytes()
    for item in read_parquet(path, FIELDS, nothing):
        assert pa.total_allocated_bytes() - before < 3 * parquet.BATCH_BYTES
        assert isinstance(item, Reject) or len(item.text) == 4 * MEGABYTE
    tags = [["x" * (4 * MEGABYTE)] * 200]
    (last,) = read_parquet(write(tmp_path, {"text": ["a"], "tags": tags}, **how), TAGS, nothing)
    assert isinstance(last, Reject)
    assert "repeat others" in last.detail


def test_rows_that_are_too_long_are_not_written_out(tmp_path: Path) -> None:
    tags = pa.ListArray.from_arrays([0, 1, 101, 102], repeated("x" * MEGABYTE, 102))
    path = write(tmp_path, {"text": ["one", "two", "three"], "tags": tags}, store_schema=False)
    found = brief(read_parquet(path, TAGS, nothing))
    assert found == [(1, "one"), (2, TOO_LONG), (3, "three")]
    assert brief(read_parquet(path, FIELDS, nothing)) == [(1, "one"), (2, "two"), (3, "three")]


def test_texts_that_are_too_long(tmp_path: Path) -> None:
    kinds = pa.array(["a", "x" * (17 * MEGABYTE), "b"])
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1], pa.int32()), kinds)
    path = write(tmp_path, {"text": texts}, store_schema=False)
    found = brief(read_parquet(path, FIELDS, nothing))
    assert found == [(1, "a"), (2, TOO_LONG), (3, "b"), (4, TOO_LONG)]


def test_rows_without_anything_in_them_are_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREE", MEGABYTE)
    monkeypatch.setattr(streams, "MOST_TIMES", 10)
    path = write(tmp_path, {"text": pa.nulls(100_000, pa.string())})
    *found, last = read_parquet(path, FIELDS, nothing)
    assert isinstance(last, Reject)
    assert last.reason == DAMAGED
    assert 10_000 < len(found) < 40_000


@pytest.mark.parametrize("name", ["LARGEST_PAGE", "MOST_VALUES", "MOST_MEMBERS"])
def test_pages_that_are_too_large_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(parquet, name, 1000)
    rows = {"text": ["one two three"] * 500, "tags": [["a", "b", "c"]] * 500}
    path = write(tmp_path, rows, use_dictionary=False)
    (found,) = read_parquet(path, TAGS, nothing)
    assert isinstance(found, Reject)
    assert found.reason == DAMAGED
    assert "write smaller" in found.detail


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_dictionary": False},
        {"data_page_version": "2.0"},
        {"write_page_index": True, "write_page_checksum": True},
        {"dictionary_pagesize_limit": 2000, "data_page_size": 500, "write_batch_size": 10},
        {"column_encoding": {"text": "DELTA_BYTE_ARRAY"}, "use_dictionary": False},
        {"row_group_size": 77, "write_statistics": False, "store_schema": False},
    ],
    ids=str,
)
def test_all_ways_to_write_a_file(tmp_path: Path, how: dict[str, Any]) -> None:
    texts = [f"text {i} {'x' * (i % 50)}" for i in range(1000)]
    path = write(
        tmp_path, {"text": texts, "tags": [["a", f"t{i % 7}"] for i in range(1000)]}, **how
    )
    assert [text for _, text in brief(read_parquet(path, FIELDS, nothing))] == texts
    read = unpacked(read_parquet(path, TAGS, nothing))
    found = [item.meta for item in read if isinstance(item, Document)]
    assert found == [(["a", f"t{i % 7}"],) for i in range(1000)]


def test_headers_say_what_is_in_the_pages(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": ["one", "two"] * 50})
    about = pq.read_metadata(path).row_group(0).column(0)
    place = about.dictionary_page_offset
    with path.open("rb") as file:
        dictionary, data = pages(file, place, place + about.total_compressed_size)
    assert (dictionary.is_dictionary, dictionary.values, dictionary.size) == (True, 2, 14)
    assert (data.is_dictionary, data.values, data.in_dictionary) == (False, 100, True)


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\xff" * 40, b"\x15" * 3, b"\x1c" * 40, b"\x19\xfc" + b"\xff" * 20]
)
def test_headers_that_make_no_sense(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    with path.open("rb") as file, pytest.raises(BadPageError):
        list(pages(file, 0, 100))


def test_categories_are_texts(tmp_path: Path) -> None:
    texts = pa.array(["one", "two", None, "one"]).dictionary_encode()
    path = write(tmp_path, {"text": texts})
    assert brief(read_parquet(path, FIELDS, nothing)) == [
        (1, "one"),
        (2, "two"),
        (3, "no text field"),
        (4, "one"),
    ]
    assert isinstance(
        next(read_parquet(write(tmp_path, {"text": texts[:2]}), FIELDS, nothing)), Block
    )
