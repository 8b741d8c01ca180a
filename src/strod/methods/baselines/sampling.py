"""What the samplers of tomotopy have in common."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.methods.baselines.learner import Clock

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["chosen_words", "new_model", "sampled", "table", "token_places", "topic_words", "train"]

ETA = 0.01  # tomotopy's prior of a word in a topic


def new_model(kind: str, counts: csr_array, seed: int, **options: Any) -> Any:
    """A tomotopy model that has all documents; its words are the columns' numbers."""
    model = getattr(import_module("tomotopy"), kind)(seed=seed, **options)
    names = np.array([str(column) for column in range(counts.shape[1])], dtype=object)
    for begin, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(counts.indices[begin:end], counts.data[begin:end])
        model.add_doc(names[tokens].tolist())
    return model


def train(model: Any, clock: Clock, share: float) -> None:
    """Sample, one sweep at a time, in one thread: more would give other bytes on every run.

    The first call of a model also draws a topic for every token, which takes as long as some
    sweeps: it is no iteration.
    """
    model.train(0, workers=1)
    for _ in clock.steps(share):
        model.train(1, workers=1)


def _columns(model: Any) -> Numbers:
    """The column of each of the model's words."""
    return np.array([int(name) for name in model.used_vocabs], dtype=np.int64)


def token_places(model: Any) -> tuple[Numbers, Numbers]:
    """Document and column of every token, in the order of the model's documents."""
    words = [document.words for document in model.docs]
    lengths = [len(some) for some in words]
    return np.repeat(np.arange(len(lengths)), lengths), _columns(model)[np.concatenate(words)]


def sampled(model: Any, name: str) -> Numbers:
    """An assignment of every token, in the same order."""
    return np.concatenate([np.asarray(getattr(d, name), dtype=np.int64) for d in model.docs])


def topic_words(model: Any, topics: list[int], width: int) -> Array:
    """Word probabilities of topics by column."""
    weights = np.zeros((len(topics), width))
    columns = _columns(model)
    for row, topic in zip(weights, topics, strict=True):
        row[columns] = model.get_topic_word_dist(topic)
    return weights


def chosen_words(columns: Numbers, width: int) -> Array:
    """Word probabilities of tokens that were sampled for a topic, smoothed as by the model."""
    found = np.bincount(columns, minlength=width) + ETA
    words: Array = found / found.sum()
    return words


def table(i: Numbers, j: Numbers, shape: tuple[int, int]) -> Array:
    """How often each pair occurs."""
    flat = np.bincount(i * shape[1] + j, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)
