"""What looks wrong with a topic, why, and what can be done about it.

incoherent
    NPMI of its words is below the median of the tree by more than 0.1 and, in trees of eight
    topics or more, by more than three scaled median absolute deviations (3·1.4826·MAD); in
    smaller ones, where a spread cannot be told, it has to be negative. And its words meet less
    than twice as often as by chance, all pairs together: rare words of titles seldom meet, and
    may well be of one subject.
duplicate
    Half of its words are those of a sibling and the two distributions are at most 0.6 bits apart
    (Jensen-Shannon divergence), or they are at most 0.2 bits apart whatever the words.
background
    Its words stand in three times as many documents as is usual (the median of its level or of
    the tree, whichever is more: words of deep topics are rare) and
    a third of their occurrences belong to other topics; or it differs from its parent by less than
    a tenth of what a topic of its weight can (`TopicScores.distinct`).
copies
    A quarter of the text of its documents, or of the occurrences of its words, stands in three
    documents or more, and half as much again as in the whole corpus.
tiny
    It weighs less than a tenth of the mean leaf, or has fewer than ten documents in a corpus
    where a leaf has a hundred on average.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from strod.evaluate.report import Flag
from strod.evaluate.robustness import divergence
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.evaluate.report import TopicScores
    from strod.workspace.tree import Topic, Tree

    Array = NDArray[np.float64]

__all__ = ["find_flags", "separation"]

ENOUGH = 8  # topics whose spread says something
SPREAD, GAP = 3 * 1.4826, 0.1
SHARED, APART, SAME = 0.5, 0.6, 0.2  # words in common; bits
LIFT = 2.0  # times chance
FREQUENT, OWN, DISTINCT = 3.0, 0.67, 0.1
COPIED, MORE = 0.25, 1.5
TENTH, FEW, MANY = 0.1, 10, 100
HEAVY = 1.5  # mean leaves


def separation(one: Array, other: Array) -> float:
    """Jensen-Shannon divergence of two distributions in bits, 0 to 1."""
    middle = (one + other) / 2
    parts = [p[p > 0] * np.log2(p[p > 0] / middle[p > 0]) for p in (one, other)]
    return float(sum(part.sum() for part in parts) / 2)


def find_flags(
    tree: Tree,
    topics: Sequence[TopicScores],
    words: Mapping[str, NDArray[np.int64]],
    copied: float,
) -> list[Flag]:
    """Everything that looks wrong, in the order of the tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    topics : sequence of TopicScores
        All topics but the root.
    words : mapping of ndarray
        Their best words, by id.
    copied : float
        Share of the text of the whole corpus that stands in several documents.
    """
    found = [
        *_incoherent(tree, topics),
        *_duplicates(tree, topics, words),
        *_background(tree, topics),
        *_copies(topics, copied),
        *_tiny(tree, topics),
    ]
    place = {path: number for number, path in enumerate(_outline(tree.root))}
    return sorted(found, key=lambda flag: place[flag.topic])


def _outline(topic: Topic) -> list[str]:
    return [topic.path, *(path for child in topic.children for path in _outline(child))]


def _flag(topic: TopicScores, kind: str, reason: str, suggestion: str, *others: str) -> Flag:
    return Flag(topic.path, topic.id, topic.label, kind, reason, suggestion, list(others))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _dissolve(tree: Tree, topic: TopicScores, topics: Sequence[TopicScores]) -> str:
    """What to do with a topic that seems to say nothing.

    A heavy leaf is divided: a rest has parts. Others are to be looked at, since no command
    changes the words of a topic above others, and what is removed would go to its siblings.
    """
    if not tree[topic.id].children and topic.weight > HEAVY * _mean_leaf(tree, topics):
        return f"expand {topic.path} --children 3"
    return f"show {topic.path} --documents 5"


def _mean_leaf(tree: Tree, topics: Sequence[TopicScores]) -> float:
    weights = [topic.weight for topic in topics if not tree[topic.id].children]
    return sum(weights) / max(len(weights), 1)


def _incoherent(tree: Tree, topics: Sequence[TopicScores]) -> Iterator[Flag]:
    values = np.array([t.words.npmi for t in topics if t.words.npmi is not None])
    if not len(values):
        return
    usual = float(np.median(values))
    spread = SPREAD * float(np.median(np.abs(values - usual)))
    for topic in topics:
        value = topic.words.npmi
        if value is None or usual - value <= GAP or (topic.lift or 0.0) >= LIFT:
            continue
        if usual - value > spread if len(values) >= ENOUGH else value < 0:
            reason = (
                f"its words seldom meet: NPMI {value:.2f}, the median is {usual:.2f}; "
                f"{topic.lift or 0.0:.1f} times as often as by chance"
            )
            yield _flag(topic, "incoherent", reason, _dissolve(tree, topic, topics))


def _duplicates(
    tree: Tree, topics: Sequence[TopicScores], words: Mapping[str, NDArray[np.int64]]
) -> Iterator[Flag]:
    scores = {topic.id: topic for topic in topics}
    parents = [tree.root, *(tree[topic.id] for topic in topics)]
    for heavy, light in (pair for p in parents for pair in combinations(p.children, 2)):
        bits = separation(heavy.distribution, light.distribution)
        size = min(len(words[heavy.id]), len(words[light.id]))
        shared = len(np.intersect1d(words[heavy.id], words[light.id]))
        if bits <= SAME or (size and shared >= SHARED * size and bits <= APART):
            reason = (
                f"{shared} of its {len(words[light.id])} words are those of {heavy.path}; "
                f"the distributions are {bits:.2f} bits apart (of 1)"
            )
            suggestion = f"merge {heavy.path} {light.path}"
            yield _flag(scores[light.id], "duplicate", reason, suggestion, heavy.path)


def _background(tree: Tree, topics: Sequence[TopicScores]) -> Iterator[Flag]:
    levels = sorted({topic.level for topic in topics})
    whole = float(np.median([t.frequency for t in topics])) if levels else 0.0
    usual = {
        n: max(whole, float(np.median([t.frequency for t in topics if t.level == n])))
        for n in levels
    }
    for topic in topics:
        if topic.frequency > FREQUENT * usual[topic.level] and topic.own < OWN:
            reason = (
                f"its words stand everywhere: in {100 * topic.frequency:.1f} % of the "
                f"documents on average, usual is {100 * usual[topic.level]:.1f} %; "
                f"{_percent(1 - topic.own)} of their occurrences belong to other topics"
            )
        elif topic.distinct is not None and topic.distinct < DISTINCT:
            reason = (
                f"it says hardly more than its parent: {_percent(topic.distinct)} of the "
                "divergence that its weight allows"
            )
        else:
            continue
        yield _flag(topic, "background", reason, _dissolve(tree, topic, topics))


def _copies(topics: Sequence[TopicScores], whole: float) -> Iterator[Flag]:
    """A form that many documents share may stand for what they are about: only people can tell."""
    least = max(COPIED, MORE * whole)
    for topic in topics:
        if max(topic.copied, topic.copied_words) < least:
            continue
        if topic.copied >= topic.copied_words:
            what = f"{_percent(topic.copied)} of the words of its documents"
        else:
            what = f"{_percent(topic.copied_words)} of the occurrences of its words"
        reason = f"{what} are in passages that three documents or more have"
        yield _flag(topic, "copies", reason, f"show {topic.path} --documents 5")


def _tiny(tree: Tree, topics: Sequence[TopicScores]) -> Iterator[Flag]:
    leaves = [topic for topic in topics if not tree[topic.id].children]
    weight = _mean_leaf(tree, topics)
    mean = sum(topic.documents for topic in leaves) / max(len(leaves), 1)
    small = {
        topic.id
        for topic in topics
        if topic.weight < TENTH * weight or (topic.documents < FEW and mean >= MANY)
    }
    for topic in topics:
        if topic.id in small:
            documents = counted(topic.documents, "document")
            reason = (
                f"{documents}, {100 * topic.weight:.2g} % of the corpus; "
                f"the mean leaf has {100 * weight:.2g} %"
            )
            suggestion, *others = _joined(tree[topic.id], small.__contains__)
            yield _flag(topic, "tiny", reason, suggestion, *others)


def _joined(topic: Topic, small: Callable[[str], bool]) -> list[str]:
    """How a tiny topic is got rid of, and the topic that it goes to."""
    above = topic.parent
    large = [] if above is None else [one for one in above.children if not small(one.id)]
    if above is None or not large:
        return [f"collapse {above.path if above else topic.path}"]
    nearest = min(large, key=lambda one: divergence(topic.distribution, one.distribution))
    return [f"merge {nearest.path} {topic.path}", nearest.path]
