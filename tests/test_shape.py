"""Budgets for the shape of the code, and what must not be in it."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import strod
from strod.compute.kernels import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(strod.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
NAMES = [path.relative_to(ROOT).as_posix() for path in MODULES]

LONGEST_MODULE = 500
LONGEST_FUNCTION = 80
MEDIAN_FUNCTION = 10
MANY_PARAMETERS = 7
LONG_LISTS = 19  # functions that have so many
PUBLIC_NAMES = 15

FORBIDDEN_IMPORTS = {
    "cPickle", "dill", "cloudpickle", "ftplib", "http", "marshal", "pickle", "requests", "shelve",
    "smtplib", "socket", "ssl", "urllib", "urllib3", "httpx", "aiohttp",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
RANDOM_WITH_A_SEED = {"default_rng", "Generator", "SeedSequence", "PCG64", "BitGenerator"}

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


def offenders(rule: Callable[[Path], Iterable[object]]) -> list[str]:
    """What a rule finds in all modules, as lines ``module: what``."""
    found = zip(NAMES, map(rule, MODULES), strict=True)
    return [f"{name}: {what}" for name, all_of_it in found for what in all_of_it]


def test_modules_are_short() -> None:
    def long(path: Path) -> list[int]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        return [lines] * (lines > LONGEST_MODULE)

    assert offenders(long) == []


def test_functions_are_short() -> None:
    def long(path: Path) -> Iterator[str]:
        for node in functions(path):
            size = (node.end_lineno or node.lineno) - node.lineno + 1 - len(docstring_lines(node))
            if size > LONGEST_FUNCTION:
                yield f"{node.name} has {size} lines"

    assert offenders(long) == []


def test_half_of_the_functions_are_very_short() -> None:
    sizes = []
    for path in MODULES:
        source = path.read_text(encoding="utf-8").splitlines()
        sizes += [code_lines(node, source) for node in functions(path)]
    assert statistics.median(sizes) <= MEDIAN_FUNCTION


def parameters(node: Function) -> int:
    """How many a function has, without ``self``."""
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_few_functions_have_many_parameters() -> None:
    def long(path: Path) -> list[str]:
        return [node.name for node in functions(path) if parameters(node) >= MANY_PARAMETERS]

    found = offenders(long)
    assert len(found) <= LONG_LISTS, found


def test_nothing_dangerous_is_imported() -> None:
    def dangerous(path: Path) -> set[str]:
        return {name.partition(".")[0] for name in imports(path)} & FORBIDDEN_IMPORTS

    assert offenders(dangerous) == []


def is_dangerous(node: ast.Call) -> bool:
    """Whether a call makes code from text, asks a shell, or reads pickles."""
    if dotted(node.func) in FORBIDDEN_CALLS:
        return True
    on = (
        keyword.arg
        for keyword in node.keywords
        if not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    )
    return not {"shell", "allow_pickle"}.isdisjoint(on)


def test_no_code_is_made_from_text_and_no_shell_is_asked() -> None:
    def dangerous(path: Path) -> Iterator[str]:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and is_dangerous(node):
                yield f"line {node.lineno}"

    assert offenders(dangerous) == []


def test_random_numbers_come_from_a_seed() -> None:
    def unseeded(path: Path) -> Iterator[str]:
        for name in imports(path):
            if name.partition(".")[0] == "random":
                yield name
            if name.startswith("numpy.random.") and name.split(".")[2] not in RANDOM_WITH_A_SEED:
                yield name
        for node in ast.walk(tree(path)):
            head, _, last = dotted(node).rpartition(".")
            if head in {"np.random", "numpy.random"} and last not in RANDOM_WITH_A_SEED:
                yield f"line {getattr(node, 'lineno', '?')}"

    assert offenders(unseeded) == []


# Who may import whom: a package imports those before it. What an engine is, all may know.
LAYERS = (
    ("errors", "extras", "progress", "wording"),
    ("values",),
    ("compute",),
    ("store",),
    ("engine",),
    ("moments", "text"),
    ("options",),
    ("keywords",),
    ("tensor",),
    ("model",),
    ("passes",),
    ("tree",),
    ("phrases",),
    ("corpus",),
    ("datasets", "methods"),
    ("workspace",),
    ("assign", "estimator", "pages"),
    ("query",),
    ("plots",),
    ("export",),
    ("intrusion",),
    ("evaluate",),
    ("experiments",),
    ("explorer",),
    ("cli",),
)
# Doors to what is above: methods of a workspace, and the explorer as files.
DOORS = {
    "export/run.py": {"explorer"},
    "workspace/tree.py": {"export"},
    "workspace/snapshot.py": {"query"},
    "workspace/workspace.py": {"export", "plots", "query"},
}
LEVEL = {package: number for number, layer in enumerate(LAYERS) for package in layer}


def test_every_package_has_its_place() -> None:
    packages = {
        path.stem for path in ROOT.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert packages - {"__init__", "__main__", "__pycache__", "py"} == set(LEVEL)


def test_packages_import_what_is_below() -> None:
    def reaches_up(path: Path) -> Iterator[str]:
        package = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for name in sorted(imports(path)):
            steps = name.split(".")
            other = steps[1] if steps[0] == "strod" and len(steps) > 1 else package
            free = (
                other == package or other not in LEVEL or name.startswith("strod.engine.protocol")
            )
            free = free or other in DOORS.get(path.relative_to(ROOT).as_posix(), ())
            if not free and LEVEL[other] >= LEVEL[package]:
                yield name

    packages = [path for path in MODULES if path.parent != ROOT or path.stem in LEVEL]
    found = {path.relative_to(ROOT).as_posix(): list(reaches_up(path)) for path in packages}
    assert {path: names for path, names in found.items() if names} == {}


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


def defined_names(body: ast.Module) -> set[str]:
    """What a module defines or imports."""
    defined: set[str] = set()
    for node in ast.walk(body):
        if isinstance(node, ast.ImportFrom | ast.Import):
            defined |= {alias.asname or alias.name for alias in node.names}
    for statement in body.body:
        if isinstance(statement, Function | ast.ClassDef):
            defined.add(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            defined |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)
                        and isinstance(node.ctx, ast.Store)}  # fmt: skip
    return defined


def public_names(body: ast.Module) -> list[str]:
    """What a module says in ``__all__``."""
    for statement in body.body:
        if isinstance(statement, ast.Assign) and dotted(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def test_names_said_to_be_public_are_there() -> None:
    def missing(path: Path) -> list[str]:
        body = tree(path)
        defined = defined_names(body)
        return [name for name in public_names(body) if name not in defined]

    assert sum(bool(public_names(tree(path))) for path in MODULES) > 30
    assert offenders(missing) == []


def test_rules_find_what_they_look_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule fails for a module that breaks it, and says where."""
    bad = tmp_path / "bad.py"
    shape = sys.modules[__name__]
    monkeypatch.setattr(shape, "NAMES", ["bad.py"])
    monkeypatch.setattr(shape, "MODULES", [bad])
    long = "def f():\n" + "    x = 1\n" * 81
    many = "def f(self, a, b, c, d, e, f, *, g): ...\n"
    for rule, text, told in (
        (test_modules_are_short, "x = 1\n" * 501, "bad.py: 501"),
        (test_functions_are_short, long, "bad.py: f has 82 lines"),
        (test_few_functions_have_many_parameters, many * 20, "bad.py: f"),
        (test_nothing_dangerous_is_imported, "from pickle import loads", "bad.py: pickle"),
        *(
            (test_no_code_is_made_from_text_and_no_shell_is_asked, f"\n{text}", "bad.py: line 2")
            for text in ("eval('1')", "os.system('ls')", "run(shell=True)", "load(allow_pickle=x)")
        ),
        (test_random_numbers_come_from_a_seed, "import random", "bad.py: random"),
        (test_random_numbers_come_from_a_seed, "np.random.rand()", "bad.py: line 1"),
        (test_random_numbers_come_from_a_seed, "from numpy.random import seed", "bad.py: numpy.r"),
    ):
        bad.write_text(text)
        with pytest.raises(AssertionError, match=told):
            rule()


def test_import_is_light() -> None:
    """`strod --help` need not wait for numba and Arrow."""
    heavy = "{'numba', 'pyarrow', 'scipy', 'numpy'}"
    code = f"import strod.cli.main, sys; print(sorted({heavy} & set(sys.modules)))"
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
    assert "compute/plain.py" in found
    assert found | {"compute/lanes.py"} <= set(SHARED)
