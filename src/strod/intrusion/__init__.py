"""The intrusion study: whether people, or counts, can tell what does not belong to a topic."""

from strod.intrusion.agreement import JudgeAgreement, agreement
from strod.intrusion.automatic import automatic
from strod.intrusion.score import Score, score, scores
from strod.intrusion.study import Made, make

__all__ = ["JudgeAgreement", "Made", "Score", "agreement", "automatic", "make", "score", "scores"]
