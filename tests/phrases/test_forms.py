"""Singular and plural, accents, word order: forms that are one unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.phrases.forms import base_forms, singulars, unnumbered
from strod.phrases.quality import Phrase
from strod.phrases.stream import Alphabet
from strod.phrases.units import PhraseLexicon, Units
from tests.phrases.helpers import book_of
from tests.phrases.test_criteria import woven

if TYPE_CHECKING:
    from pathlib import Path

import strod


def base(*words: str, language: str = "en") -> list[str]:
    """The base form of each word, where all of them are known."""
    return [words[place] for place in base_forms(words, language)]


def units_of(words: list[str], counts: list[int], phrases: dict[str, int]) -> Units:
    """Units of a lexicon whose stop words are "of" and "the"."""
    stop = np.array([word in ("of", "the") for word in words])
    lexicon = PhraseLexicon(words, np.array(counts), stop, np.arange(len(words), dtype=np.int32))
    alphabet = Alphabet.of(lexicon.occurrences, stop, 1)
    found = [
        Phrase(*alphabet.chain([words.index(word) for word in phrase.split()]), count, 9.0, 0.9)
        for phrase, count in phrases.items()
    ]
    return Units.of(alphabet, found, lexicon)


def texts_of(units: Units, words: list[str]) -> list[str]:
    return [" ".join(words[token] for token in units.tokens(unit)) for unit in range(units.size)]


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("graphs", "graph"),
        ("matrices", "matrix"),
        ("indices", "index"),
        ("vertices", "vertex"),
        ("services", "service"),
        ("analyses", "analysis"),
        ("hypotheses", "hypothesis"),
        ("databases", "database"),
        ("viruses", "virus"),
        ("lenses", "lens"),
        ("classes", "class"),
        ("theories", "theory"),
        ("movies", "movie"),
        ("boxes", "box"),
        ("churches", "church"),
        ("caches", "cache"),
        ("wishes", "wish"),
        ("heroes", "hero"),
        ("shoes", "shoe"),
        ("waves", "wave"),
        ("proofs", "proof"),
        ("halves", "half"),
        ("knives", "knife"),
        ("keys", "key"),
        ("états", "état"),
    ],
)
def test_plurals(plural: str, singular: str) -> None:
    assert base(plural, singular) == [singular, singular]
    assert base(singular, "other", plural) == [singular, "other", singular]
    assert base(plural, "other") == [plural, "other"]
    assert base(singular, "other") == [singular, "other"]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("series", "sery"),
        ("series", "serie"),
        ("species", "specie"),
        ("dynamics", "dynamic"),
        ("statistics", "statistic"),
        ("class", "clas"),
        ("bus", "bu"),
        ("status", "statu"),
        ("analysis", "analysi"),
        ("gas", "ga"),
        ("news", "new"),
        ("lens", "len"),
        ("bias", "bia"),
        ("means", "mean"),
        ("graph", "grap"),
    ],
)
def test_what_is_no_plural(word: str, other: str) -> None:
    assert base(word, other) == [word, other]
    assert word not in singulars(other)


def test_the_likeliest_singular_first() -> None:
    assert list(singulars("bases")) == ["base", "basis", "bas"]
    assert base("bases", "basis", "base") == ["base", "basis", "base"]
    assert base("bases", "basis") == ["basis", "basis"]
    assert base("axes", "axe", "ax") == ["ax", "axe", "ax"]


def test_other_languages_keep_their_endings() -> None:
    assert base("Haus", "Hau", language="de") == ["Haus", "Hau"]
    assert base("graphs", "graph", language="de") == ["graphs", "graph"]
    assert base("graphs", "graph", language="none") == ["graphs", "graph"]
    assert base("maisons", "maison", language="fr") == ["maison", "maison"]


def test_accents() -> None:
    assert base("schrödinger", "schrodinger") == ["schrodinger"] * 2
    assert base("schrödinger", "other") == ["schrödinger", "other"]
    assert base("naïve", "naive", "naivety") == ["naive", "naive", "naivety"]
    assert base("erdős", "erdos") == ["erdos"] * 2
    for language in ("none", "de", "es"):  # where an accent makes another word
        assert base("erdős", "erdos", language=language) == ["erdős", "erdos"]
    assert base("øre", "ore") == ["øre", "ore"]  # a letter of its own, not an accent


def test_accents_of_plurals() -> None:
    assert base("cafés", "café", "cafe") == ["cafe"] * 3
    assert base("cafés", "cafes", "cafe") == ["cafe"] * 3
    assert base("cafés", "café") == ["café"] * 2


def test_base_forms_are_base_forms() -> None:
    random = np.random.default_rng(0)
    endings = ["", "s", "es", "ses", "sis", "x", "ix", "ices", "y", "ies", "é", "és", "e"]
    for _ in range(100):
        words = sorted({f"ab{a}{b}" for a, b in random.choice(endings, (12, 2))})
        found = base_forms(words, "en")
        assert found.shape == (len(words),)
        for place, word in enumerate(words):
            if not list(singulars(word)) and word.isascii():
                assert found[place] == place
    assert base_forms([], "en").tolist() == []


def test_forms_are_one_unit_and_the_commonest_stands_for_it() -> None:
    words = ["graph", "graphs", "theory", "of", "the", "theories"]
    counts = [50, 90, 70, 500, 400, 3]
    phrases = {
        "graph theory": 20,
        "theory of graphs": 30,
        "theory of the graph": 5,
        "graph theories": 2,
        "graph graphs": 4,
    }
    units = units_of(words, counts, phrases)
    assert units.size == 4
    assert texts_of(units, words) == ["graphs", "theory", "theory of graphs", "graph graphs"]
    assert units.unit_of.tolist() == [0, 0, 1, 1, 2, 2, 2, 2, 3]
    assert units.words == [(1,), (2,), (2, 1), (0, 1)]


def test_equally_common_forms() -> None:
    words = ["graph", "graphs", "theory"]
    units = units_of(words, [5, 5, 5], {"graphs theory": 3, "graph theory": 3})
    assert texts_of(units, words) == ["graph", "theory", "graphs theory"]


def test_a_phrase_and_its_word_are_two_units() -> None:
    words = ["graph", "theory"]
    units = units_of(words, [9, 9], {"graph theory": 9, "theory graph": 9, "graph graph": 9})
    assert units.unit_of.tolist() == [0, 1, 2, 2, 3]


def test_one_entry_in_the_lists_of_a_build(tmp_path: Path) -> None:
    texts = woven("graph theory", "theory of graphs", "Schrödinger equation", times=50)
    texts += woven("Schrodinger equations", "graph theories", times=20, seed=1)
    made = strod.build(texts, out=tmp_path / "w.strod", height=0)
    listed = [text.lower() for text, _ in made.tree.root.phrases]
    assert sum("graph" in text for text in listed) == 1
    assert sum("schr" in text for text in listed) == 1
    assert "schrödinger equation" in listed
    book = book_of(made)
    unit = next(u for u in range(book.units.size) if len(book.units.words[u]) == 2)
    shards = [ref.open() for ref in book.refs]
    assert sum(shard.counts[:, [unit]].sum() for shard in shards) in (
        120,
        70,
    )


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["figure", "supplement", "1a"], ["figure", "supplement"]),
        (["figure", "supplement", "12"], ["figure", "supplement"]),
        (["rna", "polymerase", "iii"], ["polymerase", "rna"]),
        (["type", "xiv"], ["type"]),
        (["t", "cell"], ["cell"]),
        (["β", "catenin"], ["catenin"]),
        (["cd4", "cell"], ["cd", "cell"]),
        (["mix", "civil"], ["civil", "mix"]),  # Roman letters, but no numbers below forty
        (["3d"], ["d"]),  # of what is a number altogether something is left
        (["ii"], ["ii"]),
        (["心", "細胞"], ["心", "細胞"]),  # a word of one letter
    ],
)
def test_numbers_of_things(words: list[str], left: list[str]) -> None:
    assert unnumbered(words) == tuple(left)


def test_what_is_numbered_is_listed_once(tmp_path: Path) -> None:
    """By its most frequent form, though another might say more."""
    texts = woven("figure supplement 1a", "figure supplement 1b", times=40)
    texts += woven("figure supplement 2a", times=60, seed=1)
    texts += woven("type ii error", "type iii error", "support vector machine", times=30, seed=2)
    made = strod.build(texts, out=tmp_path / "w.strod", height=0)
    listed = [text.lower() for text, _ in made.tree.root.phrases]
    assert [text for text in listed if "supplement" in text] == ["figure supplement 2a"]
    assert sum("type" in text for text in listed) == 1
    assert "support vector machine" in listed
