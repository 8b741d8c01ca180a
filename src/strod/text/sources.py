"""What the user points at: files, folders, standard input, Python objects."""

from __future__ import annotations

import itertools
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from strod.errors import InputError, UsageError
from strod.text import formats
from strod.text.formats import Item
from strod.text.parquet import read_parquet
from strod.text.records import Fields, Reject, document, from_record
from strod.text.slices import pieces
from strod.text.streams import DamagedStreamError, chunks

__all__ = ["FORMATS", "Source", "resolve"]

FORMATS = ("auto", "jsonl", "csv", "tsv", "parquet", "lines", "files")

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_NOT_TEXT = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a ZIP archive (or a Word, Excel or OpenDocument file)",
    b"\xd0\xcf\x11\xe0": "an old Word or Excel file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3": "a database",
}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zstd"}

MOST_PATHS = 1000
UNREADABLE = "file that cannot be read"

Advance = Callable[[int], None]
Reader = Callable[[Fields, Advance], Iterator[Item]]


def _unknown(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, standard input, or a Python object.

    Attributes
    ----------
    name : str
        For messages.
    argument : int
        Which of the user's sources it belongs to.
    size : int
        Bytes, for the progress bar; 0 if unknown.
    read : callable
        Gives the documents.
    mentions : callable
        Whether a name of a field may be in it.
    """

    name: str
    argument: int
    size: int
    read: Reader
    mentions: Callable[[str], bool] = _unknown

    def position(self, line: int) -> str:
        """Where a document stands, for messages."""
        return f"{self.name}:{line}" if line else self.name


def resolve(
    sources: Iterable[Any], kind: str = "auto", *, follow_links: bool = False
) -> list[Source]:
    """Find out what each source is.

    Parameters
    ----------
    sources : iterable
        Paths (``-`` is standard input), or Python objects: iterables of strings or of
        mappings, Arrow tables, pandas data frames.
    kind : str
        One of `FORMATS`; ``auto`` goes by name, then by content.
    follow_links : bool
        Whether links that lead out of a folder are followed.
    """
    if kind not in FORMATS:
        raise UsageError(f"`format` {kind!r} is unknown: choose from {', '.join(FORMATS)}")
    parts: list[Source] = []
    sources = list(sources)
    for argument, source in enumerate(sources):
        if isinstance(source, str | os.PathLike):
            name = os.fspath(source)
            folder = _Folder(Path(name), argument, follow=follow_links)
            parts += _path_parts(name, folder, kind, alone=len(sources) == 1)
        else:
            _refuse_paths(source)
            parts.append(Source(f"source {argument + 1}", argument, 0, _object_reader(source)))
    return parts


def _refuse_paths(source: Any) -> None:
    """A list of file names is hardly meant as a list of texts."""
    if isinstance(source, list | tuple) and 0 < len(source) <= MOST_PATHS:
        names = [item for item in source if isinstance(item, str | os.PathLike)]
        if len(names) == len(source) and all(map(os.path.exists, names)):
            raise UsageError("a list of files is no source: give each as one, build(*files)")


def _path_parts(name: str, folder: _Folder, kind: str, *, alone: bool) -> list[Source]:
    argument = folder.argument
    if name == "-":
        return [Source("standard input", argument, 0, partial(_read_stream, None, kind, "-"))]
    if not name:
        raise UsageError("a source is empty text; give a file, a folder or -")
    path = Path(name)
    try:
        about = path.stat()
        mode = about.st_mode
        if stat.S_ISDIR(mode) and (path / "manifest.json").is_file() and (path / "corpus").is_dir():
            raise InputError(f"{name}: is a workspace already; give the text it was built from")
        if stat.S_ISDIR(mode):
            return list(folder.parts(kind, alone=alone))
    except FileNotFoundError:
        text = "; texts are given in a list, or through standard input (-)" if " " in name else ""
        raise InputError(f"{name}: no such file or folder{text or _near(path)}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read: {why}") from error
    if not stat.S_ISREG(mode) and not name.startswith("/dev/fd/"):
        what = "a pipe" if stat.S_ISFIFO(mode) else "not a regular file"
        raise InputError(f"{name}: is {what}; give a file or a folder, or pipe the text into '-'")
    read = partial(_read_stream, path, kind, name)
    return [Source(_shown(name), argument, about.st_size, read, partial(_mentions, path, kind))]


def _near(path: Path) -> str:
    """The name of a file nearby that may be meant."""
    try:
        names = [entry.name for entry in itertools.islice(os.scandir(path.parent), MOST_PATHS)]
    except OSError:
        return ""
    close = get_close_matches(path.name, names, n=1)
    return f"; do you mean {_shown(str(path.parent / close[0]))}?" if close else ""


def _shown(name: str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")  # reports are UTF-8


class _Folder:
    """A folder whose files are read, each of which may be gone or another by then."""

    def __init__(self, path: Path, argument: int, *, follow: bool) -> None:
        self.argument = argument
        self._path, self._follow = path, follow

    @cached_property
    def _root(self) -> str:
        return os.path.realpath(self._path)

    def parts(self, kind: str, *, alone: bool) -> Iterator[Source]:
        """Every regular file below the folder but hidden ones, in the order of their paths.

        A file is called by its path below the folder, or by its whole path if the folder is
        not the only source.
        """
        found = self._found()
        if not found:
            raise InputError(f"{self._path}: holds no file to read")
        for name, size in sorted(found.items()):
            path = Path(name)
            identifier = (path.relative_to(self._path) if alone else path).as_posix()
            inside = kind if kind != "auto" else _kind_by_name(path) or "files"
            read = partial(self._read, path, partial(_read_stream, path, inside, identifier))
            yield Source(_shown(name), self.argument, size, read, partial(_mentions, path, inside))

    def _found(self) -> dict[str, int]:
        """Files with their sizes; what cannot be told now is told when it is read."""
        sizes: dict[str, int] = {}
        walked = {self._root}

        def unreadable(error: OSError) -> None:
            if str(error.filename) == str(self._path):
                raise error
            sizes[str(error.filename)] = 0

        for root, folders, names in os.walk(
            self._path, onerror=unreadable, followlinks=self._follow
        ):
            for name in [one for one in names if not one.startswith(".")]:
                size = _size(Path(root, name))
                if size is not None:
                    sizes[str(Path(root, name))] = size
            folders[:] = [one for one in folders if not one.startswith(".")]
            folders[:] = [one for one in folders if not one.endswith(".strod")]
            for name in [one for one in folders if Path(root, one).is_symlink()]:
                real = os.path.realpath(Path(root, name))
                if not self._follow and not self._inside(real):
                    sizes[str(Path(root, name))] = 0
                elif real in walked or self._inside(real):
                    folders.remove(name)
                walked.add(real)
        return sizes

    def _inside(self, real: str) -> bool:
        return Path(real).is_relative_to(self._root)

    def _read(self, path: Path, read: Reader, fields: Fields, advance: Advance) -> Iterator[Item]:
        """What a file gives; a file that is gone or hidden is one document less."""
        if not self._follow and not self._inside(os.path.realpath(path)):
            yield Reject("link out of the folder", 0, "it is read if links are followed")
            return
        try:
            if stat.S_ISREG(path.stat().st_mode):
                yield from read(fields, advance)
            else:
                yield Reject(UNREADABLE, 0, "it is no file any more")
        except (OSError, InputError) as error:
            why = getattr(error, "strerror", None) or str(error).rpartition(": ")[2]
            yield Reject(UNREADABLE, 0, why)


def _size(path: Path) -> int | None:
    """Of a file, 0 if it is not there any more; None of what is no file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return None if path.is_symlink() else 0
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _kind_by_name(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _kind_by_content(head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    first = head.lstrip().split(b"\n", 1)[0]
    if first.startswith(b'{"'):
        return "jsonl"
    try:
        return "jsonl" if isinstance(orjson.loads(first), dict) else "lines"
    except orjson.JSONDecodeError:
        return "lines"


def _read_stream(
    path: Path | None, kind: str, identifier: str, fields: Fields, advance: Advance
) -> Iterator[Item]:
    if kind == "auto":
        kind = (_kind_by_name(path) if path is not None else None) or "auto"
    try:
        if kind == "parquet" and path is not None:
            yield from read_parquet(path, fields, advance)
        else:
            data = chunks(path, advance)
            yield from _read_chunks(data, path, kind, identifier, fields, advance)
    except OSError as error:
        name = path or "standard input"
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error


def _mentions(path: Path, kind: str, name: str) -> bool:
    """Whether records of a file may have a field, from a glance at its bytes."""
    try:
        if not path.is_file():
            return True  # a pipe can be read only once
        if _is_plain_parquet(path):
            return name in pq.read_schema(path).names
        data = chunks(path, lambda _: None)
        first = next(data, b"")
        kind = kind if kind != "auto" else _kind_by_name(path) or _kind_by_content(first)
        if kind in ("csv", "tsv"):
            cell = rb'(?:^|[,\t;|"])' + re.escape(name.encode()) + rb'(?:$|[,\t;|"\r])'
            return re.search(cell, first.partition(b"\n")[0]) is not None
        return kind == "jsonl" and _stands_in(itertools.chain([first], data), name)
    except (OSError, UnicodeError, DamagedStreamError, pa.ArrowException):
        return True


def _stands_in(data: Iterator[bytes], name: str) -> bool:
    """Whether a string of JSON stands in some data, in either way to write it."""
    ways = [json.dumps(name, ensure_ascii=ascii_only).encode() for ascii_only in (False, True)]
    before = b""
    for chunk in data:
        if any(way in before + chunk for way in ways):
            return True
        before = chunk[-max(map(len, ways)) :]
    return False


def _read_chunks(
    data: Iterator[bytes],
    path: Path | None,
    kind: str,
    identifier: str,
    fields: Fields,
    advance: Advance,
) -> Iterator[Item]:
    try:
        first = next(data, b"")
    except DamagedStreamError as error:
        yield Reject(formats.DAMAGED, 0 if kind == "files" else 1, str(error))
        return
    what = next((what for magic, what in _NOT_TEXT.items() if first.startswith(magic)), None)
    if what is not None:
        yield Reject("not a text file", 0, f"it is {what}; turn it into text first")
        return
    kind = _kind_by_content(first) if kind == "auto" else kind
    data = itertools.chain([first] if first else [], data)
    if kind == "parquet":
        if path is None or not _is_plain_parquet(path):
            yield Reject("Parquet inside a stream", 0, "give it as an uncompressed file")
            return
        yield from read_parquet(path, fields, advance)
    elif kind == "jsonl":
        yield from formats.read_json_lines(data, fields)
    elif kind == "files":
        yield from formats.read_whole(data, fields, identifier)
    elif kind == "lines":
        yield from formats.read_lines(data, fields)
    else:
        yield from formats.read_csv(data, fields, "\t" if kind == "tsv" else None)


def _is_plain_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _object_reader(source: Any) -> Reader:
    if hasattr(source, "__arrow_c_stream__"):  # Arrow and polars tables, pandas 2.2 and later
        return partial(_read_arrow, source)
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        message = "give paths, strings, mappings, Arrow tables or data frames"
        raise UsageError(f"{type(source).__name__} is no source of documents: {message}")
    return partial(_read_objects, source)


def _read_arrow(source: Any, fields: Fields, _: Advance) -> Iterator[Item]:
    try:
        reader = pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError, ValueError):  # one column: a series, an Arrow array
        return _read_objects(pa.chunked_array(source).to_pylist(), fields, _)
    fields.meet(reader.schema.names)
    return formats.read_table(itertools.chain.from_iterable(map(pieces, reader)), fields)


def _read_objects(source: Iterable[Any], fields: Fields, _: Advance) -> Iterator[Item]:
    nothing = (None,) * len(fields.meta)
    for number, item in enumerate(source, start=1):
        if isinstance(item, str | bytes):
            yield document(item, number, meta=nothing, blank=fields.blank)
        elif isinstance(item, Mapping):
            yield from_record(item, number, fields)
        else:
            yield Reject("not a text", number, type(item).__name__)
