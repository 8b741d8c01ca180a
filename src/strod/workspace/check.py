"""Whether a workspace is whole: checksums, references, and numbers that can be.

It reads everything with the functions that every command reads with, so that what it calls sound
no command refuses; on top of that it looks at what holds between files.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from strod.corpus.pairs import read_pairs
from strod.corpus.reader import Corpus
from strod.errors import StrodError
from strod.model.options import TreeOptions
from strod.store.files import NOT_THE_FILE, Files
from strod.store.history import corpus_at
from strod.store.manifest import read_manifest, read_report
from strod.store.schema import as_json
from strod.store.splits import SavedShares, read_split, read_splits
from strod.store.topics import node_sha256, read_revision, revision_name
from strod.text.tokenizers import BUILT_IN
from strod.values.shares import late_splits
from strod.values.topic import ROOT
from strod.workspace.assign import same_words
from strod.workspace.phrases import PhraseIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from strod.store.schema import CorpusRecord, Manifest
    from strod.values.split import Decomposition
    from strod.values.topic import Node

__all__ = ["check_workspace"]

NEAR = 1e-4  # how far weights, which are means of 32-bit shares, may be from their sums


def check_workspace(root: Path, workers: int = 1) -> list[str]:
    """Look at everything; return a line for each thing that is wrong.

    First every file is compared with its checksum. If all are as they were written, what is
    in them is looked at: trees, decompositions, shares, counts, of every revision.
    """
    while True:
        manifest = read_manifest(root)
        files = Files(root, manifest.parts)
        problems = _files(files, workers) or [*_contents(files, manifest)]
        if not problems or read_manifest(root) == manifest:  # else somebody has changed it
            return sorted(set(problems))


def _tried(look: Callable[[], object]) -> list[str]:
    """What is wrong, in a line; nothing that is read may end in anything else.

    What is wrong with the machine or the person says nothing about the workspace.
    """
    try:
        look()
    except StrodError as error:
        error.advice = ""  # it is being followed
        return [" ".join(str(error).split())]
    except MemoryError:
        raise
    except OSError as error:
        if error.errno in NOT_THE_FILE:
            raise
        return [f"is damaged ({error})"]
    except Exception as error:  # noqa: BLE001 - whatever it is, the workspace is the reason
        return [f"is damaged ({type(error).__name__}: {error})"]
    return []


def _files(files: Files, workers: int) -> list[str]:
    """Compare every file with the manifest."""
    names = sorted(files.digests or ())

    def look(name: str) -> list[str]:
        return _tried(lambda: files.open(name).close())

    with ThreadPoolExecutor(workers) as pool:
        found = [problem for problems in pool.map(look, names) for problem in problems]
    return found + _tried(lambda: read_report(files.root))


def _contents(files: Files, manifest: Manifest) -> Iterator[str]:
    tree, width = manifest.tree, manifest.corpus.vocabulary
    yield from _tried(lambda: TreeOptions(**as_json(tree.settings)))
    for about in {
        str(about): about for about in (manifest.corpus, *tree.corpora.values())
    }.values():
        yield from _corpus(files, about)
    names = sorted({n.split("/")[2] for n in manifest.parts if n.startswith("tree/splits/")})
    for name in names:
        yield from _tried(partial(read_split, files, name, width))
    revisions = [*tree.history, *tree.undone]
    for number in revisions:
        found = _tried(partial(read_revision, files, number, width))
        yield from found
        if not found:
            documents = corpus_at(tree, [n for n in revisions if n <= number]).documents
            yield from _revision(files, number, width, documents)
    yield from _shares(files, manifest)


def _revision(files: Files, number: int, width: int, documents: int) -> Iterator[str]:
    nodes, checksums, _ = read_revision(files, number, width)
    path = files.path(revision_name(number))
    if nodes[ROOT].documents != documents:
        yield f"{path}: the root does not have all {documents} documents"
    for name, node in nodes.items():
        problems = _tried(partial(getattr, node, "words"))
        yield from problems
        if not problems and node_sha256(node) != checksums[name]:
            yield f"{path}: topic {name} has another checksum"
    problems = _tried(lambda: read_splits(files, nodes.values(), width))
    yield from problems
    if not problems:
        splits = read_splits(files, nodes.values(), width)
        yield from (f"{path}: {problem}" for problem in _weights(nodes, splits))


def _weights(nodes: dict[str, Node], splits: dict[str, Decomposition]) -> Iterator[str]:
    """Children and rest add up to their parent; what was grown comes on top."""
    apart = late_splits(splits)
    for name, node in nodes.items():
        below = [nodes[child] for child in node.children]
        more = sum(one.weight - one.surplus for one in below) + node.rest_weight - node.weight
        grown = any(part.split in apart for part in node.rest)
        if below and (more < -NEAR or (more > NEAR and not grown)):
            yield f"the children of topic {name} do not add up to it"
        documents = sum(child.documents for child in below)
        if below and not (
            documents <= node.documents if node.rest else documents == node.documents
        ):
            yield f"the children of topic {name} do not have its documents"


def _corpus(files: Files, about: CorpusRecord) -> Iterator[str]:
    """Everything that a corpus has: words, counts, tokens, documents, texts, phrases."""
    corpus, settings = Corpus(files, about), about.settings
    problems = _tried(lambda: corpus.lexicon) or _tried(lambda: read_pairs(corpus))
    if settings.tokenizer in BUILT_IN:
        problems += _tried(lambda: same_words(settings).stop)
    for name, _ in corpus.segments:
        segment = corpus.segment(name)
        for what in ("counts", "tokens", "documents"):
            problems += _tried(partial(getattr, segment, what))
        problems += _tried(segment.check_texts)
    yield from problems
    if not problems:
        yield from _tried(lambda: _phrases(files, corpus))


def _phrases(files: Files, corpus: Corpus) -> None:
    settings = corpus.about.settings
    book = PhraseIndex(files, corpus, settings.language, stemmed=settings.stem)
    for ref in book.refs:
        _ = ref.open().counts


def _shares(files: Files, manifest: Manifest) -> Iterator[str]:
    """Shares of documents in the decompositions that the tree is made of now."""
    width, segments = manifest.corpus.vocabulary, Corpus(files, manifest.corpus).segments

    def needed() -> dict[str, int]:
        nodes = read_revision(files, manifest.tree.history[-1], width).nodes
        splits = read_splits(files, nodes.values(), width)
        return {name: split.topics.size for name, split in splits.items()}

    problems = _tried(needed)
    yield from problems
    sizes = {} if problems else needed()
    saved = SavedShares(tuple(segments), files, sizes)
    for name in sizes:
        first = 0
        for _, size in segments:
            yield from _tried(partial(saved.read, name, first, size))
            first += size
