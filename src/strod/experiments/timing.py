"""Runtime against tokens, height and width, and of the paper's variants (section 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod.experiments.cells import NOT_TRIED, Cell
from strod.experiments.measure import PATIENCE, Build, built, timed
from strod.experiments.methods import BASELINES
from strod.experiments.table import Column, Panel, Result
from strod.model.options import PAPER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strod.experiments.cells import Context
    from strod.experiments.corpora import Texts

__all__ = ["height", "scalability", "variants", "width"]

METHODS = ("strod", "splitlda", "cathy", "hpam")
VARIANTS = ("strod", "strod-paper", "rtod3", "rtod2", "rtod", "tod")
LEAST = 100  # documents of a subset

Row = dict[str, Any]


def whole(value: float) -> str:
    """12,345."""
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """Three figures."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


COLUMNS = [
    Column("corpus", "corpus"),
    Column("method", "method"),
    Column("documents", "documents", whole),
    Column("tokens", "tokens", whole),
    Column("children", "children"),
    Column("height", "height"),
    Column("vocabulary", "words", whole),
    Column("topics", "topics"),
    Column("tree_seconds", "tree, s", seconds),
    Column("seconds", "command, s", seconds),
    Column("times", "× strod", seconds),
    Column("memory", "peak, MB", lambda value: whole(value / 1e6)),
    Column("measured_iterations", "measured iterations"),
    Column("iterations", "iterations", whole),
    Column("factor", "factor", seconds),
    Column("note", "note"),
]


def scalability(context: Context) -> tuple[list[Cell], Any]:
    """Runtime against tokens: the corpus and its halves."""
    methods, halvings = context.methods(METHODS, {}), context.settings.plan.halvings
    cells = _grid(context, methods, "documents", lambda texts: _sizes(texts.documents, halvings))
    title = "Runtime against the number of tokens"
    return cells, lambda rows: _result(context, "scalability", title, rows, ["tokens"])


def _sizes(documents: int, halvings: int) -> list[int]:
    """The whole, a half, a quarter …, the smallest first."""
    sizes = [documents >> i for i in range(halvings)]
    return sorted(size for size in sizes if size >= min(LEAST, documents))


def height(context: Context) -> tuple[list[Cell], Any]:
    """Runtime against height and number of topics."""
    methods = context.methods(METHODS, {"hpam": "its trees have height 2 (as in the paper)"})
    cells = _grid(context, methods, "height", lambda _: context.settings.plan.heights)
    title = "Runtime against the height of the tree"
    return cells, lambda rows: _result(context, "height", title, rows, ["height", "topics"])


def width(context: Context) -> tuple[list[Cell], Any]:
    """Runtime against the number of children."""
    methods = context.methods(METHODS, {"ncrp": "it chooses the number of children itself"})
    cells = _grid(context, methods, "children", lambda _: context.settings.plan.widths)
    title = "Runtime against the number of children"
    return cells, lambda rows: _result(context, "width", title, rows, ["children"])


def variants(context: Context) -> tuple[list[Cell], Any]:
    """Runtime and memory of the paper's variants against the vocabulary."""
    methods = context.methods(VARIANTS, {})
    sizes = sorted(context.settings.plan.vocabularies, key=lambda size: (size == 0, size))
    cells = _grid(context, methods, "vocabulary", lambda _: sizes)
    title = "Runtime and memory of the paper's variants against the vocabulary"
    return cells, lambda rows: _result(
        context, "variants", title, rows, ["vocabulary"], ["tree_seconds", "memory"]
    )


def _grid(
    context: Context,
    methods: Sequence[str],
    varied: str,
    sizes: Callable[[Texts], Sequence[int]],
) -> list[Cell]:
    """A cell for each corpus, size of what is varied, and method."""
    return [
        _cell(context, texts, method, **{varied: size})
        for texts in context.corpora
        for size in sizes(texts)
        for method in methods
    ]


def _cell(context: Context, texts: Texts, method: str, *, documents: int = 0, **shape: int) -> Cell:
    settings = context.settings
    shape = {"children": settings.children, "height": 2, "vocabulary": 0} | shape
    documents = documents or texts.documents

    def work() -> Row:
        if (texts.name, method) in context.stopped:
            return {"status": "stopped", "note": NOT_TRIED}
        _warm(context, texts, method)
        source = texts.part(documents)
        one = Build(source, context.work / "timed.strod", method, **shape)  # type: ignore[arg-type]
        found = timed(one, settings)
        if found.get("topics") == 0:
            found["note"] = "no topics were found: left out of the comparison"
        if found["status"] == "stopped":
            context.stopped.add((texts.name, method))
        return found

    row = {
        "corpus": texts.name,
        "method": method,
        "documents": documents,
        "children": shape["children"],
        "height": shape["height"],
        "max_vocabulary": shape["vocabulary"],
    }
    return Cell(row, context.key(texts, method, timed=True), work)


def _warm(context: Context, texts: Texts, method: str) -> None:
    """Let a baseline compile what it has to, on a few documents, before it is timed."""
    if method in BASELINES and method not in context.warmed and not context.settings.quick:
        out = context.work / "timed.strod"
        built(Build(texts.part(LEAST), out, method, 2, iterations=1), context.settings)
        context.warmed.add(method)


TREE = (
    "tree: from word counts to a tree with every document placed, which is what methods differ in; "
    "command: all of strod build without phrases, start-up and reading included"
)
AXES = {
    "tokens": ("tokens", "x"),
    "height": ("height", ""),
    "topics": ("topics", "x"),
    "children": ("children of each topic", ""),
    "vocabulary": ("words of the vocabulary", "x"),
    "tree_seconds": ("seconds, from counts to tree", "y"),
    "memory": ("peak memory, MB", "y"),
}


def _result(
    context: Context,
    name: str,
    title: str,
    rows: list[Row],
    across: Sequence[str],
    up: Sequence[str] = ("tree_seconds",),
) -> Result:
    _compare(rows)
    panels = [
        panel
        for corpus in dict.fromkeys(row["corpus"] for row in rows)
        for x in across
        for y in up
        if (panel := _panel([r for r in rows if r["corpus"] == corpus], corpus, x, y)).lines
    ]
    if name == "scalability" and len(context.corpora) > 1:
        panels.append(_totals(rows))
    return Result(name, title, COLUMNS, rows, panels, [*context.notes, *_notes(context, rows)])


def _compare(rows: list[Row]) -> None:
    """How many times as long as strod a method takes under the same circumstances."""
    names = ("corpus", "documents", "children", "height", "max_vocabulary")
    ours = {
        tuple(row[n] for n in names): row["tree_seconds"]
        for row in rows
        if row["method"] == "strod" and row.get("tree_seconds") and row["topics"]
    }
    for row in rows:
        base = ours.get(tuple(row[n] for n in names))
        if base and row.get("tree_seconds") and row["topics"]:
            row["times"] = row["tree_seconds"] / base


def _panel(rows: list[Row], corpus: str, x: str, y: str) -> Panel:
    lines: dict[str, list[tuple[Any, float]]] = {}
    for row in rows:
        if row["status"] == "ok" and row["topics"] and row.get(y) is not None:
            value = row[y] / 1e6 if y == "memory" else row[y]
            lines.setdefault(_name(row), []).append((row[x], value))
    (x_name, x_scale), (y_name, y_scale) = AXES[x], AXES[y]
    return Panel(corpus, x_name, y_name, lines, x_scale + y_scale)


def _name(row: Row) -> str:
    return f"{row['method']} (scaled)" if row.get("factor") else str(row["method"])


def _totals(rows: list[Row]) -> Panel:
    """Each corpus as a whole (the paper's first figure)."""
    largest: dict[str, int] = {}
    for row in rows:
        largest[row["corpus"]] = max(largest.get(row["corpus"], 0), row["documents"])
    lines: dict[str, list[tuple[Any, float]]] = {}
    for row in rows:
        if row["status"] == "ok" and row["documents"] == largest[row["corpus"]]:
            lines.setdefault(_name(row), []).append((row["corpus"], row["tree_seconds"]))
    return Panel("whole corpora", "", AXES["tree_seconds"][0], lines, "y", bars=True)


def _notes(context: Context, rows: list[Row]) -> list[str]:
    settings = context.settings
    notes = [TREE, f"threads of a build: {settings.workers}; memory: {settings.memory}"]
    if (most := settings.plan.repeats) > 1:
        notes.append(
            f"each is the median of up to {most} builds; fewer if they take more than "
            f"{PATIENCE:g} s"
        )
    if any(row.get("factor") for row in rows):
        notes.append(
            "scaled: timed at few iterations (measured iterations); what they took, and nothing "
            "else, is multiplied to get the time at the number in column iterations; factor is "
            "that time over what was measured. cathy may converge before: for it that is the most "
            "it can take. nmf, lda and kmeans are run to their end"
        )
    if any(row["method"] in PAPER and row["status"] == "refused" for row in rows):
        notes.append("refused: dense moments of so many words do not fit the memory of a build")
    if any(row["method"] == "tod" for row in rows):
        notes.append("tod splits the root only (Algorithm 1 of the paper)")
    return notes
