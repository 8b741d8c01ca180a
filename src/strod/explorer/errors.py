"""What is refused, and with which status of HTTP."""

from __future__ import annotations

from strod.errors import BusyError, StaleError, StrodError, TopicError, UsageError

__all__ = ["MissingError", "RefusedError", "TooLargeError", "TooManyError", "status_of"]


class RefusedError(StrodError):
    """It may not be done here."""


class MissingError(StrodError):
    """There is no such thing."""


class TooLargeError(StrodError):
    """More was sent, or asked for, than is taken or given."""


class TooManyError(StrodError):
    """Others are waiting already."""


_STATUS: tuple[tuple[type[StrodError], int], ...] = (
    (RefusedError, 403),
    (TopicError, 404),
    (MissingError, 404),
    (StaleError, 409),
    (TooLargeError, 413),
    (TooManyError, 429),
    (UsageError, 400),
    (BusyError, 503),
)


def status_of(error: StrodError) -> int:
    """The status of HTTP that says it; what is damaged or out of reach is unavailable."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 503)
