"""Entry point: gathers the commands, turns errors into one line and an exit code."""

from __future__ import annotations

import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from strod import __version__
from strod.cli import (
    add,
    assign,
    build,
    check,
    demo,
    entity,
    evaluate,
    experiment,
    explore,
    export,
    intrusion,
    plot,
    revise,
    search,
    show,
    trends,
)
from strod.cli.console import guard_streams, say
from strod.cli.signals import STOPPED, catch_lost_pages, catch_signals
from strod.cli.slice import slice_
from strod.errors import StrodError, StrodWarning

__all__ = ["app", "main"]

INTERRUPTED, UNREAD = 128 + signal.SIGINT, 128 + signal.SIGPIPE
ENDED = {128 + signal.SIGTERM, 128 + signal.SIGHUP}

# Typer has its own copy of click's exceptions since 0.26; this is the one it raises.
_UsageError: Any = typer.BadParameter.__base__

_MEANT = {  # what other tools call it
    "tree": "show",
    "print": "show",
    "list": "show",
    "ls": "show",
    "view": "show",
    "topics": "show",
    "create": "build",
    "fit": "build",
    "train": "build",
    "predict": "assign",
    "infer": "assign",
    "transform": "assign",
    "classify": "assign",
    "split": "expand",
    "join": "merge",
    "delete": "remove",
    "rm": "remove",
    "mv": "move",
    "name": "rename",
    "log": "history",
    "verify": "check",
    "save": "export",
    "convert": "export",
    "find": "search",
    "query": "search",
    "grep": "search",
    "draw": "plot",
    "serve": "explore",
    "browse": "explore",
    "web": "explore",
    "olap": "slice",
    "trend": "trends",
    "entities": "entity",
}


class _Commands(TyperGroup):
    """Knows what a command is meant by another name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command; an unknown one is refused with the one that is meant."""
        meant = _MEANT.get(args[0].lower()) if args else None
        if meant is not None and self.get_command(ctx, args[0]) is None:
            raise _UsageError(f"No such command '{args[0]}'. Did you mean '{meant}'?", ctx)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="strod",
    cls=_Commands,
    help="Topical hierarchies from text: a tree of topics people can read, trust and revise.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("build")(build.build)
app.command("show")(show.show)
app.command("assign")(assign.assign)
app.command("search")(search.search)
app.command("slice")(slice_)
app.command("trends")(trends.trends)
app.command("entity")(entity.entity)
app.command("plot")(plot.plot)
app.command("explore")(explore.explore)
app.command("export")(export.export)
for _verb in (
    add.add,
    revise.expand,
    revise.grow,
    revise.collapse,
    revise.merge,
    revise.remove,
    revise.move,
    revise.rename,
    revise.pin,
    revise.unpin,
    revise.undo,
    revise.redo,
    revise.history,
    revise.compact,
):
    app.command(_verb.__name__)(_verb)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(intrusion.intrusion, name="intrusion")
app.command("check")(check.check)
app.command("demo")(demo.demo)
app.command("experiment")(experiment.experiment)


def _version(value: bool) -> None:
    if value:
        say(f"strod {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    *,
    version: bool = typer.Option(  # noqa: ARG001 - its callback does the work
        False, "--version", callback=_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # nobody may be there to read it
        say(f"strod: {message}", error=True)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End; what could not be written is not tried again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            setattr(sys, "stdout" if stream is sys.stdout else "stderr", None)
    sys.exit(code)


def main() -> None:
    """Run the command line."""
    guard_streams()
    catch_signals()
    catch_lost_pages()
    warnings.simplefilter("ignore", StrodWarning)  # commands say the same in their own way
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        if _unread(error):
            _leave(UNREAD)
        if (ending := _ending(error)) is None:
            raise
        _fail(*ending)
    if code == INTERRUPTED:  # Typer swallows the exception
        _fail(STOPPED, INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _flag(option: str) -> str:
    """An option as it is typed."""
    return f"--{option.replace('_', '-')}"


def _unread(error: BaseException) -> bool:
    """Whether the reader of a pipe has gone; Typer makes an exit of it."""
    return isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    )


def _ending(error: BaseException) -> tuple[str, int] | None:
    """What to say and the exit code; None for what should not have happened."""
    ending: tuple[str, int] | None = None
    match error:
        case StrodError():
            ending = " ".join(error.worded(_flag).split()), error.exit_code
        case _UsageError():
            where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
            ending = " ".join(error.format_message().split()) + where, 2
        case KeyboardInterrupt() | typer.Abort():
            ending = STOPPED, INTERRUPTED
        case SystemExit(code=int(code)) if code in ENDED:
            ending = STOPPED, code
        case MemoryError():
            ending = "out of memory; give a smaller --memory or fewer --workers", 1
        case OSError():
            ending = f"{error.filename or 'system'}: {error.strerror or error}", 1
    return ending


if __name__ == "__main__":
    main()
