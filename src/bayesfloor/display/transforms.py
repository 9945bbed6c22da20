"""Transforms of the same data, ranked by the floor that each leaves."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import Display
from bayesfloor.runtime.checks import check_option

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class TransformComparisonDisplay(Display):
    """The floor that each of several transforms leaves, with its interval.

    Make one with `from_data`, or with ``compare_transforms(X, y, ...).plot()``. Open marks are
    transforms whose floor differs from that of the first by more than chance would explain. This is told from
    differences on the same rows: intervals may overlap.

    Parameters
    ----------
    columns : data frame or mapping
        Columns such as those of ``TransformComparison.frame()``: ``transform``, the measure, and, if there are
        any, the measure with ``_low`` and ``_high`` for its interval, ``n_features`` and ``distinguishable``.
    measure : {"whole", "mean_pair", "worst_pair", "mean_class", "worst_class"}, default="whole"
        Which floor to draw.
    ranked_by : str, default="whole"
        The floor that ``distinguishable`` is about; where another is drawn, all marks are the same.
    confidence : float, optional
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    marks_ : matplotlib Line2D
        Marks of transforms that are as good as the first.
    distinct_marks_ : matplotlib Line2D
        Marks of those that are not.
    interval_lines_ : matplotlib LineCollection or None
        The intervals.

    Examples
    --------
    >>> from bayesfloor.display import TransformComparisonDisplay
    >>> table = {"transform": ["PCA(2)", "all"], "whole": [0.12, 0.11], "distinguishable": [False, False]}
    >>> TransformComparisonDisplay.from_data(table).marks_.get_xdata().tolist()
    [0.12, 0.11]
    """

    columns: Any
    _: KW_ONLY
    measure: str = "whole"
    ranked_by: str = "whole"
    confidence: float | None = None

    def __post_init__(self) -> None:
        measure = check_option("measure", self.measure, checks.MEASURES)
        self._quantity = checks.MEASURES[measure]
        self._floors, self._interval, columns = checks.columns_of(
            self.columns, measure, f"{measure}_low", f"{measure}_high", ["transform"], ["n_features", "distinguishable"]
        )
        self._transforms = [str(name) for name in columns["transform"]]
        self._others = {name: columns[name] for name in ("n_features", "distinguishable") if name in columns}
        if measure != self.ranked_by:
            self._others.pop("distinguishable", None)
        self._distinct = np.asarray(self._others.get("distinguishable", np.zeros(len(self._floors))), dtype=bool)
        self._names = canvas.shortened(self._transforms)
        if "n_features" in columns:
            self._names = [f"{name} (d = {d})" for name, d in zip(self._names, columns["n_features"], strict=True)]

    def _columns(self) -> dict[str, Any]:
        """Return a row for each transform, in the order of the picture."""
        columns = {"transform": self._transforms, "floor": self._floors, **checks.interval_columns(self._interval)}
        return columns | self._others

    def _new_axes(self) -> Any:
        return canvas.axes_for_rows(self._names, bool(self._distinct.any()))

    def _draw(self, ax: Any) -> None:
        names, distinct = self._names, self._distinct
        rows = np.arange(len(names), dtype=np.float64)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows, self._interval)
        self.marks_ = canvas.draw_row_marks(ax, rows[~distinct], self._floors[~distinct], label="like the first")
        open_marks = {"markerfacecolor": "white", "label": "differs from it"}
        self.distinct_marks_ = canvas.draw_row_marks(ax, rows[distinct], self._floors[distinct], **open_marks)
        canvas.finish_rows(ax, names, canvas.with_level(self._quantity, self.confidence), legend=bool(distinct.any()))
