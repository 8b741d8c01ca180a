"""The workspace: build, open, revise, add, check.

`Workspace` is the door; the other modules are what its methods do.
"""

from __future__ import annotations

from strod.workspace.workspace import Workspace, open_workspace

__all__ = ["Workspace", "open_workspace"]
