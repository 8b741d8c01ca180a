"""From a word as written to the word that is counted.

Folding happens once per distinct written form, not once per token, so it can afford
to be exact: Unicode normalisation and case folding, LaTeX accents composed, clitics
dropped (Einstein's → einstein; in French l'homme → homme), stems if wanted.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.extras import install

if TYPE_CHECKING:
    from collections.abc import Callable, Container

__all__ = ["composed", "fold", "has_elisions", "stemmer", "word_folder"]

_LATEX_ACCENT = re.compile(r"\{?\\([\"'`^~=.])\{?([A-Za-z])\}?\}?")
_COMBINING = dict(zip("\"'`^~=.", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307", strict=True))
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060"))
_APOSTROPHES = {ord("\u2019"): "'", ord("\uff07"): "'"}
_ELISIONS = {
    "fr": re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=.)"),
    "it": re.compile(r"(?:[cdlmstv]|gl|un|(?:a|da|de|ne|su|que|be)ll|quest|sant)'(?=.)"),
    "ca": re.compile(r"[dlmnst]'(?=.)"),
}


def has_elisions(language: str) -> bool:
    """Whether articles and pronouns are written onto the next word, as in l'homme."""
    return language in _ELISIONS


def composed(word: str) -> str:
    r"""`word` with its LaTeX accents as characters, for display.

    Examples
    --------
    >>> composed('Schr{\\"o}dinger')
    'Schrödinger'
    """
    accented = _LATEX_ACCENT.sub(lambda m: m[2] + _COMBINING[m[1]], word)
    return unicodedata.normalize("NFC", accented)


def fold(word: str, language: str = "en") -> str:
    r"""Return the form of `word` that is counted.

    Examples
    --------
    >>> fold('Schr\\"odinger\'s')
    'schrödinger'
    >>> fold("L'Homme", "fr")
    'homme'
    """
    if "\\" in word:
        word = composed(word)
    word = word.translate(_INVISIBLE | _APOSTROPHES)
    word = unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())
    if language == "en":
        return word.removesuffix("'s")
    if language in _ELISIONS:
        elided = _ELISIONS[language].match(word)
        return word[elided.end() :] if elided else word
    return word


_SNOWBALL = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}


def stemmer(language: str) -> Callable[[str], str]:
    """Snowball stemmer of a language (needs the extra ``stem``)."""
    if language not in _SNOWBALL:
        known = ", ".join(_SNOWBALL)
        raise UsageError(f"no stemmer for language {language!r}: choose from {known}")
    try:
        import snowballstemmer  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UsageError(f"`stem` needs another package: {install('stem')}") from error
    stem: Callable[[str], str] = snowballstemmer.stemmer(_SNOWBALL[language]).stemWord
    return stem


def word_folder(language: str, stop: Container[str], *, stem: bool) -> Callable[[str], str]:
    """Written form → word, stemmed if wanted. Stop words are not stemmed."""
    if not stem:
        return lambda written: fold(written, language) or written
    stemmed = stemmer(language)

    def folded(written: str) -> str:
        word = fold(written, language) or written
        return word if word in stop else stemmed(word) or word

    return folded
