"""Metadata in columns comes to the same as metadata document by document."""

from __future__ import annotations

import datetime as dt
import json
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.corpus import intake, metadata
from strod.corpus.build import build_corpus
from strod.corpus.columns import encoded, value_weight, weights
from strod.options import CorpusOptions
from strod.progress import Silent
from strod.text import formats
from strod.text.json_blocks import JsonBlocks
from strod.text.sources import resolve
from tests.chance import drawn

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(max_size=5) | st.sampled_from(["2020-01-31", "0000-01-01", "12.5", "007", '"\\\n'])
COLUMNS = [
    (None, st.none() | st.floats() | TEXTS | st.dates() | st.lists(st.integers(), max_size=2)),
    (pa.string(), st.none() | TEXTS),
    (pa.large_string(), TEXTS),
    (pa.string(), st.none()),
    (pa.string(), st.sampled_from(["2020-01-31", "1999-12-01"])),
    (pa.int64(), st.none() | st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.bool_(), st.none() | st.booleans()),
    (pa.list_(pa.string()), st.none() | st.lists(st.none() | TEXTS, max_size=3)),
    (pa.list_(pa.string()), st.lists(st.just("a"), max_size=3)),
]


@settings(max_examples=drawn(200))
@given(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3), st.integers(1, 6), st.data())
def test_columns_equal_rows(kinds: list[Any], size: int, data: st.DataObject) -> None:
    lists = [data.draw(st.lists(v, min_size=size, max_size=size)) for _, v in kinds]
    first = data.draw(st.integers(0, size - 1))
    columns = [
        (values if kind is None else pa.array(values, type=kind))[first:]
        for (kind, _), values in zip(kinds, lists, strict=True)
    ]
    rows = list(zip(*[values[first:] for values in lists], strict=True))
    found = encoded(columns)
    assert found.json == b"".join(map(metadata.encode, rows))
    assert found.sizes.tolist() == [len(metadata.encode(row)) for row in rows]
    for i, values in enumerate(columns):
        assert found.kinds[i] == {metadata.kind(row[i]) for row in rows}
        assert weights(values).tolist() == [value_weight(row[i]) for row in rows]


ODD = [None, "", "x", "2020-01-31", "16.02.1999", "12,50", "12.5", 7, -0.0, 2.0, 1e300, 2**70, True]
ODDER = [["a", "b"], [], [None, 1], {"k": [1]}, {}, float("nan"), "a\0b", "\ud800", "z" * 300, [[]]]


def documents(count: int, seed: int) -> list[dict[str, Any]]:
    """Texts with fields of one type each, some of which are not kept to."""
    rng, found = random.Random(seed), []
    for i in range(count):
        odd = ODD + ODDER if rng.random() < 0.02 else [None]
        record = {
            "id": f"d{i}",
            "text": f"word{i % 7} and other words {i}" * rng.choice([1, 1, 1, 9]),
            "name": rng.choice(["red", "green", 'quo"ted', None, *odd]),
            "day": rng.choice(["2020-01-31", "1999-12-01", *odd]),
            "year": rng.choice([1999, 2020, *odd]),
            "price": rng.choice([1.5, 2, 3.0, *odd]),
            "tags": rng.choice([["a", "b"], [], ["ä"], *odd]),
            "free": rng.choice(["x", *odd]),
        }
        found.append({n: v for n, v in record.items() if v is not None or rng.random() < 0.5})
    return found


META = ("name", "day:date", "year", "price", "tags", "free:number", "day2020:auto")


def corpus(folder: Path, source: Any, meta: tuple[str, ...]) -> dict[str, Any]:
    """Every file of a corpus and what is said of it."""
    options = CorpusOptions(meta=meta, workers=2)
    built = build_corpus(folder, resolve([source]), options, Silent(), allow_empty=True)
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {"about": built.about, "report": built.report, **files}


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonBlocks, "block", lambda *_: None)
    monkeypatch.setattr(formats, "block_from_table", lambda *_: None)


def lines_of(records: list[dict[str, Any]], *, odd: bool) -> bytes:
    lines = [json.dumps(record).encode() for record in records]
    if odd:
        lines[50:50] = [b'{"text": "a b", "name": "\xff"}', b'{"text": "a b", "day": 1, "day": 2}']
        lines[90:90] = [b"{", b'{"text": "a b", "other": "\xff", "name": "x"}', b"[]", b""]
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["jsonl", "jsonl with odd lines", "parquet", "table"])
def test_a_corpus_is_the_same_in_columns_and_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, seed: int
) -> None:
    monkeypatch.setattr(intake, "BATCH_BYTES", 5000)
    monkeypatch.setattr("strod.corpus.segment.SHARD_META", 3000)
    monkeypatch.setattr("strod.text.streams.CHUNK", 1 << 12)
    records, meta, source = documents(300, seed), META, tmp_path / "in"
    if kind.startswith("jsonl"):
        source = source.with_suffix(".jsonl")
        source.write_bytes(lines_of(records, odd="odd" in kind))
    else:
        plain = [{n: _of_its_type(n, v) for n, v in one.items()} for one in records]
        table: Any = pa.Table.from_pylist(plain, schema=SCHEMA)
        if kind == "parquet":
            source = source.with_suffix(".parquet")
            pq.write_table(table, source, row_group_size=64)
        else:
            source = table
    found = corpus(tmp_path / "a", source, meta)
    one_by_one(monkeypatch)
    expected = corpus(tmp_path / "b", source, meta)
    assert repr(found) == repr(expected)
    assert found["report"]["documents"]["kept"] >= 290


SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("name", pa.string()),
        ("day", pa.date32()),
        ("year", pa.int32()),
        ("price", pa.float64()),
        ("tags", pa.list_(pa.string())),
        ("free", pa.struct([("k", pa.string())])),
    ]
)


def _of_its_type(name: str, value: Any) -> Any:
    """The value, if a column of `SCHEMA` takes it, else nothing."""
    try:
        value = dt.date.fromisoformat(value) if name == "day" else value
        value = {"k": value} if name == "free" else value
        pa.array([value], type=SCHEMA.field(name).type)
    except (ValueError, OverflowError, TypeError):
        return None
    return value
