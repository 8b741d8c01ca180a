"""A workspace: one folder with a corpus and its tree."""

from __future__ import annotations

from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from strod.errors import StrodError
from strod.options import check_names
from strod.store.schema import as_json
from strod.store.topics import read_change
from strod.wording import counted
from strod.workspace.placements import assign_corpus
from strod.workspace.snapshot import Snapshot
from strod.workspace.tree import Tree
from strod.workspace.undo import Changer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from strod.corpus.reader import Corpus
    from strod.keywords import AddOptions, AssignOptions, ExportOptions, VerbOptions
    from strod.store.compact import Compaction
    from strod.store.files import Files
    from strod.store.schema import Manifest
    from strod.workspace.add import Addition
    from strod.workspace.change import Change
    from strod.workspace.phrases import PhraseIndex
    from strod.workspace.revise import Reviser
    from strod.workspace.tree import Tree

__all__ = ["Workspace", "open_workspace"]

C = TypeVar("C", bound=Changer)


class Workspace:
    """A folder that `strod.build` made: to read, and to revise one change at a time.

    Parameters
    ----------
    path : path
        The folder.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._snapshot = Snapshot(self.path)

    def __repr__(self) -> str:
        about = self.manifest
        return (
            f"<Workspace {str(self.path)!r}: {counted(about.corpus.documents, 'document')}, "
            f"{counted(about.tree.topics - 1, 'topic')}>"
        )

    @property
    def snapshot(self) -> Snapshot:
        """The revision that is read now, to be kept by who must not see another one."""
        return self._snapshot

    @property
    def manifest(self) -> Manifest:
        """Format, version, and a checksum for every file."""
        return self._snapshot.manifest

    @property
    def files(self) -> Files:
        """Its files, which are what was written or are refused."""
        return self._snapshot.files

    @property
    def corpus(self) -> Corpus:
        """Documents, tokens and counts."""
        return self._snapshot.corpus

    @property
    def tree(self) -> Tree:
        """The topics."""
        return self._snapshot.tree

    @property
    def phrase_index(self) -> PhraseIndex:
        """Words and phrases, and documents by them."""
        return self._snapshot.phrase_index

    @property
    def report(self) -> dict[str, Any]:
        """What the build read, rejected and took."""
        return self._snapshot.report

    def document(self, name: str) -> dict[str, Any] | None:
        """A document by its id, as `assign` gives it, with its number and text; or None."""
        return self._snapshot.document(name)

    def refresh(self) -> Snapshot:
        """See what others, or a change of one's own, have published since.

        Trees and corpora that were taken before stay as they are.
        """
        self._snapshot = Snapshot(self.path, self._snapshot)
        return self._snapshot

    def expand(
        self,
        topic: str,
        children: int | str = "auto",
        height: int = 1,
        *,
        fresh: bool = False,
        **how: Unpack[VerbOptions],
    ) -> Change:
        """Split a topic, or split it again into another number of children.

        Parameters
        ----------
        topic : str
            Path or id.
        children : int or "auto"
            How many; pinned children stay and are counted.
        height : int
            Levels below the topic.
        fresh : bool
            Whether to decompose its text anew even if it was decomposed into as many or more.
        **how
            As for every verb: `note`, a line for the history; `dry_run`, to find out only
            what would change; `workers` and `engine`; `progress`.
        """
        return self._reviser("expand", how).expand(topic, children, height, fresh=fresh)

    def collapse(self, topic: str, **how: Unpack[VerbOptions]) -> Change:
        """Drop the descendants of a topic."""
        return self._reviser("collapse", how).collapse(topic)

    def merge(self, *topics: str, **how: Unpack[VerbOptions]) -> Change:
        """Make one topic of two or more siblings; their children become its children."""
        return self._reviser("merge", how).merge(topics)

    def remove(self, topic: str, **how: Unpack[VerbOptions]) -> Change:
        """Dissolve a topic; its share goes to its siblings."""
        return self._reviser("remove", how).remove(topic)

    def move(self, topic: str, target: str, **how: Unpack[VerbOptions]) -> Change:
        """Put a topic under another parent."""
        return self._reviser("move", how).move(topic, target)

    def rename(self, topic: str, label: str, **how: Unpack[VerbOptions]) -> Change:
        """Give a topic a name."""
        return self._reviser("rename", how).rename(topic, label)

    def pin(self, topic: str, *, pinned: bool = True, **how: Unpack[VerbOptions]) -> Change:
        """Let a topic survive when its parent is split again, or no longer."""
        return self._reviser("pin", how).pin(topic, pinned=pinned)

    def add(self, *sources: Any, **how: Unpack[AddOptions]) -> Addition:
        """Append documents; topics keep their numbers, documents are placed on every level.

        Parameters
        ----------
        *sources
            As for `strod.build`.
        **how
            `replace`, whether documents with the same ids are taken out; `note`, `dry_run`,
            `workers`, `progress`, and `strict`.
        """
        from strod.workspace.add import add

        return add(self, list(sources), **how)

    def assign(self, *sources: Any, **options: Unpack[AssignOptions]) -> Iterator[dict[str, Any]]:
        """Path and shares of new documents or, without sources, of those of the corpus.

        Parameters
        ----------
        *sources
            As for `strod.build`: ``workspace.assign(["a text", "another"])``.
        **options
            As for `strod.workspace.assign.assign_new`.
        """
        if not sources:
            check_names(options, ["progress"], "assign without sources: ")
            return assign_corpus(self, options.get("progress"))
        from strod.workspace.assign import assign_new

        return assign_new(self, *sources, **options)

    def undo(self, **how: Unpack[VerbOptions]) -> Change:
        """Take back the last change."""
        return self._changer("undo", how, Changer).undo()

    def redo(self, **how: Unpack[VerbOptions]) -> Change:
        """Take back the last undo."""
        return self._changer("redo", how, Changer).redo()

    def _reviser(self, verb: str, how: VerbOptions) -> Reviser:
        from strod.workspace.revise import Reviser

        return self._changer(verb, how, Reviser)

    def _changer(self, verb: str, how: VerbOptions, kind: type[C]) -> C:
        known = [*signature(getattr(self, verb)).parameters, *signature(kind).parameters]
        own = [name for name in known if name not in ("how", "workspace", "topic", "topics")]
        check_names(how, own, f"{verb}: ")
        return kind(self, **how)

    def export(
        self,
        to: str,
        out: str | os.PathLike[str] | None = None,
        **how: Unpack[ExportOptions],
    ) -> str | None:
        """Write the tree for other tools: json, csv, markdown, graphml, skos or html.

        Without `out` the text is returned. `how`: `phrases`, `documents`, `base`,
        `overwrite`, `progress`, as for `strod.export.export`.
        """
        from strod.export import export

        return export(self, to, out, **how)

    def history(self) -> list[dict[str, Any]]:
        """What was changed, when and why, the first change first; what was undone is marked.

        What can still be had back by `redo` comes last.
        """
        now = self._snapshot
        about, entries = now.manifest.tree, list[dict[str, Any]]()
        numbers = [(number, False) for number in about.history]
        numbers += [(number, True) for number in reversed(about.undone)]
        for number, undone in numbers:
            change = as_json(read_change(now.files, number))
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

    def compact(self, keep: int = 10, *, dry_run: bool = False) -> Compaction:
        """Forget all but the last `keep` revisions, and give their files back to the disk."""
        from strod.store.compact import compact

        done = compact(self.path, keep, dry_run=dry_run)
        self.refresh()
        return done

    def check(self, workers: int = 1) -> list[str]:
        """Look at checksums, references and invariants; return a line for each that is wrong."""
        from strod.workspace.check import check_workspace

        return check_workspace(self.path, workers)


def open_workspace(path: str | os.PathLike[str]) -> Workspace:
    """Open a workspace for reading."""
    return Workspace(path)
