"""Benchmarks of questions and verbs mark what is over its budget; no time is measured here."""

from __future__ import annotations

import pytest

pytest.importorskip("tantivy")

from benchmarks import revise
from benchmarks.ask import BUDGETS, told


def test_what_is_over_its_budget_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(name, "as measured", budget) for name, budget in BUDGETS.items()]
    assert not told([*rows, ("export --to csv", "takes its time", 1e9)])
    assert "OVER" not in capsys.readouterr().out
    assert told([*rows[1:], (rows[0][0], "as measured", 1.51)])
    assert capsys.readouterr().out.endswith(
        "| placements and metadata | as measured | 1.5 OVER |\n"
    )


def test_verbs_over_their_budgets_are_marked() -> None:
    assert revise.over(revise.found_in_two("expand o/1 into 3", 0.5, 1.5)) == ""
    assert revise.over(revise.found_in_two("collapse o/3", 9.0, 9.0)) == ""
    slow = revise.over(revise.found_in_two("merge o/1/1 and o/1/2", 0.4, 0.2))
    assert slow == "   OVER: merge: preview and applied within 0.5 s"
