"""Revising a tree: one branch changes, everything else keeps its bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from strod.engine.local import LocalEngine
from strod.errors import UsageError
from strod.options import BASE_MEMORY, CorpusOptions
from strod.progress import Silent
from strod.store.change import changing
from strod.store.trees import DiskBook, node_sha256, read_revision, write_revision, write_split
from strod.tree import revise
from strod.tree.grouping import inside
from strod.tree.grow import Grower, Grown, document_shares
from strod.tree.options import TreeOptions
from strod.tree.sampling import thinning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from strod.hierarchy import Topic, Tree
    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.tree.topic import Node, Part
    from strod.workspace import Workspace

__all__ = ["Change", "Reviser", "corpus_of"]


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
    """

    what: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    kept: int
    nodes: dict[str, Node] = field(repr=False)


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
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        note: str = "",
        dry_run: bool = False,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        _check_text("the note", note)
        self._workspace, self._note, self._dry_run = workspace, note, dry_run
        chosen = CorpusOptions() if workers is None else CorpusOptions(workers=workers)
        self._memory = max(chosen.memory - BASE_MEMORY, 0)
        self._engine, self._progress = LocalEngine(chosen.threads), progress or Silent()

    # -- verbs ---------------------------------------------------------------------------

    def expand(
        self, topic: str, children: int | str, height: int, *, fresh: bool = False
    ) -> Change:
        """Split a topic, or split it again into another number of children."""
        if height < 1:
            raise UsageError(f"--height must be 1 or more, not {height}")

        def act(draft: _Draft) -> list[str]:
            return draft.expand(topic, children, height, fresh=fresh)

        return self._apply(f"expand {topic} --children {children} --height {height}", act)

    def collapse(self, topic: str) -> Change:
        """Drop the descendants of a topic."""
        return self._apply(f"collapse {topic}", lambda d: revise.collapse(d.tree, d.id(topic)))

    def merge(self, topics: Sequence[str]) -> Change:
        """Make one topic of two or more siblings."""

        def act(draft: _Draft) -> list[str]:
            return revise.merge(draft.tree, [draft.id(topic) for topic in topics])

        return self._apply("merge " + " ".join(topics), act)

    def remove(self, topic: str) -> Change:
        """Dissolve a topic; its share goes to its siblings."""
        return self._apply(f"remove {topic}", lambda d: revise.remove(d.tree, d.id(topic)))

    def move(self, topic: str, target: str) -> Change:
        """Put a topic under another parent."""

        def act(draft: _Draft) -> list[str]:
            return revise.move(draft.tree, draft.id(topic), draft.id(target))

        return self._apply(f"move {topic} {target}", act)

    def rename(self, topic: str, label: str) -> Change:
        """Give a topic a name."""
        _check_text("the name", label)

        def act(draft: _Draft) -> list[str]:
            node = draft.tree.nodes[draft.id(topic)]
            node.label, node.named = label, True
            return []

        return self._apply(f"rename {topic} {label!r}", act)

    def pin(self, topic: str, *, pinned: bool = True) -> Change:
        """Let a topic survive when its parent is split again."""

        def act(draft: _Draft) -> list[str]:
            draft.tree.nodes[draft.id(topic)].pinned = pinned
            return []

        return self._apply(f"{'pin' if pinned else 'unpin'} {topic}", act)

    def undo(self) -> Change:
        """Go back to the tree as it was before the last change."""
        return self._step("undo", "history", "undone")

    def redo(self) -> Change:
        """Take back the last undo."""
        return self._step("redo", "undone", "history")

    def _step(self, what: str, source: str, target: str) -> Change:
        with changing(self._workspace.path) as staging:
            self._workspace.refresh()
            about = staging.manifest["tree"]
            if len(about[source]) <= (source == "history"):
                raise UsageError(f"{self._workspace.path}: there is nothing to {what}")
            before = self._workspace.tree
            lists = {source: about[source][:-1], target: [*about[target], about[source][-1]]}
            tree = about | lists
            folder = self._workspace.path / "tree"
            after, _ = read_revision(folder, tree["history"][-1])
            tree["topics"] = len(after)
            if not self._dry_run:
                corpus = corpus_of(folder, tree["history"], staging.manifest["corpus"])
                staging.publish(staging.manifest | {"tree": tree, "corpus": corpus})
        if not self._dry_run:
            self._workspace.refresh()
        return _compared(what, before, {name: node for name, (node, _) in after.items()})

    # -- how they are carried out --------------------------------------------------------

    def _apply(self, what: str, act: Callable[[_Draft], list[str]]) -> Change:
        with changing(self._workspace.path) as staging:
            self._workspace.refresh()
            draft = _Draft(self._workspace, staging, self._engine, self._progress, self._memory)
            with threadpool_limits(1):
                touched = act(draft)
                draft.complete(touched)
            change = draft.change(what)
            if not self._dry_run:
                self._publish(staging, draft, change)
        if not self._dry_run:
            self._workspace.refresh()
        return change

    def _publish(self, staging: Staging, draft: _Draft, change: Change) -> None:
        manifest = staging.manifest
        about = manifest["tree"]
        number = max([*about["history"], *about["undone"]]) + 1
        record = {
            "what": change.what, "note": self._note,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
        }  # fmt: skip
        write_revision(staging.folder / "tree", draft.tree.nodes.values(), record, number)
        for name in draft.fresh_splits:
            write_split(staging.folder / "tree" / "splits" / name, draft.tree.splits[name])
        history = [*about["history"], number]
        tree = about | {"history": history, "undone": [], "topics": len(draft.tree.nodes)}
        staging.publish(manifest | {"tree": tree}, self._engine.workers)


def _check_text(what: str, text: str) -> None:
    try:
        text.encode()
    except (UnicodeEncodeError, AttributeError):
        raise UsageError(f"{what} is not text: {text!r}") from None


def corpus_of(folder: Path, history: Sequence[int], now: dict[str, Any]) -> dict[str, Any]:
    """The corpus as it was at the end of a history: documents may have been added since."""
    for number in reversed(history):
        _, change = read_revision(folder, number)
        if "corpus" in change:
            return dict(change["corpus"])
    return now


class _Draft:
    """A tree that is being changed."""

    def __init__(
        self,
        workspace: Workspace,
        staging: Staging,
        engine: LocalEngine,
        progress: Progress,
        memory: int,
    ) -> None:
        self._workspace, self._engine = workspace, engine
        self._progress, self._memory = progress, memory
        self._paths = workspace.tree
        nodes = {name: _copied(node) for name, node in workspace.tree.nodes.items()}
        self.tree = Grown(nodes, dict(workspace.tree.splits))
        self._known = set(self.tree.splits)
        self._shares = DiskBook(
            staging.folder / "tree" / "splits",
            workspace.corpus.segments,
            workspace.path / "tree" / "splits",
        )

    def id(self, topic: str) -> str:
        """Id of a topic that was given by path or id."""
        return self._paths.find(topic).id

    @property
    def fresh_splits(self) -> list[str]:
        """Decompositions that were made."""
        return [name for name in self.tree.splits if name not in self._known]

    def _grower(self, children: int | str, height: int) -> Grower:
        settings = self._workspace.manifest["tree"]["settings"]
        known = {f.name: settings[f.name] for f in fields(TreeOptions) if f.name in settings}
        options = replace(
            TreeOptions(**known),
            children=children, height=height,
        )  # fmt: skip
        corpus = self._workspace.corpus
        grower = Grower(
            list(corpus.shards()), corpus.vocabulary["occurrences"].to_numpy(), options,
            self._engine, self._shares, self._progress, self._memory // 2, None, self.tree,
        )  # fmt: skip
        grower.taken = {path.name for path in (self._workspace.path / "tree" / "splits").iterdir()}
        return grower

    def expand(
        self, topic: str, children: int | str, height: int, *, fresh: bool = False
    ) -> list[str]:
        """Split a topic by the fine topics it has, or anew; pinned children stay."""
        node = self.tree.nodes[self.id(topic)]
        pinned = [name for name in node.children if self.tree.nodes[name].pinned]
        others = [name for name in node.children if name not in pinned]
        parts = node.parts
        if pinned:
            if not others:
                raise UsageError(f"{topic}: all its children are pinned; unpin one first")
            parts = revise.combined(self.tree.nodes[name].parts for name in others)
        wanted = children
        if isinstance(children, int):
            wanted = children - len(pinned)
            if wanted < 2:  # noqa: PLR2004
                raise UsageError(f"{topic}: --children must leave two beside the pinned ones")
        for name in others:
            for below in [name, *revise.descendants(self.tree, name)]:
                del self.tree.nodes[below]
        node.children = list(pinned)
        grower = self._grower(wanted, node.level + height)
        with self._shares:
            if self._one_group(parts) and len(parts[0].fine) >= grower.enough and not fresh:
                grower.grow(grower.cut(node, parts[0]))
            else:
                grower.split(node, parts)
        if len(node.children) == len(pinned):
            raise UsageError(f"{topic}: cannot be split: {node.reason}")
        revise.reorder(self.tree)
        return self._new()

    def _one_group(self, parts: list[Part]) -> bool:
        """Whether a mass is one branch of a dendrogram, so that it can be cut."""
        if len(parts) != 1:
            return False
        [part] = parts
        return len(inside(self.tree.splits[part.split].merges, part.fine)) == len(part.fine) - 1

    def _new(self) -> list[str]:
        """Topics that were not there before; one that was is what it was."""
        fresh = []
        for name, node in self.tree.nodes.items():
            old = self._paths.nodes.get(name)
            if old is not None and old.words is node.words:
                continue
            if old is None or not np.array_equal(old.words, node.words):
                fresh.append(name)
            else:  # the same fine topics again: the same topic
                self.tree.nodes[name] = replace(
                    old, children=node.children, reason=node.reason, alpha0=node.alpha0
                )
        return fresh

    def complete(self, touched: Sequence[str]) -> None:
        """Numbers, words and phrases of the topics whose mass has changed."""
        if touched:
            self._describe(touched)
        nodes = self.tree.nodes
        for node in nodes.values():
            node.children.sort(key=lambda name: (-nodes[name].weight, name))

    def _describe(self, touched: Sequence[str]) -> None:
        corpus, nodes = self._workspace.corpus, self.tree.nodes
        occurrences = corpus.vocabulary["occurrences"].to_numpy()
        kept = thinning(occurrences, self._workspace.manifest["tree"]["settings"]["thin"])
        for name in touched:
            words = revise.mixed_words(self.tree, nodes[name].parts, kept.astype(np.float64))
            nodes[name].words = words
        self._grower("auto", 0).finish(set(touched))
        parents = {str(nodes[name].parent) for name in touched}
        self._workspace.phrasebook.describe(
            nodes, [name for name in nodes if name in parents],
            lambda first, size: document_shares(self.tree, self._shares, first, size),
            self._engine, self._progress, set(touched),
        )  # fmt: skip

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
    return Change(what, added, changed, removed, kept, nodes)


def _differs(before: Topic, after: Node) -> bool:
    """Whether a topic is not the same any more; where it stands in the tree does not count."""
    same = (before.label or "", before.pinned) == (after.label, after.pinned)
    return not same or node_sha256(after) != before.sha256


def _copied(node: Node) -> Node:
    return replace(node, parts=list(node.parts), children=list(node.children))
