"""``strod explore``: a workspace in the browser."""

from __future__ import annotations

import typer

from strod.cli.console import say
from strod.cli.options import WorkspacePath
from strod.errors import UsageError
from strod.extras import install

__all__ = ["explore"]


def explore(
    workspace: WorkspacePath,
    *,
    port: int | None = typer.Option(
        None, min=0, max=65535, help="Where to listen.  [default: 8765, or any that is free]"
    ),
    host: str = typer.Option("127.0.0.1", metavar="NAME", help="What to listen on."),
    read_only: bool = typer.Option(False, "--read-only", help="Nobody may change the tree."),
    no_browser: bool = typer.Option(False, "--no-browser", help="Only print the link."),
    token: str | None = typer.Option(
        None,
        envvar="STROD_TOKEN",
        metavar="TEXT",
        help="What visitors must know.  [default: a new one]",
    ),
) -> None:
    """See the tree in the browser, search it, read its documents and reshape it.

    Only this machine can get there, by the link that is printed. For others to get there, name
    the host, and say --read-only or give a token.

    \b
    Examples:
      strod explore papers.strod
      strod explore papers.strod --no-browser --port 9000
      strod explore papers.strod --host 0.0.0.0 --read-only
    """
    try:
        from strod.explorer.server import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("anyio", "starlette", "uvicorn"):
            raise
        raise UsageError(f"explore needs other packages: {install('explore')}") from error

    settings = Settings(host, port, token, read_only, browser=not no_browser)
    serve(workspace, settings, lambda link: say(f"{workspace}: {link} (Ctrl-C ends it)"))
