"""What was wrong once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

import strod
from strod.corpus.phrases import read_counts, read_units, write_counts, write_units
from strod.errors import DamagedError, StrodError, UsageError
from strod.phrases.forms import base_forms
from strod.store.files import Files
from tests.conftest import files_below
from tests.phrases import test_planted
from tests.phrases.helpers import mined
from tests.phrases.test_build import texts as build_texts
from tests.phrases.test_criteria import woven
from tests.phrases.test_ranking import named
from tests.phrases.test_store import book as stored_book
from tests.phrases.test_store import workspace as stored_workspace
from tests.phrases.test_surface import written

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.phrases import PhraseIndex
    from strod.workspace.tree import Topic

texts, book, workspace = build_texts, stored_book, stored_workspace  # fixtures


def test_many_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_planted, "DOCUMENTS", 20_000)
    made = strod.build(test_planted.planted(0), out=tmp_path / "w.strod", children=4, height=1)
    assert test_planted.judged(made)[1] >= 0.95


def test_the_namer_sees_the_name_of_the_parent(texts: list[str], tmp_path: Path) -> None:
    def namer(topic: Topic) -> str:
        assert topic.parent is not None
        return f"{topic.parent.label or ''}/{topic.path[-1]}"

    made = strod.build(texts, out=tmp_path / "w.strod", children=3, height=2, namer=namer)
    assert made.tree["o/2/1"].label == "/2/1"


@pytest.mark.parametrize(
    ("name", "told"), [("same", "'same' to o/1 and o/2"), ("o/2", "like a path"), (" ", "blank")]
)
def test_a_namer_that_misleads(texts: list[str], tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        strod.build(texts, out=tmp_path / "w.strod", children=3, namer=lambda _: name)


def test_a_namer_that_fails(texts: list[str], tmp_path: Path) -> None:
    def silent(_: Topic) -> Any:
        return None

    def broken(_: Topic) -> str:
        raise ConnectionError("the model does not answer")

    for namer, what in ((silent, "the namer gave None for topic o/1"), (broken, "does not answer")):
        with pytest.raises(StrodError, match=what):
            strod.build(texts, out=tmp_path / "w.strod", children=3, namer=namer)
        assert not (tmp_path / "w.strod").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phrase_threshold", "3"), ("phrase_threshold", None), ("phrase_length", "5"),
        ("phrase_length", None), ("phrase_length", 2.5), ("phrases", "no"), ("phrases", None),
    ],
)  # fmt: skip
def test_kinds_of_options(name: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=name):
        strod.build(["a text"], out=tmp_path / "w.strod", **{name: value})


def test_any_bit_of_the_forms(book: PhraseIndex, tmp_path: Path) -> None:
    write_units(tmp_path / "phrases", book.units)
    path = tmp_path / "phrases" / "forms.parquet"
    data, random = path.read_bytes(), np.random.default_rng(0)
    for _ in range(1000):
        changed = bytearray(data)
        changed[random.integers(len(data))] ^= 1 << int(random.integers(8))
        path.write_bytes(changed)
        try:
            read_units(Files(tmp_path), book.lexicon)
        except DamagedError as error:
            text = str(error)
            assert "\n" not in text


@pytest.mark.parametrize("column", ["count", "cohesion"])
def test_missing_numbers(column: str, book: PhraseIndex, tmp_path: Path) -> None:
    write_units(tmp_path / "phrases", book.units)
    path = tmp_path / "phrases" / "forms.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    nothing = pa.nulls(len(table), table.schema.field(place).type)
    pq.write_table(table.set_column(place, column, nothing), path)
    with pytest.raises(DamagedError):
        read_units(Files(tmp_path), book.lexicon)


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("indptr", [0, 1, 2, 3, 4, 9]), ("indptr", [0, 1, 5, 3, 4, 5]), ("indptr", [0, 1, 2]),
        ("indices", [0, 1, 2, 3, 99]), ("counts", [1, 1]),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit(array: str, value: list[int], tmp_path: Path) -> None:
    write_counts(tmp_path / "phrases" / "0000", [csr_array(np.eye(5, dtype=np.int32))])
    path = tmp_path / "phrases" / "0000" / f"{array}.npy"
    np.save(path, np.array(value, dtype=np.load(path).dtype))
    with pytest.raises(DamagedError):
        read_counts(files_below(tmp_path), "0000", 5, 5)


def test_casing_where_nothing_stands_around() -> None:
    plain = "we use deep learning here in tests"
    assert written("deep learning", *["Deep Learning"] * 4, plain) == "deep learning"


def test_two_words_are_not_one() -> None:
    assert written("data base", *["the database has a data base"] * 3) == "data base"


def test_casing_is_looked_up_all_over_the_corpus(tmp_path: Path) -> None:
    texts = woven("Marble Fountain", times=6) + woven("marble fountain", times=200, seed=1)
    made = strod.build(texts, out=tmp_path / "w.strod", height=0)
    assert "marble fountain" in [text for text, _ in made.tree.root.phrases]


def test_names_fit_and_differ() -> None:
    long = "bidirectional encoder representations from transformers"
    assert len(named([long])[0]) <= 40
    assert named([long, "x"]) == ["x"]
    assert len(set(named(["galaxy"], ["galaxy"]))) == 2
    same = ["convolutional neural networks", "image recognition", "object detection"]
    assert len(set(named(same, same))) == 2


@pytest.mark.parametrize("times", [5, 8, 9])
def test_rare_phrases_if_they_are_asked_for(times: int, tmp_path: Path) -> None:
    texts = woven("marble fountain", times=times) + woven("", times=300, seed=1)
    assert "marble fountain" in mined(tmp_path, texts, phrase_min_count=5)


@pytest.mark.parametrize("pair", ["topics topic", "metrics metric", "gpus gpu", "axes axis"])
def test_plurals(pair: str) -> None:
    assert base_forms(pair.split(), "en").tolist() == [1, 1]


@pytest.mark.parametrize(
    ("pair", "language"), [("año ano", "es"), ("schön schon", "de"), ("får far", "sv")]
)
def test_letters_that_are_not_accents(pair: str, language: str) -> None:
    assert base_forms(pair.split(), language).tolist() == [0, 1]
