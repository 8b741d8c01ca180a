"""Windows of texts with the matches marked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strod.query.parse import parse, terms_of
from strod.query.snippets import _WORD, ELLIPSIS, _pattern, snippet
from strod.query.terms import Terms, Words
from strod.store.schema import CorpusSettings
from tests.chance import drawn


def terms(query: str, **options) -> Terms:
    words = Words(CorpusSettings(**options))
    return Terms(tuple(dict.fromkeys(terms_of(parse(query, words, {})))), words.fold)


def marked(text: str, query: str, width: int = 180, **options) -> str:
    pieces = snippet(text, terms(query, **options), width)
    return "".join(f"[{piece}]" if match else piece for piece, match in pieces)


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("On federated learning.", "learning", "On federated [learning]."),
        ("On Federated  Learning.", '"federated learning"', "On [Federated Learning]."),
        ("Federated-learning, learning", '"federated learning"', "[Federated-learning], learning"),
        ("networks and a net", "net*", "[networks] and a [net]"),
        ("Einstein's theory", "einstein", "[Einstein's] theory"),
        ('The Schr\\"odinger equation', "schrödinger", 'The [Schr\\"odinger] equation'),
        ('{\\"U}ber Schr{\\"o}dinger', "über schrödinger", '[{\\"U}ber] [Schr{\\"o}dinger]'),
        ("nai\u0308ve Bayes", "naïve", "[nai\u0308ve] Bayes"),
        ("这是主题模型的介绍", "主题模型", "这是[主题模型]的介绍"),
        ("这是主题", "题", "这是主[题]"),
        ("one\n\n two", "two", "one [two]"),
        ("a \x1b[31mred\x07 fox", "fox", "a \x1b[31mred\x07 [fox]"),
        ("nothing here", "fox", "nothing here"),
        ("the $k$ means", '"the means"', "[the] $k$ [means]"),
        ("", "fox", ""),
    ],
)
def test_matches_are_marked(text: str, query: str, shown: str) -> None:
    assert marked(text, query) == shown


def test_stems_and_elisions() -> None:
    assert marked("Networks network", "network", stem=True) == "[Networks] [network]"
    assert marked("l'homme", "homme", language="fr") == "[l'homme]"


def test_the_window_with_most_different_terms_is_best() -> None:
    text = "fox " * 10 + "word " * 60 + "the fox and the hen " + "word " * 60
    shown = marked(text, "fox hen", 60)
    assert "the [fox] and the [hen]" in shown
    assert shown.startswith(ELLIPSIS)
    assert shown.endswith(ELLIPSIS)
    assert marked(text, "fox", 60).startswith("[fox] [fox]")


def test_a_term_that_is_longer_than_the_window_is_shown() -> None:
    assert marked("a b c d e f", '"b c d e"', 3) == f"{ELLIPSIS}[b c d e]{ELLIPSIS}"


@settings(max_examples=drawn(400))
@given(
    st.text(alphabet="aZ9 \\{}'\u2019\"^-.\n$_", max_size=40), st.text("éßªʼ\u2013a' ", max_size=9)
)
@example("\\'Uber 3'a it's {\\\"o}'s \\^{a}'b", "")
def test_plain_texts_have_the_words_of_any_text(text: str, more: str) -> None:
    for one in (text, text + more):
        assert _pattern(one) is not _WORD
        assert _pattern(one).split(one) == _WORD.split(one)


TEXT = st.text(alphabet="ab '\\\"\n主题ü-", max_size=80)


@settings(max_examples=drawn(200))
@given(
    TEXT, st.sampled_from(["a", '"a b"', "a*", "主", "主题", "aa OR b", "ü"]), st.integers(1, 40)
)
def test_pieces_are_a_stretch_of_the_text(text: str, query: str, width: int) -> None:
    pieces = snippet(text, terms(query), width)
    assert all(piece for piece, _ in pieces)
    assert all(a or b for (_, a), (_, b) in pairwise(pieces))
    whole = " ".join("".join(piece for piece, _ in pieces).replace(ELLIPSIS, "").split())
    assert whole in " ".join(text.split())
    longest = max((len(piece) for piece, match in pieces if match), default=0)
    assert sum(len(piece) for piece, _ in pieces) <= max(width, longest) + 2 + len(text) * (
        longest > width
    )
