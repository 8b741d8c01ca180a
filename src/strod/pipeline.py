"""The whole pipeline on one page."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

from strod import __version__
from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.engine.local import LocalEngine
from strod.errors import UsageError
from strod.options import BASE_MEMORY, CorpusOptions, memory_size
from strod.progress import Progress, Silent
from strod.store.manifest import FORMAT, VERSION, checksum, file_digests, seal
from strod.store.publish import publish_folder, write_json
from strod.store.trees import DiskBook, write_tree
from strod.text.sources import resolve
from strod.tree.ablation import paper_options, paper_splitter
from strod.tree.grow import Grown, grow
from strod.tree.options import TreeOptions
from strod.warmup import compile_kernels
from strod.workspace import Workspace

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["build"]


def build(
    source: str | os.PathLike[str] | Iterable[Any],
    *more: str | os.PathLike[str] | Iterable[Any],
    out: str | os.PathLike[str],
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
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
    **options
        Fields of `strod.options.CorpusOptions` and `strod.tree.options.TreeOptions`; a single
        name may stand for a tuple.

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
    chosen, shape = _options(options)
    progress = progress or Silent()
    parts = resolve([source, *more], chosen.format)
    with publish_folder(Path(out), overwrite=overwrite) as root:
        compiling = compile_kernels(progress)
        started = time.perf_counter()
        corpus = build_corpus(root, parts, chosen, progress)
        stages = {"corpus": {"seconds": time.perf_counter() - started, "passes": 1}}
        started = time.perf_counter()
        tree, digests = _grow(root, corpus.about, chosen, shape, progress)
        stages["tree"] = {"seconds": time.perf_counter() - started, **_grown(tree)}
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "writer": f"strod {__version__}",
            "corpus": corpus.about,
            "tree": {
                "topics": len(tree.nodes),
                "settings": shape.settings,
                "sha256": checksum(digests),
            },
            "parts": corpus.digests | digests,
        }
        write_json(root / "manifest.json", manifest | {"sha256": seal(manifest)})
        write_json(
            root / "report.json",
            {
                "stages": stages,
                "compile_seconds": compiling,
                "peak_memory_bytes": _peak_memory(),
                **corpus.report,
            },
        )
    return Workspace(Path(out))


def _grow(
    root: Path, about: dict[str, Any], chosen: CorpusOptions, shape: TreeOptions, progress: Progress
) -> tuple[Grown, dict[str, dict[str, Any]]]:
    """Grow the tree of the corpus in `root` and write it; return it with its checksums."""
    corpus = Corpus(root, {"corpus": about})
    shards = list(corpus.shards())
    memory = max(chosen.memory - BASE_MEMORY, 0)
    splitter = None
    if shape.method != "strod":
        splitter = paper_splitter(
            shape, lambda: csr_array(vstack([shard.counts for shard in shards])),
            about["vocabulary"], memory,
        )  # fmt: skip
    # One BLAS thread a task: the order of sums never changes.
    with threadpool_limits(1), DiskBook(root / "tree" / "splits") as book:
        tree = grow(
            shards, corpus.vocabulary["occurrences"].to_numpy(), shape,
            LocalEngine(chosen.threads), book, progress,
            memory=memory // 2, splitter=splitter,
        )  # fmt: skip
    write_tree(root / "tree", tree)
    files = sorted(path for path in (root / "tree").rglob("*") if path.is_file())
    names = [path.relative_to(root).as_posix() for path in files]
    return tree, file_digests(root, names, chosen.workers)


def _grown(tree: Grown) -> dict[str, Any]:
    """What the report says about a tree: per decomposition what was asked for and found."""
    splits = [
        {
            "topic": name,
            "documents": split.documents,
            "fine_topics": split.topics.size,
            "alpha0": split.alpha0,
            "total": split.total,
        }
        for name, split in tree.splits.items()
    ]
    leaves = {node.id: node.reason for node in tree.nodes.values() if node.reason}
    return {"passes": tree.passes, "splits": splits, "leaves": leaves}


def _options(given: dict[str, Any]) -> tuple[CorpusOptions, TreeOptions]:
    """Check the names, and take the values as the command line does."""
    for_corpus = [field.name for field in fields(CorpusOptions)]
    for_tree = [field.name for field in fields(TreeOptions)]
    for name in given:
        if name not in for_corpus and name not in for_tree:
            close = get_close_matches(name, for_corpus + for_tree, n=1) or for_corpus + for_tree
            raise UsageError(f"unknown option {name!r}; do you mean {', '.join(close)}?")
    values = {name: _value(name, value) for name, value in given.items()}
    corpus = CorpusOptions(**{name: values[name] for name in values if name in for_corpus})
    shape = TreeOptions(**{name: values[name] for name in values if name in for_tree})
    return corpus, shape if shape.method == "strod" else paper_options(shape)


def _value(name: str, value: Any) -> Any:
    """Allow ``memory="2GB"``, and one name or a list for options that are tuples."""
    if name == "memory":
        return memory_size(value)
    if name not in ("text_field", "meta", "stopwords"):
        return value
    if isinstance(value, Mapping):  # {"year": "number"}
        value = [f"{field}:{kind}" for field, kind in value.items()]
    return (value,) if isinstance(value, str) else tuple(value or ())


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
