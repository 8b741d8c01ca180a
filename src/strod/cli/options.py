"""Options of commands: those that several have, and values that stand for many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["FollowLinks", "Json", "Overwrite", "Quiet", "Silent", "WorkspacePath", "flat", "option"]

WorkspacePath = Annotated[Path, typer.Argument(metavar="W.strod", help="The workspace.")]
Json = Annotated[bool, typer.Option("--json", help="For programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Silent = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what --out names.")]
FollowLinks = Annotated[
    bool,
    typer.Option("--follow-links", help="Read what links lead to that leave a folder of sources."),
]


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Let Typer see each field of a dataclass as an option; the command gets the value.

    A parameter of a command whose type is a dataclass stands for its fields, in their order.
    """
    hints = get_type_hints(command, include_extras=True)
    values: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for one in signature(command).parameters.values():
        if one.name in values:
            parameters += _options(values[one.name])
        else:
            parameters.append(one.replace(annotation=hints[one.name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in values.items()
        }
        command(**given, **made)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _options(kind: Any) -> Iterator[Parameter]:
    """The fields of a dataclass, as parameters of a function."""
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        default = one.metadata.get("typer", one.default)
        yield Parameter(
            one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[one.name]
        )


def option(default: Any, *flags: str, **described: Any) -> Any:
    """A field that is an option: what `typer.Option` is for a parameter."""
    told = {"typer": typer.Option(default, *flags, **described)}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=told)
    return field(default=default, metadata=told)
