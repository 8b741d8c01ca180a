"""What the user points at: files, folders, standard input, Python objects."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from strod.errors import InputError, UsageError
from strod.text import formats
from strod.text.formats import Item
from strod.text.records import Fields, Reject, document, from_record
from strod.text.streams import DamagedStreamError, chunks

__all__ = ["FORMATS", "Part", "resolve"]

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

Advance = Callable[[int], None]
Reader = Callable[[Fields, Advance], Iterator[Item]]


@dataclass(frozen=True)
class Part:
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
    """

    name: str
    argument: int
    size: int
    read: Reader

    def position(self, line: int) -> str:
        """Where a document stands, for messages."""
        return f"{self.name}:{line}" if line else self.name


def resolve(sources: Iterable[Any], kind: str = "auto") -> list[Part]:
    """Find out what each source is.

    Parameters
    ----------
    sources : iterable
        Paths (``-`` is standard input), or Python objects: iterables of strings or of
        mappings, Arrow tables, pandas data frames.
    kind : str
        One of `FORMATS`; ``auto`` goes by name, then by content.
    """
    if kind not in FORMATS:
        raise UsageError(f"--format {kind!r} is unknown: choose from {', '.join(FORMATS)}")
    parts: list[Part] = []
    sources = list(sources)
    for argument, source in enumerate(sources):
        if isinstance(source, str | os.PathLike):
            parts += _path_parts(os.fspath(source), argument, kind, alone=len(sources) == 1)
        else:
            _refuse_paths(source)
            parts.append(Part(f"source {argument + 1}", argument, 0, _object_reader(source)))
    return parts


def _refuse_paths(source: Any) -> None:
    """A list of file names is hardly meant as a list of texts."""
    if isinstance(source, list | tuple) and 0 < len(source) <= MOST_PATHS:
        names = [item for item in source if isinstance(item, str | os.PathLike)]
        if len(names) == len(source) and all(map(os.path.exists, names)):
            raise UsageError("a list of files is no source: give each as one, build(*files)")


def _path_parts(name: str, argument: int, kind: str, *, alone: bool) -> list[Part]:
    if name == "-":
        return [Part("standard input", argument, 0, partial(_read_stream, None, kind, "-"))]
    if not name:
        raise UsageError("a source is empty text; give a file, a folder or -")
    path = Path(name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode) and (path / "manifest.json").is_file() and (path / "corpus").is_dir():
            raise InputError(f"{name}: is a workspace already; give the text it was built from")
        if stat.S_ISDIR(mode):
            return list(_folder_parts(path, argument, kind, alone=alone))
    except FileNotFoundError:
        text = "; texts are given in a list, or through standard input (-)" if " " in name else ""
        raise InputError(f"{name}: no such file or folder{text}") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(mode) and not name.startswith("/dev/fd/"):
        what = "a pipe" if stat.S_ISFIFO(mode) else "not a regular file"
        raise InputError(f"{name}: is {what}; give a file or a folder, or pipe the text into '-'")
    return [_file_part(path, name, argument, kind, name)]


def _file_part(path: Path, name: str, argument: int, kind: str, identifier: str) -> Part:
    size = path.stat().st_size
    name = os.fsencode(name).decode(errors="backslashreplace")  # reports are UTF-8
    return Part(name, argument, size, partial(_read_stream, path, kind, identifier))


def _unreadable(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error


def _folder_parts(folder: Path, argument: int, kind: str, *, alone: bool) -> Iterator[Part]:
    """Every regular file below the folder but hidden ones, in the order of their paths.

    A file is called by its path below the folder, or by its whole path if the folder is
    not the only source.
    """
    paths: list[str] = []
    for root, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = [f for f in folders if not f.startswith(".") and not f.endswith(".strod")]
        paths += [str(Path(root, name)) for name in names if not name.startswith(".")]
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        raise InputError(f"{folder}: holds no file to read")
    for path in sorted(paths):
        identifier = (Path(path).relative_to(folder) if alone else Path(path)).as_posix()
        named = _kind_by_name(Path(path))
        inside = kind if kind != "auto" else named or "files"
        yield _file_part(Path(path), path, argument, inside, identifier)


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
            yield from formats.read_parquet(path, fields, advance)
        else:
            data = chunks(path, advance)
            yield from _read_chunks(data, path, kind, identifier, fields, advance)
    except OSError as error:
        name = path or "standard input"
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error


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
        yield from formats.read_parquet(path, fields, advance)
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
    return formats.read_table(itertools.chain.from_iterable(map(_cut, reader)), fields)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for first in range(0, batch.num_rows, formats.PARQUET_ROWS):
        yield batch.slice(first, formats.PARQUET_ROWS)


def _read_objects(source: Iterable[Any], fields: Fields, _: Advance) -> Iterator[Item]:
    nothing = (None,) * len(fields.meta)
    for number, item in enumerate(source, start=1):
        if isinstance(item, str | bytes):
            yield document(item, number, meta=nothing)
        elif isinstance(item, Mapping):
            yield from_record(item, number, fields)
        else:
            yield Reject("not a text", number, type(item).__name__)
