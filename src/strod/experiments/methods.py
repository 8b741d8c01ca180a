"""The one place that knows which methods and scores there are, and how they are asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from strod import evaluate
from strod.errors import UsageError
from strod.extras import install
from strod.intrusion import automatic
from strod.methods.baselines.options import KINDS
from strod.model.options import PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BASELINES",
    "all_but",
    "available",
    "build_options",
    "intrusion",
    "iterations",
    "scalable",
    "scores",
    "variance",
]

# Methods of others: the package that each needs, and its usual iterations. The paper has 1,000 for
# the samplers; cathy, nmf and kmeans stop when they have converged, and take so many at most;
# ten passes are scikit-learn's usual number for lda.
BASELINES = {name: (kind.package, kind.iterations) for name, kind in KINDS.items()}
KNOWN = ("strod", *PAPER, *BASELINES)


def available(asked: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Which of the methods can be run here, and why not the others."""
    for method in asked:
        if method not in KNOWN:
            raise UsageError(f"`methods` {method}: unknown; there are {', '.join(KNOWN)}")
    reasons = {method: reason for method in asked if (reason := _missing(method))}
    return [method for method in asked if method not in reasons], reasons


def _missing(method: str) -> str:
    package, _ = BASELINES.get(method, ("", 0))
    if package and find_spec(package) is None:
        return f"a package is missing: {install('baselines')}"
    return ""


def all_but(methods: Sequence[str], reason: str) -> dict[str, str]:
    """The other methods, each with the reason why it is left out."""
    return {method: reason for method in KNOWN if method not in methods}


def iterations(method: str, most: int) -> int | None:
    """Iterations of a method when at most so many are asked for; None if it has none."""
    return min(most, BASELINES[method][1]) if method in BASELINES else None


def scalable(method: str) -> bool:
    """Whether iterations are timed by themselves; start and iterations of the others are one."""
    return method in KINDS and KINDS[method].timed


def build_options(method: str, steps: int | None) -> dict[str, Any]:
    """Options of a build by a method; those that do not iterate take no iterations."""
    return {"method": method} | ({} if steps is None else {"iterations": steps})


def variance(trees: Sequence[Any]) -> float | None:
    """Mean KL divergence of matched topics over all ordered pairs of runs (section 6.2).

    None if a tree has no topic but its root: there is nothing to match.
    """
    if min(map(len, trees)) <= 1:
        return None
    return float(evaluate.variance(trees))


def scores(workspace: Any, labels: str | None) -> dict[str, Any]:
    """Coherence, diversity and, with labels, agreement."""
    return evaluate.evaluate(workspace, labels=labels).as_dictionary()


def intrusion(workspace: Any) -> dict[str, Any]:
    """Automatic phrase intrusion and topic intrusion."""
    return automatic(workspace, of="phrases")
