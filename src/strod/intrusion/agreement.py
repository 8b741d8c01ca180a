"""How far judges agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["JudgeAgreement", "agreement"]


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of judges.

    Attributes
    ----------
    questions : int
        Questions that two judges or more answered.
    percent : float or None
        Mean over them of the share of pairs of judges who agree, from 0 to 1; None if there
        are none.
    kappa : float or None
        Fleiss' kappa; None if all answers are the same, where chance agrees fully too.
    """

    questions: int
    percent: float | None
    kappa: float | None


def agreement(votes: ArrayLike) -> JudgeAgreement:
    """Fleiss' kappa and the share of pairs that agree.

    With n_ij judges who gave question i the answer j, n_i = Σ_j n_ij:

    P_i = Σ_j n_ij (n_ij - 1) / (n_i (n_i - 1)),  P = mean of P_i,
    p_j = Σ_i n_ij / Σ_i n_i,  P_e = Σ_j p_j²,  κ = (P - P_e) / (1 - P_e)

    (Fleiss, Psychological Bulletin 76, 1971, where n_i is the same for all i). Questions with
    fewer than two answers say nothing and are left out.

    Parameters
    ----------
    votes : array-like of int, shape (questions, answers)
        How many judges gave each answer to each question.
    """
    table = np.atleast_2d(np.asarray(votes, dtype=np.int64))
    table = table[table.sum(axis=1) >= 2]
    if not len(table):
        return JudgeAgreement(0, None, None)
    judges = table.sum(axis=1)
    pairs = (table * (table - 1)).sum(axis=1) / (judges * (judges - 1))
    observed = float(pairs.mean())
    shares = table.sum(axis=0) / judges.sum()
    chance = float((shares**2).sum())
    same = np.count_nonzero(shares) == 1
    return JudgeAgreement(
        len(table), observed, None if same else (observed - chance) / (1 - chance)
    )
