"""Everything strod raises on purpose.

::

    StrodError            exit code 1: the work could not be finished
    ├── UsageError        exit code 2: an option or argument is wrong
    │   └── TopicError    a KeyError too: a topic that is not there, or a name that several have
    ├── InputError        exit code 2: a source holds nothing usable, or, if strict, a bad document
    ├── BusyError         exit code 1: another process is writing
    ├── StaleError        exit code 1: somebody else has changed the workspace since
    └── DamagedError      exit code 1: a workspace does not match its manifest

A message is one line: where, what is wrong, and what to do about it. Options stand in it between
backticks, as arguments are called in Python; the command line puts its flags there. `StrodWarning`
tells Python what the command line prints: that documents were left out, and why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = [
    "BusyError",
    "DamagedError",
    "InputError",
    "StaleError",
    "StrodError",
    "StrodWarning",
    "TopicError",
    "UsageError",
]

_OPTION = re.compile(r"`([a-z][a-z0-9_]*)`")


class StrodError(Exception):
    """The work could not be finished; the message says why and what to do.

    Parameters
    ----------
    what : str
        What is wrong.
    topic : str, optional
        Path or id of the topic that it is about.
    file : path, optional
        The file or folder that it is about.
    position : int, optional
        The line, row or document in it.
    advice : str, optional
        What to do.

    Attributes
    ----------
    options : tuple of str
        Names of the options that the message speaks of.
    """

    exit_code = 1
    advice = ""

    def __init__(
        self,
        what: str = "",
        *,
        topic: str | None = None,
        file: str | os.PathLike[str] | None = None,
        position: int | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.topic, self.file, self.position = what, topic, file, position
        self.advice = self.advice if advice is None else advice

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the message speaks of."""
        return tuple(dict.fromkeys(_OPTION.findall(self.message)))

    @property
    def message(self) -> str:
        """Where, what and what to do, with options between backticks."""
        file = self.file if self.position is None else f"{self.file}:{self.position}"
        where = [str(place) for place in (file, self.topic) if place is not None]
        line = ": ".join([*where, self.what])
        line = f"{line}; {self.advice}" if self.advice else line
        return " ".join(line.splitlines())  # a name or a text in it may have several

    def __str__(self) -> str:
        return self.worded(lambda name: name)

    def worded(self, option: Callable[[str], str]) -> str:
        """The message with options as they are called where it is read."""
        return _OPTION.sub(lambda found: option(found[1]), self.message)


class UsageError(StrodError):
    """An option, an argument or a combination of them makes no sense."""

    exit_code = 2


class TopicError(UsageError, KeyError):
    """No topic, or not only one, has this path, id or name."""


class InputError(StrodError):
    """A source cannot be read or holds nothing usable."""

    exit_code = 2


class BusyError(StrodError):
    """Another process is writing the same workspace."""


class StaleError(StrodError):
    """A change was prepared for a revision that is not the newest any more."""

    advice = "look at it again"


class DamagedError(StrodError):
    """A file of a workspace is missing, changed or of an unknown format."""

    advice = "run strod check"


class StrodWarning(UserWarning):
    """The work was done, but not with all that was given."""
