"""The table that numbers strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.corpus.intern import PROBES, SEED, SPARE, StringTable
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
    hash_spans(text, starts, lengths, SEED, hashes)
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


FNV = np.uint64(0xCBF29CE484222325)  # where hashes without a seed begin


def random_words(count: int) -> np.ndarray:
    """Words of seven letters, a row each."""
    return np.random.default_rng(0).integers(97, 123, (count, 7), dtype=np.uint8)


def hashed(words: np.ndarray, seed: np.uint64) -> np.ndarray:
    starts = np.arange(0, words.size, 7, dtype=np.int32)
    hashes = np.empty(len(words), dtype=np.uint32)
    text = words.ravel()
    text.flags.writeable = False
    hash_spans(text, starts, np.full(len(words), 7, dtype=np.int32), seed, hashes)
    return hashes


def flood(seed: np.uint64) -> list[bytes]:
    """Words that would fall into a few slots of a table with hashes of this seed."""
    words = np.unique(random_words(1_500_000), axis=0)
    tags = hashed(words, seed).astype(np.uint64)
    places = tags * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32) & np.uint64(0xFFFF)
    return [row.tobytes() for row in words[places < 100]]


def test_words_chosen_to_collide_cost_no_more_than_others() -> None:
    chosen = flood(FNV)
    assert len(chosen) > 2000
    others = [row.tobytes() for row in random_words(len(chosen))]
    attacked, common = StringTable(), StringTable()
    assert interned(attacked, chosen) == naive({}, chosen)
    interned(common, others)
    assert attacked.probes <= 2 * common.probes


@pytest.mark.parametrize("known", [True, False])
def test_hashes_that_collide_are_given_up(known: bool) -> None:
    """Whoever found out the seed, or a way around it, gains little too."""
    chosen = flood(SEED) if known else [b"%d" % i for i in range(3000)]
    equal = None if known else np.zeros(3000, dtype=np.uint32)
    table, numbers = StringTable(), dict[bytes, int]()
    assert interned(table, chosen, equal) == naive(numbers, chosen)
    assert table.probes <= 2 * (PROBES * len(chosen) + SPARE)
    before = table.probes
    again = [b"new", *chosen[::-1]]
    assert interned(table, again, None if known else np.zeros(3001, dtype=np.uint32)) == naive(
        numbers, again
    )
    assert table.probes - before <= PROBES * len(again)


def test_random_words_never_are() -> None:
    table = StringTable(1)
    interned(table, [row.tobytes() for row in random_words(100_000)])
    assert table.probes < 2.5 * 100_000
