"""Drift: whether documents that fit no topic of a tree are known, and those that fit are let pass.

Run it on a folder with the corpora (JSON lines, gzip, with a ``label``), while nothing else runs::

    python benchmarks/drift.py FOLDER

Ten fields, the largest groups of four corpora: two of arXiv (without cs, which is the field of
DBLP), four of 20 Newsgroups, two of eLife, two of DBLP. Each is the text of a tree, but for some
documents that are kept back: at most a fifth, at most 500. They and the documents kept back of the
nine other fields are then assigned. Printed for each tree: the share of its own that is flagged,
and for strangers that are texts, and for those that are titles of eight words or so, the area
under the curve of ``fit`` and the share that is flagged.

``--others`` measures ten other trees: archives of arXiv, groups, subjects and areas, and titles of
arXiv as well. ``--grow`` measures `strod grow` after 5 % strangers have been added: which share of
the documents in new topics are strangers (purity), which share of the strangers is there, and
whether all other topics and documents are what they were. ``--cost ROUNDS`` measures what all of
this costs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import strod
from strod.values.usual import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from strod.corpus.reader import Corpus
    from strod.engine.protocol import Engine
    from strod.model.model import Model
    from strod.values.split import Decomposition
    from strod.workspace.workspace import Workspace

FIELDS = {
    "arxiv_abstracts_150k": ["physics-group", "math"],
    "20newsgroups": ["comp", "rec", "sci", "talk"],
    "elife_abstracts": ["Neuroscience", "Cell Biology"],
    "dblp_titles": ["artificial intelligence", "theory"],
}
OTHERS = {
    "arxiv_abstracts_150k": ["cond-mat", "stat"],
    "20newsgroups": ["rec.sport", "sci.med"],
    "elife_abstracts": ["Biochemistry and Chemical Biology", "Developmental Biology"],
    "arxiv_titles_300k": ["math", "astro-ph"],
    "dblp_titles": ["database", "system"],
}
TITLES = {"dblp_titles", "arxiv_titles_300k"}
MOST = 8000  # documents of a tree that grows
BACK, PART = 500, 5  # documents kept back: at most so many, and one of so many


def _order(record: dict[str, Any]) -> str:
    return sha256(record["id"].encode()).hexdigest()


def fields(
    folder: Path, chosen: dict[str, list[str]]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The documents of each field, in an order that says nothing about them."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for corpus, groups in chosen.items():
        with gzip.open(folder / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                label = record.get("label")
                for group in label if isinstance(label, list) else [label]:
                    if group in groups:
                        found.setdefault((corpus, group), []).append(record)
    return {name: sorted(records, key=_order) for name, records in found.items()}


def area(own: list[float], strangers: list[float]) -> float:
    """Chance that an own document has a larger fit than a stranger; half of it if the same."""
    one, other = np.array(own), np.sort(np.array(strangers))
    below, upto = np.searchsorted(other, one, "left"), np.searchsorted(other, one, "right")
    return float((below + upto).mean() / 2 / len(other))


def flagged(fits: list[float], threshold: float) -> float:
    """Share of the documents that fit no topic."""
    return float((np.array(fits) < threshold).mean())


def texts(records: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What `strod` is given of some records: no labels."""
    return [{"id": record["id"], "text": record["text"]} for record in records]


def row(name: str, own: float, text: list[float], title: list[float]) -> str:
    """A line of the table."""
    cells = "".join(f"{value:9.3f}" for value in (own, *text, *title))
    return f"{name:<26}{cells}"


def measure(folder: Path, chosen: dict[str, list[str]]) -> None:
    """Build the trees and print the table."""
    found = fields(folder, chosen)
    back = {name: min(BACK, len(records) // PART) for name, records in found.items()}
    print(f"{'':<26}{'own':>9}{'texts':>9}{'':>9}{'titles':>9}")
    print(f"{'tree':<26}{'flagged':>9}{'area':>9}{'flagged':>9}{'area':>9}{'flagged':>9}")
    lines: list[list[float]] = []
    pairs: dict[tuple[Any, Any], float] = {}
    with tempfile.TemporaryDirectory() as target:
        for name, records in found.items():
            tree = strod.build(
                texts(records[back[name] :]), out=f"{target}/w.strod", overwrite=True
            )
            fits = {
                other: [line["fit"] for line in tree.assign(texts(rest[: back[other]]))]
                for other, rest in found.items()
            }
            threshold = THRESHOLD
            pairs |= {(name, other): area(fits[name], fits[other]) for other in fits}
            kinds: list[list[float]] = []
            for titles in (False, True):
                others = [o for o in fits if o != name and (o[0] in TITLES) == titles]
                pool = [fit for other in others for fit in fits[other]]
                kinds.append([area(fits[name], pool), flagged(pool, threshold)])
            lines.append([flagged(fits[name], threshold), *kinds[0], *kinds[1]])
            print(row(name[1], lines[-1][0], *kinds), flush=True)
    table = np.array(lines)
    worst = [table[:, 0].max(), *table[:, 1:].min(axis=0)]
    for what, values in (("mean", table.mean(axis=0)), ("worst", np.array(worst))):
        print(row(what, values[0], values[1:3].tolist(), values[3:].tolist()))
    hard = sorted((value, pair) for pair, value in pairs.items() if pair[0] != pair[1])[:5]
    print("nearest: " + ", ".join(f"{a[1]} / {b[1]} {value:.2f}" for value, (a, b) in hard))


def grow(folder: Path) -> None:
    """Add 5 % strangers of the next field, and as many of its own, to each tree; let it grow."""
    found = fields(folder, FIELDS)
    names = list(found)
    print(f"{'tree':<26}{'strangers':<26}{'purity':>9}{'found':>9}{'topics':>9}  all else the same")
    with tempfile.TemporaryDirectory() as target:
        for name, other in zip(names, [*names[1:], names[0]], strict=True):
            size = min(len(found[name]) // 2, MOST)
            part = min(size // 20, len(found[other]))
            tree = strod.build(
                texts(found[name][part : part + size]), out=f"{target}/w.strod", overwrite=True
            )
            strangers = [{**one, "id": f"stranger {one['id']}"} for one in found[other][:part]]
            tree.add(texts(found[name][:part] + strangers))
            before, rows = _numbers(tree), list(tree.assign())
            try:
                paths = set(tree.grow().paths.values())
            except strod.UsageError as error:
                print(f"{name[1]:<26}{other[1]:<26}  {error}", flush=True)
                continue
            after, now = _numbers(tree), list(tree.assign())
            same = all(after[one] == numbers for one, numbers in before.items())
            pairs = zip(now, rows, strict=True)
            same &= all(one["leaf"] in paths or one == old for one, old in pairs)
            grown = [row["id"].startswith("stranger ") for row in now if row["leaf"] in paths]
            print(
                f"{name[1]:<26}{other[1]:<26}{np.mean(grown):9.3f}{sum(grown) / part:9.3f}"
                f"{len(paths):9}  {same and not tree.check()}",
                flush=True,
            )


def _numbers(workspace: Workspace) -> dict[str, tuple[object, ...]]:
    return {
        topic.id: (topic.sha256, topic.weight, topic.alpha, topic.alpha0, topic.path)
        for topic in workspace.tree.values()
    }


def _plain(_: Corpus, model: Model, __: Engine) -> dict[str, Decomposition]:
    """As before: nothing is held out."""
    return dict(model.decompositions)


def seconds(act: Callable[[], Any], without: AbstractContextManager[Any]) -> float:
    """CPU time, which others on the machine do not change."""
    with without:
        started = time.process_time()
        act()
        return time.process_time() - started


def cost(folder: Path, rounds: int) -> None:
    """What knowing what is usual adds to a build, and telling the fit to `add`; in turns."""
    _, records = max(fields(folder, FIELDS).items(), key=lambda item: len(item[1]))
    some = texts(records)
    more = texts([{**one, "id": f"{one['id']}-new"} for one in records[: len(records) // PART]])
    with tempfile.TemporaryDirectory() as target:
        path = f"{target}/w.strod"
        strod.build(some, out=path)
        acts = {
            "build": lambda: strod.build(some, out=path, overwrite=True),
            "add": lambda: strod.open(path).add(more, dry_run=True),
        }
        plain = {
            "build": partial(patch, "strod.workspace.build.calibrated", _plain),
            "add": partial(patch, "strod.workspace.tree.Tree.fit_model", None),
        }
        for name, act in acts.items():
            pairs = [
                (seconds(act, nullcontext()), seconds(act, plain[name]())) for _ in range(rounds)
            ]
            ratio = statistics.median(one / other for one, other in pairs)
            print(f"{name}: {ratio:.3f} times the CPU time without", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--cost", type=int, default=0, metavar="ROUNDS", help="time builds and additions instead"
    )
    parser.add_argument("--others", action="store_true", help="measure ten other trees")
    parser.add_argument("--grow", action="store_true", help="let the trees grow instead")
    arguments = parser.parse_args()
    if arguments.grow:
        grow(arguments.folder)
    elif arguments.cost:
        cost(arguments.folder, arguments.cost)
    else:
        measure(arguments.folder, OTHERS if arguments.others else FIELDS)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
