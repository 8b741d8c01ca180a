"""A tree of topics as a scikit-learn estimator: ``strod.TopicHierarchy``."""

# ruff: noqa: N803, N806 - scikit-learn calls the data X

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, vstack

from strod.extras import install

try:
    from joblib import effective_n_jobs
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        f"strod.TopicHierarchy needs scikit-learn 1.6 or newer: {install('sklearn')}"
    ) from None

from strod.compute.blas import one_blas_thread
from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.engine.threads import Threads
from strod.errors import InputError, UsageError
from strod.model.options import TreeOptions
from strod.options import CorpusOptions
from strod.passes.place import infer
from strod.progress import Silent
from strod.store.files import Files
from strod.text.sources import resolve
from strod.tree.ground import Ground, model_of
from strod.tree.grow import grow_tree
from strod.tree.grown import Grown
from strod.tree.matrix import matrix_shards
from strod.values.shares import MemoryShareStore
from strod.values.topic import ROOT, Node, walk
from strod.values.words import thinning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.model import Model

    Array = NDArray[np.float64]

__all__ = ["TopicHierarchy", "TopicSummary"]

ALL_WORDS = 1 << 30  # new texts: the fitted vocabulary decides, no limit of their own


class TopicSummary(NamedTuple):
    """A topic in short.

    Attributes
    ----------
    path : str
        ``o/1/2``: children are numbered by falling weight.
    parent : str
        Path of the topic above; empty for the root.
    level : int
        1 for the children of the root.
    weight : float
        Share of all documents.
    columns : tuple of int
        Columns of the words that stand for it, at most 20, the best first.
    words : tuple of str
        These words; empty if the columns of the matrix have no names.
    """

    path: str
    parent: str
    level: int
    weight: float
    columns: tuple[int, ...]
    words: tuple[str, ...]


class TopicHierarchy(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of topics over a document-word matrix or over texts.

    Parameters
    ----------
    children : int or "auto", default="auto"
        Children of every topic that can be split; ``auto`` reads it off the data.
    height : int, default=2
        Levels below the root.
    width : int, default=10
        Most children that ``auto`` gives.
    alpha0 : float or "auto", default=1.0
        Sum of the Dirichlet parameters of a topic's children.
    sample : int, "auto" or "all", default="auto"
        Documents from which a topic is learnt; ``auto`` takes what holds enough words.
    lookahead : bool, default=True
        Whether the root is split into fine topics that are then grouped.
    polish : int, default=5
        Sweeps of variational inference after the tensor decomposition.
    thin : float, default=5e-4
        Relative frequency from which words are thinned. 0 switches it off, which is better
        for a matrix of some dozen columns.
    clip : int, default=3
        Most occurrences of a word that count in one document; 0 switches it off.
    language : str, default="en"
        Whose stop words are left out when `X` is texts; a matrix is taken as it is.
    random_state : int, RandomState instance or None, default=0
        Start of the power iteration; an int is the ``seed`` of `strod.build`. None takes
        another seed on every fit, from numpy's global state.
    n_jobs : int or None, default=None
        Threads, as in joblib. The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Probabilities of the words in each topic; a row sums to 1.
    topics_ : list of TopicSummary
        The topics, in the order of the rows of `components_`.
    tree_ : Grown
        The tree itself, with its root.
    words_ : list of str or None
        Names of the columns: words as they are written in texts, or `feature_names_in_`.
    vocabulary_ : dict or None
        Column of each folded word; None if the tree was not fitted on texts.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `X` was a data frame.

    Notes
    -----
    **Topics** are all topics of the tree except the root, in the order of their paths: o/1, o/2,
    …, o/1/1, …. A tree that could not be split (fewer than ten documents that say something, no
    three words in a document, nothing but noise) is its root alone, which is then the only
    topic, ``o``, with a share of 1 in every document.

    **Values** are numbers of tokens and need not be whole: the moments are sums over pairs and
    triples of tokens, c·(c - 1) for a word with itself, for any real c; more than `clip` counts as
    `clip`. So the scale matters: a row that sums to 1 or 2 has no pairs or triples, and a matrix
    of such rows stays a root. Give plain counts; if there are only weights of unit length, such
    as tf-idf, multiply them until rows sum to about the length of a document.

    **Zero rows**, and texts without a known word, get the topics' weights as shares.

    **Texts** are read by strod's own pipeline in a temporary folder, so that the words are those
    of `strod.build`. For other words put a vectorizer before this in a `Pipeline`.

    Examples
    --------
    >>> import numpy as np
    >>> from strod.estimator import TopicHierarchy
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((20, 4), dtype=int))
    >>> model = TopicHierarchy(height=1, thin=0).fit(X)
    >>> model.get_feature_names_out().tolist()
    ['o/1', 'o/2']
    >>> model.transform([[1, 1, 1, 0, 0, 0, 0, 0]]).round(1).max()
    np.float64(1.0)
    """

    def __init__(  # noqa: PLR0913 - an estimator's parameters are its arguments
        self,
        *,
        children: int | str = "auto",
        height: int = 2,
        width: int = 10,
        alpha0: float | str = 1.0,
        sample: int | str = "auto",
        lookahead: bool = True,
        polish: int = 5,
        thin: float = 5e-4,
        clip: int = 3,
        language: str = "en",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.children = children
        self.height = height
        self.width = width
        self.alpha0 = alpha0
        self.sample = sample
        self.lookahead = lookahead
        self.polish = polish
        self.thin = thin
        self.clip = clip
        self.language = language
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Grow the tree.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or iterable of str
            Non-negative counts of words in documents, or texts.
        y : None
            Ignored.

        Returns
        -------
        TopicHierarchy
            Itself.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # noqa: ARG002
        """Grow the tree and return the shares of its documents, as `transform` would.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or iterable of str
            Non-negative counts of words in documents, or texts; read once.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_topics)
            Share of every topic in every document.
        """
        return self._columns(self._shares(self._fit(X)))

    def transform(self, X: Any) -> Array:
        """Shares of all topics in documents: a function of each document alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or iterable of str
            Counts of the same words; texts only if the tree was fitted on texts.

        Returns
        -------
        ndarray of shape (n_samples, n_topics)
            Share of every topic in every document. The children of a topic add up to it.
        """
        return self._columns(self._shares(self._known(X)))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Leaf of each document: from the root down the largest child at every level.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or iterable of str
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Number of the topic among `topics_` and the columns of `transform`; for paths write
            ``model.get_feature_names_out()[model.predict(X)]``.
        """
        shares = self._shares(self._known(X))
        column = {name: number for number, name in enumerate(self._ids)}
        numbers = np.array([column.get(name, -1) for name in self.tree_.nodes], dtype=np.int64)
        found: NDArray[np.int64] = numbers[self._model.ends(shares)]
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Paths of the topics, the names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            ``o/1``, ``o/2``, ….
        """
        check_is_fitted(self)
        return np.array([topic.path for topic in self.topics_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags

    def _fit(self, X: Any) -> csr_array:
        """Grow the tree; returns the counts it was grown on."""
        options, engine = self._options(), self._engine()
        texts, X = _texts(X)
        vocabulary, words = None, None
        if texts is not None:
            X, folded, words = _read(texts, self._reading(self.language))
            if not folded:
                raise ValueError("no word is left for the model: all are stop words or too rare")
            vocabulary = {word: column for column, word in enumerate(folded)}
        counts = self._checked(X, reset=True)
        if words is None and hasattr(self, "feature_names_in_"):
            words = [str(name) for name in self.feature_names_in_]
        self.tree_, self._model = _grow(counts, options, engine)
        self.vocabulary_, self.words_ = vocabulary, words
        self._language = self.language  # it may be set anew
        self._describe()
        return counts

    def _describe(self) -> None:
        """The topics in the order of their paths, without the root unless it is alone."""
        nodes = self.tree_.nodes
        found = list(walk(nodes))
        found = found[1:] or found
        self._ids = [name for _, name in found]
        self.topics_ = [_summary(path, nodes[name], self.words_) for path, name in found]
        self.components_ = np.stack([nodes[name].words for name in self._ids])

    def _known(self, X: Any) -> csr_array:
        """Counts of the words of the tree in new documents."""
        check_is_fitted(self)
        texts, X = _texts(X)
        if texts is not None:
            if self.vocabulary_ is None:
                raise ValueError("the tree was fitted on a matrix: give counts, not texts")
            options = self._reading(self._language, min_df=1, max_vocabulary=ALL_WORDS)
            X = _selected(*_read(texts, options)[:2], self.vocabulary_)
        return self._checked(X, reset=False)

    def _checked(self, X: Any, *, reset: bool) -> csr_array:
        kinds = (np.float64, np.float32)
        return _canonical(
            validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_non_negative=True
            )
        )

    def _shares(self, counts: csr_array) -> dict[str, Array]:
        """Share of every topic, by id."""
        refs = matrix_shards(counts)
        parts = list(self._engine().map(infer, refs, self._model))
        return {name: np.concatenate([part[name] for part in parts]) for name in self.tree_.nodes}

    def _columns(self, shares: dict[str, Array]) -> Array:
        return np.stack([shares[name] for name in self._ids], axis=1)

    def _options(self) -> TreeOptions:
        names = ("children", "height", "width", "alpha0", "sample", "lookahead", "polish")
        given = {name: _plain(getattr(self, name)) for name in (*names, "thin", "clip")}
        try:
            return TreeOptions(**given, seed=_seed(self.random_state))
        except UsageError as error:
            raise _bad_value(error) from error

    def _reading(self, language: str, **options: Any) -> CorpusOptions:
        """How texts become counts."""
        workers = effective_n_jobs(self.n_jobs)
        try:
            chosen = CorpusOptions(language=language, workers=workers, **options)
            _ = chosen.stop  # an unknown language ends here
        except UsageError as error:
            raise _bad_value(error) from error
        return chosen

    def _engine(self) -> Engine:
        workers = effective_n_jobs(self.n_jobs)
        return Threads(workers)


def _grow(counts: csr_array, options: TreeOptions, engine: Engine) -> tuple[Grown, Model]:
    """Grow a tree over the rows of `counts`; returns it, and the model that places others."""
    occurrences: Any = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    total = float(occurrences.sum())
    words = occurrences / total if total else np.full(len(occurrences), 1 / len(occurrences))
    retention = thinning(occurrences, options.thin)
    refs, book = matrix_shards(counts), MemoryShareStore()
    ground = Ground(refs, retention, options, engine, book, Silent())
    try:
        with one_blas_thread():
            tree = grow_tree(Grown({ROOT: Node(ROOT, None, 0, [], words)}), ground)
    except UsageError as error:  # too large
        raise _bad_value(error) from error
    return tree, model_of(tree, ground)


def _summary(path: str, node: Node, words: Sequence[str] | None) -> TopicSummary:
    columns = tuple(node.top_words)
    names = tuple(words[column] for column in columns) if words is not None else ()
    parent = path.rpartition("/")[0]
    return TopicSummary(path, parent, node.level, node.weight, columns, names)


def _canonical(X: Any) -> csr_array:
    """Sorted rows without zeros; the caller's matrix stays as it is."""
    counts = csr_array(X)
    if not (counts.has_canonical_format and counts.data.all()):
        counts = csr_array(X, copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def _texts(X: Any) -> tuple[list[str] | None, Any]:
    """The texts in `X`, if it has any, and `X`, which is a list if it could be read only once."""
    if isinstance(X, str | bytes):
        raise ValueError("X is a single string: give a list of texts")  # noqa: TRY004
    if not isinstance(X, Iterable) or getattr(X, "ndim", 1) != 1:
        return None, X
    X = list(X) if isinstance(X, Iterator) else X
    if not isinstance(next(iter(X), None), str):
        return None, X
    texts = list(X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"X has texts, but item {row} is no string")  # noqa: TRY004
    return [str(text) for text in texts], X


def _read(texts: list[str], options: CorpusOptions) -> tuple[csr_array, list[str], list[str]]:
    """Counts of texts, a row each, with the words as they are folded and as they are written.

    A text without words has no document in a corpus; its row is empty.
    """
    with TemporaryDirectory(prefix="strod-texts-") as folder:
        try:
            parts = resolve([texts], options.format)
            built = build_corpus(Path(folder), parts, options, Silent(), allow_empty=True)
        except InputError:  # no text has a word
            return csr_array((len(texts), 0)), [], []
        corpus = Corpus(Files(Path(folder)), built.about)
        shards = list(corpus.shards())
        table = vstack([shard.counts for shard in shards]).tocoo()
        rows = np.array([int(name) - 1 for shard in shards for name in shard.ids])
        words = (corpus.vocabulary[name].to_pylist() for name in ("word", "surface"))
        shape = (len(texts), table.shape[1])
        where = (rows[table.row], table.col)
        return csr_array((table.data.astype(np.float64), where), shape=shape), *words


def _selected(counts: csr_array, words: list[str], vocabulary: dict[str, int]) -> csr_array:
    """Counts of the words of `vocabulary`, in its columns."""
    columns = np.array([vocabulary.get(word, -1) for word in words], dtype=np.int64)
    table = counts.tocoo()
    mapped = columns[table.col]
    keep = mapped >= 0
    shape = (counts.shape[0], len(vocabulary))
    return csr_array((table.data[keep], (table.row[keep], mapped[keep])), shape=shape)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _plain(value: Any) -> Any:
    """A numpy number as one of Python: a grid of parameters has such."""
    return value.item() if isinstance(value, np.generic) else value


def _bad_value(error: UsageError) -> ValueError:
    """The error of an option as scikit-learn has it."""
    return ValueError(str(error))
