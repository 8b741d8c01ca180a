"""Words of a text with the topics that explain them.

A word w of a document d is explained by leaf z with the probability p(z | w, d) ∝ θ_dz·φ_zw, where
θ are the document's shares and φ the words of the topics.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from strod.text.reference import word_spans
from strod.text.tokenizers import is_unspaced, spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from strod.workspace.tree import Topic

__all__ = ["explained", "found_words"]

Span = tuple[int, int, str]


def found_words(text: str) -> Iterator[Span]:
    """Where the words of a text are, and what they are; of pairs of characters the first one."""
    wide, places = _widened(text)
    spans = [(places[begin], places[end - 1] + 1) for begin, end in word_spans(wide, numbers=True)]
    for (begin, end), (after, stop) in pairwise([*spans, (len(text), len(text))]):
        word = text[begin:end]
        if is_unspaced(word) and after == end and is_unspaced(text[after:stop]):
            word = text[begin:stop]
        yield begin, end, word


def _widened(text: str) -> tuple[str, Sequence[int]]:
    """The text with characters set apart that are words, and the place that each came from."""
    wide = spaced(text)
    if len(wide) == len(text):
        return wide, range(len(text))
    places, place = [], 0
    for character in wide:
        same = place < len(text) and character == text[place]
        places.append(place if same else max(place - 1, 0))
        place += same
    return wide, places


def explained(
    text: str,
    fold: Callable[[str], str],
    columns: Mapping[str, int],
    shares: Sequence[tuple[Topic, float]],
) -> list[tuple[int, int, str]]:
    """Begin and end of each word of the model, and the path of the leaf that explains it most.

    Parameters
    ----------
    text : str
        The text.
    fold : callable
        Written form to word.
    columns : mapping of int
        Columns of the model by word.
    shares : sequence of (Topic, float)
        Leaves, and the document's shares of them.
    """
    known = [
        (begin, end, columns[word])
        for begin, end, word in ((one, two, fold(form)) for one, two, form in found_words(text))
        if word in columns
    ]
    if not known or not shares:
        return []
    words = np.array([column for _, _, column in known])
    likely = np.stack([share * topic.distribution[words] for topic, share in shares])
    best, there = likely.argmax(axis=0), likely.max(axis=0) > 0
    return [
        (begin, end, shares[leaf][0].path)
        for (begin, end, _), leaf, some in zip(known, best.tolist(), there.tolist(), strict=True)
        if some
    ]
