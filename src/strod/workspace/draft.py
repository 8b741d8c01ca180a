"""A tree that is being changed: what the verbs do to it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.grouping import inside
from strod.model.options import TreeOptions
from strod.model.placed import DocumentShares
from strod.store.schema import as_json
from strod.store.splits import DiskShareStore
from strod.tree import revise
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
from strod.tree.revise import Plan
from strod.values.topic import Component, number_children
from strod.workspace.change import compared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from strod.engine.protocol import Engine
    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.values.topic import Node
    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = ["TreeDraft"]

ROUNDING = 1e-9


class TreeDraft:
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
        self._shares = DiskShareStore(staging, workspace.corpus.segments, workspace.tree.saved)

    def id(self, topic: str) -> str:
        """Id of a topic that was given by path or id."""
        return self._paths.find(topic).id

    def refuse_taken(self, label: str, name: str) -> None:
        """Refuse a name that another topic has: it could be used for neither of them."""
        for topic in self._paths.named(label) if label.strip() else ():
            if topic.id != name:
                raise UsageError(f"{label}: {topic.path} has this name; give another")
        if label.strip() in self.tree.nodes:
            raise UsageError(f"{label}: is the id of a topic; give another name")

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
        parts = node.components
        if pinned:
            if not others:
                raise UsageError(f"{topic}: all its children are pinned; unpin one first")
            parts = revise.combined(self.tree.nodes[name].components for name in others)
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
                pending = {one.id: one.components for one in children_now if not one.reason}
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

    def _known_part(self, parts: list[Component], wanted: int) -> Component | None:
        """A mass as one branch of a dendrogram, so that it can be cut; its own one first."""
        found = [
            Component(name, list(range(split.topics.size)))
            for name, split in self.tree.splits.items()
            if split.components == parts
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
            nodes[name].words = revise.mixed_words(self.tree, nodes[name].components, retention)
        finish(self.tree, ground, set(counted), weighed)
        parents = {str(nodes[name].parent) for name in counted}
        around = revise.surroundings(self.tree, parents)
        self._workspace.phrase_index.describe(
            nodes,
            [name for name in nodes if name in parents],
            DocumentShares(model_of(self.tree, ground), self._shares.kept(), around),
            self._engine,
            self._progress,
            set(counted),
        )

    def change(self, what: str) -> Change:
        """Compare with what was there before."""
        return compared(what, self._paths, self.tree.nodes)


def _copied(node: Node) -> Node:
    return replace(node, components=list(node.components), children=list(node.children))
