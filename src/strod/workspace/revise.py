"""Revising a tree: one branch changes, everything else keeps its bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from strod.compute.blas import one_blas_thread
from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.options import check_name
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
from strod.workspace.undo import Changer, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strod.store.change import Staging
    from strod.workspace.change import Change
    from strod.workspace.expand import Shape

__all__ = ["Reviser"]


class Reviser(Changer):
    """The verbs that change topics."""

    # -- verbs ---------------------------------------------------------------------------

    def expand(self, topic: str, shape: Shape) -> Change:
        """Split a topic, or split it again into another number of children."""
        if shape.height is not None and shape.height < 1:
            raise UsageError(f"`height` must be 1 or more, not {shape.height}")
        height = f" --height {shape.height}" if shape.height else ""
        how = " --fresh" * shape.fresh + " --force" * shape.force
        return self._apply(
            f"expand {quote(topic)} --children {shape.children}{height}{how}",
            lambda draft: draft.expand(topic, shape),
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

    def remove(self, topic: str, into: str = "") -> Change:
        """Dissolve a topic; its share goes to its siblings, or into one topic."""
        where = f" --into {quote(into)}" if into else ""
        return self._apply(f"remove {quote(topic)}{where}", lambda d: d.remove(topic, into))

    def move(self, topic: str, target: str) -> Change:
        """Put a topic under another parent."""

        def act(draft: TreeDraft) -> Plan:
            return revise.move(draft.tree, draft.id(topic), draft.id(target))

        return self._apply(f"move {quote(topic)} {quote(target)}", act)

    def rename(self, topic: str, label: str) -> Change:
        """Give a topic a name; an empty one brings back the automatic one."""
        check_name(label)

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

        def work(staging: Staging) -> Outcome:
            self._workspace.refresh(staging.manifest)
            with make_engine(self._engine, self._threads) as engine, one_blas_thread():
                draft = TreeDraft(self._workspace, staging, engine, self._progress, self._memory)
                with draft.speaking_of_paths():
                    plan = act(draft)
                    draft.complete(plan)
            change = draft.change(what, plan)
            return Outcome(change, partial(self._publish, draft=draft, what=what))

        return self._carried_out(work)

    def _publish(self, staging: Staging, note: str, *, draft: TreeDraft, what: str) -> None:
        manifest = staging.manifest
        tree = appended(manifest.tree, len(draft.tree.nodes))
        when = datetime.now(UTC).isoformat(timespec="seconds")
        undone = undone_changes(self._workspace.files, manifest.tree)
        record = ChangeRecord(what=what, note=note, when=when, undone=undone)
        nodes, known = draft.tree.nodes.values(), manifest.parts
        write_revision(staging.folder, nodes, record, tree.history[-1], known)
        for name in draft.fresh_splits:
            write_split(staging.folder, name, draft.tree.splits[name])
        staging.publish(record_with(manifest, tree=tree), self._threads)
