"""How far documents that are added differ from those before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from strod.store.tables import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus

__all__ = ["growth_interval", "telling_words"]

DOUBT = 0.05  # chance that any of the intervals of a tree is wrong


def growth_interval(
    weight: float, before: float, documents: int, topics: int
) -> tuple[float, float]:
    """How many times as large as before a topic may be that has `weight` among new documents.

    The interval of Clopper and Pearson, as if each document had one topic, with as little doubt
    as it takes for all `topics` to be right at once.
    """
    doubt = DOUBT / max(topics, 1) / 2
    hits = min(max(weight, 0.0), 1.0) * documents
    least = betaincinv(hits, documents - hits + 1, doubt) if hits > 0 else 0.0
    most = betaincinv(hits + 1, documents - hits, 1 - doubt) if hits < documents else 1.0
    most = max(most, weight)  # all of it may be a little more than 1, by rounding
    return float(least / before), float(most / before)


def telling_words(
    corpus: Corpus, new: Corpus, strange: Sequence[NDArray[np.bool_]], most: int
) -> list[str]:
    """Words that documents which fit no topic speak of, the most telling first.

    By p·log(p / q) of the share p of these documents that have a word, and that of the corpus'
    documents, q. Words of one document say nothing. `strange` has an array for each shard.
    """
    found = np.zeros(len(new.vocabulary))
    for shard, these in zip(new.shards(), strange, strict=True):
        rows = np.repeat(these, shard.sizes)
        found += np.bincount(shard.counts.indices[rows], minlength=len(found))
    size = sum(int(these.sum()) for these in strange)
    here = np.flatnonzero(found > 1)
    words, surfaces = (new.vocabulary[name].take(here).to_pylist() for name in ("word", "surface"))
    before = _documents(corpus, dict.fromkeys(words))
    share = found[here] / max(size, 1)
    usual = (np.array([before.get(word, 0) for word in words]) + 1) / (corpus.documents + 1)
    score = share * np.log(share / usual)
    order = sorted(range(len(here)), key=lambda i: (-score[i], words[i]))
    return [surfaces[i] for i in order[:most] if score[i] > 0]


def _documents(corpus: Corpus, wanted: Mapping[str, None]) -> dict[str, int]:
    """Documents of the corpus that have some words."""
    table = corpus.lexicon
    pairs = zip(table["word"].to_pylist(), numbers(table["documents"]).tolist(), strict=True)
    return {word: count for word, count in pairs if word in wanted}
