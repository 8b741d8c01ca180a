"""One node: from its topical counts to topics, and how those share documents.

With look-ahead a node is decomposed into more topics than it has children; so it is without,
if some of them are junk. Those that share documents are put together, and polish goes on
from there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.model.gibbs import draw, may_be_drawn
from strod.model.grouping import cut, dendrogram, natural_children, separate_children
from strod.model.inference import document_shares
from strod.model.polish import converge, overlap, polish
from strod.model.prior import polish_better
from strod.model.rank import MOST_RANK, may_end, spectral_rank
from strod.moments.moments import Moments
from strod.moments.whitening import Whitening, spectrum, whiten
from strod.tensor.power import Power, decompose
from strod.tensor.recovery import Recovered, recover, solve_alpha0, third_moment
from strod.values.split import Cooccurrence, Decomposition, FineTopics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.model.options import TreeOptions
    from strod.model.polish import Polished
    from strod.moments.counts import Counts
    from strod.moments.whitening import Spectrum
    from strod.values.split import Merge

    Array = NDArray[np.float64]

__all__ = ["NotSplit", "split_node"]

FEWEST = 10  # documents that say something about a topic, else it is a leaf
ABOVE = 1.1  # times the noise: what the second eigenvalue of E2 must reach
RETRIES = 2  # with as many components more as children are missing
WEAK = 5.0  # effective documents below which a topic is junk, where there are enough of them
FAINT = 0.1  # of the mean weight: what a fine topic must reach
SLIGHT = 0.25  # of its fair share: what a child must reach
POWER = Power(steps=10)  # convergence is quadratic, and all are refined together in the end
MOST = 0.95  # of the tokens: the words of which decide on the spectral start
FEW_WORDS = 1000  # the most frequent ones, which always do
DRAWN = 10  # the same by drawing topics
SWEEPS = 16  # over every token, for each sweep of polish: at most
# Shares of a node that a child has at most and, divided by their number, at least, if the data give
# that. They are seen in the sample: in the end no child shall have over 3/4, or under a
# twentieth of an equal share.
NEARLY_ALL, NEXT_TO_NOTHING = 0.65, 1 / 15
MORE = 3  # components at most, one by one, where a child is nearly all
FULL = 1.0  # expected tokens of a document that counts half
MIXED = 0.01  # of M1 in the words of the spectral start, so that none is impossible


class NotSplit(Exception):  # noqa: N818 - an outcome, not an error
    """A topic that stays a leaf; the message is the reason."""


def split_node(
    blocks: Sequence[Counts],
    width: int,
    options: TreeOptions,
    random: np.random.Generator,
    threads: int,
    power: Power = POWER,
    *,
    ahead: bool = True,
) -> Decomposition:
    """Decompose a node.

    Parameters
    ----------
    blocks : sequence of Counts
        The sample of the node's topical counts.
    width : int
        Number of words, V.
    options : TreeOptions
        How.
    random : Generator
        Belongs to this node.
    threads : int
        Threads that work on the blocks.
    power : Power
        Iterations of the tensor power method.
    ahead : bool
        Whether to look ahead; without, the children that are asked for are decomposed at once.

    Raises
    ------
    NotSplit
        If the node has to stay a leaf.
    """
    documents = sum(int((block.length(1) > 0).sum()) for block in blocks)
    present = _present(blocks, width)
    whole = [block.renumbered(present) for block in blocks]
    blocks = [block.clipped(options.clip) for block in whole]
    if documents < FEWEST:
        raise NotSplit("too few documents")
    tokens = _tokens(blocks, len(present))
    often = _often(tokens, len(tokens) if not options.polish else FEW_WORDS)
    known = blocks if often.all() else [block.over(often) for block in blocks]
    moments = Moments.of(known, int(often.sum()), threads)
    if not moments.triples > 0:
        raise NotSplit("no document has three words")
    node = _Node(blocks, tokens, often, moments, options, random, threads, power, documents, ahead)
    fit = node.best()
    if ahead and options.polish and may_end(fit.found.ritz, moments.noise):
        exact = node.over(whole).exact()
        if exact is not None:
            return replace(exact, topics=exact.topics.spread(present, width))
    fit, polished, shared = node.divided(fit)
    return Decomposition(
        polished.topics.spread(present, width),
        shared,
        dendrogram(shared),
        fit.alpha0,
        fit.recovered.total,
        [float(value) for value in fit.found.values],
        moments.noise,
        documents,
    )


def _present(blocks: Sequence[Counts], width: int) -> NDArray[np.int64]:
    """The words that occur: a small topic has a small vocabulary, and E2 is 0 elsewhere."""
    seen = np.zeros(width, dtype=bool)
    for block in blocks:
        seen[block.indices] = True
    return np.flatnonzero(seen)


def _tokens(blocks: Sequence[Counts], width: int) -> Array:
    """Expected tokens of each word, as much as their documents say: M1 before it is divided."""
    total = np.zeros(width)
    for block in blocks:
        total += np.bincount(block.indices, block.weighted(), width)
    return total


def _often(tokens: Array, least: int) -> NDArray[np.bool_]:
    """The most frequent words, `least` or as many as make up `MOST` of the tokens.

    Rare words are most of a vocabulary, and so most of the work on E2, and say next to nothing
    there. Moments of some words are those of the same topics, cut to these words; polish finds
    where the others belong.
    """
    order = np.argsort(-tokens, kind="stable")
    enough = 1 + int((np.cumsum(tokens[order]) < MOST * tokens.sum()).sum())
    often = np.zeros(len(tokens), dtype=bool)
    often[order[: max(enough, least)]] = True
    return often


def _components(
    found: Spectrum, noise: float, options: TreeOptions, more: int, *, ahead: bool
) -> int:
    """Number of components: those above the noise, but all children that are asked for.

    Without look-ahead, if the data give the number, `more` than the energy says.
    """
    above = int((found.values > noise).sum())
    if not (len(found.values) > 1 and found.values[1] > ABOVE * noise):
        raise NotSplit("no parts stand out from chance")
    if options.children == "auto" and not ahead:
        return min(_energy(found.values, options) + more, above)
    return min(max(above, options.least), len(found.values))


def _energy(values: Array, options: TreeOptions) -> int:
    """Smallest k with g(k)/g(K) > η, where g sums the largest eigenvalues (Appendix B)."""
    energy = np.cumsum(np.maximum(values[: options.width], 0))
    more = energy > options.eta * energy[-1]
    return max(2, int(np.argmax(more)) + 1 if more.any() else len(energy))


def _recovered(
    moments: Moments,
    found: Spectrum,
    k: int,
    options: TreeOptions,
    random: np.random.Generator,
    power: Power,
) -> tuple[Recovered, float]:
    """Whitening, tensor, power method, recovery; α0 as given or found."""
    vectors = found.vectors[:, :k]
    first, third = vectors.T @ moments.first, moments.third(vectors)
    seed = random.integers(2**63)
    # A word of one topic alone points to it: W'·M2·e_x = Σ_z √α_z·φ_zx·v_z.
    frequent = np.argsort(-moments.first, kind="stable")[: power.pointers]

    def attempt(alpha0: float) -> tuple[Recovered, Whitening] | None:
        whitening = whiten(found, moments.first, k, alpha0)
        if whitening is None:
            return None
        r = len(whitening.scale)
        tensor = third_moment(third[:r, :r, :r], first[:r], whitening)
        likely = (vectors[frequent, :r] @ whitening.unscale).T
        components = decompose(
            tensor,
            np.random.default_rng(seed),
            likely=likely,
            starts=power.starts,
            steps=power.steps,
            refine=power.refine,
        )
        return recover(components, whitening, vectors[:, :r]), whitening

    def total(alpha0: float) -> float | None:
        result = attempt(alpha0)
        valid = result is not None and result[1].alpha0 == alpha0
        return result[0].total if result is not None and valid else None

    given = options.alpha0
    result = attempt(solve_alpha0(total) if isinstance(given, str) else float(given))
    if result is None or not np.isfinite(result[0].words).all():
        raise NotSplit("no valid whitening")
    return result[0], result[1].alpha0


class _Fit(NamedTuple):
    """Topics of a node, and which of them are no junk."""

    found: Spectrum
    recovered: Recovered
    alpha0: float
    polished: Polished
    shared: Cooccurrence
    asked: int
    documents: float
    weight: float

    @property
    def strong(self) -> NDArray[np.bool_]:
        """Topics that reach the least effective documents and the least weight.

        Others are near-duplicates, proceedings, boilerplate.
        """
        heavy = self.shared.weights >= self.weight
        result: NDArray[np.bool_] = (self.shared.documents >= self.documents) & heavy
        return result

    @property
    def missing(self) -> int:
        """Children that there are no strong topics for."""
        return self.asked - int(self.strong.sum())


class _Node(NamedTuple):
    """The sample of a node, and how it is decomposed."""

    blocks: Sequence[Counts]
    tokens: Array
    often: NDArray[np.bool_]
    moments: Moments
    options: TreeOptions
    random: np.random.Generator
    threads: int
    power: Power
    documents: int
    ahead: bool

    def best(self) -> _Fit:
        """Decompose; again with more components, if junk took the place of children.

        What has most strong topics is kept. Where the data give the number of children there
        is nothing to be replaced: junk is dropped.
        """
        first = self.options.rank(ahead=self.ahead)
        most = min(self.options.most(ahead=self.ahead), self.moments.width)
        best = last = self.decomposed(first)
        for _ in range(RETRIES if most > first else 0):
            rank, size = len(last.found.values), last.polished.topics.size
            if best.missing <= 0 or rank >= most:
                break
            rank = min(rank + last.missing, most)
            last = self.decomposed(rank)
            best = min(best, last, key=lambda fit: fit.missing)
            if last.polished.topics.size <= size:
                break
        return best

    def decomposed(self, rank: int, more: int = 0) -> _Fit:
        """Spectrum, tensor, polish: as many topics as the data and `rank` allow."""
        moments, options = self.moments, self.options
        found = spectrum(moments, min(rank, moments.width), self.random)
        k = _components(found, moments.noise, options, more, ahead=self.ahead)
        recovered, alpha0 = _recovered(moments, found, k, options, self.random, self.power)
        given = self.blocks, self._start(recovered), options.polish, self.threads
        polished = polish_better(*given) if self.ahead else polish(*given, guess=True)
        shared = self._overlap(polished)
        size = polished.topics.size
        fair = options.children if isinstance(options.children, int) else size
        weight = FAINT / size if self.ahead else SLIGHT / fair
        weak = min(WEAK, self.documents / (2 * size))  # half of a fair share of few documents
        return _Fit(found, recovered, alpha0, polished, shared, options.least, weak, weight)

    def over(self, blocks: Sequence[Counts]) -> _Node:
        """The same node with other counts of the same words."""
        tokens = _tokens(blocks, len(self.tokens))
        moments = Moments.of(
            [block.over(self.often) for block in blocks], self.moments.width, self.threads
        )
        return self._replace(blocks=blocks, tokens=tokens, moments=moments)

    def exact(self) -> Decomposition | None:
        """All topics that there are, if the spectrum ends, from every token of the documents.

        None if it does not end, or if there are fewer than there must be children. The topics
        are kept, whatever the number of children: they are what those are made of.
        """
        moments, options, threads = self.moments, self.options, self.threads
        found = spectrum(moments, min(MOST_RANK + 1, moments.width), self.random)
        rank = spectral_rank(found.values, moments.noise)
        if rank is None or rank < options.least:
            return None
        recovered, alpha0 = _recovered(moments, found, rank, options, self.random, self.power)
        start = polish(self.blocks, self._start(recovered), options.polish, threads).topics
        kept, entire = self._retention(), [block.entire() for block in self.blocks]
        given = FineTopics((start.counts / kept).astype(np.float32))
        mean_field = converge(entire, given, SWEEPS * options.polish, threads)
        topics, shared, merges = self._drawn(entire, mean_field)
        return Decomposition(
            FineTopics((topics.counts * kept).astype(np.float32)),
            shared,
            merges,
            alpha0,
            recovered.total,
            [float(value) for value in found.values[:rank]],
            moments.noise,
            self.documents,
            children=self._children(merges, rank, found.values),
        )

    def _drawn(
        self, entire: Sequence[Counts], polished: Polished
    ) -> tuple[FineTopics, Cooccurrence, list[Merge]]:
        """Topics that were found by mean field, without its bias; how they meet; dendrogram."""
        shared = overlap(entire, polished.topics, self.threads, polished.state)
        if may_be_drawn(entire, polished.topics.counts.size):
            merges, fine = dendrogram(shared), range(polished.topics.size)
            number = natural_children(merges, fine, self.options.width)
            groups = cut(merges, fine, number or self.options.least)
            polished = draw(entire, polished, groups, DRAWN * self.options.polish, self.threads)
            shared = overlap(entire, polished.topics, self.threads, polished.state)
        return polished.topics, shared, dendrogram(shared)

    def _retention(self) -> NDArray[np.float32]:
        """Share of the tokens of each word that thinning keeps at the root."""
        kept = np.ones(len(self.tokens), dtype=np.float32)
        for block in self.blocks:
            kept[block.indices] = block.probability
        return kept

    def _children(self, merges: list[Merge], rank: int, values: Array) -> int:
        """How many children so many topics are put together to.

        If the dendrogram does not tell, each is one, if they are not too many for that.
        """
        options = self.options
        if isinstance(options.children, int):
            return options.children
        usual = rank if rank <= options.width else _energy(values, options)
        return natural_children(merges, range(rank), options.width) or usual

    def _start(self, recovered: Recovered) -> FineTopics:
        """The spectral topics; rare words, about which they know nothing, belong to all alike."""
        words = np.tile(self.tokens, (len(recovered.words), 1))
        total = words[0, self.often].sum()
        words[:, self.often] *= MIXED
        words[:, self.often] += (1 - MIXED) * total * recovered.words
        return FineTopics((words * recovered.weights[:, None]).astype(np.float32))

    def divided(self, fit: _Fit) -> tuple[_Fit, Polished, Cooccurrence]:
        """The children of a node.

        If the data give their number, and one of them is nearly all of a topic, it is decomposed
        again with more components; if that does not help it is not split. The root always is.
        """
        polished, shared = self.without_junk(fit)
        if isinstance(self.options.children, int):
            return fit, *self.grouped(polished, shared)
        if not self.options.polish:  # as the paper has it, to be compared
            number = _energy(fit.found.values, self.options)
            return fit, *(
                self.grouped(polished, shared, number) if self.ahead else (polished, shared)
            )
        if self.ahead:
            return fit, *self.joined(*self.grouped(polished, shared))[:2]
        for more in range(1, MORE + 2):
            polished, shared, shares = self.joined(polished, shared)
            if shares.max() <= NEARLY_ALL:
                return fit, polished, shared
            size = fit.polished.topics.size
            if more <= MORE:
                fit = self.decomposed(len(fit.found.values), more)
            if fit.polished.topics.size <= size:
                break
            polished, shared = self.without_junk(fit)
        raise NotSplit("one part would be nearly all of it")

    def joined(
        self, polished: Polished, shared: Cooccurrence
    ) -> tuple[Polished, Cooccurrence, Array]:
        """Join children that are next to nothing to those that they meet most; their shares."""
        while True:
            (topics, _, leaning), shares = polished, self._placed(polished.topics)
            least = int(np.argmin(shares))
            if len(shares) == 2 or shares[least] >= NEXT_TO_NOTHING / len(shares):
                return polished, shared, shares
            lift = shared.joint[least] / np.maximum(shared.weights, np.finfo(float).tiny)
            lift[least] = -np.inf
            counts = topics.counts.copy()
            counts[int(np.argmax(lift))] += counts[least]
            start = FineTopics(np.delete(counts, least, axis=0))
            sweeps = min(self.options.polish, 2)
            polished, shared = self._polished(start, sweeps, leaning=leaning, guess=True)

    def _placed(self, topics: FineTopics) -> Array:
        """Shares of topics as documents are placed: most count once, those of few tokens less."""
        total = np.zeros(topics.size)
        for block in self.blocks:
            part = block.length(1) / (block.length(1) + FULL)
            total += part @ document_shares(topics, block).dense(topics.size)
        result: Array = total / max(total.sum(), np.finfo(float).tiny)
        return result

    def without_junk(self, fit: _Fit) -> tuple[Polished, Cooccurrence]:
        """Drop junk, as long as there are more topics than children."""
        (topics, _, leaning), strong = fit.polished, fit.strong
        best = np.lexsort((-fit.shared.weights, ~strong))[: max(int(strong.sum()), fit.asked)]
        if len(best) == topics.size or (self.options.children == "auto" and fit.missing > 0):
            return fit.polished, fit.shared
        start = FineTopics(topics.counts[np.sort(best)])
        sweeps = min(self.options.polish, 2)
        return self._polished(start, sweeps, leaning=leaning, guess=not self.ahead)

    def grouped(
        self, polished: Polished, shared: Cooccurrence, k: int = 0
    ) -> tuple[Polished, Cooccurrence]:
        """As many topics as there are children: those that share documents become one.

        `k` of them, if it is given; else as many as are asked for or do not belong together.

        The words of a sum of topics are not those that explain the documents best. Polish
        finds them; it does not start with the shares of the fine topics, which would hold it
        back.
        """
        topics, _, leaning = polished
        merges, fine = dendrogram(shared), range(topics.size)
        wanted = k or self.options.children
        if not isinstance(wanted, int):
            wanted = separate_children(merges, fine, self.options.width)
        k = wanted
        if topics.size <= k:
            return polished, shared
        counts = np.stack([topics.counts[group].sum(axis=0) for group in cut(merges, fine, k)])
        sweeps = self.options.polish
        return self._polished(FineTopics(counts), sweeps, leaning=leaning, guess=True)

    def _polished(
        self, start: FineTopics, sweeps: int, *, leaning: bool, guess: bool
    ) -> tuple[Polished, Cooccurrence]:
        again = polish(self.blocks, start, sweeps, self.threads, leaning=leaning, guess=guess)
        return again, self._overlap(again)

    def _overlap(self, polished: Polished) -> Cooccurrence:
        """How topics share documents; a prior that leans to one topic has no say in it.

        Where they are to be grouped by it, with the words that they have in the end.
        """
        topics, state, leaning = polished
        rounds = 3 if leaning else int(self.ahead or topics.size > self.options.least)
        return overlap(self.blocks, topics, self.threads, state, rounds)
