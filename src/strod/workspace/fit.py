"""Which documents fit no topic: how well they are explained, beside documents held out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.corpus.pairs import read_pairs, write_pairs
from strod.model.explain import Explainer, FitModel, Vocabulary
from strod.model.pairs import added_pairs
from strod.passes.fit import Held, count_pairs, hold_out
from strod.store.schema import replace as record_with
from strod.store.tables import numbers
from strod.values.shares import apart
from strod.values.usual import usual

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from strod.corpus.reader import Corpus, ShardRef
    from strod.engine.protocol import Engine
    from strod.model.model import Model
    from strod.store.schema import CorpusRecord
    from strod.values.split import Decomposition
    from strod.values.usual import Usual

__all__ = [
    "built_refs",
    "calibrated",
    "count_all_pairs",
    "explainer_of",
    "fit_model",
    "held_rate",
    "usual_of",
]

DOCUMENTS, TOKENS = 1000, 200_000  # that are held out, about and at most
PAIRED = 4_000_000  # tokens whose pairs are counted, about and at most; no fewer than are held out


def _whole(splits: Mapping[str, Decomposition]) -> str | None:
    """The decomposition of all there is; none of a tree that is a root alone."""
    names = [n for n in sorted(splits) if not splits[n].components and not splits[n].apart]
    return names[0] if names else None


def explainer_of(corpus: Corpus, model: Model, name: str) -> Explainer:
    """The words of the topics of a decomposition."""
    table = corpus.vocabulary
    words = Vocabulary(
        numbers(table["occurrences"]).astype(np.float64),
        numbers(table["documents"]).astype(np.float64),
        corpus.about.settings.min_df,
        read_pairs(corpus),
    )
    return Explainer(model.decompositions[name], model.retention, words)


def held_rate(documents: int, tokens: float) -> float:
    """Share of documents that are held out."""
    return min(1.0, DOCUMENTS / max(documents, 1), TOKENS / max(tokens, 1))


def _held_out(corpus: Corpus) -> list[Held]:
    """A sample of the documents that the corpus was built from."""
    rate = held_rate(corpus.about.documents, corpus.about.tokens)
    return [Held(ref, rate) for ref in built_refs(corpus)]


def built_refs(corpus: Corpus) -> list[ShardRef]:
    """The documents that the corpus was built from, as far as they are there."""
    built = {one.name for one in corpus.about.segments if not one.added}
    return [ref for ref in corpus.refs() if ref.segment in built]


def count_all_pairs(root: Path, corpus: Corpus, engine: Engine) -> CorpusRecord:
    """Count words that stand side by side, and keep them; returns what is known of the corpus."""
    about = corpus.about
    rate = min(1.0, PAIRED / max(about.tokens, 1))
    columns = numbers(corpus.lexicon["column"])
    found = added_pairs([*engine.map(count_pairs, corpus.refs(), rate, columns)])
    write_pairs(root, found)
    return record_with(about, paired=rate)


def usual_of(
    held: Sequence[Held], model: Model, name: str, explainer: Explainer, engine: Engine
) -> Usual | None:
    """What is usual of documents that are held out."""
    topics = model.decompositions[name].topics
    found = [*engine.map(hold_out, held, model, topics, explainer)]
    if not found:
        return None
    return usual(*(np.concatenate(column) for column in zip(*found, strict=True)))


def calibrated(corpus: Corpus, model: Model, engine: Engine) -> dict[str, Decomposition]:
    """The decompositions, that of all there is with what is usual."""
    name = _whole(model.decompositions)
    if name is None:
        return dict(model.decompositions)
    found = usual_of(_held_out(corpus), model, name, explainer_of(corpus, model, name), engine)
    split = replace(model.decompositions[name], usual=found)
    return {**model.decompositions, name: split}


def fit_model(corpus: Corpus, model: Model, engine: Engine) -> FitModel | None:
    """How documents fit; None if the corpus is too small to say what is usual.

    A workspace that was built before this was kept is looked at now.
    """
    name, splits = _whole(model.decompositions), model.decompositions
    if name is None:
        return None
    explainer = explainer_of(corpus, model, name)
    known = splits[name].usual
    known = known or usual_of(_held_out(corpus), model, name, explainer, engine)
    if known is None:
        return None
    others = {one: splits[one].usual for one in apart(splits)}
    return FitModel(
        name,
        explainer,
        known,
        tuple(
            FitModel(one, explainer_of(corpus, model, one), its)
            for one, its in others.items()
            if its is not None
        ),
    )
