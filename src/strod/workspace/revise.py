"""Revising a tree: one branch changes, everything else keeps its bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

from strod.compute.blas import one_blas_thread
from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.options import BASE_MEMORY, CorpusOptions, check_text
from strod.phrases.names import name_children
from strod.progress import Silent
from strod.store.change import change as change_workspace
from strod.store.history import appended, corpus_at
from strod.store.schema import ChangeRecord
from strod.store.schema import replace as record_with
from strod.store.splits import write_split
from strod.store.topics import (
    read_change,
    read_revision,
    undone_changes,
    write_revision,
)
from strod.tree import revise
from strod.tree.revise import Plan
from strod.workspace.change import compared
from strod.workspace.draft import TreeDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = ["Reviser"]


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

        def act(draft: TreeDraft) -> Plan:
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

        def act(draft: TreeDraft) -> Plan:
            return revise.merge(draft.tree, [draft.id(topic) for topic in topics])

        return self._apply("merge " + " ".join(map(quote, topics)), act)

    def remove(self, topic: str) -> Change:
        """Dissolve a topic; its share goes to its siblings."""
        return self._apply(f"remove {quote(topic)}", lambda d: d.remove(topic))

    def move(self, topic: str, target: str) -> Change:
        """Put a topic under another parent."""

        def act(draft: TreeDraft) -> Plan:
            return revise.move(draft.tree, draft.id(topic), draft.id(target))

        return self._apply(f"move {quote(topic)} {quote(target)}", act)

    def rename(self, topic: str, label: str) -> Change:
        """Give a topic a name; an empty one brings back the automatic one."""
        check_text("the name", label)
        if re.fullmatch(r"o(/\d+)*|\d+(/\d+)+", label, re.IGNORECASE):
            raise UsageError(f"{label}: a name that looks like a path would mislead; give another")

        def act(draft: TreeDraft) -> Plan:
            nodes, name = draft.tree.nodes, draft.id(topic)
            draft.refuse_taken(label, name)
            nodes[name].label, nodes[name].named = label, bool(label)
            if not label and nodes[name].parent is not None:
                name_children(nodes, [str(nodes[name].parent)], draft.words, {name})
            return Plan()

        return self._apply(f"rename {quote(topic)} {label!r}", act)

    def pin(self, topic: str, *, pinned: bool = True) -> Change:
        """Let a topic survive when its parent is split again."""

        def act(draft: TreeDraft) -> Plan:
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
            return replace(compared(f"{what} ({recorded.what})", before, after), documents=more)

        return self._carried_out(work)

    # -- how they are carried out --------------------------------------------------------

    def _apply(self, what: str, act: Callable[[TreeDraft], Plan]) -> Change:
        """Carry out a verb."""

        def work(staging: Staging) -> Change:
            self._workspace.refresh()
            with make_engine(self._engine, self._threads) as engine, one_blas_thread():
                draft = TreeDraft(self._workspace, staging, engine, self._progress, self._memory)
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

    def _publish(self, staging: Staging, draft: TreeDraft, change: Change) -> None:
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
