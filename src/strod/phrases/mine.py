"""Frequent chains of content words, counted exactly.

A chain of n words is frequent only if its first and its last n - 1 words are, so level n is
counted from the numbers that level n - 1 gave to neighbours. A sketch of fixed size finds
out what may be frequent before anything is counted exactly: memory depends on what is
frequent, not on what occurs. Pairs and triples take two passes over the tokens each; a last
pass gathers the few stretches that hold longer chains, which then grow in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from strod.passes.mine import (
    HALF,
    Chains,
    count_keys,
    find_keys,
    find_stretches,
    neighbours,
    stretches,
)
from strod.phrases.stream import GAP_BITS, MOST_WORDS, WORD_BITS
from strod.phrases.table import Sketch, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref
    from strod.phrases.stream import Alphabet, TokenShard
    from strod.progress import Progress

    Keys = NDArray[np.int64]

__all__ = ["PASSES", "Level", "mine"]

T = TypeVar("T")

PASSES = 5
LOW = (1 << HALF) - 1


@dataclass(frozen=True)
class Level:
    """Frequent chains of one length.

    Attributes
    ----------
    size : int
        Content words of a chain.
    keys : ndarray of int64
        Sorted. A link if there are two words; else the numbers of the first and of the last
        size - 1 words among the chains of the level before.
    counts : ndarray of int64
        How often each occurs.
    """

    size: int
    keys: Keys
    counts: NDArray[np.int64]

    @property
    def left(self) -> Keys:
        """What the chain begins with: all its words but the last."""
        return self.keys >> (WORD_BITS + GAP_BITS if self.size == 2 else HALF)

    @property
    def right(self) -> Keys:
        """What the chain ends with: all its words but the first."""
        if self.size == 2:
            return (self.keys >> GAP_BITS) & (MOST_WORDS - 1)
        return self.keys & LOW


def mine(
    refs: Sequence[Ref[TokenShard]],
    alphabet: Alphabet,
    least: int,
    longest: int,
    engine: Engine,
    progress: Progress,
) -> list[Level]:
    """All chains of two words and more that occur at least `least` times.

    Parameters
    ----------
    refs : sequence of Ref
        The documents.
    alphabet : Alphabet
        Which words can be part of phrases.
    least : int
        Smallest count that is frequent.
    longest : int
        Most content words of a chain.
    engine : Engine
        Maps over the documents.
    progress : Progress
        Is told how far the work is.
    """
    progress.stage("mining phrases", PASSES * len(refs), "shards")
    tables: list[Table] = []
    levels: list[Level] = []
    for size in range(2, min(longest, 3) + 1):
        chains = Chains(alphabet, list(tables))
        level = Level(size, *_frequent(refs, chains, least, engine, progress))
        if not len(level.keys):
            return levels
        levels.append(level)
        tables.append(Table(level.keys))
    if longest > 3:
        found = _told(engine.map(find_stretches, refs, Chains(alphabet, tables)), progress)
        levels += _longer(np.concatenate(list(found)), least, longest)
    return levels


def _told(parts: Iterator[T], progress: Progress) -> Iterator[T]:
    for part in parts:
        yield part
        progress.advance(1)


def _frequent(
    refs: Sequence[Ref[TokenShard]],
    chains: Chains,
    least: int,
    engine: Engine,
    progress: Progress,
) -> tuple[Keys, NDArray[np.int64]]:
    """Keys that occur at least `least` times, and how often; two passes."""
    sketch = Sketch(sum(len(ref.open().tokens) for ref in refs))
    for keys in _told(engine.map(find_keys, refs, chains), progress):
        sketch.add(keys)
    parts = _told(engine.map(count_keys, refs, chains, sketch, least), progress)
    return _merged(list(parts), least)


def _merged(
    parts: list[tuple[Keys, NDArray[np.int64]]], least: int
) -> tuple[Keys, NDArray[np.int64]]:
    keys = np.concatenate([part[0] for part in parts])
    order = np.argsort(keys, kind="stable")
    counts = np.concatenate([part[1] for part in parts])[order]
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    totals = np.add.reduceat(counts, starts) if len(starts) else counts
    frequent = totals >= least
    return keys[starts][frequent], totals[frequent]


def _longer(keys: Keys, least: int, longest: int) -> list[Level]:
    """Levels from four words on."""
    levels: list[Level] = []
    for size in range(4, longest + 1):
        found, counts = np.unique(keys[keys >= 0], return_counts=True)
        frequent = counts >= least
        if not frequent.any():
            break
        levels.append(Level(size, found[frequent], counts[frequent].astype(np.int64)))
        keys = stretches(neighbours(Table(levels[-1].keys).find(keys)))
    return levels
