"""The text index: documents by the words they have, ranked by BM25.

Tantivy holds the words; what a word is, strod says. The folder of an index has the files of its
pieces (`pieces.py`) and `text.json`, which says what they are. Tantivy's own records are made anew
each time an index is opened, in a folder of their own that is gone a moment later: nothing but
checked files is trusted, and an index may lie where nobody can write.
"""

from __future__ import annotations

import gc
import re
import shutil
import tempfile
from bisect import bisect_right
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import orjson

from strod.errors import DamagedError, StrodError, UsageError
from strod.extras import install
from strod.query.parse import All, Either, Field, Not, has_field, parse, terms_of
from strod.query.pieces import EXTENSIONS, checked, largest, pieces, read_record
from strod.query.terms import Term, Terms, Words
from strod.query.values import Values
from strod.text.tokenizers import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus
    from strod.progress import Progress
    from strod.query.parse import Query
    from strod.query.pieces import Piece

    Numbers = NDArray[np.int32]

__all__ = ["Hits", "TextIndex"]

TEXT = "text"  # the field of the index
_MARKS = r"[\p{M}ー々]"
_place, _document, _ordinal = itemgetter(1), attrgetter("doc"), attrgetter("segment_ord")


@dataclass(frozen=True)
class Hits:
    """Documents that a query found, the best first; of equal ones the first of the corpus.

    Attributes
    ----------
    documents : int32 array
        Numbers in the corpus of those that were to be ranked.
    scores : float32 array
        BM25, falling.
    everything : int32 array
        Numbers of all that were found, in any order.
    """

    documents: Numbers
    scores: NDArray[np.float32]
    everything: Numbers

    def __len__(self) -> int:
        return self.documents.size


def engine() -> Any:
    """The package that holds the index."""
    try:
        import tantivy
    except ModuleNotFoundError as error:
        raise UsageError(f"search needs another package: {install('search')}") from error
    return tantivy


def schema() -> Any:
    """What is in the index: words with their places."""
    fields = engine().SchemaBuilder()
    fields.add_text_field(TEXT, tokenizer_name=TEXT)
    return fields.build()


@contextmanager
def guarded(folder: Path, kind: type[StrodError] = DamagedError) -> Iterator[None]:
    """Errors of tantivy, panics too, as errors of ours."""
    try:
        yield
    except StrodError:
        raise
    except BaseException as error:
        # A panic is no Exception, and its class is in no module.
        own = isinstance(error, ValueError | OSError | RuntimeError)
        if not own and type(error).__name__ != "PanicException":
            raise
        why = " ".join(str(error).split())
        raise kind(f"the text index is of no use ({why})", file=folder) from error


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage: thousands of hits would set it off, and none of them is any."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def pieces_of(corpus: Corpus) -> list[Piece]:
    """The pieces of the index of a corpus."""
    about = corpus.about.settings
    own = sorted(about.stopwords) if about.stem else []
    return pieces(corpus, [engine().__version__, about.language, about.stem, own])


class TextIndex:
    """An index that was made of a corpus; any number of threads and processes may read it.

    Parameters
    ----------
    folder : Path
        Where it is.
    corpus : Corpus
        Whose documents it should hold. `DamagedError` is raised if it does not, or if a file is
        not what was written: make it anew.
    """

    def __init__(self, folder: Path, corpus: Corpus) -> None:
        wanted, records = pieces_of(corpus), read_record(folder)
        if [one.key for one in records] != [one.key for one in wanted]:
            raise DamagedError("is of other documents, or of another version", file=folder)
        checked(folder, records, largest(corpus))
        self.folder, self.fields = folder, corpus.meta
        self.words = Words(corpus.about.settings)
        self._schema, parts = schema(), [part for one in records for part in one.parts]
        ends = list(accumulate((part.documents for part in parts), initial=0))
        if ends[-1] != corpus.documents:
            raise DamagedError("is of other documents", file=folder)
        self._first = np.array(ends[:-1], dtype=np.int32)
        self._sizes, self._documents = np.diff(ends), corpus.documents
        self._values = Values(corpus)
        with guarded(folder):
            self._searcher = _opened(folder, [(part.name, part.documents) for part in parts])

    @classmethod
    def build(
        cls,
        folder: Path,
        corpus: Corpus,
        progress: Progress | None = None,
        *,
        before: Path | None = None,
        workers: int | None = None,
    ) -> TextIndex:
        """Make an index in an empty folder, and open it.

        Parameters
        ----------
        folder : Path
            Nothing is written elsewhere.
        corpus : Corpus
            Its documents.
        progress : Progress, optional
            Told how many documents are done.
        before : Path, optional
            An index, whatever it is of: what is the same is linked, not made again.
        workers : int, optional
            Threads; as many as there are cores.
        """
        from strod.query.build import build_pieces

        build_pieces(folder, corpus, progress, before, workers)
        return cls(folder, corpus)

    def parse(self, query: str) -> Query:
        """What a query asks for; `UsageError` says what is wrong with it."""
        return parse(query, self.words, self.fields)

    def search(self, query: str, best: int = 0) -> Hits:
        """All documents that a query finds, the best first.

        Parameters
        ----------
        query : str
            As in `docs/search.md`.
        best : int
            How many are to be ranked, at least; 0 means all.

        Examples
        --------
        >>> index.search('"federated learning" date:2019 -survey').documents  # doctest: +SKIP
        array([41, 7], dtype=int32)
        """
        asked = self.parse(query)
        if not has_field(asked):
            return self._best(asked, best) if best else self._hits(asked)
        there, scores = self._dense(asked)
        documents = np.flatnonzero(there).astype(np.int32)
        order = np.lexsort((documents, -scores[documents]))
        return Hits(documents[order], scores[documents[order]], documents)

    def _hits(self, query: Query) -> Hits:
        """What is found by words alone."""
        with guarded(self.folder), _uncollected():
            documents, parts, scores = _arrays(self._found(self._compiled(query)))
            documents = self._numbered(documents, parts)
        return Hits(documents, scores, documents)

    def _best(self, query: Query, best: int) -> Hits:
        """The same, of which a few are ranked: sorting and scores are most of the work."""
        asked = self._compiled(query)
        equal = self._queries.const_score_query(asked, 1.0)
        with guarded(self.folder), _uncollected():
            documents, parts, scores = _arrays(self._found(asked, best))
            everything = self._numbered(*_in_order(self._found(equal), self._sizes.size))
        return Hits(self._numbered(documents, parts), scores, everything)

    def _found(self, asked: Any, limit: int = 0) -> list[tuple[float, Any]]:
        most = max(self._documents, 1)
        hits: list[tuple[float, Any]] = self._searcher.search(
            asked, limit=min(limit or most, most), count=False
        ).hits
        return hits

    def _numbered(self, documents: Numbers, parts: Numbers) -> Numbers:
        """Documents of parts by their numbers in the corpus."""
        if (documents >= self._sizes[parts]).any():
            raise DamagedError("names documents that are not there", file=self.folder)
        return documents + self._first[parts]

    def matched_terms(self, query: str) -> Terms:
        """What to mark in the documents that a query finds."""
        terms = dict.fromkeys(terms_of(self.parse(query)))
        return Terms(tuple(terms), self.words.fold)

    def _dense(self, query: Query) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """For each document whether it is found, and its score if it is: values have none."""
        scores = np.zeros(self._documents, dtype=np.float32)
        if isinstance(query, Field):
            return self._values.having(query), scores
        if isinstance(query, All | Either) and has_field(query):
            return self._joined(query)
        hits, there = self._hits(query), np.zeros(self._documents, dtype=bool)
        there[hits.documents], scores[hits.documents] = True, hits.scores
        return there, scores

    def _joined(self, query: All | Either) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """The same of several parts, some of which ask for values."""
        every = isinstance(query, All)
        there = np.full(self._documents, every)
        scores = np.zeros(self._documents, dtype=np.float32)
        for part in query.parts:
            inner = part.part if isinstance(part, Not) else part
            found, more = self._dense(inner)
            if isinstance(part, Not):
                there &= ~found
                continue
            there = there & found if every else there | found
            scores += np.where(found, more, np.float32(0))
        return there, scores

    @cached_property
    def _queries(self) -> Any:
        return engine().Query

    def _compiled(self, query: Query) -> Any:
        """The query as tantivy has it."""
        occur, make = engine().Occur, self._queries
        if isinstance(query, Term):
            return self._term(query)
        if isinstance(query, Either):
            return make.boolean_query([(occur.Should, self._compiled(p)) for p in query.parts])
        if isinstance(query, All):
            return make.boolean_query(
                [
                    (occur.MustNot, self._compiled(part.part))
                    if isinstance(part, Not)
                    else (occur.Must, self._compiled(part))
                    for part in query.parts
                ]
            )
        raise TypeError(query)

    def _term(self, term: Term) -> Any:
        make, words = self._queries, term.words
        if len(words) > 1:
            return make.phrase_query(self._schema, TEXT, list(words))
        if not term.prefix and not is_unspaced(words[0]):
            return make.term_query(self._schema, TEXT, words[0], "freq")
        return _beginning(words[0]) if term.prefix else _character(words[0])


def _like(pattern: str) -> Any:
    """Whatever has a word like that, all with one score."""
    make = engine().Query
    return make.const_score_query(make.regex_query(schema(), TEXT, pattern), 1.0)


def _beginning(letters: str) -> Any:
    return _like(f"{re.escape(letters)}.*")


@lru_cache(maxsize=16)  # the pattern takes 75 ms, and is asked for with each page of results
def _character(character: str) -> Any:
    """One character, wherever it stands in a pair."""
    plain = re.escape(character)
    return _like(f"{plain}|{plain}[^\\p{{M}}ー々]{_MARKS}*|.{_MARKS}*{plain}")


def _in_order(hits: list[tuple[float, Any]], parts: int) -> tuple[Numbers, Numbers]:
    """Hits of one score, which come in the order of the index: documents, and their parts."""
    places = list(map(_place, hits))
    documents = np.fromiter(map(_document, places), dtype=np.int32, count=len(hits))
    ends = [bisect_right(places, part, key=_ordinal) for part in range(parts)]
    return documents, np.repeat(np.arange(parts, dtype=np.int32), np.diff(ends, prepend=0))


def _arrays(hits: list[tuple[float, Any]]) -> tuple[Numbers, Numbers, NDArray[np.float32]]:
    """Numbers of documents in their parts, numbers of the parts, and scores."""
    scores, places = zip(*hits, strict=True) if hits else ((), ())
    documents = np.fromiter(map(_document, places), dtype=np.int32, count=len(hits))
    parts = np.fromiter(map(_ordinal, places), dtype=np.int32, count=len(hits))
    return documents, parts, np.array(scores, dtype=np.float32)


def _opened(folder: Path, parts: list[tuple[str, int]]) -> Any:
    """A searcher over files, by links from a folder in which tantivy may lock and write."""
    place = Path(tempfile.mkdtemp(prefix="strod-"))
    try:
        for name, _ in parts:
            for extension in EXTENSIONS:
                target = folder.absolute() / f"{name}.{extension}"
                (place / target.name).symlink_to(target)
        (place / "meta.json").write_bytes(_meta(parts))
        return engine().Index.open(str(place)).searcher()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _meta(parts: list[tuple[str, int]]) -> bytes:
    """Tantivy's record of its segments, which has our schema."""
    indexing = {"record": "position", "fieldnorms": True, "tokenizer": TEXT}
    options = {"indexing": indexing, "stored": False, "fast": False}
    segments = [
        {"segment_id": str(UUID(name)), "max_doc": documents, "deletes": None}
        for name, documents in parts
    ]
    return orjson.dumps(
        {
            "index_settings": {"docstore_compression": "none", "docstore_blocksize": 16384},
            "segments": segments,
            "schema": [{"name": TEXT, "type": "text", "options": options}],
            "opstamp": 0,
        }
    )
