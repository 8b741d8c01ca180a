"""``workspace.plot``: figures of matplotlib, which notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod.errors import UsageError
from strod.plots.draw import draw_heatmap, draw_icicle, draw_trends
from strod.query.slices import MEASURES, sliced
from strod.query.trends import trends

if TYPE_CHECKING:
    from strod.query.index import Index

__all__ = ["Plots"]


class Plots:
    """Draws one revision of a workspace.

    Parameters
    ----------
    index : Index
        The revision.
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    def tree(self, topic: str | None = None) -> Any:
        """Topics as boxes (an icicle), children right of their parents, as high as they weigh."""
        return draw_icicle(self._index.tree, topic)

    def trends(self, field: str | None = None, **how: Any) -> Any:
        """Topics that grew or shrank most, a panel each.

        `field` and `how` (`topic`, `level`, `where`) as for `Workspace.trends`.
        """
        return draw_trends(trends(self._index, field, **how))

    def heatmap(self, by: str | None = None, measure: str = "lift", **how: Any) -> Any:
        """Topics by the values of a field; `how`: `topic`, `level`, `where`."""
        if measure not in MEASURES:
            raise UsageError(f"`measure` must be one of {', '.join(MEASURES)}, not {measure}")
        by = by or self._field()
        labels = {topic.path: topic.label or "" for topic in self._index.tree.values()}
        return draw_heatmap(sliced(self._index, [by], **how), by, measure, labels)

    def _field(self) -> str:
        """The first field of names."""
        kinds = self._index.metadata.kinds
        found = [name for name, kind in kinds.items() if kind in ("category", "list")]
        if not found:
            raise UsageError("`by`: which field? no category or list was kept; build with `meta`")
        return found[0]
