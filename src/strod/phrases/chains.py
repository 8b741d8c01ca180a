"""Mining phrases: the chains of content words of some documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.model.placed import Ref
    from strod.phrases.stream import Alphabet, TokenShard
    from strod.phrases.table import Sketch, Table

    Keys = NDArray[np.int64]

__all__ = ["Chains", "count_keys", "find_keys", "find_stretches", "neighbours", "stretches"]

HALF = 32  # bits of a number in the key of two


class Chains(NamedTuple):
    """How a chain gets its number: the alphabet, and the frequent chains of each length so far."""

    alphabet: Alphabet
    tables: list[Table]


def find_keys(ref: Ref[TokenShard], chains: Chains) -> Keys:
    """For each content word the key of the chain that begins there; -1 if there is none."""
    keys = chains.alphabet.links(ref.open()).keys
    for table in chains.tables:
        keys = neighbours(table.find(keys))
    return keys


def count_keys(
    ref: Ref[TokenShard], chains: Chains, sketch: Sketch, least: int
) -> tuple[Keys, NDArray[np.int64]]:
    """Keys that may occur `least` times in all documents, and how often they do in these."""
    return np.unique(sketch.likely(find_keys(ref, chains), least), return_counts=True)


def find_stretches(ref: Ref[TokenShard], chains: Chains) -> Keys:
    """Stretches that may hold chains of one word more."""
    return stretches(find_keys(ref, chains))


def neighbours(numbers: NDArray[np.int32]) -> Keys:
    """Keys of chains one word longer, from the numbers of overlapping chains."""
    here, there = numbers[:-1].astype(np.int64), numbers[1:].astype(np.int64)
    keys = np.full(len(numbers), -1, dtype=np.int64)
    keys[:-1] = np.where((here >= 0) & (there >= 0), (here << HALF) | there, -1)
    return keys


def stretches(keys: Keys) -> Keys:
    """The keys that there are, with one -1 where others were."""
    there = keys >= 0
    kept: Keys = keys[there | np.concatenate([[True], there[:-1]])]
    return kept
