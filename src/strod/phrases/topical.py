"""How often a unit stands for a topic: c(P, t) of the paper, with the documents' own shares.

The paper spreads the count of a phrase over the children of a topic by p(z|P) ∝ α_z·Π_x φ_zx,
the same in all documents. Here every document has its own shares θ_d::

    c(P, z) = Σ_d c_d(P, t)·θ_dz·Π_x φ_zx / Σ_z' θ_dz'·Π_x φ_z'x

from the root, where c_d(P, o) is the count of the segmentation, downwards. A topic's counts
depend on its ancestors and their children alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.values.shares import rest_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.values.topic import Node

__all__ = ["TopicBatch", "batches", "evidence"]

MIXED = 0.01  # of the parent in φ, so that no product is zero
TOPICS = 128  # counted in one pass, unless more are asked for or one family is larger


class TopicBatch(NamedTuple):
    """Topics that are counted together: parents before children, siblings side by side.

    Attributes
    ----------
    names : list of str
        Ids; the rest of a topic stands beside its children (`strod.values.shares.rest_of`).
    first, size : ndarray of int64
        Place of the first child of each topic, and number of children; 0 if they are not
        in this batch.
    wanted : list of str
        Parents whose children are new in this batch.
    needed : ndarray of bool
        Topics whose counts somebody asks for; the others are there for their siblings.
    """

    names: list[str]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    wanted: list[str]
    needed: NDArray[np.bool_]


def batches(
    nodes: Mapping[str, Node],
    wanted: Sequence[str],
    most: int = TOPICS,
    only: Collection[str] | None = None,
) -> Iterator[TopicBatch]:
    """Cut the parents `wanted` into batches, each with all it takes from the root down.

    If `only` is given, their children that are not in it are not counted.
    """
    group: list[str] = []
    for parent in wanted:
        if group and len(_batch(nodes, [*group, parent], only).names) > most:
            yield _batch(nodes, group, only)
            group = []
        group.append(parent)
    if group:
        yield _batch(nodes, group, only)


def _batch(
    nodes: Mapping[str, Node], wanted: list[str], only: Collection[str] | None
) -> TopicBatch:
    opened = set(wanted)
    for name in wanted:
        above = nodes[name].parent
        while above is not None:
            opened.add(above)
            above = nodes[above].parent
    names = [name for name, node in nodes.items() if node.parent is None]
    first, size = [], []
    for name in names:  # grows while it is read: level by level
        children = list(nodes[name].children) if name in opened else []
        if children and nodes[name].rest:  # it takes its part, as a child would
            children.append(rest_of(name))
        first.append(len(names))
        size.append(len(children))
        names += children
    needed = [
        name in opened
        or (name in nodes and nodes[name].parent in wanted and (only is None or name in only))
        for name in names
    ]
    return TopicBatch(names, np.array(first), np.array(size), wanted, np.array(needed))


def evidence(
    batch: TopicBatch, nodes: Mapping[str, Node], columns: csr_array
) -> NDArray[np.float32]:
    """Π_x φ_zx of every unit (row) and topic, relative to the largest among siblings.

    `columns` has a row for each unit, with a 1 for each of its words that the model knows.
    """
    result = np.ones((columns.shape[0], len(batch.names)), dtype=np.float32)
    for place, name in enumerate(batch.names):
        where = slice(batch.first[place], batch.first[place] + batch.size[place])
        if not batch.size[place]:
            continue
        above = nodes[name].words
        words = [nodes[z].words if z in nodes else above for z in batch.names[where]]
        mixed = [(1 - MIXED) * own + MIXED * above for own in words]
        logs = columns @ np.log(np.stack(mixed, axis=1) + np.finfo(float).tiny)
        result[:, where] = np.exp(logs - logs.max(axis=1, keepdims=True))
    return result
