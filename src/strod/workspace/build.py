"""The whole pipeline on one page."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from scipy.sparse import csr_array, vstack

from strod import __version__
from strod.compute.blas import one_blas_thread
from strod.corpus.build import build_corpus
from strod.corpus.reader import DRAFT, Corpus
from strod.engine.make import make_engine
from strod.errors import StrodError, UsageError
from strod.methods.baselines.grow import grow_baseline
from strod.methods.baselines.options import baseline_options
from strod.methods.variants import paper_options, paper_splitter
from strod.model.options import BASELINES, METHODS, TreeOptions, shape_values
from strod.model.placed import DocumentShares
from strod.options import BASE_MEMORY, CorpusOptions, check_name, check_names, option_value
from strod.phrases.mine import PASSES
from strod.phrases.options import PhraseOptions
from strod.progress import Progress, Silent
from strod.store.files import Files
from strod.store.manifest import FORMAT, VERSION
from strod.store.publish import publish_folder, write_json
from strod.store.schema import ChangeRecord, Last, Manifest, PhrasesRecord, TreeRecord, TreeSettings
from strod.store.splits import DiskShareStore, write_split
from strod.store.tables import numbers
from strod.store.topics import write_revision
from strod.text.sources import resolve
from strod.tree.ground import Ground, model_of
from strod.tree.grow import grow
from strod.values.topic import ROOT
from strod.values.words import thinning
from strod.workspace.fit import calibrated, count_all_pairs
from strod.workspace.phrases import PhraseIndex
from strod.workspace.tree import Tree
from strod.workspace.warmup import compile_kernels
from strod.workspace.warned import left_out, misfits, warned
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from strod.engine.protocol import Engine
    from strod.keywords import BuildOptions
    from strod.phrases.units import Units
    from strod.tree.grown import Grown
    from strod.workspace.tree import Topic

__all__ = ["build"]


def build(
    source: str | os.PathLike[str] | Iterable[Any],
    *more: str | os.PathLike[str] | Iterable[Any],
    out: str | os.PathLike[str],
    overwrite: bool = False,
    progress: Progress | None = None,
    namer: Callable[[Topic], str] | None = None,
    **options: Unpack[BuildOptions],
) -> Workspace:
    """Build a workspace from text.

    Parameters
    ----------
    source, *more
        Paths of files or folders, ``"-"`` for standard input, or Python objects: an
        iterable of strings or of mappings, an Arrow table, a pandas data frame.
    out : path
        Folder to make, by convention ``NAME.strod``.
    overwrite : bool
        Whether an old workspace of that name is replaced.
    progress : Progress, optional
        Told how far the work is.
    namer : callable, optional
        Gives a topic its name: takes a `Topic`, parents first, and returns a string. Without it
        names are made from phrases.
    **options
        Fields of `strod.options.CorpusOptions`, `strod.phrases.options.PhraseOptions` and
        `strod.model.options.TreeOptions`; a single name may stand for a tuple.

    Returns
    -------
    Workspace
        The new workspace, open for reading.

    Examples
    --------
    >>> import strod, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> texts = ["Topics of text", "Trees of topics", "Text and trees"]
    >>> strod.build(texts, out=f"{folder}/w.strod").corpus.documents
    3
    """
    chosen, wanted, shape = _options(options)
    progress = progress or Silent()
    parts = resolve([source, *more], chosen.format, follow_links=chosen.follow_links)
    with publish_folder(Path(out), overwrite=overwrite) as draft:
        root = draft.folder
        compiling = compile_kernels(progress)
        watch = _Watch()
        corpus = build_corpus(root, parts, chosen, progress)
        watch.stage("corpus", passes=1)
        reader = Corpus.drafted(root, corpus.about)
        with make_engine(chosen.engine, chosen.threads) as engine, one_blas_thread():
            book = PhraseIndex.collected(root, reader, chosen, wanted, engine, progress)
            book.write(engine, progress)
            watch.stage("phrases", **_counted(book.units))
            about = count_all_pairs(root, reader, engine)
            reader = Corpus.drafted(root, about)  # to the end: references mean its segments
            tree, shares = _grow(root, reader, chosen, shape, engine, progress)
            watch.stage("tree", **_grown(tree))
            parents = [name for name, node in tree.nodes.items() if node.children or name == ROOT]
            book.describe(tree.nodes, parents, shares, engine, progress)
        (root / DRAFT).unlink()
        settings = TreeSettings(**shape.settings)
        _write(root, tree)
        if namer is not None:
            _name(root, reader, settings, tree, namer)
        watch.stage("phrases", passes=PASSES + 3, **_counted(book.units))
        manifest = Manifest(
            format=FORMAT,
            version=VERSION,
            writer=f"strod {__version__}",
            corpus=about,
            phrases=PhrasesRecord(settings=asdict(wanted), **_counted(book.units)),
            tree=TreeRecord(
                topics=len(tree.nodes),
                settings=settings,
                history=(1,),
                corpora={"1": about},
                last=Last(revision=1, segment=0),
            ),
            parts={},
        )
        draft.seal(manifest, chosen.workers)
        write_json(
            root / "report.json",
            {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "stages": watch.stages,
                "compile_seconds": compiling,
                "peak_memory_bytes": _peak_memory(),
                **corpus.report,
            },
        )
    if rejected := left_out(corpus.report["documents"]):
        warned(f"left out {rejected}")
    for told in misfits(corpus.report, corpus.about.meta, "meta="):
        warned(told)
    return Workspace(Path(out))


class _Watch:
    """Seconds of each stage."""

    def __init__(self) -> None:
        self.stages: dict[str, dict[str, Any]] = {}
        self._last = time.perf_counter()

    def stage(self, name: str, **about: Any) -> None:
        """A stage, or a part of it, has ended."""
        now = time.perf_counter()
        before = self.stages.get(name, {"seconds": 0.0})["seconds"]
        self.stages[name] = {"seconds": before + now - self._last, **about}
        self._last = now


def _grow(
    root: Path,
    corpus: Corpus,
    chosen: CorpusOptions,
    shape: TreeOptions,
    engine: Engine,
    progress: Progress,
) -> tuple[Grown, DocumentShares]:
    """Grow the tree of the corpus in `root`; the shares of the documents go there."""
    refs = corpus.refs()
    memory = max(chosen.memory - BASE_MEMORY, 0)
    occurrences = numbers(corpus.vocabulary["occurrences"])
    splitter = None
    if shape.method in METHODS[1:]:
        splitter = paper_splitter(
            shape,
            lambda: csr_array(vstack([ref.open().counts for ref in refs])),
            len(corpus.vocabulary),
            memory,
        )
    baseline = shape.method in BASELINES
    with DiskShareStore(root, corpus.segments) as book:
        ground = Ground(
            refs=refs,
            retention=thinning(occurrences, shape.thin),
            options=shape,
            engine=engine,
            book=book,
            progress=progress,
            memory=memory if baseline else memory // 2,
            splitter=splitter,
        )
        tree = (grow_baseline if baseline else grow)(ground, occurrences)
    tree.splits = calibrated(corpus, model_of(tree, ground), engine)
    return tree, DocumentShares(model_of(tree, ground), book.kept())


def _write(root: Path, tree: Grown) -> None:
    """Write the tree; the shares of the documents are there already."""
    write_revision(root, tree.nodes.values(), ChangeRecord(what="build"), 1)
    for name, split in tree.splits.items():
        write_split(root, name, split)


def _name(
    root: Path, corpus: Corpus, settings: TreeSettings, tree: Grown, namer: Callable[[Topic], str]
) -> None:
    """Let the user's function name the topics."""
    opened = Tree(Files(root), corpus, settings)
    given: dict[str, str] = {}
    for topic in opened.values():
        if topic.parent is None:
            continue
        try:
            topic.label = namer(topic)
        except Exception as error:
            raise StrodError(f"the namer failed at topic {topic.path}: {error}") from error
        if not isinstance(topic.label, str):
            raise UsageError(f"the namer gave {topic.label!r} for topic {topic.path}, not a string")
        if topic.label:  # else the automatic one stays
            check_name(topic.label)
            other = given.setdefault(" ".join(topic.label.split()).casefold(), topic.path)
            if other != topic.path:
                raise UsageError(f"the namer gave {topic.label!r} to {other} and {topic.path}")
            tree.nodes[topic.id].label = topic.label
    write_revision(root, tree.nodes.values(), opened.change, 1)


def _counted(units: Units) -> dict[str, Any]:
    return {"phrases": len(units.phrases), "units": units.size}


def _grown(tree: Grown) -> dict[str, Any]:
    """What the report says about a tree: per decomposition what was asked for and found."""
    splits = [
        {
            "topic": name,
            "documents": split.documents,
            "fine_topics": split.topics.size,
            "alpha0": split.alpha0,
            "total": split.total,
            **tree.learning.get(name, {}),
        }
        for name, split in tree.splits.items()
    ]
    leaves = {node.id: node.reason for node in tree.nodes.values() if node.reason}
    about = {"passes": tree.passes, "splits": splits, "leaves": leaves}
    if tree.learning:
        learnt = tree.learning.values()
        about["iterations"] = min(one["iterations"] for one in learnt)
        about["iterating_seconds"] = sum(one["iterating_seconds"] for one in learnt)
        about["learning_seconds"] = sum(one["seconds"] for one in learnt)
    return about


def _options(given: Mapping[str, Any]) -> tuple[CorpusOptions, PhraseOptions, TreeOptions]:
    """Check the names, and take the values as the command line does."""
    kinds: tuple[type[Any], ...] = (CorpusOptions, PhraseOptions, TreeOptions)
    known = {field.name: kind for kind in kinds for field in fields(kind)}
    check_names(given, known)
    values = {name: option_value(name, value) for name, value in shape_values(given).items()}
    corpus, phrases, shape = (
        kind(**{name: value for name, value in values.items() if known[name] is kind})
        for kind in kinds
    )
    if shape.method in BASELINES:
        return corpus, phrases, baseline_options(shape)
    return corpus, phrases, shape if shape.method == "strod" else paper_options(shape)


def _peak_memory() -> int:
    """Most memory that this process had; getrusage would count that of its parent too."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):  # not Linux
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
