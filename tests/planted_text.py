"""Texts with a known tree, for tests that begin with text."""

from __future__ import annotations

import numpy as np

PARENTS = ["river", "stone", "cloud"]
LEAVES = ["oak", "elm", "fir"]
OWN = 10  # words of a leaf alone
COMMON = 6  # words of all leaves of a parent
LETTERS = "abcdefghijklmnop"


def planted_words(parent: int, leaf: int) -> list[str]:
    """Words of a leaf, its own and those it has in common with its siblings."""
    own = [f"{PARENTS[parent]}{LEAVES[leaf]}{letter}" for letter in LETTERS[:OWN]]
    return own + [f"{PARENTS[parent]}{letter}" for letter in LETTERS[:COMMON]]


def planted_texts(documents: int, seed: int = 0) -> list[str]:
    """Texts of 20 to 40 words, mostly from one parent and two or three of its leaves."""
    random = np.random.default_rng(seed)
    words = np.array([planted_words(parent, leaf) for parent in range(3) for leaf in range(3)])
    texts = []
    for _ in range(documents):
        length = int(random.integers(20, 41))
        parents = random.dirichlet(np.full(3, 0.15))
        leaves = (parents[:, None] * random.dirichlet(np.full(3, 0.5), 3)).ravel()
        topics = random.choice(9, length, p=leaves)
        columns = random.integers(words.shape[1], size=length)
        texts.append(" ".join(words[topics, columns]))
    return texts
