"""One bit is lost, in any file: the first command that reads the file names it."""

from __future__ import annotations

import random
import re
from functools import cache, partial
from pathlib import Path

import pytest

from strod.store.manifest import read_manifest
from tests.hostile.trial import COMMANDS, tried

PARTS = 20  # tests, so that processes can share them
FLIPS = 500
DAILY = 10  # of so many flips one is tried every day


def kinds(base: Path) -> list[list[str]]:
    """Files by what they hold: those of a kind differ in numbers and ids only."""
    found: dict[str, list[str]] = {}
    for name in ["manifest.json", *sorted(read_manifest(base).parts)]:
        found.setdefault(re.sub(r"[0-9a-f]{12}|\d+|/o(?=[/-])", "", name), []).append(name)
    return list(found.values())


def flips(base: Path) -> list[tuple[str, int]]:
    """Files, those of each kind in turn, and the bit that is lost."""
    chosen, all_kinds = random.Random(0), kinds(base)
    names = [chosen.choice(all_kinds[n % len(all_kinds)]) for n in range(FLIPS)]
    return [(name, chosen.randrange(8 * (base / name).stat().st_size)) for name in names]


def flip(name: str, bit: int, root: Path) -> None:
    data = bytearray((root / name).read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    (root / name).write_bytes(data)


def remove(name: str, root: Path) -> None:
    (root / name).unlink()


@cache
def reader(base: Path, name: str) -> str | None:
    """The first command that cannot do without a file."""
    commands = [command for command in COMMANDS if command != "check"]
    short = Path(name).name
    found = tried(base, base.parent.with_name("without"), partial(remove, name), commands, short)
    return next((one for one, said in found.said.items() if short in said), None)


def problems(base: Path, folder: Path, chosen: list[tuple[str, int]]) -> list[str]:
    found = []
    for number, (name, bit) in enumerate(chosen):
        commands = [one for one in ("check", reader(base, name)) if one]
        ended = tried(base, folder / str(number), partial(flip, name, bit), commands)
        where = f"bit {bit} of {name}"
        found += [f"{where}: {one}" for one in ended.wrong]
        found += [f"{where}: signal {ended.signal}"] * bool(ended.signal)
        for command, code in ended.codes.items():
            if code != 1 or Path(name).name not in ended.said[command]:
                found.append(f"{where}: {command} ended with {code}: {ended.said[command]}")
    return found


def test_every_file_has_a_reader(base: Path) -> None:
    """A file that no command needs would not be looked at."""
    first = [names[-1] for names in kinds(base)]
    unread = [name for name in first if not reader(base, name)]
    assert unread == []


@pytest.mark.parametrize("part", range(PARTS))
def test_flipped(base: Path, tmp_path: Path, part: int) -> None:
    assert problems(base, tmp_path, flips(base)[::DAILY][part::PARTS]) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_flipped_elsewhere(base: Path, tmp_path: Path, part: int) -> None:
    chosen = [one for n, one in enumerate(flips(base)) if n % DAILY]
    assert problems(base, tmp_path, chosen[part::PARTS]) == []
