"""Options of a command as one value."""

from __future__ import annotations

from dataclasses import dataclass

import typer
from typer.testing import CliRunner

from strod.cli.options import Json, flat, option


@dataclass(frozen=True)
class Size:
    wide: int = option(3, "--wide", "-w", help="How wide.")
    names: list[str] = option(["a"], metavar="NAME")
    as_json: Json = False


@dataclass(frozen=True)
class Deep(Size):
    deep: bool = option(False, "--deep", help="How deep.")


@flat
def command(path: str = typer.Argument(...), *, size: Deep, last: int = typer.Option(1)) -> None:
    """Do it."""
    print(path, size, last)


def run(*arguments: str) -> str:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_value_has_what_was_said_and_the_defaults() -> None:
    assert run("x").strip() == f"x {Deep(wide=3, names=['a'], as_json=False, deep=False)} 1"
    given = Deep(wide=5, names=["b", "c"], as_json=True, deep=True)
    told = run("x", "-w", "5", "--names", "b", "--names", "c", "--json", "--deep", "--last", "2")
    assert told.strip() == f"x {given} 2"
    assert Deep().names == ["a"]
    assert Deep().names is not Deep().names


def test_help_lists_every_field_where_the_value_stands() -> None:
    text = run("--help")
    places = [text.index(f"--{name}") for name in ("wide", "names", "json", "deep", "last")]
    assert places == sorted(places)
    assert "Do it." in text
    assert "How wide." in text
    assert "[default: 3]" in text
    assert "size" not in text
