"""Budgets for the shape of the code, and what must not be in it."""

from __future__ import annotations

import ast
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import strod
from strod.kernels import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(strod.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
NAMES = [path.relative_to(ROOT).as_posix() for path in MODULES]

LONGEST_MODULE = 500
LONGEST_FUNCTION = 80
MEDIAN_FUNCTION = 10
PUBLIC_NAMES = 15

FORBIDDEN_IMPORTS = {
    "cPickle", "dill", "cloudpickle", "ftplib", "http", "marshal", "pickle", "requests", "shelve",
    "smtplib", "socket", "ssl", "urllib", "urllib3", "httpx", "aiohttp",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
RANDOM_WITH_A_SEED = {"default_rng", "Generator", "SeedSequence", "PCG64", "BitGenerator"}

# The model takes arrays and iterators and gives arrays: it can be tested without a disk.
ABOVE_THE_MODEL = {
    f"strod.{name}"
    for name in (
        "assign", "cli", "corpus", "engine", "hierarchy", "pipeline", "store", "text", "warmup",
        "workspace",
    )
}  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(tree(path)):
        if isinstance(node, Function):
            yield node


def docstring_lines(node: Function) -> set[int]:
    if ast.get_docstring(node, clean=False) is None:
        return set()
    first = node.body[0]
    return set(range(first.lineno, (first.end_lineno or first.lineno) + 1))


def code_lines(node: Function, source: list[str]) -> int:
    """Lines of a function without its docstring, comments and empty lines."""
    inside = set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) - docstring_lines(node)
    texts = (source[line - 1].strip() for line in inside)
    return sum(bool(text) and not text.startswith("#") for text in texts)


def imports(path: Path) -> set[str]:
    """Full names of everything a module imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def test_there_is_something_to_look_at() -> None:
    assert len(MODULES) > 30
    assert sum(1 for path in MODULES for _ in functions(path)) > 200


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_functions_are_short(path: Path) -> None:
    long = {}
    for node in functions(path):
        size = (node.end_lineno or node.lineno) - node.lineno + 1 - len(docstring_lines(node))
        if size > LONGEST_FUNCTION:
            long[node.name] = size
    assert long == {}


def test_half_of_the_functions_are_very_short() -> None:
    sizes = []
    for path in MODULES:
        source = path.read_text(encoding="utf-8").splitlines()
        sizes += [code_lines(node, source) for node in functions(path)]
    assert statistics.median(sizes) <= MEDIAN_FUNCTION


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_nothing_dangerous_is_imported(path: Path) -> None:
    assert {name.partition(".")[0] for name in imports(path)} & FORBIDDEN_IMPORTS == set()


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_no_code_is_made_from_text_and_no_shell_is_asked(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        assert name not in FORBIDDEN_CALLS, f"line {node.lineno}"
        assert name not in {"os.system", "os.popen"}, f"line {node.lineno}"
        for keyword in node.keywords:
            value = keyword.value
            on = not (isinstance(value, ast.Constant) and value.value is False)
            assert not (keyword.arg in {"shell", "allow_pickle"} and on), f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_random_numbers_come_from_a_seed(path: Path) -> None:
    assert not {name for name in imports(path) if name.partition(".")[0] == "random"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            head, _, last = dotted(node).rpartition(".")
            if head in {"np.random", "numpy.random"}:
                assert last in RANDOM_WITH_A_SEED, f"line {node.lineno}"
    assert not [n for n in imports(path) if n.startswith("numpy.random.")
                and n.rpartition(".")[2] not in RANDOM_WITH_A_SEED]  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "above"),
    [
        ("text", {"strod.corpus", "strod.store", "strod.engine", "strod.cli", "strod.pipeline"}),
        ("engine", {"strod.corpus", "strod.text", "strod.store", "strod.cli", "strod.pipeline"}),
        ("store", {"strod.corpus", "strod.text", "strod.cli", "strod.pipeline"}),
        ("corpus", {"strod.cli", "strod.pipeline", "strod.workspace"}),
        *((layer, ABOVE_THE_MODEL) for layer in ("baselines", "moments", "tensor", "tree")),
        *(
            (layer, {"strod.baselines"})
            for layer in ("moments", "phrases", "tensor", "text", "tree")
        ),
    ],
)
def test_layers_do_not_reach_up(layer: str, above: set[str]) -> None:
    inside = [path for path in MODULES if path.is_relative_to(ROOT / layer)]
    assert inside
    for path in inside:
        reached = {name for name in imports(path) if ".".join(name.split(".")[:2]) in above}
        assert reached == set(), path


def test_public_names() -> None:
    assert len(strod.__all__) <= PUBLIC_NAMES
    assert sorted(strod.__all__) == list(strod.__all__)
    assert len(set(strod.__all__)) == len(strod.__all__)
    for name in strod.__all__:
        assert getattr(strod, name).__module__.startswith("strod.")
    there = {
        name
        for name, value in vars(strod).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and str(getattr(value, "__module__", "")).startswith("strod")
    }
    assert there == set(strod.__all__)
    assert set(dir(strod)) == there | {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        strod.missing  # noqa: B018


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_names_said_to_be_public_are_there(path: Path) -> None:
    body = tree(path).body
    defined: set[str] = set()
    said: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            defined |= {alias.asname or alias.name for alias in node.names}
    for statement in body:
        if isinstance(statement, Function | ast.ClassDef):
            defined.add(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                defined |= names
                if "__all__" in names:
                    assert statement.value is not None
                    said = ast.literal_eval(statement.value)
    assert [name for name in said if name not in defined] == []


def test_import_is_light() -> None:
    """`strod --help` need not wait for numba and Arrow."""
    heavy = "{'numba', 'pyarrow', 'scipy', 'numpy'}"
    code = f"import strod, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def helpers(path: Path) -> set[str]:
    """Parts of kernels that a file has."""
    return {
        node.name
        for node in functions(path)
        if any(isinstance(one, ast.Name) and one.id == "helper" for one in node.decorator_list)
    }


def test_machine_code_knows_the_files_that_it_is_made_of() -> None:
    """A kernel that takes helpers from another file is stale when that file changes."""
    owners = {f"strod.{name[:-3].replace('/', '.')}": helpers(ROOT / name) for name in NAMES}
    found = set()
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.ImportFrom) or node.module not in owners:
                continue
            if owners[node.module] & {one.name for one in node.names}:
                found.add(node.module.removeprefix("strod.").replace(".", "/") + ".py")
    assert "lanes.py" in found
    assert found <= set(SHARED)


def test_machine_code_is_stale_when_a_shared_file_changes(tmp_path: Path) -> None:
    """In a copy of the package: sums are wrong once the code of a lane is."""
    copy = tmp_path / "strod"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import numpy as np; from strod.moments.moments import _apply; out = np.zeros((1, 4)); "
        "one = np.ones(1); _apply(np.array([0, 1]), np.zeros(1, np.int32), one, np.ones((1, 4)), "
        "out); print(out[0, 0])"
    )

    def run() -> float:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return float(done.stdout)

    assert run() == 1
    lanes = copy / "lanes.py"
    text = lanes.read_text()
    product = "product = code.builder.fmul(factor, own)\n"
    assert product in text
    twice = product + " " * 12 + "product = code.builder.fadd(product, product)\n"
    lanes.write_text(text.replace(product, twice))
    assert run() == 2
