"""Arrow data a few rows at a time: what dictionaries stand for may be larger by far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from strod.text.records import LONGEST_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Sizes = NDArray[np.int64]

__all__ = ["pieces"]

ROWS = 4096
BYTES = 4 << 20
LONGEST_ROW = 2 * LONGEST_DOCUMENT
_BINARY = (
    kinds.is_string,
    kinds.is_large_string,
    kinds.is_binary,
    kinds.is_large_binary,
    kinds.is_fixed_size_binary,
)


def _is_list(kind: pa.DataType) -> bool:
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind))


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without dictionaries."""
    if kinds.is_dictionary(kind):
        return kind.value_type
    if _is_list(kind):
        make = pa.list_ if kinds.is_list(kind) else pa.large_list
        return make(_plain(kind.value_type))
    if kinds.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind


def _sizes(array: pa.Array) -> Sizes:
    """About how many bytes each value takes without dictionaries."""
    kind = array.type
    if kinds.is_dictionary(kind):
        sizes = np.append(_sizes(array.dictionary), 0)
        places = pc.fill_null(array.indices.cast(pa.int64()), sizes.size - 1)
        return np.asarray(sizes[places.to_numpy()])
    if _is_list(kind):
        return _sums(array, _sizes(array.values))
    if kinds.is_map(kind):
        return _sums(array, _sizes(array.keys) + _sizes(array.items))
    if kinds.is_struct(kind):
        parts = [_sizes(array.field(i)) for i in range(kind.num_fields)]
        return np.asarray(sum(parts, start=np.zeros(len(array), dtype=np.int64)))
    if any(test(kind) for test in _BINARY):
        return np.asarray(pc.fill_null(pc.binary_length(array), 0), dtype=np.int64)
    return np.full(len(array), 8, dtype=np.int64)


def _sums(array: pa.Array, sizes: Sizes) -> Sizes:
    """For each list the sum of the sizes of what is in it."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    result: Sizes = np.diff(before[array.offsets.to_numpy()])
    return result


def pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch | None]:
    """Some rows at a time without dictionaries; None stands for a row that is too long."""
    sizes = sum(map(_sizes, batch.columns), start=np.zeros(batch.num_rows, dtype=np.int64))
    ends = np.cumsum(sizes)
    first = 0
    while first < batch.num_rows:
        if sizes[first] > LONGEST_ROW:
            yield None
            first += 1
            continue
        room = ends[first] - sizes[first] + BYTES
        end = min(int(np.searchsorted(ends, room, side="right")), first + ROWS)
        end = max(end, first + 1)
        yield _written_out(batch.slice(first, end - first))
        first = end


def _written_out(batch: pa.RecordBatch) -> pa.RecordBatch:
    fields = [field.with_type(_plain(field.type)) for field in batch.schema]
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
