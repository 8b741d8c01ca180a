"""Tasks for tests of engines: functions of a module, which other processes find by name."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from strod.errors import UsageError


class StubbornError(Exception):
    """Can be made from two values only, so that it cannot be made again from what is sent."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def square(item: int) -> int:
    return item * item


def scaled(item: int, factor: float, offset: Any) -> float:
    return float(item * factor + offset["by"])


def uneven(item: int) -> int:
    """The first items take longest."""
    total = 0
    for number in range((20 - item) * 20_000):
        total += number
    return item if total >= 0 else -1


def fail_at(item: int, where: int) -> int:
    if item == where:
        raise UsageError(f"item {item} cannot be")
    return item


def stubborn(item: int) -> int:
    raise StubbornError(item, item)


def unsendable(item: int) -> Any:
    return lambda: item


def end(item: int, where: int) -> int:
    if item == where:
        os._exit(3)
    return item


def process(_: int) -> int:
    return os.getpid()


def identity(_: int, value: Any) -> int:
    return id(value)


def blas(_: int) -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def tenth(item: int) -> float:
    return 10.0 ** (item % 17 - 8) / 3


class Holder:
    """Has a method, which is no task."""

    def method(self, item: int) -> int:
        return item
