"""What the user points at."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strod.errors import InputError, UsageError
from strod.text.records import Document, Fields, Reject
from strod.text.sources import FORMATS, Source, resolve
from tests.text.items import brief, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON = b'{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n'
CSV = b"id,text\na,one\nb,two\n"
TSV = b"id\ttext\na\tone\nb\ttwo\n"
LINES = b"one\ntwo\n"


def nothing(_: int) -> None:
    pass


def read(*sources: Any, kind: str = "auto", fields: Fields | None = None) -> list[tuple[int, str]]:
    parts = resolve(sources, kind)
    return [item for part in parts for item in brief(part.read(fields or Fields(), nothing))]


def texts(*sources: Any, kind: str = "auto") -> list[str]:
    return [text for _, text in read(*sources, kind=kind)]


def ids(part: Source) -> list[bytes | None]:
    items = unpacked(part.read(Fields(), nothing))
    return [item.id for item in items if isinstance(item, Document)]


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", JSON),
        ("a.ndjson", JSON),
        ("a.JSON", JSON),
        ("a.csv", CSV),
        ("a.tsv", TSV),
        ("a.tab", TSV),
        ("a.txt", LINES),
        ("a.jsonl.gz", gzip.compress(JSON, mtime=0)),
        ("a.csv.bz2", bz2.compress(CSV)),
        ("a.jsonl.gz", JSON),
        # nothing in the name: by content
        ("a", JSON),
        ("a.txt", JSON),
        ("a.gz", gzip.compress(JSON, mtime=0)),
        ("a", b"\n\n" + JSON),
        ("a", codecs.BOM_UTF16_LE + JSON.decode().encode("utf-16-le")),
        ("a", LINES),
    ],
)
def test_kinds_of_files(tmp_path: Path, name: str, data: bytes) -> None:
    write(tmp_path, {name: data})
    assert texts(tmp_path / name) == texts(str(tmp_path / name)) == ["one", "two"]


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a", "a.txt"])
def test_parquet_by_name_and_content(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"text": ["one", "two"]}), tmp_path / name)
    assert texts(tmp_path / name) == ["one", "two"]


def test_compressed_parquet_is_explained(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one"]}), tmp_path / "a")
    write(tmp_path, {"b": gzip.compress((tmp_path / "a").read_bytes())})
    assert texts(tmp_path / "b") == ["Parquet inside a stream"]


def test_lines_that_only_look_like_json(tmp_path: Path) -> None:
    write(tmp_path, {"a": b'"Quoted" speech\nmore\n', "b": b"{ set } of\nmore\n"})
    assert texts(tmp_path / "a") == ['"Quoted" speech', "more"]
    assert texts(tmp_path / "b") == ["{ set } of", "more"]


def test_broken_json_is_not_taken_for_lines(tmp_path: Path) -> None:
    write(tmp_path, {"a": b'{"text": "one\n{"text": "two"}\n'})
    assert read(tmp_path / "a") == [(1, "broken JSON"), (2, "two")]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("lines", ["id,text", "a,one", "b,two"]),
        ("files", [CSV.decode()]),
        ("csv", ["one", "two"]),
        ("tsv", ["no text field"] * 2),
        ("jsonl", ["broken JSON"] * 3),
    ],
)
def test_format_beats_the_name(tmp_path: Path, kind: str, expected: list[str]) -> None:
    write(tmp_path, {"a.jsonl": CSV})
    assert texts(tmp_path / "a.jsonl", kind=kind) == expected


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match="format 'xml' is unknown: choose from auto, jsonl"):
        resolve([["a"]], "xml")
    assert FORMATS[0] == "auto"


def test_folders_are_sorted_and_recursive(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b.txt": b"b",
            "a/z.txt": b"a/z",
            "a.txt": b"a.txt",
            "a/deep/er/x.md": b"deep",
            "a/more.jsonl": JSON,
            "c.csv.gz": gzip.compress(CSV, mtime=0),
            ".hidden": b"hidden",
            ".git/config": b"hidden",
            "old.strod/manifest.json": b"{}",
        },
    )
    parts = resolve([tmp_path])
    assert [Path(part.name).relative_to(tmp_path).as_posix() for part in parts] == sorted(
        ["b.txt", "a/z.txt", "a.txt", "a/deep/er/x.md", "a/more.jsonl", "c.csv.gz"],
        key=lambda name: str(tmp_path / name),
    )
    found = texts(tmp_path)
    assert sorted(found) == sorted(["b", "a/z", "a.txt", "deep", "one", "two", "one", "two"])
    by_name = {Path(part.name).name: part for part in parts}
    assert ids(by_name["x.md"]) == [b"a/deep/er/x.md"]
    assert by_name["b.txt"].size == 1


def test_a_folder_of_text_files_gives_whole_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": LINES, "b": b'{"text": "three"}'})
    assert texts(tmp_path) == ["one\ntwo\n", '{"text": "three"}']
    assert texts(tmp_path, kind="lines") == ["one", "two", '{"text": "three"}']


def test_pipes_in_folders_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": b"a"})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert texts(tmp_path) == ["a"]


def test_empty_folder(tmp_path: Path) -> None:
    write(tmp_path, {"sub/.hidden": b"x"})
    with pytest.raises(InputError, match="holds no file to read"):
        resolve([tmp_path])


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: no such file or folder"):
        resolve([tmp_path / "missing"])
    write(tmp_path, {"file": b"x"})
    with pytest.raises(InputError, match="cannot be read"):
        resolve([tmp_path / "file" / "below"])


def test_pipe_is_explained(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe; give a file or a folder"):
        resolve([tmp_path / "pipe"])


def test_file_that_vanishes(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": LINES})
    (part,) = resolve([tmp_path / "a.txt"])
    (tmp_path / "a.txt").unlink()
    with pytest.raises(InputError, match=r"a\.txt: cannot be read: No such file"):
        list(part.read(Fields(), nothing))


@pytest.mark.parametrize("data", [JSON, LINES, gzip.compress(JSON, mtime=0)])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    (part,) = resolve(["-"])
    assert (part.name, part.size) == ("standard input", 0)
    assert brief(part.read(Fields(), nothing)) == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    "source",
    [
        ["one", "two"],
        ("one", b"two"),
        [{"text": "one"}, {"text": "two", "id": 5}],
        pa.table({"text": ["one", "two"]}),
        pa.table({"text": ["one", "two"]}).to_batches()[0],
        pa.RecordBatchReader.from_batches(
            pa.schema([("text", pa.string())]), pa.table({"text": ["one", "two"]}).to_batches()
        ),
        pa.array(["one", "two"]).to_pylist(),
        pd.DataFrame({"text": ["one", "two"], "year": [1, 2]}),
        pd.DataFrame({"text": ["one", "two"]}, index=[7, 9]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_python_objects(source: Any) -> None:
    assert read(source) == [(1, "one"), (2, "two")]


def test_column_of_a_data_frame() -> None:
    assert texts(pd.Series(["one", "two"])) == ["one", "two"]


def test_generators_are_read_once_and_lazily() -> None:
    taken = []

    def source() -> Iterator[str]:
        for text in ("one", "two", "three"):
            taken.append(text)
            yield text

    (part,) = resolve([source()])
    assert taken == []
    items = part.read(Fields(), nothing)
    next(items)
    assert taken == ["one"]
    assert len(list(items)) == 2


def test_metadata_of_objects() -> None:
    source = [{"text": "one", "year": 1999}, "two"]
    (part,) = resolve([source])
    found = list(part.read(Fields(meta=("year",)), nothing))
    assert [item.meta for item in found if isinstance(item, Document)] == [(1999,), (None,)]


def test_missing_values_of_a_data_frame() -> None:
    frame = pd.DataFrame({"text": ["one", None, "three"], "id": ["a", "b", "c"]})
    assert read(frame) == [(1, "one"), (2, "no text field"), (3, "three")]


def test_objects_that_are_no_texts() -> None:
    assert read(["one", 5, None, ["x"]]) == [
        (1, "one"),
        (2, "not a text"),
        (3, "not a text"),
        (4, "not a text"),
    ]


@pytest.mark.parametrize("source", [{"text": "one"}, 5, None, object()])
def test_no_source(source: Any) -> None:
    with pytest.raises(UsageError, match=f"{type(source).__name__} is no source of documents"):
        resolve([source])


def test_parts_know_their_argument(tmp_path: Path) -> None:
    write(tmp_path, {"x/a.txt": b"a", "x/b.txt": b"b"})
    parts = resolve([["one"], tmp_path / "x", ["two"]])
    assert [part.argument for part in parts] == [0, 1, 1, 2]
    assert parts[0].name == "source 1"
    assert parts[0].position(7) == "source 1:7"
    assert parts[1].position(0) == str(tmp_path / "x" / "a.txt")


def rejected(*sources: Any, **how: Any) -> list[tuple[str, str, str]]:
    """File, reason and detail of what is left out."""
    return [
        (Path(part.name).name, item.reason, item.detail)
        for part in resolve(sources, **how)
        for item in unpacked(part.read(Fields(), nothing))
        if isinstance(item, Reject)
    ]


@pytest.mark.parametrize("name", ["b.txt", "b.jsonl", "b.csv", "b.parquet"])
def test_a_file_of_a_folder_that_vanishes_is_left_out(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a.txt": b"a", name: b"x", "c.txt": b"c"})
    parts = resolve([tmp_path])
    (tmp_path / name).unlink()
    found = [item for part in parts for item in brief(part.read(Fields(), nothing))]
    assert found == [(0, "a"), (0, "file that cannot be read"), (0, "c")]


def test_a_file_that_vanishes_while_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": b"a", "b.txt": b"b"})
    stat = Path.stat

    def gone(self: Path, **how: Any) -> os.stat_result:
        if self.name == "b.txt":
            raise FileNotFoundError(2, "No such file or directory", str(self))
        return stat(self, **how)

    monkeypatch.setattr(Path, "stat", gone)
    told = [("b.txt", "file that cannot be read", "No such file or directory")]
    assert rejected(tmp_path) == told


def test_a_file_that_becomes_a_pipe_does_not_hang(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": b"a", "b.txt": b"b"})
    parts = resolve([tmp_path])
    (tmp_path / "b.txt").unlink()
    os.mkfifo(tmp_path / "b.txt")
    found = [item for part in parts for item in brief(part.read(Fields(), nothing))]
    assert found == [(0, "a"), (0, "file that cannot be read")]


def test_a_folder_below_that_cannot_be_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": b"a", "deep/b.txt": b"b"})
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "deep":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert [(name, reason) for name, reason, _ in rejected(tmp_path)] == [
        ("deep", "file that cannot be read")
    ]


def linked(folder: Path) -> Path:
    """A folder with links to a file and a folder outside, and to one inside."""
    write(folder, {"out/secret.txt": b"secret", "out/deep/far.txt": b"far", "in/a.txt": b"a"})
    (folder / "in/link.txt").symlink_to(folder / "out/secret.txt")
    (folder / "in/tree").symlink_to(folder / "out/deep")
    (folder / "in/same.txt").symlink_to("a.txt")
    (folder / "in/loop").symlink_to(folder / "in")
    (folder / "out/deep/loop").symlink_to(folder / "out/deep")
    return folder / "in"


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    folder = linked(tmp_path)
    assert texts(folder) == ["a", "link out of the folder", "a", "link out of the folder"]
    told = "it is read if links are followed"
    assert rejected(folder) == [
        ("link.txt", "link out of the folder", told),
        ("tree", "link out of the folder", told),
    ]


def test_links_are_followed_if_that_is_wanted(tmp_path: Path) -> None:
    parts = resolve([linked(tmp_path)], follow_links=True)
    found = [item for part in parts for item in brief(part.read(Fields(), nothing))]
    assert found == [(0, "a"), (0, "secret"), (0, "a"), (0, "far")]


def test_a_link_given_by_name_is_followed(tmp_path: Path) -> None:
    folder = linked(tmp_path)
    assert texts(folder / "link.txt") == ["secret"]
    (tmp_path / "other").symlink_to(folder / "tree")
    assert texts(tmp_path / "other") == ["far"]


def test_a_file_becomes_a_link_after_it_was_listed(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.txt": b"a", "secret": b"secret"})
    (part,) = resolve([tmp_path / "in"])
    (tmp_path / "in/a.txt").unlink()
    (tmp_path / "in/a.txt").symlink_to(tmp_path / "secret")
    assert brief(part.read(Fields(), nothing)) == [(0, "link out of the folder")]


def test_names_that_are_nearly_right(tmp_path: Path) -> None:
    write(tmp_path, {"cs.jsonl": JSON})
    near = f"cs.josnl: no such file or folder; do you mean {tmp_path}/cs.jsonl?"
    with pytest.raises(InputError, match=re.escape(near)):
        resolve([tmp_path / "cs.josnl"])
    with pytest.raises(InputError, match=r"no such file or folder$"):
        resolve([tmp_path / "another"])
    with pytest.raises(InputError, match="cannot be read"):
        resolve([str(tmp_path / "a\0b")])
