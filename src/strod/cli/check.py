"""``strod check``: whether a workspace is whole."""

from __future__ import annotations

from strod.cli.console import number, say
from strod.cli.options import WorkspacePath

__all__ = ["check"]


def check(workspace: WorkspacePath) -> None:
    """Find out whether a workspace is whole: checksums, references, numbers that can be.

    \b
    Example:
      strod check papers.strod
    """
    from strod.errors import DamagedError
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    problems = opened.check()
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise DamagedError(f"{problems[0]}{more}", advice="build the workspace again")
    parts = opened.manifest.parts
    say(f"{workspace}: {number(len(parts))} files, all as they were written; what they say agrees")
