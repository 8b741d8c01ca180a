"""Everything that is measured of a tree, in one pass over each kind of data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.evaluate.coherence import c_v, mean_npmi, mean_of, pooled_lift
from strod.evaluate.copies import Asked, find_copies
from strod.evaluate.flags import find_flags
from strod.evaluate.labels import compare, label_paths, read_labels
from strod.evaluate.lists import phrase_lists, top_words
from strod.evaluate.relations import balance, difference, diversity, parent_child_npmi, used_once
from strod.evaluate.report import Coherence, HierarchyScores, LevelScores, Report, TopicScores
from strod.evaluate.robustness import divergence
from strod.evaluate.windows import WINDOW, Chosen, window_meetings
from strod.export.names import name_of
from strod.intrusion.automatic import OF, automatic
from strod.options import CorpusOptions
from strod.passes.cooccur import cooccurrences
from strod.passes.weigh import follow
from strod.progress import Silent
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.corpus.reader import ShardRef
    from strod.engine.protocol import Engine
    from strod.evaluate.copies import Copies
    from strod.model.placed import Ref, Rows
    from strod.progress import Progress
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["evaluate"]


def evaluate(
    workspace: Workspace,
    labels: str | None = None,
    top: int = 10,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Report:
    """Measure how good a tree is, and say which topics look wrong.

    Parameters
    ----------
    workspace : Workspace
        The tree and its corpus.
    labels : str, optional
        Metadata field to compare the topics with.
    top : int
        Words and phrases of a topic that are looked at.
    progress : Progress, optional
        Is told how far the work is.
    workers : int, optional
        Threads; all cores if not given.
    """
    if top < 2:
        raise UsageError(f"top is {top}: two words or more make a pair")
    values = None if labels is None else read_labels(workspace.corpus, labels)
    chosen = CorpusOptions() if workers is None else CorpusOptions(workers=workers)
    engine = make_engine(chosen.engine, chosen.threads)
    data = Measured(workspace, top, engine, progress or Silent())
    placed, known = data.placed
    agreed = [] if values is None else compare(placed, label_paths(values), known)
    topics = [data.scores(topic) for topic in data.topics]
    flags = find_flags(workspace.tree, topics, data.words, data.copied)
    raised = {topic.id: [flag.kind for flag in flags if flag.id == topic.id] for topic in topics}
    deepest = max((topic.level for topic in topics), default=0)
    levels = [data.level(number, topics) for number in range(1, deepest + 1)]
    return Report(
        documents=workspace.corpus.documents,
        top=top,
        copied=data.copied,
        levels=levels,
        leaves=data.means(None, [t for t in topics if not workspace.tree[t.id].children]),
        hierarchy=HierarchyScores(
            mean_of([level.pcc for level in levels]),
            mean_of([level.pcd for level in levels]),
            mean_of([level.sd for level in levels]),
            mean_of([data.strangers(number) for number in range(1, deepest)]),
        ),
        label_field=labels,
        labels=agreed,
        topics=[replace(topic, flags=raised[topic.id]) for topic in topics],
        flags=flags,
        intrusion={of: automatic(workspace, of=of, progress=progress) for of in OF},
    )


@dataclass
class Measured:
    """What was counted for a tree.

    Attributes
    ----------
    workspace : Workspace
        The tree and its corpus.
    top : int
        Words and phrases of a topic that are looked at.
    engine : Engine
        Maps over the documents.
    progress : Progress
        Is told how far the work is.
    """

    workspace: Workspace
    top: int
    engine: Engine
    progress: Progress

    def __post_init__(self) -> None:
        tree = self.workspace.tree
        self.topics: list[Topic] = [tree[path] for path in tree if path != ROOT]
        self.words = {topic.id: top_words(tree, topic, self.top) for topic in self.topics}
        self.documents = self.workspace.corpus.documents
        self._refs = self.workspace.corpus.refs()

    def refs(self, stage: str, times: int = 1) -> list[ShardRef]:
        """The documents; says that a stage begins."""
        self.progress.stage(stage, times * len(self._refs), "shards")
        return self._refs

    @cached_property
    def placed(self) -> tuple[list[NDArray[np.int32]], NDArray[np.bool_]]:
        """Topic of every document on each level from 1 on, and which documents have words.

        Topics are numbered as in the tree; a document whose path has ended stays at its leaf.
        """
        tree = self.workspace.tree
        deepest = max((topic.level for topic in self.topics), default=0)
        levels = [np.zeros(self.documents, dtype=np.int32) for _ in range(deepest)]
        known = np.zeros(self.documents, dtype=np.bool_)
        refs = self.refs("reading the documents' topics")
        parts = self.engine.map(follow, refs, tree.model, tree.saved, deepest)
        for ref, (found, there) in zip(refs, parts, strict=True):
            where = slice(ref.first, ref.first + ref.size)
            known[where] = there
            for level, part in zip(levels, found, strict=True):
                level[where] = part
            self.progress.advance(1)
        return levels, known

    @cached_property
    def _family(self) -> dict[str, tuple[Numbers, Array]]:
        """For each topic its words and then its parent's, and how many documents have two."""
        lists = {}
        for topic in self.topics:
            above = self.words.get(_parent(topic), np.zeros(0, dtype=np.int64))
            own = self.words[topic.id]
            lists[topic.id] = np.concatenate([own, above[~np.isin(above, own)]])
        self.progress.stage("counting words that meet", 0, "")
        width = len(self.workspace.corpus.vocabulary)
        met = _meetings(self._refs, lists, width, self.engine)
        return {name: (lists[name], met[name]) for name in lists}

    @cached_property
    def _chosen(self) -> Chosen:
        column = self.workspace.corpus.lexicon["column"].to_numpy().astype(np.int32)
        return Chosen.of(list(self.words.values()), column)

    @cached_property
    def word_coherence(self) -> dict[str, Coherence]:
        """NPMI by documents and C_V by windows of the best words, by id."""
        family = self._family
        refs = self.refs("sliding a window over the text")
        given = self._chosen, WINDOW, self.engine, self.progress
        windows, total = window_meetings(refs, *given)
        result = {}
        for (name, words), near in zip(self.words.items(), windows, strict=True):
            size = len(words)
            pairs = family[name][1][:size, :size]
            result[name] = Coherence(mean_npmi(pairs, self.documents), c_v(near, total))
        return result

    @cached_property
    def units(self) -> dict[str, Numbers]:
        """The best phrases, by id."""
        self.progress.stage("reading phrases", 0, "")
        return phrase_lists(self.workspace, self.topics, self.top)

    @cached_property
    def phrase_coherence(self) -> dict[str, Coherence]:
        """NPMI and C_V of the best phrases, both by documents, by id."""
        lists = {name: units for name, units in self.units.items() if len(units) > 1}
        book = self.workspace.phrase_index
        self.progress.stage("counting phrases that meet", 0, "")
        found = _meetings(book.refs, lists, book.units.size, self.engine)
        nothing = np.zeros((0, 0))
        return {
            name: Coherence(mean_npmi(pairs, self.documents), c_v(pairs, self.documents))
            for name in self.units
            for pairs in [found.get(name, nothing)]
        }

    @cached_property
    def copies(self) -> Copies:
        """How much text is copied."""
        refs, chosen = self.refs("looking for copied text", 2), self._chosen
        asked = Asked(chosen.number, len(chosen.first) - 1)
        tokens = self.workspace.corpus.tokens
        return find_copies(refs, tokens, asked, self.engine, self.progress)

    @property
    def copied(self) -> float:
        """Copied share of the text of the whole corpus."""
        return float(self.copies.copied.sum() / max(self.copies.seen.sum(), 1))

    @cached_property
    def _copied(self) -> tuple[dict[str, float], dict[str, float]]:
        """Copied share of the text, and of the best words' occurrences, by id."""
        copies, (levels, _) = self.copies, self.placed
        nodes = self.workspace.tree.nodes
        texts: dict[str, float] = {}
        for number, level in enumerate(levels, 1):
            seen = np.bincount(level, copies.seen, len(nodes))
            copied = np.bincount(level, copies.copied, len(nodes)) / np.maximum(seen, 1)
            found = zip(nodes.items(), copied.tolist(), strict=True)
            texts |= {name: share for (name, node), share in found if node.level == number}
        share = copies.word_copied / np.maximum(copies.word_seen, 1)
        distinct = np.unique(np.concatenate([*self.words.values(), np.zeros(0, np.int64)]))
        words = {
            name: float(share[np.searchsorted(distinct, own)].mean()) if len(own) else 0.0
            for name, own in self.words.items()
        }
        return texts, words

    def scores(self, topic: Topic) -> TopicScores:
        """All numbers of a topic."""
        tree = self.workspace.tree
        texts, words = self._copied
        pairs = self._family[topic.id][1]
        size = len(self.words[topic.id])
        own = np.diag(pairs)[:size] / max(self.documents, 1)
        return TopicScores(
            path=topic.path,
            id=topic.id,
            label=name_of(topic),
            level=topic.level,
            weight=topic.weight,
            documents=topic.documents,
            words=self.word_coherence[topic.id],
            lift=pooled_lift(pairs[:size, :size], self.documents),
            phrases=self.phrase_coherence[topic.id],
            distinct=_distinct(topic),
            frequency=float(own.mean()) if len(own) else 0.0,
            own=_own(topic, tree.root, self.words[topic.id]),
            copied=texts.get(topic.id, 0.0),
            copied_words=words[topic.id],
        )

    def means(self, level: int | None, topics: list[TopicScores]) -> LevelScores:
        """What is a mean over topics, and the diversity of their lists."""
        return LevelScores(
            level,
            len(topics),
            Coherence(
                mean_of([topic.words.npmi for topic in topics]),
                mean_of([topic.words.c_v for topic in topics]),
            ),
            Coherence(
                mean_of([topic.phrases.npmi for topic in topics]),
                mean_of([topic.phrases.c_v for topic in topics]),
            ),
            diversity([self.words[topic.id].tolist() for topic in topics]),
            diversity([self.units[topic.id].tolist() for topic in topics]),
        )

    def level(self, number: int, topics: list[TopicScores]) -> LevelScores:
        """Scores of the topics of a level, and of how they relate to those above."""
        own = [topic for topic in topics if topic.level == number]
        families = self._families(number - 1)
        even = [found for t in families if (found := balance([c.weight for c in t.children]))]
        pairs = [(p, c) for p in families for c in p.children if p.level > 0]
        values = [self._parent_child(parent, child) for parent, child in pairs]
        lists = [[self._list(child) for child in topic.children] for topic in families]
        return replace(
            self.means(number, own),
            sibling_diversity=mean_of(list(map(diversity, lists))),
            sd=mean_of(list(map(used_once, lists))),
            pcc=float(np.concatenate(values).mean()) if values else None,
            pcd=mean_of([difference(self._list(p), self._list(c)) for p, c in pairs]),
            balance=mean_of([found[0] for found in even]),
            largest=mean_of([found[1] for found in even]),
        )

    def _families(self, level: int) -> list[Topic]:
        tree = self.workspace.tree
        return [t for t in [tree.root, *self.topics] if t.level == level and t.children]

    def _list(self, topic: Topic) -> list[int]:
        found: list[int] = self.words[topic.id].tolist()
        return found

    def _parent_child(self, parent: Topic, child: Topic) -> Array:
        words, pairs = self._family[child.id]
        place = {int(word): number for number, word in enumerate(words)}
        above, below = ([place[w] for w in self._list(topic)] for topic in (parent, child))
        return parent_child_npmi(above, below, pairs, self.documents)

    def strangers(self, level: int) -> float | None:
        """PnCD of the topics of a level and those of the next that are not their children."""
        below = [topic for topic in self.topics if topic.level == level + 1]
        return mean_of(
            [
                difference(self._list(topic), self._list(other))
                for topic in self._families(level)
                for other in below
                if _parent(other) != topic.id
            ]
        )


def _parent(topic: Topic) -> str:
    return topic.parent.id if topic.parent else ""


def _meetings(
    refs: Sequence[Ref[Rows]], lists: dict[str, Numbers], width: int, engine: Engine
) -> dict[str, Array]:
    """For every list the number of documents in which two of its columns stand."""
    if not lists:
        return {}
    return dict(zip(lists, cooccurrences(refs, list(lists.values()), width, engine), strict=True))


def _own(topic: Topic, root: Topic, words: Numbers) -> float:
    """Mean share of the occurrences of words that a topic has: weight·φ_tx / φ_ox, at most 1.

    The weight is a share of documents, not of words, so that this is a rough figure.
    """
    if not len(words):
        return 0.0
    all_of_them = np.maximum(root.distribution[words], np.finfo(float).tiny)
    return float(np.minimum(topic.weight * topic.distribution[words] / all_of_them, 1.0).mean())


def _distinct(topic: Topic) -> float | None:
    """KL divergence from the parent over the most it can be; None for an only child."""
    above = topic.parent
    if above is None or not 0 < topic.weight < above.weight:
        return None
    most = float(np.log(above.weight / topic.weight))
    return min(divergence(topic.distribution, above.distribution) / most, 1.0)
