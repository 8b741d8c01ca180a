"""Tables from columns have what one would write row by row."""

from __future__ import annotations

import csv
import datetime as dt
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strod
from strod.export import cells, export
from strod.export.names import name_of
from strod.export.samples import meta_text
from strod.values.topic import ROOT
from strod.workspace.placements import assign_corpus
from tests.chance import drawn
from tests.conftest import strod as command
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace

WORDS = st.text(st.sampled_from("ab,\"'\n\r\t=+-@é\uff1d;| "), max_size=6)
VALUES = [
    (pa.string(), WORDS),
    (pa.large_string(), WORDS),
    (pa.list_(pa.string()), st.lists(WORDS, max_size=3)),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (pa.date32(), st.dates(dt.date(1, 1, 1))),
]


def written(rows: list[list[Any]]) -> str:
    """What the module of Python writes."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue()


def harmless(text: str | None) -> str:
    return f"'{text}" if text and text.startswith(cells.FORMULA) else text or ""


def guarded(value: Any) -> str:
    """A value of metadata; a number is one, below 0 too."""
    if value is None:
        return ""
    return meta_text(value) if isinstance(value, float) else harmless(meta_text(value))


@settings(max_examples=drawn(200))
@given(st.sampled_from(VALUES), st.data())
def test_cells_are_those_of_python(kind: tuple[pa.DataType, Any], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | kind[1], min_size=1, max_size=6))
    column = pa.array([*values, None], type=kind[0])[: len(values)]
    found = cells.row([cells.cells(column), cells.cells(pa.array(["x"] * len(values)))])
    texts = [guarded(value) for value in values]
    assert "".join(f"{line}\r\n" for line in found.to_pylist()) == written(
        [[text, "x"] for text in texts]
    )


@settings(max_examples=drawn(200))
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_shares_are_written_as_python_writes_them(millionths: list[int]) -> None:
    values = np.array(millionths, dtype=np.float64).__truediv__(10**6).round(6)
    assert cells.shares(values).to_pylist() == [repr(float(value)) for value in values]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A tree over documents with metadata of every type, some of it missing or nasty."""
    records = [
        {
            "id": f'={i},"x"' if i % 5 else f"d{i}",
            "text": text,
            "when": [f"19{i % 90 + 10}-01-31", None][i % 7 == 0],
            "price": [-i / 3, None, 1e300][i % 3],
            "name": ['a "b"', "c, d", "-1", "two\nlines", None][i % 5],
            "tags": [["x", "y, z"], [], None, ["=1"]][i % 4],
        }
        for i, text in enumerate(planted_texts(200))
    ]
    records += [{"id": "unknown", "text": "zzz zzzz"}]
    out = tmp_path_factory.mktemp("kept") / "kept.strod"
    meta = {"when": "date", "price": "number", "name": "category", "tags": "list"}
    return strod.build(records, out=out, meta=meta, children=3, height=2, min_df=2, workers=1)


def rows_of(workspace: Workspace) -> list[list[Any]]:
    """The table of documents, one row after another."""
    found = []
    for row in assign_corpus(workspace):
        for path, share in (row["topics"] or {ROOT: 1.0}).items():
            topic = workspace.tree[path]
            front = [row["id"], row["leaf"], topic.id, path, share, name_of(topic)]
            found.append([*front, *row["meta"].values()])
    return found


HEAD = ["id", "leaf", "topic", "path", "share", "label"]
HEAD += ["meta.name", "meta.price", "meta.tags", "meta.when"]


def test_documents_in_csv(kept: Workspace, tmp_path: Path) -> None:
    export(kept, "csv", tmp_path / "t")
    rows = [
        [cell if isinstance(cell, float) else harmless(cell) for cell in row[:6]]
        + [guarded(value) for value in row[6:]]
        for row in rows_of(kept)
    ]
    assert (tmp_path / "t" / "documents.csv").read_bytes().decode() == written([HEAD, *rows])


def test_the_format_is_what_the_file_is_called(kept: Workspace, tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet", "a.jsonl", "a.txt"):
        assert command("assign", kept.path, "--out", tmp_path / name, "-q").code == 0
    assert (tmp_path / "a.csv").read_bytes().startswith(b"id,leaf,known,fit,topic,share")
    assert pq.read_table(tmp_path / "a.parquet").column_names[0] == "id"
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "a.txt").read_bytes()
    assert (tmp_path / "a.txt").read_bytes().startswith(b"{")
    run = command("assign", kept.path, "--to", "jsonl", "--out", tmp_path / "b.csv", "-q")
    assert (run.code, (tmp_path / "b.csv").read_bytes()[:1]) == (0, b"{")


@pytest.mark.parametrize("wide", [[], ["--wide"]])
def test_numbers_stay_numbers(kept: Workspace, tmp_path: Path, wide: list[str]) -> None:
    """Only texts could be formulas."""
    out = tmp_path / "a.csv"
    assert command("assign", kept.path, *wide, "--to", "csv", "--out", out, "-q").code == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert min(float(row["meta.price"] or 0) for row in rows) < -60
    assert {row["meta.name"] for row in rows} >= {"'-1", "c, d"}
    assert {row["meta.tags"] for row in rows} >= {"'=1", "x, y, z"}


def test_documents_in_parquet(kept: Workspace, tmp_path: Path) -> None:
    run = command("export", kept.path, "--to", "parquet", "--out", tmp_path / "t")
    assert (run.code, "12 topics" in run.out) == (0, True)
    table = pq.read_table(tmp_path / "t" / "documents.parquet")
    assert table.column_names == HEAD
    kinds = [pa.string(), pa.float64(), pa.list_(pa.string()), pa.date32()]
    assert [table.schema.field(name).type for name in HEAD[6:]] == kinds
    rows = [list(row.values()) for row in table.to_pylist()]
    for row in rows:
        row[9] = row[9] and row[9].isoformat()
    assert rows == rows_of(kept)


def test_topics_and_phrases_in_parquet(kept: Workspace, tmp_path: Path) -> None:
    for to in ("csv", "parquet"):
        kept.export(to, tmp_path / to, phrases=4)
    for name in ("topics", "phrases"):
        table = pq.read_table(tmp_path / "parquet" / f"{name}.parquet")
        text = (tmp_path / "csv" / f"{name}.csv").read_bytes().decode()
        assert written([table.column_names, *([*r.values()] for r in table.to_pylist())]) == text
    assert table.num_rows


def test_only_tables_are_replaced(kept: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "t"
    export(kept, "csv", out)
    export(kept, "parquet", out, overwrite=True)
    assert sorted(p.name for p in out.iterdir()) == [
        "documents.parquet",
        "phrases.parquet",
        "topics.parquet",
    ]
    for content in (b"mine", b"PAR1"):
        (out / "topics.parquet").write_bytes(content)
        with pytest.raises(strod.StrodError, match="not a folder that an export made"):
            export(kept, "parquet", out, overwrite=True)
    pq.write_table(pa.table({"mine": [1]}), out / "topics.parquet")
    with pytest.raises(strod.StrodError, match="not a folder that an export made"):
        export(kept, "parquet", out, overwrite=True)
