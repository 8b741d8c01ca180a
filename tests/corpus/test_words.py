"""Written forms and the words they fold to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.corpus.words import WordTable
from strod.options import CorpusOptions
from strod.store.tables import string_array
from strod.text.fold import fold, word_folder
from tests.chance import drawn

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = st.sampled_from(
    [
        "Word",
        "word",
        "WORD's",
        "don't",
        "l'homme",
        'G{\\"o}del',
        "Gödel",
        "gödel",
        "topics",
        "the",
        "主",
    ]
)


def folder(options: CorpusOptions) -> Callable[[str], str]:
    return word_folder(options.language, options.stop, stem=options.stem)


def saved(folder: Path, name: str, epoch: int) -> pa.Table:
    with pa.OSFile(str(folder / f"{name}-{epoch}"), "rb") as file:
        return pa.ipc.open_file(file).read_all()


def added(table: WordTable, forms: list[str]) -> list[str]:
    """Add the forms of a batch; return the word of each distinct one."""
    counts = Counter(forms)
    encoded = [form.encode() for form in counts]
    arena = np.frombuffer(b"".join(encoded) or b" ", dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    numbers = table.add(arena, offsets)
    assert numbers.size == len(counts)
    with TemporaryDirectory() as folder:
        table.save(Path(folder), 0)
        words = saved(Path(folder), "words", 0)["word"].to_pylist()
        known = saved(Path(folder), "forms", 0).select(["form", "word"]).to_pydict()
    word_of = dict(zip(known["form"], known["word"], strict=True))
    return [words[word_of[form]] for form in counts]


@settings(max_examples=drawn(100))
@given(st.lists(st.lists(FORMS), max_size=4), st.sampled_from(["en", "fr", "none"]), st.booleans())
def test_words_of_forms(batches: list[list[str]], language: str, stem: bool) -> None:
    options = CorpusOptions(language=language, stem=stem and language != "none")
    folded = folder(options)
    table = WordTable(options)
    order: list[str] = []
    for batch in batches:
        forms = list(dict.fromkeys(batch))
        assert added(table, batch) == [folded(form) for form in forms]
        order += [form for form in forms if form not in order]
    assert [table.forms.string(i).decode() for i in range(table.forms.size)] == order


def test_forms_are_saved_in_order_of_appearance(tmp_path: Path) -> None:
    table = WordTable(CorpusOptions())
    added(table, ["Word", "word", "word", "other"])
    added(table, ["word", "WORD"])
    table.save(tmp_path, 3)
    words = saved(tmp_path, "words", 3)["word"].to_pylist()
    assert sorted(words) == ["other", "word"]
    forms = saved(tmp_path, "forms", 3)
    assert forms["form"].to_pylist() == ["Word", "word", "other", "WORD"]
    assert [words[i] for i in forms["word"].to_pylist()] == ["word", "word", "other", "word"]


def test_clear_begins_anew(tmp_path: Path) -> None:
    table = WordTable(CorpusOptions())
    added(table, ["Word", "word", "other"])
    table.clear()
    assert added(table, ["other", "word"]) == ["other", "word"]
    table.save(tmp_path, 1)
    assert saved(tmp_path, "forms", 1)["form"].to_pylist() == ["other", "word"]


def test_more_forms_than_the_first_arrays_hold(tmp_path: Path) -> None:
    forms = [f"W{i}" for i in range(40_000)]
    table = WordTable(CorpusOptions())
    assert added(table, forms[:10_000]) == [form.lower() for form in forms[:10_000]]
    assert added(table, forms) == [form.lower() for form in forms]
    table.save(tmp_path, 0)
    assert saved(tmp_path, "forms", 0)["form"].to_pylist() == forms


def test_stop_words_are_not_stemmed() -> None:
    folded = folder(CorpusOptions(stem=True, stopwords=("topics",)))
    assert folded("Topics") == "topics"
    assert folded("models") == "model"
    assert folded("being") == "being"


@pytest.mark.parametrize("form", ["'s", "\u00ad"])
def test_a_form_that_folds_to_nothing_stays(form: str) -> None:
    assert fold(form) == ""
    assert folder(CorpusOptions())(form) == form
    assert added(WordTable(CorpusOptions()), [form, "x"]) == [form, "x"]


def test_string_array() -> None:
    arena = np.frombuffer("zwölf".encode() + b"x", dtype=np.uint8)
    assert string_array(arena, np.array([0, 6, 6, 7])).to_pylist() == ["zwölf", "", "x"]
    assert string_array(arena[:0], np.array([0])).to_pylist() == []
