"""From written forms to words."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strod.corpus.intern import fold_ascii
from strod.errors import UsageError
from strod.text.characters import DIGIT, LETTER, tables
from strod.text.fold import fold, has_elisions, stemmer
from strod.text.reference import tokens

LANGUAGES = ["en", "de", "fr", "it", "ca", "none"]
PLAIN = st.from_regex(r"[A-Za-z0-9]+('[A-Za-z]+)*", fullmatch=True)


def folded_by_kernel(words: list[bytes], language: str) -> list[bytes | None]:
    """What the kernel makes of each word; None where it leaves it to `fold`."""
    arena = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    elisions = has_elisions(language)
    folded, lengths, plain = fold_ascii(arena, offsets, 0, language == "en", elisions)
    return [
        folded[start : start + length].tobytes() if good else None
        for start, length, good in zip(offsets[:-1], lengths, plain, strict=True)
    ]


@given(st.lists(PLAIN, min_size=1), st.sampled_from(LANGUAGES))
def test_kernel_folds_plain_words_as_the_definition(words: list[str], language: str) -> None:
    found = folded_by_kernel([word.encode() for word in words], language)
    for word, folded in zip(words, found, strict=True):
        if folded is None:
            assert "'" in word
            assert has_elisions(language)
        else:
            assert folded.decode() == fold(word, language)


@given(st.text(min_size=1), st.sampled_from(LANGUAGES))
def test_kernel_leaves_what_is_not_plain_ascii(word: str, language: str) -> None:
    (folded,) = folded_by_kernel([word.encode()], language)
    if "\\" in word or not word.isascii():
        assert folded is None
    elif folded is not None and not word.lower().endswith("'s"):
        assert folded.decode() == fold(word, language)


def test_kernel_folds_from_a_given_word_on() -> None:
    arena = np.frombuffer(b"OneTwo'sTHREE", dtype=np.uint8)
    offsets = np.array([0, 3, 8, 13])
    folded, lengths, plain = fold_ascii(arena, offsets, 1, True, False)
    assert folded.tobytes() == b"two'sthree"
    assert lengths.tolist() == [3, 5]
    assert plain.all()


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("Word", "en", "word"),
        ("Einstein's", "en", "einstein"),
        ("EINSTEIN’S", "en", "einstein"),
        ("Einstein's", "de", "einstein's"),
        ("don't", "en", "don't"),
        ("don’t", "en", "don't"),
        ("Straße", "de", "strasse"),
        ("L'Homme", "fr", "homme"),
        ("qu’il", "fr", "il"),
        ("aujourd'hui", "fr", "aujourd'hui"),
        ("presqu'île", "fr", "presqu'île"),
        ("dell'arte", "it", "arte"),
        ("l'home", "ca", "home"),
        ("L'Homme", "en", "l'homme"),
        (r"Schr\"odinger", "en", "schrödinger"),
        (r"G{\"o}del", "en", "gödel"),
        (r"Ren\'{e}", "en", "rené"),
        (r"\'Eva", "en", "éva"),
        (r"{\~N}u\=a\.z\`a\^o", "en", "ñuāżàô"),
        ("cafe\u0301", "en", "café"),
        ("so\u00adft\u200c", "en", "soft"),
        ("主题", "en", "主题"),
    ],
)
def test_examples(word: str, language: str, expected: str) -> None:
    assert fold(word, language) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_character_folds_to_nothing(language: str) -> None:
    points = [c for c in range(0x40000) if not 0xD800 <= c < 0xE000]
    kind = tables().kind
    letters = [chr(c) for c in points if LETTER <= kind(chr(c)) <= DIGIT]
    assert len(letters) > 100_000
    assert all(fold(letter, language) for letter in letters)


@given(st.text())
def test_words_of_a_text_fold_to_something(text: str) -> None:
    assert all(fold(word) for word in tokens(text, numbers=True) if isinstance(word, str))


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)), st.sampled_from(["de", "none"]))
def test_folding_twice_changes_nothing(word: str, language: str) -> None:
    once = fold(word.replace("\\", ""), language)
    assert fold(once, language) == once


def test_elisions() -> None:
    assert [language for language in LANGUAGES if has_elisions(language)] == ["fr", "it", "ca"]


def test_stemmer() -> None:
    assert stemmer("en")("topics") == stemmer("en")("topic") == "topic"
    assert stemmer("de")("häusern") == "haus"


def test_unknown_stemmer() -> None:
    with pytest.raises(UsageError, match=r"no stemmer for language 'xx'.*en"):
        stemmer("xx")


def test_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(UsageError, match=r"stem needs another package: pip install 'snowball"):
        stemmer("en")
