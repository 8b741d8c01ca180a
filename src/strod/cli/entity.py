"""``strod entity``: the topics of an author, a venue or another name."""

from __future__ import annotations

import typer

from strod.cli import ask
from strod.cli.console import output
from strod.cli.options import Json, Quiet, WorkspacePath
from strod.wording import counted, json_text

__all__ = ["entity"]


def entity(
    workspace: WorkspacePath,
    field: str = typer.Argument(..., metavar="FIELD", help="A list or a category: authors."),
    name: str = typer.Argument(..., metavar="NAME", help="As it is written there."),
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the topics of an entity: where its documents are, and how much more than usual.

    \b
    Examples:
      strod entity papers.strod authors "A. Turing"
      strod entity papers.strod category cs.LG --json
    """
    from strod.query.entities import entity_topics

    with ask.progress(quiet=quiet) as progress:
        documents, table = entity_topics(ask.opened(workspace, progress), field, name)
    rows = table.to_pylist()
    if as_json:
        content = {"field": field, "name": name, "documents": documents, "topics": rows}
        print(json_text(content))
        return
    console = output()
    console.print(f"{name}: {counted(documents, 'document')}")
    wide = max(len(row["path"]) for row in rows)
    for row in rows[1:]:  # the root has them all
        numbers = f"{row['documents']:>9,}  ×{row['lift']:<8.2f}"
        line = f"{row['path']:<{wide}} {numbers} {row['label'] or ''}"
        console.print(line, soft_wrap=True)
