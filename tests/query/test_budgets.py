"""The benchmark of questions marks what is over its budget; no time is measured here."""

from __future__ import annotations

import pytest

pytest.importorskip("tantivy")

from benchmarks.ask import BUDGETS, told


def test_what_is_over_its_budget_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(name, "as measured", budget) for name, budget in BUDGETS.items()]
    assert not told([*rows, ("export --to csv", "takes its time", 1e9)])
    assert "OVER" not in capsys.readouterr().out
    assert told([*rows[1:], (rows[0][0], "as measured", 1.51)])
    assert capsys.readouterr().out.endswith(
        "| placements and metadata | as measured | 1.5 OVER |\n"
    )
