"""Compressed sparse rows on disk: the same rows without some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.store.arrays import ArrayWriter, read_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.store.files import Files

__all__ = ["keep_rows"]

ROWS = 1 << 16  # at once


def keep_rows(
    files: Files,
    where: tuple[str, Path],
    offsets: str,
    arrays: Mapping[str, str],
    keep: NDArray[np.bool_],
) -> None:
    """Copy the rows to keep from a folder of a workspace to another.

    Parameters
    ----------
    files : Files
        The workspace.
    where : (str, Path)
        Name of the folder in the workspace, and the folder to write to.
    offsets : str
        Name of the array that says where each row begins.
    arrays : mapping of str
        Names and kinds of the arrays that hold the rows.
    keep : ndarray of bool
        Which rows stay.
    """
    source, target = where
    target.mkdir(parents=True, exist_ok=True)
    begins = read_array(files, f"{source}/{offsets}.npy", "<i8")
    sizes = np.diff(begins)
    _write(target / f"{offsets}.npy", "<i8", [np.concatenate([[0], np.cumsum(sizes[keep])])])
    for name, kind in arrays.items():
        data = read_array(files, f"{source}/{name}.npy", kind)
        pieces = (
            data[begins[row] : begins[min(row + ROWS, len(keep))]][
                np.repeat(keep[row : row + ROWS], sizes[row : row + ROWS])
            ]
            for row in range(0, len(keep), ROWS)
        )
        _write(target / f"{name}.npy", kind, pieces)


def _write(path: Path, kind: str, pieces: Iterable[NDArray[Any]]) -> None:
    writer = ArrayWriter(path, kind)
    try:
        for piece in pieces:
            writer.append(piece)
        writer.close()
    finally:
        writer.discard()
