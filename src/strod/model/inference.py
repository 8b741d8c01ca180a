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

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel
from strod.compute.rows import check_lanes, divide, pull, push
from strod.values.shares import Shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts
    from strod.values.split import FineTopics

    Array = NDArray[np.float64]

__all__ = [
    "Inferred",
    "document_shares",
    "exp_digamma",
    "infer",
    "leaning_prior",
    "likely",
    "near",
    "posterior",
    "prior_of",
    "resume",
    "shares_in_context",
    "single_topic",
    "sparse_shares",
    "theta_of",
]

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
    held, own = np.empty(theta.shape[1], dtype=np.int64), np.empty(theta.shape[1])
    for d in range(indptr.size - 1):
        some, asked = 0, False
        for z in range(held.size):
            if theta[d, z] > 0.0:
                held[some] = z
                some += 1
                asked |= groups[z] >= 0
        for j in range(indptr[d], indptr[d + 1] if asked else indptr[d]):
            total = 0.0
            for i in range(some):
                own[i] = theta[d, held[i]] * words[indices[j], held[i]]
                total += own[i]
            for i in range(some if total > 0.0 else 0):
                if groups[held[i]] >= 0:
                    out[groups[held[i]], j] += own[i] / total


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


@kernel
def _divide_in_context(
    indptr: Any, indices: Any, values: Any, words: Any, theta: Any, expected: Any
) -> None:
    """Tokens divided by θ_z·φ_zx; a document that all words alike explain better has one more.

    With r the shares found, it is if Σ_x c_x·log(V·Σ_z r_z·φ_zx) < 0.
    """
    last = theta.shape[1]
    for d in range(indptr.size - 1):
        length, gain = 0.0, 0.0
        for j in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for z in range(last):
                total += theta[d, z] * words[indices[j], z]
            for z in range(last):
                expected[d, z] += values[j] * theta[d, z] * words[indices[j], z] / total
            length += values[j]
        for j in range(indptr[d], indptr[d + 1]):
            chance = 0.0
            for z in range(last):
                chance += expected[d, z] / length * words[indices[j], z]
            gain += values[j] * np.log(chance * words.shape[0])
        if gain < 0.0:
            expected[d] = 0.0
            expected[d, last] = 1.0


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


def infer(
    topics: FineTopics,
    documents: Counts,
    theta: Array | None = None,
    rounds: int = ROUNDS,
    prior: Array | None = None,
    *,
    evidence: bool = False,
) -> Inferred:
    """Rounds of inference, from equal shares and priors unless others are given."""
    start = _room(topics, documents.size, 1.0 / topics.size if theta is None else theta)
    return _inferred(topics, documents, (start, None), rounds, prior, evidence=evidence)


def resume(
    topics: FineTopics,
    documents: Counts,
    expected: NDArray[np.float32],
    rounds: int,
    prior: Array | None = None,
    *,
    evidence: bool = False,
) -> Inferred:
    """One round of inference or more, from expected counts that other φ may have given."""
    start = _room(topics, documents.size, 1.0), expected
    return _inferred(topics, documents, start, rounds - 1, prior, evidence=evidence)


def _inferred(
    topics: FineTopics,
    documents: Counts,
    start: tuple[Array, NDArray[np.float32] | None],
    rounds: int,
    prior: Array | None,
    *,
    evidence: bool,
) -> Inferred:
    """Inference from θ or, if they are given, from expected counts."""
    theta, before = start
    prior = np.full((1, topics.size), PRIOR) if prior is None else prior
    prior = _room(topics, len(prior), prior, 1.0)  # exp ψ(0) would be no number
    say = documents.document_weight if evidence else np.empty(0)
    counts = documents.indptr, documents.indices, documents.expected
    room = np.empty(documents.sizes.max(initial=0))
    expected = _room(topics, documents.size, 0.0 if before is None else before)
    found = _room(topics, documents.width if evidence else 0, 0.0)
    given = fixed(*counts, topics.padded, prior, say)
    _infer(*given, rounds, int(before is not None), room, theta, expected, found)
    return Inferred(expected[:, : topics.size], found)


def _room(topics: FineTopics, rows: int, values: NDArray[Any] | float, rest: float = 0.0) -> Array:
    """Rows with whole lanes: `values`, and beyond the last topic `rest`."""
    room = np.full((rows, topics.padded.shape[1]), rest)
    room[:, : topics.size] = values
    return room


def single_topic(topics: FineTopics, documents: Counts) -> Array:
    """g: the chance of each topic to be the only one of a document."""
    chances = np.empty((documents.size, topics.padded.shape[1]))
    given = (documents.indptr, documents.indices, documents.expected, *topics.logs)
    _guess(*fixed(*given), chances)
    return chances[:, : topics.size]


def near(guess: Array) -> Array:
    """θ of documents to start from: near the guess g."""
    result: Array = GUESSED * guess + (1 - GUESSED) / guess.shape[1]
    return result


def leaning_prior(guess: Array) -> Array:
    """Prior a of every document that leans to the guess g."""
    return PRIOR + WORTH * guess


def prior_of(topics: FineTopics, documents: Counts) -> Array:
    """The prior of documents that leans to the topic which explains all of their words."""
    return leaning_prior(single_topic(topics, documents))


def document_shares(topics: FineTopics, documents: Counts) -> Shares:
    """Shares of documents: a function of the document and the topics alone."""
    some, speak = documents.speaking()
    guess = single_topic(topics, some)
    found = infer(topics, some, near(guess), ROUNDS_GUESSED, leaning_prior(guess))
    return sparse_shares(found.expected).among(speak)


def shares_in_context(topics: FineTopics, own: Counts, context: Counts) -> Shares:
    """Shares of some tokens of documents in topics that all of the `context` is placed in.

    A further topic, the last, has the documents whose tokens none of them explains: they would
    be likelier if all words were alike.
    """
    some, speak = own.speaking()
    around = context.sample(speak)
    theta = _weights(around, document_shares(topics, around).dense(topics.size))
    theta[~theta.any(axis=1)] = 1.0  # the context says nothing
    expected = np.zeros((some.size, topics.size + 1))
    given = (some.indptr, some.indices, some.expected, topics.padded, theta)
    _divide_in_context(*fixed(*given), expected)
    return sparse_shares(expected).among(speak)


def posterior(
    topics: FineTopics,
    documents: Counts,
    shares: Array,
    groups: NDArray[np.int64],
    *,
    by_word: bool = False,
) -> NDArray[np.float32]:
    """Groups by counts: p(t|x,d) of every count, from the documents' shares.

    With `by_word` the shares are the topics' weights, the same for all: p(t|x).
    """
    theta = shares if by_word else _weights(documents, shares)
    out = np.zeros((int(groups.max()) + 1, len(documents.indices)), dtype=np.float32)
    given = fixed(documents.indptr, documents.indices, topics.padded, theta, groups)
    _posterior(*given, out)
    return np.minimum(out, 1, out=out)


def _weights(documents: Counts, shares: Array) -> Array:
    """The weights exp ψ(a + n) again, from the shares that were kept."""
    expected = shares * documents.length(1)[:, None]
    return np.where(expected > 0, theta_of(PRIOR + expected), 0.0)


def theta_of(gamma: Array) -> Array:
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
    given = fixed(documents.indptr, documents.tokens, documents.probability, chance)
    indptr = np.zeros(documents.size + 1, dtype=np.int64)
    size = _mark(*given, least, indptr)
    indices, tokens, own = (np.empty(size, dtype=kind) for kind in (np.int32, "f4", "f4"))
    given.insert(1, *fixed(documents.indices))
    _keep(*given, least, indptr, indices, tokens, own)
    return replace(documents, indptr=indptr, indices=indices, tokens=tokens, probability=own)


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
