"""How chance is used in tests: the same draws in every run, or new ones to look for faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from hypothesis.stateful import RuleBasedStateMachine

__all__ = ["drawn", "long_but", "part_of"]

MORE = 10  # times as many examples where draws are random

settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile(
    "random",
    derandomize=False,
    database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
    deadline=None,
    max_examples=MORE * 100,
    print_blob=True,
)
settings.load_profile("fixed")


def drawn(examples: int) -> int:
    """How many examples to draw where `examples` are enough for every day."""
    return examples if settings().derandomize else MORE * examples


def long_but(daily: Container[object], values: Iterable[object]) -> list[object]:
    """Values of a parameter: a test with one that is not `daily` is a long one."""
    return [v if v in daily else pytest.param(v, marks=pytest.mark.long) for v in values]


def part_of(machine: type[RuleBasedStateMachine], number: int) -> type[RuleBasedStateMachine]:
    """One of several tests of the same machine: fixed draws differ from those of the others."""
    return seed(number)(machine) if settings().derandomize else machine
