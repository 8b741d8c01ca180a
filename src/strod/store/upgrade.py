"""Records of older formats in the words of the newest.

Format 3 had no numbers of topics (a path was the rank by weight) and other names for some fields.
"""

from __future__ import annotations

from typing import Any

__all__ = ["OLDEST", "upgraded_manifest", "upgraded_revision", "upgraded_split"]

OLDEST = 3
_TOPIC = {"parts": "components", "heads": "top_words", "bids": "path_scores"}


def _renamed(entry: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in entry.items()}


def upgraded_manifest(content: dict[str, Any]) -> dict[str, Any]:
    """A manifest as the newest version writes it.

    It did not always say which segments were added; then they are all but the first.
    """
    tree = content.get("tree")
    corpora = [content.get("corpus")]
    if isinstance(tree, dict) and isinstance(tree.get("corpora"), dict):
        corpora += tree["corpora"].values()
    for about in corpora:
        found = about.get("segments") if isinstance(about, dict) else None
        for number, segment in enumerate(found if isinstance(found, list) else ()):
            if isinstance(segment, dict):
                segment.setdefault("added", number > 0)
    return content


def upgraded_revision(content: dict[str, Any]) -> dict[str, Any]:
    """A revision as the newest version writes it."""
    if "version" in content:
        return content
    topics = [_renamed(entry, _TOPIC) for entry in content["topics"]]
    ranks = {
        child: rank for entry in topics for rank, child in enumerate(entry.get("children", ()), 1)
    }
    for entry in topics:
        entry["number"] = ranks.get(entry["id"], 0)
        entry["last_number"] = len(entry.get("children", ()))
    return content | {"version": OLDEST, "topics": topics}


def upgraded_split(content: dict[str, Any]) -> dict[str, Any]:
    """A decomposition as the newest version writes it."""
    if "version" in content:
        return content
    return _renamed(content, {"parts": "components"}) | {"version": OLDEST}
