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

from strod import __version__
from strod.corpus.build import build_corpus
from strod.errors import UsageError
from strod.options import CorpusOptions, memory_size
from strod.progress import Progress, Silent
from strod.store.manifest import FORMAT, VERSION, seal
from strod.store.publish import publish_folder, write_json
from strod.text.sources import resolve
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
        Fields of `strod.options.CorpusOptions`; a single name may stand for a tuple.

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
    chosen = _options(options)
    progress = progress or Silent()
    parts = resolve([source, *more], chosen.format)
    with publish_folder(Path(out), overwrite=overwrite) as root:
        compiling = compile_kernels(progress)
        started = time.perf_counter()
        corpus = build_corpus(root, parts, chosen, progress)
        stages = {"corpus": {"seconds": time.perf_counter() - started, "passes": 1}}
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "writer": f"strod {__version__}",
            "corpus": corpus.about,
            "parts": corpus.digests,
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


def _options(given: dict[str, Any]) -> CorpusOptions:
    """Check the names, and take the values as the command line does."""
    known = [field.name for field in fields(CorpusOptions)]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1) or known
            raise UsageError(f"unknown option {name!r}; do you mean {', '.join(close)}?")
    return CorpusOptions(**{name: _value(name, value) for name, value in given.items()})


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
