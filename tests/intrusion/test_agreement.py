"""JudgeAgreement of judges, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from strod.intrusion import JudgeAgreement, agreement


def test_by_hand() -> None:
    """Three judges, four questions, answers A, B and unable.

    AAA, AAB, ABu, BBB: P = (1 + 1/3 + 0 + 1) / 4 = 7/12; p = 6/12, 5/12, 1/12;
    P_e = (36 + 25 + 1) / 144 = 31/72; κ = (42/72 - 31/72) / (41/72) = 11/41.
    """
    found = agreement([[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 3, 0]])
    assert found.questions == 4
    assert found.percent == pytest.approx(7 / 12)
    assert found.kappa == pytest.approx(11 / 41)


def test_the_example_of_fleiss_handbook() -> None:
    """The table of 14 judges and 10 subjects that textbooks work through: κ = 0.210."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = agreement(table)
    assert found.percent == pytest.approx(0.378, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


def test_unequal_numbers_of_judges_against_counting_pairs() -> None:
    random = np.random.default_rng(1)
    answers = [random.integers(4, size=size).tolist() for size in (2, 5, 3, 1, 0, 4)]
    votes = [[one.count(j) for j in range(4)] for one in answers]
    kept = [one for one in answers if len(one) > 1]
    shares = []
    for one in kept:
        pairs = list(combinations(one, 2))
        shares.append(Fraction(sum(a == b for a, b in pairs), len(pairs)))
    everything = [answer for one in kept for answer in one]
    chance = sum(Fraction(everything.count(j), len(everything)) ** 2 for j in range(4))
    percent = sum(shares, Fraction()) / len(shares)
    found = agreement(votes)
    assert found.questions == 4
    assert found.percent == pytest.approx(float(percent))
    assert found.kappa == pytest.approx(float((percent - chance) / (1 - chance)))


def test_limits() -> None:
    assert agreement([[2, 0], [0, 2]]).kappa == 1
    assert agreement([[1, 1], [1, 1]]).kappa == -1
    assert agreement([[2, 0], [2, 0]]) == JudgeAgreement(2, 1.0, None)  # chance agrees fully too
    assert agreement([[1, 0], [0, 0]]) == JudgeAgreement(0, None, None)
    assert agreement(np.zeros((0, 3))) == JudgeAgreement(0, None, None)
