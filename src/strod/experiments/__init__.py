"""The experiments of the paper's section 6, and some of our own, on any corpus.

::

    settings ─► cells ─► journal ─► rows ─► CSV, Markdown, plot
                 │
                 └─ a build in a process of its own, or a tree from planted counts

A cell is one measurement. It is written to the journal as soon as it is done, so that an
experiment that was stopped goes on where it was.
"""

from __future__ import annotations

from strod.experiments.run import NAMES, run_experiment
from strod.experiments.settings import Settings

__all__ = ["NAMES", "Settings", "run_experiment"]
