"""One revision of a workspace, as it was when it was opened, for any number of readers at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from strod.corpus.reader import Corpus
from strod.store.files import Files
from strod.store.manifest import read_manifest, read_report
from strod.workspace.placements import best_documents, placement_rows
from strod.workspace.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

    from strod.phrases.units import Units
    from strod.workspace.phrases import PhraseIndex

__all__ = ["Snapshot"]


class Snapshot:
    """A revision: what it says stays the same, whatever is published afterwards.

    Files of a workspace never change, so threads may share a snapshot and keep it as long as they
    like. `strod compact` alone takes files away: what an older snapshot has not read by then is
    missing, and it says so.

    Parameters
    ----------
    path : Path
        The workspace.
    before : Snapshot, optional
        One of the same workspace, whose phrases are taken over if they are the same.

    Attributes
    ----------
    manifest : Manifest
        Format, version, and a checksum for every file.
    """

    def __init__(self, path: Path, before: Snapshot | None = None) -> None:
        self.path = path
        self.manifest = read_manifest(path)
        self._before = None if before is None else before.known_units

    @property
    def revision(self) -> int:
        """Its number."""
        return self.manifest.tree.history[-1]

    @cached_property
    def files(self) -> Files:
        """Its files, which are what was written or are refused."""
        return Files(self.path, self.manifest.parts)

    @cached_property
    def corpus(self) -> Corpus:
        """Documents, tokens and counts."""
        return Corpus(self.files, self.manifest.corpus)

    @cached_property
    def tree(self) -> Tree:
        """The topics."""
        return Tree(self.files, self.corpus, self.manifest.tree.settings, self.revision)

    @cached_property
    def phrase_index(self) -> PhraseIndex:
        """Words and phrases, and documents by them."""
        from strod.workspace.phrases import PhraseIndex

        settings, known = self.manifest.corpus.settings, self._before
        units = known[1] if known is not None and known[0] == self._forms else None
        book = PhraseIndex(
            self.files, self.corpus, settings.language, stemmed=settings.stem, units=units
        )
        self._before = self._forms, book.units
        return book

    @property
    def _forms(self) -> str:
        """Checksum of the file of phrases."""
        forms = self.manifest.parts.get("phrases/forms.parquet")
        return forms.sha256 if forms else ""

    @property
    def known_units(self) -> tuple[str, Units] | None:
        """Words and phrases if they were read, and the checksum of their file."""
        return self._before

    @cached_property
    def report(self) -> dict[str, Any]:
        """What the build read, rejected and took."""
        return read_report(self.path)

    def document(self, name: str) -> dict[str, Any] | None:
        """A document by its id, as `assign` gives it, with its number and text; or None."""
        found = self.corpus.document(name)
        if found is None:
            return None
        shares = self.tree.shares(found.number, 1)
        row = next(placement_rows(self.tree, [name], shares))
        meta = {"meta": found.meta} if self.corpus.meta else {}
        return row | meta | {"number": found.number, "text": found.text}

    def best(self, topic: str, number: int = 10) -> list[tuple[int, float]]:
        """Documents with the largest share of a topic: their numbers and shares.

        Of shares that are the same, those with more different words come first.
        """
        name = self.tree.find(topic).id
        found = best_documents(self.corpus, self.tree, [name], number)
        return [(document, share) for share, _, document in found[name]]
