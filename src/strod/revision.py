"""Revising a tree: one branch changes, everything else keeps its bytes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from strod.compute.blas import one_blas_thread
from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.model.placed import DocumentShares
from strod.options import BASE_MEMORY, CorpusOptions, check_text
from strod.phrases.names import name_children
from strod.progress import Silent
from strod.store.change import change as change_workspace
from strod.store.history import appended, corpus_at
from strod.store.schema import Change as ChangeRecord
from strod.store.schema import as_json
from strod.store.schema import replace as record_with
from strod.store.splits import DiskBook, write_split
from strod.store.topics import (
    node_sha256,
    read_change,
    read_revision,
    undone_changes,
    write_revision,
)
from strod.tree import revise
from strod.tree.grouping import inside
from strod.tree.grow import (
    Ground,
    Grown,
    deepen,
    finish,
    make_children,
    measured,
    model_of,
    split,
)
from strod.tree.options import TreeOptions
from strod.tree.revise import Plan
from strod.values.topic import Part, number_children, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from strod.engine.protocol import Engine
    from strod.hierarchy import Topic, Tree
    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.values.topic import Node
    from strod.workspace import Workspace

__all__ = ["Change", "Reviser"]

ROUNDING = 1e-9


@dataclass(frozen=True)
class Change:
    """What a verb did, or would do.

    Attributes
    ----------
    what : str
        The verb and its arguments.
    added, changed, removed : list of str
        Ids of the topics that are new, have other numbers or names, or are gone.
    kept : int
        Topics that are, to the last bit, what they were: compared, not assumed.
    nodes : dict of Node
        All topics afterwards.
    moved : dict of (str, str)
        Topics that were there before and have another path: the old and the new one, by id.
    gone : dict of (str, str)
        Path and name that topics had which are gone, by id.
    joined : dict of list of str
        For each new topic, by id, those gone that it is made of.
    documents : int
        How many documents the corpus has more than before.
    """

    what: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    kept: int
    nodes: dict[str, Node] = field(repr=False)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    gone: dict[str, tuple[str, str]] = field(default_factory=dict)
    joined: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0

    @property
    def paths(self) -> dict[str, str]:
        """Paths of the topics that are new, by id."""
        return {name: path for path, name in walk(self.nodes) if name in self.added}


class Reviser:
    """One change of a workspace.

    Parameters
    ----------
    workspace : Workspace
        What to change.
    note : str
        Why, for the history.
    dry_run : bool
        Whether to find out only what would change.
    workers : int, optional
        Threads; all cores if not given.
    progress : Progress, optional
        Told how far the work is.
    engine : str
        Who does the work: ``local`` or ``processes``.
    """

    def __init__(  # noqa: PLR0913 - all but one by name
        self,
        workspace: Workspace,
        *,
        note: str = "",
        dry_run: bool = False,
        workers: int | None = None,
        progress: Progress | None = None,
        engine: str = "local",
    ) -> None:
        check_text("the note", note)
        self._workspace, self._note, self._dry_run = workspace, note, dry_run
        chosen = CorpusOptions(engine=engine)
        chosen = chosen if workers is None else replace(chosen, workers=workers)
        self._memory = max(chosen.memory - BASE_MEMORY, 0)
        self._engine, self._threads = chosen.engine, chosen.threads
        self._progress = progress or Silent()

    # -- verbs ---------------------------------------------------------------------------

    def expand(
        self, topic: str, children: int | str, height: int, *, fresh: bool = False
    ) -> Change:
        """Split a topic, or split it again into another number of children."""
        if height < 1:
            raise UsageError(f"`height` must be 1 or more, not {height}")

        def act(draft: _Draft) -> Plan:
            return draft.expand(topic, children, height, fresh=fresh)

        how = " --fresh" if fresh else ""
        return self._apply(
            f"expand {quote(topic)} --children {children} --height {height}{how}", act
        )

    def collapse(self, topic: str) -> Change:
        """Drop the descendants of a topic."""
        return self._apply(
            f"collapse {quote(topic)}", lambda d: revise.collapse(d.tree, d.id(topic))
        )

    def merge(self, topics: Sequence[str]) -> Change:
        """Make one topic of two or more siblings."""

        def act(draft: _Draft) -> Plan:
            return revise.merge(draft.tree, [draft.id(topic) for topic in topics])

        return self._apply("merge " + " ".join(map(quote, topics)), act)

    def remove(self, topic: str) -> Change:
        """Dissolve a topic; its share goes to its siblings."""
        return self._apply(f"remove {quote(topic)}", lambda d: d.remove(topic))

    def move(self, topic: str, target: str) -> Change:
        """Put a topic under another parent."""

        def act(draft: _Draft) -> Plan:
            return revise.move(draft.tree, draft.id(topic), draft.id(target))

        return self._apply(f"move {quote(topic)} {quote(target)}", act)

    def rename(self, topic: str, label: str) -> Change:
        """Give a topic a name; an empty one brings back the automatic one."""
        check_text("the name", label)
        if re.fullmatch(r"o(/\d+)*|\d+(/\d+)+", label, re.IGNORECASE):
            raise UsageError(f"{label}: a name that looks like a path would mislead; give another")

        def act(draft: _Draft) -> Plan:
            nodes, name = draft.tree.nodes, draft.id(topic)
            draft.refuse_taken(label, name)
            nodes[name].label, nodes[name].named = label, bool(label)
            if not label and nodes[name].parent is not None:
                name_children(nodes, [str(nodes[name].parent)], draft.words, {name})
            return Plan()

        return self._apply(f"rename {quote(topic)} {label!r}", act)

    def pin(self, topic: str, *, pinned: bool = True) -> Change:
        """Let a topic survive when its parent is split again."""

        def act(draft: _Draft) -> Plan:
            node = draft.tree.nodes[draft.id(topic)]
            if node.parent is None:
                raise UsageError(f"{topic}: the root has no parent that could be split")
            node.pinned = pinned
            return Plan()

        return self._apply(f"{'pin' if pinned else 'unpin'} {quote(topic)}", act)

    def undo(self) -> Change:
        """Go back to the tree as it was before the last change."""
        return self._step("undo", "history", "undone")

    def redo(self) -> Change:
        """Take back the last undo."""
        return self._step("redo", "undone", "history")

    def _step(self, what: str, source: str, target: str) -> Change:
        workspace = self._workspace

        def work(staging: Staging) -> Change:
            workspace.refresh()
            about, files = staging.manifest.tree, workspace.files
            numbers = {"history": about.history, "undone": about.undone}
            if len(numbers[source]) <= (source == "history"):
                raise UsageError(f"{workspace.path}: there is nothing to {what}")
            before = workspace.tree
            recorded = read_change(files, numbers[source][-1])
            moved = numbers[source][-1]
            lists = {source: numbers[source][:-1], target: (*numbers[target], moved)}
            tree = record_with(about, **lists)
            corpus = corpus_at(tree, tree.history)
            after = read_revision(files, tree.history[-1], corpus.vocabulary).nodes
            if not self._dry_run:
                tree = record_with(tree, topics=len(after))
                staging.publish(record_with(staging.manifest, tree=tree, corpus=corpus))
            more = corpus.documents - staging.manifest.corpus.documents
            return replace(_compared(f"{what} ({recorded.what})", before, after), documents=more)

        return self._carried_out(work)

    # -- how they are carried out --------------------------------------------------------

    def _apply(self, what: str, act: Callable[[_Draft], Plan]) -> Change:
        """Carry out a verb."""

        def work(staging: Staging) -> Change:
            self._workspace.refresh()
            with make_engine(self._engine, self._threads) as engine, one_blas_thread():
                draft = _Draft(self._workspace, staging, engine, self._progress, self._memory)
                with draft.speaking_of_paths():
                    draft.complete(act(draft))
            change = draft.change(what)
            if not self._dry_run:
                self._publish(staging, draft, change)
            return change

        return self._carried_out(work)

    def _carried_out(self, work: Callable[[Staging], Change]) -> Change:
        done = change_workspace(self._workspace.path, work, dry_run=self._dry_run)
        if not self._dry_run:
            self._workspace.refresh()
        return done

    def _publish(self, staging: Staging, draft: _Draft, change: Change) -> None:
        manifest = staging.manifest
        tree = appended(manifest.tree, len(draft.tree.nodes))
        when = datetime.now(UTC).isoformat(timespec="seconds")
        undone = undone_changes(self._workspace.files, manifest.tree)
        record = ChangeRecord(what=change.what, note=self._note, when=when, undone=undone)
        nodes, known = draft.tree.nodes.values(), manifest.parts
        write_revision(staging.folder, nodes, record, tree.history[-1], known)
        for name in draft.fresh_splits:
            write_split(staging.folder, name, draft.tree.splits[name])
        staging.publish(record_with(manifest, tree=tree), self._threads)


class _Draft:
    """A tree that is being changed."""

    def __init__(
        self,
        workspace: Workspace,
        staging: Staging,
        engine: Engine,
        progress: Progress,
        memory: int,
    ) -> None:
        self._workspace, self._engine = workspace, engine
        self._progress, self._memory = progress, memory
        self._paths = workspace.tree
        self._paths.verify()
        nodes = {name: _copied(node) for name, node in workspace.tree.nodes.items()}
        self.tree = Grown(nodes, dict(workspace.tree.splits))
        self._known = set(self.tree.splits)
        self._taken = set(staging.folders("tree/splits"))
        self._shares = DiskBook(staging, workspace.corpus.segments, workspace.tree.saved)

    def id(self, topic: str) -> str:
        """Id of a topic that was given by path or id."""
        return self._paths.find(topic).id

    def refuse_taken(self, label: str, name: str) -> None:
        """Refuse a name that another topic has: it could be used for neither of them."""
        for topic in self._paths.named(label) if label.strip() else ():
            if topic.id != name:
                raise UsageError(f"{label}: {topic.path} has this name; give another")

    @property
    def words(self) -> list[str]:
        """The vocabulary as it is written."""
        return self._paths.surfaces

    @contextmanager
    def speaking_of_paths(self) -> Iterator[None]:
        """What is refused is refused in the words of the user: paths, not ids."""
        try:
            yield
        except UsageError as error:
            for name in self._paths.nodes:
                error.what = re.sub(rf"\b{name}\b", self._paths[name].path, error.what)
            raise

    @property
    def fresh_splits(self) -> list[str]:
        """Decompositions that were made."""
        return [name for name in self.tree.splits if name not in self._known]

    def _ground(self, children: int | str = "auto", height: int = 0) -> Ground:
        """The documents of the workspace, and its options with another shape."""
        settings = as_json(self._workspace.manifest.tree.settings)
        options = TreeOptions(**settings | {"children": children, "height": height})
        return Ground(
            refs=self._workspace.corpus.refs(),
            retention=self._paths.retention,
            options=options,
            engine=self._engine,
            book=self._shares,
            progress=self._progress,
            memory=self._memory // 2,
            taken=self._taken,
        )

    def remove(self, topic: str) -> Plan:
        """Dissolve a topic; heirs get their part of its weight, as the documents have it."""
        name = self.id(topic)
        given, weight = revise.bequests(self.tree, name), self.tree.nodes[name].weight
        masses = measured(self.tree, self._ground(), given)
        siblings = [
            taker
            for taker in given
            if self.tree.nodes[taker].parent == self.tree.nodes[name].parent
        ]
        total = sum(masses[taker] for taker in siblings)
        for taker, mass in masses.items():
            share = mass / total if total else 1 / len(siblings)
            self.tree.nodes[taker].weight += weight * share
        return revise.remove(self.tree, name)

    def expand(self, topic: str, children: int | str, height: int, *, fresh: bool = False) -> Plan:
        """Put topics it was decomposed into together, or learn new ones; pinned children stay."""
        node = self.tree.nodes[self.id(topic)]
        pinned = [name for name in node.children if self.tree.nodes[name].pinned]
        others = [name for name in node.children if name not in pinned]
        parts = node.parts
        if pinned:
            if not others:
                raise UsageError(f"{topic}: all its children are pinned; unpin one first")
            parts = revise.combined(self.tree.nodes[name].parts for name in others)
        if pinned and height > 1:
            raise UsageError(f"{topic}: has pinned children; expand it with `height` 1")
        wanted = children
        if isinstance(children, int):
            wanted = children - len(pinned)
            if wanted < 2:
                least = f"{len(pinned) + 2} or more beside pinned ones" if pinned else "2 or more"
                raise UsageError(f"{topic}: `children` must be {least}, not {children}")
        for name in others:
            revise.drop(self.tree, [name, *revise.descendants(self.tree, name)])
        node.children = list(pinned)
        ground = self._ground(wanted, node.level + height)
        with self._shares:
            if isinstance(wanted, int) and not fresh and (known := self._known_part(parts, wanted)):
                children_now = make_children(self.tree, ground, node, known, wanted)
                pending = {one.id: one.parts for one in children_now if not one.reason}
                made = [one.id for one in children_now] + deepen(self.tree, ground, pending)
            else:
                made = split(self.tree, ground, node, parts)
        if len(node.children) == len(pinned):
            raise UsageError(
                f"{topic}: cannot be split: {node.reason}; take another topic or add documents"
            )
        revise.reorder(self.tree)
        gone = [name for name in self._paths.nodes if name not in self.tree.nodes]
        return Plan(new=tuple(self._renewed(made)), gone=tuple(gone))

    def _known_part(self, parts: list[Part], wanted: int) -> Part | None:
        """A mass as one branch of a dendrogram, so that it can be cut; its own one first."""
        found = [
            Part(name, list(range(split.topics.size)))
            for name, split in self.tree.splits.items()
            if split.parts == parts
        ]
        if len(parts) == 1:
            [part] = parts
            merges = inside(self.tree.splits[part.split].merges, part.fine)
            found += [part] * (len(merges) == len(part.fine) - 1)
        return next((part for part in found if len(part.fine) >= wanted), None)

    def _renewed(self, made: Sequence[str]) -> list[str]:
        """Topics that were not there before; one that was is what it was."""
        fresh = []
        for name in made:
            node, old = self.tree.nodes[name], self._paths.nodes.get(name)
            if old is not None and old.parent == node.parent:  # it keeps its address
                node.number, node.last_number = old.number, old.last_number
            if old is None or not np.array_equal(old.words, node.words):
                fresh.append(name)
                if old is not None:  # the same id with other text: what people gave it stays
                    node.label, node.named, node.pinned = old.label, old.named, old.pinned
            else:  # the same fine topics again: the same topic
                self.tree.nodes[name] = replace(
                    old,
                    parent=node.parent,
                    level=node.level,
                    children=node.children,
                    reason=node.reason,
                    alpha0=node.alpha0,
                    number=node.number,
                )
        return fresh

    def complete(self, plan: Plan) -> None:
        """Numbers, words and phrases of the topics whose mass has changed."""
        if plan.counted:
            self._describe(plan.counted, plan.weighed)
        nodes = self.tree.nodes
        for node in nodes.values():
            node.children.sort(key=lambda name: (-nodes[name].weight, name))
            total = sum(nodes[name].alpha for name in node.children)
            if abs(total - node.alpha0) > ROUNDING * total:  # else it is what it was
                node.alpha0 = total
        number_children(nodes)

    def _describe(self, counted: Sequence[str], weighed: Collection[str]) -> None:
        nodes, ground = self.tree.nodes, self._ground()
        retention = ground.retention.astype(np.float64)
        for name in counted:
            nodes[name].words = revise.mixed_words(self.tree, nodes[name].parts, retention)
        finish(self.tree, ground, set(counted), weighed)
        parents = {str(nodes[name].parent) for name in counted}
        around = revise.surroundings(self.tree, parents)
        self._workspace.phrasebook.describe(
            nodes,
            [name for name in nodes if name in parents],
            DocumentShares(model_of(self.tree, ground), self._shares.kept(), around),
            self._engine,
            self._progress,
            set(counted),
        )

    def change(self, what: str) -> Change:
        """Compare with what was there before."""
        return _compared(what, self._paths, self.tree.nodes)


def _compared(what: str, before: Tree, nodes: dict[str, Node]) -> Change:
    """What differs: every topic is compared, by its checksum."""
    old = before.nodes
    added = [name for name in nodes if name not in old]
    removed = [name for name in old if name not in nodes]
    changed = [name for name in nodes if name in old and _differs(before[name], nodes[name])]
    kept = len(nodes) - len(added) - len(changed)
    paths = {name: path for path, name in walk(nodes)}
    moved = {
        name: (before[name].path, path)
        for name, path in paths.items()
        if name in old and before[name].path != path
    }
    gone = {name: (before[name].path, before[name].label or "") for name in removed}
    joined = {name: _members(nodes[name], [old[one] for one in removed]) for name in added}
    joined = {name: members for name, members in joined.items() if members}
    return Change(what, added, changed, removed, kept, nodes, moved, gone, joined)


def _members(node: Node, gone: Sequence[Node]) -> list[str]:
    """Topics that are gone from beside a new one and are parts of it, if it is not one alone."""
    own = _components(node)
    inside = [one.id for one in gone if one.parent == node.parent and _components(one) <= own]
    return inside if len(inside) > 1 else []


def _components(node: Node) -> set[tuple[str, int]]:
    return {(part.split, fine) for part in node.parts for fine in part.fine}


def _differs(before: Topic, after: Node) -> bool:
    """Whether a topic is not the same any more; where it stands in the tree does not count."""
    same = (before.label or "", before.pinned) == (after.label, after.pinned)
    return not same or node_sha256(after) != before.sha256


def _copied(node: Node) -> Node:
    return replace(node, parts=list(node.parts), children=list(node.children))
