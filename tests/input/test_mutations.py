"""A thousand damaged files: each becomes a whole workspace or one clear line."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import random
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import strod
from strod.errors import StrodError
from tests.chance import long_but
from tests.conftest import json_lines, names, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RECORDS = [
    {"id": f"d{i}", "text": f"{text} naïve Größe 主题", "n": i, "day": f"2024-01-{i + 1:02}"}
    for i, text in enumerate(texts(24))
]
JSON = json_lines(*RECORDS)


def _table(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(RECORDS[0]), delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(RECORDS)
    return out.getvalue().encode()


def _parquet(compression: str) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(RECORDS), sink, compression=compression, row_group_size=8)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


FILES = {
    "a.jsonl": JSON,
    "a.csv": _table(","),
    "a.tsv": _table("\t"),
    "a.txt": "".join(f"{record['text']}\n" for record in RECORDS).encode(),
    "b.txt": "".join(f"{record['text']}\n" for record in RECORDS).encode("utf-16"),
    "a.parquet": _parquet("snappy"),
    "b.parquet": _parquet("none"),
    "a.jsonl.gz": gzip.compress(JSON, mtime=0),
    "a.jsonl.bz2": bz2.compress(JSON),
    "a.jsonl.xz": lzma.compress(JSON),
    "a.jsonl.zst": _zstd(JSON),
}
MUTATIONS = 1000
DAILY = 10  # of so many mutations one is tried every day


def _flip(data: bytearray, chosen: random.Random) -> None:
    for _ in range(chosen.choice([1, 1, 2, 8])):
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)


def _insert(data: bytearray, chosen: random.Random) -> None:
    place = chosen.randrange(len(data) + 1)
    data[place:place] = chosen.randbytes(chosen.choice([1, 1, 4, 64]))


def _delete(data: bytearray, chosen: random.Random) -> None:
    place = chosen.randrange(len(data))
    del data[place : place + chosen.choice([1, 1, 4, 64])]


def _cut(data: bytearray, chosen: random.Random) -> None:
    del data[chosen.randrange(len(data)) :]


def _swap(data: bytearray, chosen: random.Random) -> None:
    a, b, c, d = sorted(chosen.randrange(len(data) + 1) for _ in range(4))
    data[a:d] = data[c:d] + data[b:c] + data[a:b]


def _duplicate(data: bytearray, chosen: random.Random) -> None:
    a, b = sorted(chosen.randrange(len(data) + 1) for _ in range(2))
    data[b:b] = data[a:b]


WAYS: list[Callable[[bytearray, random.Random], None]] = [
    _flip,
    _insert,
    _delete,
    _cut,
    _swap,
    _duplicate,
]


def _build(source: Path, target: Path) -> str | None:
    """Build and look at what came out, or return the message of the error."""
    try:
        workspace = strod.build(source, out=target, meta=["n", "day"], workers=1)
    except StrodError as error:
        return str(error)
    documents = workspace.report["documents"]
    assert documents["read"] == documents["kept"] + documents["rejected"]
    assert workspace.corpus.documents == documents["kept"] > 0
    assert len(workspace.corpus.vocabulary) > 0
    assert workspace.check() == []
    return None


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("daily", long_but([True], [True, False]), ids=["daily", "more"])
@pytest.mark.parametrize("number", range(len(FILES)), ids=list(FILES))
def test_mutations(tmp_path: Path, number: int, daily: bool) -> None:
    name, original = list(FILES.items())[number]
    source, target = tmp_path / name, tmp_path / "w.strod"
    built = refused = 0
    seeds = range(number, MUTATIONS, len(FILES))
    tried = seeds[::DAILY] if daily else [s for n, s in enumerate(seeds) if n % DAILY]
    for seed in tried:
        chosen = random.Random(seed)
        data = bytearray(original)
        for _ in range(chosen.choice([1, 1, 2])):
            if data:
                chosen.choice(WAYS)(data, chosen)
        source.write_bytes(data)
        message = _build(source, target)
        if message is None:
            built += 1
            shutil.rmtree(target)
        else:
            refused += 1
            assert len(message.splitlines()) == 1, f"seed {seed}"
        assert names(tmp_path) == [name], f"seed {seed}"
    print(f"{name}: {built} built, {refused} refused")
    assert built + refused == len(tried)
