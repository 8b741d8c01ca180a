"""Growing a tree level by level: all nodes of a level share each pass over the documents.

A first pass gathers a sample of the topical counts of the root. Then each level takes one pass,
however many topics it has: it places all documents in the new decompositions, and gathers samples
of the topics that are to be split next. Two more find what topics weigh and which words head them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.decompose import POWER, NotSplit
from strod.model.grouping import cut
from strod.model.model import Model
from strod.model.sampling import ENOUGH
from strod.passes.decompose import Sample, decompose
from strod.passes.place import Wanted, place
from strod.passes.weigh import measure, weigh
from strod.tree.revise import mass_weight, mixed_words
from strod.tree.top_words import find_top_words
from strod.values.shares import structure
from strod.values.topic import ROOT, Component, Node, child_id, number_children

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.options import TreeOptions
    from strod.model.placed import Documents, Ref
    from strod.moments.counts import Counts
    from strod.progress import Progress
    from strod.tensor.power import Power
    from strod.values.shares import ShareStore
    from strod.values.split import Decomposition

    Array = NDArray[np.float64]
    Splitter = Callable[[Node, list[Counts]], Decomposition]

__all__ = [
    "Ground",
    "Grown",
    "deepen",
    "expand",
    "finish",
    "grow",
    "grow_tree",
    "make_children",
    "measured",
    "model_of",
    "split",
]

COUNT_BYTES = 56  # of a topical count in memory, with what is derived from it
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
    splits : dict of Decomposition
        By the id of the topic that was decomposed.
    passes : int
        Passes over the documents.
    learning : dict of dict
        Of each decomposition that a baseline made: iterations, what they took, seconds in all.
    """

    nodes: dict[str, Node]
    splits: dict[str, Decomposition] = field(default_factory=dict)
    passes: int = 0
    learning: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ground:
    """What a tree grows on, and how.

    Attributes
    ----------
    refs : sequence of Ref
        All documents, in their order.
    retention : ndarray of shape (V,), float32
        Share of a word's tokens that is kept.
    options : TreeOptions
        What to grow.
    engine : Engine
        Maps over documents and nodes.
    book : ShareStore
        Takes the shares of the documents.
    progress : Progress
        Is told how far the work is.
    memory : int
        Bytes that the samples of a level may take; a level that needs more is gathered in
        several passes.
    splitter : callable, optional
        Decomposes a node instead of `split_node`: a method of the paper.
    power : Power
        Iterations of the tensor power method.
    taken : collection of str
        Names of decompositions that only other revisions have.
    """

    refs: Sequence[Ref[Documents]]
    retention: NDArray[np.float32]
    options: TreeOptions
    engine: Engine
    book: ShareStore
    progress: Progress
    memory: int = 1 << 30
    splitter: Splitter | None = None
    power: Power = POWER
    taken: Collection[str] = ()

    @cached_property
    def documents(self) -> int:
        """How many there are."""
        return sum(ref.size for ref in self.refs)

    @cached_property
    def counts(self) -> int:
        """Words of documents, each once."""
        return sum(ref.open().counts.nnz for ref in self.refs)

    @cached_property
    def rate(self) -> float:
        """Share of the documents that the root is learnt from."""
        wanted = self.options.sample
        if isinstance(wanted, int):
            return min(1.0, wanted / max(self.documents, 1))
        return 1.0 if wanted == "all" else min(1.0, ENOUGH / max(self.counts, 1))


def grow(ground: Ground, occurrences: NDArray[np.int64]) -> Grown:
    """Grow a tree over documents whose words occur so many times."""
    words = occurrences / max(int(occurrences.sum()), 1)
    return grow_tree(Grown({ROOT: Node(ROOT, None, 0, [], words)}), ground)


def grow_tree(tree: Grown, ground: Ground) -> Grown:
    """Grow a tree that is a root so far."""
    root = tree.nodes[ROOT]
    root.reason = "" if ground.options.height else "height"
    if ground.options.height:
        split(tree, ground, root)
    finish(tree, ground, list(tree.nodes))
    return tree


def model_of(tree: Grown, ground: Ground) -> Model:
    """The model as far as the tree has grown."""
    by_word = ground.options.topical == "word"
    topics = structure(tree.nodes)
    return Model(ground.retention, ground.options.clip, by_word, dict(tree.splits), topics)


def split(
    tree: Grown, ground: Ground, node: Node, parts: list[Component] | None = None
) -> list[str]:
    """Decompose a topic, or some parts of it, and so on below it; returns the new topics."""
    _check_memory(ground, node)
    return deepen(tree, ground, {node.id: node.components if parts is None else parts})


def _check_memory(ground: Ground, node: Node) -> None:
    """Refuse what cannot fit: the sample of the root, or the tensor of a wide node."""
    options, memory = ground.options, ground.memory
    fine = min(options.most(ahead=options.ahead(node.id)), len(ground.retention))
    sample = ground.rate * (ground.counts * COUNT_BYTES + ground.documents * fine * 4)
    sample = 0.0 if options.sample == "auto" else sample
    tensor = TENSORS * 8 * fine**3
    for need, what, remedy in (
        (sample, f"`sample` {options.sample}", "a smaller one or more `memory`"),
        # Revisions have no --memory, and a tensor grows by the cube.
        (tensor, f"a node with {fine} fine topics", "fewer `children` or `width`"),
    ):
        if need > max(memory, SMALL):
            raise UsageError(
                f"{what} needs {need / 1e9:.1f} GB and there is room for "
                f"{memory / 1e9:.1f} GB; give {remedy}"
            )


def deepen(tree: Grown, ground: Ground, pending: Mapping[str, list[Component]]) -> list[str]:
    """Decompose topics, each given with what it is made of, and those below; returns the new.

    Gather, decompose, make children; then place and gather in one pass, until no topic is left
    that may be split.
    """
    new: list[str] = []
    fresh: list[str] = []
    while pending or fresh:
        done: dict[str, str] = {}
        for batch in _batches(tree, ground, pending):
            samples = _visit(tree, ground, fresh, batch)
            fresh = []
            done |= _decompose(tree, ground, batch, samples)
        fresh = list(done.values())
        children = [one for top in done for one in expand(tree, ground, top, done[top])]
        new += [child.id for child in children]
        pending = {child.id: child.components for child in children if not child.reason}
    return new


def _batches(
    tree: Grown, ground: Ground, pending: Mapping[str, list[Component]]
) -> Iterator[dict[str, list[Component]]]:
    """As many topics at a time as the memory has room for."""
    batch: dict[str, list[Component]] = {}
    room = ground.memory
    for topic, parts in pending.items():
        share = min(1.0, SPREAD * mass_weight(tree, parts)) * _rate_of(tree, ground, topic, parts)
        need = int(share * ground.counts * COUNT_BYTES)
        if batch and need > room:
            yield batch
            batch, room = {}, ground.memory
        batch[topic] = parts
        room -= need
    yield batch


def _rate_of(tree: Grown, ground: Ground, topic: str, parts: list[Component]) -> float:
    """Share of the documents that a topic is learnt from: the smaller, the larger."""
    share = max(mass_weight(tree, parts), 1e-9)
    if topic == ROOT or ground.options.sample != "auto":
        return min(1.0, ground.rate / share)
    return min(1.0, BELOW * ENOUGH / max(float(ground.counts) * share, 1.0))


def _visit(
    tree: Grown, ground: Ground, fresh: Sequence[str], masses: Mapping[str, list[Component]]
) -> dict[str, list[Counts]]:
    """One pass: shares of all documents in what is fresh, and samples of some topics."""
    ground.progress.stage(
        "placing documents" if fresh else "sampling", ground.documents, "documents"
    )
    wanted = [
        Wanted(parts, _rate_of(tree, ground, topic, parts)) for topic, parts in masses.items()
    ]
    samples: dict[str, list[Counts]] = {topic: [] for topic in masses}
    given = model_of(tree, ground), ground.book.kept(), fresh, wanted
    for ref, found in zip(ground.refs, ground.engine.map(place, ground.refs, *given), strict=True):
        for owner, shares in zip(fresh, found.shares, strict=True):
            ground.book.append(owner, shares)
        for parts, part in zip(samples.values(), found.samples, strict=True):
            parts.append(part)
        ground.progress.advance(ref.size)
    for owner in fresh:
        ground.book.close(owner)
    tree.passes += 1
    return samples


def _decompose(
    tree: Grown,
    ground: Ground,
    masses: Mapping[str, list[Component]],
    samples: dict[str, list[Counts]],
) -> dict[str, str]:
    """Split topics; those that cannot be split become leaves. Returns names of decompositions."""
    if not masses:
        return {}
    ground.progress.stage("learning topics", len(masses), "nodes")
    done = {}
    for topic, result in zip(masses, _found(tree, ground, samples), strict=True):
        ground.progress.advance(1)
        if isinstance(result, str):
            tree.nodes[topic].reason = result
            continue
        done[topic] = _free_name(tree, ground, topic)
        tree.splits[done[topic]] = replace(result, components=masses[topic])
    return done


def _found(
    tree: Grown, ground: Ground, samples: dict[str, list[Counts]]
) -> Iterator[Decomposition | str]:
    """Decompositions, or why there are none; a sample is let go as soon as it is taken."""
    topics = list(samples)
    if ground.splitter is None:
        threads = ground.engine.workers if len(topics) == 1 else 1
        items = (Sample(topic, samples.pop(topic)) for topic in topics)
        given = len(ground.retention), ground.options, threads, ground.power
        yield from ground.engine.map(decompose, items, *given)
        return
    for topic in topics:  # dense moments are large
        try:
            yield ground.splitter(tree.nodes[topic], samples.pop(topic))
        except NotSplit as leaf:
            yield str(leaf)


def _free_name(tree: Grown, ground: Ground, topic: str) -> str:
    """Name of a decomposition of a topic: its id, with a number if there were others."""
    names = (topic if n == 1 else f"{topic}-{n}" for n in count(1))
    return next(n for n in names if n not in tree.splits and n not in ground.taken)


def expand(tree: Grown, ground: Ground, topic: str, name: str) -> list[Node]:
    """Children of a topic, one for each topic that it was decomposed into."""
    size = tree.splits[name].topics.size
    return make_children(tree, ground, tree.nodes[topic], Component(name, list(range(size))), size)


def make_children(tree: Grown, ground: Ground, top: Node, part: Component, k: int) -> list[Node]:
    """Make `k` children of a topic from some topics of a decomposition.

    Those that need a decomposition of their own have no reason to be leaves.
    """
    found, fine = tree.splits[part.split], part.fine
    top.alpha0, top.reason = found.alpha0, ""
    weights = found.overlap.weights
    whole = weights[fine].sum()
    groups = cut(found.merges, fine, k)
    groups.sort(key=lambda group: (-weights[group].sum(), group))
    children = []
    for group in groups:
        share, parts = float(weights[group].sum() / whole), [Component(part.split, group)]
        child = Node(
            id=child_id(top.id, group, found.digest),
            parent=top.id,
            level=top.level + 1,
            components=parts,
            words=mixed_words(tree, parts, ground.retention.astype(np.float64)),
            weight=top.weight * share,
            alpha=found.alpha0 * share,
            reason="" if top.level + 1 < ground.options.height else "height",
        )
        tree.nodes[child.id] = child
        top.children.append(child.id)
        children.append(child)
    return children


def finish(
    tree: Grown, ground: Ground, fresh: Collection[str], weighed: Collection[str] = ()
) -> None:
    """Documents of all topics, head words of new ones and their weights.

    The weights of those in `weighed` are known.
    """
    _count_documents(tree, ground, set(fresh) - set(weighed))
    nodes = tree.nodes
    for name in {nodes[name].parent for name in fresh} - {None}:
        nodes[str(name)].children.sort(key=lambda name: (-nodes[name].weight, name))
    number_children(nodes)
    retention = ground.retention.astype(np.float64)
    find_top_words(ground.refs, nodes, fresh, retention, ground.engine)
    tree.passes += len(nodes) > 1


def _count_documents(tree: Grown, ground: Ground, fresh: Collection[str]) -> None:
    """Weights of the topics `fresh`, and for all how many documents' paths lead there."""
    nodes, model, kept = tree.nodes, model_of(tree, ground), ground.book.kept()
    weights, documents = np.zeros(len(nodes)), np.zeros(len(nodes), dtype=np.int64)
    for weight, counted in ground.engine.map(weigh, ground.refs, model, kept):
        weights += weight
        documents += counted
    for node, number in zip(nodes.values(), documents.tolist(), strict=True):
        node.documents = number
    _weigh(nodes, dict(zip(nodes, weights.tolist(), strict=True)), fresh)


def measured(
    tree: Grown, ground: Ground, masses: Mapping[str, list[Component]]
) -> dict[str, float]:
    """Sum over all documents of their shares in some masses, by name."""
    given = model_of(tree, ground), ground.book.kept(), list(masses.values())
    total = np.zeros(len(masses))
    for part in ground.engine.map(measure, ground.refs, *given):
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
