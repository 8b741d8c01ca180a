"""Running the explorer: one process, this machine, until somebody ends it."""

from __future__ import annotations

import re
import secrets
import webbrowser
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any

import uvicorn

from strod.errors import UsageError
from strod.explorer.app import make_app
from strod.explorer.connections import Connection
from strod.explorer.security import Guard, is_loopback
from strod.explorer.state import Explorer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["Server", "Settings", "serve"]

PORT = 8765  # if that is free
SHORTEST, LONGEST = 8, 200  # characters of a token
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
SECONDS = 3  # that requests under way have when the server ends


@dataclass(frozen=True)
class Settings:
    """How a workspace is shown.

    Attributes
    ----------
    host : str
        What to listen on.
    port : int or None
        Where; None for a usual one, or any that is free.
    token : str or None
        What visitors must know; None for a new one.
    read_only : bool
        Whether nobody may change anything.
    browser : bool
        Whether to open the page.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    token: str | None = None
    read_only: bool = False
    browser: bool = True

    def __post_init__(self) -> None:
        safe = self.read_only or self.token is not None
        if not is_loopback(self.host) and not safe:
            raise UsageError(
                f"`host` {self.host}: others could change the workspace; "
                "give `read_only`, or a `token` of your own"
            )
        if self.token is not None:
            good = SHORTEST <= len(self.token) <= LONGEST and _TOKEN.fullmatch(self.token)
            if not good:
                raise UsageError(
                    f"`token` must have {SHORTEST} to {LONGEST} letters, digits or . _ ~ -"
                )


class Server(uvicorn.Server):
    """Says where it listens, and ends quietly.

    Parameters
    ----------
    app : ASGI application
        What answers.
    host, port
        Where to listen; port 0 for any that is free.
    told : callable
        Told the port once it listens.
    """

    def __init__(self, app: Any, host: str, port: int, told: Callable[[int], None]) -> None:
        super().__init__(_config(app, host, port))
        self._told = told

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listen; what uvicorn would end the process for is an error of ours."""
        try:
            await super().startup(sockets)
        except SystemExit:
            where = f"{self.config.host}:{self.config.port}"
            raise UsageError(f"`port`: cannot listen on {where}; give another one") from None
        if self.started:
            self._told(self.servers[0].sockets[0].getsockname()[1])

    def end(self) -> None:
        """Answer what is asked already, and no more."""
        self.should_exit = True

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002 - as uvicorn calls it
        """A signal ends the server; a second one does not wait for requests under way."""
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(path: str | os.PathLike[str], settings: Settings, tell: Callable[[str], None]) -> None:
    """Show a workspace until somebody ends it.

    Parameters
    ----------
    path : path
        The workspace.
    settings : Settings
        How.
    tell : callable
        Told the link once it can be opened.
    """
    token = settings.token or secrets.token_urlsafe(24)
    explorer = Explorer(path, read_only=settings.read_only)
    app = make_app(explorer, Guard(token, settings.host))

    def ready(port: int) -> None:
        link = _link(settings.host, port, token)
        tell(link)
        explorer.warm()
        if settings.browser:
            Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    try:
        _listen(app, explorer, settings, ready)
    finally:
        explorer.close()


def _listen(app: Any, explorer: Explorer, settings: Settings, ready: Callable[[int], None]) -> None:
    """Take the port that was named, or the usual one, or any."""
    for port in [PORT, 0] if settings.port is None else [settings.port]:
        server = Server(app, settings.host, port, ready)
        explorer.end = server.end
        try:
            server.run()
        except UsageError:
            if settings.port is not None or not port:
                raise
        else:
            return


def _config(app: Any, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,  # it would have the token
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=SECONDS,
    )


def _link(host: str, port: int, token: str) -> str:
    """The address to open."""
    name = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - it is only shown
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/?token={token}"
