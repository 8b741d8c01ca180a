"""Metadata that was asked for and is not there ends the build before the work."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import strod
from strod.corpus import build as corpus_build
from strod.corpus import intake, survey
from strod.errors import UsageError
from tests.conftest import Bench, check_error, json_lines, names
from tests.conftest import strod as run

if TYPE_CHECKING:
    from pathlib import Path

RECORDS: list[dict[str, Any]] = [
    {
        "id": f"d{i}",
        "text": f"river stone w{i}",
        "date": f"2024-01-{i % 28 + 1:02}",
        "price": "12,50",
    }
    for i in range(40)
]
THERE = "there are id, text, date, price"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH_DOCUMENTS", 5)
    monkeypatch.setattr(survey, "SAMPLE", 10)
    monkeypatch.setattr(survey, "VALUES", 4)


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ("dat", f"--meta dat: no document has this field; {THERE}; do you mean date?"),
        ("nothing", f"--meta nothing: no document has this field; {THERE}"),
        ("date:datum", "datum is no type; types are date, number, category, list"),
        ("date:number", "--meta date:number: 0 of 4 values are of this type, '2024-01-01' is not"),
        ("price:number", "'12,50' is not; --meta price:number:, would read it"),
        ("price:date", "dates are written 2024-01-31"),
        ("", "--meta needs the name of a field"),
        (" ", "--meta needs the name of a field"),
        (":", "--meta ':' has no name before the colon"),
        (":date", "--meta ':date' has no name before the colon"),
        ("date:", "--meta 'date:' has no type; types are date, number, category, list"),
    ],
)
@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_what_is_told(bench: Bench, meta: str, told: str, quiet: list[str]) -> None:
    path = bench.write("a.jsonl", json_lines(*RECORDS))
    check_error(bench.build(path, "--meta", meta, *quiet), told)
    assert names(bench.folder) == ["a.jsonl"]
    with pytest.raises(UsageError) as caught:
        strod.build(RECORDS, out=bench.workspace, meta=[meta])
    assert told.replace("--", "") in str(caught.value)


def test_plain_text_has_no_fields(bench: Bench) -> None:
    path = bench.write("a.txt", b"river stone\n")
    check_error(bench.build(path, "--meta", "date"), "the text has no fields")


def table(delimiter: str) -> bytes:
    lines = [delimiter.join(RECORDS[0]), *(delimiter.join(one.values()) for one in RECORDS)]
    return "\n".join(lines).encode()


def parquet(folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(RECORDS), folder / "a.parquet")
    return folder / "a.parquet"


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "csv", "parquet", "folder"])
def test_it_ends_after_some_documents(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    data = {"csv": table(";"), "jsonl.gz": gzip.compress(json_lines(*RECORDS))}
    source = bench.write(f"in/a.{kind}", data.get(kind, json_lines(*RECORDS)))
    source = {"parquet": parquet(bench.folder), "folder": source.parent}.get(kind, source)
    read: list[int] = []
    batches = intake.batches

    def counted(*arguments: Any) -> Any:
        for batch in batches(*arguments):
            read.append(len(batch.sizes))
            yield batch

    monkeypatch.setattr(corpus_build, "batches", counted)
    how: dict[str, Any] = {"format": "jsonl"} if kind == "folder" else {}
    for meta in ("dat", "date:number"):
        read.clear()
        with pytest.raises(UsageError, match=f"^meta {meta}: "):
            strod.build(source, out=bench.workspace, meta=meta, **how)
        assert sum(read) == 10


@pytest.mark.parametrize("kind", ["file", "gzip", "stream"])
def test_a_field_of_the_last_document_is_there(tmp_path: Path, kind: str) -> None:
    records = [*RECORDS, {"id": "last", "text": "river", "größe": 7}]
    data = "\n".join(map(json.dumps, records)).encode()
    source: Any = tmp_path / "a.jsonl"
    source.write_bytes(gzip.compress(data) if kind == "gzip" else data)
    if kind == "stream":
        source = iter(records)
    workspace = strod.build(source, out=tmp_path / "w.strod", meta=["größe:number"])
    values = [
        one
        for shard in workspace.corpus.shards()
        for one in shard.documents()["meta.größe"].to_pylist()
    ]
    assert values == [None] * 40 + [7.0]


def test_a_field_of_the_second_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(json_lines(*RECORDS))
    (tmp_path / "b.csv").write_text("id,text,colour\nx,river stone,red\n")
    sources = tmp_path / "a.jsonl", tmp_path / "b.csv"
    workspace = strod.build(*sources, out=tmp_path / "w.strod", meta="colour")
    assert workspace.manifest.corpus.meta == {"colour": "category"}


def test_odd_names_and_some_misfits_stay(tmp_path: Path) -> None:
    records = [
        {**one, "note:type": "x", "a:date": 1, "n": i if i % 3 else "?"}
        for i, one in enumerate(RECORDS)
    ]
    meta = ["note:type", "a:date:number", "n:number"]
    workspace = strod.build(records, out=tmp_path / "w.strod", meta=meta)
    assert workspace.report["metadata_misfits"] == {"note:type": 0, "a:date": 0, "n": 14}


def test_add_tells_of_values_that_do_not_fit(tmp_path: Path) -> None:
    target = tmp_path / "w.strod"
    strod.build(RECORDS, out=target, meta=["date", "price"])
    (tmp_path / "n.jsonl").write_bytes(
        json_lines(
            {"id": "n1", "text": "river stone", "date": "soon"}, {"id": "n2", "text": "river"}
        )
    )
    outcome = run("add", target, tmp_path / "n.jsonl", "--dry-run")
    assert outcome.code == 0
    assert "1 value of date is not of type date" in outcome.out
    assert "none of them has the field price" in outcome.out
    found = strod.open(target).add(tmp_path / "n.jsonl")
    assert (found.misfits, found.missing) == ({"date": 1}, ["price"])
