"""Collapsed Gibbs sampling: the last sweeps where documents were drawn from the model.

Mean field takes the tokens of a document for independent of each other, and its topics stay off
by an amount that no number of documents takes away. Here every token has one topic z at a time,
drawn with the topics of all other tokens of its document given, shares integrated out::

    p(z_i = z | z_-i, x) ∝ (α_t + n_t)/(α_t0 + n_t) · (α_tz + n_z) · φ_zx

where t is the group that topic z is in, n_t and n_z are the other tokens of the document in them,
and α_t0 = Σ_z α_tz. That is the paper's prior (equation 1) of a tree of two levels: Dirichlet
shares of the groups, Dirichlet shares of its topics inside each. Groups are those of the
dendrogram. A flat prior would be far off: topics of a group meet more often than others do.

The α are those that make the draws most likely, by the fixed point of Minka (2000), for each
Dirichlet distribution, with n_d0 = Σ_z n_dz::

    α_z ← α_z · Σ_d [ψ(α_z + n_dz) - ψ(α_z)] / Σ_d [ψ(α_0 + n_d0) - ψ(α_0)]

φ is what the chances of all tokens add up to, not their draws. The number that decides a draw is
a hash of the place of a token in the sample and the number of the sweep: nothing is random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel
from strod.compute.threads import spread
from strod.model.inference import PRIOR, theta_of
from strod.model.polish import Polished

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.values.split import FineTopics

    Array = NDArray[np.float64]
    Sizes = NDArray[np.int64]

__all__ = ["TwoLevels", "draw", "may_be_drawn"]

BURN = 0.6  # of the sweeps go on to where topics stand; the others are averaged
FIRST, STEPS = 50, 3  # of the fixed point: after the first sweep, and after each that follows
ENOUGH = 30.0  # tokens of a document, and for each number of φ, on average
LEAST = 1e-4  # of a parameter: no topic is impossible
LONGEST = 1000  # tokens of a topic in a document; more say no more about the prior
_GOLDEN = 0x9E3779B97F4A7C15
_STEP, _ONE, _TWO = (np.uint64(n) for n in (_GOLDEN, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(n) for n in (30, 27, 31, 11))


@dataclass(frozen=True)
class TwoLevels:
    """The prior of the shares of a document.

    Attributes
    ----------
    group : ndarray of shape (m,), int64
        The group of every topic.
    inside : ndarray of shape (m,)
        α_tz, by topic.
    above : ndarray of shape (groups,)
        α_t.
    """

    group: NDArray[np.int64]
    inside: Array
    above: Array

    @classmethod
    def of(cls, groups: Sequence[Sequence[int]]) -> TwoLevels:
        """As flat as the prior of mean field: a topic has the same parameter, a group their sum."""
        group = np.zeros(sum(map(len, groups)), dtype=np.int64)
        for number, members in enumerate(groups):
            group[list(members)] = number
        return cls(group, np.full(len(group), PRIOR), PRIOR * np.bincount(group).astype(float))

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """As kernels take it: groups, α_tz, α_t, α_t0."""
        return tuple(fixed(self.group, self.inside, self.above, self.totals))

    @property
    def totals(self) -> Array:
        """α_t0."""
        return np.bincount(self.group, self.inside, len(self.above)).astype(np.float64)

    def fitted(self, sizes: Sizes, steps: int) -> TwoLevels:
        """Steps of the fixed point.

        Rows of `sizes` are topics, groups and all tokens: how many documents have 0, 1, 2 and so
        on of them. Σ_d [ψ(α + n_d) - ψ(α)] is Σ_i #{d: n_d > i} / (α + i).
        """
        m, result = len(self.group), self
        more = np.cumsum(sizes[:, ::-1], axis=1)[:, -2::-1]
        for _ in range(steps):
            whole = _slopes(more[m:-1], result.totals)
            inside = result.inside * (_slopes(more[:m], result.inside) / whole[self.group])
            whole = _slopes(more[-1:], result.above.sum(keepdims=True))
            above = result.above * (_slopes(more[m:-1], result.above) / whole)
            result = replace(self, inside=np.maximum(inside, LEAST), above=np.maximum(above, LEAST))
        return result


def _slopes(more: NDArray[np.int64], alpha: Array) -> Array:
    """Σ_i #{d: n_d > i} / (α + i) for each row; hardly more than 0 where there are no tokens."""
    slopes: Array = (more / (alpha[:, None] + np.arange(more.shape[1]))).sum(axis=1)
    return np.maximum(slopes, np.finfo(float).tiny)


@helper
def _lot(key: Any) -> float:
    """A number in [0, 1) for a key: the finaliser of splitmix64 spreads its bits."""
    key = (key ^ (key >> _SHIFTS[0])) * _ONE
    key = (key ^ (key >> _SHIFTS[1])) * _TWO
    return float(np.float64((key ^ (key >> _SHIFTS[2])) >> _SHIFTS[3])) * 2.0**-53


@helper
def _drawn(sums: Any, least: float) -> int:
    """The first topic up to which chances sum to more than a number."""
    z = 0
    for total in sums[:-1]:
        z += total <= least
    return z


@kernel
def _begin(documents: Any, words: Any, theta: Any, topic: Any, key: Any) -> None:
    """Draw the topic of every token from θ_z·φ_zx."""
    indptr, indices, tokens = documents
    place, sums = 0, np.empty(theta.shape[1])
    for d in range(indptr.size - 1):
        for j in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for z in range(sums.size):
                total += theta[d, z] * words[indices[j], z]
                sums[z] = total
            for _ in range(int(tokens[j])):
                topic[place] = _drawn(sums, total * _lot(key + np.uint64(place) * _STEP))
                place += 1


@helper
def _move(z: int, by: float, prior: Any, held: Any, part: Any) -> None:
    """A token more or less in a topic, and in its group; `part` is what a group multiplies."""
    group, _, above, totals = prior
    t = group[z]
    held[z] += by
    held[group.size + t] += by
    tokens = held[group.size + t]
    part[t] = (above[t] + tokens) / (totals[t] + tokens)


@kernel
def _sweep(documents: Any, words: Any, prior: Any, topic: Any, found: Any, key: Any) -> None:
    """Draw the topic of every token anew, all others given.

    Its chances, over φ, are added to a row of the evidence, and documents are counted by how many
    tokens they have in each topic, in each group, and in all.
    """
    (indptr, indices, tokens), (evidence, sizes) = documents, found
    group, inside, above, totals = prior
    m, end, place = group.size, 0, 0
    held, part = np.empty(m + above.size), np.empty(above.size)
    chance, sums = np.empty(m), np.empty(m)
    for d in range(indptr.size - 1):
        held[:] = 0.0
        part[:] = above / totals
        for j in range(indptr[d], indptr[d + 1]):
            end += int(tokens[j])
        for i in range(place, end):
            _move(topic[i], 1.0, prior, held, part)
        sizes[m + above.size, min(end - place, sizes.shape[1] - 1)] += 1
        for j in range(indptr[d], indptr[d + 1]):
            own, seen = words[indices[j]], evidence[indices[j]]
            for _ in range(int(tokens[j])):
                _move(topic[place], -1.0, prior, held, part)
                total = 0.0
                for z in range(m):
                    chance[z] = part[group[z]] * (inside[z] + held[z])
                    total += chance[z] * own[z]
                    sums[z] = total
                whole = 1.0 / total
                for z in range(m):
                    seen[z] += chance[z] * whole
                topic[place] = _drawn(sums, total * _lot(key + np.uint64(place) * _STEP))
                _move(topic[place], 1.0, prior, held, part)
                place += 1
        for node in range(held.size):
            sizes[node, min(int(held[node]), sizes.shape[1] - 1)] += 1


class _Block(NamedTuple):
    """Some documents, the topics of their tokens, and how many tokens stand before them."""

    documents: tuple[NDArray[Any], ...]
    topic: NDArray[np.uint8]
    before: int

    @classmethod
    def all_of(cls, blocks: Sequence[Counts]) -> list[_Block]:
        """The blocks of a sample, with no topics drawn yet."""
        sizes = [int(block.tokens.sum(dtype=np.float64)) for block in blocks]
        before = accumulate(sizes, initial=0)
        return [
            cls(
                tuple(fixed(block.indptr, block.indices, block.tokens)),
                np.empty(size, dtype=np.uint8),
                first,
            )
            for block, size, first in zip(blocks, sizes, before, strict=False)
        ]

    def key(self, sweep: int) -> np.uint64:
        """What the numbers of a sweep are made from; each token of the sample has its own."""
        return np.uint64(_GOLDEN * ((sweep << 40) + self.before) % 2**64)

    def begin(self, topics: FineTopics, expected: NDArray[np.float32] | None) -> None:
        """Draw all topics, from the expected counts that mean field ended with, if it did."""
        before = np.zeros((len(self.documents[0]) - 1, topics.size))
        before += 0.0 if expected is None else expected
        theta = theta_of(PRIOR + before)
        _begin(self.documents, *fixed(topics.padded, theta), self.topic, self.key(0))

    def swept(
        self, topics: FineTopics, prior: TwoLevels, sweep: int, longest: int
    ) -> tuple[Array, Sizes]:
        """Draw all topics anew; the evidence, and the sizes that `TwoLevels.fitted` takes."""
        evidence = np.zeros(topics.padded.shape)
        rows = topics.size + len(prior.above) + 1
        sizes = np.zeros((rows, longest + 1), dtype=np.int64)
        given = self.documents, *fixed(topics.padded), prior.tables, self.topic
        _sweep(*given, (evidence, sizes), self.key(sweep))
        return evidence, sizes

    def counts(self, topics: int) -> NDArray[np.float32]:
        """How many tokens of a document are in each topic."""
        indptr, _, tokens = self.documents
        lengths = np.add.reduceat(np.append(tokens, 0.0), indptr[:-1]) * (np.diff(indptr) > 0)
        row = np.repeat(np.arange(len(lengths)), lengths.astype(np.int64))
        size = len(lengths) * topics
        found = np.bincount(row * topics + self.topic, minlength=size)
        return found.reshape(-1, topics).astype(np.float32)


def may_be_drawn(blocks: Sequence[Counts], numbers: int) -> bool:
    """Whether tokens can have a topic each, and say enough.

    They are whole, documents have enough of them, and so has each of the `numbers` of φ: topics
    that are learnt from few tokens agree with these too well, and mean field is nearer.
    """
    whole = all(bool((block.tokens == np.floor(block.tokens)).all()) for block in blocks)
    lengths = np.concatenate([block.length(0) for block in blocks])
    said = int(np.count_nonzero(lengths))
    return whole and float(lengths.sum()) >= ENOUGH * max(said, numbers)


def draw(
    blocks: Sequence[Counts],
    start: Polished,
    groups: Sequence[Sequence[int]],
    sweeps: int,
    threads: int,
) -> Polished:
    """Go on by drawing topics, `sweeps` times.

    Parameters
    ----------
    blocks : sequence of Counts
        The sample, every token in full.
    start : Polished
        Topics and expected counts of mean field.
    groups : sequence of sequence of int
        Topics that meet more often than others do.
    sweeps : int
        Passes over the sample; the topics of the last ones are averaged.
    threads : int
        Threads that work on the blocks.
    """
    topics, prior, parts = start.topics, TwoLevels.of(groups), _Block.all_of(blocks)
    for part, expected in zip(parts, start.state, strict=True):
        part.begin(topics, expected)
    longest = min(LONGEST, max(int(block.length(0).max(initial=0)) for block in blocks))
    for number in range(sweeps):

        def sweep(
            part: _Block,
            topics: FineTopics = topics,
            prior: TwoLevels = prior,
            number: int = number,
        ) -> tuple[Array, Sizes]:
            return part.swept(topics, prior, number + 1, longest)

        evidence, sizes = np.zeros(()), np.zeros((), dtype=np.int64)
        for found in spread(sweep, parts, threads):
            evidence, sizes = evidence + found[0], sizes + found[1]
        share = 1.0 / max(number + 1 - int(BURN * sweeps), 1)
        topics = topics.mixed(topics.learnt(evidence), share)
        prior = prior.fitted(sizes, STEPS if number else FIRST)
    return Polished(topics, [part.counts(topics.size) for part in parts])
