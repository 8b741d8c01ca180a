"""What the user may choose about the tree, with defaults and limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from strod.errors import UsageError
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BASELINES", "METHODS", "PAPER", "TreeOptions", "shape_values"]

PAPER = ("tod", "rtod", "rtod2", "rtod3", "strod-paper")  # strod.methods.paper
METHODS = ("strod", *PAPER)
# Of other people: strod.methods.baselines.
BASELINES = ("splitlda", "hpam", "ncrp", "cathy", "nmf", "lda", "kmeans")
AUTO = "auto"
WIDEST = 1000
DEEPEST = 20
MOST_TOPICS = 100_000
LEAST_ALPHA0, MOST_ALPHA0 = 1e-6, 1e6
MOST_ITERATIONS, MOST_SECONDS = 10**9, 10**9
FINE, MOST_MORE = 5, 10  # fine topics of the root: two a child and five, at most ten more
MORE = 20  # components than children at most, where some are junk: their cube costs


@dataclass(frozen=True)
class TreeOptions:
    """How a tree grows.

    Attributes
    ----------
    children : int, "auto" or tuple of int
        Children of every topic that can be split (C_t); ``auto`` reads it off the data; a tuple
        has those of the root, of the topics below it, and so on, the last for all that follow.
    height : int
        Levels below the root (H).
    topics : int
        Most topics below the root, 0 for no limit: topics are split one after another, each
        time the one where it explains most, until the next would be too many.
    least_documents : int
        Documents that a leaf must have: a topic gets fewer children, or none, for that.
    width : int
        Most children that ``auto`` gives (K).
    alpha0 : float or "auto"
        Sum of the Dirichlet parameters of a node (α_{t,0}); ``auto`` solves S(α0) = 1.
    seed : int
        Where the start vectors of the power iteration come from.
    sample : int, "auto" or "all"
        Documents from which a node is learnt; ``auto`` takes what holds enough words.
    method : str
        ``strod``, a variant of the paper, or a baseline.
    lookahead : bool
        Whether the root is split into fine topics that are then grouped.
    polish : int
        Sweeps of variational inference after the tensor decomposition.
    topical : str
        ``document``: a token's topic depends on its document; ``word``: on the word alone,
        as in the paper.
    thin : float
        Relative frequency from which words are thinned; 0 switches it off.
    clip : int
        Most occurrences of a word that count in one document; 0 switches it off.
    eta : float
        Share of the spectral energy that decides on ``auto`` children of a topic that does not
        look ahead (η).
    iterations : int or None
        Of a baseline; None takes its default.
    method_seconds : float
        After which a baseline stops iterating; 0 for no limit.
    """

    children: int | str | tuple[int, ...] = AUTO
    height: int = 2
    topics: int = 0
    least_documents: int = 0
    width: int = 10
    alpha0: float | str = 1.0
    seed: int = 0
    sample: int | str = AUTO
    method: str = "strod"
    lookahead: bool = True
    polish: int = 5
    topical: str = "document"
    thin: float = 5e-4
    clip: int = 3
    eta: float = 0.6
    iterations: int | None = None
    method_seconds: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        numbers = self.children if isinstance(self.children, tuple) else (self.children,)
        _check(
            (bool(numbers) and all(_whole(one, 2, WIDEST) for one in numbers))
            or self.children == AUTO,
            f"`children` must be auto, a number from 2 to {WIDEST} or some of them, as in 8,5,3, "
            f"not {self.children}",
        )
        _check(_whole(self.height, 0, DEEPEST), f"`height` must be from 0 to {DEEPEST}")
        _check(_whole(self.width, 2, WIDEST), f"`width` must be from 2 to {WIDEST}")
        _check(
            self.alpha0 == AUTO or _between(self.alpha0, LEAST_ALPHA0, MOST_ALPHA0),
            f"`alpha0` must be auto or a number from {LEAST_ALPHA0:g} to {MOST_ALPHA0:g}",
        )
        _check(_whole(self.seed, 0, 2**63 - 1), "`seed` must be a number from 0 to 2**63 - 1")
        _check(
            self.sample in (AUTO, "all") or _whole(self.sample, 1, 2**62),
            "`sample` must be auto, all or a number of documents",
        )
        known = (*METHODS, *BASELINES)
        _check(self.method in known, f"`method` must be one of {', '.join(known)}")
        _check(isinstance(self.lookahead, bool), "`lookahead` must be on or off (True or False)")
        _check(_whole(self.polish, 0, 1000), "`polish` must be a number of sweeps, 0 to 1000")
        _check(self.topical in ("document", "word"), "`topical` must be document or word")
        _check(_between(self.thin, 0, 1), "thin must be from 0 to 1")
        _check(_whole(self.clip, 0, 2**31), "clip must be a count")
        _check(_between(self.eta, 0, 1), "eta must be from 0 to 1")
        self._check_shape(len(numbers))
        self._check_baseline()

    def _check_shape(self, levels: int) -> None:
        _check(
            levels <= max(self.height, 1),
            f"`children` is for {levels} levels and `height` is {self.height}; give one of them",
        )
        _check(_whole(self.topics, 0, MOST_TOPICS), f"`topics` must be from 2 to {MOST_TOPICS:,}")
        _check(self.topics != 1, "`topics` must be at least 2: one topic is no split")
        _check(_whole(self.least_documents, 0, 2**62), "`least_documents` must be a number from 0")
        _check(
            self.method == "strod" or not (levels > 1 or self.topics or self.least_documents),
            "`children` level by level, `topics` and `least_documents` are for `method` strod",
        )

    def _check_baseline(self) -> None:
        _check(
            self.iterations is None or _whole(self.iterations, 1, MOST_ITERATIONS),
            f"`iterations` must be a number from 1 to {MOST_ITERATIONS:,}",
        )
        _check(
            _between(self.method_seconds, 0, MOST_SECONDS),
            f"`method_seconds` must be a number from 0 to {MOST_SECONDS:,}",
        )
        given = self.iterations is not None or self.method_seconds
        _check(
            self.method in BASELINES or not given,
            f"`iterations` and `method_seconds` are for `method` {', '.join(BASELINES)}",
        )

    def at(self, level: int) -> TreeOptions:
        """Options of the topics of a level."""
        if not isinstance(self.children, tuple):
            return self
        return replace(self, children=self.children[min(level, len(self.children) - 1)])

    @property
    def least(self) -> int:
        """Children that a topic must have if it is split at all."""
        return self.children if isinstance(self.children, int) else 2

    def ahead(self, name: str) -> bool:
        """Whether the topic of this name is decomposed with look-ahead: the root alone."""
        return self.lookahead and name == ROOT

    def rank(self, *, ahead: bool) -> int:
        """Most topics that a node is decomposed into (m if it looks ahead), unless for junk.

        It depends on the width of the tree, not on its height.
        """
        most = self.children if isinstance(self.children, int) else self.width
        return most + min(most + FINE, MOST_MORE) if ahead else most

    def most(self, *, ahead: bool) -> int:
        """The same where junk takes the place of children: some more are tried then."""
        given = isinstance(self.children, int) and not ahead
        return self.rank(ahead=ahead) + (MORE if given else 0)

    @property
    def settings(self) -> dict[str, Any]:
        """What the tree depends on, for the manifest."""
        return asdict(self)


def shape_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a user gives as `TreeOptions` has it.

    Children may be a list or ``"8,5,3"``. Without `height`, a list of children has as many
    levels as it names, and a budget of topics any number.

    Examples
    --------
    >>> shape_values({"children": "8,5,3"})
    {'children': (8, 5, 3), 'height': 3}
    """
    values = dict(given)
    children = values.get("children")
    if isinstance(children, str) and "," in children:
        parts = [part.strip() for part in children.split(",")]
        good = all(part.isascii() and part.isdigit() for part in parts)
        _check(good, f"`children` must be numbers with commas between them, not {children}")
        children = [int(part) for part in parts]
    if isinstance(children, list | tuple):
        values["children"] = children = tuple(children)
    if values.get("height") is None:
        values.pop("height", None)
        if values.get("topics"):
            values["height"] = DEEPEST
        elif isinstance(children, tuple):
            values["height"] = max(len(children), 1)
    return values


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _between(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and least <= value <= most


def _check(good: bool, message: str) -> None:  # noqa: FBT001
    if not good:
        raise UsageError(message)
