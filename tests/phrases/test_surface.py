"""How authors write a phrase: casing where it tells, hyphens, stems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strod
from strod.phrases.surface import Speller
from tests.phrases.test_criteria import woven

if TYPE_CHECKING:
    from pathlib import Path


def written(phrase: str, *texts: str, otherwise: str = "", stemmed: bool = False) -> str:
    """How a phrase is written that stands in some texts."""
    speller = Speller(phrase.split(), stemmed=stemmed)
    for text in texts:
        speller.read(text, text.lower())
    return speller.written((otherwise or phrase).split())


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("dna", "we found the DNA of ancient horses", "DNA"),
        ("bayesian inference", "they prefer Bayesian inference over others", "Bayesian inference"),
        ("monte carlo", "solved with Monte Carlo methods in time", "Monte Carlo"),
        ("neural network", "trained a neural network with data", "neural network"),
        ("state of the art", "reaches state-of-the-art results there", "state-of-the-art"),
        ("state of the art", "it is the state of the art there", "state of the art"),
        ("bose einstein", "cold atoms in Bose–Einstein condensates form", "Bose–Einstein"),
        ("input output", "measured input/output rates over time", "input/output"),
        ("iphone app", "wrote an iPhone app last year", "iPhone app"),
        ("mrna vaccine", "tested an mRNA vaccine last year", "mRNA vaccine"),
        ("réseau neuronal", "avec un Réseau neuronal dans cette étude", "Réseau neuronal"),
    ],
)
def test_as_authors_write(phrase: str, text: str, expected: str) -> None:
    assert written(phrase, text, text, text) == expected


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("art", "the cart was full of Art for all of them", "Art"),
        ("stone age", "those stones were from the Stone Age for sure", "Stone Age"),
        ("golden horn", "near \u0130stanbul town, at the Golden Horn they met", "Golden Horn"),
        ("οδοσ", "η μεγάλη οδος είναι εδώ για όλους", "οδος"),
        ("sun spot", "where a \u017fun spot was seen by all", "\u017fun spot"),
        ("sun spot", "nothing of the sort is said here", "sun spot"),
    ],
)  # fmt: skip
def test_where_a_phrase_stands(phrase: str, text: str, expected: str) -> None:
    """Not inside of words; letters that have no small form of one letter do no harm."""
    assert written(phrase, text, text, text) == expected


@given(
    st.text("aABs\u017f\u0130\u03c3\u03c2\u03a3 -.", max_size=30),
    st.lists(st.text("abs\u03c3", min_size=1, max_size=3), min_size=1, max_size=2),
)
def test_a_phrase_is_found_where_its_pattern_is(text: str, words: list[str]) -> None:
    speller = Speller(words)
    found, pattern = speller._found(text, text.lower()), speller._pattern.search(text)
    assert (found is None) == (pattern is None)
    if found and pattern and text.isascii():
        assert found.span() == pattern.span()


def test_what_stands_between_is_a_space_or_a_joint() -> None:
    odd = ["a neural   network", "a neural\nnetwork", "a neural, network", "a neural_network"]
    for text in odd:
        assert written("neural network", text, text, text) == "neural network"
    half = ["some deep-learning there"] * 2 + ["some deep learning there"] * 3
    assert written("deep learning", *half) == "deep learning"
    assert written("deep learning", *half[:4], "some deep-learning there") == "deep-learning"


def test_the_beginning_of_a_sentence_does_not_tell() -> None:
    start = "Neural networks are trained with data"
    inside = "we train neural networks with data"
    assert written("neural networks", *[start] * 9, inside) == "neural networks"
    assert written("neural networks", *[f"All is well. {start}"] * 9, inside) == "neural networks"
    assert written("neural networks", *[f"they said: {start}"] * 9, inside) == "neural networks"
    assert written("neural networks", *[start] * 3) == "Neural networks"


def test_names_at_the_beginning_of_sentences() -> None:
    texts = ["Monte Carlo methods are slow here", "with Monte Carlo methods it takes"] * 3
    assert written("monte carlo", *texts) == "Monte Carlo"


def test_titles_do_not_tell() -> None:
    title = "Training Deep Neural Networks For Better Image Recognition"
    shouted = "TRAINING DEEP NEURAL NETWORKS FOR BETTER IMAGE RECOGNITION"
    plain = "we are training deep neural networks for better images"
    assert written("deep neural networks", *[title] * 9, plain) == "deep neural networks"
    assert written("deep neural networks", *[shouted] * 9, plain) == "deep neural networks"
    assert written("deep neural networks", *[title] * 2) == "Deep Neural Networks"


def test_capitals_in_titles_and_in_texts() -> None:
    title = "Using Monte Carlo Methods With Better Image Recognition"
    plain = "we are using Monte Carlo methods with better images"
    assert written("monte carlo", title, title, plain, plain, plain) == "Monte Carlo"


def test_in_doubt_small_letters() -> None:
    texts = ["they study the Web server there", "they study the web server there"]
    assert written("web server", *texts * 3) == "web server"
    assert written("web server", texts[0], texts[0], texts[1]) == "web server"


def test_what_was_never_read_is_as_it_is_elsewhere() -> None:
    assert written("dna sequencing", otherwise="DNA sequencing") == "DNA sequencing"
    assert written("dna sequencing", "nothing of that", otherwise="DNA s") == "DNA s"
    assert written("dna", otherwise="DNA") == "DNA"


def test_whole_words_only() -> None:
    assert written("art", "the start of it", "some arts here", otherwise="ART") == "ART"
    assert written("neural net", "a neural network", otherwise="neural net") == "neural net"


def test_signs_in_words_are_no_patterns() -> None:
    assert written("o'brien theorem", "use the O'Brien theorem here") == "O'Brien theorem"
    assert written("a.b", "aXb", otherwise="A.B") == "A.B"


def test_stems_are_written_in_full() -> None:
    texts = ["they train neural networks with data"] * 3 + ["they train a neural network here"]
    assert written("neural network", *texts, stemmed=True) == "neural networks"
    assert written("comput scienc", *["we like computer science here"] * 3, stemmed=True) == (
        "computer science"
    )
    assert written("comput scienc", otherwise="computing science", stemmed=True) == (
        "computing science"
    )
    assert written("happi", "they are happy today", otherwise="happy", stemmed=True) == "happy"


def test_the_lists_of_a_build(tmp_path: Path) -> None:
    passages = (
        "Monte Carlo",
        "DNA sequence",
        "state-of-the-art",
        "marble fountain",
        "Bayesian network",
    )
    made = strod.build(woven(*passages), out=tmp_path / "w.strod", height=0)
    assert {text for text, _ in made.tree.root.phrases} >= set(passages)


def test_a_build_with_stems(tmp_path: Path) -> None:
    pytest.importorskip("snowballstemmer")
    texts = woven("neural networks", "computer science", times=60)
    made = strod.build(texts, out=tmp_path / "w.strod", height=0, stem=True)
    listed = {text for text, _ in made.tree.root.phrases}
    assert {"neural networks", "computer science"} <= listed
    assert "island" in listed
    assert "comput" not in listed
