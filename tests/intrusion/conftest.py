"""Trees to ask about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strod.intrusion.questions import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping


def tree_of(lists: Mapping[str, str]) -> dict[str, Entry]:
    """A tree from paths and what stands for them, in words."""
    return {
        path: Entry(
            path,
            path.count("/"),
            path.rpartition("/")[0] or None,
            tuple(other for other in lists if other.rpartition("/")[0] == path),
            tuple(text.split()),
        )
        for path, text in lists.items()
    }


@pytest.fixture
def garden() -> dict[str, Entry]:
    """Two topics of three children each; `oak` and `Rose` are in more than one list."""
    return tree_of(
        {
            "o": "tree flower",
            "o/1": "tree oak elm fir wood",
            "o/2": "flower rose tulip oak lily",
            "o/1/1": "elm twig bark leaf",
            "o/1/2": "fir cone needle resin",
            "o/1/3": "plank saw board Rose",
            "o/2/1": "rose thorn hip hedge",
            "o/2/2": "tulip bulb spring dutch",
            "o/2/3": "lily pond frog white",
        }
    )
