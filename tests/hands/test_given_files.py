"""Small files that a person names: what is no file, or has no end, is refused at once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from strod.errors import InputError
from strod.intrusion.answers import read_key
from strod.store import files
from tests.conftest import check_error, json_lines, strod_process

if TYPE_CHECKING:
    from pathlib import Path


def odd(folder: Path, kind: str) -> Path:
    path = folder / "odd"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["pipe", "folder", "zeros"])
@pytest.mark.parametrize("command", ["score", "key", "stopwords"])
def test_what_is_no_file(tmp_path: Path, kind: str, command: str) -> None:
    path, source = odd(tmp_path, kind), tmp_path / "t.jsonl"
    source.write_bytes(json_lines({"text": "river"}))
    if command == "stopwords":
        ended = strod_process("build", source, "-o", tmp_path / "w", "--stopwords", path)
    else:
        answers = path if command == "score" else source
        ended = strod_process("intrusion", "score", answers, "--key", path)
    assert ended.code == 2
    check_error(ended, "odd")


def test_what_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_SMALL", 1 << 20)
    path = tmp_path / "words.txt"
    path.write_bytes(b"x\n" * (1 << 19))
    assert len(files.read_given(path)) == 1 << 20
    path.write_bytes(b"x\n" * (1 << 19) + b"x")
    with pytest.raises(OSError, match="more than 1 MB"):
        files.read_given(path)


@pytest.mark.parametrize("options", [10, 10**8, 10**25])
def test_a_question_with_too_many_options(tmp_path: Path, options: int) -> None:
    question: dict[str, Any] = {"method": 0, "kind": "phrase", "topic": "o/1", "level": 1}
    key = {"format": "strod intrusion key", "version": 1, "study": "a", "methods": [{"name": "w"}]}
    path = tmp_path / "s.key.json"
    path.write_text(json.dumps(key | {"questions": [question | {"options": 9, "answer": 1}]}))
    assert read_key(path).questions[0].options == 9
    path.write_text(json.dumps(key | {"questions": [question | {"options": options, "answer": 1}]}))
    with pytest.raises(InputError, match="damaged"):
        read_key(path)
