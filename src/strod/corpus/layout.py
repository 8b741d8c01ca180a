"""Columns of the tables of a corpus, and what may stand in them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "EPOCH",
    "FIRST_DAY",
    "LAST_DAY",
    "LEXICON",
    "LONGEST_ID",
    "PAIRS",
    "PAIR_TIMES",
    "PREFIX",
    "fields_of",
]

LEXICON = pa.schema(
    [
        pa.field("word", pa.large_string(), nullable=False),
        pa.field("surface", pa.large_string(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("occurrences", pa.int64(), nullable=False),
        pa.field("stop", pa.bool_(), nullable=False),
        pa.field("column", pa.int32(), nullable=False),
    ]
)
LONGEST_ID = 1000  # bytes
EPOCH = date(1970, 1, 1)
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days
PAIRS, PAIR_TIMES = "corpus/pairs.npy", "corpus/pair_times.npy"
PREFIX = "meta."  # of the columns of metadata


def fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a row of documents, as JSON has it."""
    return {
        name.removeprefix(PREFIX): value.isoformat() if isinstance(value, date) else value
        for name, value in row.items()
        if name.startswith(PREFIX)
    }
