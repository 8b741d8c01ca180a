"""A tree that is being changed: what the verbs do to it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.options import TreeOptions
from strod.model.placed import DocumentShares
from strod.store.schema import as_json
from strod.store.splits import DiskShareStore
from strod.tree import revise
from strod.tree.grown import Grown
from strod.tree.revise import Legacy, Plan
from strod.values.shares import apart
from strod.values.topic import number_children
from strod.workspace.change import compared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from strod.engine.protocol import Engine
    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.tree.ground import Ground
    from strod.values.shares import Shares
    from strod.values.topic import Node
    from strod.workspace.change import Change
    from strod.workspace.expand import Shape
    from strod.workspace.workspace import Workspace

# Names, pins and what hangs where are changed without numba and scipy: what learns from documents
# or counts them is loaded by the verbs that do.

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
        from strod.tree.ground import Ground  # noqa: PLC0415 - see above

        settings = as_json(self._workspace.manifest.tree.settings)
        own = {"children": children, "height": height, "topics": 0, "least_documents": 0}
        options = TreeOptions(**settings | own)
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

    def ground(self, height: int) -> Ground:
        """The documents of the workspace, for topics down to a level."""
        return self._ground("auto", height)

    def keep(self, name: str, parts: Iterable[Shares]) -> None:
        """Take the shares of all documents in a decomposition that was made."""
        with self._shares:
            for part in parts:
                self._shares.append(name, part)
            self._shares.close(name)

    def remove(self, topic: str, into: str = "") -> Plan:
        """Dissolve a topic: every document's share goes where it fits, or all into one topic."""
        tree, name = self.tree, self.id(topic)
        parent = revise.parent_of(tree, name)
        if into:
            return self._remove_into(name, self.id(into))
        heirs = [child for child in parent.children if child != name]
        if not heirs:
            return revise.remove(tree, name, Legacy())
        return revise.remove(tree, name, self._divided(name, heirs, parent.id))

    def _remove_into(self, name: str, heir: str) -> Plan:
        """Move a topic beside the one that gets all of it, or below one that is to keep it."""
        tree = self.tree
        if heir in [name, *revise.descendants(tree, name)]:
            raise UsageError(f"{name}: cannot go into itself")
        home = heir if heir in revise.chain(tree, name) else str(tree.nodes[heir].parent)
        moved = Plan()
        if tree.nodes[name].parent != home:
            moved = revise.move(tree, name, home)
        if home != heir and tree.nodes[heir].children:
            legacy = self._divided(name, [heir], heir)
        else:
            legacy = revise.all_to(tree, name, heir)
        return revise.remove(tree, name, legacy).after(moved)

    def _divided(self, name: str, heirs: Sequence[str], keeper: str) -> Legacy:
        from strod.tree.dissolve import divided  # noqa: PLC0415 - see above

        with self._shares:
            return divided(self.tree, self._ground(), name, heirs, keeper)

    def expand(self, topic: str, shape: Shape) -> Plan:
        """Split a topic, or split it again; pinned children stay."""
        from strod.workspace.expand import Expansion  # noqa: PLC0415 - see above

        expansion = Expansion(self.tree, self._ground, self.id(topic), shape)
        with self._shares:
            return expansion.run()

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
        from strod.tree.ground import model_of  # noqa: PLC0415 - see above
        from strod.tree.weights import finish  # noqa: PLC0415

        nodes, ground = self.tree.nodes, self._ground()
        retention = ground.retention.astype(np.float64)
        for name in counted:
            nodes[name].words = revise.mixed_words(self.tree, nodes[name].components, retention)
        # Documents that leave topics of their own have a share of all others again, and so back.
        same = apart(self.tree.splits) == apart(self._paths.splits)
        before = self._paths.structure if same else None
        finish(self.tree, ground, set(counted), weighed, before)
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

    def change(self, what: str, plan: Plan) -> Change:
        """Compare with what was there before."""
        found = compared(what, self._paths, self.tree.nodes)
        return replace(found, effective=self.tree.effective, pinned=plan.pinned)


def _copied(node: Node) -> Node:
    return replace(node, components=list(node.components), children=list(node.children))
