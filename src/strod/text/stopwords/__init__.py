"""Words that belong to the language, not to a topic: one editable list per language."""

from __future__ import annotations

import unicodedata
from importlib.resources import files
from typing import TYPE_CHECKING

from strod.errors import InputError, UsageError
from strod.store.files import read_given

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["languages", "read_stopwords", "stopwords"]


def languages() -> list[str]:
    """Codes of the languages that have a list."""
    names = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt"))


def _words(text: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [unicodedata.normalize("NFC", line.casefold()) for line in lines if line]


def stopwords(language: str) -> frozenset[str]:
    """Stop words of a language; ``none`` has none."""
    if language == "none":
        return frozenset()
    if language not in languages():
        known = ", ".join(languages())
        raise UsageError(
            f"`language` {language!r} has no stop words: choose from {known}, or none "
            "and give your own with `stopwords` FILE"
        )
    return frozenset(_words((files(__name__) / f"{language}.txt").read_text(encoding="utf-8")))


def read_stopwords(path: Path) -> tuple[str, ...]:
    """A user's own list: one word a line, ``#`` begins a comment."""
    try:
        return tuple(_words(read_given(path).decode("utf-8-sig")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start})") from error
