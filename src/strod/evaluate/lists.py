"""The best words and phrases of topics, as columns of the counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from strod.text.fold import fold, stemmer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from strod.hierarchy import Topic, Tree
    from strod.phrasebook import PhraseBook
    from strod.workspace import Workspace

    Numbers = NDArray[np.int64]

__all__ = ["phrase_lists", "top_words"]

_JOINTS = re.compile(r"[\s/_\u2010-\u2015-]+")
_OTHERS = re.compile(r"[^\w]+|_")


def top_words(tree: Tree, topic: Topic, top: int) -> Numbers:
    """Columns of the best words of a topic, as `strod show` has them."""
    node = tree.nodes[topic.id]
    heads = np.array(node.heads, dtype=np.int64)
    order = heads if len(heads) >= top else tree.order(node)
    found = order[topic.distribution[order] > 0]
    if len(found) < top and order is heads:
        order = tree.order(node)
        found = order[topic.distribution[order] > 0]
    return found[:top]


def phrase_lists(workspace: Workspace, topics: Iterable[Topic], top: int) -> dict[str, Numbers]:
    """Units of the best phrases of topics, by id.

    A tree keeps phrases as authors write them, so each is looked up by its words. What is not
    found, because somebody wrote the list by hand, is left out.
    """
    texts = {topic.id: [text for text, _ in topic.phrases[:top]] for topic in topics}
    wanted = {text for found in texts.values() for text in found}
    units = _units(workspace, wanted)
    return {
        name: np.array(list(dict.fromkeys(units[t] for t in found if t in units)), dtype=np.int64)
        for name, found in texts.items()
    }


def _units(workspace: Workspace, wanted: set[str]) -> dict[str, int]:
    """The unit of each text."""
    settings = workspace.manifest["corpus"]["settings"]
    language: str = settings["language"]
    stem = stemmer(language) if settings["stem"] else str
    keys = {text: _key(text, language, stem) for text in sorted(wanted)}
    exact = set(keys.values())
    joined = {key.replace(" ", "") for key in exact}  # where words are not set apart
    found: dict[str, int] = {}
    for words, unit in _forms(workspace.phrasebook):
        key = " ".join(words)
        if key in exact:
            found.setdefault(key, unit)
        if (close := "".join(words)) in joined:
            found.setdefault("\0" + close, unit)
    looked = {text: found.get(key, found.get("\0" + key.replace(" ", ""), -1))
              for text, key in keys.items()}  # fmt: skip
    return {text: unit for text, unit in looked.items() if unit >= 0}


def _key(text: str, language: str, stem: Callable[[str], str]) -> str:
    pieces = (stem(fold(piece, language)) for piece in _JOINTS.split(text))
    return " ".join(filter(None, map(_plain, pieces)))


def _plain(word: str) -> str:
    return _OTHERS.sub("", word)


def _forms(book: PhraseBook) -> Iterator[tuple[list[str], int]]:
    """Words of every form, and its unit."""
    units, words = book.units, book.lexicon.words
    unit_of: list[int] = units.unit_of.tolist()
    for place, token in enumerate(units.alphabet.words.tolist()):
        yield [_plain(words[token])], unit_of[place]
    for place, phrase in enumerate(units.phrases, len(units.alphabet.words)):
        yield [_plain(words[token]) for token in units.form_tokens(phrase)], unit_of[place]
