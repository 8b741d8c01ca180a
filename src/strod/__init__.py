"""Topical hierarchies from text: a tree of topics people can read, trust and revise."""

import sys

# `python -m strod` looks for modules in the current folder, which may be a stranger's, first:
# not from here on. `strod` itself never does.
if sys.argv[:1] == ["-m"] and " -m strod" in " ".join(sys.orig_argv).replace("-ms", "-m s"):
    sys.path[:] = [_one for _one in sys.path[not sys.flags.safe_path :] if _one]

from typing import TYPE_CHECKING, Any

from strod.errors import (
    BusyError,
    DamagedError,
    InputError,
    StrodError,
    StrodWarning,
    TopicError,
    UsageError,
)

if TYPE_CHECKING:
    from strod.corpus.reader import Corpus
    from strod.estimator import TopicHierarchy
    from strod.hierarchy import Topic, Tree
    from strod.pipeline import build
    from strod.workspace import Workspace
    from strod.workspace import open_workspace as open  # noqa: A004

__version__ = "0.1.0"

__all__ = [
    "BusyError",
    "Corpus",
    "DamagedError",
    "InputError",
    "StrodError",
    "StrodWarning",
    "Topic",
    "TopicError",
    "TopicHierarchy",
    "Tree",
    "UsageError",
    "Workspace",
    "build",
    "open",
]

# Loaded when first used: `strod --help` need not wait for numba and Arrow.
_LAZY = {
    "Corpus": ("strod.corpus.reader", "Corpus"),
    "Topic": ("strod.hierarchy", "Topic"),
    "TopicHierarchy": ("strod.estimator", "TopicHierarchy"),  # needs scikit-learn, an extra
    "Tree": ("strod.hierarchy", "Tree"),
    "Workspace": ("strod.workspace", "Workspace"),
    "build": ("strod.pipeline", "build"),
    "open": ("strod.workspace", "open_workspace"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'strod' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    module, attribute = _LAZY[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
