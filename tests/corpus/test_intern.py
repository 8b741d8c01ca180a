"""The table that numbers strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.corpus.intern import StringTable
from strod.text.scan import hash_spans
from tests.chance import drawn

STRINGS = st.lists(st.binary(max_size=6) | st.sampled_from([b"a", b"b", b"ab", b"x" * 50]))


def spans(strings: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Text, starts and lengths; an empty string becomes a marker."""
    text = np.frombuffer(b"".join(strings) or b" ", dtype=np.uint8)
    lengths = np.array([len(string) for string in strings], dtype=np.int32)
    starts = (np.cumsum(lengths) - lengths).astype(np.int32)
    return text, starts, np.where(lengths == 0, -2, lengths).astype(np.int32)


def interned(table: StringTable, strings: list[bytes], hashes=None) -> list[int]:
    ids = np.full(len(strings), -99, dtype=np.int32)
    table.intern(*spans(strings), ids, hashes)
    return ids.tolist()


def naive(numbers: dict[bytes, int], strings: list[bytes]) -> list[int]:
    return [numbers.setdefault(s, len(numbers)) if s else -2 for s in strings]


@settings(max_examples=drawn(200))
@given(st.lists(STRINGS, max_size=4), st.sampled_from([1, 2, 16]))
def test_table_equals_a_dict(batches: list[list[bytes]], capacity: int) -> None:
    table = StringTable(capacity)
    numbers: dict[bytes, int] = {}
    for batch in batches:
        assert interned(table, batch) == naive(numbers, batch)
        assert table.size == len(numbers)
        assert table.arena.tobytes() == b"".join(numbers)
        assert [table.string(i) for i in range(table.size)] == list(numbers)
        assert np.diff(table.offsets).tolist() == [len(string) for string in numbers]


@settings(max_examples=drawn(100))
@given(STRINGS, st.sampled_from([0, 1, 0xFFFFFFFF]))
def test_equal_hashes_do_not_mix_up_strings(strings: list[bytes], value: int) -> None:
    hashes = np.full(len(strings), value, dtype=np.uint32)
    assert interned(StringTable(1), strings, hashes) == naive({}, strings)


@settings(max_examples=drawn(50))
@given(STRINGS)
def test_hashes_may_be_given_or_not(strings: list[bytes]) -> None:
    text, starts, lengths = spans(strings)
    hashes = np.empty(lengths.size, dtype=np.uint32)
    hash_spans(text, starts, lengths, hashes)
    table = StringTable(1)
    first = interned(table, strings, hashes)
    assert interned(table, strings) == first


def test_growth_from_a_tiny_table() -> None:
    strings = [b"%d" % (i * i % 7919) for i in range(20_000)]
    table = StringTable(1)
    before = table.nbytes
    assert interned(table, strings) == naive({}, strings)
    assert table.nbytes > 100 * before


def test_one_string_larger_than_the_arena() -> None:
    strings = [b"a", b"x" * 10_000, b"b", b"x" * 10_000]
    assert interned(StringTable(1), strings) == [0, 1, 2, 1]


def test_clear_forgets_all_strings() -> None:
    table = StringTable(2)
    interned(table, [b"one", b"two", b"three", b"four"])
    table.clear()
    assert (table.size, table.arena.size, table.offsets.tolist()) == (0, 0, [0])
    assert interned(table, [b"two", b"five", b"two"]) == [0, 1, 0]
    assert table.arena.tobytes() == b"twofive"


@pytest.mark.parametrize("writeable", [True, False])
def test_text_may_be_read_only(writeable: bool) -> None:
    text, starts, lengths = spans([b"one", b"two"])
    text = text.copy()
    text.flags.writeable = writeable
    ids = np.empty(2, dtype=np.int32)
    StringTable().intern(text, starts, lengths, ids)
    assert ids.tolist() == [0, 1]
    assert text.flags.writeable == writeable
