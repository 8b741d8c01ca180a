"""What the user may choose about the tree, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from strod import UsageError
from strod.methods.variants import paper_options
from strod.model.options import BASELINES, METHODS, TreeOptions

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("flag", "values"),
    [
        *(("children", {"children": v}) for v in (0, 1, -3, 1001, 2.5, "many", "", True, None)),
        *(("height", {"height": v}) for v in (-1, 21, 1.5, "2", True, None)),
        *(("width", {"width": v}) for v in (0, 1, 1001, "auto", 2.0)),
        *(("alpha0", {"alpha0": v}) for v in (0, -1, 1e-7, 1e7, NAN, INFINITE, "some", None)),
        *(("seed", {"seed": v}) for v in (-1, 1.0, "x", None, 2**63 + 1)),
        *(("sample", {"sample": v}) for v in (0, -1, "some", 1.5, True, None)),
        *(("method", {"method": v}) for v in ("", "plsa", "STROD", None)),
        *(("polish", {"polish": v}) for v in (-1, 1001, 1.5, "much", True)),
        *(("topical", {"topical": v}) for v in ("", "topic", None)),
        *(("lookahead", {"lookahead": v}) for v in ("off", "on", 1, None)),
        *(("thin", {"thin": v}) for v in (-0.1, 1.1, NAN, "x")),
        *(("clip", {"clip": v}) for v in (-1, 0.5, True)),
        *(("eta", {"eta": v}) for v in (-0.1, 1.1, NAN)),
        *(
            ("iterations", {"iterations": v, "method": "cathy"})
            for v in (0, -1, 1.5, "many", True, 10**9 + 1)
        ),
        *(
            ("method_seconds", {"method_seconds": v, "method": "cathy"})
            for v in (-1, NAN, INFINITE, "long", None)
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused(flag: str, values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"^{flag} must be [^\n]*$"):
        TreeOptions(**values)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"children": 2},
        {"children": 1000},
        {"children": "auto", "width": 2},
        {"height": 0},
        {"height": 20},
        {"alpha0": 1e-6},
        {"alpha0": 10**6},
        {"alpha0": "auto"},
        {"seed": 2**63 - 1},
        {"sample": 1},
        {"sample": "all"},
        {"polish": 0},
        {"topical": "word"},
        {"lookahead": False},
        {"thin": 0},
        {"thin": 1},
        {"clip": 0},
        {"eta": 1},
        *({"method": method} for method in (*METHODS, *BASELINES)),
        {"method": "hpam", "iterations": 1, "method_seconds": 0.5},
    ],
    ids=str,
)
def test_accepted_and_kept(values: dict[str, Any]) -> None:
    settings = TreeOptions(**values).settings
    assert settings == TreeOptions().settings | values
    assert TreeOptions(**settings) == TreeOptions(**values)


def test_ranks_depend_on_the_width_alone() -> None:
    def fine(**options: Any) -> int:
        return TreeOptions(**options).rank(ahead=True)

    assert fine(children=3) == fine(children=3, width=100) == 11
    assert fine(children=5) == fine(width=5) == 15
    assert fine(children=20) == fine(width=20) == 30
    assert {fine(children=6, height=height) for height in range(21)} == {16}
    for children in (2, 9, 11, 1000):
        assert fine(children=children) >= children + min(children, 10)
        assert TreeOptions(children=children).rank(ahead=False) == children
    assert TreeOptions(width=7).rank(ahead=False) == 7


@pytest.mark.parametrize("method", METHODS[1:])
def test_what_the_paper_fixes(method: str) -> None:
    chosen = paper_options(TreeOptions(method=method, height=3, seed=4, alpha0=0.5, children=7))
    assert (chosen.children, chosen.alpha0, chosen.seed, chosen.method) == (7, 0.5, 4, method)
    assert chosen.height == (1 if method == "tod" else 3)
    assert (chosen.sample, chosen.polish, chosen.topical) == ("all", 0, "word")
    assert (chosen.thin, chosen.clip) == (0, 0)
    assert chosen.lookahead is False
    auto = paper_options(TreeOptions(method=method, alpha0="auto", height=0))
    assert isinstance(auto.children, int)
    assert isinstance(auto.alpha0, float)
    assert auto.height == 0
