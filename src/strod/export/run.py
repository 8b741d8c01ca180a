"""Exporting a workspace: the formats there are, and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.export.concepts import skos
from strod.export.files import new_folder, write_file
from strod.export.graph import graphml
from strod.export.outline import markdown
from strod.export.page import page
from strod.export.samples import samples
from strod.export.tables import is_table, write_tables
from strod.progress import Progress, Silent
from strod.store.manifest import is_workspace
from strod.wording import json_text
from strod.workspace.summary import as_dictionary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from strod.workspace.workspace import Workspace

__all__ = ["FORMATS", "export"]


@dataclass(frozen=True)
class _Chosen:
    """What was asked for."""

    phrases: int | None
    documents: int | None
    base: str | None
    progress: Progress


def _json(workspace: Workspace, chosen: _Chosen) -> str:
    content = as_dictionary(workspace, phrases=chosen.phrases)
    if chosen.documents is not None:
        found = samples(workspace, chosen.documents, chosen.progress)
        for topic in content["topics"]:
            topic["examples"] = [one.as_dictionary() for one in found.get(topic["id"], ())]
    return json_text(content) + "\n"


_TEXTS: dict[str, Callable[[Workspace, _Chosen], str]] = {
    "json": _json,
    "markdown": lambda workspace, chosen: markdown(workspace, chosen.phrases),
    "graphml": lambda workspace, chosen: graphml(workspace, chosen.phrases),
    "skos": lambda workspace, chosen: skos(workspace, chosen.phrases, chosen.base),
    "html": lambda workspace, chosen: page(
        workspace, chosen.phrases, chosen.documents, chosen.progress
    ),
}
TABLES = ("csv", "parquet")
FOLDERS = (*TABLES, "site")
FORMATS = ("json", *TABLES, "markdown", "graphml", "skos", "html", "site")


def export(
    workspace: Workspace,
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    phrases: int | None = None,
    documents: int | None = None,
    base: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> str | None:
    """Write the tree of a workspace in a format of other tools.

    Parameters
    ----------
    workspace : Workspace
        What to export.
    to : str
        ``json``, ``csv`` or ``parquet`` (a folder with three tables), ``markdown``, ``graphml``,
        ``skos`` (Turtle), ``html`` (one page that needs nothing else) or ``site`` (a folder with
        the explorer, for any web server).
    out : path, optional
        File, or folder for tables and sites, to write; without it, the text is returned.
    phrases : int, optional
        Phrases of a topic; 0 means all. By default all, in ``markdown`` and ``html`` ten.
    documents : int, optional
        Documents of a topic in ``html``, five by default, in ``json``, by default none, and in
        ``site``, by default 3 to 100, fewer where there are more topics.
    base : str, optional
        What the URIs of ``skos`` begin with.
    overwrite : bool
        Whether an old file, folder of tables, or site may be replaced.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    str or None
        The text, if there is no `out`.
    """
    target = None if out is None else Path(out)
    chosen = _Chosen(phrases, documents, base, progress or Silent())
    _check(to, target, chosen)
    if target is None:
        return _TEXTS[to](workspace, chosen)
    if to in TABLES:
        with new_folder(target, is_table, overwrite=overwrite) as folder:
            write_tables(workspace, folder, to, chosen.progress, phrases)
    elif to == "site":
        _write_site(workspace, target, chosen, overwrite=overwrite)
    else:
        write_file(target, lambda: _TEXTS[to](workspace, chosen), overwrite=overwrite)
    return None


def _write_site(workspace: Workspace, target: Path, chosen: _Chosen, *, overwrite: bool) -> None:
    from strod.explorer.site import (  # noqa: PLC0415 - a door to what is above
        is_part_of_site,
        write_site,
    )

    with new_folder(target, is_part_of_site, overwrite=overwrite) as folder:
        write_site(workspace, folder, chosen.progress, chosen.documents)


def _check(to: str, target: Path | None, chosen: _Chosen) -> None:
    if to not in FORMATS:
        raise UsageError(f"`to` {to}: no such format; choose from {', '.join(FORMATS)}")
    if to in FOLDERS and target is None:
        raise UsageError(f"`to` {to}: writes a folder; name it with `out`")
    if chosen.documents is not None and to not in ("html", "json", "site"):
        few = "is for `to` html, json and site; csv and parquet have all of them"
        raise UsageError(f"`documents`: {few}")
    if chosen.phrases is not None and to == "site":
        raise UsageError("`phrases`: is not for `to` site, which has as many as the explorer shows")
    if chosen.base is not None and to != "skos":
        raise UsageError("`base`: is for `to` skos")
    if min(chosen.phrases or 0, chosen.documents or 0) < 0:
        raise UsageError("`phrases` and `documents`: must not be negative")
    if target and any(map(is_workspace, target.resolve().parents)):
        raise UsageError(f"{target}: is inside a workspace; write somewhere else")
