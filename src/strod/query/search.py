"""Search: documents by what they say, and where in the tree they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus.layout import fields_of
from strod.query.snippets import snippet
from strod.query.tables import described, paged, whereabouts
from strod.query.text import Hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from strod.query.index import Index
    from strod.query.terms import Term
    from strod.workspace.tree import Topic

__all__ = ["NamedTopic", "Result", "search"]

NAMED = 10  # topics whose names or phrases match


@dataclass(frozen=True)
class NamedTopic:
    """A topic whose name or phrases have the words that were looked for.

    Attributes
    ----------
    topic : Topic
        The topic.
    phrases : list of str
        Its phrases that match; none if only its name does.
    """

    topic: Topic
    phrases: list[str]


@dataclass(frozen=True)
class Result:
    """What a search found.

    Attributes
    ----------
    query : str
        As it was asked.
    total : int
        How many documents it finds.
    topics : pyarrow.Table
        path, label, hits and lift of every topic with hits, most hits first. A document counts for
        each topic on its path; lift is the share of the hits under the topic over the share of all
        documents under it.
    documents : pyarrow.Table
        A page of documents, the best first: number, id, score, leaf, ``meta.NAME`` for each field.
    snippets : list of list of (str, bool)
        For each of these documents a passage in pieces, and whether a piece matches.
    named : list of NamedTopic
        Topics whose own names or phrases match.
    """

    query: str
    total: int
    topics: pa.Table
    documents: pa.Table
    snippets: list[list[tuple[str, bool]]]
    named: list[NamedTopic]

    def as_dictionary(self) -> dict[str, Any]:
        """For programs; matches stand between ``**``."""
        documents = [
            {
                "id": row["id"],
                "score": row["score"],
                "leaf": row["leaf"],
                "snippet": "".join(f"**{text}**" if hit else text for text, hit in pieces),
                "meta": fields_of(row),
            }
            for row, pieces in zip(self.documents.to_pylist(), self.snippets, strict=True)
        ]
        return {
            "query": self.query,
            "total": self.total,
            "topics": self.topics.to_pylist(),
            "named": [
                {"path": one.topic.path, "label": one.topic.label, "phrases": one.phrases}
                for one in self.named
            ],
            "documents": documents,
        }


def search(
    index: Index,
    query: str,
    *,
    topic: str | None = None,
    where: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> Result:
    """Find documents, and say in which topics they are.

    Parameters
    ----------
    index : Index
        The revision.
    query : str
        Words, ``"phrases"``, AND, OR, NOT, prefix*, field:value.
    topic : str, optional
        Only documents whose path leads to this topic.
    where : str, optional
        Which documents are meant, by metadata.
    limit, offset : int
        How many documents, and how many are passed over; a limit of 0 means all.
    """
    page = paged(limit, offset)
    chosen = index.tree.find(topic) if topic is not None else None
    mask = index.where(where)
    some = chosen is not None or mask is not None  # then all have to be ranked
    hits = index.found(query, 0 if some else page.stop or 0)
    found = _meant(index, hits, chosen, mask) if some else hits
    documents, scores = found.documents[page], found.scores[page]
    table = described(index, documents, "score", scores.astype(np.float64))
    terms = index.text.matched_terms(query)
    texts = index.corpus.texts(documents.tolist())
    return Result(
        query,
        int(found.everything.size),
        whereabouts(index, found.everything, "hits"),
        table,
        [snippet(text, terms) for text in texts],
        named_topics(index, terms.terms) if found.everything.size or not some else [],
    )


def _meant(index: Index, found: Hits, topic: Topic | None, mask: NDArray[np.bool_] | None) -> Hits:
    """The hits under a topic and with the metadata that is asked for."""
    documents, scores = found.documents, found.scores
    if mask is not None:
        documents, scores = documents[mask[documents]], scores[mask[documents]]
    if topic is not None:
        first, last = (side[index.number[topic.id]] for side in index.ranges)
        places = index.places[documents]
        inside = (places >= first) & (places < last)
        documents, scores = documents[inside], scores[inside]
    return Hits(documents, scores, documents)


def named_topics(index: Index, terms: Sequence[Term]) -> list[NamedTopic]:
    """Topics whose name or phrases have all that was looked for, those with most of it first.

    Stop words are not looked for.
    """
    found, stop = [], index.text.words.options.stop
    terms = [term for term in terms if not stop.issuperset(term.words)]  # they stand for nothing
    for topic in index.tree.values() if terms else ():
        named = index.named_words[topic.id]
        if not all(_known(term, named.used) for term in terms):  # of most topics
            continue
        phrases = [text for text, words in named.phrases if _has(words, terms)]
        if phrases or _has(named.label, terms):
            found.append(NamedTopic(topic, phrases))
    found.sort(key=lambda one: -len(one.phrases))
    return found[:NAMED]


def _known(term: Term, words: frozenset[str]) -> bool:
    """Whether the words of a term are among some at all."""
    if term.prefix:
        return any(word.startswith(term.words[0]) for word in words)
    return words.issuperset(term.words)


def _has(words: Sequence[str], terms: Sequence[Term]) -> bool:
    return all(_stands(term, words) for term in terms)


def _stands(term: Term, words: Sequence[str]) -> bool:
    """Whether the words of a term stand in a text one after another."""
    size = len(term.words)
    for place in range(len(words) - size + 1):
        some = tuple(words[place : place + size])
        if some == term.words or (term.prefix and some[0].startswith(term.words[0])):
            return True
    return False
