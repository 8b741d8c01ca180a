"""Growing a tree level by level: all nodes of a level share each pass over the documents.

A first pass gathers a sample of the topical counts of the root. Then each level takes one pass,
however many topics it has: it places all documents in the new decompositions, and gathers samples
of the topics that are to be split next. Two more find what topics weigh and which words head them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.decompose import NotSplit
from strod.model.grouping import cut, inner_children, inside
from strod.passes.decompose import Sample, decompose
from strod.passes.place import Wanted, place
from strod.tree.affected import affected
from strod.tree.budget import chosen, gain
from strod.tree.ground import model_of
from strod.tree.grown import Grown
from strod.tree.revise import mass_weight, mixed_words
from strod.tree.weights import counted_documents, finish
from strod.values.shares import structure
from strod.values.topic import ROOT, Component, Node, child_id
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.tree.ground import Ground
    from strod.values.split import Decomposition

    Array = NDArray[np.float64]
    Splitter = Callable[[Node, list[Counts]], Decomposition]

__all__ = ["deepen", "expand", "free_name", "grow", "grow_tree", "make_children", "split"]

COUNT_BYTES = 56  # of a topical count in memory, with what is derived from it
SMALL = 64 << 20  # bytes that are always there
TENSORS = 10  # copies of the tensor of a node, at the worst moment
BELOW = 0.25  # of the sample of the root: topics below it are told apart by less
SPREAD = 1.5  # times its weight: the counts that a topic has a share in


def grow(ground: Ground, occurrences: NDArray[np.int64]) -> Grown:
    """Grow a tree over documents whose words occur so many times."""
    words = occurrences / max(int(occurrences.sum()), 1)
    return grow_tree(Grown({ROOT: Node(ROOT, None, 0, [], words)}), ground)


def grow_tree(tree: Grown, ground: Ground) -> Grown:
    """Grow a tree that is a root so far."""
    root = tree.nodes[ROOT]
    root.reason = "" if ground.options.height else "height"
    if ground.options.height and ground.options.topics:
        _grow_within(tree, ground)
    elif ground.options.height:
        split(tree, ground, root)
    finish(tree, ground, list(tree.nodes))
    return tree


def _grow_within(tree: Grown, ground: Ground) -> None:
    """Split the root and what is below it as far as the budget of topics goes.

    Topics are decomposed before it is known whether they are split; all that may be needed
    are decomposed at once. What is not needed in the end is taken away.
    """
    root = tree.nodes[ROOT]
    _check_memory(ground, root)
    parts: dict[str, Component] = {}  # what each topic that was decomposed is cut from
    placed: set[str] = set()
    gains: dict[str, float] = {}
    pending = {ROOT: root.components}
    while pending:
        above = {parts[str(tree.nodes[t].parent)].split for t in pending if t != ROOT} - placed
        placed |= above
        made = [one for one in pending if _is_made_of_enough(tree, ground, one)]
        done = _decomposed(tree, ground, pending, sorted(above), made)
        parts |= done
        for topic, part in done.items():
            _cut(tree, ground, topic, part)
        if ground.options.least_documents and done:
            _with_enough(tree, ground, done)
            placed |= {part.split for part in done.values()}
        gains |= {topic: gain(tree.nodes, topic) for topic in done if tree.nodes[topic].children}
        split, unknown = chosen(tree.nodes, gains, ground.options.topics)
        pending = {topic: tree.nodes[topic].components for topic in unknown}
    if gains and not split:
        what = f"`topics` {ground.options.topics}: the root alone has {len(root.children)} children"
        raise UsageError(f"{what}; give at least as many, or fewer `children`")
    for topic in sorted(gains.keys() - set(split), key=lambda one: -tree.nodes[one].level):
        _forget_children(tree, topic)
        _make_leaf(tree, ground, topic, parts[topic])
    for node in tree.nodes.values():
        node.reason = node.reason or ("" if node.children else "topics")
    used = dict.fromkeys(parts[topic].split for topic in split)
    if rest := [name for name in used if name not in placed]:
        _visit(tree, ground, rest, {})


def split(
    tree: Grown, ground: Ground, node: Node, parts: list[Component] | None = None
) -> list[str]:
    """Decompose a topic, or some parts of it, and so on below it; returns the new topics."""
    _check_memory(ground, node)
    pending = {node.id: node.components if parts is None else parts}
    return deepen(tree, ground, pending, anew=True)


def _check_memory(ground: Ground, node: Node) -> None:
    """Refuse what cannot fit: the sample of the root, or the tensor of a wide node."""
    options, memory = ground.options.at(node.level), ground.memory
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


def deepen(
    tree: Grown, ground: Ground, pending: Mapping[str, list[Component]], *, anew: bool = False
) -> list[str]:
    """Decompose topics, each given with what it is made of, and those below; returns the new.

    Gather, decompose, make children; then place and gather in one pass, until no topic is left
    that may be split. A topic that is made of enough fine topics is cut into those, but not if
    it is to be learnt `anew`.
    """
    new: list[str] = []
    fresh: list[str] = []
    while pending or fresh:
        made = [] if anew else [one for one in pending if _is_made_of_enough(tree, ground, one)]
        done = _decomposed(tree, ground, pending, fresh, made)
        fresh, anew = _own(tree, done), False
        children = [one for top in done for one in _cut(tree, ground, top, done[top])]
        if ground.options.least_documents and done:
            children, fresh = _with_enough(tree, ground, done), []
        new += [child.id for child in children]
        pending = {child.id: child.components for child in children if not child.reason}
    return new


def _decomposed(
    tree: Grown,
    ground: Ground,
    pending: Mapping[str, list[Component]],
    fresh: list[str],
    made: Sequence[str],
) -> dict[str, Component]:
    """Place documents in what is fresh and decompose topics; what each of them is cut from.

    Those that are `made` of fine topics are not decomposed again.
    """
    done = {topic: pending[topic][0] for topic in made}
    others = {topic: parts for topic, parts in pending.items() if topic not in done}
    for batch in _batches(tree, ground, others) if others or fresh else ():
        samples = _visit(tree, ground, fresh, batch)
        fresh = []
        done |= _decompose(tree, ground, batch, samples)
    return {topic: done[topic] for topic in pending if topic in done}


def _is_made_of_enough(tree: Grown, ground: Ground, topic: str) -> bool:
    """Whether a topic is one branch of a dendrogram with a fine topic for every child."""
    node, children = tree.nodes[topic], ground.options.at(tree.nodes[topic].level).least
    if len(node.components) != 1 or ground.splitter is not None:
        return False
    [(name, fine)] = node.components
    branch = inside(tree.splits[name].merges, fine)
    return len(fine) >= children and len(branch) == len(fine) - 1


def _own(tree: Grown, done: Mapping[str, Component]) -> list[str]:
    """Decompositions of topics, without those of topics above that these are cut from."""
    return [part.split for topic, part in done.items() if part not in tree.nodes[topic].components]


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
    return min(1.0, BELOW * ground.enough / max(float(ground.counts) * share, 1.0))


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
) -> dict[str, Component]:
    """Decompose topics; those that cannot be split become leaves."""
    if not masses:
        return {}
    ground.progress.stage("learning topics", len(masses), "nodes")
    done = {}
    for topic, result in zip(masses, _found(tree, ground, samples), strict=True):
        ground.progress.advance(1)
        if isinstance(result, str):
            tree.nodes[topic].reason = result
            continue
        name = free_name(tree, ground, topic)
        tree.splits[name] = replace(result, components=masses[topic])
        done[topic] = _all_of(tree, name)
    return done


def _found(
    tree: Grown, ground: Ground, samples: dict[str, list[Counts]]
) -> Iterator[Decomposition | str]:
    """Decompositions, or why there are none; a sample is let go as soon as it is taken."""
    topics = list(samples)
    if ground.splitter is None:
        threads = ground.engine.workers if len(topics) == 1 else 1
        items = (Sample(topic, tree.nodes[topic].level, samples.pop(topic)) for topic in topics)
        given = len(ground.retention), ground.options, threads, ground.power
        yield from ground.engine.map(decompose, items, *given)
        return
    for topic in topics:  # dense moments are large
        try:
            yield ground.splitter(tree.nodes[topic], samples.pop(topic))
        except NotSplit as leaf:
            yield str(leaf)


def free_name(tree: Grown, ground: Ground, topic: str) -> str:
    """Name of a decomposition of a topic: its id, with a number if there were others."""
    names = (topic if n == 1 else f"{topic}-{n}" for n in count(1))
    return next(n for n in names if n not in tree.splits and n not in ground.taken)


def expand(tree: Grown, ground: Ground, topic: str, name: str) -> list[Node]:
    """Children of a topic, of its decomposition."""
    return _cut(tree, ground, topic, _all_of(tree, name))


def _all_of(tree: Grown, name: str) -> Component:
    return Component(name, list(range(tree.splits[name].topics.size)))


def _cut(tree: Grown, ground: Ground, topic: str, part: Component) -> list[Node]:
    """Children of a topic: fine topics, or groups of them."""
    node, found, options = tree.nodes[topic], tree.splits[part.split], ground.options
    if part not in node.components:
        return make_children(tree, ground, node, part, found.children or found.topics.size)
    size = options.at(node.level).children
    if not isinstance(size, int):
        size = inner_children(found.merges, part.fine, options.width)
    return make_children(tree, ground, node, part, size)


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


def _with_enough(tree: Grown, ground: Ground, done: Mapping[str, Component]) -> list[Node]:
    """Place documents in decompositions, by topic; their children must have enough of them.

    Where one has too few, the two that share most documents are put together. A topic that
    cannot have two children stays a leaf.
    """
    _visit(tree, ground, _own(tree, done), {})
    least, waiting = ground.options.least_documents, dict(done)
    while waiting:
        sizes = counted_documents(tree, ground, affected(structure(tree.nodes), None))[2]
        poor = [t for t in waiting if min(sizes[c] for c in tree.nodes[t].children) < least]
        waiting = {topic: waiting[topic] for topic in poor}
        for topic in poor:
            children = len(tree.nodes[topic].children) - 1
            _forget_children(tree, topic)
            if children < 2:
                why = f"a child would have fewer than {counted(least, 'document')}"
                _make_leaf(tree, ground, topic, done[topic], why)
                del waiting[topic]
            else:
                make_children(tree, ground, tree.nodes[topic], done[topic], children)
    return [tree.nodes[child] for topic in done for child in tree.nodes[topic].children]


def _forget_children(tree: Grown, topic: str) -> None:
    """Take the children of a topic out of the tree."""
    for child in tree.nodes[topic].children:
        del tree.nodes[child]
    tree.nodes[topic].children = []


def _make_leaf(tree: Grown, ground: Ground, topic: str, part: Component, reason: str = "") -> None:
    """A topic is not split after all; `part` is what it was cut from."""
    node = tree.nodes[topic]
    node.alpha0, node.reason = 0.0, reason
    for name in _own(tree, {topic: part}):
        ground.book.discard(name)
        del tree.splits[name]
