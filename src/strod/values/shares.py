"""Where the shares of documents are kept, and how those of topics follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from strod.values.topic import Component

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.values.split import Decomposition
    from strod.values.topic import Node

    Array = NDArray[np.float64]

__all__ = [
    "DIGITS",
    "Kept",
    "Masses",
    "MemoryShareStore",
    "MemoryShares",
    "Placed",
    "ShareStore",
    "Shares",
    "Structure",
    "TopicShares",
    "apart",
    "column",
    "ends",
    "joined",
    "known_leaves",
    "largest",
    "late_splits",
    "left_by",
    "local_shares",
    "ordered",
    "paths",
    "rest_of",
    "rows",
    "structure",
]


DIGITS = 6  # shares that differ by less are the same


class Shares(NamedTuple):
    """Shares of consecutive documents, as compressed sparse rows; a row sums to 1 or is empty."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint16]
    values: NDArray[np.float32]

    def dense(self, width: int) -> Array:
        """Documents by topics."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        full = np.zeros((len(self.indptr) - 1, width))
        full[rows, self.indices] = self.values
        return full

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which documents have shares."""
        return np.diff(self.indptr) > 0

    @classmethod
    def none(cls, size: int) -> Shares:
        """Of documents that have none."""
        empty = np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.float32)
        return cls(np.zeros(size + 1, dtype=np.int64), *empty)

    def holding(self, fine: Sequence[int]) -> NDArray[np.bool_]:
        """Which documents may have a share in some topics: those that say nothing may, too."""
        asked = np.zeros(np.iinfo(self.indices.dtype).max + 1, dtype=bool)
        asked[list(fine)] = True
        before = np.concatenate([[0], np.cumsum(asked[self.indices])])[self.indptr]
        result: NDArray[np.bool_] = (np.diff(before) > 0) | ~self.there
        return result

    def of(self, documents: NDArray[np.int64]) -> Shares:
        """Some rows alone."""
        begins, sizes = self.indptr[documents], np.diff(self.indptr)[documents]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1])
        return Shares(ends, self.indices[places], self.values[places])

    def only(self, places: NDArray[np.bool_]) -> Shares:
        """The same rows, those elsewhere empty."""
        kept = np.repeat(places, np.diff(self.indptr))
        sizes = np.concatenate([[0], np.cumsum(np.diff(self.indptr) * places)])
        return Shares(sizes, self.indices[kept], self.values[kept])

    def among(self, places: NDArray[np.bool_]) -> Shares:
        """The same rows in these places, between rows that are empty."""
        sizes = np.zeros(len(places) + 1, dtype=np.int64)
        sizes[1:][places] = np.diff(self.indptr)
        return self._replace(indptr=np.cumsum(sizes))


class Structure(NamedTuple):
    """A topic's place in the tree and what it is made of: all of it that placing takes.

    Attributes
    ----------
    children : list of str
        Ids.
    components : list of Component
        What it is made of.
    path_scores : list of list of Component
        What competes for documents in its place, if it was merged.
    rest : list of Component
        What is in none of its children.
    """

    children: list[str]
    components: list[Component]
    path_scores: list[list[Component]]
    rest: list[Component]


def structure(nodes: Mapping[str, Node]) -> dict[str, Structure]:
    """The structure of a tree, as it is now."""
    return {
        name: Structure(
            list(node.children), list(node.components), list(node.path_scores), list(node.rest)
        )
        for name, node in nodes.items()
    }


class Kept(Protocol):
    """Shares of all documents in decompositions, to be read here or elsewhere."""

    def read(self, owner: str, first: int, size: int) -> Shares:
        """Shares of `size` documents from number `first`."""


@dataclass(frozen=True)
class Placed:
    """Shares of consecutive documents, by decomposition: found just now, or kept.

    Attributes
    ----------
    first, span : int
        The documents.
    kept : Kept or None
        Where shares of all documents are.
    found : mapping of Shares
        Those that are not there yet.
    some : ndarray of int64, optional
        Which of the documents are meant, if not all of them.
    """

    first: int
    span: int
    kept: Kept | None = None
    found: Mapping[str, Shares] = field(default_factory=dict)
    some: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """How many documents are meant."""
        return self.span if self.some is None else len(self.some)

    def __getitem__(self, name: str) -> Shares:
        found = self.found.get(name)
        if found is not None:
            return found
        if self.kept is None:
            raise KeyError(name)
        whole = self.kept.read(name, self.first, self.span)
        return whole if self.some is None else whole.of(self.some)

    def of(self, documents: NDArray[np.int64]) -> Placed:
        """Of some of the documents."""
        found = {name: shares.of(documents) for name, shares in self.found.items()}
        some = documents if self.some is None else self.some[documents]
        return replace(self, found=found, some=some)

    def __contains__(self, name: str) -> bool:
        """Whether shares in a decomposition are there or may be kept."""
        return name in self.found or self.kept is not None

    def extended(self, found: Mapping[str, Shares]) -> Placed:
        """With shares in further decompositions."""
        return replace(self, found={**self.found, **found})


class ShareStore(Protocol):
    """Takes the shares of all documents in every decomposition, by its name."""

    def append(self, owner: str, part: Shares) -> None:
        """The next documents, in their order."""

    def close(self, owner: str) -> None:
        """All documents are there."""

    def discard(self, owner: str) -> None:
        """What is there of a decomposition is not wanted after all."""

    def kept(self) -> Kept:
        """What is there now."""


@dataclass(frozen=True)
class MemoryShares:
    """Shares in memory."""

    whole: Mapping[str, Shares]

    def read(self, owner: str, first: int, size: int) -> Shares:
        """Shares of some documents."""
        return rows(self.whole[owner], first, size)


class MemoryShareStore:
    """Keeps them in memory."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Shares]] = {}
        self._whole: dict[str, Shares] = {}

    def append(self, owner: str, part: Shares) -> None:
        """The next documents."""
        self._parts.setdefault(owner, []).append(part)

    def close(self, owner: str) -> None:
        """Join what was appended."""
        self._whole[owner] = joined(self._parts.pop(owner))

    def discard(self, owner: str) -> None:
        """Forget a decomposition."""
        self._whole.pop(owner, None)

    def kept(self) -> MemoryShares:
        """What is there now."""
        return MemoryShares(dict(self._whole))


def joined(parts: Sequence[Shares]) -> Shares:
    """Shares of consecutive parts as one."""
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return Shares(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def rows(shares: Shares, first: int, size: int) -> Shares:
    """Some consecutive documents."""
    indptr = np.asarray(shares.indptr[first : first + size + 1])
    where = slice(int(indptr[0]), int(indptr[-1]))
    return Shares(indptr - indptr[0], shares.indices[where], shares.values[where])


def local_shares(shares: Shares, weights: Array) -> Array:
    """Documents by fine topics; a document that says nothing gets the topics' weights."""
    dense = shares.dense(len(weights))
    dense[np.diff(shares.indptr) == 0] = weights
    return dense


def apart(splits: Mapping[str, Decomposition]) -> list[str]:
    """The decompositions of documents that fitted nowhere, the oldest first."""
    return sorted((name for name in splits if splits[name].apart), key=lambda n: splits[n].apart)


def ordered(splits: Mapping[str, Decomposition], wanted: Iterable[str]) -> list[str]:
    """Splits and all that they come from, those first."""
    found: dict[str, None] = {}
    waiting = sorted(wanted, reverse=True)
    while waiting:
        name = waiting[-1]
        above = [part.split for part in splits[name].sources if part.split not in found]
        if above:
            waiting += above
        else:
            found.setdefault(waiting.pop())
    return list(found)


def late_splits(splits: Mapping[str, Decomposition]) -> set[str]:
    """Decompositions apart, and those made of them."""
    late: set[str] = set()
    for name in ordered(splits, splits):
        if splits[name].apart or any(part.split in late for part in splits[name].sources):
            late.add(name)
    return late


def left_by(splits: Mapping[str, Decomposition], name: str) -> list[Component]:
    """What the documents of a decomposition apart have left: all that was decomposed."""
    own = splits[name]
    if own.components:
        return own.components
    return [
        Component(other, list(range(split.topics.size)))
        for other, split in splits.items()
        if not split.components and split.apart < own.apart
    ]


class Masses:
    """Shares of documents in topics and decompositions.

    Documents of decompositions apart have no share in what they have left; those of all others
    are what they would be without, to the last bit.

    Parameters
    ----------
    splits : mapping of Decomposition
        The decompositions.
    placed : Placed
        Shares of the documents in a decomposition.
    size : int
        Number of documents.
    """

    def __init__(self, splits: Mapping[str, Decomposition], placed: Placed, size: int) -> None:
        self._splits, self._placed, self._size = splits, placed, size
        self._columns: dict[str, Array] = {}
        self._whole: dict[str, Array] = {}
        for name in apart(splits):
            self._leave(name)

    def _leave(self, name: str) -> None:
        """The documents of a decomposition apart take with them what they had of its mass."""
        self._whole[name] = self.of(self._splits[name].components)
        gone = np.flatnonzero(self._placed[name].there)
        for part in left_by(self._splits, name):
            self._table(part.split)[np.ix_(gone, np.array(part.fine))] = 0
        self._whole = {n: whole for n, whole in self._whole.items() if self._splits[n].apart}

    def _table(self, name: str) -> Array:
        """Documents by fine topics of a decomposition."""
        if name not in self._columns:
            split, shares = self._splits[name], self._placed[name]
            self._columns[name] = (
                shares.dense(split.topics.size)
                if split.apart
                else local_shares(shares, split.overlap.weights)
            )
        return self._columns[name]

    def of(self, parts: Sequence[Component]) -> Array:
        """Σ over the parts of the decomposition's own share times that of its fine topics."""
        if not parts:
            return np.ones(self._size)
        first, *others = (self._part(part) for part in parts)
        return sum(others, first)

    def _part(self, part: Component) -> Array:
        name = part.split
        if name not in self._whole:
            self._whole[name] = self.of(self._splits[name].components)
        return self._whole[name] * _sum(self._table(name), part.fine)


class TopicShares(dict[str, "Array"]):
    """Share of every topic, by id, in some documents.

    Attributes
    ----------
    path_scores : dict of ndarray
        What a topic that was merged puts forward when the path of a document is decided:
        the largest share of the topics it was merged from. So a document that led to one of
        them leads to it, and none is drawn from other topics.
    rests : dict of ndarray
        Share that is in none of a topic's children, where there is some.
    """

    def __init__(self, nodes: Mapping[str, Node | Structure], masses: Masses) -> None:
        super().__init__((name, masses.of(node.components)) for name, node in nodes.items())
        self.path_scores = {
            name: np.max([masses.of(parts) for parts in node.path_scores], axis=0)
            for name, node in nodes.items()
            if node.path_scores
        }
        self.rests = {name: masses.of(node.rest) for name, node in nodes.items() if node.rest}


def rest_of(name: str) -> str:
    """How the rest of a topic is called where it stands among its children."""
    return f"{name} rest"


def column(shares: Mapping[str, Array], name: str) -> Array:
    """Share of a topic, or of what is in none of its children, in documents."""
    owner, rest, _ = name.partition(" ")
    return shares.rests[owner] if rest and isinstance(shares, TopicShares) else shares[name]


def _sum(columns: Array, chosen: Sequence[int]) -> Array:
    """Sum of some columns, one after the other: numpy's order depends on the number of rows."""
    total = np.zeros(len(columns))
    for column in chosen:
        total += columns[:, column]
    return total


def paths(
    nodes: Mapping[str, Node | Structure], root: str, shares: Mapping[str, Array]
) -> list[NDArray[np.int64]]:
    """Numbers of the topics on each document's path: at every level the largest child.

    A step depends on the children of one topic only, so that changing a branch moves no
    document outside it. A document of which more is in no child than in any stays where it is.
    Gives one array a level, with -1 below the end of a path; topics are numbered in the order
    of `nodes`.
    """
    number = {name: index for index, name in enumerate(nodes)}
    here = np.full(len(shares[root]), number[root])
    levels = [here]
    while True:
        deeper = np.full_like(here, -1)
        for name, node in nodes.items():
            there = np.flatnonzero(here == number[name]) if node.children else here[:0]
            if there.size:
                children = sorted(node.children)  # of equals the first, whatever order they are in
                numbers = np.array([*(number[child] for child in children), -1])
                deeper[there] = numbers[largest(name, children, shares, there)]
        if (deeper < 0).all():
            return levels
        levels.append(deeper)
        here = deeper


def largest(
    parent: str,
    children: Sequence[str],
    shares: Mapping[str, Array],
    documents: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Which child each of some documents has most of, of equals the first; -1 if none has most."""
    scores, rests = shares, dict[str, "Array"]()
    if isinstance(shares, TopicShares):
        scores, rests = {**shares, **shares.path_scores}, shares.rests
    rest = [rests[parent][documents]] if parent in rests else []
    best: NDArray[np.int64] = np.stack(
        [*(scores[child][documents] for child in children), *rest]
    ).argmax(axis=0)
    best[best == len(children)] = -1
    return best


def ends(levels: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number of the topic at the end of each document's path."""
    last, *deeper = levels
    for level in deeper:
        last = np.where(level >= 0, level, last)
    return last


def known_leaves(leaves: Iterable[str], known: NDArray[np.int64]) -> list[str | None]:
    """Leaves of documents; one of which no word is known has none, its shares are what is usual."""
    return [leaf if words else None for leaf, words in zip(leaves, known.tolist(), strict=True)]
