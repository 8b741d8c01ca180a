"""Topics and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["ROOT", "Component", "Node", "child_id", "number_children", "seed_of", "walk"]

ROOT = "o"


class Component(NamedTuple):
    """Some fine topics of a decomposition.

    What topics are made of, and what decompositions decompose: a list of parts is a share of
    every document, the sum over its parts of the decomposition's own share times that of
    the fine topics. No parts are all there is.

    Attributes
    ----------
    split : str
        Name of the decomposition.
    fine : list of int
        Fine topics, in order.
    """

    split: str
    fine: list[int]


class _Words:
    """The words of a topic: an array, or a function that reads them when they are needed."""

    def __get__(self, node: Node | None, _: type | None = None) -> Array:
        if node is None:
            raise AttributeError("there is no default")
        value = node.__dict__["words"]
        if callable(value):
            value = node.__dict__["words"] = value()
        return cast("Array", value)

    def __set__(self, node: Node, value: Array | Callable[[], Array]) -> None:
        node.__dict__["words"] = value


@dataclass
class Node:
    """A topic while the tree grows.

    Attributes
    ----------
    id : str
        Never changes: a digest of the parent's id and of what the parent was split into.
    parent : str or None
        Id of the parent.
    level : int
        0 for the root.
    components : list of Component
        What it is made of; none for the root.
    words : ndarray of shape (V,), or a function that gives it
        φ.
    weight : float
        Share of the corpus: the mean of the documents' shares.
    alpha : float
        α_{t,z}, its parameter among its siblings.
    alpha0 : float
        α_{t,0} of the decomposition that its children come from; 0 for a leaf.
    documents : int
        Documents whose path, the largest child at every level, leads here.
    children : list of str
        Ids, by falling weight.
    reason : str
        Why it is a leaf; empty if it is not.
    top_words : list of int
        The words that stand for it, the best first.
    phrases : list of (str, float)
        The phrases that stand for it and their scores, the best first.
    units : list of int
        The units of these phrases.
    label : str
        Its name.
    pinned : bool
        Whether it survives when its parent is split again.
    named : bool
        Whether somebody gave it its name.
    path_scores : list of list of Component
        If it was merged: what its members were made of. They compete for documents as before.
    number : int
        Its place in the path among its siblings; it never gets another one there. 0 for the root.
    last_number : int
        The highest that a child of it ever had.
    rest : list of Component
        What is in none of its children, since topics were removed.
    rest_weight : float
        Share of the corpus that this is.
    surplus : float
        How much of its weight is in the weight of no topic above: documents that were added and
        fitted nowhere.
    """

    id: str
    parent: str | None
    level: int
    components: list[Component]
    words: _Words = _Words()
    weight: float = 1.0
    alpha: float = 1.0
    alpha0: float = 0.0
    documents: int = 0
    children: list[str] = field(default_factory=list)
    reason: str = ""
    top_words: list[int] = field(default_factory=list)
    phrases: list[tuple[str, float]] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    label: str = ""
    pinned: bool = False
    named: bool = False
    path_scores: list[list[Component]] = field(default_factory=list)
    number: int = 0
    last_number: int = 0
    rest: list[Component] = field(default_factory=list)
    rest_weight: float = 0.0
    surplus: float = 0.0


def walk(nodes: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """Paths and ids of all topics, level by level; siblings by falling weight."""
    waiting = [(ROOT, ROOT)]
    for path, name in waiting:  # grows while it is read
        yield path, name
        waiting += [(f"{path}/{nodes[child].number}", child) for child in nodes[name].children]


def number_children(nodes: Mapping[str, Node]) -> None:
    """Give numbers to children that have none yet, in their order: none that was ever used."""
    for node in nodes.values():
        for child in node.children:
            if not nodes[child].number:
                node.last_number += 1
                nodes[child].number = node.last_number


def child_id(parent: str, fine: list[int], split: str) -> str:
    """Id of a child: the same for the same split, different for every other topic.

    `split` is the digest of the decomposition, so another one gives other ids.
    """
    text = f"{parent}/{split}/{','.join(map(str, fine))}"
    return sha256(text.encode()).hexdigest()[:12]


def seed_of(seed: int, topic: str) -> list[int]:
    """Seeds of a topic's own random numbers."""
    digest = sha256(topic.encode()).digest()
    return [seed, int.from_bytes(digest[:8], "little")]
