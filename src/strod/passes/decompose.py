"""One node is one task: its inner loops are threads of the process that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.model.decompose import POWER, NotSplit, split_node
from strod.model.sampling import blocks
from strod.values.topic import seed_of

if TYPE_CHECKING:
    from strod.model.options import TreeOptions
    from strod.moments.counts import Counts
    from strod.tensor.power import Power
    from strod.values.split import Decomposition

__all__ = ["Sample", "decompose"]


class Sample(NamedTuple):
    """What a topic is learnt from: its topical counts in some documents, a part a shard."""

    topic: str
    level: int
    parts: list[Counts]


def decompose(
    sample: Sample, width: int, options: TreeOptions, threads: int, power: Power = POWER
) -> Decomposition | str:
    """The decomposition of a topic, or why it stays a leaf."""
    options = options.at(sample.level)
    random = np.random.default_rng(seed_of(options.seed, sample.topic))
    ahead = options.ahead(sample.topic)
    joined = blocks(sample.parts)
    try:
        return split_node(joined, width, options, random, threads, power, ahead=ahead)
    except NotSplit as leaf:
        return str(leaf)
