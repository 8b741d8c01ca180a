"""Shapes of answers, written as Python values and given as JSON Schema.

``int`` stands for a number of documents, ``{"a": str}`` for an object that has ``a`` and maybe
more, ``[x]`` for an array, ``{str: x}`` for an object by names, ``(x, None)`` for one or the other.
"""

from __future__ import annotations

from typing import Any

__all__ = ["schema_of"]

_PLAIN = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    dict: "object",
    list: "array",
    None: "null",
}


def schema_of(shape: Any) -> dict[str, Any]:
    """JSON Schema of a shape."""
    if shape is Any:
        return {}
    if isinstance(shape, tuple):
        return {"anyOf": [schema_of(one) for one in shape]}
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0])}
    if isinstance(shape, dict):
        if list(shape) == [str]:
            return {"type": "object", "additionalProperties": schema_of(shape[str])}
        return {
            "type": "object",
            "properties": {name: schema_of(one) for name, one in shape.items()},
            "required": list(shape),
        }
    return {"type": _PLAIN[shape]}


_LABEL = (str, None)
_NEIGHBOUR = {"path": str, "label": _LABEL, "weight": float, "documents": int, "phrases": [str]}
_META = {str: Any}
_PLACED = {"number": int, "id": str, "leaf": _LABEL, "leaf_label": _LABEL, "meta": _META}
_SERIES = [[Any]]  # bucket, documents, share

WORKSPACE = {
    "name": str,
    "revision": int,
    "etag": str,
    "documents": int,
    "words": int,
    "topics": int,
    "meta": {str: str},
    "date_field": _LABEL,
    "read_only": bool,
    "can_search": bool,
    "undo": bool,
    "redo": bool,
    "version": str,
}
TREE = {
    "revision": int,
    "topics": {
        "id": [str],
        "path": [str],
        "parent": [int],
        "label": [_LABEL],
        "weight": [float],
        "documents": [int],
        "pinned": [int],
        "named": [int],
        "trend": ([[float]], None),
    },
    "buckets": (list, None),
}
TOPIC = {
    "id": str,
    "path": str,
    "parent": _LABEL,
    "level": int,
    "label": _LABEL,
    "named": bool,
    "pinned": bool,
    "weight": float,
    "alpha": float,
    "alpha0": float,
    "documents": int,
    "rest": float,
    "reason": str,
    "sha256": str,
    "phrases": [[Any]],
    "words": [[Any]],
    "children": [_NEIGHBOUR],
    "siblings": [_NEIGHBOUR],
    "entities": {str: [[Any]]},
    "trend": (
        {"field": str, "slope": float, "low": float, "high": float, "series": _SERIES},
        None,
    ),
    "command": str,
}
DOCUMENTS = {
    "total": int,
    "documents": [{**_PLACED, "share": float, "text": str}],
    "command": str,
}
DOCUMENT = {
    **_PLACED,
    "topics": {str: float},
    "text": str,
    "length": int,
    "words": [[Any]],
    "command": str,
}
SEARCH = {
    "query": str,
    "total": int,
    "topics": [{"path": str, "label": _LABEL, "hits": int, "lift": float}],
    "named": [{"path": str, "label": _LABEL, "phrases": [str]}],
    "documents": [{**_PLACED, "score": float, "snippet": [[Any]]}],
    "command": str,
}
SLICE = {"by": [str], "columns": [str], "measure": str, "rows": [dict], "command": str}
TRENDS = {
    "field": str,
    "rows": [
        {
            "topic": str,
            "label": _LABEL,
            "slope": float,
            "low": float,
            "high": float,
            "series": _SERIES,
        }
    ],
    "bursts": [dict],
    "command": str,
}
ENTITY = {
    "field": str,
    "name": str,
    "documents": int,
    "topics": [{"path": str, "label": _LABEL, "documents": int, "lift": float}],
    "command": str,
}
FIELDS = {"fields": [{"name": str, "kind": str, "values": [[Any]]}]}
HISTORY = {"entries": [{"revision": int, "what": str, "when": str, "note": str, "undone": bool}]}
REPORT = {"settings": dict, "versions": {str: str}}
COMPARE = {
    "kind": str,
    "a": dict,
    "b": dict,
    "only_a": [dict],
    "only_b": [dict],
    "changed": [{"path": str, "label": _LABEL, "before": float, "after": float}],
    "words": [[Any]],
    "command": str,
}
PREVIEW = {"plan": str, "revision": int, "change": dict, "command": str}
APPLIED = {"revision": int, "change": dict}
JOB = {"id": str, "state": str, "stage": str, "done": int, "total": int}
STARTED = {"job": str}
ENDING = {"ending": bool}
ERROR = {"error": str}
CONFLICT = {"error": str, "revision": int}
