"""Metadata of many documents at once: as JSON, with what its values look like.

What is said of a column here is what `strod.corpus.metadata` says of its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.corpus import metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.text.blocks import Values

__all__ = ["Encoded", "encoded", "value_weight", "weights"]

_OTHER = 16  # about how many bytes a value takes that is no text
_DAY = r"^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"  # dates as most are
_QUOTE, _BACKSLASH, _SPACE = b'"\\ '


class Encoded(NamedTuple):
    """Metadata of some documents.

    Attributes
    ----------
    json : bytes
        A list of values a document, one after another.
    sizes : ndarray of int64
        Bytes of each.
    kinds : list of set of str
        Of each field, what its values look like.
    """

    json: bytes
    sizes: NDArray[np.int64]
    kinds: list[set[str]]


def value_weight(value: Any) -> int:
    """About how many bytes a metadata value takes."""
    return len(value) if isinstance(value, str | bytes) else _OTHER


def weights(values: Values) -> NDArray[np.int64]:
    """The same of each of some values."""
    if isinstance(values, list):
        return np.fromiter(map(value_weight, values), np.int64, len(values))
    if not _is_text(values.type):
        return np.full(len(values), _OTHER)
    return np.asarray(pc.fill_null(pc.utf8_length(values), _OTHER), dtype=np.int64)


def encoded(columns: Sequence[Values]) -> Encoded:
    """Columns, at least one, as `metadata.encode` has the documents."""
    parts: list[Any] = [_text("[")]
    for values in columns:
        parts += [_json(values), _text(",")]
    rows = pc.binary_join_element_wise(*parts[:-1], _text("]"), _text(""))
    _, places, data = rows.buffers()
    bounds = np.frombuffer(places, dtype=np.int64)[: len(rows) + 1]
    return Encoded(data.to_pybytes()[: bounds[-1]], np.diff(bounds), [*map(_kinds, columns)])


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, pa.large_string())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _json(values: Values) -> pa.Array:
    """Each value as JSON."""
    if isinstance(values, list):
        written = [metadata.encode_value(value).decode() for value in values]
        return pa.array(written, pa.large_string())
    if pa.types.is_list(values.type):
        found = _json_lists(values)
    elif _is_text(values.type):
        found = _json_strings(values)
    else:
        found = values.cast(pa.large_string())
    return pc.fill_null(found, "null")


def _json_strings(values: pa.Array) -> pa.Array:
    values = values.cast(pa.large_string())
    data = np.frombuffer(values.buffers()[2] or b"", dtype=np.uint8)
    if ((data == _QUOTE) | (data == _BACKSLASH) | (data < _SPACE)).any():
        return _json(values.to_pylist())
    return pc.binary_join_element_wise(_text('"'), values, _text('"'), _text(""))


def _json_lists(values: pa.Array) -> pa.Array:
    sizes = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
    bounds = np.append(0, np.cumsum(sizes)).astype(np.int32)
    members = pc.binary_join(pa.ListArray.from_arrays(bounds, _json(values.flatten())), _text(","))
    found = pc.binary_join_element_wise(_text("["), members, _text("]"), _text(""))
    return pc.if_else(values.is_valid(), found, pa.scalar(None, pa.large_string()))


def _kinds(values: Values) -> set[str]:
    """What values look like."""
    if isinstance(values, list):
        return set(map(metadata.kind, values))
    nothing = {metadata.NULL} if values.null_count else set()
    if not _is_text(values.type):
        some = values.drop_null()[:1].to_pylist()  # all others are of the same kind
        return nothing | set(map(metadata.kind, some))
    if pc.all(pc.match_substring_regex(values, _DAY)).as_py() and len(values.drop_null()):
        return nothing | {metadata.DATE}
    return set(map(metadata.kind, pc.unique(values).to_pylist()))
