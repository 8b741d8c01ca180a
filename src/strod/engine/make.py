"""The engines there are, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.errors import UsageError

if TYPE_CHECKING:
    from strod.engine.protocol import Engine

__all__ = ["ENGINES", "check_engine", "make_engine"]

ENGINES = ("local", "processes")


def check_engine(name: str) -> None:
    """Refuse engines that do not exist."""
    if name not in ENGINES:
        raise UsageError(f"--engine {name}: there are {' and '.join(ENGINES)}")


def make_engine(name: str, workers: int) -> Engine:
    """The engine of a name: `local` are threads of this process, `processes` are others."""
    check_engine(name)
    if name == "processes":
        from strod.engine.processes import Processes  # noqa: PLC0415 - seldom needed

        return Processes(workers)
    from strod.engine.threads import Threads  # noqa: PLC0415 - options need the names alone

    return Threads(workers)
