"""The engine of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.engine.processes import Processes
from strod.engine.protocol import check_engine
from strod.engine.threads import Threads

if TYPE_CHECKING:
    from strod.engine.protocol import Engine

__all__ = ["make_engine"]


def make_engine(name: str, workers: int) -> Engine:
    """The engine of a name: `local` are threads of this process, `processes` are others."""
    check_engine(name)
    return Processes(workers) if name == "processes" else Threads(workers)
