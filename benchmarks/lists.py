"""Phrases that nobody wants to read in a list: variants of one another, and copied passages.

::

    strod build papers.jsonl --children 5 --height 2 --out papers.strod
    python benchmarks/lists.py papers.strod

For each workspace, in the lists of ten of all topics: pairs of phrases that differ in a number, a
letter or a plural alone ("figure supplement 1A", "figure supplement 1B"), and phrases of six words
or more, in particular those that are copied: before most of their occurrences, or after most of
them, stand six words that stand there elsewhere, too (a beginning of a document counts, an end
does not). By what is written in the lists and in the corpus, not by the code that makes them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import strod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strod.workspace.workspace import Workspace

LISTED = 10
LONG = 6
SIDE = 6
MOST = 0.5
ROMAN = re.compile(r"[ivx]+")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _plain(word: str) -> str:
    """Without digits and the ending of a plural; nothing if it only numbers something."""
    word = re.sub(r"\d", "", word)
    if len(word) <= 1 or ROMAN.fullmatch(word):
        return ""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def variants(phrases: list[str]) -> list[tuple[str, str]]:
    """Pairs that differ in a number, a letter or a plural alone."""
    plain = {text: [word for word in map(_plain, _words(text)) if word] for text in phrases}
    return [(a, b) for a, b in combinations(phrases, 2) if plain[a] and plain[a] == plain[b]]


def _documents(workspace: Workspace) -> Iterator[list[str]]:
    words = workspace.corpus.lexicon["word"].to_pylist()
    for shard in workspace.corpus.shards():
        ends = shard.token_offsets.tolist()
        tokens = shard.tokens.tolist()
        for begin, end in pairwise(ends):
            yield [words[token] for token in tokens[begin:end] if token >= 0]


def copied(workspace: Workspace, phrases: list[str]) -> dict[str, float]:
    """Share of the occurrences of phrases that have company before or after them."""
    asked = {tuple(_words(text)): text for text in phrases}
    firsts: dict[str, list[tuple[str, ...]]] = {}
    for chain in asked:
        firsts.setdefault(chain[0], []).append(chain)
    sides: dict[tuple[str, int], Counter[tuple[str, ...]]] = {
        (text, side): Counter() for text in phrases for side in (0, 1)
    }
    for words in _documents(workspace):
        for place, word in enumerate(words):
            for chain in firsts.get(word, ()):
                end = place + len(chain)
                if tuple(words[place:end]) == chain:
                    text = asked[chain]
                    sides[text, 0][tuple(words[max(0, place - SIDE) : place])] += 1
                    after, more = words[end : end + SIDE], sides[text, 1]
                    more[(*after, "" if len(after) == SIDE else str(len(more)))] += 1
    return {text: max(_repeated(sides[text, side]) for side in (0, 1)) for text in phrases}


def _repeated(found: Counter[tuple[str, ...]]) -> float:
    return sum(n for n in found.values() if n > 1) / max(found.total(), 1)


def main() -> None:
    """Count, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workspaces", type=Path, nargs="+")
    print("| workspace | lists | pairs of variants | six words or more | copied |")
    print("|---|---|---|---|---|")
    details = []
    arguments = parser.parse_args()
    for path in arguments.workspaces:
        workspace = strod.open(path)
        topics = [workspace.tree[name] for name in workspace.tree]
        lists = {t.path: [text for text, _ in t.phrases[:LISTED]] for t in topics}
        pairs = [(name, *pair) for name, texts in lists.items() for pair in variants(texts)]
        long = [(n, text) for n, texts in lists.items() for text in texts if _is_long(text)]
        share = copied(workspace, sorted({text for _, text in long}))
        bad = [text for _, text in long if share[text] > MOST]
        print(f"| {path.stem} | {len(lists)} | {len(pairs)} | {len(long)} | {len(bad)} |")
        details += [f"{path.stem} {name}: {a} / {b}" for name, a, b in pairs]
        details += [f"{path.stem} {name}: {text} ({share[text]:.0%} alike)" for name, text in long]
    print("", *details, sep="\n")


def _is_long(text: str) -> bool:
    return len(_words(text)) >= LONG


if __name__ == "__main__":
    main()
