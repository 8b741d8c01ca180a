"""How good a tree is: coherence, diversity, agreement with labels, and what looks wrong."""

from __future__ import annotations

from strod.evaluate.report import Report
from strod.evaluate.robustness import variance
from strod.evaluate.run import evaluate

__all__ = ["Report", "evaluate", "variance"]
