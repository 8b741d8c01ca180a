"""What an experiment is run with: sizes of the full one and of the quick one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from strod.errors import UsageError

__all__ = ["LABEL", "Plan", "Settings"]


LABEL = "label"


class Plan(NamedTuple):
    """How much is measured.

    Attributes
    ----------
    documents : int
        Most documents of a corpus; 0 for all.
    halvings : int
        Subsets of the corpus: the whole, a half, a quarter …
    heights, widths : tuple of int
        Of the trees whose time is measured.
    vocabularies : tuple of int
        Most words, for the variants; 0 for all.
    sample : int
        Documents of the experiments on robustness, iterations and interpretability; 0 for all.
    runs : int
        Repetitions with different seeds.
    iterations : int
        Of the baselines that iterate.
    measured : int
        Most iterations that are run when only time is asked for.
    repeats : int
        Most builds of which one is timed: that with the median time.
    sweep : tuple of int
        Outer and inner iterations of the power method.
    planted : tuple of int
        Documents of planted corpora.
    lengths : tuple of int
        Words of a planted document.
    shared : tuple of float
        Mass that planted siblings share.
    seeds : int
        Planted corpora of each size.
    words : int
        Vocabulary of planted corpora.
    """

    documents: int = 0
    halvings: int = 5
    heights: tuple[int, ...] = (1, 2, 3)
    widths: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 10)
    vocabularies: tuple[int, ...] = (100, 200, 400, 800, 1600, 3200, 6400, 12_800, 0)
    sample: int = 10_000
    runs: int = 10
    iterations: int = 1000
    measured: int = 20
    repeats: int = 5
    sweep: tuple[int, ...] = (1, 2, 5, 10, 20, 30)
    planted: tuple[int, ...] = (1000, 3000, 10_000, 30_000)
    lengths: tuple[int, ...] = (10, 20, 50, 100)
    shared: tuple[float, ...] = (0.0, 0.3, 0.6)
    seeds: int = 3
    words: int = 2500


FULL = Plan()
QUICK = Plan(
    documents=200,
    halvings=2,
    heights=(1, 2),
    widths=(2, 3),
    vocabularies=(40, 600),
    sample=120,
    runs=2,
    iterations=6,
    measured=3,
    repeats=1,
    sweep=(1, 5),
    planted=(300, 600),
    lengths=(20, 40),
    shared=(0.0, 0.3),
    seeds=1,
    words=400,
)


@dataclass(frozen=True)
class Settings:
    """What the user chooses.

    Attributes
    ----------
    corpora : tuple of path
        Sources, each a corpus of its own; none: docstrings of the installed packages.
    out : path
        Folder of the results.
    quick : bool
        Whether a tiny version is run, in this process.
    methods : tuple of str
        What to compare; none: what the paper compares.
    fresh : bool
        Whether to measure again what has been measured.
    iterations, measured, runs, sample : int or None
        Instead of those of the plan.
    vocabularies : tuple of int
        Likewise.
    children : int
        Of every topic, where it is not what is varied.
    workers : int
        Threads of a build; 1, as in the paper.
    memory : str
        Of a build.
    limit : float
        Seconds after which a build is stopped.
    text_field : tuple of str
        Fields with the text.
    labels : str
        Field with the label of a document, for scores of agreement.
    """

    corpora: tuple[Path, ...] = ()
    out: Path = Path("experiments")
    quick: bool = False
    methods: tuple[str, ...] = ()
    fresh: bool = False
    iterations: int | None = None
    measured: int | None = None
    runs: int | None = None
    sample: int | None = None
    vocabularies: tuple[int, ...] = ()
    children: int = 5
    workers: int = 1
    memory: str = "2GB"
    limit: float = 3600.0
    text_field: tuple[str, ...] = ("text",)
    labels: str = LABEL

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name, least in (("iterations", 1), ("measured", 2), ("runs", 1), ("sample", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"`{name}` must be at least {least}, not {value}")
        if self.limit <= 0:
            raise UsageError("`limit` must be a number of seconds above 0")
        if self.workers < 1:
            raise UsageError("`workers` must be at least 1")
        if any(size < 0 for size in self.vocabularies):
            raise UsageError("`max_vocabulary` must be numbers of words, or 0 for all")

    @property
    def plan(self) -> Plan:
        """How much is measured."""
        plan = QUICK if self.quick else FULL
        given = {
            name: value
            for name in ("iterations", "measured", "runs", "sample", "vocabularies")
            if (value := getattr(self, name))
        }
        return plan._replace(**given)
