"""Labels of documents, and how well topics agree with them level by level."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus.layout import PREFIX
from strod.errors import UsageError
from strod.evaluate.agreement import agreement
from strod.evaluate.report import LabelScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus

    Path = tuple[str, ...]

__all__ = ["compare", "label_paths", "read_labels", "separator"]

SEPARATORS = (">", "|", "/", ".")
ALWAYS = 0.9
_OTHER = "give a field with one label a document, or with paths"


def read_labels(corpus: Corpus, field: str) -> list[Any]:
    """Values of a metadata field, one a document; None where there is none."""
    if field not in corpus.meta:
        there = ", ".join(sorted(corpus.meta))
        hint = f"there are: {there}; others need" if there else "there are none; they need"
        raise UsageError(
            f"`labels` {field}: the workspace has no such field, {hint} a build with `meta` NAME"
        )
    if corpus.meta[field] == "date":
        raise UsageError(f"`labels` {field}: dates are no labels; {_OTHER}")
    values: list[Any] = []
    for shard in corpus.shards():
        values += shard.documents()[f"{PREFIX}{field}"].to_pylist()
    if corpus.meta[field] == "list" and not _are_paths([one for one in values if one]):
        raise UsageError(
            f"`labels` {field}: its lists are no paths from a general label to special ones, "
            f"as the same value comes after different ones; {_OTHER}"
        )
    return values


def _are_paths(lists: Sequence[list[str]]) -> bool:
    """Whether a value nearly always comes after the same ones, as special labels do."""
    before: dict[str, Counter[Path]] = {}
    for values in lists:
        for place, value in enumerate(values):
            before.setdefault(value, Counter())[tuple(values[:place])] += 1
    again = [found for found in before.values() if found.total() > 1]
    total = sum(found.total() for found in again)
    return sum(max(found.values()) for found in again) >= ALWAYS * total


def separator(labels: Sequence[str]) -> str | None:
    """What sets the steps of path labels apart; None if they are no paths.

    A character makes paths if it stands between the parts of at least half of the distinct labels
    and some of them begin alike.
    """
    distinct = sorted(set(labels))
    for mark in SEPARATORS:
        parts = [_split(label, mark) for label in distinct]
        paths = [path for path in parts if len(path) > 1]
        if 2 * len(paths) >= len(parts) > len({path[0] for path in parts}) and paths:
            return mark
    return None


def _split(label: str, mark: str) -> Path:
    return tuple(part for piece in label.split(mark) if (part := piece.strip())) or (label,)


def label_paths(values: Sequence[Any]) -> list[Path | None]:
    """Labels from the general to the specific: lists as they are, text cut where it is a path."""
    plain = [str(v) for v in values if v is not None and not isinstance(v, list)]
    mark = separator(plain) if any(isinstance(v, str) for v in values) else None
    return [_path(value, mark) for value in values]


def _path(value: Any, mark: str | None) -> Path | None:
    if isinstance(value, list):
        return tuple(map(str, value)) or None
    if value is None:
        return None
    return _split(str(value), mark) if mark else (str(value),)


def compare(
    levels: Sequence[NDArray[np.int32]], labels: Sequence[Path | None], known: NDArray[np.bool_]
) -> list[LabelScores]:
    """Topics of every level and the leaves against labels cut to every depth.

    Parameters
    ----------
    levels : sequence of ndarray
        Topic of every document on level 1, 2, …; a leaf above goes on for the levels below.
    labels : sequence of tuple of str
        Its label, None for a document without.
    known : ndarray of bool
        Which documents have words; the others are left out.
    """
    chosen = np.array([label is not None for label in labels], dtype=np.bool_) & known
    held = [label for label, wanted in zip(labels, chosen, strict=True) if wanted and label]
    deepest = max(map(len, held), default=0)
    classes = [_numbers([label[: depth + 1] for label in held]) for depth in range(deepest)]
    sorted_by: list[tuple[int | None, NDArray[np.int32]]] = [
        (number, level[chosen]) for number, level in enumerate(levels, 1)
    ]
    if levels:
        sorted_by.append((None, levels[-1][chosen]))
    return [
        LabelScores(
            level,
            depth,
            len(np.unique(topics)),
            len(np.unique(truth)),
            len(held),
            *agreement(topics, truth),
        )
        for level, topics in sorted_by
        for depth, truth in enumerate(classes, 1)
    ]


def _numbers(names: Sequence[Path]) -> NDArray[np.int64]:
    number: dict[Path, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
