"""The lexicon: joined epochs, commonest forms, columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from strod.corpus.ingest import MARKERS
from strod.corpus.lexicon import Lexicon, _commonest_forms, _join, _numbered, _slice_of
from strod.text.characters import CLAUSE, HOLE, SENTENCE

WORDS = ["", "a", "ab", "abc", "abcd", "abcde", "zwölf", "主题模型", "主题", "é", "😀😀", "b", "ba"]


def counted(words: list[tuple[str, int, int]]) -> pa.Table:
    names, documents, occurrences = zip(*words, strict=True)
    return pa.table(
        {
            "word": pa.array(names, pa.large_string()),
            "documents": pa.array(documents, pa.int64()),
            "occurrences": pa.array(occurrences, pa.int64()),
        }
    )


def forms(entries: list[tuple[str, int, int]]) -> pa.Table:
    written, words, counts = zip(*entries, strict=True)
    return pa.table(
        {
            "form": pa.array(written, pa.large_string()),
            "word": pa.array(words, pa.int32()),
            "count": pa.array(counts, pa.int64()),
        }
    )


def test_each_word_is_in_one_slice() -> None:
    words = pa.array(WORDS, pa.large_string())
    masks = [_slice_of(words, 16, part) for part in range(16)]
    assert np.sum(masks, axis=0).tolist() == [1] * len(WORDS)
    assert sum(mask.any() for mask in masks) > 4
    assert _slice_of(words, 1, 0).all()


def test_slices_are_the_same_in_each_epoch() -> None:
    some = pa.array(WORDS[::-2], pa.large_string())
    for part in range(16):
        every = dict(
            zip(WORDS, _slice_of(pa.array(WORDS, pa.large_string()), 16, part), strict=True)
        )
        found = _slice_of(some, 16, part).tolist()
        assert found == [every[word] for word in some.to_pylist()]


def test_join_adds_up_the_epochs() -> None:
    first = counted([("a", 2, 5), ("b", 1, 1), ("the", 1, 1), ("gone", 0, 0)])
    second = counted([("b", 1, 4), ("c", 1, 9), ("of", 0, 0)])
    joined = _join([first, second], 2, pa.array(["of", "the"], pa.large_string())).sort_by("word")
    assert joined.to_pydict() == {
        "word": ["a", "b", "the"],
        "documents": [2, 2, 1],
        "occurrences": [5, 5, 1],
        "stop": [False, False, True],
    }


def test_commonest_form() -> None:
    words = pa.table({"word": ["a", "b", "c"]})
    first = forms([("b", 1, 2), ("B", 1, 2), ("A", 0, 1), ("a", 0, 2), ("Ca", 2, 1)])
    second = forms([("A", 0, 2), ("C", 2, 1)])
    assert _commonest_forms([first, second], words).to_pylist() == ["A", "B", "C"]


def test_numbers_of_words() -> None:
    words = pa.chunked_array([["x", "b"], ["a"]], pa.large_string())
    among = pa.chunked_array([["a"], ["b"]], pa.large_string())
    assert _numbered(words, among, HOLE).tolist() == [HOLE, 1, 0]


def test_markers_point_at_themselves() -> None:
    numbers = np.concatenate([np.array([7, 8, 9]), MARKERS])
    assert numbers[[SENTENCE, CLAUSE, HOLE]].tolist() == [SENTENCE, CLAUSE, HOLE]


def test_columns_of_markers() -> None:
    table = pa.table({"column": pa.array([1, -1, 0], pa.int32())})
    columns = Lexicon(table, [], 1).columns
    assert columns.dtype == np.int32
    assert columns[[0, 1, 2, SENTENCE, CLAUSE, HOLE]].tolist() == [1, -1, 0, -1, -1, -1]
