"""The examples in the docstrings of questions, run on a small workspace."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import numpy as np
import pytest

import strod
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {
    "tea": ["leaves", "kettle", "steep", "brew", "cup", "harvest", "garden", "oolong"],
    "trains": [
        "station",
        "rails",
        "engine",
        "ticket",
        "platform",
        "signal",
        "carriage",
        "timetable",
    ],
}
METHODS = ("search", "documents", "slice", "trends", "entities", "placements", "topics_table")


def small(out: Path) -> Workspace:
    """100 documents on tea, and 60 on trains, more of them each year."""
    random, records = np.random.default_rng(0), []
    for number in range(160):
        place, year = divmod(number, 4)
        field = "trains" if place < (4, 12, 18, 26)[year] else "tea"
        words = random.choice(WORDS[field], 12).tolist()
        author = "Ada" if field == "tea" else "Bo"
        records.append(
            {
                "id": f"d{number}",
                "text": " ".join([field, *words]),
                "year": 2020 + year,
                "authors": [author, "Cy"] if number % 5 == 0 else [author],
            }
        )
    meta = {"year": "number", "authors": "list"}
    return strod.build(records, out=out, meta=meta, children=2, height=1, min_df=1)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return small(tmp_path_factory.mktemp("examples") / "tea.strod")


@pytest.mark.parametrize("method", METHODS)
def test_examples_run(workspace: Workspace, method: str) -> None:
    text = getattr(Workspace, method).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"workspace": workspace}, method, None, 0)
    assert test.examples
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
