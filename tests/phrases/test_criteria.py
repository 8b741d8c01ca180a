"""What is a phrase and what is not, a small text for each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import strod
from tests.phrases.helpers import mined, phrases_of

if TYPE_CHECKING:
    from pathlib import Path

FILLER = [
    "river", "stone", "cloud", "market", "letter", "garden", "engine", "signal", "winter",
    "bridge", "copper", "ladder", "mirror", "needle", "orange", "pencil", "rocket", "saddle",
    "temple", "velvet", "window", "yellow", "candle", "dragon", "falcon", "hammer", "island",
    "jacket", "kettle", "lemon",
]  # fmt: skip


def woven(*passages: str, times: int = 40, seed: int = 0) -> list[str]:
    """Documents with a passage each, among words in random order."""
    random = np.random.default_rng(seed)
    documents = []
    for passage in passages:
        for _ in range(times):
            before, after = (" ".join(random.choice(FILLER, 5)) for _ in range(2))
            documents.append(f"{before} {passage} {after}")
    return [documents[place] for place in random.permutation(len(documents))]


@pytest.mark.parametrize(
    "between",
    [". ", "! ", "? ", "… ", "\n\n", ", ", "; ", ": ", " (", " / ", " – ", " + ", " 1984 ", "。",
     " https://x.org/a ", " <p> ", " $x^2$ "],
)  # fmt: skip
def test_nothing_crosses_a_break(between: str, tmp_path: Path) -> None:
    found = mined(tmp_path, woven(f"Marble{between}Fountain"))
    assert not any("marble" in phrase for phrase in found)


@pytest.mark.parametrize("between", [" ", "-", "_", " & ", "\n", "  ", " <b>", "\u2010", "&nbsp;"])
def test_what_joins_words_is_no_break(between: str, tmp_path: Path) -> None:
    found = mined(tmp_path, woven(f"Marble{between}Fountain"))
    assert found["marble fountain"] == 40


def test_nothing_crosses_documents(tmp_path: Path) -> None:
    """One ends with a word and the next begins with another, all the time."""
    texts = [text for text in woven("marble", "fountain") if "marble" in text]
    halves = [text.split("marble") for text in texts]
    parts = [[f"{before} marble", f"fountain {after}"] for before, after in halves]
    found = mined(tmp_path, [text for pair in parts for text in pair])
    assert "marble fountain" not in found


def test_stop_words_stand_inside_and_never_at_the_ends(tmp_path: Path) -> None:
    texts = woven(
        "the quality of service of the", "a state of the art in a", "of the marble fountain and"
    )
    found = mined(tmp_path, texts)
    assert {"quality of service", "state of the art", "marble fountain"} <= set(found)
    stop = {"the", "of", "a", "in", "and"}
    assert not [
        phrase for phrase in found if set(phrase.split()[:: len(phrase.split()) - 1]) & stop
    ]


def test_gaps_are_part_of_a_phrase(tmp_path: Path) -> None:
    found = mined(tmp_path, woven("quality of service", "quality in service", "quality service"))
    assert found["quality of service"] == found["quality in service"] == found["quality service"]


def test_three_stop_words_in_a_row_are_a_break(tmp_path: Path) -> None:
    found = mined(tmp_path, woven("marble of all the fountain", "copper of the kettle"))
    assert "copper of the kettle" in found
    assert not any("marble" in phrase for phrase in found)


def test_hardly_any_content(tmp_path: Path) -> None:
    made = strod.build(["of the river and in", "the of"] * 20, out=tmp_path / "w.strod", height=1)
    assert phrases_of(made) == {}
    assert [text for text, _ in made.tree.root.phrases] in ([], ["river"])


def test_a_part_of_a_phrase_is_no_phrase(tmp_path: Path) -> None:
    found = mined(tmp_path, woven("support vector machine", times=60))
    assert found["support vector machine"] == 60
    assert not {"support vector", "vector machine"} & set(found)


def test_a_part_that_often_stands_alone_is_a_phrase(tmp_path: Path) -> None:
    texts = woven("support vector machine", "vector machine", times=60)
    texts += woven("vector machine", times=30, seed=1)
    found = mined(tmp_path, texts)
    assert found["support vector machine"] == 60
    assert found["vector machine"] == 150
    assert "support vector" not in found


def test_frequent_pairs_of_words_that_have_nothing_to_do_with_each_other(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(FILLER[:12], 40)) for _ in range(300)]
    assert mined(tmp_path, texts) == {}


def test_significance_and_count_are_options(tmp_path: Path) -> None:
    texts = woven("marble fountain", times=12) + woven("", times=200, seed=1)
    for folder in "abc":
        (tmp_path / folder).mkdir()
    assert "marble fountain" in mined(tmp_path / "a", texts, phrase_min_count=12)
    assert "marble fountain" not in mined(tmp_path / "b", texts, phrase_min_count=13)
    assert "marble fountain" not in mined(tmp_path / "c", texts, phrase_threshold=3.5)


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_length_is_an_option(length: int, tmp_path: Path) -> None:
    found = mined(
        tmp_path, woven("north of marble fountain of black granite"), phrase_length=length
    )
    content = [[word for word in phrase.split() if word != "of"] for phrase in found]
    assert max(map(len, content)) == length


def test_a_word_twice_is_never_listed(tmp_path: Path) -> None:
    texts = woven("bye bye", "end to end", "marble fountain", times=100)
    made = strod.build(texts, out=tmp_path / "w.strod", children=2, height=1)
    assert {"bye bye", "end to end", "marble fountain"} <= set(phrases_of(made))
    listed = {text for topic in made.tree.values() for text, _ in topic.phrases}
    assert "marble fountain" in listed
    assert not {"bye bye", "end to end"} & listed


@pytest.mark.parametrize(
    ("phrase", "folded", "language"),
    [
        ("Réseau neuronal", "réseau neuronal", "fr"),
        ("qualité de service", "qualité de service", "fr"),
        ("Машинное обучение", "машинное обучение", "none"),
        ("Νευρωνικό δίκτυο", "νευρωνικό δίκτυο", "none"),
        ("机器 学习", "机器 学习", "en"),
        ("機械学習 モデル", "機械学習 モデル", "en"),
        ("기계 학습", "기계 학습", "en"),
        ("Straße Café", "strasse café", "de"),
        ('Schr\\"odinger equation', "schrödinger equation", "en"),
        ("Bose–Einstein condensate", "bose einstein condensate", "en"),
    ],
)
def test_scripts_and_accents(phrase: str, folded: str, language: str, tmp_path: Path) -> None:
    assert mined(tmp_path, woven(phrase), language)[folded] == 40
