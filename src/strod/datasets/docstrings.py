"""Documents from the docstrings of installed Python packages.

The source files are parsed, never imported or executed. Every machine with
Python has this text, so it serves as a corpus that needs no download.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import sysconfig
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strod.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["SourceFile", "clean", "docstrings", "folder_files", "records", "source_files"]

PACKAGES = ("stdlib", "numpy", "scipy")

_SKIPPED_FOLDERS = frozenset(
    {"test", "tests", "__pycache__", "idlelib", "lib2to3"}
    | {"_bundled", "_vendor", "vendor", "_vendored", "extern", "externals"}
    | {"array_api_compat", "array_api_extra", "cobyqa", "pyprima", "_uarray"}
)
# The parser reports nesting that is too deep as a MemoryError too.
_UNPARSABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)

_DIRECTIVE = re.compile(
    r"^(?P<indent>[ \t]*)\.\.[ ]+"
    r"(?:(?:versionadded|versionchanged|deprecated)::[ \t]*v?[\d.]*"
    r"|[\w:.+-]+::[ \t]*|_[^:\n]+:[ \t]*|(?=\[))"
    r"(?P<rest>.*)(?:\n[ \t]+:[\w-]+:(?:[ \t].*)?$)*",
    re.MULTILINE,
)
_UNDERLINE = re.compile(r"^[ \t]*([-=~^*#+\"'])(?:\1|[ \t+|])+(?:\n|\Z)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*\w[\w ]{0,30}\n[ \t]*([-=~])\1{2,}[ \t]*(?:\n|\Z)", re.MULTILINE)
_ROLE_TITLE = re.compile(r":[\w:.+-]+:`([^`<]+?)\s*<[^`>]*>`")
_ROLE = re.compile(r":[\w:.+-]+:`[~!]?([^`]+)`")
_LITERAL = re.compile(r"(`{1,2})(?!`)([^`]+?)\1_{0,2}(?!`)")
_CITATION = re.compile(r"(\[[\w.#*-]+\])_(?!\w)")
_BLOCK_MARKER = re.compile(r"::[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\(\w+\)s|\$\{\w+\}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


class SourceFile(NamedTuple):
    """One Python file to read.

    Attributes
    ----------
    package : str
        Name the package was asked for by, such as ``"stdlib"``.
    module : str
        Dotted path of the module, such as ``"json.decoder"``.
    path : Path
        Where the file is.
    """

    package: str
    module: str
    path: Path


class _Document(NamedTuple):
    id: str
    module: str
    text: str


def docstrings(
    packages: Sequence[str] = PACKAGES, *, minimum_words: int = 20
) -> Iterator[dict[str, str]]:
    """Yield one record per docstring of the given packages.

    Parameters
    ----------
    packages : sequence of str
        ``"stdlib"`` or the names of top-level packages. A package that is not
        installed is skipped.
    minimum_words : int
        Texts with fewer words, after cleaning, are left out.

    Yields
    ------
    dict
        The keys are ``id`` (``"numpy.linalg._linalg.norm"``), ``text``,
        ``package`` (``"numpy"``) and ``module`` (``"numpy.linalg._linalg"``).
        Names are those of the file a definition is in, not the ones it is
        exported under: these are known only after an import.
    """
    return records(source_files(packages), minimum_words=minimum_words)


def source_files(packages: Sequence[str] = PACKAGES) -> list[SourceFile]:
    """List the files to read, by package as given, then by module.

    Parameters
    ----------
    packages : sequence of str
        ``"stdlib"`` or the names of top-level packages.

    Returns
    -------
    list of SourceFile
        Its length is the total for a progress bar around `records`.

    Raises
    ------
    UsageError
        If a name is dotted: finding a subpackage would import its parent.
    """
    roots = [(_root(package), package) for package in packages]
    return [file for root, name in roots if root for file in folder_files(root, name)]


def folder_files(root: Path, package: str) -> list[SourceFile]:
    """List the files of one package folder, sorted by module.

    Parameters
    ----------
    root : Path
        Folder of the package.
    package : str
        Name of the package. Modules start with it, except for ``"stdlib"``.

    Returns
    -------
    list of SourceFile
        Tests and vendored code are left out.
    """
    prefix = () if package == "stdlib" else (package,)
    files = [
        SourceFile(package, _module((*prefix, *path.relative_to(root).parts)), path)
        for path in _python_files(root)
    ]
    return sorted(files, key=lambda file: file.module)


def records(files: Iterable[SourceFile], *, minimum_words: int = 20) -> Iterator[dict[str, str]]:
    """Yield the records of the given files, in their order.

    Parameters
    ----------
    files : iterable of SourceFile
        Read one by one, so it may be wrapped in a progress bar.
    minimum_words : int
        Texts with fewer words, after cleaning, are left out.

    Yields
    ------
    dict
        As for `docstrings`. An id or a text that came before is skipped.
    """
    ids: set[str] = set()
    texts: set[str] = set()
    for file in files:
        for found in _documents(file):
            text = clean(found.text)
            if found.id in ids or text in texts or len(text.split()) < minimum_words:
                continue
            ids.add(found.id)
            texts.add(text)
            yield {"id": found.id, "text": text, "package": file.package, "module": found.module}


def clean(text: str) -> str:
    """Reduce a docstring to its prose.

    Parameters
    ----------
    text : str
        A docstring without common indentation.

    Returns
    -------
    str
        The text without doctests, underlines, roles, directive markers and
        template placeholders. Paragraphs are kept.
    """
    text = _drop_doctests(text)
    text = _DIRECTIVE.sub(r"\g<indent>\g<rest>", text)
    text = _HEADING.sub("\n", text)
    text = _UNDERLINE.sub("", text)
    text = _ROLE.sub(r"\1", _ROLE_TITLE.sub(r"\1", text))
    text = _LITERAL.sub(r"\2", text)
    text = _BLOCK_MARKER.sub(":", _CITATION.sub(r"\1", text))
    text = _PLACEHOLDER.sub("", text)
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", text).strip()


def _drop_doctests(text: str) -> str:
    kept: list[str] = []
    inside = after = False
    for line in text.split("\n"):
        start = line.lstrip()
        if _is_prompt(start, after=after):
            inside = after = True
        elif not start:
            inside = False
        elif not inside:
            after = False
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def _is_prompt(line: str, *, after: bool) -> bool:
    # A "..." line is a prompt only when it goes on after a doctest; elsewhere
    # it is an ellipsis in prose.
    return line.startswith(">>>") or (after and re.match(r"\.\.\.(\s|$)", line) is not None)


def _root(package: str) -> Path | None:
    if package == "stdlib":
        return Path(sysconfig.get_path("stdlib"))
    if "." in package:
        top = package.partition(".")[0]
        raise UsageError(f"{package!r} is not a top-level package: give {top!r}")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _python_files(root: Path) -> Iterator[Path]:
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if _wanted_folder(name)]
        yield from (Path(folder, name) for name in names if _wanted_file(name))


def _module(parts: Sequence[str]) -> str:
    return ".".join(parts).removesuffix(".py").removesuffix(".__init__")


def _wanted_folder(name: str) -> bool:
    # Folders that are no identifiers cannot hold modules of the package:
    # site-packages, lib-dynload, config-3.11-x86_64-linux-gnu.
    return name.isidentifier() and name not in _SKIPPED_FOLDERS


def _wanted_file(name: str) -> bool:
    is_test = name == "conftest.py" or name.startswith("test_")
    return name.endswith(".py") and name[:-3].isidentifier() and not is_test


def _documents(file: SourceFile) -> list[_Document]:
    tree = _parse(file.path)
    if tree is None:
        return []
    try:
        return list(_in_definition(tree, file.module, file))
    except RecursionError:
        return []


def _parse(path: Path) -> ast.Module | None:
    try:
        source = path.read_bytes()
        # Parsing is most of the work, and such files have no docstrings of
        # any length.
        if b'"""' not in source and b"'''" not in source:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except _UNPARSABLE:
        return None


_Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _in_definition(node: _Definition, name: str, file: SourceFile) -> Iterator[_Document]:
    text = ast.get_docstring(node)
    if text:
        yield _Document(name, file.module, text)
    yield from _in_block(node, name, file)


def _in_block(node: ast.AST, name: str, file: SourceFile) -> Iterator[_Document]:
    for child in _statements(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _in_definition(child, f"{name}.{child.name}", file)
        elif isinstance(child, ast.Expr):
            yield from _in_call(child.value, file)
        else:
            yield from _in_block(child, name, file)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    # Walking statements only, and not their expressions, is several times
    # faster than ast.walk.
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        yield from getattr(node, field, ())


def _in_call(call: ast.expr, file: SourceFile) -> Iterator[_Document]:
    """Yield the documents given to a call of a function named add_newdoc..."""
    if not (isinstance(call, ast.Call) and _function_name(call).startswith("add_newdoc")):
        return
    names = [_literal(argument) for argument in call.args[:-1]]
    place = _place([name for name in names if name is not None], file)
    if place is None or None in names:
        return
    module, owner = place
    for member, text in _texts(call.args[-1]):
        yield _Document(".".join(filter(None, (module, owner, member))), module, text)


def _function_name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _place(names: list[str], file: SourceFile) -> tuple[str, str] | None:
    """Return the module and the object that an add_newdoc call is about.

    NumPy gives the module first; other functions of this name give only the
    object, which is then one of the package around the calling module.
    """
    if not names:
        return None
    if len(names) > 1 and names[0].partition(".")[0] == file.package:
        return names[0], names[1]
    return file.module.rpartition(".")[0] or file.module, names[0]


def _texts(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield (member, text) of a document, a (member, text) pair or a list of pairs."""
    match node:
        case ast.List(elts=items):
            for item in items:
                yield from _texts(item)
        case ast.Tuple(elts=[first, second]):
            member = _literal(first)
            if member is not None:
                yield from ((member, text) for _, text in _texts(second))
        case _:
            text = _literal(node)
            if text is not None:
                yield "", inspect.cleandoc(text)


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    # A template filled in place: """...""".replace("${X}", X)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _literal(node.func.value)
    return None
