"""Acceptance: phrases that were planted are found, in the lists of their own themes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import strod

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace

PHRASES = {
    "learning": [
        "neural network", "support vector machine", "random forest", "gradient descent",
        "decision tree", "hidden markov model", "principal component analysis",
        "feature selection",
    ],
    "physics": [
        "black hole", "dark matter", "quantum field theory", "magnetic moment", "higgs boson",
        "general relativity", "cosmic microwave background", "phase transition",
    ],
    "medicine": [
        "blood pressure", "heart failure", "randomized clinical trial", "gene expression",
        "immune response", "breast cancer", "magnetic resonance imaging", "stem cell",
    ],
    "economy": [
        "interest rate", "central bank", "gross domestic product", "labor market",
        "exchange rate", "monetary policy", "foreign direct investment", "supply chain",
    ],
}  # fmt: skip
WORDS = {
    "learning": "classifier regression training kernel accuracy embedding overfitting perceptron "
    "clustering dataset inference regularization",
    "physics": "galaxy photon electron neutrino gravity spin lattice plasma telescope symmetry "
    "redshift entropy",
    "medicine": "patient therapy diagnosis tumor infection vaccine dose surgery symptom protein "
    "antibody hospital",
    "economy": "inflation tax trade wage unemployment tariff debt consumer price export subsidy "
    "currency",
}
NOISE = (
    "result method paper approach study problem different general large small effect value case "
    "process important system evidence example structure level"
)
DOCUMENTS = 3000


def planted(
    seed: int, *, noise: float = 0.3, phrases: float = 0.3, other: float = 0.1
) -> list[str]:
    """Short documents of a theme: phrases, parts of phrases, words, noise, other themes."""
    random = np.random.default_rng(seed)
    names, documents = list(PHRASES), []
    for _ in range(DOCUMENTS):
        own, items = names[random.integers(4)], []
        for _ in range(random.integers(8, 16)):
            theme = names[random.integers(4)] if random.random() < other else own
            kind = random.random()
            if kind < noise:
                items.append(random.choice(NOISE.split()))
            elif kind < noise + phrases:
                items.append(random.choice(PHRASES[theme]))
            elif kind < noise + phrases + 0.08:
                items.append(random.choice(random.choice(PHRASES[theme]).split()))
            else:
                items.append(random.choice(WORDS[theme].split()))
        documents.append(" ".join(items))
    return documents


def judged(made: Workspace) -> tuple[float, float]:
    """Precision and recall of phrases, lists and themes matched as well as possible."""
    lists = [[text for text, _ in topic.phrases] for topic in made.tree.root.children]
    assert [len(listed) for listed in lists] == [20] * 4
    found = [{text for text in listed if " " in text} for listed in lists]
    right = max(
        sum(len(own & set(PHRASES[name])) for own, name in zip(found, names, strict=True))
        for names in permutations(PHRASES)
    )
    return right / max(sum(map(len, found)), 1), right / 32


@pytest.mark.parametrize(
    ("seed", "shares"),
    [
        (0, {}),
        (1, {"other": 0.25}),
        (2, {"phrases": 0.12, "noise": 0.5}),
    ],
)
def test_planted_phrases_are_found(seed: int, shares: dict[str, float], tmp_path: Path) -> None:
    texts = planted(seed, **shares)
    made = strod.build(texts, out=tmp_path / "w.strod", children=4, height=1)
    precision, recall = judged(made)
    assert precision >= 0.95
    assert recall >= 0.95
    labels = [topic.label for topic in made.tree.root.children]
    assert len(set(labels)) == 4
    for topic in made.tree.root.children:
        assert topic.label is not None
        assert topic.label.startswith(topic.phrases[0][0])
