"""The hash table and the sketch against dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from strod.phrases import table as module
from strod.phrases.table import Sketch, Table

EXTREMES = [0, 1, 2**20, 2**21, 2**32, 2**41, 2**61, 2**62 - 1, 2**62]


def random_keys(random: np.random.Generator, size: int) -> np.ndarray:
    """Distinct keys: dense, spread out, or like links of few words."""
    kind = random.integers(3)
    if kind == 0:
        keys = random.permutation(2 * size)[:size]
    elif kind == 1:
        keys = random.integers(0, 2**62, size)
    else:
        keys = (random.integers(0, 40, size) << 41) | (random.integers(0, 40, size) << 20)
    return random.permutation(np.unique(np.concatenate([keys, EXTREMES]))).astype(np.int64)


def test_numbers_equal_a_dictionary() -> None:
    random = np.random.default_rng(0)
    for size in [1, 2, 7, 8, 9, 15, 16, 17, 100, 1000, 5000]:
        keys = random_keys(random, size)
        number = {int(key): place for place, key in enumerate(keys)}
        asked = np.concatenate([keys, keys + 1, keys ^ 2**41, [-1, -2, -(2**62)]])
        expected = [number.get(int(key), -1) if key >= 0 else -1 for key in asked]
        assert Table(keys).find(asked).tolist() == expected


def test_full_clusters() -> None:
    """Keys that differ in their highest bits only still have numbers of their own."""
    keys = (np.arange(3000, dtype=np.int64) << 41) | 5
    assert Table(keys).find(keys).tolist() == list(range(3000))
    assert Table(keys).find(keys + 1).max() == -1


@pytest.mark.parametrize("size", range(20))
def test_small_tables_have_room(size: int) -> None:
    keys = np.arange(size, dtype=np.int64)
    table = Table(keys)
    assert (table.slots == -1).sum() >= size
    assert table.find(np.arange(40, dtype=np.int64)).tolist() == [*range(size), *[-1] * (40 - size)]


def test_nothing() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert Table(empty).find(np.array(EXTREMES)).tolist() == [-1] * len(EXTREMES)
    assert Table(np.array(EXTREMES)).find(empty).tolist() == []
    sketch = Sketch(0)
    sketch.add(empty)
    assert sketch.likely(empty, 1).tolist() == []
    assert sketch.likely(np.array([-1, 0, 5]), 1).tolist() == []


@pytest.mark.parametrize("room", [0, 100, 100_000])
def test_a_sketch_never_counts_too_few(room: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(10):
        keys = random.choice(random_keys(random, 4000), 12_000)
        keys[random.random(len(keys)) < 0.2] = -1
        counts = Counter(key for key in keys.tolist() if key >= 0)
        sketch = Sketch(room)
        for part in np.array_split(keys, 5):
            sketch.add(part)
        for least in (1, 2, 5, 8):
            found = sketch.likely(keys, least).tolist()
            assert -1 not in found
            kept = set(found)
            assert kept >= {key for key, count in counts.items() if count >= least}
            assert found == [key for key in keys.tolist() if key in kept]
        assert sketch.likely(keys, len(keys) + 1).tolist() == []


def test_a_roomy_sketch_rules_out_most_of_what_is_rare() -> None:
    random = np.random.default_rng(2)
    keys = np.unique(random.integers(0, 2**62, 20_000))
    sketch = Sketch(20 * len(keys))
    sketch.add(keys)
    assert len(sketch.likely(keys, 2)) < 0.1 * len(keys)


def mixed(keys: np.ndarray) -> np.ndarray:
    """Where keys fall in a table without a seed."""
    value = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return (value ^ (value >> np.uint64(29))) >> np.uint64(1)


def chosen_pairs() -> np.ndarray:
    """Pairs of words that would fall into a few slots."""
    words = np.arange(2000, dtype=np.int64)
    keys = ((words[:, None] << 32) | words).ravel()
    return keys[(mixed(keys) & np.uint64(0x3FFF)) < 16][:3000]


def test_keys_chosen_to_collide_cost_no_more_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = chosen_pairs()
    assert len(keys) == 3000
    seeds = iter([0, 0, 12345])  # the first two are those that whoever chose the keys foresaw
    monkeypatch.setattr(module, "new_seed", lambda: next(seeds))
    table = Table(keys)
    assert table.slots[-1] == 12345
    assert table.find(keys).tolist() == list(range(3000))
