"""Connections: how many there may be, and how long one may take to say what it wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from starlette.datastructures import MutableHeaders
from uvicorn.protocols.http.h11_impl import H11Protocol

from strod.explorer.answers import refusal
from strod.explorer.security import HEADERS

if TYPE_CHECKING:
    import asyncio

__all__ = ["Connection"]

MOST = 200  # at once
PATIENCE = 10.0  # seconds for the head of a request, from when the connection or the head began
BODIES = 20.0  # seconds for its body; who answers waits less


class Connection(H11Protocol):
    """Ends if a request does not come to its end, and is refused if there are too many."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._inside, self.app = self.app, self._let_in
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited: Any = None  # the state of the visitor that the deadline is for

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; now a request must come."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A piece of a request, or all of it."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """An answer is given; a part of the next request may be there already."""
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        super().connection_lost(exc)
        self._wait_no_more()

    def _wait(self) -> None:
        """Set a deadline for what is missing; more bytes of the same move it no further."""
        state = self.conn.their_state
        if state not in (h11.IDLE, h11.SEND_BODY):
            self._wait_no_more()
        elif self._deadline is None or state is not self._awaited:
            self._wait_no_more()
            seconds = PATIENCE if state is h11.IDLE else BODIES
            self._awaited, self._deadline = state, self.loop.call_later(seconds, self._too_late)

    def _wait_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None

    def _too_late(self) -> None:
        if self.conn.their_state is self._awaited:
            self.transport.close()

    async def _let_in(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, unless there are too many."""
        if max(len(self.connections), len(self.tasks)) <= MOST:
            await self._inside(scope, receive, send)
            return
        answer = refusal("too many connections; try again in a moment", 503)
        MutableHeaders(raw=answer.raw_headers).update({**HEADERS, "connection": "close"})
        await answer(scope, receive, send)
