"""Other ways to make a topic tree, all from the same document-term counts.

``nmf``
    scikit-learn: tf-idf and NMF of the documents of a node; each goes to its strongest topic.
``sklearn-lda``
    scikit-learn: variational LDA of the documents of a node; each goes to its strongest topic.
``tomotopy-lda``
    tomotopy: LDA by Gibbs sampling; the tokens sampled for a topic are the documents of the
    child (splitLDA), so that a document may be in many leaves. Its leaf is the one with most of
    its tokens.
``hpam``
    tomotopy: hierarchical Pachinko allocation with 5 super and 25 sub topics, where every super
    topic may use every sub topic. The tree takes, for each super topic, the sub topics with most
    tokens below it; one sub topic can be in several places. The leaf of a document is the pair
    of super and sub topic with most of its tokens, among the pairs in the tree; ties go by all
    its tokens of the sub topic, then of the super topic.

A document that a method gives no weight at all gets the cluster ``""``. Each topic has its words
in two orders: as the method itself ranks them (``own``), and by what they add to the divergence
from the parent, p log(p / p_parent) (``kl``), where the parent is what the node was fitted to.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TOP_WORDS = 10
ROOT = "o"
SMALLEST = 5  # documents for each child; a node with fewer is not divided
BATCH_LIMIT = 20_000  # documents; scikit-learn's LDA goes online beyond
SKLEARN_ITERATIONS = 10
STEP = 10  # iterations between two looks at the clock

Floats: TypeAlias = "NDArray[np.float64]"
Counts: TypeAlias = scipy.sparse.csr_matrix


@dataclass
class Settings:
    """What all methods are given; the samplers alone have iterations and a time limit."""

    children: int = 5
    height: int = 2
    seed: int = 0
    iterations: int = 1000
    seconds: float = 0.0  # 0: no limit
    workers: int = 1  # threads of tomotopy


@dataclass
class Topic:
    """A node of a tree: its share of everything, and its best words (columns) by ranking."""

    path: str
    weight: float
    words: dict[str, list[int]]

    @property
    def level(self) -> int:
        """The root has level 0."""
        return self.path.count("/")


@dataclass
class Tree:
    """Topics without the root, and for each document its topic of level 1 and its leaf."""

    topics: list[Topic]
    top: list[str]
    leaf: list[str]
    notes: dict[str, Any] = field(default_factory=dict)

    def leaves(self) -> list[Topic]:
        """Topics without children."""
        parents = {topic.path.rpartition("/")[0] for topic in self.topics}
        return [topic for topic in self.topics if topic.path not in parents]


@dataclass
class Split:
    """One node divided.

    Attributes
    ----------
    words : array, topics by words
        Weights of the words.
    background : array
        Weights of the words in the node.
    shares : array, documents by topics
        How much of a document goes where, in tokens or as 0 and 1.
    parts : list of sparse matrices
        The counts of the children.
    """

    words: Floats
    background: Floats
    shares: Floats
    parts: list[Counts]


def ranked(weights: Floats, background: Floats) -> dict[str, list[int]]:
    """The best words of a topic in both orders."""
    p = weights / max(weights.sum(), 1e-300)
    q = np.maximum(background / max(background.sum(), 1e-300), 1e-12)
    gain = p * np.log(np.maximum(p, 1e-300) / q)
    return {"own": _best(p), "kl": _best(gain)}


def _best(values: Floats) -> list[int]:
    order = np.argsort(-values, kind="stable")[:TOP_WORDS]
    return [int(i) for i in order if values[i] > 0]


def _by_document(topics: Floats, counts: Counts) -> tuple[Floats, list[Counts]]:
    """Whole documents to their strongest topic, if they have any."""
    best = np.where(topics.max(1) > 0, topics.argmax(1), -1)
    shares = (best[:, None] == np.arange(topics.shape[1])).astype(np.float64)
    parts = [scipy.sparse.diags(column).dot(counts).tocsr() for column in shares.T]
    return shares, parts


def _sum(counts: Counts) -> Floats:
    return np.asarray(counts.sum(0), dtype=np.float64).ravel()


def split_nmf(counts: Counts, settings: Settings) -> Split:
    """Divide by NMF of tf-idf."""
    from sklearn.decomposition import NMF  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfTransformer  # noqa: PLC0415

    weighted = TfidfTransformer().fit_transform(counts)
    model = NMF(settings.children, init="nndsvd", random_state=settings.seed)
    topics = model.fit_transform(weighted)
    shares, parts = _by_document(topics, counts)
    return Split(model.components_, _sum(weighted), shares, parts)


def split_sklearn_lda(counts: Counts, settings: Settings) -> Split:
    """Divide by scikit-learn's LDA."""
    from sklearn.decomposition import LatentDirichletAllocation  # noqa: PLC0415

    model = LatentDirichletAllocation(
        settings.children,
        learning_method="batch" if counts.shape[0] <= BATCH_LIMIT else "online",
        max_iter=SKLEARN_ITERATIONS,
        random_state=settings.seed,
    )
    topics = model.fit_transform(counts)
    shares, parts = _by_document(topics, counts)
    return Split(model.components_, _sum(counts), shares, parts)


def _fill(model: Any, counts: Counts) -> None:
    """Give every document to a tomotopy model; columns are the words."""
    names = np.array([str(i) for i in range(counts.shape[1])])
    for begin, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(counts.indices[begin:end], counts.data[begin:end])
        model.add_doc(names[tokens].tolist())


def _train(model: Any, settings: Settings) -> int:
    """Sample until the iterations or the time are over; return the iterations."""
    until = time.monotonic() + (settings.seconds or float("inf"))
    done = 0
    while done < settings.iterations and (done == 0 or time.monotonic() < until):
        model.train(min(STEP, settings.iterations - done), workers=settings.workers)
        done += STEP
    return min(done, settings.iterations)


def _columns(model: Any) -> NDArray[np.int64]:
    """The column of each of the model's words."""
    return np.array([int(name) for name in model.used_vocabs], dtype=np.int64)


def _tokens(model: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Document and column of every token, in the order of the model's documents."""
    lengths = [len(document.words) for document in model.docs]
    words = np.concatenate([document.words for document in model.docs])
    return np.repeat(np.arange(len(lengths)), lengths), _columns(model)[words]


def _sampled(model: Any, name: str) -> NDArray[np.int64]:
    """An assignment of every token, in the same order."""
    return np.concatenate([np.asarray(getattr(d, name), dtype=np.int64) for d in model.docs])


def _topic_words(model: Any, topic: int, width: int) -> Floats:
    """Word probabilities by column."""
    weights = np.zeros(width)
    weights[_columns(model)] = model.get_topic_word_dist(topic)
    return weights


def _table(i: NDArray[Any], j: NDArray[Any], shape: tuple[int, int]) -> Floats:
    """How often each pair occurs."""
    flat = np.bincount(i * shape[1] + j, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


class TomotopyLda:
    """Divides by tomotopy's LDA, and keeps to the time limit.

    Every level has all the tokens, so that a node gets its share of tokens of its level's time.
    """

    def __init__(self, tokens: int, height: int) -> None:
        self.tokens = tokens * height
        self.fewest = 0

    def __call__(self, counts: Counts, settings: Settings) -> Split:
        """Divide one node."""
        k = settings.children
        model = import_module("tomotopy").LDAModel(k=k, seed=settings.seed)
        _fill(model, counts)
        limit = settings.seconds * counts.sum() / self.tokens
        done = _train(model, replace(settings, seconds=limit))
        self.fewest = min(self.fewest or done, done)
        documents, columns = _tokens(model)
        topics = _sampled(model, "topics")
        words = np.array([_topic_words(model, i, counts.shape[1]) for i in range(k)])
        parts = [
            scipy.sparse.csr_matrix(
                (np.ones(chosen.sum(), dtype=np.int32), (documents[chosen], columns[chosen])),
                shape=counts.shape,
            )
            for chosen in (topics == i for i in range(k))
        ]
        shares = _table(documents, topics, (counts.shape[0], k))
        return Split(words, _sum(counts), shares, parts)


def _compact(
    split: Callable[[Counts, Settings], Split], counts: Counts, settings: Settings
) -> Split:
    """Divide without the empty rows and columns, which come back empty."""
    rows = np.flatnonzero(np.diff(counts.indptr))
    columns = np.flatnonzero(_sum(counts))
    inside = split(counts[rows][:, columns], settings)
    words = np.zeros((len(inside.words), counts.shape[1]))
    words[:, columns] = inside.words
    background = np.zeros(counts.shape[1])
    background[columns] = inside.background
    shares = np.zeros((counts.shape[0], inside.shares.shape[1]))
    shares[rows] = inside.shares
    parts = []
    for part in inside.parts:
        entries = part.tocoo()
        place = (rows[entries.row], columns[entries.col])
        parts.append(scipy.sparse.csr_matrix((entries.data, place), shape=counts.shape))
    return Split(words, background, shares, parts)


def _divisible(counts: Counts, settings: Settings) -> bool:
    documents = int((np.diff(counts.indptr) > 0).sum())
    words = int((_sum(counts) > 0).sum())
    return min(documents, words) >= SMALLEST * settings.children


def _strongest(shares: dict[str, Floats], documents: int) -> list[str]:
    """The path with the largest share of each document, '' where all are zero."""
    paths = list(shares)
    table = np.zeros((documents, len(paths)))
    for i, path in enumerate(paths):
        table[:, i] = shares[path]
    best = table.argmax(1)
    some = table.max(1) > 0
    return [paths[i] if found else "" for i, found in zip(best, some, strict=True)]


def recursive(
    split: Callable[[Counts, Settings], Split], counts: Counts, settings: Settings
) -> Tree:
    """Divide the corpus, then each part, down to the height."""
    topics: list[Topic] = []
    shares: dict[str, Floats] = {}
    total = 0.0
    nodes = [(ROOT, counts.tocsr())]
    while nodes:
        path, inside = nodes.pop(0)
        level = path.count("/")
        if level == settings.height or not _divisible(inside, settings):
            continue
        found = _compact(split, inside, settings)
        total = total or float(found.shares.sum())
        for i, (share, part) in enumerate(zip(found.shares.T, found.parts, strict=True), 1):
            child = f"{path}/{i}"
            words = ranked(found.words[i - 1], found.background)
            topics.append(Topic(child, float(share.sum() / total), words))
            shares[child] = share
            nodes.append((child, part))
    tree = Tree(topics, [], [])
    first = {topic.path: shares[topic.path] for topic in topics if topic.level == 1}
    leaves = {topic.path: shares[topic.path] for topic in tree.leaves()}
    tree.top = _strongest(first, counts.shape[0])
    tree.leaf = _strongest(leaves, counts.shape[0])
    return tree


@dataclass
class Pachinko:
    """The tokens of a model of hierarchical Pachinko allocation.

    Topic 0 of ``supers`` is the root's own; of ``subs`` it is the super topic's own.
    """

    size: int  # documents
    documents: NDArray[np.int64]
    columns: NDArray[np.int64]
    supers: NDArray[np.int64]
    subs: NDArray[np.int64]

    def words_below(self, topic: int, width: int) -> Floats:
        """Words of all tokens of a super topic; one more of each, so that none is impossible."""
        found = np.bincount(self.columns[self.supers == topic], minlength=width)
        return found.astype(np.float64) + 1

    def below(self, topic: int) -> Floats:
        """Tokens of each document that come by a super topic."""
        return self._by_document(self.supers == topic)

    def leaf(self, topic: int, sub: int) -> Floats:
        """Tokens of each document that come by a pair of topics, with what decides on ties."""
        by_super, by_sub = self.supers == topic, self.subs == sub
        ties = 1e-3 * self._by_document(by_sub) + 1e-6 * self._by_document(by_super)
        return self._by_document(by_super & by_sub) + ties

    def _by_document(self, chosen: NDArray[np.bool_]) -> Floats:
        return np.bincount(self.documents[chosen], minlength=self.size).astype(np.float64)


def hpam(counts: Counts, settings: Settings) -> Tree:
    """A tree from hierarchical Pachinko allocation."""
    k1, k2 = settings.children, settings.children**2
    rows, width = np.flatnonzero(np.diff(counts.indptr)), counts.shape[1]
    model = import_module("tomotopy").HPAModel(k1=k1, k2=k2, seed=settings.seed)
    _fill(model, counts[rows])
    done = _train(model, settings)
    documents, columns = _tokens(model)
    supers, subs = _sampled(model, "topics"), _sampled(model, "subtopics")
    tokens = Pachinko(counts.shape[0], rows[documents], columns, supers, subs)
    pairs = _table(supers, subs, (k1 + 1, k2 + 1))
    topics: list[Topic] = []
    first: dict[str, Floats] = {}
    leaves: dict[str, Floats] = {}
    for s in range(1, k1 + 1):
        path = f"{ROOT}/{s}"
        words = ranked(_topic_words(model, s, width), _sum(counts))
        topics.append(Topic(path, pairs[s].sum() / len(subs), words))
        first[path] = tokens.below(s)
        background = tokens.words_below(s, width)
        strongest = np.argsort(-pairs[s, 1:], kind="stable")[: settings.children] + 1
        for i, j in enumerate(strongest, 1):
            words = ranked(_topic_words(model, k1 + int(j), width), background)
            topics.append(Topic(f"{path}/{i}", pairs[s, j] / len(subs), words))
            leaves[f"{path}/{i}"] = tokens.leaf(s, int(j))
    top, leaf = (_strongest(shares, counts.shape[0]) for shares in (first, leaves))
    return Tree(topics, top, leaf, {"iterations": done})


def tomotopy_lda(counts: Counts, settings: Settings) -> Tree:
    """A tree by recursive LDA, tokens divided as they were sampled."""
    split = TomotopyLda(int(counts.sum()), settings.height)
    tree = recursive(split, counts, settings)
    tree.notes["iterations"] = split.fewest
    return tree


def nmf(counts: Counts, settings: Settings) -> Tree:
    """A tree by recursive NMF."""
    return recursive(split_nmf, counts, settings)


def sklearn_lda(counts: Counts, settings: Settings) -> Tree:
    """A tree by recursive variational LDA."""
    return recursive(split_sklearn_lda, counts, settings)


PEERS: dict[str, Callable[[Counts, Settings], Tree]] = {
    "nmf": nmf,
    "sklearn-lda": sklearn_lda,
    "tomotopy-lda": tomotopy_lda,
    "hpam": hpam,
}
SAMPLERS = {"tomotopy-lda", "hpam"}
