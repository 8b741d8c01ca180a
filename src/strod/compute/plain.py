"""Sums over rows of numbers, with the order of every sum written down.

A row has a multiple of `LANES` numbers (`with_lanes`): its sum runs over lanes and then over the
lanes' sums, and `ROWS` rows go at a time, so that none waits for the one before.
`strod.compute.lanes` does the same with vectors, twice as fast; here is what it has to give, to
the last bit.
"""

from __future__ import annotations

from typing import Any

from strod.compute.kernels import helper
from strod.values.padding import LANES

__all__ = ["check_lanes", "divide", "pull", "push"]

ROWS = LANES  # `divide` and `pull` are written for four


@helper
def check_lanes(rows: Any, table: Any) -> None:
    """Refuse widths that the functions below would take wrongly; once, not for every document."""
    if rows.shape[1] != table.shape[1] or table.shape[1] % LANES:
        raise ValueError("rows and table must have the same whole lanes")


@helper
def divide(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """values_j /= Σ_z rows_dz·table_iz with i = indices_j."""
    for j in range(indices.size):
        i = indices[j]
        one = two = three = four = 0.0
        for z in range(0, table.shape[1], LANES):
            one += rows[d, z] * table[i, z]
            two += rows[d, z + 1] * table[i, z + 1]
            three += rows[d, z + 2] * table[i, z + 2]
            four += rows[d, z + 3] * table[i, z + 3]
        values[j] /= (one + two) + (three + four)


@helper
def pull(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """rows_d += Σ_j values_j·table_i with i = indices_j."""
    whole = indices.size - indices.size % ROWS
    for j in range(0, whole, ROWS):
        for z in range(table.shape[1]):
            left = values[j] * table[indices[j], z] + values[j + 1] * table[indices[j + 1], z]
            right = (
                values[j + 2] * table[indices[j + 2], z] + values[j + 3] * table[indices[j + 3], z]
            )
            rows[d, z] += left + right
    for j in range(whole, indices.size):
        for z in range(table.shape[1]):
            rows[d, z] += values[j] * table[indices[j], z]


@helper
def push(rows: Any, d: int, table: Any, indices: Any, values: Any) -> None:
    """table_i += values_j·rows_d with i = indices_j, one after the other."""
    for j in range(indices.size):
        for z in range(table.shape[1]):
            table[indices[j], z] += values[j] * rows[d, z]
