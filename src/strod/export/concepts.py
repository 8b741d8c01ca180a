"""SKOS: the tree as a concept scheme, written as Turtle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.export.names import EVERYTHING, name_of, phrases_of, topics_of
from strod.wording import numbered

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["BASE", "skos"]

BASE = "urn:strod:topic:"
_PREFIXES = (
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    "@prefix dcterms: <http://purl.org/dc/terms/> .\n"
)
_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\\ud800-\udfff]*')
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_SPECIAL = re.compile(r'[\\"]')
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def skos(workspace: Workspace, phrases: int | None = None, base: str | None = None) -> str:
    """A concept for every topic, at `base` followed by its id."""
    base = BASE if base is None else base
    if not _IRI.fullmatch(base):
        raise UsageError(f"`base` {base}: is no URI; give one such as https://example.org/topics/")
    language = workspace.manifest.corpus.settings.language
    tag = f"@{language}" if language != "none" and _LANGUAGE.fullmatch(language) else ""
    scheme = _statements(
        _iri(base, "scheme"),
        [
            ("a", "skos:ConceptScheme"),
            ("dcterms:title", _literal(workspace.path.stem)),
            ("skos:hasTopConcept", _iri(base, workspace.tree.root.id)),
        ],
    )
    concepts = [
        _statements(_iri(base, topic.id), _about(topic, phrases, base, tag))
        for topic in topics_of(workspace.tree)
    ]
    return "\n".join([_PREFIXES, scheme, *concepts])


def _about(topic: Topic, phrases: int | None, base: str, tag: str) -> list[tuple[str, str]]:
    """Properties and values of a concept."""
    name, scheme = name_of(topic), _iri(base, "scheme")
    # What strod calls the root is English, whatever the text is.
    name_tag = "@en" if name == EVERYTHING and not topic.label else tag
    # SKOS wants preferred and hidden labels to be disjoint.
    others = [text for text in dict.fromkeys(phrases_of(topic, phrases)) if text != name]
    above = [] if topic.parent is None else [("skos:broader", _iri(base, topic.parent.id))]
    return [
        ("a", "skos:Concept"),
        ("skos:inScheme", scheme),
        *above,
        *([] if above else [("skos:topConceptOf", scheme)]),
        *[("skos:narrower", _iri(base, child.id)) for child in topic.children],
        ("skos:notation", _literal(topic.path)),
        ("skos:prefLabel", _literal(name) + name_tag),
        # Found in searches; not synonyms, which alternative labels would be.
        *[("skos:hiddenLabel", _literal(text) + tag) for text in others],
    ]


def _statements(subject: str, about: list[tuple[str, str]]) -> str:
    lines = " ;\n".join(f"    {name} {value}" for name, value in about)
    return f"{subject}\n{lines} .\n"


def _iri(base: str, name: str) -> str:
    """An address; what an IRI cannot hold is given by its number, as in an address on the web."""
    return f"<{base}{_NOT_IN_IRI.sub(lambda found: f'%{ord(found[0]):02X}', name)}>"


def _literal(text: str) -> str:
    """A quoted string; what Turtle does not take as it is gets escaped."""
    return '"' + numbered(_SPECIAL.sub(r"\\\g<0>", text)) + '"'
