"""Words that stand side by side, as the build of a corpus counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.corpus.layout import PAIR_TIMES, PAIRS
from strod.model.pairs import PairCounts, Pairs, added_pairs
from strod.store.arrays import read_array
from strod.store.tables import numbers
from strod.store.validate import check_pairs, naming

if TYPE_CHECKING:
    from pathlib import Path

    from strod.corpus.reader import Corpus

__all__ = ["read_pairs", "write_pairs"]


def write_pairs(root: Path, found: PairCounts) -> None:
    """Keep them beside the lexicon of a corpus that is being built."""
    np.save(root / PAIRS, found.hashes.astype("<u4"))
    np.save(root / PAIR_TIMES, found.times.astype("<u2"))


def read_pairs(corpus: Corpus) -> Pairs:
    """The pairs of a corpus; none if its build did not count them."""
    columns, rate = numbers(corpus.lexicon["column"]), corpus.about.paired
    if not rate:
        return Pairs(columns, added_pairs([]), 0.0)
    hashes = read_array(corpus.files, PAIRS, "<u4")
    times = read_array(corpus.files, PAIR_TIMES, "<u2")
    with naming(corpus.files.path(PAIRS)):
        check_pairs(hashes, times)
    return Pairs(columns, PairCounts(hashes, times), rate)
