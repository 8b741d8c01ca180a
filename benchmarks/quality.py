"""How good the topics are: strod beside other methods, on documents with labels.

Run it on JSON lines with the fields ``text`` and ``label`` (a string, or a list from the general
to the specific)::

    python benchmarks/quality.py 20newsgroups.jsonl --methods nmf,tomotopy-lda --json scores.json

Every method makes a tree of 5 times 5 topics from the same counts. Scores, in a line for each
method and each order of words (see ``peers.py``):

nmi L, pur L
    of the leaves of the documents against the most specific label
nmi 1, pur 1
    of their topics of level 1 against the most general label
npmi 1, npmi 2
    of the ten best words of the topics of level 1 and 2, by documents of the whole corpus
divers
    share of distinct words among the best words of all leaves
docs 1, docs L
    share of the documents in the largest topic of level 1 and in the largest leaf
wght 1, wght L
    the same by the method's own weights: documents for those that divide documents, else tokens

Documents without a label or without a word in the vocabulary are left out of the label scores.
Seconds are for the tree alone, but for strod for all its three commands, reading included. With
``--json`` results are kept, and those that are there for the same corpus, method and settings (and
the same code of strod) are not computed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import strod
from benchmarks.peers import PEERS, SAMPLERS, TOP_WORDS, Counts, Settings, Topic, Tree
from strod.evaluate.agreement import label_scores, largest
from strod.evaluate.coherence import npmi_of_counts
from strod.evaluate.relations import diversity

METHODS = ["strod", *PEERS]
COLUMNS = {
    "nmi L": "leaf_nmi",
    "pur L": "leaf_purity",
    "nmi 1": "top_nmi",
    "pur 1": "top_purity",
    "npmi 1": "npmi_1",
    "npmi 2": "npmi_2",
    "divers": "diversity",
    "docs 1": "top_largest",
    "docs L": "leaf_largest",
    "wght 1": "top_weight",
    "wght L": "leaf_weight",
}
OF_WORDS = {"npmi_1", "npmi_2", "diversity"}


@dataclass
class Data:
    """A corpus in memory."""

    counts: Counts
    ids: list[str]
    labels: list[list[str]]  # from general to specific; empty if there is none
    surfaces: list[str]

    def label(self, which: int) -> list[str | None]:
        """One label of each document that has words and labels."""
        words = np.diff(self.counts.indptr) > 0
        pairs = zip(self.labels, words, strict=True)
        return [path[which] if path and some else None for path, some in pairs]


def sampled(path: Path, size: int, seed: int, folder: Path) -> Path:
    """The file, or one with some of its lines, chosen by chance but in their order."""
    lines = path.read_bytes().splitlines(keepends=True) if size else []
    if len(lines) <= size:
        return path
    target = folder / path.name
    chosen = np.sort(np.random.default_rng(seed).choice(len(lines), size, replace=False))
    target.write_bytes(b"".join(lines[i] for i in chosen))
    return target


def load(path: Path, folder: Path) -> Data:
    """Build a corpus and take it into memory."""
    out = folder / "corpus.strod"
    corpus = strod.build(path, out=out, meta=("label",), workers=1, overwrite=True).corpus
    shards = list(corpus.shards())
    counts = scipy.sparse.csr_matrix(scipy.sparse.vstack([shard.counts for shard in shards]))
    ids: list[str] = []
    labels: list[Any] = []
    for shard in shards:
        table = shard.documents()
        ids += table["id"].to_pylist()
        labels += table["meta.label"].to_pylist()
    surfaces = corpus.vocabulary["surface"].to_pylist()
    return Data(counts, ids, [_path(label) for label in labels], surfaces)


def _path(label: Any) -> list[str]:
    names = label if isinstance(label, list) else [label]
    return [str(name) for name in names if name is not None]


def _strod(*arguments: object) -> str:
    command = [sys.executable, "-m", "strod.cli.main", *map(str, arguments)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"failed with exit code {run.returncode}: {' '.join(command)}")
    return run.stdout


def strod_tree(path: Path, data: Data, settings: Settings, folder: Path) -> Tree:
    """strod's own tree, by its command line."""
    out = folder / "tree.strod"
    shape = ["--children", settings.children, "--height", settings.height]
    _strod("build", path, "--meta", "label", *shape, "-o", out, "--overwrite")
    return read_tree(
        _strod("show", out, "--json", "--words", TOP_WORDS), _strod("assign", out), data
    )


def read_tree(shown: str, assigned: str, data: Data) -> Tree:
    """A tree from what ``strod show --json`` and ``strod assign`` print."""
    columns = {surface: i for i, surface in enumerate(data.surfaces)}
    topics = []
    for topic in json.loads(shown)["topics"]:
        if topic["level"] == 0:
            continue
        if unknown := [word for word, _ in topic["words"] if word not in columns]:
            raise SystemExit(f"{topic['path']}: not in the vocabulary: {', '.join(unknown)}")
        words = [columns[word] for word, _ in topic["words"][:TOP_WORDS]]
        topics.append(Topic(topic["path"], float(topic["weight"]), {"own": words}))
    records = {record["id"]: record for record in map(json.loads, assigned.splitlines())}
    found = [records.get(name, {}) for name in data.ids]
    return Tree(topics, [_top(r) for r in found], [r.get("leaf") or "" for r in found])


def _top(record: dict[str, Any]) -> str:
    """The topic of level 1 with the largest share, else the one above the leaf."""
    topics: dict[str, float] = record.get("topics", {})
    shares = {path: share for path, share in topics.items() if path.count("/") == 1}
    if shares:
        return max(shares, key=lambda path: shares[path])
    return "/".join((record.get("leaf") or "").split("/")[:2])


def score(tree: Tree, data: Data) -> dict[str, Any]:
    """All scores of a tree; those of the words by their order."""
    found: dict[str, Any] = {}
    for name, clusters, which in (("leaf", tree.leaf, -1), ("top", tree.top, 0)):
        values = dict[str, Any](label_scores(clusters, data.label(which)))
        values["largest"] = largest(clusters)
        found |= {f"{name}_{key}": value for key, value in values.items()}
    first = [topic for topic in tree.topics if topic.level == 1]
    found["top_weight"] = max(topic.weight for topic in first)
    found["leaf_weight"] = max(topic.weight for topic in tree.leaves())
    found["leaves"] = len(tree.leaves())
    found["words"] = {order: _word_scores(tree, order, data) for order in tree.topics[0].words}
    return found


def _word_scores(tree: Tree, order: str, data: Data) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for level in sorted({topic.level for topic in tree.topics}):
        lists = [topic.words[order] for topic in tree.topics if topic.level == level]
        values[f"npmi_{level}"] = npmi_of_counts(lists, data.counts)
    values["diversity"] = diversity([topic.words[order] for topic in tree.leaves()])
    return values


def measure(
    method: str, path: Path, data: Data, settings: Settings, folder: Path
) -> dict[str, Any]:
    """Make one tree, on one core, and score it."""
    started = time.perf_counter()
    if method == "strod":
        tree = strod_tree(path, data, settings, folder)
    else:
        with import_module("threadpoolctl").threadpool_limits(1):
            tree = PEERS[method](data.counts, settings)
    seconds = time.perf_counter() - started
    topics = [
        {
            "path": topic.path,
            "weight": topic.weight,
            "words": {o: [data.surfaces[i] for i in words] for o, words in topic.words.items()},
        }
        for topic in tree.topics
    ]
    size = {"documents": len(data.ids), "vocabulary": len(data.surfaces)}
    return {**size, "seconds": seconds, **tree.notes, "scores": score(tree, data), "topics": topics}


def _code() -> str:
    """A fingerprint of strod's source, so that no result of an older one is taken for its own."""
    digest = hashlib.sha256()
    root = Path(strod.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def key(path: Path, method: str, sample: int, settings: Settings) -> dict[str, Any]:
    """What a result depends on."""
    shape = {"children": settings.children, "height": settings.height}
    wanted: dict[str, Any] = {"sample": sample, "seed": settings.seed, **shape}
    if method in SAMPLERS:
        wanted |= {"iterations": settings.iterations, "seconds": settings.seconds}
    if method == "strod":
        wanted["code"] = _code()
    return {"corpus": path.name.removesuffix(".jsonl"), "method": method, "settings": wanted}


class Results:
    """Results by their key, in memory and in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        there = path is not None and path.exists()
        self.all: list[dict[str, Any]] = json.loads(path.read_text()) if path and there else []

    def find(self, wanted: dict[str, Any]) -> dict[str, Any] | None:
        """The result for a key."""
        same = (r for r in self.all if all(r[name] == value for name, value in wanted.items()))
        return next(same, None)

    def add(self, result: dict[str, Any]) -> None:
        """Keep a result."""
        self.all.append(result)
        if self.path is not None:
            aside = self.path.with_name(self.path.name + ".part")
            aside.write_text(json.dumps(self.all, indent=1, ensure_ascii=False) + "\n")
            aside.replace(self.path)


def run(path: Path, methods: list[str], sample: int, settings: Settings, results: Results) -> None:
    """Compute what is missing for a corpus, and print its table."""
    wanted = {method: key(path, method, sample, settings) for method in methods}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, data = path, None
        for method in methods:
            if results.find(wanted[method]):
                continue
            if data is None:
                source = sampled(path, sample, settings.seed, folder)
                data = load(source, folder)
            print(f"{path.name}: {method} …", file=sys.stderr, flush=True)
            found = measure(method, source, data, settings, folder)
            results.add(wanted[method] | found)
    print(table([r for m in methods if (r := results.find(wanted[m]))]))


def table(found: list[dict[str, Any]]) -> str:
    """The scores of one corpus as text."""
    first = found[0]
    size = f"{first['documents']:,} documents, vocabulary {first['vocabulary']:,}"
    head = f"{'method':13}{'words':6}{'sec':>6}{'iter':>6}{'leaves':>7}"
    lines = [f"{first['corpus']}: {size}", head + "".join(f"{name:>8}" for name in COLUMNS)]
    for result in found:
        for i, order in enumerate(result["scores"]["words"]):
            values = result["scores"] | result["scores"]["words"][order]
            cells = [
                _cell(values.get(c)) if not i or c in OF_WORDS else "" for c in COLUMNS.values()
            ]
            about = f"{'':13}{order:6}{'':19}"
            if not i:
                about = f"{result['method']:13}{order:6}{result['seconds']:6.0f}"
                about += f"{result.get('iterations', ''):>6}{values['leaves']:7}"
            lines.append(about + "".join(f"{cell:>8}" for cell in cells))
    return "\n".join(lines) + "\n"


def _cell(value: float | None) -> str:
    return "." if value is None else f"{value:.3f}"


def trees(found: list[dict[str, Any]], order: str) -> str:
    """The best words of every topic as text."""
    lines = []
    for result in found:
        lines.append(f"{result['corpus']}, {result['method']}")
        for topic in sorted(result["topics"], key=lambda topic: str(topic["path"])):
            words = topic["words"].get(order) or topic["words"]["own"]
            indent = "  " * topic["path"].count("/")
            lines.append(f"{indent}{topic['path']} {topic['weight']:.3f} {', '.join(words)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Score and print a table for each corpus."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--methods", default=",".join(METHODS), help="default: %(default)s")
    parser.add_argument("--sample", type=int, default=0, help="documents; 0: all")
    parser.add_argument("--iterations", type=int, default=1000, help="of the samplers")
    parser.add_argument("--seconds", type=float, default=0, help="limit of a sampler; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="keep results here, and take what is there")
    parser.add_argument("--trees", choices=["own", "kl"], help="print the words too")
    arguments = parser.parse_args()
    methods = arguments.methods.split(",")
    if unknown := set(methods) - set(METHODS):
        parser.error(f"no such method: {', '.join(sorted(unknown))} (there are {METHODS})")
    settings = Settings(
        seed=arguments.seed, iterations=arguments.iterations, seconds=arguments.seconds
    )
    results = Results(arguments.json)
    for path in arguments.files:
        run(path, methods, arguments.sample, settings, results)
        if arguments.trees:
            wanted = [key(path, method, arguments.sample, settings) for method in methods]
            print(trees([r for k in wanted if (r := results.find(k))], arguments.trees))


if __name__ == "__main__":
    main()
