"""Everything strod raises on purpose.

::

    StrodError            exit code 1: the work could not be finished
    ├── UsageError        exit code 2: an option or argument is wrong
    │   └── TopicError    a KeyError too: a topic that is not there, or a name that several have
    ├── InputError        exit code 2: a source holds nothing usable, or --strict met a bad document
    ├── BusyError         exit code 1: another process is writing
    └── DamagedError      exit code 1: a workspace does not match its manifest

A message is one line: what is wrong, where, and what to do about it. `StrodWarning` tells Python
what the command line prints: that documents were left out, and why.
"""

from __future__ import annotations

__all__ = [
    "BusyError",
    "DamagedError",
    "InputError",
    "StrodError",
    "StrodWarning",
    "TopicError",
    "UsageError",
]


class StrodError(Exception):
    """The work could not be finished; the message says why and what to do."""

    exit_code = 1


class UsageError(StrodError):
    """An option, an argument or a combination of them makes no sense."""

    exit_code = 2


class TopicError(UsageError, KeyError):
    """No topic, or not only one, has this path, id or name."""

    def __str__(self) -> str:
        """The message; a KeyError would put it in quotes."""
        return str(self.args[0])


class InputError(StrodError):
    """A source cannot be read or holds nothing usable."""

    exit_code = 2


class BusyError(StrodError):
    """Another process is writing the same workspace."""


class DamagedError(StrodError):
    """A file of a workspace is missing, changed or of an unknown format."""


class StrodWarning(UserWarning):
    """The work was done, but not with all that was given."""
