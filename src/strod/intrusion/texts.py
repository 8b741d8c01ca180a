"""From a phrase as it is written back to the unit it stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strod.text.fold import fold, stemmer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from strod.workspace import Workspace

    Spelling = Callable[[Iterable[str]], str]

__all__ = ["units_of_texts"]

_BETWEEN = re.compile(r"(?:(?!['\u2019])[\W_])+")
_OUTSIDE = re.compile(r"[\W_]+")


def units_of_texts(workspace: Workspace, texts: Collection[str]) -> dict[str, int]:
    """Units of the phrases `texts`, those that are known.

    A tree keeps its phrases as text. Its words tell which unit is meant; where authors write
    them otherwise than they are counted, its letters do. Of two units that are written the
    same it is the more frequent one.
    """
    settings = workspace.manifest["corpus"]["settings"]
    language: str = settings["language"]
    stem = stemmer(language) if settings["stem"] else str
    words = {
        text: [stem(fold(word, language)) for word in _BETWEEN.split(text) if word]
        for text in texts
    }
    forms = list(_forms(workspace))
    found = _matched(words, forms, " ".join)
    rest = {text: pieces for text, pieces in words.items() if text not in found}
    return found | _matched(rest, forms, _letters)


def _letters(words: Iterable[str]) -> str:
    return "".join(_OUTSIDE.sub("", word) for word in words)


def _matched(
    words: dict[str, list[str]],
    forms: list[tuple[int, int, list[list[str]]]],
    spelling: Spelling,
) -> dict[str, int]:
    """Units whose spelling is that of a text."""
    wanted: dict[str, list[str]] = {}
    for text, pieces in words.items():
        wanted.setdefault(spelling(pieces), []).append(text)
    best: dict[str, tuple[int, int]] = {}
    for unit, count, ways in forms if wanted else ():
        for way in ways:
            for text in wanted.get(spelling(way), ()):
                best[text] = max(best.get(text, (-1, 0)), (count, -unit))
    return {text: -unit for text, (_, unit) in best.items()}


def _forms(workspace: Workspace) -> Iterator[tuple[int, int, list[list[str]]]]:
    """Unit, occurrences, and words of each form: as they are counted, and as written."""
    book = workspace.phrasebook
    units, counted = book.units, book.lexicon.words
    written = [word.casefold() for word in workspace.corpus.lexicon["surface"].to_pylist()]
    tokens = [[int(word)] for word in units.alphabet.words]
    tokens += [units.form_tokens(phrase) for phrase in units.phrases]
    counts = [*units.counts.tolist(), *(phrase.count for phrase in units.phrases)]
    for unit, count, form in zip(units.unit_of.tolist(), counts, tokens, strict=True):
        ways = [[counted[token] for token in form], [written[token] for token in form]]
        yield unit, count, ways
