"""Cells of CSV from Arrow columns: as `csv.writer` has them, without a loop over rows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.export.samples import meta_text
from strod.store.tables import arrow_array, text_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FORMULA", "cells", "joined", "row", "scalar", "shares"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_RUN = "^[" + "".join(FORMULA).replace("-", "\\-") + "]"  # what a spreadsheet would run
_QUOTED = '[,"\r\n]'
WHOLE = 10**6  # shares have six digits
LEAST = 100  # millionths: Python writes smaller ones as 1e-05


def cells(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Values as they are written: nothing where there is none, harmless, quoted if need be."""
    text = pc.coalesce(_written(values), scalar(""))
    if _may_run(values.type) and pc.any(pc.match_substring_regex(text, _RUN)).as_py():
        text = pc.if_else(pc.match_substring_regex(text, _RUN), joined([scalar("'"), text]), text)
    special = pc.match_substring_regex(text, _QUOTED)
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, joined([scalar('"'), doubled, scalar('"')]), text)


def _may_run(kind: pa.DataType) -> bool:
    """Whether it is text, which a spreadsheet may run; a number stays one, below 0 too."""
    return any(
        test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_list)
    )


def _written(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = values.type
    if pa.types.is_list(kind):
        return pc.binary_join(values, scalar(", ").cast(kind.value_type)).cast(pa.large_string())
    if pa.types.is_floating(kind):
        known = values.dictionary_encode()
        written = map(meta_text, known.dictionary.to_pylist())
        return text_array(written).take(known.indices)
    return values.cast(pa.large_string())


def shares(values: NDArray[np.float64]) -> pa.Array:
    """Shares, rounded to six digits, as Python writes them."""
    millionths = np.rint(values * WHOLE).astype(np.int64)
    digits = pc.ascii_lpad(arrow_array(millionths).cast(pa.large_string()), 6, "0")
    text = joined([scalar("0."), pc.ascii_rtrim(digits, "0")])
    odd = (millionths < LEAST) | (millionths >= WHOLE)
    if not odd.any():
        return text
    some, places = np.unique(values[odd], return_inverse=True)
    written = text_array([repr(float(value)) for value in some])
    mask = arrow_array(odd.view(np.uint8)).cast(pa.bool_())
    return pc.replace_with_mask(text, mask, written.take(arrow_array(places)))


def joined(parts: Sequence[Any]) -> pa.Array:
    """Texts one after another."""
    return pc.binary_join_element_wise(*parts, scalar(""))


def row(columns: Sequence[pa.Array]) -> pa.Array:
    """Cells with commas between them."""
    return reduce(lambda one, other: joined([one, scalar(","), other]), columns)


def scalar(value: str) -> pa.Scalar:
    """A text for Arrow; `pyarrow.scalar` would load pandas."""
    return text_array([value])[0]
