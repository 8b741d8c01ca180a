"""Lists of stop words."""

from __future__ import annotations

import unicodedata
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from strod.errors import InputError, UsageError
from strod.text.reference import tokens
from strod.text.stopwords import languages, read_stopwords, stopwords

if TYPE_CHECKING:
    from pathlib import Path


def raw_words(language: str) -> list[str]:
    text = (files("strod.text.stopwords") / f"{language}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_languages() -> None:
    assert languages() == sorted(languages())
    assert {"en", "de", "fr", "es"} <= set(languages())


@pytest.mark.parametrize("language", languages())
def test_list_is_clean(language: str) -> None:
    words = raw_words(language)
    assert len(words) > 50
    assert [w for w in words if w != unicodedata.normalize("NFC", w)] == []
    assert [w for w in words if w != w.casefold()] == []
    assert [w for w in words if w != w.strip() or "#" in w or "\ufeff" in w] == []
    assert [w for w in words if words.count(w) > 1] == []
    assert stopwords(language) == set(words)


@pytest.mark.parametrize("language", languages())
def test_each_entry_is_one_word(language: str) -> None:
    assert [word for word in raw_words(language) if tokens(word, numbers=True) != [word]] == []


def test_common_words_are_in() -> None:
    assert {"the", "and", "of", "don't"} <= stopwords("en")
    assert {"der", "die", "und"} <= stopwords("de")
    assert "topic" not in stopwords("en")


def test_no_stop_words() -> None:
    assert stopwords("none") == frozenset()


@pytest.mark.parametrize("language", ["xx", "", "EN", "../en", "__init__"])
def test_unknown_language(language: str) -> None:
    with pytest.raises(UsageError, match=r"language .* has no stop words: choose from de, en"):
        stopwords(language)


def test_list_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_bytes("\ufeff# mine\nTopic\n  model  # both\n\n#\nCafe\u0301\r\nSTRASSE\n".encode())
    assert read_stopwords(path) == ("topic", "model", "café", "strasse")


def test_list_of_the_user_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: cannot be read: No such file"):
        read_stopwords(tmp_path / "missing")
    (tmp_path / "latin").write_bytes("naïve".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin: is not UTF-8 text \(byte 2\)"):
        read_stopwords(tmp_path / "latin")
