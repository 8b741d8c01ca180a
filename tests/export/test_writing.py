"""Where exports go: all or nothing, over nothing that is not meant, with one-line errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from strod.cli.export import export as command
from strod.errors import StrodError, UsageError
from strod.export import FORMATS, export
from tests.conftest import names

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace

TABLES = ["documents.csv", "phrases.csv", "topics.csv"]


class Told:
    """Progress that remembers."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def stage(self, name: str, total: int, unit: str) -> None:
        assert (name, unit) != ("", "")
        self.total += total

    def advance(self, amount: int) -> None:
        self.done += amount


def run(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.mark.parametrize("to", [to for to in FORMATS if to not in ("csv", "parquet", "site")])
def test_files_have_what_is_printed(nasty: Workspace, tmp_path: Path, to: str) -> None:
    text = export(nasty, to)
    assert text
    assert export(nasty, to, tmp_path / "x") is None
    assert (tmp_path / "x").read_bytes() == text.encode()
    assert names(tmp_path) == ["x"]
    assert run(nasty.path, "--to", to, "-q").stdout_bytes == text.encode()


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_is_overwritten_unless_asked(flat: Workspace, tmp_path: Path, to: str) -> None:
    out = tmp_path / "x"
    export(flat, to, out)
    with pytest.raises(UsageError, match="exists already"):
        export(flat, to, str(out))
    export(flat, to, out, overwrite=True)
    assert names(tmp_path) == ["x"]


def test_a_folder_of_others_is_never_replaced(flat: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    export(flat, "csv", out)
    assert names(out) == TABLES
    (out / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a folder that an export made"):
        export(flat, "csv", out, overwrite=True)
    assert names(out) == sorted([*TABLES, "mine.txt"])
    with pytest.raises(UsageError, match="is a folder"):
        export(flat, "json", out, overwrite=True)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not a folder that an export made"):
        export(flat, "csv", tmp_path / "file", overwrite=True)
    assert names(tmp_path) == ["file", "tables"]


@pytest.mark.parametrize("to", ["html", "csv", "parquet"])
def test_a_failure_leaves_what_was_there(
    flat: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    out = tmp_path / "x"
    export(flat, to, out)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StrodError, match="the disk is full"):
        export(flat, to, out, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert names(tmp_path) == ["x"]


def test_what_a_killed_run_left_is_no_obstacle(flat: Workspace, tmp_path: Path) -> None:
    (tmp_path / ".a.building").mkdir()
    (tmp_path / ".b.building").touch()
    export(flat, "json", tmp_path / "a")
    export(flat, "csv", tmp_path / "b")
    assert names(tmp_path) == ["a", "b"]


def test_wrong_usage(flat: Workspace, tmp_path: Path) -> None:
    wrong = [
        (("xml", None), {}, "no such format; choose from json, csv, parquet"),
        (("csv", None), {}, "name it with out"),
        (("parquet", None), {}, "to parquet: writes a folder; name it with out"),
        (("csv", tmp_path / "x"), {"documents": 3}, "documents: is for to html"),
        (("json", None), {"base": "urn:x:"}, "base: is for to skos"),
        (("html", None), {"documents": -1}, "must not be negative"),
        (("json", flat.path / "x"), {}, "is inside a workspace"),
        (("json", tmp_path / "no" / "x"), {}, "no such folder"),
    ]
    for arguments, options, message in wrong:
        with pytest.raises(UsageError, match=message) as raised:
            export(flat, *arguments, **options)  # type: ignore[arg-type]
        assert "\n" not in str(raised.value)
    assert names(tmp_path) == []


@pytest.mark.parametrize("to", ["html", "csv", "parquet"])
def test_progress_is_told(nasty: Workspace, tmp_path: Path, to: str) -> None:
    told = Told()
    export(nasty, to, tmp_path / "x", progress=told)
    assert told.total == told.done == nasty.corpus.documents


def test_the_command_says_what_it_wrote(nasty: Workspace, tmp_path: Path) -> None:
    said = run(nasty.path, "--to", "html", "--out", tmp_path / "x.html", "--documents", 2)
    assert said.exit_code == 0
    assert said.stdout.startswith(f"{tmp_path / 'x.html'}: {len(nasty.tree) - 1} topics, ")
    said = run(nasty.path, "--to", "csv", "-o", tmp_path / "t", "--quiet")
    assert (said.exit_code, said.output) == (0, "")
    assert names(tmp_path) == ["t", "x.html"]
