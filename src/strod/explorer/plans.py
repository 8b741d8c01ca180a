"""Previews of changes: what a verb would do, kept so that the very same can be applied."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from strod.errors import StaleError, StrodError, UsageError
from strod.explorer.errors import MissingError
from strod.store.change import Prepared
from strod.values.topic import walk
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strod.progress import Progress
    from strod.workspace.change import Change
    from strod.workspace.snapshot import Snapshot

__all__ = ["VERBS", "Plan", "Plans", "Request"]

KEPT = 4  # plans whose files are kept; others are computed again
KNOWN = 200

# What each verb takes besides topics: how many of these, and which fields must or may be there.
_TAKES: dict[str, tuple[int, int, tuple[str, ...], tuple[str, ...]]] = {
    "expand": (1, 1, (), ("children", "height", "fresh", "force")),
    "collapse": (1, 1, (), ()),
    "merge": (2, 8, (), ()),
    "move": (1, 1, ("target",), ()),
    "remove": (1, 1, (), ("into",)),
    "rename": (1, 1, ("label",), ()),
    "pin": (1, 1, (), ()),
    "unpin": (1, 1, (), ()),
    "undo": (0, 0, (), ()),
    "redo": (0, 0, (), ()),
}
VERBS = tuple(_TAKES)


@dataclass(frozen=True)
class Request:
    """A verb and what it is given.

    Attributes
    ----------
    verb : str
        The verb.
    topics : list of str
        Of which topics.
    more : mapping
        The other fields that were given.
    note : str
        For the history.
    """

    verb: str
    topics: list[str]
    more: Mapping[str, Any]
    note: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Request:
        """What a body asks for; fields that a verb does not take are refused."""
        verb, topics = given["verb"], given["topics"]
        least, most, must, may = _TAKES[verb]
        if not least <= len(topics) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise UsageError(f"{verb}: takes {wanted} `topics`, not {len(topics)}")
        others = ("children", "height", "fresh", "force", "target", "into", "label")
        more = {name: given[name] for name in others if given[name] not in (None, False)}
        more = {name: value for name, value in more.items() if name != "into" or value}
        for name in more:
            if name not in (*must, *may):
                raise UsageError(f"{verb}: takes no `{name}`")
        for name in must:
            if name not in more:
                raise UsageError(f"{verb}: `{name}` is missing")
        return cls(verb, topics, more, given["note"])

    def carried_out(self, workspace: Workspace, prepared: Prepared, progress: Progress) -> Change:
        """Find out what it would do, and keep that."""
        how: dict[str, Any] = {"dry_run": True, "prepared": prepared, "progress": progress}
        how["note"] = self.note
        if self.verb == "unpin":
            return workspace.pin(*self.topics, pinned=False, **how)
        act: Callable[..., Change] = getattr(workspace, self.verb)
        return act(*self.topics, **self.more, **how)

    @property
    def arguments(self) -> tuple[list[str], dict[str, Any]]:
        """Arguments and options of the command that does the same."""
        options = dict(self.more)
        places = [options.pop(name) for name in ("target", "label") if name in options]
        if self.verb == "expand":
            options.setdefault("children", "auto")
        if self.verb not in ("undo", "redo"):
            options["note"] = self.note
        return [*self.topics, *places], options


@dataclass
class Plan:
    """A preview.

    Attributes
    ----------
    id : str
        What it is applied by.
    request : Request
        What was asked for.
    revision : int
        For which revision.
    change : dict
        What differs.
    prepared : Prepared or None
        What was computed, as long as it is kept.
    workspace : Workspace or None
        The workspace that it was computed in.
    """

    id: str
    request: Request
    revision: int
    change: dict[str, Any]
    prepared: Prepared | None
    workspace: Workspace | None


class Plans:
    """The last previews.

    Parameters
    ----------
    now : callable
        Gives the newest revision.

    Attributes
    ----------
    newest : Snapshot or None
        The revision that the last change made.
    """

    def __init__(self, now: Callable[[], Snapshot]) -> None:
        self._now = now
        self.newest: Snapshot | None = None
        self._known: OrderedDict[str, Plan] = OrderedDict()
        self._lock = Lock()

    def make(self, request: Request, progress: Progress) -> Plan:
        """Find out what a request would do."""
        plan = self._computed(request, progress)
        self._keep(plan)
        return plan

    def _computed(self, request: Request, progress: Progress) -> Plan:
        snapshot, prepared = self._now(), Prepared()
        workspace = Workspace(snapshot.path, snapshot)
        told = _told(request.carried_out(workspace, prepared, progress))
        revision = workspace.snapshot.revision
        return Plan(secrets.token_hex(8), request, revision, told, prepared, workspace)

    def _keep(self, plan: Plan) -> None:
        with self._lock:
            self._known[plan.id] = plan
            while len(self._known) > KNOWN:
                self._known.popitem(last=False)
            for old in [one for one in self._known.values() if one.prepared][:-KEPT]:
                self._drop(old)

    def _drop(self, plan: Plan) -> None:
        if plan.prepared is not None:
            plan.prepared.close()
        plan.prepared = plan.workspace = None

    def apply(self, name: str, note: str, progress: Progress) -> Plan:
        """Do what a preview said, and nothing else; whoever comes too late is told."""
        plan = self._known.get(name)
        if plan is None:
            raise MissingError(f"{name}: no such plan; preview it again")
        if plan.prepared is None:
            plan = self._renewed(plan, progress)
        if plan.prepared is not None and plan.workspace is not None:
            try:
                plan.prepared.apply(note or plan.request.note)
            except StrodError:  # whoever asks again has it computed again
                self._drop(plan)
                raise
            self.newest = plan.workspace.snapshot
            plan.revision = self.newest.revision
        self._drop(plan)
        self._known.pop(name, None)
        return plan

    def _renewed(self, plan: Plan, progress: Progress) -> Plan:
        """Compute it again: the same comes out, or it is refused."""
        if self._now().revision != plan.revision:
            raise StaleError("has been changed since", file=self._now().path)
        again = self._computed(plan.request, progress)
        if again.change != plan.change:
            self._drop(again)
            raise StaleError("the preview would be another one now", advice="preview it again")
        return again

    def close(self) -> None:
        """Forget all of them."""
        with self._lock:
            for plan in self._known.values():
                self._drop(plan)
            self._known.clear()


def _told(change: Change) -> dict[str, Any]:
    """The change for programs; new topics with their parents and documents."""
    told = change.as_dictionary()
    paths = {name: path for path, name in walk(change.nodes)}
    for one in told["new"]:
        node = change.nodes[one["id"]]
        one["parent"] = None if node.parent is None else paths[node.parent]
        one["documents"] = node.documents
    return told
