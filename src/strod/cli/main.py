"""Entry point: gathers the commands, turns errors into one line and an exit code."""

from __future__ import annotations

import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn

import typer

from strod import __version__
from strod.cli import (
    assign,
    build,
    check,
    demo,
    evaluate,
    experiment,
    export,
    intrusion,
    revise,
    show,
)
from strod.cli.signals import STOPPED, catch_signals
from strod.errors import StrodError

__all__ = ["app", "main"]

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

# Typer has its own copy of click's exceptions since 0.26; this is the one it raises.
_UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="strod",
    help="Topical hierarchies from text: a tree of topics people can read, trust and revise.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("build")(build.build)
app.command("show")(show.show)
app.command("assign")(assign.assign)
app.command("export")(export.export)
for _verb in (
    revise.add, revise.expand, revise.collapse, revise.merge, revise.remove, revise.move,
    revise.rename, revise.pin, revise.unpin, revise.undo, revise.redo, revise.history,
    revise.compact,
):  # fmt: skip
    app.command(_verb.__name__)(_verb)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(intrusion.intrusion, name="intrusion")
app.command("check")(check.check)
app.command("demo")(demo.demo)
app.command("experiment")(experiment.experiment)


def _version(value: bool) -> None:
    if value:
        print(f"strod {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 - its callback does the work
        False, "--version", callback=_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _fail(message: str, code: int) -> NoReturn:
    print(f"strod: {message}", file=sys.stderr)
    sys.exit(code)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, TextIOWrapper
        ):  # a terminal that cannot show a letter shows its number
            stream.reconfigure(errors="backslashreplace")
    catch_signals()
    try:
        code = app(standalone_mode=False)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except BaseException as error:
        if (ending := _ending(error)) is None:
            raise
        _fail(*ending)
    if code == INTERRUPTED:  # Typer swallows the exception
        _fail(STOPPED, INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _flag(option: str) -> str:
    """An option as it is typed."""
    return f"--{option.replace('_', '-')}"


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
        case SystemExit(code=code) if code == TERMINATED:
            ending = STOPPED, TERMINATED
        case MemoryError():
            ending = "out of memory; give a smaller --memory or fewer --workers", 1
        case OSError():
            ending = f"{error.filename or 'system'}: {error.strerror or error}", 1
    return ending


if __name__ == "__main__":
    main()
