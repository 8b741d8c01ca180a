"""What a second attack found: the writer keeps to what the reader takes, and to what is its own."""

from __future__ import annotations

import errno
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from strod.store import files
from strod.store.manifest import sealed
from tests.conftest import check_error, contents, json_lines, strod
from tests.hostile.forge import reseal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(base: Path, tmp_path: Path) -> Path:
    """A copy of the workspace, alone in a folder."""
    return shutil.copytree(base, tmp_path / "w.strod")


@pytest.mark.parametrize(
    "arguments",
    [
        ["o/1", "abc", "--note", "N" * 70_000],
        ["o/1", "a" * 65_530],
        ["o/1", " "],
        ["o/1", "2"],
        ["o/1", " o/2"],
        ["o/1", "o/2/"],
    ],
)
def test_names_and_notes_that_are_refused(work: Path, arguments: list[str]) -> None:
    before = contents(work)
    check_error(strod("rename", work, *arguments))
    assert contents(work) == before


@pytest.mark.parametrize(
    "option", [["--seed", 2**63], ["--max-vocabulary", 10**20], ["--stopwords", "long.txt"]]
)
def test_a_build_that_could_not_be_read(work: Path, option: list[Any]) -> None:
    source = work.parent / "t.jsonl"
    source.write_bytes(json_lines(*({"text": f"river stone w{i}"} for i in range(50))))
    (work.parent / "long.txt").write_text("x" * 70_000)
    option = [work.parent / one if one == "long.txt" else one for one in option]
    before = contents(work)
    outcome = strod("build", source, "--out", work, "--overwrite", "--quiet", *option)
    assert outcome.code == 2, outcome.err
    assert contents(work) == before
    assert strod("check", work).code == 0


@pytest.mark.parametrize("name", [".w.strod.old", ".w.strod.building"])
def test_folders_with_something_of_the_users(work: Path, name: str) -> None:
    mine = shutil.copytree(work, work.parent / name)
    (mine / "thesis.txt").write_text("precious")
    source = work.parent / "t.jsonl"
    source.write_bytes(json_lines(*({"text": f"river stone w{i}"} for i in range(50))))
    for how in ([], ["--overwrite"]):
        strod("build", source, "--out", work, "--quiet", *how)
        assert (mine / "thesis.txt").read_text() == "precious"
    assert strod("check", work).code == 0


@pytest.mark.parametrize("name", [".w.strod.old", ".w.strod.building"])
@pytest.mark.parametrize("kind", ["link", "folder", "file", "pipe"])
def test_what_is_in_the_way_is_told_before_the_work(work: Path, name: str, kind: str) -> None:
    mine = work.parent / name
    if kind == "folder":
        mine.mkdir()
        (mine / "thesis.txt").touch()
    else:
        (work.parent / "empty").mkdir()
        {"link": lambda: mine.symlink_to("empty"), "file": mine.touch}.get(
            kind, lambda: os.mkfifo(mine)
        )()
    before = contents(work)
    source = work.parent / "t.jsonl"
    source.write_bytes(json_lines(*({"text": f"river stone w{i}"} for i in range(50))))
    outcome = strod("build", source, "--out", work, "--overwrite")
    check_error(outcome, name, "move it away")
    assert outcome.err.count("\n") == 1
    assert contents(work) == before
    assert os.path.lexists(mine)


def test_a_folder_beside_an_export(work: Path) -> None:
    mine = work.parent / ".t.md.building"
    mine.mkdir()
    (mine / "p.txt").write_text("precious")
    check_error(strod("export", work, "--to", "markdown", "--out", work.parent / "t.md"), "move it")
    assert (mine / "p.txt").read_text() == "precious"


def test_an_export_into_another_workspace(work: Path, base: Path) -> None:
    target = work / "manifest.json"
    before = target.read_bytes()
    check_error(strod("export", base, "--to", "json", "--out", target, "--overwrite"), "inside")
    assert target.read_bytes() == before


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_change_of_somebody_else(work: Path, kind: str) -> None:
    change = work / ".change"
    if kind == "pipe":
        os.mkfifo(change)
    else:
        change.mkdir()
        (change / "mine.txt").write_text("precious")
    check_error(strod("rename", work, "o/1", "a", "--quiet"), "move it away")
    assert kind == "pipe" or (change / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize("name", ["manifest.json", "tree/revisions/00002.json", "report.json"])
def test_records_a_thousand_deep(work: Path, name: str) -> None:
    path = work / name
    text = path.read_text().rstrip()
    deep = "[" * 1000 + "]" * 1000
    path.write_text(
        '{"when": ' + deep + "}" if name == "report.json" else f'{text[:-1]},"zz":{deep}}}'
    )
    if name.startswith("tree"):
        reseal(work)
    for command in (["show"], ["history"], ["rename", "o/1", "x", "--dry-run"], ["check"]):
        outcome = strod(command[0], work, *command[1:])
        assert outcome.code in (0, 1, 2)
        assert outcome.code == 0 or name.rpartition("/")[2] in outcome.err


@pytest.mark.parametrize(
    "version", ["[" * 1000 + "]" * 1000, '"' + "9" * 10**6 + '"', "9" * 4000, "null", "-1"]
)
def test_versions_that_are_none(work: Path, version: str) -> None:
    text = f'{{"format": "strod workspace", "version": {version}, "writer": "{"x" * 10**6}"}}'
    (work / "manifest.json").write_text(text)
    outcome = strod("show", work)
    check_error(outcome, "manifest.json", code=1)
    assert len(outcome.err) < 1000


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EACCES])
def test_what_is_not_the_fault_of_the_file(
    work: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Nobody should build a workspace again because too many files are open."""

    opened = files._opened

    def refuse(root: Path, steps: list[str]) -> Any:
        if "corpus" in steps:
            raise OSError(number, os.strerror(number))
        return opened(root, steps)

    monkeypatch.setattr(files, "_opened", refuse)
    for command in (["check"], ["show", "o/1", "--documents", "1"], ["assign"]):
        outcome = strod(command[0], work, *command[1:])
        check_error(outcome, os.strerror(number), code=1)
        assert "build" not in outcome.err
        assert "strod check" not in outcome.err


def test_empty_shards_are_damage(work: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        for corpus in (manifest["corpus"], *manifest["tree"]["corpora"].values()):
            size = corpus["segments"][0]["boundaries"][-1]
            corpus["segments"][0]["boundaries"] = [0] + [size // 2] * 500 + [size]

    reseal(work, change)
    check_error(strod("check", work), "a shard must have documents", code=1)


def test_metadata_a_thousand_deep(tmp_path: Path) -> None:
    deep = b"[" * 1000 + b"]" * 1000
    records = [{"id": "a", "text": "gene", "x": 1}, *({"text": f"river w{i}"} for i in range(60))]
    line = b'{"id": "b", "text": "gene", "x": ' + deep + b"}\n"
    (tmp_path / "t.jsonl").write_bytes(line + json_lines(*records))
    outcome = strod("build", tmp_path / "t.jsonl", "--meta", "x", "-o", tmp_path / "w.strod", "-q")
    assert outcome.code == 0, outcome.err


def test_more_memory_than_there_is(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(json_lines({"text": "river"}))
    given = "9" * 400 + "gb"
    check_error(strod("build", tmp_path / "t.jsonl", "-o", tmp_path / "w", "--memory", given))


def test_topics_of_nothing_are_damage(work: Path) -> None:
    """A verb made words of them that no command could read."""
    revision = work / "tree" / "revisions" / "00002.json"
    content = json.loads(revision.read_text())
    content.pop("sha256")
    for topic in content["topics"]:
        topic["components"] = []
    revision.write_text(json.dumps(sealed(content)))
    reseal(work)
    check_error(strod("check", work), "made of the wrong components", code=1)
    before = contents(work)
    check_error(strod("merge", work, "o/1", "o/2", "--quiet"), code=1)
    assert contents(work) == before


@pytest.mark.parametrize("digits", ["٠٠٠٠", "0000"])
def test_names_are_of_plain_digits(digits: str) -> None:
    assert files.is_name(f"corpus/{digits}/tokens.npy") == (digits == "0000")
