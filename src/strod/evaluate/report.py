"""What an evaluation says about a tree."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "Coherence",
    "Flag",
    "HierarchyScores",
    "LabelScores",
    "LevelScores",
    "Report",
    "TopicScores",
]


@dataclass(frozen=True)
class Coherence:
    """NPMI and C_V of the best words or phrases; None where a list has no pair."""

    npmi: float | None
    c_v: float | None


@dataclass(frozen=True)
class Flag:
    """Something that looks wrong with a topic, and what can be done.

    Attributes
    ----------
    topic, id, label : str
        Its path, id and name.
    kind : str
        incoherent, duplicate, background, copies or tiny.
    reason : str
        Why, with the numbers.
    suggestion : str
        A command without ``strod`` and the workspace: ``merge o/1 o/2``.
    others : list of str
        Paths of the topics it has to do with.
    """

    topic: str
    id: str
    label: str
    kind: str
    reason: str
    suggestion: str
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TopicScores:
    """A topic.

    Attributes
    ----------
    path, id, label : str
        What it is called.
    level, documents : int
        Where it is, and how many documents lead to it.
    weight : float
        Its share of the corpus.
    words, phrases : Coherence
        Of its best words and phrases.
    lift : float or None
        How many times as often as by chance its best words meet, over all pairs together.
    distinct : float
        KL divergence from the parent over log(parent's weight / weight), the most it can be: 1 if
        no sibling has its words, 0 if it is like all of its parent.
    frequency : float
        Mean share of the documents that its best words stand in.
    own : float
        Share of the occurrences of its best words in the corpus that it has; the mean over them.
    copied : float
        Share of the text of its documents that stands in three documents or more.
    copied_words : float
        The same for the occurrences of its best words: the mean over them.
    flags : list of str
        Kinds of its flags.
    """

    path: str
    id: str
    label: str
    level: int
    weight: float
    documents: int
    words: Coherence
    phrases: Coherence
    lift: float | None
    distinct: float | None
    frequency: float
    own: float
    copied: float
    copied_words: float
    flags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LevelScores:
    """The topics of a level, or the leaves.

    Attributes
    ----------
    level : int or None
        None for the leaves.
    topics : int
        How many.
    words, phrases : Coherence
        Means over topics.
    diversity, phrase_diversity : float
        Share of distinct words (phrases) in their lists.
    sibling_diversity : float
        The same among children of one topic; the mean over parents.
    pcc, pcd, sd : float or None
        Of the level; see `strod.evaluate.relations`.
    balance, largest : float or None
        Entropy of the weights of siblings over log k, and the largest share; means over parents.
    """

    level: int | None
    topics: int
    words: Coherence
    phrases: Coherence
    diversity: float | None
    phrase_diversity: float | None
    sibling_diversity: float | None = None
    pcc: float | None = None
    pcd: float | None = None
    sd: float | None = None
    balance: float | None = None
    largest: float | None = None


@dataclass(frozen=True)
class HierarchyScores:
    """Means over levels of the measures of TraCo."""

    pcc: float | None
    pcd: float | None
    sd: float | None
    pncd: float | None


@dataclass(frozen=True)
class LabelScores:
    """Topics against labels.

    Attributes
    ----------
    level : int or None
        Of the topics; None for the leaves.
    depth : int
        Steps of the label that count, from the general to the specific.
    topics, classes, documents : int
        How many were compared.
    nmi, purity, homogeneity : float
        See `strod.evaluate.agreement`.
    """

    level: int | None
    depth: int
    topics: int
    classes: int
    documents: int
    nmi: float
    purity: float
    homogeneity: float


@dataclass(frozen=True)
class Report:
    """What `strod.evaluate.evaluate` found.

    Attributes
    ----------
    documents : int
        Of the corpus.
    top : int
        Words and phrases of a topic that were looked at.
    copied : float
        Share of the text that stands in three documents or more.
    levels : list of LevelScores
        Level 1 and below.
    leaves : LevelScores
        The leaves.
    hierarchy : HierarchyScores
        Parents, children and siblings.
    label_field : str or None
        Metadata field with labels, if one was given.
    labels : list of LabelScores
        Topics of every level against labels cut to every depth.
    topics : list of TopicScores
        All but the root.
    flags : list of Flag
        What looks wrong.
    intrusion : dict
        Automatic intrusion with words and with phrases.
    """

    documents: int
    top: int
    copied: float
    levels: list[LevelScores]
    leaves: LevelScores
    hierarchy: HierarchyScores
    label_field: str | None
    labels: list[LabelScores]
    topics: list[TopicScores]
    flags: list[Flag]
    intrusion: dict[str, Any]

    def as_dictionary(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, for JSON."""
        return asdict(self)
