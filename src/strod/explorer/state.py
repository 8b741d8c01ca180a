"""What a running explorer has: the workspace, the revision that is shown, jobs and plans."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from strod.errors import InputError, StrodError
from strod.explorer.jobs import Job, Jobs
from strod.explorer.plans import Plans
from strod.explorer.view import View
from strod.progress import Silent
from strod.store.manifest import NAME, read_manifest
from strod.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from strod.progress import Progress
    from strod.store.schema import Manifest

__all__ = ["Explorer"]

SECONDS = 20.0  # that work under way has to end


class Explorer:
    """A workspace that is shown.

    Parameters
    ----------
    path : path
        The workspace.
    read_only : bool
        Whether nobody may change anything.

    Attributes
    ----------
    jobs : Jobs
        Work under way.
    plans : Plans
        Previews.
    end : callable
        Ends the server.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path, self.read_only = Path(path), read_only
        self._seen = self._stat()
        self._view = View(Snapshot(self.path), self.path, read_only=read_only)
        self._older = self._view  # what a revision has in common with it is found in memory
        self._lock = Lock()
        self.jobs, self.plans = Jobs(), Plans(lambda: self.view().snapshot)
        self.end: Callable[[], None] = lambda: None
        self._warming: Job | None = None
        self._thread: Thread | None = None

    def _stat(self) -> tuple[int, ...]:
        """What tells one manifest from another without reading it."""
        try:
            about = (self.path / NAME).stat()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror or error})") from error
        return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns

    def view(self) -> View:
        """The newest revision, whoever made it; whoever keeps it sees no other one."""
        seen = self._stat()
        if seen == self._seen:
            return self._view
        with self._lock:
            if seen != self._seen:
                self._show(read_manifest(self.path))
                self._seen = seen
            return self._view

    def _show(self, manifest: Manifest) -> None:
        """Take a revision from whoever made it, or read it."""
        old, made = self._view, self.plans.newest
        if manifest == old.snapshot.manifest:
            return
        known = made is not None and made.manifest == manifest
        snapshot = made if known and made else Snapshot(self.path, old.snapshot, manifest)
        self._older = old
        self._view = View(snapshot, self.path, read_only=self.read_only, before=old)

    def warm(self) -> None:
        """Read, in a thread of its own, what the first visitors will ask for."""
        self._warming = Job(self._warm)
        self._thread = Thread(target=self._warming.run, name="strod-warm", daemon=True)
        self._thread.start()

    def _warm(self, progress: Progress) -> dict[str, Any]:
        view = self.view()
        index = view.index
        index.progress = progress
        steps: list[Callable[[], object]] = [lambda: view.times, lambda: index.places]
        steps += [lambda: view.entities(view.tree.root, 1), lambda: view.columns]
        if not self.read_only:
            steps += [_load_verbs, lambda: _read_documents(view.snapshot)]
        steps.append(lambda: index.text)
        for step in steps:
            progress.advance(0)  # ends here if the server does
            with suppress(StrodError):  # whoever needs it is told
                step()
        return {}

    def close(self) -> None:
        """Call off what is under way, and leave nothing behind.

        A thread that is in the middle of compiled code when the process ends would crash it.
        """
        if self._thread is not None and self._warming is not None:
            self._warming.cancel()
            self._thread.join(SECONDS)
        self.jobs.close()
        self.plans.close()


def _load_verbs() -> None:
    """Compiled code takes its time to load, so nobody should have to wait for it."""
    from strod.workspace.warmup import compile_kernels  # noqa: PLC0415 - readers need none of it

    compile_kernels(Silent())


def _read_documents(snapshot: Snapshot) -> None:
    """Open and check what the first preview goes through, which takes longer than the preview."""
    from strod.engine.threads import Serial  # noqa: PLC0415 - it loads what ends BLAS's threads

    tree, refs = snapshot.tree, snapshot.corpus.refs()
    for ref in refs:
        segment = ref.opened()
        _ = segment.counts, segment.draws
    for name in tree.splits:
        for ref in refs:
            tree.saved.read(name, ref.first, ref.size)
    snapshot.phrase_index.count(Serial())
