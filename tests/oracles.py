"""Moments by their definitions: loops over tuples of tokens, slow and obviously right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from strod.moments.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strod.moments.moments import Moments

Array = NDArray[np.float64]
Token = tuple[int, float]  # a word, and the probability that this token belongs to the topic
Document = list[Token]
ORDERS = list(permutations(range(3)))


def random_documents(
    random: np.random.Generator, width: int, count: int, *, chance: str = "one"
) -> list[Document]:
    """Documents of 0 to 6 tokens; `chance` is one, or a fraction per document and word."""
    documents = []
    for _ in range(count):
        words = random.integers(width, size=random.integers(7))
        chances = np.ones(width, dtype=np.float32)
        if chance == "fraction":
            chances = random.random(width, dtype=np.float32)
            chances[random.random(width) < 0.1] = 0
        documents.append([(int(word), float(chances[word])) for word in words])
    return documents


def counts(documents: list[Document], width: int) -> Counts:
    """The same documents as topical counts."""
    indptr, indices, tokens, chance = [0], [], [], []
    for document in documents:
        chances = dict(document)
        for word, times in sorted(Counter(word for word, _ in document).items()):
            indices.append(word)
            tokens.append(times)
            chance.append(chances[word])
        indptr.append(len(indices))
    return Counts(
        np.array(indptr),
        np.array(indices, dtype=np.int32),
        np.array(tokens, dtype=np.float32),
        np.array(chance, dtype=np.float32),
        width,
    )


def say(document: Document, long: float) -> float:
    """What a token counts in a document that may be too long."""
    length = sum(chance for _, chance in document)
    return 1.0 if length <= long else long / length


def tuples(document: Document, order: int, long: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Words and weight of each ordered tuple of `order` tokens at different places."""
    share = say(document, long)
    for chosen in permutations(document, order):
        weight = 1.0
        for _, chance in chosen:
            weight *= share * chance
        yield tuple(word for word, _ in chosen), weight


def moment(
    documents: list[Document], width: int, order: int, long: float = 100.0
) -> tuple[Array, float]:
    """M1, E2 or E3 in full, and the weight of all tuples; zeros if there are none."""
    total, weights = np.zeros((width,) * order), 0.0
    for document in documents:
        for words, weight in tuples(document, order, long):
            total[words] += weight
            weights += weight
    return total / (weights or 1.0), weights


def contract(third: Array, basis: Array) -> Array:
    """T(W, W, W), an entry at a time."""
    k = basis.shape[1]
    result = np.zeros((k, k, k))
    for a, b, c in product(range(k), repeat=3):
        corner = np.multiply.outer(np.multiply.outer(basis[:, a], basis[:, b]), basis[:, c])
        result[a, b, c] = (third * corner).sum()
    return result


def dirichlet_moment(alpha: Array, order: int) -> Array:
    """E[h_i·h_j·...] of a Dirichlet: rising factorials."""
    result = np.empty((len(alpha),) * order)
    for topics in product(range(len(alpha)), repeat=order):
        value = 1.0
        for place, topic in enumerate(topics):
            value *= alpha[topic] + topics[:place].count(topic)
            value /= alpha.sum() + place
        result[topics] = value
    return result


@dataclass(frozen=True)
class Population:
    """Moments of infinitely many documents of LDA, with the interface of `Moments`."""

    alpha: Array
    phi: Array  # topics by words

    @property
    def width(self) -> int:
        return len(self.phi[0])

    @property
    def first(self) -> Array:
        result: Array = dirichlet_moment(self.alpha, 1) @ self.phi
        return result

    @property
    def full(self) -> Array:
        """E2, V by V."""
        result: Array = self.phi.T @ dirichlet_moment(self.alpha, 2) @ self.phi
        return result

    def second(self, vectors: Array) -> Array:
        result: Array = self.full @ vectors
        return result

    @property
    def cube(self) -> Array:
        """E3, V by V by V."""
        result: Array = np.einsum(
            "abc,ax,by,cz->xyz",
            dirichlet_moment(self.alpha, 3), self.phi, self.phi, self.phi, optimize=True,
        )  # fmt: skip
        return result

    def third(self, basis: Array) -> Array:
        result: Array = np.einsum(
            "xyz,xa,yb,zc->abc", self.cube, basis, basis, basis, optimize=True
        )
        return result

    @property
    def moments(self) -> Moments:
        """Itself, where the code wants `Moments`."""
        return cast("Moments", self)


def random_population(random: np.random.Generator, k: int, width: int, alpha0: float) -> Population:
    """Topics with some common words; no topic is rarer than a few per cent."""
    alpha = random.dirichlet(np.full(k, 5.0)) * alpha0
    return Population(alpha, random.dirichlet(np.full(width, 0.3), size=k))


def sampled_documents(
    random: np.random.Generator,
    population: Population,
    count: int,
    length: Callable[[], int],
) -> list[Document]:
    """Documents drawn from the model."""
    documents = []
    for _ in range(count):
        words = random.dirichlet(population.alpha) @ population.phi
        drawn = random.choice(population.width, size=length(), p=words / words.sum())
        documents.append([(int(word), 1.0) for word in drawn])
    return documents
