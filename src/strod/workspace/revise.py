"""Revising a tree: one branch changes, everything else keeps its bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

from strod.compute.blas import one_blas_thread
from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.options import check_text
from strod.phrases.names import name_children
from strod.store.history import appended
from strod.store.schema import ChangeRecord
from strod.store.schema import replace as record_with
from strod.store.splits import write_split
from strod.store.topics import (
    undone_changes,
    write_revision,
)
from strod.tree import revise
from strod.tree.revise import Plan
from strod.workspace.draft import TreeDraft
from strod.workspace.undo import Changer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strod.store.change import Staging
    from strod.workspace.change import Change

__all__ = ["Reviser"]


class Reviser(Changer):
    """The verbs that change topics."""

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
        check_text("the name", label, 1000)
        if label and not label.strip():
            raise UsageError("the name is blank", advice="give another")
        if re.fullmatch(r"(o|\d+)(/\d+)*/?", label.strip(), re.IGNORECASE):
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
