"""Which chains are phrases: formulas against loops over all cuts."""

from __future__ import annotations

from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest

from strod.engine.threads import Serial
from strod.phrases.mine import mine
from strod.phrases.quality import COHESION, WHOLE, bonds, phrases
from strod.progress import Silent
from tests.phrases.helpers import Sample, Tokens, decoded, random_sample, spoken


class Naive:
    """Bonds of chains, from the counts of their parts."""

    def __init__(self, sample: Sample, least: int, longest: int) -> None:
        self.stop = sample.stop
        self.counts = dict(sample.chains(least, longest))
        self.single = sample.occurrences
        frequent = (sample.occurrences >= least) & ~sample.stop
        self.total = int(sample.occurrences[frequent].sum())

    def count(self, part: Tokens) -> int:
        return self.counts[part] if len(part) > 1 else int(self.single[part[0]])

    def cuts(self, chain: Tokens) -> list[tuple[float, float]]:
        """Significance and cohesion of every cut into two parts."""
        content = [place for place, token in enumerate(chain) if not self.stop[token]]
        found = []
        for last, following in pairwise(content):
            observed = self.counts[chain]
            first, second = self.count(chain[: last + 1]), self.count(chain[following:])
            expected = first * second / self.total
            significance = (observed - expected) / sqrt(max(observed, expected))
            information = -log(min(observed / self.total, 1 - 1e-12))
            found.append((significance, log(observed / expected) / information))
        return found

    def weakest(self, chain: Tokens) -> tuple[float, float]:
        cuts = self.cuts(chain)
        return min(cut[0] for cut in cuts), min(cut[1] for cut in cuts)

    def phrases(self, threshold: float) -> dict[Tokens, int]:
        """Strong chains that do not stand in one longer strong chain more often than not."""
        strong = {
            chain: count
            for chain, count in self.counts.items()
            if self.weakest(chain)[0] >= threshold and self.weakest(chain)[1] >= COHESION
        }
        inside: dict[Tokens, int] = {}
        for longer, count in strong.items():
            for part in self.shorter(longer):
                inside[part] = max(inside.get(part, 0), count)
        return {
            chain: count for chain, count in strong.items() if inside.get(chain, 0) <= WHOLE * count
        }

    def shorter(self, chain: Tokens) -> list[Tokens]:
        """All but the last content word, all but the first."""
        content = [place for place, token in enumerate(chain) if not self.stop[token]]
        return [chain[: content[-2] + 1], chain[content[1] :]]


def test_bonds_equal_a_loop_over_all_cuts() -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        sample, least = random_sample(random), int(random.integers(2, 5))
        alphabet, naive = sample.alphabet(least), Naive(sample, least, 6)
        levels = mine(sample.shards(1), alphabet, least, 6, Serial(), Silent())
        found = bonds(levels, sample.occurrences[alphabet.words])
        for chains, (significance, cohesion) in zip(decoded(levels, alphabet), found, strict=True):
            expected = np.array([naive.weakest(chain) for chain in chains])
            np.testing.assert_allclose(significance, expected[:, 0], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(cohesion, expected[:, 1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 1.0, 3.0])
def test_phrases_equal_a_naive_choice(threshold: float) -> None:
    random = np.random.default_rng(1)
    seen = 0
    for case in range(30):
        sample, least = random_sample(random, 30, 60), int(random.integers(2, 4))
        alphabet, naive = sample.alphabet(least), Naive(sample, least, 6)
        occurrences = sample.occurrences[alphabet.words]
        levels = mine(sample.shards(2), alphabet, least, 6, Serial(), Silent())
        found = phrases(levels, occurrences, threshold)
        chosen = {spoken(phrase.links, alphabet): phrase.count for phrase in found}
        assert chosen == naive.phrases(threshold), case
        for phrase in found:
            chain = spoken(phrase.links, alphabet)
            assert alphabet.chain(list(chain)) == (phrase.words, phrase.links)
            assert (phrase.significance, phrase.cohesion) == pytest.approx(naive.weakest(chain))
        seen += len(found)
    assert seen > 30


def test_one_pair_and_nothing_else() -> None:
    """All tokens are the pair: chance would give half of it, and no information is infinite."""
    sample = Sample([[0, 1]] * 20, np.zeros(2, dtype=bool))
    alphabet = sample.alphabet(2)
    levels = mine(sample.shards(1), alphabet, 2, 5, Serial(), Silent())
    ((significance, cohesion),) = bonds(levels, sample.occurrences)
    assert significance.tolist() == pytest.approx([10 / sqrt(20)])
    assert cohesion.tolist() == pytest.approx([1.0])


def test_a_word_that_follows_itself_everywhere_is_finite() -> None:
    sample = Sample([[0] * 50], np.zeros(1, dtype=bool))
    levels = mine(sample.shards(1), sample.alphabet(2), 2, 4, Serial(), Silent())
    for significance, cohesion in bonds(levels, sample.occurrences):
        assert np.isfinite(significance).all()
        assert np.isfinite(cohesion).all()
    assert phrases(levels, sample.occurrences, 3.0) == []


def test_no_chains_no_phrases() -> None:
    assert phrases([], np.array([4, 5]), 3.0) == []
    assert bonds([], np.array([4, 5])) == []
