"""A workspace: one folder with a corpus and its tree."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from strod.keywords import VerbOptions
from strod.options import check_names
from strod.progress import Progress, Silent
from strod.store.manifest import read_manifest
from strod.wording import counted
from strod.workspace.placements import Chosen, assign_corpus
from strod.workspace.snapshot import Snapshot
from strod.workspace.tree import Tree
from strod.workspace.undo import Changer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from strod.corpus.reader import Corpus
    from strod.keywords import AddOptions, AssignOptions, ExportOptions
    from strod.plots.plots import Plots
    from strod.query.entities import Entity
    from strod.query.index import Index
    from strod.query.search import Result
    from strod.query.trends import Trends
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
    snapshot : Snapshot, optional
        The revision to read, if not the newest one.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str], snapshot: Snapshot | None = None) -> None:
        self.path = Path(path)
        self._snapshot = Snapshot(self.path) if snapshot is None else snapshot
        self._previous: Snapshot | None = None

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

    def all_phrases(self, topic: str) -> list[tuple[str, float]]:
        """All phrases of a topic and their scores; its `phrases` are the best of them."""
        [found] = self._snapshot.all_phrases([topic]).values()
        return found

    def refresh(self, manifest: Manifest | None = None) -> Snapshot:
        """See what others, or a change of one's own, have published since.

        Trees and corpora that were taken before stay as they are. `manifest` is given by who has
        read it already.
        """
        manifest = read_manifest(self.path) if manifest is None else manifest
        if manifest != self._snapshot.manifest:
            self._previous = self._snapshot  # what both have in common is found in memory
            self._snapshot = Snapshot(self.path, self._previous, manifest)
        return self._snapshot

    def expand(
        self,
        topic: str,
        children: int | str = "auto",
        height: int | None = None,
        *,
        fresh: bool = False,
        force: bool = False,
        **how: Unpack[VerbOptions],
    ) -> Change:
        """Split a topic, or split it again into another number of children.

        Fewer are made by joining those that are there, with all that is below them.

        Parameters
        ----------
        topic : str
            Path or id.
        children : int or "auto"
            How many; pinned children stay and are counted.
        height : int, optional
            Levels below the topic; as many as there were if not given.
        fresh : bool
            Whether to decompose its text anew even if it was decomposed into as many or more.
        force : bool
            Whether to make more children than its documents carry.
        **how
            As for every verb: `note`, a line for the history; `dry_run`, to find out only
            what would change; `workers` and `engine`; `progress`.
        """
        from strod.workspace.expand import Shape

        shape = Shape(children, height, fresh, force)
        return self._reviser("expand", how).expand(topic, shape)

    def collapse(self, topic: str, **how: Unpack[VerbOptions]) -> Change:
        """Drop the descendants of a topic."""
        return self._reviser("collapse", how).collapse(topic)

    def merge(self, *topics: str, **how: Unpack[VerbOptions]) -> Change:
        """Make one topic of two or more, where the first is; their children become its children."""
        return self._reviser("merge", how).merge(topics)

    def remove(self, topic: str, into: str = "", **how: Unpack[VerbOptions]) -> Change:
        """Dissolve a topic: every document's share goes to the sibling where it fits.

        What none of them explains stays with the parent, in no child. With `into` all of it goes
        into that topic; its parent keeps it if that is the one.
        """
        return self._reviser("remove", how).remove(topic, into)

    def move(self, topic: str, target: str, **how: Unpack[VerbOptions]) -> Change:
        """Put a topic under another parent; a leaf gets a child that is what it was."""
        return self._reviser("move", how).move(topic, target)

    def rename(self, topic: str, label: str, **how: Unpack[VerbOptions]) -> Change:
        """Give a topic a name."""
        return self._reviser("rename", how).rename(topic, label)

    def pin(self, topic: str, *, pinned: bool = True, **how: Unpack[VerbOptions]) -> Change:
        """Let a topic survive when its parent is split again, or no longer."""
        return self._reviser("pin", how).pin(topic, pinned=pinned)

    def grow(self, under: str = "o", **how: Unpack[VerbOptions]) -> Change:
        """Make new children of a topic from its documents that fit nowhere.

        All other topics keep their numbers, and all other documents their shares, to the last
        bit. `how` is as for `expand`.
        """
        from strod.workspace.grow import Grower

        return self._changer("grow", how, Grower).grow(under)

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
            check_names(options, ["least", "progress", "top"], "assign without sources: ")
            chosen = Chosen(options.get("least", 0.0), options.get("top", 0))
            return assign_corpus(self, options.get("progress"), chosen)
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
        known = [*signature(getattr(self, verb)).parameters, *VerbOptions.__annotations__]
        own = [name for name in known if name not in ("how", "topic", "topics", "under")]
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

    def make_index(self, progress: Progress | None = None) -> None:
        """Make all that questions are answered from; else the first question makes it."""
        self._index.make(progress or Silent())

    def search(
        self,
        query: str,
        *,
        topic: str | None = None,
        where: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> Result:
        """Documents by what they say, and the topics they are in.

        Parameters
        ----------
        query : str
            Words (all of them), ``"phrases in quotes"``, AND, OR, NOT, prefix*, field:value.
        topic : str, optional
            Only documents whose path leads to this topic.
        where : str, optional
            Which documents are meant, by metadata.
        limit, offset : int
            How many documents, and how many are passed over; a limit of 0 means all.

        Examples
        --------
        >>> found = workspace.search("kettle OR ticket", where="year >= 2022", limit=2)
        >>> found.total, found.documents["id"].to_pylist()
        (64, ['d26', 'd22'])
        >>> found.topics.select(["path", "hits"]).to_pydict()
        {'path': ['o', 'o/2', 'o/1'], 'hits': [64, 34, 30]}
        """
        from strod.query.search import search

        return search(self._index, query, topic=topic, where=where, limit=limit, offset=offset)

    def documents(
        self, topic: str, *, where: str | None = None, limit: int = 20, offset: int = 0
    ) -> pa.Table:
        """Documents with a share of a topic, the largest first.

        Parameters
        ----------
        topic : str
            Path, name or id.
        where : str, optional
            Which documents are meant: ``"year >= 2015 AND category = 'cs.LG'"``.
        limit, offset : int
            How many, and how many are passed over; a limit of 0 means all.

        Returns
        -------
        pyarrow.Table
            number, id, share, leaf, and ``meta.NAME`` for each field.

        Examples
        --------
        >>> table = workspace.documents("o/1", where="authors = 'Cy' AND year = 2020", limit=2)
        >>> table.select(["id", "share"]).to_pydict()
        {'id': ['d40', 'd60'], 'share': [1.0, 1.0]}
        """
        from strod.query.tables import documents_of

        return documents_of(self._index, topic, where=where, limit=limit, offset=offset)

    def slice(
        self,
        by: str | Sequence[str],
        *,
        topic: str | None = None,
        level: int | None = None,
        where: str | None = None,
    ) -> pa.Table:
        """Documents of topics by the values of metadata fields.

        Parameters
        ----------
        by : str or sequence of str
            Fields: ``"category"``, ``"date:month"``, ``"price:10"``.
        topic : str, optional
            Only this topic and those below.
        level : int, optional
            Only topics of this level.
        where : str, optional
            Which documents are meant.

        Returns
        -------
        pyarrow.Table
            topic, a column for each field, documents, share, lift.

        Examples
        --------
        >>> table = workspace.slice("year", topic="o/2", where="year >= 2022")
        >>> table.select(["topic", "year", "documents"]).to_pydict()
        {'topic': ['o/2', 'o/2'], 'year': [2022, 2023], 'documents': [18, 26]}
        """
        from strod.query.slices import sliced

        fields = [by] if isinstance(by, str) else list(by)
        return sliced(self._index, fields, topic=topic, level=level, where=where)

    def trends(
        self,
        field: str | None = None,
        *,
        topic: str | None = None,
        level: int | None = None,
        where: str | None = None,
    ) -> Trends:
        """Topics that grew or shrank, by a date (``"date:month"``) or a number such as a year.

        Examples
        --------
        >>> for one in workspace.trends("year").rows:
        ...     print(one.topic.path, [documents for _, documents, _ in one.series], one.certain)
        o/2 [4, 12, 18, 26] True
        o/1 [36, 28, 22, 14] True
        """
        from strod.query.trends import trends

        return trends(self._index, field, topic=topic, level=level, where=where)

    def entities(self, topic: str, field: str, limit: int = 10) -> list[Entity]:
        """Members of a list or a category that stand for a topic, the best first.

        Examples
        --------
        >>> [(one.name, one.documents) for one in workspace.entities("o/2", "authors")]
        [('Bo', 60), ('Cy', 13)]
        """
        from strod.query.entities import Entities

        return Entities(self._index, field).best(self.tree.find(topic), limit)

    def entity(self, field: str, name: str) -> pa.Table:
        """Topics of an entity: path, label, documents and lift."""
        from strod.query.entities import entity_topics

        return entity_topics(self._index, field, name)[1]

    def topics_table(self) -> pa.Table:
        """One row a topic, level by level.

        Examples
        --------
        >>> workspace.topics_table().select(["path", "documents"]).to_pydict()
        {'path': ['o', 'o/1', 'o/2'], 'documents': [160, 100, 60]}
        """
        from strod.query.tables import topics_table

        return topics_table(self._index)

    def placements(self) -> pa.Table:
        """One row for each document and topic that it has a share of.

        Examples
        --------
        >>> workspace.placements().slice(0, 1).to_pylist()
        [{'id': 'd40', 'number': 40, 'topic': 'o/1', 'share': 1.0}]
        """
        from strod.query.tables import placements_table

        return placements_table(self._index)

    @property
    def plot(self) -> Plots:
        """Pictures: ``workspace.plot.tree()``, ``.trends()``, ``.heatmap("category")``."""
        from strod.plots.plots import Plots

        return Plots(self._index)

    @property
    def _index(self) -> Index:
        return self._snapshot.index

    def history(self) -> list[dict[str, Any]]:
        """What was changed, when and why, the first change first; what was undone is marked.

        What can still be had back by `redo` comes last.
        """
        return self._snapshot.history()

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
