"""One page of HTML that opens anywhere and asks nobody for anything."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from strod.export.names import escaped, name_of, phrases_of
from strod.export.samples import samples
from strod.progress import Progress, Silent
from strod.wording import counted, percent, sizes

if TYPE_CHECKING:
    from strod.export.samples import Sample
    from strod.hierarchy import Topic
    from strod.workspace import Workspace

__all__ = ["page"]

PHRASES, WORDS, DOCUMENTS = 10, 12, 5
_TEASER = 4  # phrases beside the name of a closed topic
_OPEN = 2  # levels that are open at first
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(
    workspace: Workspace,
    phrases: int | None = None,
    documents: int | None = None,
    progress: Progress | None = None,
) -> str:
    """The tree with phrases, words and documents; `phrases` 0 means all."""
    number = DOCUMENTS if documents is None else documents
    writer = _Writer(
        PHRASES if phrases is None else phrases, samples(workspace, number, progress or Silent())
    )
    language = workspace.manifest["corpus"]["settings"]["language"]
    code = "" if language == "none" else language
    tree = f'<ul class="tree" role="list" lang="{escaped(code)}">{writer.item(workspace.tree.root)}'
    return _framed(workspace, f"{tree}</ul>")


def _framed(workspace: Workspace, tree: str) -> str:
    """The page around the tree."""
    corpus, title = workspace.corpus, escaped(workspace.path.stem)
    about = sizes(corpus.documents, corpus.tokens, len(workspace.tree) - 1)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="strod">
<title>{title}: topics</title>
<style>
{_resource("page.css")}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{about}</p>
<div class="tools" role="search" hidden>
<label for="filter">Find topics by phrase</label>
<input id="filter" type="search" autocomplete="off" spellcheck="false">
<button type="button" id="open">Open all</button>
<button type="button" id="close">Close all</button>
<span id="found" role="status"></span>
</div>
</header>
<main>
{tree}
</main>
<script>
{_resource("page.js")}</script>
</body>
</html>
"""


def _resource(name: str) -> str:
    return (files("strod.export") / name).read_text(encoding="utf-8")


class _Writer:
    """Writes topics as items of nested lists."""

    def __init__(self, phrases: int, documents: dict[str, list[Sample]]) -> None:
        self._phrases, self._documents = phrases, documents

    def item(self, topic: Topic) -> str:
        """A topic and all below it."""
        shown = " open" if topic.level < _OPEN else ""
        children = "".join(map(self.item, topic.children))
        below = f'<ul role="list">{children}</ul>' if children else ""
        return (
            f'<li class="topic"><details{shown}>{self._summary(topic)}'
            f'<div class="about">{self._about(topic)}</div>{below}</details></li>\n'
        )

    def _summary(self, topic: Topic) -> str:
        name = name_of(topic)
        others = [text for text in phrases_of(topic, self._phrases) if text not in name]
        teaser = ", ".join(others[:_TEASER])
        return (
            f'<summary><span class="path">{escaped(topic.path)}</span> '
            f'<span class="name" dir="auto">{escaped(name)}</span> '
            f'<span class="teaser" aria-hidden="true">{escaped(teaser)}</span> '
            f'<span class="bar" aria-hidden="true">'
            f'<span style="width:{100 * topic.weight:.1f}%"></span></span> '
            f'<span class="weight">{escaped(percent(topic.weight))}</span></summary>'
        )

    def _about(self, topic: Topic) -> str:
        phrases = "".join(
            f'<li dir="auto">{escaped(text)}</li>' for text in phrases_of(topic, self._phrases)
        )
        words = escaped(", ".join(word for word, _ in topic.top(WORDS)))
        return (
            (f'<ul class="phrases" role="list">{phrases}</ul>' if phrases else "")
            + f'<p class="words"><b lang="en">Words</b> <span dir="auto">{words}</span></p>'
            + self._samples(topic)
        )

    def _samples(self, topic: Topic) -> str:
        """The documents with the largest share, closed at first: children come right below."""
        found = self._documents.get(topic.id, [])
        if not found:
            return ""
        rows = "".join(
            f'<li><span class="share">{escaped(percent(one.share))}</span> '
            f"<code>{escaped(one.id)}</code> "
            f'<span dir="auto">{escaped(one.text)}</span></li>'
            for one in found
        )
        count = f"{counted(topic.documents, 'document')}; the {len(found)} closest"
        return (
            f'<details class="documents"><summary lang="en">{count}</summary>'
            f"<ul>{rows}</ul></details>"
        )
