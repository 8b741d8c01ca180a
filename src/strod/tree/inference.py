"""Topic shares of documents with the topics' words given: variational Bayes.

For a document with counts c the shares have a Dirichlet posterior with parameters γ::

    γ_z = a + n_z,    n_z = Σ_x c_x·θ_z·φ_{z,x} / Σ_z' θ_z'·φ_{z',x},    θ_z = exp ψ(γ_z)

found by a few rounds. The expected counts n_z, divided by their sum, are the shares. exp ψ
keeps a short document from being spread over many topics, which plain EM (θ ∝ n) does.

When documents are placed, a leans to the topics that explain all their words at once, which
mean field does not see: a short text mostly has one topic. With p_z the weight of a topic and
b what keeps a long document open::

    a_z = a + 4·g_z,    g_z ∝ p_z·Π_x φ_{z,x}^(b·c_x),    b = min(1/2, 5 / Σ_x c_x)

and the rounds start near g, from where six get as far as eight do from equal shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel
from strod.compute.rows import check_lanes, divide, pull, push, whole_lanes, with_lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

__all__ = ["FineTopics", "Inferred", "Shares", "exp_digamma", "likely"]

PRIOR = 0.02  # a, the Dirichlet prior of a document's shares; see `exp_digamma` before it is less
WORTH = 4.0  # tokens that the guess of a document's one topic is worth
TEMPER = 0.5  # power of a likelihood: words of a document are not drawn one by one
TOKENS = 5.0  # at most so many tokens tell the one topic: a long document has several
GUESSED = 0.7  # of a document's start that g makes up, the rest being equal shares
ROUNDS = 8  # from equal shares
ROUNDS_GUESSED = 6
LEAST = 0.01  # shares below are no evidence
UNLIKELY = 0.2  # chance below which a token is not of a topic
MANY = 2.0  # of more than ten topics: so many times an equal share
ROUNDED = 1e-4  # what rounding may take from it: five topics that are alike have 0.2 each
SILENT = 0.1  # tokens below which a document says nothing about a topic
PSEUDO = 1.0  # at most added to every expected count of a word in a topic
SMOOTH = 0.25  # at most so many pseudo-counts for every count


@helper
def exp_digamma(x: float) -> float:
    """exp(ψ(x)) for x of 0.01 or more, to some parts in 10⁹; less than 10⁻⁴³ for x below.

    ψ(x) = ψ(x+5) - Σ 1/(x+i) over i = 0..4, whose sum is one fraction, and exp ψ(y+½) has a
    short asymptotic series. exp(-s) is exp(-s/1024), a short series too, squared ten times:
    nothing but products and one division, which LLVM does for several x at a time.
    """
    q = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0)
    p = (((5.0 * x + 40.0) * x + 105.0) * x + 100.0) * x + 24.0
    y = x + 4.5
    one = 1.0 / (q * y)
    r = q * one
    s = r * r
    tail = 10313.0 / 2903040.0 - s * (5509121.0 / 1393459200.0)
    series = y + r * (1.0 / 24.0 - s * (37.0 / 5760.0 - s * tail))
    t = max(p * y * one * (-1.0 / 1024.0), -0.75)  # beyond it the result is 0 anyway
    power = 1.0 + t * (
        1.0
        + t
        * (
            1.0 / 2.0
            + t
            * (
                1.0 / 6.0
                + t * (1.0 / 24.0 + t * (1.0 / 120.0 + t * (1.0 / 720.0 + t * (1.0 / 5040.0))))
            )
        )
    )
    for _ in range(10):
        power *= power
    return series * power


@kernel
def _infer(
    indptr: Any,
    indices: Any,
    values: Any,
    words: Any,
    prior: Any,
    say: Any,
    rounds: int,
    resumed: int,
    room: Any,
    theta: Any,
    expected: Any,
    evidence: Any,
) -> None:
    """`rounds` updates of θ and n for every document, from θ or, if `resumed`, from n.

    `prior` has a row for each document, or one for all; `room` is for the longest document. If
    `evidence` has rows, h·θ_z·c_x / Σ_z θ_z·φ_zx is added to its row x. Rows have whole lanes,
    and beyond the last topic any finite numbers, since φ is 0 there.
    """
    check_lanes(theta, words)
    check_lanes(expected, words)
    for d in range(indptr.size - 1):
        weight, count, given = theta[d], expected[d], prior[min(d, prior.shape[0] - 1)]
        own, tokens = indices[indptr[d] : indptr[d + 1]], values[indptr[d] : indptr[d + 1]]
        ratio = room[: own.size]
        for step in range(rounds + 1):
            if step > 0 or resumed:
                for z in range(weight.size):
                    weight[z] = exp_digamma(given[z] + weight[z] * count[z])
            count[:] = 0.0
            for j in range(own.size):  # a slice would compile what to say if shapes differed
                ratio[j] = tokens[j]
            divide(theta, d, words, own, ratio)
            pull(expected, d, words, own, ratio)
        for z in range(weight.size):
            count[z] *= weight[z]
        if evidence.size:
            ratio *= say[d]
            push(theta, d, evidence, own, ratio)


@kernel
def _exp_digammas(values: Any, out: Any) -> None:
    for d in range(values.shape[0]):
        for z in range(values.shape[1]):
            out[d, z] = exp_digamma(values[d, z])


@kernel
def _guess(indptr: Any, indices: Any, values: Any, logs: Any, weights: Any, out: Any) -> None:
    """p(z|d) ∝ p_z·Π_x φ_zx^(b·c_x), as if a document had one topic; 0 without words."""
    check_lanes(out, logs)
    for d in range(indptr.size - 1):
        begin, end = indptr[d], indptr[d + 1]
        out[d] = 0.0
        length = values[begin:end].sum()
        if length <= 0.0:
            continue
        pull(out, d, logs, indices[begin:end], values[begin:end])
        chance, power = out[d, : weights.size], min(TEMPER, TOKENS / length)
        largest, total = -np.inf, 0.0
        for z in range(chance.size):
            chance[z] = chance[z] * power + weights[z]
            largest = max(largest, chance[z])
        for z in range(chance.size):
            chance[z] = np.exp(chance[z] - largest)
            total += chance[z]
        for z in range(chance.size):
            chance[z] /= total


@kernel
def _posterior(indptr: Any, indices: Any, words: Any, theta: Any, groups: Any, out: Any) -> None:
    """p(group | word, document) of every count; groups are numbered from 0, -1 is left out."""
    held = np.empty(theta.shape[1], dtype=np.int64)
    for d in range(indptr.size - 1):
        some = 0
        for z in range(held.size):
            if theta[d, z] > 0.0:
                held[some] = z
                some += 1
        for j in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for i in range(some):
                total += theta[d, held[i]] * words[indices[j], held[i]]
            for i in range(some):
                z = held[i]
                if groups[z] >= 0 and total > 0.0:
                    out[groups[z], j] += theta[d, z] * words[indices[j], z] / total


@kernel
def _mark(indptr: Any, tokens: Any, before: Any, chance: Any, least: float, ends: Any) -> int:
    """Where each document's counts end, of those that may belong to a topic.

    Documents in which they amount to nothing have none. Returns how many there are.
    """
    size = 0
    for d in range(indptr.size - 1):
        mass, some = 0.0, 0
        for j in range(indptr[d], indptr[d + 1]):
            if chance[j] >= least:
                mass += tokens[j] * before[j] * chance[j]
                some += 1
        size += some if mass >= SILENT else 0
        ends[d + 1] = size
    return size


@kernel
def _keep(
    indptr: Any,
    indices: Any,
    tokens: Any,
    before: Any,
    chance: Any,
    least: float,
    ends: Any,
    kept_indices: Any,
    kept_tokens: Any,
    kept_chance: Any,
) -> None:
    """The counts that `_mark` has counted."""
    for d in range(indptr.size - 1):
        place = ends[d]
        for j in range(indptr[d], indptr[d + 1] if ends[d + 1] > place else indptr[d]):
            if chance[j] >= least:
                kept_indices[place], kept_tokens[place] = indices[j], tokens[j]
                kept_chance[place] = before[j] * chance[j]
                place += 1


class Inferred(NamedTuple):
    """What inference finds.

    Attributes
    ----------
    expected : ndarray of shape (documents, m)
        n: how many tokens of a document belong to each topic.
    evidence : ndarray of shape (V, whole lanes)
        Σ_d h_d·(c_dx / Σθφ)·θ_dz: times φ it is how often a word is expected in a topic. No rows
        if nobody asked for it.
    """

    expected: Array
    evidence: Array


class Shares(NamedTuple):
    """Shares of consecutive documents, as compressed sparse rows; a row sums to 1 or is empty."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint16]
    values: NDArray[np.float32]

    def dense(self, width: int) -> Array:
        """Documents by topics."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        full = np.zeros((len(self.indptr) - 1, width))
        full[rows, self.indices] = self.values
        return full

    def among(self, places: NDArray[np.bool_]) -> Shares:
        """The same rows in these places, between rows that are empty."""
        sizes = np.zeros(len(places) + 1, dtype=np.int64)
        sizes[1:][places] = np.diff(self.indptr)
        return self._replace(indptr=np.cumsum(sizes))


@dataclass(frozen=True)
class FineTopics:
    """Topics by their expected counts of words.

    Attributes
    ----------
    counts : ndarray of shape (m, V), float32
        Expected number of (thinned) tokens of each word in each topic.
    """

    counts: NDArray[np.float32]

    def __reduce__(self) -> tuple[type[FineTopics], tuple[NDArray[np.float32]]]:
        """Without what follows from the counts, which is three times as much."""
        return FineTopics, (self.counts,)

    @property
    def size(self) -> int:
        """Number of topics, m."""
        return len(self.counts)

    def spread(self, present: NDArray[np.int64], width: int) -> FineTopics:
        """The same topics over `width` words, of which they know those in `present`."""
        counts = np.zeros((self.size, width), dtype=np.float32)
        counts[:, present] = self.counts
        return FineTopics(counts)

    def learnt(self, evidence: Array) -> FineTopics:
        """The topics that the evidence, with whole lanes, makes of these."""
        counts = np.empty_like(self.counts)
        for z in range(self.size):
            counts[z] = evidence[:, z] * self._words[:, z]
        return FineTopics(counts)

    @property
    def words(self) -> Array:
        """V×m: φ with something added to every word, so that nothing is impossible.

        One token of every word, or less where that would outweigh what was seen of the words
        that occur.
        """
        return self._words[:, : self.size]

    @cached_property
    def _words(self) -> Array:
        """The same with whole lanes, as kernels take it."""
        occur = max(int(np.count_nonzero(self.counts.sum(axis=0))), 1)
        totals = self.counts.sum(axis=1, dtype=np.float64)
        pseudo = max(min(PSEUDO, SMOOTH * float(totals.sum()) / (self.size * occur)), 1e-9)
        words = np.zeros((self.counts.shape[1], whole_lanes(self.size)))
        for z, own in enumerate(self.counts):  # whole rows at a time: numpy is slow across them
            words[:, z] = own
            words[:, z] += pseudo
            words[:, z] /= totals[z] + pseudo * len(words)
        return words

    def infer(
        self,
        documents: Counts,
        theta: Array | None = None,
        rounds: int = ROUNDS,
        prior: Array | None = None,
        *,
        evidence: bool = False,
    ) -> Inferred:
        """Rounds of inference, from equal shares and priors unless others are given."""
        start = self._room(documents.size, 1.0 / self.size if theta is None else theta)
        return self._infer(documents, start, None, rounds, prior, evidence=evidence)

    def resume(
        self,
        documents: Counts,
        expected: NDArray[np.float32],
        rounds: int,
        prior: Array | None = None,
        *,
        evidence: bool = False,
    ) -> Inferred:
        """One round of inference or more, from expected counts that other φ may have given."""
        start = self._room(documents.size, 1.0)
        return self._infer(documents, start, expected, rounds - 1, prior, evidence=evidence)

    def _infer(
        self,
        documents: Counts,
        theta: Array,
        before: NDArray[np.float32] | None,
        rounds: int,
        prior: Array | None,
        *,
        evidence: bool,
    ) -> Inferred:
        prior = np.full((1, self.size), PRIOR) if prior is None else prior
        prior = self._room(len(prior), prior, 1.0)  # exp ψ(0) would be no number
        say = documents.say if evidence else np.empty(0)
        counts = documents.indptr, documents.indices, documents.expected
        room = np.empty(documents.sizes.max(initial=0))
        expected = self._room(documents.size, 0.0 if before is None else before)
        found = self._room(documents.width if evidence else 0, 0.0)
        given = fixed(*counts, self._words, prior, say)
        _infer(*given, rounds, int(before is not None), room, theta, expected, found)
        return Inferred(expected[:, : self.size], found)

    def _room(self, rows: int, values: NDArray[Any] | float, rest: float = 0.0) -> Array:
        """Rows with whole lanes: `values`, and beyond the last topic `rest`."""
        room = np.full((rows, self._words.shape[1]), rest)
        room[:, : self.size] = values
        return room

    def guess(self, documents: Counts) -> Array:
        """g: the chance of each topic to be the only one of a document."""
        chances = np.empty((documents.size, self._words.shape[1]))
        given = (documents.indptr, documents.indices, documents.expected, *self._logs)
        _guess(*fixed(*given), chances)
        return chances[:, : self.size]

    @cached_property
    def _logs(self) -> tuple[Array, Array]:
        """Logarithms of φ, V×m with whole lanes, and of the topics' weights."""
        weights = self.counts.sum(axis=1, dtype=np.float64) + np.finfo(float).tiny
        return with_lanes(np.log(self.words)), np.log(weights / weights.sum())

    def near(self, guess: Array) -> Array:
        """θ of documents to start from: near the guess."""
        result: Array = GUESSED * guess + (1 - GUESSED) / self.size
        return result

    def prior(self, documents: Counts) -> Array:
        """Prior a of every document that leans to the guess."""
        return PRIOR + WORTH * self.guess(documents)

    def shares(self, documents: Counts) -> Shares:
        """Shares of documents: a function of the document and the topics alone."""
        some, speak = documents.speaking()
        guess = self.guess(some)
        prior = PRIOR + WORTH * guess
        found = self.infer(some, self.near(guess), ROUNDS_GUESSED, prior)
        return sparse_shares(found.expected).among(speak)

    def posterior(
        self,
        documents: Counts,
        shares: Array,
        groups: NDArray[np.int64],
        *,
        by_word: bool = False,
    ) -> NDArray[np.float32]:
        """Groups by counts: p(t|x,d) of every count, from the documents' shares.

        With `by_word` the shares are the topics' weights, the same for all: p(t|x).
        """
        theta = shares if by_word else self._weights(documents, shares)
        out = np.zeros((int(groups.max()) + 1, len(documents.indices)), dtype=np.float32)
        given = fixed(documents.indptr, documents.indices, self._words, theta, groups)
        _posterior(*given, out)
        return np.minimum(out, 1, out=out)

    def _weights(self, documents: Counts, shares: Array) -> Array:
        """The weights exp ψ(a + n) again, from the shares that were kept."""
        expected = shares * documents.length(1)[:, None]
        return np.where(expected > 0, _theta(PRIOR + expected), 0.0)


def _theta(gamma: Array) -> Array:
    """θ = exp ψ(γ)."""
    theta = np.empty(gamma.shape)
    _exp_digammas(*fixed(np.ascontiguousarray(gamma)), theta)
    return theta


def likely(documents: Counts, chance: NDArray[np.float32], topics: int) -> Counts:
    """The counts of a topic, `chance` being p(t|x,d) of every count of the topic above.

    What is unlikely for one of so many `topics` is left out, and so is a document of which
    next to nothing is left.
    """
    least = np.float32((1 - ROUNDED) * min(UNLIKELY, MANY / topics))
    given = fixed(documents.indptr, documents.tokens, documents.chance, chance)
    indptr = np.zeros(documents.size + 1, dtype=np.int64)
    size = _mark(*given, least, indptr)
    indices, tokens, own = (np.empty(size, dtype=kind) for kind in (np.int32, "f4", "f4"))
    given.insert(1, *fixed(documents.indices))
    _keep(*given, least, indptr, indices, tokens, own)
    return replace(documents, indptr=indptr, indices=indices, tokens=tokens, chance=own)


@kernel
def _sparse(expected: Any, least: float, ends: Any, indices: Any, values: Any) -> int:
    """Shares of at least `least`, made to sum to 1; returns how many there are."""
    size = 0
    for d in range(expected.shape[0]):
        total = expected[d].sum()
        kept, begin = 0.0, size
        for z in range(expected.shape[1]):
            share = expected[d, z] / total if total > 0.0 else 0.0
            if share >= least:
                indices[size], values[size] = z, share
                kept += share
                size += 1
        for j in range(begin, size):
            values[j] /= kept
        ends[d + 1] = size
    return size


def sparse_shares(expected: Array) -> Shares:
    """Shares from expected counts; small ones are dropped, the others then sum to 1."""
    expected = np.ascontiguousarray(expected, dtype=np.float64)
    documents, topics = expected.shape
    indptr = np.zeros(documents + 1, dtype=np.int64)
    indices, values = np.empty(expected.size, dtype=np.uint16), np.empty(expected.size)
    size = _sparse(*fixed(expected), min(LEAST, 0.5 / topics), indptr, indices, values)
    return Shares(indptr, indices[:size].copy(), values[:size].astype(np.float32))
