"""Going back and forth between revisions, which computes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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

    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = ["Changer"]


class Changer:
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

    def __init__(
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

    def _carried_out(self, work: Callable[[Staging], Change]) -> Change:
        done = change_workspace(self._workspace.path, work, dry_run=self._dry_run)
        if not self._dry_run:
            self._workspace.refresh()
        return done
