"""Whether a workspace is whole: checksums, references, and numbers that can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus.reader import Corpus
from strod.errors import DamagedError
from strod.store.check import check_files
from strod.store.manifest import read_manifest
from strod.store.trees import (
    DiskBook,
    are_sound,
    node_sha256,
    read_revision,
    read_split,
    revision_name,
    splits_of,
)
from strod.tree.topic import ROOT, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from strod.corpus.reader import Shard
    from strod.tree.split import Split
    from strod.tree.topic import Node

    Splits = Mapping[str, Split]

__all__ = ["check_workspace"]

NEAR = 1e-4  # how far weights, which are means of 32-bit shares, may be from their sums
EXACT = 1e-9


def check_workspace(root: Path, workers: int = 1) -> list[str]:
    """Look at everything; return a line for each thing that is wrong.

    First every file is compared with its checksum. If all are as they were written, what is
    in them is looked at: trees, decompositions, shares, counts, of every revision.
    """
    while True:
        manifest = read_manifest(root)
        try:
            problems = check_files(root, workers) or _contents(root, manifest)
        except (DamagedError, OSError) as error:
            problems = [" ".join(str(error).split())]
        if not problems or read_manifest(root) == manifest:  # else somebody has changed it
            return sorted(set(problems))


def _contents(root: Path, manifest: dict[str, Any]) -> list[str]:
    splits: dict[str, Split] = {}
    problems = [*_trees(root, manifest, splits), *_corpus(root, manifest)]
    return problems or [*_shares(root, manifest, splits)]


def _trees(root: Path, manifest: dict[str, Any], splits: dict[str, Split]) -> Iterator[str]:
    """All decompositions, which go into `splits`, and all revisions."""
    tree, folder = manifest["tree"], root / "tree"
    names = {n.split("/")[2] for n in manifest["parts"] if n.startswith("tree/splits/")}
    for name in sorted(names):
        try:
            splits[name] = read_split(folder / "splits" / name)
        except DamagedError as error:
            yield str(error)
    width = manifest["corpus"]["vocabulary"]
    for name, split in splits.items():
        yield from _located(folder / "splits" / name, _of_split(split, splits, width))
    for number in [*tree["history"], *tree["undone"]]:
        yield from _revision(folder, number, width, splits)


def _located(path: Path, problems: Iterator[str]) -> Iterator[str]:
    return (f"{path}: {problem}" for problem in problems)


def _revision(folder: Path, number: int, width: int, splits: Splits) -> Iterator[str]:
    path = folder / "revisions" / revision_name(number)
    try:
        found, _ = read_revision(folder, number)
    except DamagedError as error:
        yield str(error)
        return
    nodes = {name: node for name, (node, _) in found.items()}
    for name, (node, checksum) in found.items():
        if node_sha256(node) != checksum:
            yield f"{path}: topic {name} has another checksum"
    yield from _located(path, _of_tree(nodes, splits, width))


def _of_tree(nodes: dict[str, Node], splits: Splits, width: int) -> Iterator[str]:
    if ROOT not in nodes:
        yield "there is no root"
        return
    for name, node in nodes.items():
        above = nodes.get(str(node.parent))
        if name != ROOT and (above is None or name not in above.children):
            yield f"topic {name} is no child of its parent"
        if any(child not in nodes or nodes[child].parent != name for child in node.children):
            yield f"topic {name} has a child that is not its own"
        if node.level != (above.level + 1 if above else 0):
            yield f"topic {name} has the wrong level"
        yield from _of_node(node, splits, width)
    if all(child in nodes for node in nodes.values() for child in node.children):
        yield from _weights(nodes)


def _of_node(node: Node, splits: Splits, width: int) -> Iterator[str]:
    words = node.words
    if len(words) != width or not (words >= 0).all() or abs(words.sum() - 1) > EXACT:
        yield f"the words of topic {node.id} are no distribution"
    for part in [*node.parts, *(part for bid in node.bids for part in bid)]:
        if part.split not in splits:
            yield f"topic {node.id} is made of {part.split}, which is not there"
        elif not all(0 <= fine < splits[part.split].topics.size for fine in part.fine):
            yield f"topic {node.id} is made of more topics than {part.split} has"
    if not all(0 <= word < width for word in node.heads):
        yield f"topic {node.id} is headed by a word that is not there"


def _weights(nodes: dict[str, Node]) -> Iterator[str]:
    """Children add up to their parent, every topic is somewhere below the root."""
    if sum(1 for _ in zip(walk(nodes), range(len(nodes) + 1), strict=False)) != len(nodes):
        yield "not every topic is below the root"
    for name, node in nodes.items():
        below = [nodes[child] for child in node.children]
        if below and abs(sum(child.weight for child in below) - node.weight) > NEAR:
            yield f"the children of topic {name} do not add up to it"
        if below and sum(child.documents for child in below) != node.documents:
            yield f"the children of topic {name} do not have its documents"


def _of_split(split: Split, splits: Splits, width: int) -> Iterator[str]:
    size = split.topics.size
    if split.topics.counts.shape[1] != width or len(split.overlap.weights) != size:
        yield "does not fit the vocabulary"
    if abs(split.overlap.weights.sum() - 1) > NEAR:
        yield "its weights do not add up to 1"
    if len(split.merges) != size - 1:
        yield "its dendrogram does not join all its topics"
    for part in split.parts:
        if part.split not in splits or max(part.fine) >= splits[part.split].topics.size:
            yield f"is made of {part.split}, which is not there"


def _corpus(root: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Rows of counts and tokens that fit vocabulary, lexicon and documents."""
    corpus = Corpus(root, manifest)
    documents = 0
    for shard in corpus.shards():
        documents += shard.size
        yield from _located(shard.folder, _of_shard(shard, manifest["corpus"]))
    if documents != corpus.documents:
        yield f"{corpus.folder}: has {documents} documents, not {corpus.documents}"


def _of_shard(shard: Shard, about: dict[str, Any]) -> Iterator[str]:
    counts, offsets, tokens = shard.counts, shard.token_offsets, shard.tokens
    if (np.diff(counts.indptr) < 0).any() or (np.diff(offsets) < 0).any():
        yield "documents end before they begin"
    elif (
        len(counts.indices)
        and not 0 <= counts.indices.min() <= counts.indices.max() < (about["vocabulary"])
    ):
        yield "has counts of words that are not in the vocabulary"
    elif len(counts.data) and counts.data.min() < 1:
        yield "has counts below 1"
    elif len(tokens) and tokens.max() >= about["lexicon"]:
        yield "has words that are not in the lexicon"
    if len(shard.documents()) != shard.size:
        yield "has not as many ids as documents"


def _shares(root: Path, manifest: dict[str, Any], splits: Splits) -> Iterator[str]:
    """Shares of documents in the decompositions that the tree is made of now."""
    folder = root / "tree" / "splits"
    segments = Corpus(root, manifest).segments
    found, _ = read_revision(root / "tree", manifest["tree"]["history"][-1])
    needed = splits_of((node for node, _ in found.values()), splits)
    for name, split in splits.items():
        for segment, size in segments:
            if f"tree/splits/{name}/{segment}/indptr.npy" not in manifest["parts"]:
                if name in needed:
                    yield f"{folder / name / segment}: is missing"
                continue  # of a revision from before this segment
            shares = DiskBook(folder, [(segment, size)]).read(name, 0, size)
            if not are_sound(shares, size, split.topics.size):
                yield f"{folder / name / segment}: holds what are no shares"
