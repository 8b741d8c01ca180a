"""Singular and plural, with accents and without, numbered: forms that are one thing to a reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["base_forms", "singulars", "unnumbered"]

# Ends in s, yet is no plural, or not of the word that is left.
_NOT_PLURAL = frozenset(
    [
        "always",
        "bias",
        "chaos",
        "corps",
        "lens",
        "mars",
        "means",
        "news",
        "perhaps",
        "series",
        "species",
        "thus",
        "towards",
    ]
)
_PLURAL = frozenset(  # and these are, though they end like dynamics or corpus
    [
        "antibiotics",
        "characteristics",
        "clinics",
        "cpus",
        "critics",
        "fabrics",
        "gpus",
        "heuristics",
        "logics",
        "menus",
        "metrics",
        "topics",
    ]
)
_SHORTEST = 4
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_NO_ACCENTS = frozenset({"en"})  # where they make no difference
_PLURAL_IN_S = frozenset({"en", "es", "fr", "pt", "nl"})


def singulars(word: str) -> Iterator[str]:
    """What a word may be the plural of, the likeliest first."""
    if len(word) < _SHORTEST or word in _NOT_PLURAL or not word.endswith("s"):
        return
    if word in _PLURAL:
        yield word[:-1]
        return
    for ending, others in (
        ("ices", ("ix", "ex", "ice")),
        ("ies", ("y", "ie")),
        ("sses", ("ss",)),
        ("shes", ("sh",)),
        ("ches", ("ch", "che")),
        ("xes", ("x", "xe", "xis")),
        ("zzes", ("zz",)),
        ("yses", ("ysis",)),
        ("ses", ("se", "sis", "s")),
        ("oes", ("o", "oe")),
        ("ves", ("ve", "f", "fe")),
        ("ics", ()),  # dynamics, statistics
        ("ss", ()),
        ("us", ()),
        ("is", ()),
        ("s", ("",)),
    ):
        if word.endswith(ending):
            yield from (word[: -len(ending)] + other for other in others)
            return


def base_forms(words: Sequence[str], language: str) -> NDArray[np.int64]:
    """For each word its plain singular, if that is among the words, else itself; as numbers."""
    number = {word: place for place, word in enumerate(words)}
    base: NDArray[np.int64] = np.arange(len(words))
    for place, word in enumerate(words):
        if language in _NO_ACCENTS and not word.isascii():
            base[place] = number.get(_plain(word), place)
        if language in _PLURAL_IN_S and word.endswith("s"):
            known = (number[single] for single in singulars(word) if single in number)
            base[place] = next(known, base[place])
    if language not in _PLURAL_IN_S:
        return base
    singular: NDArray[np.int64] = base[base]  # the singular of a singular
    return singular


def _plain(word: str) -> str:
    """Without accents, which not everybody types."""
    return "".join(mark for mark in normalize("NFD", word) if not combining(mark))


def unnumbered(words: Sequence[str]) -> tuple[str, ...]:
    """Words without what numbers a thing: "figure supplement 1a" and "2b" are one figure.

    Digits count for nothing, nor do words that are a letter or a Roman number without them, as
    long as another word is left. In scripts that know no small letters one letter is a word.
    """
    plain = [_DIGITS.sub("", word) for word in words]
    named = [word for word in plain if not _is_number(word)]
    return tuple(sorted(named or plain))


def _is_number(word: str) -> bool:
    """Whether a word without digits is nothing, a letter or a Roman number."""
    letter = len(word) == 1 and word.upper() != word
    return letter or _ROMAN.fullmatch(word) is not None
