"""Tests of the corpus made from docstrings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from strod.datasets.docstrings import clean, docstrings, folder_files, records, source_files
from strod.errors import UsageError

MODULE = '''
"""Module text with enough words."""

raise RuntimeError("executed")

class Shape:
    """Class text with enough words."""

    def area(self):
        """Method text with enough words."""
        def inner():
            """Inner text with enough words."""

    def area(self):
        """Second text under one id."""

    def copied(self):
        """Method text with enough words."""

try:
    async def later():
        """Coroutine text with enough words."""
except ImportError:
    def fallback():
        """Fallback text with enough words."""

def short():
    """Two words."""
'''

NEWDOCS = '''
"""Documents given to calls, here."""

add_newdoc("shapes._core", "circle", """
    Circle text with enough words.
    """)
add_newdoc("shapes._core", "circle", ("radius", """Radius text with enough words."""))
add_newdoc("shapes._core", "circle", [("x", """First text with enough words."""),
                                      ("y", """Second text with enough words.""")])
add_newdoc("gamma", """Gamma text with enough words.""")
add_newdoc_for_scalar_type("byte", "(value=0, /)", """Byte text with enough words.""")
lib.add_newdoc("filled", """Filled ${LIKE} text with enough words.""".replace("${LIKE}", LIKE))
for name in names:
    add_newdoc("shapes._core", name, """Nameless text with enough words.""")
add_newdoc("shapes._core", "unknown", text)
add_newdoc("shapes._core", "circle", (name, """Nameless text with enough words."""))
add_newdoc()
add_newdoc("""Lonely text with enough words.""")
other("gamma", """Other text with enough words.""")
'''


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def read(root: Path, package: str = "shapes", minimum_words: int = 5) -> list[dict[str, str]]:
    return list(records(folder_files(root, package), minimum_words=minimum_words))


def ids(found: list[dict[str, str]]) -> list[str]:
    return [record["id"] for record in found]


def test_definitions_in_order_of_position(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"flat.py": MODULE}))
    assert ids(found) == [
        "shapes.flat",
        "shapes.flat.Shape",
        "shapes.flat.Shape.area",
        "shapes.flat.Shape.area.inner",
        "shapes.flat.later",
        "shapes.flat.fallback",
    ]
    assert found[2] == {
        "id": "shapes.flat.Shape.area",
        "text": "Method text with enough words.",
        "package": "shapes",
        "module": "shapes.flat",
    }


def test_minimum_words_counts_the_cleaned_text(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": '"""Two words.\n\n>>> one + two + three\n"""\n'})
    assert ids(read(root, minimum_words=2)) == ["shapes.a"]
    assert read(root, minimum_words=3) == []


def test_texts_given_to_calls(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"sub/_add_newdocs.py": NEWDOCS}))
    assert [(record["id"], record["module"]) for record in found[1:]] == [
        ("shapes._core.circle", "shapes._core"),
        ("shapes._core.circle.radius", "shapes._core"),
        ("shapes._core.circle.x", "shapes._core"),
        ("shapes._core.circle.y", "shapes._core"),
        ("shapes.sub.gamma", "shapes.sub"),
        ("shapes.sub.byte", "shapes.sub"),
        ("shapes.sub.filled", "shapes.sub"),
    ]
    assert found[1]["text"] == "Circle text with enough words."
    assert found[-1]["text"] == "Filled  text with enough words."


def test_files_are_sorted_by_module(tmp_path: Path) -> None:
    root = write(tmp_path, dict.fromkeys(["b.py", "a/z.py", "a/__init__.py", "__init__.py"], ""))
    modules = [file.module for file in folder_files(root, "shapes")]
    assert modules == ["shapes", "shapes.a", "shapes.a.z", "shapes.b"]


def test_stdlib_modules_have_no_prefix(tmp_path: Path) -> None:
    root = write(tmp_path, {"json/decoder.py": ""})
    assert [file.module for file in folder_files(root, "stdlib")] == ["json.decoder"]


@pytest.mark.parametrize(
    "name",
    [
        "test/a.py",
        "sub/tests/a.py",
        "test_a.py",
        "conftest.py",
        "site-packages/a.py",
        "idlelib/a.py",
        "lib2to3/a.py",
        "ensurepip/_bundled/a.py",
        "_vendor/a.py",
        "_lib/array_api_compat/a.py",
        "python-config.py",
        "a.pyi",
    ],
)
def test_skipped_files(tmp_path: Path, name: str) -> None:
    root = write(tmp_path, {name: MODULE, "kept.py": ""})
    assert [file.module for file in folder_files(root, "shapes")] == ["shapes.kept"]


@pytest.mark.parametrize(
    "source",
    [
        b'"""Five words of text here."""\ndef',
        b'"""Five words of text \xff here."""',
        b'"""Five words of text here."""\0',
        b'"""Five words of text here."""\n' + b"-" * 100_000 + b"1",
        b'"""Five words of text here."""\nif a: pass\n' + b"elif a: pass\n" * 2_000,
        b"'Five words of text here.'",
    ],
    ids=["syntax", "encoding", "null", "deep", "branches", "no triple quotes"],
)
def test_unreadable_files_are_skipped(tmp_path: Path, source: bytes) -> None:
    (tmp_path / "bad.py").write_bytes(source)
    write(tmp_path, {"good.py": '"""Good text with enough words."""'})
    assert ids(read(tmp_path)) == ["shapes.good"]


def test_invalid_escapes_do_not_warn(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    assert read(write(tmp_path, {"a.py": '"""Text with \\d an invalid escape."""'}))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A\n\n>>> f(1)\n... + 2\n3\n\nB", "A\n\nB"),
        ("A\n\n    >>> f(1)\n    3\n\n    B", "A\n\n    B"),
        (">>> for i in x:\n\n... print(i)\n0\n\nB", "B"),
        ("First\n... and so on", "First\n... and so on"),
        ("Returns\n-------\nx : int", "x : int"),
        ("Title\n=====\nText", "Text"),
        ("=====  ====\nname   use\n=====  ====", "name   use"),
        ("-1 is - 2", "-1 is - 2"),
        ("See :func:`~numpy.linalg.norm`.", "See numpy.linalg.norm."),
        ("See :py:class:`!Foo`, :ref:`the guide <guide>`.", "See Foo, the guide."),
        ("Use ``x.y`` or `z`.", "Use x.y or z."),
        ("A\n\n.. versionadded:: 1.2\n\nB", "A\n\nB"),
        (".. deprecated:: 1.2.0\n   Use g.", "Use g."),
        (".. note:: Mind this.", "Mind this."),
        (".. note::\n   :func:`f` is slow.", "f is slow."),
        (".. autosummary::\n   :toctree: generated/\n\n   f", "f"),
        ("As in [1]_.\n\n.. [1] A. Author", "As in [1].\n\n[1] A. Author"),
        ("For example::\n\n    x", "For example:\n\n    x"),
        ("A\n\n%(before_notes)s\n\nB", "A\n\nB"),
        ("A  \n\n\n\nB\nC", "A\n\nB\nC"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_real_package_of_the_standard_library() -> None:
    found = {
        record["id"]: record
        for record in read(Path(json.__file__).parent, "json", minimum_words=20)
    }
    assert found["json.dumps"]["module"] == "json"
    assert found["json.dumps"]["text"].startswith("Serialize obj to a JSON formatted str.")
    assert "json.decoder.JSONDecoder.raw_decode" in found
    assert all(">>>" not in record["text"] for record in found.values())


def test_packages_keep_their_order_and_missing_ones_are_skipped() -> None:
    files = source_files(["email", "no_such_package", "collections"])
    assert list(dict.fromkeys(file.package for file in files)) == ["email", "collections"]
    assert [file.module for file in source_files(["sys"])] == []


def test_standard_library_files() -> None:
    modules = {file.module for file in source_files(["stdlib"])}
    assert {"json.decoder", "collections", "os"} <= modules
    assert not any(module.startswith(("test.", "idlelib")) for module in modules)


def test_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"strod_fake_package/__init__.py": MODULE})
    monkeypatch.syspath_prepend(tmp_path)
    found = list(docstrings(["strod_fake_package"], minimum_words=5))
    assert len(found) == 6
    assert "strod_fake_package" not in sys.modules


def test_dotted_names_are_refused() -> None:
    with pytest.raises(UsageError, match="top-level"):
        source_files(["os.path"])
