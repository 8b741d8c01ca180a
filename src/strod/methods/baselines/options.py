"""What a baseline may be asked for, what it needs, and what it does unless told otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.extras import install
from strod.model.options import BASELINES

if TYPE_CHECKING:
    from strod.model.options import TreeOptions

__all__ = ["CHILDREN", "KINDS", "baseline_options", "check_memory"]

CHILDREN = 5  # of every topic, as in the paper's experiments
PACHINKO_HEIGHT = 2  # the model has super topics and subtopics
ENTRY = 48  # bytes of a count: the counts of a level and of the next, and a product of them
TOKEN = 100  # bytes of a token in a sampler, and when its assignments are read
SHARE = 24  # bytes of a document's share of a child


@dataclass(frozen=True)
class _Kind:
    """What is particular to a baseline.

    Attributes
    ----------
    iterations : int
        Unless others are asked for; for cathy, nmf and kmeans they are the most.
    package : str
        What it runs on, if it is not our own code.
    timed : bool
        Whether it can stop after some seconds.
    """

    iterations: int
    package: str = ""
    timed: bool = True


KINDS = {
    "splitlda": _Kind(1000, "tomotopy"),
    "hpam": _Kind(1000, "tomotopy"),
    "ncrp": _Kind(1000, "tomotopy"),
    "cathy": _Kind(1000),
    "nmf": _Kind(200, "sklearn", timed=False),
    "lda": _Kind(10, "sklearn", timed=False),
    "kmeans": _Kind(300, "sklearn", timed=False),
}
assert tuple(KINDS) == BASELINES  # noqa: S101 - two lists of the same names


def baseline_options(options: TreeOptions) -> TreeOptions:
    """The options with what the method fixes; refuses what it cannot do.

    ``children="auto"`` becomes 5 as in the paper, but for nCRP, which finds the number itself.
    """
    method, kind = options.method, KINDS[options.method]
    if isinstance(options.sample, int):
        raise UsageError(f"`sample`: `method` {method} learns from all documents; leave it out")
    if options.method_seconds and not kind.timed:
        timed = ", ".join(name for name, one in KINDS.items() if one.timed)
        raise UsageError(f"`method_seconds` is for {timed}; give `method` {method} `iterations`")
    if method == "hpam" and options.height != PACHINKO_HEIGHT:
        raise UsageError(f"`method` hpam has two levels: `height` must be 2, not {options.height}")
    if kind.package:
        _check_package(method, kind.package)
    children = options.children
    if method != "ncrp" and not isinstance(children, int):
        children = CHILDREN
    return replace(options, children=children, iterations=options.iterations or kind.iterations)


def _check_package(method: str, package: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        name = {"sklearn": "scikit-learn"}.get(package, package)
        raise UsageError(f"`method` {method} needs {name}: {install('baselines')}") from error


def check_memory(
    options: TreeOptions, documents: int, entries: int, tokens: int, memory: int
) -> None:
    """Refuse a corpus that would not fit: a baseline has it in memory as a whole.

    Parameters
    ----------
    options : TreeOptions
        Which method, and how many children.
    documents, entries, tokens : int
        Size of the corpus: documents, counts that are not zero, and their sum.
    memory : int
        Bytes that there are.
    """
    widest = options.children if isinstance(options.children, int) else options.width
    if options.method == "hpam":
        widest = 2 * widest**2  # all subtopics, by way of a super topic and of any
    sampled = KINDS[options.method].package == "tomotopy"
    need = ENTRY * entries + SHARE * documents * widest + (TOKEN * tokens if sampled else 0)
    if need > memory:
        raise UsageError(
            f"`method` {options.method} has all {tokens:,} words in memory: it needs "
            f"{need / 1e9:,.1f} GB and `memory` leaves {memory / 1e9:,.1f} GB; give more `memory` "
            "or fewer documents"
        )
