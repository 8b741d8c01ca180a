"""One revision of a workspace, as it was when it was opened, for any number of readers at once."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from strod.corpus.reader import Corpus
from strod.errors import StrodError, UsageError
from strod.progress import Silent
from strod.store.files import Files
from strod.store.history import corpus_at
from strod.store.manifest import read_manifest, read_report
from strod.store.schema import as_json
from strod.store.topics import KnownWords, read_change
from strod.workspace.placements import best_documents, shard_rows
from strod.workspace.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from strod.progress import Progress
    from strod.query.derived import Derived
    from strod.query.index import Index, Texts
    from strod.store.schema import Manifest
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
        One of the same workspace: what both have in common is not read again.
    manifest : Manifest, optional
        If it has been read already.

    Attributes
    ----------
    manifest : Manifest
        Format, version, and a checksum for every file.
    words : KnownWords
        Words of topics that are in memory, of this revision or of those before.
    """

    def __init__(
        self, path: Path, before: Snapshot | None = None, manifest: Manifest | None = None
    ) -> None:
        self.path = path
        self.manifest = read_manifest(path) if manifest is None else manifest
        self.words: KnownWords = KnownWords() if before is None else before.words
        self._derived = None if before is None else before.derived
        self._texts = None if before is None else before.texts
        if before is not None and before.manifest.corpus == self.manifest.corpus:
            self._share(before)

    def _share(self, before: Snapshot) -> None:
        """Take over what has been read of the same corpus."""
        known = before.__dict__
        if "corpus" in known:
            self.corpus = before.corpus
        if "phrase_index" in known and before._forms == self._forms:
            self.phrase_index = before.phrase_index

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
        return Tree(self.files, self.corpus, self.manifest.tree.settings, self.revision, self.words)

    @cached_property
    def phrase_index(self) -> PhraseIndex:
        """Words and phrases, and documents by them."""
        from strod.workspace.phrases import PhraseIndex

        about = self.manifest.corpus.settings
        return PhraseIndex(self.files, self.corpus, about.language, stemmed=about.stem)

    @property
    def _forms(self) -> str:
        """Checksum of the file of phrases."""
        forms = self.manifest.parts.get("phrases/forms.parquet")
        return forms.sha256 if forms else ""

    @cached_property
    def index(self) -> Index:
        """What it is asked through."""
        from strod.query.index import Index

        return Index(self, self._derived, self._texts)

    @property
    def derived(self) -> Derived | None:
        """Arrays that follow from the workspace, if somebody has asked for some."""
        return self.index.derived if "index" in self.__dict__ else self._derived

    @property
    def texts(self) -> Texts | None:
        """Metadata and words of the documents, if somebody has asked for them."""
        return self.index.texts if "index" in self.__dict__ else self._texts

    @cached_property
    def report(self) -> dict[str, Any]:
        """What the build read, rejected and took."""
        return read_report(self.path)

    def history(self) -> list[dict[str, Any]]:
        """What was changed, when and why, the first change first; what was undone is marked.

        What can still be had back by `redo` comes last.
        """
        about, entries = self.manifest.tree, list[dict[str, Any]]()
        numbers = [(number, False) for number in about.history]
        numbers += [(number, True) for number in reversed(about.undone)]
        for number, undone in numbers:
            change = as_json(read_change(self.files, number))
            entries += [{**one, "undone": True} for one in change.pop("undone")]
            entries.append({"revision": number, **change, "undone": undone})
            entries[-1]["when"] = change["when"] or self._built(number)
        return entries

    def _built(self, number: int) -> str:
        """When the workspace was built; not among its numbers, which are the same every time."""
        if number != 1:
            return ""
        try:
            when = self.report.get("when")
            return datetime.fromisoformat(when or "").isoformat(timespec="seconds")
        except (StrodError, TypeError, ValueError):
            return ""

    def tree_at(self, number: int) -> Tree:
        """The topics of another revision that the history still has."""
        about = self.manifest.tree
        if number == self.revision:
            return self.tree
        known = [*about.history, *reversed(about.undone)]
        if number not in known:
            there = ", ".join(map(str, sorted(known)[-20:]))
            raise UsageError(f"{number}: no such revision; there are {there}")
        record = corpus_at(about, known[: known.index(number) + 1])
        corpus = self.corpus if record == self.manifest.corpus else Corpus(self.files, record)
        return Tree(self.files, corpus, about.settings, number, self.words)

    def document(self, name: str) -> dict[str, Any] | None:
        """A document by its id, as `assign` gives it, with its number and text; or None."""
        found = self.corpus.document(name)
        if found is None:
            return None
        row = next(shard_rows(self.tree, self.corpus.alone(found.number)))
        meta = {"meta": found.meta} if self.corpus.meta else {}
        return row | meta | {"number": found.number, "text": found.text}

    def all_phrases(
        self, topics: Iterable[str], progress: Progress | None = None
    ) -> dict[str, list[tuple[str, float]]]:
        """All phrases of topics and their scores, by id; a topic's own list has the best."""
        from strod.engine.make import make_engine
        from strod.model.placed import DocumentShares
        from strod.options import CorpusOptions

        (progress or Silent()).stage("ranking phrases", 0, "")
        names = [self.tree.find(topic).id for topic in topics]
        shares = DocumentShares(self.tree.model, self.tree.saved)
        with make_engine("local", CorpusOptions().threads) as engine:
            return self.phrase_index.every(self.tree.nodes, names, shares, engine)

    def best(self, topic: str, number: int = 10) -> list[tuple[int, float]]:
        """Documents with the largest share of a topic: their numbers and shares.

        Of shares that are the same, those with more different words come first.
        """
        name = self.tree.find(topic).id
        found = best_documents(self.corpus, self.tree, [name], number)
        return [(document, share) for share, _, document in found[name]]
