"""Growing a tree level by level: all nodes of a level share each pass over the documents.

A level takes two passes, however many topics it has: one gathers a sample of the topical
counts of every node that is to be split, one places all documents in the new splits. A last
one chooses the words that head the topics.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.tree.grouping import cut
from strod.tree.ranking import head_words
from strod.tree.revise import mass_weight, mixed_words
from strod.tree.sampling import ENOUGH, root_counts, thinning
from strod.tree.shares import Masses, TopicShares, local_shares, paths
from strod.tree.split import NotSplit, Split, split_node
from strod.tree.topic import ROOT, Node, Part, child_id, number_children, seed_of
from strod.tree.walk import Walk, blocks
from strod.work import Serial

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.progress import Progress
    from strod.tree.inference import Shares
    from strod.tree.options import TreeOptions
    from strod.tree.shares import Book
    from strod.tree.walk import Documents, Rows
    from strod.work import Engine

    Array = NDArray[np.float64]
    Splitter = Callable[[Node, list[Counts], Engine], Split]

__all__ = ["Grower", "Grown", "count_documents", "document_shares", "grow", "measured"]

COUNT_BYTES = 56  # of a topical count in memory, with what is derived from it
HELD_BYTES = 12  # of one that is kept for the next pass
SMALL = 64 << 20  # bytes that are always there
TENSORS = 10  # copies of the tensor of a node, at the worst moment
BELOW = 0.25  # of the sample of the root: topics below it are told apart by less
SPREAD = 1.5  # times its weight: the counts that a topic has a share in


@dataclass
class Grown:
    """A tree.

    Attributes
    ----------
    nodes : dict of Node
        By id, parents before children.
    splits : dict of Split
        By the id of the topic that was decomposed.
    passes : int
        Passes over the documents.
    learning : dict of dict
        Of each decomposition that a baseline made: iterations, what they took, seconds in all.
    """

    nodes: dict[str, Node]
    splits: dict[str, Split] = field(default_factory=dict)
    passes: int = 0
    learning: dict[str, dict[str, float]] = field(default_factory=dict)


def grow(
    shards: Sequence[Documents],
    occurrences: NDArray[np.int64],
    options: TreeOptions,
    engine: Engine,
    book: Book,
    progress: Progress,
    *,
    memory: int = 1 << 30,
    splitter: Splitter | None = None,
) -> Grown:
    """Grow a tree over the documents of `shards`.

    Parameters
    ----------
    shards : sequence of Documents
        All documents, in their order.
    occurrences : ndarray of shape (V,)
        How often each word occurs.
    options : TreeOptions
        What to grow.
    engine : Engine
        Maps over shards, blocks and nodes.
    book : Book
        Takes the shares of the documents.
    progress : Progress
        Is told how far the work is.
    memory : int
        Bytes that the samples of a level may take; a level that needs more is gathered in
        several passes.
    splitter : callable, optional
        Decomposes a node instead of `split_node`: a method of the paper.
    """
    grower = Grower(shards, occurrences, options, engine, book, progress, memory, splitter)
    return grower.run()


class Grower:
    """The state of a growing tree."""

    def __init__(
        self,
        shards: Sequence[Documents],
        occurrences: NDArray[np.int64],
        options: TreeOptions,
        engine: Engine,
        book: Book,
        progress: Progress,
        memory: int = 1 << 30,
        splitter: Splitter | None = None,
        tree: Grown | None = None,
    ) -> None:
        self.shards, self.options, self.engine = shards, options, engine
        self.book, self.progress, self.memory = book, progress, memory
        self.kept = thinning(occurrences, options.thin)
        self.splitter = splitter or self._split
        self.documents = sum(shard.size for shard in shards)
        self.counts = sum(shard.counts.nnz for shard in shards)
        words = occurrences / max(int(occurrences.sum()), 1)
        self.tree = tree or Grown({ROOT: Node(ROOT, None, 0, [], words)})
        by_word = options.topical == "word"
        self.walk = Walk(self.tree.splits, book, by_word)
        self.rate = self._rate()
        self.masses: dict[str, list[Part]] = {}
        self.taken: set[str] = set()  # names of decompositions that only other revisions have

    def _rate(self) -> float:
        """Share of the documents that the root is learnt from."""
        wanted = self.options.sample
        if isinstance(wanted, int):
            return min(1.0, wanted / max(self.documents, 1))
        return 1.0 if wanted == "all" else min(1.0, ENOUGH / max(self.counts, 1))

    def _check_memory(self, node: Node) -> None:
        """Refuse what cannot fit: the sample of the root, or the tensor of a wide node."""
        ahead = self.options.ahead(node.id)
        fine = min(self.options.most(ahead=ahead), len(self.kept))
        sample = self.rate * (self.counts * COUNT_BYTES + self.documents * fine * 4)
        sample = 0.0 if self.options.sample == "auto" else sample
        tensor = TENSORS * 8 * fine**3
        for need, what, remedy in (
            (sample, f"`sample` {self.options.sample}", "a smaller one or more `memory`"),
            # Revisions have no --memory, and a tensor grows by the cube.
            (tensor, f"a node with {fine} fine topics", "fewer `children` or `width`"),
        ):
            if need > max(self.memory, SMALL):
                raise UsageError(
                    f"{what} needs {need / 1e9:.1f} GB and there is room for "
                    f"{self.memory / 1e9:.1f} GB; give {remedy}"
                )

    def run(self) -> Grown:
        """Grow the whole tree."""
        root = self.tree.nodes[ROOT]
        root.reason = "" if self.options.height else "height"
        if self.options.height:
            self.split(root)
        self.finish(list(self.tree.nodes))
        return self.tree

    def split(self, node: Node, parts: list[Part] | None = None) -> None:
        """Decompose a topic, or some parts of it, and so on below it."""
        self._check_memory(node)
        self.masses[node.id] = node.parts if parts is None else parts
        self.grow([node])

    def grow(self, pending: list[Node]) -> None:
        """Gather, decompose, cut, place; until no topic is left that may be split."""
        while pending:
            for node in pending:
                self.masses.setdefault(node.id, node.parts)
            fresh: list[tuple[Node, str]] = []
            batches = list(self._batches(pending))
            hold = len(batches) == 1 and HELD_BYTES * SPREAD * self.counts < self.memory / 4
            for batch in batches:
                fresh += self._decompose(batch, self._gather(batch, hold=hold))
            pending = [child for node, name in fresh for child in self.expand(node, name)]
            self._place([name for _, name in fresh])
        self.walk.held.clear()

    def _batches(self, pending: list[Node]) -> Iterator[list[Node]]:
        """As many nodes at a time as the memory has room for."""
        batch: list[Node] = []
        room = self.memory
        for node in pending:
            share = min(1.0, SPREAD * self._share(node)) * self._rate_of(node)
            need = int(share * self.counts * COUNT_BYTES)
            if batch and need > room:
                yield batch
                batch, room = [], self.memory
            batch.append(node)
            room -= need
        yield batch

    def _rate_of(self, node: Node) -> float:
        """Share of the documents that a topic is learnt from: the smaller, the larger."""
        share = max(self._share(node), 1e-9)
        if node.id == ROOT or self.options.sample != "auto":
            return min(1.0, self.rate / share)
        return min(1.0, BELOW * ENOUGH / max(float(self.counts) * share, 1.0))

    def _share(self, node: Node) -> float:
        """What is known of a topic's weight before it is placed."""
        return mass_weight(self.tree, self.masses[node.id])

    def _gather(self, pending: list[Node], *, hold: bool) -> dict[str, list[Counts]]:
        """One pass: a sample of the topical counts of every node that is to be split."""
        self.progress.stage("sampling", self.documents, "documents")
        rates = {node.id: self._rate_of(node) for node in pending}
        masses = {node.id: self.masses[node.id] for node in pending}
        samples: dict[str, list[Counts]] = {node.id: [] for node in pending}

        def visit(shard: Documents) -> tuple[int, dict[str, Counts]]:
            counts = self._root_counts(shard)
            return shard.size, self.walk.gather(shard, counts, masses, rates, hold=hold)

        for size, parts in self.engine.map(visit, self.shards):
            for name, part in parts.items():
                samples[name].append(part)
            self.progress.advance(size)
        self.tree.passes += 1
        return samples

    def _root_counts(self, shard: Documents) -> Counts:
        return root_counts(shard.counts, self.kept, self.options.clip)

    def _split(self, node: Node, parts: list[Counts], engine: Engine) -> Split:
        random = np.random.default_rng(seed_of(self.options.seed, node.id))
        ahead = self.options.ahead(node.id)
        return split_node(blocks(parts), len(self.kept), self.options, random, engine, ahead=ahead)

    def _decompose(
        self, pending: list[Node], samples: dict[str, list[Counts]]
    ) -> list[tuple[Node, str]]:
        """Split every pending node; those that cannot be split become leaves."""
        self.progress.stage("learning topics", len(pending), "nodes")
        alone = len(pending) == 1 or self.options.method != "strod"  # dense moments are large
        outer, inner = (Serial(), self.engine) if alone else (self.engine, Serial())

        def attempt(node: Node) -> Split | str:
            try:
                return self.splitter(node, samples.pop(node.id), inner)
            except NotSplit as leaf:
                return str(leaf)

        fresh = []
        for node, result in zip(pending, outer.map(attempt, pending), strict=True):
            self.progress.advance(1)
            if isinstance(result, str):
                node.reason = result
                continue
            name = self._free_name(node.id)
            self.tree.splits[name] = replace(result, parts=self.masses[node.id])
            fresh.append((node, name))
        return fresh

    def _free_name(self, topic: str) -> str:
        """Name of a decomposition of a topic: its id, with a number if there were others."""
        names = (topic if n == 1 else f"{topic}-{n}" for n in count(1))
        return next(n for n in names if n not in self.tree.splits and n not in self.taken)

    def expand(self, top: Node, name: str) -> list[Node]:
        """Children of a decomposed topic; returns those that are to be decomposed, too."""
        size = self.tree.splits[name].topics.size
        return self.cut(top, Part(name, list(range(size))), size)

    def cut(self, top: Node, part: Part, k: int) -> list[Node]:
        """Make `k` children of a topic from some topics of a decomposition.

        Returns those that need a decomposition of their own.
        """
        top.alpha0, top.reason = self.tree.splits[part.split].alpha0, ""
        children = self._children(top, part, k)
        if top.level + 1 < self.options.height:
            return children
        for child in children:
            child.reason = "height"
        return []

    def _children(self, node: Node, part: Part, k: int) -> list[Node]:
        split, fine = self.tree.splits[part.split], part.fine
        weights = split.overlap.weights
        whole = weights[fine].sum()
        groups = cut(split.merges, fine, k)
        groups.sort(key=lambda group: (-weights[group].sum(), group))
        fresh = []
        for group in groups:
            share = float(weights[group].sum() / whole)
            child = Node(
                child_id(node.id, group, split.digest), node.id, node.level + 1,
                [Part(part.split, group)], self._words([Part(part.split, group)]),
                node.weight * share,
                split.alpha0 * share,
            )  # fmt: skip
            self.tree.nodes[child.id] = child
            node.children.append(child.id)
            fresh.append(child)
        return fresh

    def _words(self, parts: list[Part]) -> Array:
        return mixed_words(self.tree, parts, self.kept.astype(np.float64))

    def _place(self, fresh: list[str]) -> None:
        """One pass: the shares of all documents in the new splits."""
        if not fresh:
            return
        self.progress.stage("placing documents", self.documents, "documents")

        def visit(shard: Documents) -> list[Shares]:
            placed = self.walk.place(shard, self._root_counts(shard), fresh)
            return [placed[owner] for owner in fresh]

        for shard, found in zip(self.shards, self.engine.map(visit, self.shards), strict=True):
            for owner, shares in zip(fresh, found, strict=True):
                self.book.append(owner, shares)
            self.progress.advance(shard.size)
        for owner in fresh:
            self.book.close(owner)
        self.tree.passes += 1

    def finish(self, fresh: Collection[str], weighed: Collection[str] = ()) -> None:
        """Documents of all topics, head words of new ones and their weights.

        The weights of those in `weighed` are known.
        """
        unknown = set(fresh) - set(weighed)
        count_documents(self.tree, self.shards, self.book, self.engine, unknown)
        nodes = self.tree.nodes
        for name in {nodes[name].parent for name in fresh} - {None}:
            nodes[str(name)].children.sort(key=lambda name: (-nodes[name].weight, name))
        number_children(nodes)
        kept = self.kept.astype(np.float64)
        head_words(self.shards, nodes, fresh, kept, self.engine)
        self.tree.passes += len(nodes) > 1


def count_documents(
    tree: Grown, shards: Sequence[Rows], book: Book, engine: Engine, fresh: Collection[str]
) -> None:
    """Weights of the topics `fresh`, and for all how many documents' paths lead there."""
    nodes = tree.nodes
    weights, documents = np.zeros(len(nodes)), np.zeros(len(nodes), dtype=np.int64)

    def visit(shard: Rows) -> tuple[Array, NDArray[np.int64]]:
        shares = document_shares(tree, book, shard.first, shard.size)
        found = np.stack(paths(nodes, ROOT, shares))
        counted = np.bincount(found[found >= 0], minlength=len(nodes))
        return np.array([shares[name].sum() for name in nodes]), counted

    for weight, counted in engine.map(visit, shards):
        weights += weight
        documents += counted
    for node, number in zip(nodes.values(), documents.tolist(), strict=True):
        node.documents = number
    _weigh(nodes, dict(zip(nodes, weights.tolist(), strict=True)), fresh)


def measured(
    tree: Grown,
    shards: Sequence[Rows],
    book: Book,
    engine: Engine,
    masses: Mapping[str, list[Part]],
) -> dict[str, float]:
    """Sum over all documents of their shares in some masses, by name."""
    total = np.zeros(len(masses))

    def visit(shard: Rows) -> Array:
        def local(name: str) -> Array:
            found = book.read(name, shard.first, shard.size)
            return local_shares(found, tree.splits[name].overlap.weights)

        known = Masses(tree.splits, local, shard.size)
        return np.array([known.of(parts).sum() for parts in masses.values()])

    for part in engine.map(visit, shards):
        total += part
    return dict(zip(masses, total.tolist(), strict=True))


def _weigh(nodes: dict[str, Node], masses: dict[str, float], fresh: Collection[str]) -> None:
    """Divide what a topic weighs, less its other children, among those that are fresh.

    Without other documents since, this is the mean of the documents' shares; with some, topics
    that are not fresh keep their weights and children add up to their parent all the same.
    """
    for node in nodes.values():  # parents before children
        some = [name for name in node.children if name in fresh]
        others = sum(nodes[name].weight for name in node.children if name not in fresh)
        total = sum(masses[name] for name in some)
        for name in some:
            share = masses[name] / total if total else 1 / len(some)
            nodes[name].weight = max(node.weight - others, 0.0) * share


def document_shares(
    tree: Grown, book: Book, first: int, size: int, only: Collection[str] | None = None
) -> TopicShares:
    """Shares of all topics, or `only` of some, in some documents."""

    def local(name: str) -> Array:
        return local_shares(book.read(name, first, size), tree.splits[name].overlap.weights)

    nodes = tree.nodes if only is None else {name: tree.nodes[name] for name in only}
    return TopicShares(nodes, Masses(tree.splits, local, size))
