"""What a revision is asked through: its placements, its metadata, its texts."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import regex

from strod.errors import BusyError, DamagedError
from strod.progress import Silent
from strod.query.derived import Derived
from strod.query.fields import Metadata
from strod.query.placements import Placements
from strod.query.where import documents_where
from strod.text.tokenizers import is_unspaced
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus
    from strod.progress import Progress
    from strod.query.text import Hits, TextIndex
    from strod.workspace.snapshot import Snapshot
    from strod.workspace.tree import Topic

__all__ = ["Index", "Spread", "Texts"]

LEAST = 1 << 20  # bytes that any array may have
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}'\u2019]+")


class NamedWords(NamedTuple):
    """What a topic is called: words of its name, phrases with their words, all of these words."""

    label: list[str]
    phrases: list[tuple[str, list[str]]]
    used: frozenset[str]


class Spread:
    """Documents in the order of the tree, so that those of any topic are neighbours.

    Parameters
    ----------
    index : Index
        The revision.
    documents : ndarray of int
        Numbers of documents; one may stand several times.
    """

    def __init__(self, index: Index, documents: NDArray[np.integer]) -> None:
        self._first, self._last = index.ranges
        self._unsorted = index.places[documents]
        self._number = index.number

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self._unsorted, kind="stable")

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        places: NDArray[np.int64] = self._unsorted[self._order]
        return places

    def of(self, topic: str) -> NDArray[np.int64]:
        """Which of the documents, by their place in what was given, are under a topic."""
        row = self._number[topic]
        low, high = np.searchsorted(self._places, (self._first[row], self._last[row]))
        return self._order[low:high]

    def counts(self) -> NDArray[np.int64]:
        """How many of the documents are under each topic, by its row."""
        here = np.bincount(self._unsorted, minlength=self._first.size)
        before = np.concatenate([[0], np.cumsum(here)])
        counts: NDArray[np.int64] = before[self._last] - before[self._first]
        return counts


class Texts:
    """What the documents of a corpus say, whatever its tree is.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.metadata = corpus, Metadata(corpus)
        self._lock = Lock()
        self._text: TextIndex | None = None

    def text(
        self, progress: Progress, patience: float, useless: TextIndex | None = None
    ) -> TextIndex:
        """Documents by their words; made on first use, by one of those who ask.

        The others wait for it, `patience` seconds at most if that is not negative. One that was
        `useless` is made again.
        """
        from strod.query.texts import open_text

        if not self._lock.acquire(timeout=patience):
            raise BusyError("the index for searches is being made; try again in a moment")
        try:
            if self._text is None or self._text is useless:
                self._text = open_text(self.corpus, progress, anew=useless is not None)
            return self._text
        finally:
            self._lock.release()


class Index:
    """A revision that can be asked.

    Parameters
    ----------
    snapshot : Snapshot
        The revision.
    derived : Derived, optional
        Arrays that follow from the workspace, as another revision has them.
    texts : Texts, optional
        What the documents say, as another revision has it.

    Attributes
    ----------
    progress : Progress
        Told how far the work is when something has to be made first.
    patience : float
        Seconds to wait for another thread that makes it; negative for as long as it takes.
    """

    def __init__(
        self, snapshot: Snapshot, derived: Derived | None = None, texts: Texts | None = None
    ) -> None:
        self.snapshot, self.tree, self.corpus = snapshot, snapshot.tree, snapshot.corpus
        same = texts is not None and texts.corpus is snapshot.corpus
        self.texts = texts if same and texts is not None else Texts(snapshot.corpus)
        self.derived = derived or Derived(snapshot.path, LEAST + snapshot.corpus.files.size)
        self.progress: Progress = Silent()
        self.patience = -1.0

    @property
    def metadata(self) -> Metadata:
        """The kept fields of all documents."""
        return self.texts.metadata

    @cached_property
    def placements(self) -> Placements:
        """Documents by topic."""
        return Placements(self.snapshot, self.derived, self.progress)

    @cached_property
    def number(self) -> dict[str, int]:
        """Rows of topics by id, as in `placements.names`."""
        return {name: row for row, name in enumerate(self.tree.structure)}

    @cached_property
    def ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places of topics in depth-first order, and where what is below each ends."""
        first, last = (np.zeros(len(self.number), dtype=np.int64) for _ in range(2))
        waiting, place = [(ROOT, False)], 0
        while waiting:
            name, left = waiting.pop()
            if left:
                last[self.number[name]] = place
                continue
            first[self.number[name]] = place
            place += 1
            waiting.append((name, True))
            waiting += [(child, False) for child in self.tree.structure[name].children]
        return first, last

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """For each document the place of the topic at the end of its path."""
        return self.ranges[0][self.placements.ends]

    @property
    def text(self) -> TextIndex:
        """Documents by their words; made on first use."""
        return self.texts.text(self.progress, self.patience)

    def found(self, query: str, best: int = 0) -> Hits:
        """All documents that a query finds, `best` of them ranked at least; 0 means all.

        An index with the right checksums may still be no index: then it is made again, once.
        """
        text = self.text
        try:
            return text.search(query, best)
        except DamagedError:
            return self.texts.text(self.progress, self.patience, useless=text).search(query, best)

    def make(self, progress: Progress) -> None:
        """Make what is missing."""
        self.progress = progress
        _ = self.placements, self.text

    def words(self, text: str) -> list[str]:
        """The words of a short text, as they are looked for."""
        if is_unspaced(text):
            return self.text.words.of(text)
        return [self.text.words.fold(word) for word in _WORD.findall(text)]

    @cached_property
    def named_words(self) -> dict[str, NamedWords]:
        """By topic the words of its name and of its phrases."""
        return {one.id: self._named(one) for one in self.tree.values()}

    def _named(self, topic: Topic) -> NamedWords:
        label = self.words(topic.label or "")
        phrases = [(text, self.words(text)) for text, _ in topic.phrases]
        used = frozenset(chain(label, *(words for _, words in phrases)))
        return NamedWords(label, phrases, used)

    def where(self, text: str | None) -> NDArray[np.bool_] | None:
        """Whether each document is meant by an expression; None if nothing is asked."""
        return documents_where(text, self.metadata)

    def topics(self, topic: str | None = None, level: int | None = None) -> list[Topic]:
        """Topics level by level: all, those under a topic, those of a level, or both."""
        return [one for one in self.tree.branch(topic) if level is None or one.level == level]

    def lift(self, share: NDArray[np.float64], topics: Sequence[Topic]) -> NDArray[np.float64]:
        """The part of some documents that each topic has, over its part of all documents."""
        usual = np.array([one.documents for one in topics]) / self.corpus.documents
        return np.divide(share, usual, out=np.zeros_like(share), where=usual > 0)
