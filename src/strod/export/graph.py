"""GraphML: topics as nodes, for networkx, Gephi, yEd and Cytoscape."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from strod.export.names import name_of, phrases_of, topics_of
from strod.wording import plain, referenced

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["graphml"]

_KEYS = {
    "label": "string",
    "path": "string",
    "level": "int",
    "weight": "double",
    "documents": "long",
    "phrases": "string",
}


def graphml(workspace: Workspace, phrases: int | None = None) -> str:
    """The tree as a directed graph from parents to children."""
    root = ET.Element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for name, kind in _KEYS.items():
        about = {"id": name, "for": "node", "attr.name": name, "attr.type": kind}
        ET.SubElement(root, "key", about)
    graph = ET.SubElement(root, "graph", {"id": "topics", "edgedefault": "directed"})
    topics = topics_of(workspace.tree)
    for topic in topics:
        _add_node(graph, topic, phrases)
    for topic in topics:
        if topic.parent is not None:
            ET.SubElement(
                graph, "edge", {"source": plain(topic.parent.id), "target": plain(topic.id)}
            )
    ET.indent(root, " ")
    text = referenced(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_node(graph: ET.Element, topic: Topic, phrases: int | None) -> None:
    values = {
        "label": plain(name_of(topic)),
        "path": plain(topic.path),
        "level": str(topic.level),
        "weight": repr(topic.weight),
        "documents": str(topic.documents),
        "phrases": plain("; ".join(phrases_of(topic, phrases))),
    }
    node = ET.SubElement(graph, "node", {"id": plain(topic.id)})
    for name, value in values.items():
        ET.SubElement(node, "data", {"key": name}).text = value
