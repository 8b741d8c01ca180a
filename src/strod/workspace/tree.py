"""Reading a tree: topics by path or id, their words, and the documents' shares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import DamagedError, TopicError
from strod.phrases.names import name_children
from strod.store.splits import SavedShares, read_splits
from strod.store.tables import numbers
from strod.store.topics import node_sha256, read_revision
from strod.values.shares import Masses, Placed, TopicShares, ends, paths, structure
from strod.values.topic import ROOT, walk
from strod.values.words import ranked, thinning
from strod.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.corpus.reader import Corpus
    from strod.model.explain import FitModel
    from strod.model.model import Model
    from strod.store.files import Files
    from strod.store.schema import TreeSettings
    from strod.store.topics import KnownWords
    from strod.values.shares import Structure
    from strod.values.split import Decomposition
    from strod.values.topic import Node

    Array = NDArray[np.float64]

__all__ = ["Topic", "Tree"]

NOISE = 1e-4  # of weights: shares are kept in few bits
TOP = 20  # words of a topic, unless more are asked for
LISTED = 20  # topics that an error names


class Topic:
    """A topic of a tree.

    Attributes
    ----------
    id : str
        Never changes.
    path : str
        ``o/1/2``: its address, as long as neither it nor a topic above it is moved.
    level : int
        0 for the root.
    weight : float
        Share of the corpus.
    alpha : float
        Dirichlet parameter among its siblings.
    alpha0 : float
        Sum of the parameters of its children; 0 for a leaf.
    documents : int
        Documents whose path leads here.
    rest : float
        Share of the corpus that is in this topic and in none of its children.
    reason : str
        Why it has no children; empty if it has.
    label : str or None
        Its name.
    named : bool
        Whether somebody gave it its name.
    pinned : bool
        Whether it survives when its parent is split again.
    phrases : list of (str, float)
        The phrases that stand for it and their scores, the best first.
    sha256 : str
        Checksum of its numbers and phrases.
    """

    def __init__(self, tree: Tree, node: Node, path: str, sha256: str) -> None:
        self._tree, self._node = tree, node
        self.id, self.path, self.level = node.id, path, node.level
        self.weight, self.alpha, self.alpha0 = node.weight, node.alpha, node.alpha0
        self.documents, self.reason, self.sha256 = node.documents, node.reason, sha256
        self.rest = node.rest_weight
        self.label: str | None = node.label or None
        self.named, self.pinned = node.named, node.pinned
        self.phrases: list[tuple[str, float]] = [(text, score) for text, score in node.phrases]

    def __repr__(self) -> str:
        return f"<Topic {self.path}: {self.label or 'everything'}>"

    @property
    def parent(self) -> Topic | None:
        """The topic above, None for the root."""
        return None if self._node.parent is None else self._tree[self._node.parent]

    @property
    def children(self) -> list[Topic]:
        """The topics below, by falling weight."""
        return [self._tree[child] for child in self._node.children]

    @property
    def surplus(self) -> float:
        """What its children and its rest weigh more than itself: topics that were grown."""
        below = sum(self._tree.nodes[child].weight for child in self._node.children)
        more = below + self.rest - self.weight if self._node.children else 0.0
        return more if more > NOISE else 0.0

    @cached_property
    def distribution(self) -> Array:
        """φ: probability of every word of the vocabulary."""
        self.verify()
        return self._node.words

    def verify(self) -> None:
        """Refuse numbers that are not what was written."""
        if node_sha256(self._node) != self.sha256:
            raise DamagedError("has changed since it was written", topic=f"topic {self.id}")

    @property
    def words(self) -> list[tuple[str, float]]:
        """The best words and their probabilities."""
        return self.top(TOP)

    def top(self, number: int) -> list[tuple[str, float]]:
        """The best `number` words and their probabilities; 0 means all that occur."""
        surfaces = self._tree.surfaces
        return [(surfaces[word], float(self.distribution[word])) for word in self.best(number)]

    def best(self, number: int) -> list[int]:
        """The columns of its best words that occur."""
        order = self._tree.order(self._node)
        found: list[int] = order[self.distribution[order] > 0][: number or None].tolist()
        return found

    def against_parent(self, number: int) -> list[tuple[str, float, float]]:
        """The best words with their probabilities here and in the topic above."""
        here = self.distribution
        above = here if self.parent is None else self.parent.distribution
        surfaces = self._tree.surfaces
        return [(surfaces[one], float(here[one]), float(above[one])) for one in self.best(number)]

    def shares(self) -> Array:
        """Share of this topic in every document of the corpus."""
        return self._tree.shares()[self.id]


class Tree(Mapping[str, Topic]):
    """A tree of topics, by path (``o/1/2``), id or name; iterates over paths, the root first.

    Parameters
    ----------
    files : Files
        The workspace.
    corpus : Corpus
        What it was grown on.
    settings : TreeSettings
        How it was grown.
    revision : int
        Which state of it.
    known : KnownWords, optional
        Words of topics that are in memory already.
    """

    def __init__(
        self,
        files: Files,
        corpus: Corpus,
        settings: TreeSettings,
        revision: int = 1,
        known: KnownWords | None = None,
    ) -> None:
        self._files, self._corpus, self.settings = files, corpus, settings
        width = corpus.about.vocabulary
        self.nodes, checksums, self.change = read_revision(files, revision, width, known)
        self._name_all()
        self._topics: dict[str, Topic] = {}
        self._paths: dict[str, str] = {}
        for path, name in walk(self.nodes):
            self._topics[name] = Topic(self, self.nodes[name], path, checksums[name])
            self._paths[path] = name

    def __getitem__(self, name: str) -> Topic:
        found = self._topics.get(self._paths.get(name, name))
        return self._called(name) if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<Tree: {counted(len(self) - 1, 'topic')}>"

    def _repr_html_(self) -> str:
        from strod.export.notebook import tree_html

        return tree_html(self)

    def _name_all(self) -> None:
        """Name what an earlier version left without a name."""
        nameless = {name for name, node in self.nodes.items() if not node.label and node.parent}
        if nameless:
            parents = {str(self.nodes[name].parent) for name in nameless}
            name_children(self.nodes, sorted(parents), self.surfaces, nameless)

    @property
    def root(self) -> Topic:
        """The topic of everything."""
        return self[ROOT]

    def find(self, name: str) -> Topic:
        """The topic with a path, id or name, or an error that says what there is."""
        return self[name]

    def named(self, name: str) -> list[Topic]:
        """Topics of this name, whatever the case of its letters."""
        wanted = _folded(name)
        return [topic for topic in self._topics.values() if _folded(topic.label or "") == wanted]

    def _called(self, name: str) -> Topic:
        """The topic that is meant by a name, or by a path without its root."""
        if not isinstance(name, str):
            raise TopicError(f"{name!r}: is no topic; give a path such as o/1, an id or a name")
        called = self.named(name) if name.strip() else []
        # A name that somebody gave counts more than an automatic one, and the very same most.
        called = [topic for topic in called if topic.named] or called
        called = [topic for topic in called if topic.label == name] or called
        if not called and (path := f"{ROOT}/{name}") in self._paths:
            return self._topics[self._paths[path]]
        if len(called) == 1:
            return called[0]
        if called:
            paths = ", ".join(topic.path for topic in called)
            raise TopicError(f"{name}: {paths} have this name; give a path")
        raise TopicError(f"{name}: no such topic; {self._hint(name)}")

    def _hint(self, name: str) -> str:
        """What may be meant: a topic with nearly this name, or those around a path."""
        meant = name.lower().strip("/ ") or ROOT
        if meant in self._paths:
            return f"do you mean {meant}?"
        labels = {_folded(topic.label or ""): topic for topic in self._topics.values()}
        if close := get_close_matches(_folded(name), labels, n=1):
            return f"do you mean {_mentioned(labels[close[0]])}?"
        above = meant if meant.startswith(ROOT) else f"{ROOT}/{meant}"
        while above not in self._paths:
            above = above.rpartition("/")[0] or ROOT
        children = sorted(self[above].children, key=lambda topic: _steps(topic.path))
        if not children:
            return f"{above} has no children"
        more = f" and {len(children) - LISTED} more" if len(children) > LISTED else ""
        return f"{above} has {', '.join(map(_mentioned, children[:LISTED]))}{more}"

    def branch(self, name: str | None = None, depth: int | None = None) -> list[Topic]:
        """A topic, by default the root, and those below it, level by level."""
        found = level = [self.find(name or ROOT)]
        while level and depth != 0:
            level = [child for topic in level for child in topic.children]
            found, depth = found + level, None if depth is None else depth - 1
        return found

    def verify(self) -> None:
        """Refuse topics that are not what was written: nobody shall build on them."""
        for topic in self.values():
            topic.verify()

    @cached_property
    def surfaces(self) -> list[str]:
        """The words as they are written."""
        surfaces: list[str] = self._corpus.vocabulary["surface"].to_pylist()
        return surfaces

    @cached_property
    def retention(self) -> NDArray[np.float32]:
        """Share of each word's tokens that is kept, fixed by the first build."""
        occurrences = numbers(self._corpus.vocabulary["occurrences"])
        return thinning(occurrences, self.settings.thin)

    def order(self, node: Node) -> NDArray[np.int64]:
        """Words of a topic, the best first."""
        words, root = self[node.id].distribution, self.root.distribution
        parent = self[node.parent].distribution if node.parent else None
        rest = ranked(words, parent, root, self.retention.astype(np.float64))
        best = np.array(node.top_words, dtype=np.int64)
        return np.concatenate([best, rest[~np.isin(rest, best)]])

    @cached_property
    def splits(self) -> dict[str, Decomposition]:
        """Decompositions that the topics are made of."""
        return read_splits(self._files, self.nodes.values(), self._corpus.about.vocabulary)

    @cached_property
    def saved(self) -> SavedShares:
        """Shares of the documents in the decompositions."""
        sizes = {name: split.topics.size for name, split in self.splits.items()}
        return SavedShares(tuple(self._corpus.segments), self._files, sizes)

    @cached_property
    def model(self) -> Model:
        """All that places documents."""
        from strod.model.model import Model

        by_word = self.settings.topical == "word"
        return Model(self.retention, self.settings.clip, by_word, self.splits, self.structure)

    @cached_property
    def fit_model(self) -> FitModel | None:
        """How well documents fit; None if the corpus is too small to say."""
        from strod.engine.threads import Serial
        from strod.workspace.fit import fit_model

        return fit_model(self._corpus, self.model, Serial())

    @cached_property
    def structure(self) -> dict[str, Structure]:
        """What placing takes of every topic, by id, parents before children."""
        return structure(self.nodes)

    def shares(
        self, first: int = 0, size: int | None = None, only: Collection[str] | None = None
    ) -> TopicShares:
        """Share of every topic, or of those with the ids `only`, in documents of the corpus."""
        size = self._corpus.documents - first if size is None else size
        topics = self.structure
        topics = topics if only is None else {name: topics[name] for name in only}
        return TopicShares(topics, Masses(self.splits, Placed(first, size, self.saved), size))

    def place(self, counts: csr_array) -> TopicShares:
        """Share of every topic, by id, in documents given as counts of the vocabulary."""
        return self.model.shares(self.model.place_new(counts))

    def leaves(self, shares: dict[str, Array]) -> list[str]:
        """Path of the topic at the end of each document's path."""
        names = [self[name].path for name in self.nodes]
        return [names[number] for number in ends(paths(self.structure, ROOT, shares))]


def _folded(name: str) -> str:
    """A name as it is compared: without regard to case and to the width of gaps."""
    return " ".join(name.split()).casefold()


def _steps(path: str) -> list[int]:
    return [int(step) for step in path.split("/")[1:]]


def _mentioned(topic: Topic) -> str:
    return f"{topic.path} ({topic.label})" if topic.label else topic.path
