"""Placing documents in the topics of a workspace, those of the corpus or new ones."""

from __future__ import annotations

from strod.workspace.assign import assign_new
from strod.workspace.placements import assign_corpus

__all__ = ["assign_corpus", "assign_new"]
