"""Forged workspaces: every array, record, table and file as it must not be, with right seals."""

from __future__ import annotations

import json
import os
import socket
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from strod.query import pieces
from strod.store.files import is_name
from strod.store.manifest import file_digests, sealed
from strod.store.schema import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Forgery", "forgeries", "victims"]

MISSING = object()
VALUES: dict[str, Any] = {
    "missing": MISSING, "null": None, "true": True, "minus one": -1, "huge": 10**25, "half": 1.5,
    "1e308": 1e308, "text": "x", "empty": "", "path": "../../victim/precious", "root": "/victim",
    "escape": "\x1b]0;owned\x07\u202e", "list": [], "lists": [[[]]], "object": {}, "zero": 0,
    "surrogate": "\ud800", "long": "x" * 100_000,
}  # fmt: skip


@dataclass(frozen=True)
class Forgery:
    """A way to forge a workspace."""

    name: str
    apply: Callable[[Path], None]


def victims(folder: Path) -> Path:
    """What lies outside and must stay."""
    victim = folder / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "precious").write_text("precious")
    (victim / "sub" / "precious").write_text("precious too")
    return victim


def reseal(root: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Digests of all files as they are, then the manifest."""
    path = root / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.pop("sha256", None)
    there = [name for name in manifest["parts"] if is_name(name) and plain(root / name)]
    found = file_digests(root, there)
    manifest["parts"].update({name: as_json(digest) for name, digest in found.items()})
    change(manifest)
    path.write_text(json.dumps(sealed(manifest)))


def plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 30


# -- arrays ------------------------------------------------------------------------------


def _put(place: int, value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array = array.copy()
        if array.size:
            with np.errstate(all="ignore"):
                array.reshape(-1)[place % array.size] = np.array(value).astype(array.dtype)
        return array

    return change


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "big endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "float": lambda a: a.astype("f8" if a.dtype != np.dtype("f8") else "f4"),
    "int64": lambda a: a.astype("i8" if a.dtype != np.dtype("i8") else "i4"),
    "bytes": lambda a: a.astype("u1"),
    "complex": lambda a: a.astype("c16"),
    "strings": lambda a: a.astype("U8"),
    "one more dimension": lambda a: a[None],
    "no dimension": lambda a: a.reshape(-1)[:1].reshape(()) if a.size else np.zeros((), a.dtype),
    "empty": lambda a: a[:0],
    "short": lambda a: a[: len(a) // 2],
    "long": lambda a: np.concatenate([a, a]),
    "first negative": _put(0, -77),
    "last negative": _put(-1, -(2**31)),
    "middle huge": _put(7, 2**31 - 1),
    "last huge": _put(-1, 2**30),
    "first one": _put(0, 1),
    "nan": _put(3, float("nan")),
    "infinite": _put(3, float("inf")),
    "zeros": np.zeros_like,
    "reversed": lambda a: a[::-1].copy(),
    "all the largest": lambda a: np.full_like(
        a, np.iinfo(a.dtype).max if a.dtype.kind in "iu" else 3e38
    ),
}


def _array(name: str, how: str) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        np.save(root / name, ARRAYS[how](np.load(root / name)))
        reseal(root)

    return apply


def _header(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        data = (root / name).read_bytes()
        (root / name).write_bytes(data.replace(old, new, 1))
        reseal(root)

    return apply


def _arrays(names: list[str]) -> Iterator[Forgery]:
    for name in names:
        for how in ARRAYS:
            yield Forgery(f"{name}: {how}", _array(name, how))
        for old, new in (
            (b"(", b"(9"),
            (b"NUMPY\x01", b"NUMPY\x02"),
            (b"False", b"True "),
            (b"<", b"|"),
        ):
            yield Forgery(f"{name}: header {old!r} {new!r}", _header(name, old, new))


# -- records -----------------------------------------------------------------------------


def _steps(content: Any, done: tuple[Any, ...] = (), depth: int = 6) -> Iterator[tuple[Any, ...]]:
    """Ways to every field; of a list the first two and the last entry."""
    if done:
        yield done
    if depth and isinstance(content, dict):
        for key in list(content)[:40]:
            yield from _steps(content[key], (*done, key), depth - 1)
    elif depth and isinstance(content, list) and content:
        for place in sorted({0, min(1, len(content) - 1), len(content) - 1}):
            yield from _steps(content[place], (*done, place), depth - 1)


def _changed(content: Any, steps: tuple[Any, ...], value: Any) -> Any:
    content = deepcopy(content)
    inside = content
    for step in steps[:-1]:
        inside = inside[step]
    if value is MISSING:
        del inside[steps[-1]]
    else:
        inside[steps[-1]] = value
    return content


def _record(name: str, steps: tuple[Any, ...], value: Any) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        content = json.loads((root / name).read_text())
        content.pop("sha256", None)
        changed = sealed(_changed(content, steps, value))
        (root / name).write_text(json.dumps(changed))
        if name != "manifest.json":
            reseal(root)

    return apply


def _records(root: Path, names: list[str]) -> Iterator[Forgery]:
    for name in names:
        content = json.loads((root / name).read_text())
        content.pop("sha256", None)
        for steps in dict.fromkeys(_steps(content)):
            for what, value in VALUES.items():
                where = "/".join(map(str, steps))
                yield Forgery(f"{name}: {where} {what}", _record(name, steps, value))


def _cycles(name: str) -> Iterator[Forgery]:
    def child_of_itself(content: dict[str, Any]) -> None:
        content["topics"][-1]["children"] = [content["topics"][-1]["id"]]

    def root_below(content: dict[str, Any]) -> None:
        content["topics"][-1]["children"] = ["o"]

    def many_children(content: dict[str, Any]) -> None:
        for topic in content["topics"]:
            topic["children"] = topic["children"] * 10

    def twice(content: dict[str, Any]) -> None:
        content["topics"].append(content["topics"][-1])

    def deep(content: dict[str, Any]) -> None:
        last = content["topics"][-1]
        for level in range(3000):
            name = f"{level:012x}"
            last["children"], last["last_number"] = [name], 1
            last = last | {
                "id": name,
                "parent": last["id"],
                "level": last["level"] + 1,
                "number": 1,
            }
            content["topics"].append(last)

    for change in (child_of_itself, root_below, many_children, twice, deep):

        def apply(root: Path, change: Callable[[dict[str, Any]], None] = change) -> None:
            content = json.loads((root / name).read_text())
            content.pop("sha256")
            change(content)
            (root / name).write_text(json.dumps(sealed(content)))
            reseal(root)

        yield Forgery(f"{name}: {change.__name__}", apply)


# -- files -------------------------------------------------------------------------------


def _replaced(
    name: str, make: Callable[[Path, Path], None], *, known: bool
) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        path = root / name
        path.unlink()
        make(path, root.parent / "victim" / "precious")
        if known:
            reseal(root)

    return apply


def _sparse(path: Path, _: Path) -> None:
    with path.open("wb") as file:
        file.truncate(200 << 30)


def _socket(path: Path, _: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


KINDS: dict[str, Callable[[Path, Path], None]] = {
    "link": lambda path, victim: path.symlink_to(victim),
    "dangling": lambda path, victim: path.symlink_to(victim.with_name("none")),
    "device": lambda path, _: path.symlink_to("/dev/zero"),
    "hard link": lambda path, victim: path.hardlink_to(victim),
    "pipe": lambda path, _: os.mkfifo(path),
    "folder": lambda path, _: path.mkdir(),
    "empty": lambda path, _: path.touch(),
    "sparse": _sparse,
    "socket": _socket,
    "none": lambda *_: None,
}


def _files(names: list[str]) -> Iterator[Forgery]:
    for name in names:
        for kind, make in KINDS.items():
            known = kind in ("empty", "hard link") and name != "manifest.json"
            yield Forgery(f"{name}: {kind}", _replaced(name, make, known=known))


def _folders() -> Iterator[Forgery]:
    for name in (
        "corpus",
        "phrases",
        "tree",
        "corpus/0000",
        "tree/words",
        "tree/splits/o",
        "index",
        "index/text",
        "index/arrays",
        ".change",
    ):

        def apply(root: Path, name: str = name) -> None:
            victim = root.parent / "victim"
            if (root / name).exists():
                (root / name).rename(victim / "moved")
                for path in victim.iterdir():
                    if path.name != "moved" and not (victim / "moved" / path.name).exists():
                        path.rename(victim / "moved" / path.name)
                (root / name).symlink_to(victim / "moved")
            else:
                (root / name).symlink_to(victim)

        yield Forgery(f"{name}: linked folder", apply)


# -- tables ------------------------------------------------------------------------------


def _tables(root: Path, names: list[str]) -> Iterator[Forgery]:
    for name in names:
        for column in pq.read_schema(root / name).names:
            for how in ("dropped", "null", "text", "float", "reversed", "huge", "negative"):

                def apply(
                    root: Path, name: str = name, column: str = column, how: str = how
                ) -> None:
                    table = pq.read_table(root / name)
                    place = table.schema.get_field_index(column)
                    if how == "dropped":
                        table = table.drop_columns([column])
                    else:
                        table = table.set_column(place, column, _column(table[column], how))
                    pq.write_table(table, root / name)
                    reseal(root)

                yield Forgery(f"{name}: {column} {how}", apply)
        for rows in (0, 1, 2):

            def cut(root: Path, name: str = name, rows: int = rows) -> None:
                table = pq.read_table(root / name)
                pq.write_table(
                    pa.concat_tables([table] * 2) if rows == 2 else table[:rows], root / name
                )
                reseal(root)

            yield Forgery(f"{name}: {rows} rows", cut)


def _column(values: pa.ChunkedArray, how: str) -> pa.Array:
    size = len(values)
    if how == "null":
        return pa.nulls(size, values.type)
    if how == "text":
        return pa.array(["x" * 3000] * size)
    if how == "float":
        return pa.array([float("nan")] * size)
    if how == "reversed":
        return values.take(pa.array(range(size - 1, -1, -1)))
    number = 2**31 - 1 if how == "huge" else -5_000_000
    if pa.types.is_integer(values.type):
        return pa.array([number] * size, values.type)
    return (
        pa.array([[number]] * size) if pa.types.is_list(values.type) else pa.array([number] * size)
    )


# -- the index: whoever finds it may have made it up, so it has no seal to keep ------------


NUMBERS: dict[str, list[int]] = {
    "none": [], "minus one": [-1], "least": [-(2**31)] * 60, "largest": [2**31 - 1] * 60,
    "zeros": [0] * 60, "many": [1] * 100_000, "falling": [*range(60, 0, -1)],
}  # fmt: skip


def _numbers(name: str, values: list[int]) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        data = np.array(values, dtype="<i4").tobytes()
        (root / name).write_bytes(sha256(data).digest() + data)

    return apply


def _known_to_index(name: str, bit: int) -> Callable[[Path], None]:
    """A bit of a file of tantivy, and a record that says it is right."""

    def apply(root: Path) -> None:
        path = root / name
        data = bytearray(path.read_bytes())
        data[bit // 8 % len(data)] ^= 1 << bit % 8
        path.write_bytes(data)
        _seal_index(path.parent)

    return apply


def _long_in_index(name: str) -> Callable[[Path], None]:
    """A file without end that the record says is right as far as anybody can read."""

    def apply(root: Path) -> None:
        _sparse(root / name, root)
        record = pieces.read_record((root / name).parent)
        _seal_index((root / name).parent, {(root / name).suffix[1:]: (200 << 30, 0)}, record)

    return apply


def _seal_index(
    folder: Path,
    known: dict[str, tuple[int, int]] | None = None,
    records: list[pieces.PieceRecord] | None = None,
) -> None:
    records = records or pieces.read_record(folder)
    part = records[0].parts[0]
    files = dict(known or {})
    for extension in part.files:
        if extension not in files:
            files[extension] = pieces.checksum(folder / f"{part.name}.{extension}")
    parts = (msgspec.structs.replace(part, files=files),)
    pieces.write_record(folder, [msgspec.structs.replace(records[0], parts=parts)])


def _indexed(root: Path) -> Iterator[Forgery]:
    there = sorted(one for one in (root / "index").rglob("*") if one.is_file())
    arrays = [one for one in there if one.suffix == ".bin"]
    names = [one.relative_to(root).as_posix() for one in there if one not in arrays[6:]]
    for name in names:
        for kind, make in KINDS.items():
            yield Forgery(f"{name}: {kind}", _replaced(name, make, known=False))
        if name.endswith(".bin"):
            for what, values in NUMBERS.items():
                yield Forgery(f"{name}: {what}", _numbers(name, values))
        elif not name.endswith(".json"):
            for bit in range(0, 4000, 397):
                yield Forgery(f"{name}: bit {bit}", _known_to_index(name, bit))
            yield Forgery(f"{name}: endless", _long_in_index(name))


@cache
def forgeries(root: Path) -> tuple[Forgery, ...]:
    """All of them, in a fixed order."""
    names = sorted(json.loads((root / "manifest.json").read_text())["parts"])
    revision = max(name for name in names if name.startswith("tree/revisions/"))
    records = ["manifest.json", revision, "tree/splits/o/split.json"]
    arrays = [name for name in names if name.endswith(".npy")]
    words = [name for name in arrays if "/words/" in name]
    chosen = [name for name in arrays if name not in words[2:]]
    return (
        *_arrays(chosen),
        *_records(root, records),
        *_cycles(revision),
        *_files(
            [*(name for name in names if name not in words[2:]), "manifest.json", "report.json"]
        ),
        *_folders(),
        *_indexed(root),
        *_tables(root, [name for name in names if name.endswith(".parquet")]),
    )
