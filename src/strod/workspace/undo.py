"""Going back and forth between revisions, which computes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

from strod.errors import UsageError
from strod.options import BASE_MEMORY, CorpusOptions, check_text
from strod.progress import Silent
from strod.store.change import change as change_workspace
from strod.store.history import corpus_at
from strod.store.schema import replace as record_with
from strod.store.topics import read_change, read_revision
from strod.workspace.change import compared

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.keywords import VerbOptions
    from strod.store.change import Staging
    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = ["Changer", "Outcome"]


class Outcome(NamedTuple):
    """What a verb found.

    Attributes
    ----------
    change : Change
        What differs.
    publish : callable
        Makes the change, with a note.
    """

    change: Change
    publish: Callable[[Staging, str], None]


class Changer:
    """One change of a workspace; `strod.keywords.VerbOptions` says how it is carried out."""

    def __init__(self, workspace: Workspace, **how: Unpack[VerbOptions]) -> None:
        self._workspace, self._note = workspace, how.get("note", "")
        self._dry_run, self._prepared = how.get("dry_run", False), how.get("prepared")
        check_text("the note", self._note)
        if self._prepared is not None and not self._dry_run:
            raise UsageError("`prepared` is for `dry_run`")
        chosen, workers = CorpusOptions(engine=how.get("engine", "local")), how.get("workers")
        chosen = chosen if workers is None else replace(chosen, workers=workers)
        self._memory = max(chosen.memory - BASE_MEMORY, 0)
        self._engine, self._threads = chosen.engine, chosen.threads
        self._progress = how.get("progress") or Silent()

    def undo(self) -> Change:
        """Go back to the tree as it was before the last change."""
        return self._step("undo", "history", "undone")

    def redo(self) -> Change:
        """Take back the last undo."""
        return self._step("redo", "undone", "history")

    def _step(self, what: str, source: str, target: str) -> Change:
        workspace = self._workspace

        def work(staging: Staging) -> Outcome:
            workspace.refresh(staging.manifest)
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
            words = workspace.snapshot.words
            after = read_revision(files, tree.history[-1], corpus.vocabulary, words).nodes
            tree = record_with(tree, topics=len(after))
            manifest = record_with(staging.manifest, tree=tree, corpus=corpus)
            more = corpus.documents - staging.manifest.corpus.documents
            change = compared(f"{what} ({recorded.what})", before, after)
            return Outcome(replace(change, documents=more), lambda live, _: live.publish(manifest))

        return self._carried_out(work)

    def _carried_out(self, compute: Callable[[Staging], Outcome]) -> Change:
        workspace, note = self._workspace, self._note

        def publish(staging: Staging, outcome: Outcome, note: str) -> None:
            outcome.publish(staging, note)
            workspace.refresh()

        def work(staging: Staging) -> Change:
            outcome = compute(staging)
            if not self._dry_run:
                publish(staging, outcome, note)
            return outcome.change

        def held(staging: Staging) -> tuple[Change, Callable[[Staging, str], None]]:
            outcome = compute(staging)

            def publish_later(live: Staging, why: str) -> None:
                check_text("the note", why)
                publish(live, outcome, why or note)

            return outcome.change, publish_later

        if self._prepared is not None:
            return self._prepared.compute(workspace.path, held)
        return change_workspace(workspace.path, work, dry_run=self._dry_run)
