"""Interpretability: what can be measured of it without people (section 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod.experiments.cells import Cell
from strod.experiments.measure import Build, built
from strod.experiments.methods import BASELINES, intrusion, iterations, scores
from strod.experiments.table import Column, Panel, Result
from strod.experiments.timing import seconds, whole
from strod.workspace import Workspace

if TYPE_CHECKING:
    from strod.experiments.cells import Context
    from strod.experiments.corpora import Texts

__all__ = ["interpretability", "means"]

Row = dict[str, Any]

SCORES = {
    "npmi_1": "NPMI 1",
    "npmi_leaves": "NPMI leaves",
    "c_v_leaves": "C_V leaves",
    "phrase_npmi_leaves": "phrase NPMI leaves",
    "diversity": "diversity",
    "sibling_diversity": "sibling diversity",
    "nmi_1": "NMI 1",
    "nmi_leaves": "NMI leaves",
    "purity_leaves": "purity leaves",
    "phrase_intrusion": "phrase intrusion",
    "topic_intrusion": "topic intrusion",
}


def interpretability(context: Context) -> tuple[list[Cell], Any]:
    """Scores of all methods."""
    methods = context.methods(("strod", "strod-paper", *BASELINES), {})
    cells = [
        _cell(context, texts, method, seed)
        for texts in context.corpora
        for method in methods
        for seed in range(context.settings.runs or 1)
    ]
    return cells, lambda rows: _result(context, means(rows))


def _cell(context: Context, texts: Texts, method: str, seed: int) -> Cell:
    settings = context.settings
    documents = min(settings.plan.sample, texts.documents)

    def work() -> Row:
        steps = iterations(method, settings.plan.iterations)
        out = context.work / "scored.strod"
        one = Build(
            texts.part(documents),
            out,
            method,
            settings.children,
            seed=seed,
            iterations=steps,
            phrases=True,
            labelled=texts.labelled,
        )
        found = built(one, settings)
        if found["status"] != "ok":
            return found
        workspace = Workspace(out)
        values = named(scores(workspace, "label" if texts.labelled else None), intrusion(workspace))
        return found | values

    row = {
        "corpus": texts.name,
        "method": method,
        "documents": documents,
        "children": settings.children,
        "seed": seed,
    }
    return Cell(row, context.key(texts, method, timed=False), work)


def named(report: dict[str, Any], intruders: dict[str, Any]) -> Row:
    """The scores that the table shows, out of those of `strod.evaluate` and `strod.intrusion`."""
    top = next((level for level in report["levels"] if level["level"] == 1), None)
    leaves, last = report["leaves"], report["levels"][-1:]
    found = {
        "npmi_1": top and top["words"]["npmi"],
        "npmi_leaves": leaves["words"]["npmi"],
        "c_v_leaves": leaves["words"]["c_v"],
        "phrase_npmi_leaves": leaves["phrases"]["npmi"],
        "diversity": leaves["diversity"],
        "sibling_diversity": last[0]["sibling_diversity"] if last else None,
        "phrase_intrusion": intruders["phrase"]["accuracy"],
        "topic_intrusion": intruders["topic"]["accuracy"],
    }
    return found | _agreement(report["labels"])


def means(rows: list[Row]) -> list[Row]:
    """One row for the runs of a method on a corpus: the means of those that were not stopped."""
    held: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        held.setdefault((row["corpus"], row["method"]), []).append(row)
    return [_mean([row for row in some if row["status"] == "ok"] or some) for some in held.values()]


def _mean(rows: list[Row]) -> Row:
    found = {name: value for name, value in rows[0].items() if name != "seed"}
    for name in (*SCORES, "tree_seconds"):
        values = [row[name] for row in rows if row.get(name) is not None]
        if values:
            found[name] = sum(values) / len(values)
    return found | {"runs": len(rows)}


def _agreement(labels: list[dict[str, Any]]) -> Row:
    """Level 1 against the most general step of the label, leaves against the most specific."""
    if not labels:
        return {}
    deepest = max(one["depth"] for one in labels)
    found = {(one["level"], one["depth"]): one for one in labels}
    top, leaves = found.get((1, 1), {}), found.get((None, deepest), {})
    if top.get("classes") == 1:  # as in samples of a part: there is nothing to agree with
        top = {}
    return {
        "nmi_1": top.get("nmi"),
        "nmi_leaves": leaves.get("nmi"),
        "purity_leaves": leaves.get("purity"),
    }


def _result(context: Context, rows: list[Row]) -> Result:
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("documents", "documents", whole),
        Column("runs", "runs"),
        *(Column(key, heading, lambda value: f"{value:.3f}") for key, heading in SCORES.items()),
        Column("topics", "topics"),
        Column("iterations", "iterations", whole),
        Column("tree_seconds", "tree, s", seconds),
        Column("note", "note"),
    ]
    panels = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        lines: dict[str, list[tuple[Any, float]]] = {}
        for row in rows:
            if row["corpus"] == corpus and row["status"] == "ok":
                names = (
                    "phrase_intrusion",
                    "topic_intrusion",
                    "npmi_leaves",
                    "diversity",
                    "nmi_leaves",
                )
                lines[row["method"]] = [
                    (SCORES[name].replace(" ", "\n"), row[name])
                    for name in names
                    if row.get(name) is not None
                ]
        panels.append(Panel(corpus, "", "score", lines, bars=True))
    notes = [*context.notes, INTRUSION, LABELS]
    return Result("interpretability", "Interpretability", columns, rows, panels, notes)


INTRUSION = (
    "intrusion is automatic: the option that occurs least with the others is taken for the "
    "intruder; the paper asked people (strod intrusion makes such a study)"
)
LABELS = (
    "NMI 1: topics of level 1 against the first step of the label; NMI and purity of leaves "
    "against the whole label; diversity: share of distinct words in the lists of the leaves"
)
