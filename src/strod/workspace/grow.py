"""New topics of documents that fit nowhere; all other topics and documents stay as they are."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.grouping import cut
from strod.model.inference import document_shares
from strod.model.sampling import ENOUGH
from strod.passes.decompose import Sample, decompose
from strod.passes.fit import Held, stray
from strod.tree.ground import model_of
from strod.tree.grow import free_name, make_children
from strod.tree.revise import Plan, reorder
from strod.tree.weights import measured
from strod.values.shares import Shares, apart
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.topic import ROOT, Component
from strod.values.usual import FEW
from strod.wording import counted
from strod.workspace.fit import built_refs, explainer_of, held_rate, usual_of
from strod.workspace.revise import Reviser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strod.corpus.reader import Corpus
    from strod.model.explain import FitModel
    from strod.moments.counts import Counts
    from strod.passes.fit import Stray
    from strod.values.topic import Node
    from strod.workspace.change import Change
    from strod.workspace.draft import TreeDraft

__all__ = ["Grower"]

FEWEST = FEW  # documents that say what is usual of their kind
MANY = 20.0  # documents of each topic, if there are several


class Grower(Reviser):
    """Makes topics of documents that fit nowhere."""

    def grow(self, under: str = ROOT) -> Change:
        """Give a topic new children, made of its documents that fit nowhere."""
        what = "grow" if under == ROOT else f"grow --under {quote(under)}"
        return self._apply(what, lambda draft: self._grow(draft, under))

    def _grow(self, draft: TreeDraft, under: str) -> Plan:
        top, fit_model = draft.tree.nodes[draft.id(under)], self._workspace.tree.fit_model
        if not top.children:
            raise UsageError(f"{under}: has no children; expand it first")
        if fit_model is None:
            raise UsageError(f"{under}: the corpus is too small to say which documents fit nowhere")
        growth = _Growth(draft, top, self._workspace.corpus)
        number = growth.find(fit_model)
        if number < FEWEST:
            some = f"{counted(number, 'added document')} of it"
            few = f"{some} fit{'s' * (number == 1)} nowhere; it takes {FEWEST} to make a topic"
            raise UsageError(f"{under}: {few}")
        return growth.plan()


class _Growth:
    """Documents that fit nowhere on their way to topics of their own.

    They are looked for among those that were added: the ones that the tree was learnt from are
    what is usual.
    """

    def __init__(self, draft: TreeDraft, top: Node, corpus: Corpus) -> None:
        self._draft, self._tree, self._top, self._corpus = draft, draft.tree, top, corpus
        self._ground = draft.ground(top.level + 1)
        self._name = free_name(draft.tree, self._ground, top.id)
        self._built = built_refs(corpus)
        self._added = [ref for ref in corpus.refs() if ref not in self._built]
        self._found: list[Stray] = []

    def find(self, fit_model: FitModel) -> int:
        """Look for them; returns how many there are."""
        ground = self._ground
        model, kept = model_of(self._tree, ground), ground.book.kept()
        size = sum(ref.size for ref in self._added)
        ground.progress.stage("looking for strangers", size, "documents")
        for one in ground.engine.map(
            stray, self._added, model, kept, fit_model, self._top.components
        ):
            self._found.append(one)
            ground.progress.advance(len(one.there))
        return sum(int(one.there.sum()) for one in self._found)

    def plan(self) -> Plan:
        """Decompose them, keep their shares, make the topics."""
        ground, tree, name = self._ground, self._tree, self._name
        number = 1 + max((tree.splits[one].apart for one in apart(tree.splits)), default=0)
        split = replace(self._decomposed(), components=list(self._top.components), apart=number)
        tree.splits[name] = split
        self._draft.keep(name, self._shares(split))
        model = model_of(tree, ground)
        explainer = explainer_of(self._corpus, model, name)
        usual = usual_of(self._held(), model, name, explainer, ground.engine)
        if usual is None:
            raise UsageError(f"{self._top.id}: its documents that fit nowhere are too short")
        tree.splits[name] = replace(split, usual=usual)
        return self._children()

    def _held(self) -> list[Held]:
        """Those of which it is found out what is usual of their kind."""
        documents = sum(one.counts.size for one in self._found)
        tokens = sum(float(one.counts.tokens.sum()) for one in self._found)
        rate = held_rate(documents, tokens)
        pairs = zip(self._added, self._found, strict=True)
        return [Held(ref, rate, one.there) for ref, one in pairs]

    def _shares(self, split: Decomposition) -> Iterator[Shares]:
        """Of all documents, in their order: those built from come first, and have none."""
        for ref in self._built:
            yield Shares.none(ref.size)
        for one in self._found:
            yield document_shares(split.topics, one.counts).among(one.there)

    def _decomposed(self) -> Decomposition:
        """Their topics; one, if they are not clearly several."""
        every = -(-sum(len(one.counts.indices) for one in self._found) // ENOUGH)
        parts = [one.counts.sample(np.arange(one.counts.size) % every == 0) for one in self._found]
        ground = self._ground
        given = len(ground.retention), ground.options, ground.engine.workers, ground.power
        result = decompose(Sample(self._top.id, self._top.level, parts), *given)
        return _one_topic(parts, len(ground.retention)) if isinstance(result, str) else result

    def _children(self) -> Plan:
        """Topics that weigh what they have of all documents; those above have the same mass."""
        tree, ground, top = self._tree, self._ground, self._top
        part = Component(self._name, list(range(tree.splits[self._name].topics.size)))
        before = top.alpha0, top.reason
        children = make_children(tree, ground, top, part, _number(tree.splits[self._name]))
        top.alpha0, top.reason = before
        masses = measured(tree, ground, {child.id: child.components for child in children})
        for child in children:
            child.weight, child.alpha = masses[child.id] / ground.documents, 0.0
            child.surplus = child.weight
            child.reason = "height"
        above: Node | None = top
        while above is not None and above.parent is not None:
            above.components = [*above.components, part]
            if above.path_scores:
                above.path_scores = [*above.path_scores, [part]]
            above = tree.nodes[above.parent]
        reorder(tree)
        new = tuple(child.id for child in children)
        return Plan(new=new, weighed=frozenset(new))


def _number(split: Decomposition) -> int:
    """As many topics as have enough documents each, those that share some put together."""
    documents = split.overlap.weights * split.documents
    fine = list(range(split.topics.size))
    for number in range(len(fine), 1, -1):
        if min(documents[group].sum() for group in cut(split.merges, fine, number)) >= MANY:
            return number
    return 1


def _one_topic(parts: Sequence[Counts], width: int) -> Decomposition:
    """A decomposition into one topic."""
    counts = np.zeros((1, width))
    for part in parts:
        counts[0] += np.bincount(part.indices, part.weighted(), minlength=width)
    documents = sum(part.size for part in parts)
    overlap = Cooccurrence(np.ones(1), np.ones((1, 1)), np.array([float(documents)]))
    topics = FineTopics(counts.astype(np.float32))
    return Decomposition(topics, overlap, [], 1.0, 0.0, [], 0.0, documents)
