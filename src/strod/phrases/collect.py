"""From tokens to the words and phrases that lists are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.phrases.mine import mine
from strod.phrases.quality import phrases
from strod.phrases.stream import Alphabet
from strod.phrases.units import Units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref
    from strod.phrases.options import PhraseOptions
    from strod.phrases.stream import TokenShard
    from strod.phrases.units import PhraseLexicon
    from strod.progress import Progress

__all__ = ["collect"]


def collect(
    refs: Sequence[Ref[TokenShard]],
    lexicon: PhraseLexicon,
    options: PhraseOptions,
    engine: Engine,
    progress: Progress,
) -> Units:
    """Mine phrases, keep the good ones, and put the forms of a thing together."""
    least = options.least(int(lexicon.occurrences.sum()))
    alphabet = Alphabet.of(lexicon.occurrences, lexicon.stop, least)
    found = []
    if options.phrases:
        levels = mine(refs, alphabet, least, options.phrase_length, engine, progress)
        occurrences = lexicon.occurrences[alphabet.words]
        total = float(lexicon.occurrences[~lexicon.stop].sum())
        found = phrases(levels, np.asarray(occurrences), options.threshold(least), total)
    return Units.of(alphabet, found, lexicon)
