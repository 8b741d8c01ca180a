"""Numbers in sentences."""

from __future__ import annotations

import pytest

from strod.wording import counted, percent, sizes


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 documents"), (1, "1 document"), (2000, "2,000 documents")]
)
def test_counted(count: int, expected: str) -> None:
    assert counted(count, "document") == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [(1.0, "100.0%"), (0.1234, "12.3%"), (0.0005, "0.1%"), (0.00049, "<0.1%"), (0.0, "0.0%")],
)
def test_percent(share: float, expected: str) -> None:
    assert percent(share) == expected


def test_sizes() -> None:
    assert sizes(1, 2000, 1) == "1 document, 2,000 words, 1 topic"
