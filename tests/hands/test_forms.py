"""Metadata as people have it, on the command line and in Python."""

from __future__ import annotations

import csv
import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest

import strod
from tests.conftest import check_error
from tests.conftest import strod as run
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

META = ["day:date:%d.%m.%Y", "price:number:,", "tags:list:|", "kinds:list:;"]
READ = {"day": "date", "price": "number", "tags": "list", "kinds": "list"}


def rows(count: int = 120, first: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{i}",
            "text": text,
            "day": f"{i % 28 + 1}.0{i % 9 + 1}.1999",
            "price": f"1.{i:03d},50",
            "tags": "a| b" if i % 2 else "",
            "kinds": "x; y; x",
        }
        for i, text in enumerate(planted_texts(first + count))
    ][first:]


def expected(i: int) -> dict[str, Any]:
    return {
        "day": dt.date(1999, i % 9 + 1, i % 28 + 1).isoformat(),
        "price": 1000.5 + i,
        "tags": ["a", "b"] if i % 2 else None,
        "kinds": ["x", "y", "x"],
    }


@pytest.fixture
def table(tmp_path: Path) -> Path:
    with (tmp_path / "sales.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows(1)[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows())
    return tmp_path / "sales.csv"


def flags(meta: list[str]) -> list[str]:
    return [word for one in meta for word in ("--meta", one)]


def test_values_are_read_in_their_form(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    assert run("build", table, "-o", out, "--children", 2, "--height", 1, *flags(META)).code == 0
    found = [json.loads(line)["meta"] for line in run("assign", out).out.splitlines()]
    assert found == [expected(i) for i in range(120)]
    assert strod.open(out).manifest.corpus.meta == READ


def test_add_reads_the_same_form(tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    meta = dict(one.split(":", 1) for one in META)
    strod.build(rows(), out=out, meta=meta, children=2, height=1, engine="processes")
    more = rows(5, 120)
    more[3] |= {"day": "1999-05-01", "price": 7}
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(one) + "\n" for one in more))
    said = run("add", out, tmp_path / "more.jsonl")
    assert "1 value of day is not of type date, as '1999-05-01', and left out" in said.out
    found = [json.loads(line)["meta"] for line in run("assign", out).out.splitlines()][120:]
    wanted = [expected(i) for i in range(120, 125)]
    wanted[3] |= {"day": None, "price": 7.0}
    assert found == wanted
    assert run("check", out).code == 0


def test_values_that_do_not_fit_are_shown(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    check_error(
        run("build", table, "-o", out, "--meta", "day:date"),
        "--meta day:date: 0 of 100 values are of this type, '1.01.1999' is not; "
        "--meta day:date:%d.%m.%Y would read it",
    )
    check_error(
        run("build", table, "-o", out, "--meta", "price:number:."),
        "--meta price:number:.: 0 of 100 values are of this type, '1.000,50' is not; "
        "--meta price:number:, would read it",
    )
    check_error(
        run("build", table, "-o", out, "--meta", "day:date:%d.%m."),
        "--meta day:date:%d.%m.: %d.%m. is no form of dates with a year",
    )
    check_error(run("build", table, "-o", out, "--meta", "price:number:;"), "; is no decimal mark")
    assert not out.exists()
    records = rows(30)
    records[7]["day"] = "soon"
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    said = run("build", tmp_path / "few.jsonl", "-o", out, "--meta", META[0])
    assert "1 value of day is not of type date, as 'soon'" in said.out


def test_one_value_that_is_no_date_is_named(tmp_path: Path) -> None:
    records = [
        {"text": f"river stone {i}", "day": f"2020-01-{i:02}", "price": i, "zone": "ab"[i % 2]}
        for i in range(1, 29)
    ]
    records[7] |= {"day": "unknown\x1b[31m", "price": "free"}
    records[9] |= {"price": "free"}
    source, out = tmp_path / "few.jsonl", tmp_path / "w.strod"
    source.write_text("".join(json.dumps(one) + "\n" for one in records))
    said = run("build", source, "-o", out, *flags(["day", "price", "zone"])).out
    day = "1 of 28 values is no date, as 'unknown\\x1b[31m'; --meta day:date leaves such values out"
    assert f"day is kept as text: {day}" in said
    assert (
        "price is kept as text: 2 of 28 values are no number, as 'free'; --meta price:num" in said
    )
    assert "zone is kept" not in said
    about = strod.open(out).report["metadata_nearly"]
    assert (about["day"]["type"], about["day"]["misfits"], about["day"]["values"]) == (
        "date",
        1,
        28,
    )
    whole = run("build", source, "-o", out, "--overwrite", *flags(["day:date", "price:number"])).out
    assert "is kept as text" not in whole
    with pytest.warns(strod.StrodWarning, match="day is kept as text: 1 of 28 values is no date"):
        strod.build(records, out=tmp_path / "p.strod", meta=["day"])


def test_what_looks_like_a_date_is_said(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    said = run("build", table, "-o", out, *flags(["day", "price", "kinds"])).out
    assert "day is kept as text; to have '1.01.1999' read: --meta day:date:%d.%m.%Y" in said
    assert "price is kept as text; to have '1.000,50' read: --meta price:number:," in said
    assert "kinds is kept" not in said
    workspace = strod.open(out)
    assert workspace.report["metadata_forms"]["day"]["meta"] == ["day:date:%d.%m.%Y"]
    assert set(workspace.manifest.corpus.meta.values()) == {"category"}
