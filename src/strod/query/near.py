"""Words of the corpus that are written nearly as one that no document has."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from strod.store.tables import numbers, taken

if TYPE_CHECKING:
    from strod.query.index import Index

__all__ = ["near_words"]

WORDS, MOST, NEAR = 3, 5_000, 3  # that are looked up, that each is compared with, that are named
DIFFER = 2  # letters more or fewer


def near_words(index: Index, query: str) -> list[tuple[str, list[str]]]:
    """For words of a query that are unknown some that are near, the likest first."""
    terms = index.text.matched_terms(query).terms
    looked = dict.fromkeys(word for term in terms if not term.prefix for word in term.words)
    known = set(index.corpus.lexicon["word"].to_pylist()) if looked else set()
    unknown = [word for word in looked if word not in known][:WORDS]
    found = [(word, _near(index, word)) for word in unknown]
    return [(word, near) for word, near in found if near]


def _near(index: Index, word: str) -> list[str]:
    """Only words that begin or end alike are compared, and of these the most frequent."""
    lexicon = index.corpus.lexicon
    alike = pc.or_(
        pc.starts_with(lexicon["word"], word[0]), pc.ends_with(lexicon["word"], word[-2:])
    )
    lengths = pc.utf8_length(lexicon["word"])
    near = np.abs(numbers(lengths).astype(np.int64) - len(word)) <= DIFFER
    rows = np.flatnonzero(near & numbers(alike).astype(bool))
    often = numbers(lexicon["documents"])[rows]
    some = taken(lexicon, rows[np.argsort(-often, kind="stable")][:MOST])
    written = dict(zip(some["word"].to_pylist(), some["surface"].to_pylist(), strict=True))
    return [written[one] for one in get_close_matches(word, list(written), n=NEAR, cutoff=0.75)]
