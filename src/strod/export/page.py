"""One page of HTML that opens anywhere and asks nobody for anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod import pages
from strod.export.names import name_of, phrases_of, topics_of
from strod.export.samples import samples
from strod.progress import Progress, Silent
from strod.wording import sizes

if TYPE_CHECKING:
    from strod.export.samples import Sample
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["page"]

PHRASES, WORDS, DOCUMENTS = 10, 12, 5
_TEASER = 4  # phrases beside the name of a closed topic


def page(
    workspace: Workspace,
    phrases: int | None = None,
    documents: int | None = None,
    progress: Progress | None = None,
) -> str:
    """The tree with phrases, words and documents; `phrases` 0 means all."""
    corpus, tree = workspace.corpus, workspace.tree
    listed = PHRASES if phrases is None else phrases
    found = samples(workspace, DOCUMENTS if documents is None else documents, progress or Silent())
    language = workspace.manifest.corpus.settings.language
    return pages.page(
        "tree",
        name=workspace.path.stem,
        about=sizes(corpus.documents, corpus.tokens, len(tree) - 1),
        language="" if language == "none" else language,
        rows=[_row(topic, listed, found.get(topic.id, [])) for topic in topics_of(tree)],
    )


def _row(topic: Topic, number: int, documents: list[Sample]) -> dict[str, Any]:
    """A topic, and what is read of it."""
    name, phrases = name_of(topic), phrases_of(topic, number)
    return {
        "topic": topic,
        "name": name,
        "phrases": phrases,
        "teaser": [text for text in phrases if text not in name][:_TEASER],
        "words": [word for word, _ in topic.top(WORDS)],
        "documents": documents,
    }
