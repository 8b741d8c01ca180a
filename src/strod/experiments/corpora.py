"""Corpora of the experiments: documents in one form, and subsets that every run agrees on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from strod.datasets.docstrings import records, source_files
from strod.errors import InputError, UsageError
from strod.experiments.settings import LABEL
from strod.text.blocks import Block
from strod.text.records import Document, Fields
from strod.text.sources import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.experiments.settings import Settings

__all__ = ["Texts", "read_corpora"]

DEMO = "docstrings"
QUICK_PACKAGE, QUICK_FILES = "numpy", 3  # every third file of it


@dataclass
class Texts:
    """A corpus as JSON lines with the fields ``id``, ``text`` and ``label``.

    Attributes
    ----------
    name : str
        For tables.
    path : Path
        The lines.
    sha256 : str
        Of the lines.
    labelled : bool
        Whether some document has a label.
    """

    name: str
    path: Path
    sha256: str
    labelled: bool
    _order: NDArray[np.int64] = field(repr=False)  # lines by the hash of their ids

    @property
    def documents(self) -> int:
        """How many."""
        return len(self._order)

    def part(self, documents: int) -> Path:
        """A file with so many documents, in their order; a smaller part lies in a larger one.

        Documents are drawn by a hash of their id: the same on every run.
        """
        if not 0 < documents < self.documents:
            return self.path
        # A folder that a stopped run left may have parts of other texts with this name.
        target = self.path.with_name(f"{self.path.stem}-{documents}-{self.sha256[:12]}.jsonl")
        if not target.exists():
            chosen = set(self._order[:documents].tolist())
            building = target.with_suffix(".part")
            with self.path.open("rb") as lines, building.open("wb") as out:
                out.writelines(line for number, line in enumerate(lines) if number in chosen)
            building.replace(target)
        return target


def read_corpora(settings: Settings, folder: Path) -> list[Texts]:
    """Read every corpus of an experiment into `folder`."""
    if not settings.corpora:
        corpora = [(DEMO, _docstrings(quick=settings.quick))]
    else:
        names = _names(settings.corpora)
        corpora = [
            (name, _documents(path, settings))
            for name, path in zip(names, settings.corpora, strict=True)
        ]
    limit = settings.plan.documents
    found: list[Texts] = []
    for name, documents in corpora:
        path = folder / f"corpus-{len(found)}.jsonl"  # names may differ in what a disk ignores
        texts = _written(name, documents, path)
        if not texts.labelled and settings.labels != LABEL:
            raise UsageError(f"`labels` {settings.labels}: no document of {name} has this field")
        if 0 < limit < texts.documents:
            few = path.with_name(f"few-{len(found)}.jsonl")
            texts = _written(name, _lines(texts.part(limit)), few)
        found.append(texts)
    return found


def _names(paths: tuple[Path, ...]) -> list[str]:
    """File names without their endings; numbered if two are the same, by numbers that are free."""
    names = [path.name.split(".")[0] or "corpus" for path in paths]
    twice, given = {name for name in names if names.count(name) > 1}, set(names)
    found = []
    for name in names:
        free = (f"{name}-{i}" for i in count(1) if f"{name}-{i}" not in given)
        found.append(next(free) if name in twice else name)
        given.add(found[-1])
    return found


def _docstrings(*, quick: bool) -> Iterator[dict[str, Any]]:
    """Text that is on every machine; labels are package and subpackage."""
    files = source_files([QUICK_PACKAGE])[::QUICK_FILES] if quick else source_files()
    for record in records(files):
        parts = record["module"].split(".")
        label = [record["package"], ".".join(parts[: 1 + (record["package"] != "stdlib")])]
        yield {"id": record["id"], "text": record["text"], "label": label}


def _documents(path: Path, settings: Settings) -> Iterator[dict[str, Any]]:
    """All that can be read of a file or folder."""
    fields = Fields(text=settings.text_field, meta=(settings.labels,))
    number = 0
    for part in resolve([path]):
        for item in part.read(fields, lambda _: None):
            for one in item.documents() if isinstance(item, Block) else (item,):
                number += 1
                if isinstance(one, Document):
                    name = str(number) if one.id is None else one.id.decode()
                    yield {"id": name, "text": one.text.decode(), "label": one.meta[0]}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        yield from map(orjson.loads, lines)


def _written(name: str, documents: Iterator[dict[str, Any]], path: Path) -> Texts:
    digest = hashlib.sha256()
    ranks: list[bytes] = []
    labelled = False
    with path.open("wb") as out:
        for record in documents:
            labelled = labelled or bool(record["label"])
            line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE, default=str)
            digest.update(line)
            ranks.append(hashlib.blake2b(record["id"].encode(), digest_size=8).digest())
            out.write(line)
    if not ranks:
        raise InputError(f"{name}: no document has text there; name its field with `text_field`")
    order = np.argsort(np.array(ranks, dtype="S8").view(">u8"), kind="stable")
    return Texts(name, path, digest.hexdigest(), labelled, order)
