"""Transforms of the same data, ranked by the floor that each leaves."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.frames import Framed

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class TransformComparisonDisplay(Framed):
    """The floor that each of several transforms leaves, with its interval.

    Make one with `from_data`, or with ``compare_transforms(X, y, ...).plot()``. Open marks are
    transforms whose floor differs from that of the first by more than chance would explain. This is told from
    differences on the same rows: intervals may overlap.

    Parameters
    ----------
    floors : ndarray of shape (n_transforms,)
        The floors.
    names : sequence of str
        The transforms, in the order to draw.
    interval : ndarray of shape (n_transforms, 2), optional
        Confidence intervals of the floors.
    confidence : float, optional
        Level of the intervals.
    n_features : ndarray of shape (n_transforms,), optional
        Dimension of what each transform returns.
    distinguishable : ndarray of shape (n_transforms,), optional
        Whether each transform can be told from the first.
    quantity : str, default="floor"
        What the floors are.

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

    floors: Floats
    _: KW_ONLY
    names: Sequence[str]
    interval: Floats | None = None
    confidence: float | None = None
    n_features: NDArray[np.int64] | None = None
    distinguishable: NDArray[np.bool_] | None = None
    quantity: str = "floor"

    @classmethod
    def from_data(
        cls,
        comparison: Any,
        *,
        measure: str = "whole",
        ranked_by: str = "whole",
        confidence: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a comparison.

        Parameters
        ----------
        comparison : data frame or mapping
            Columns such as those of ``TransformComparison.frame()``: ``transform``, the measure, and, if there are
            any, the measure with ``_low`` and ``_high`` for its interval, ``n_features`` and ``distinguishable``.
        measure : {"whole", "mean_pair", "worst_pair", "mean_class", "worst_class"}, default="whole"
            Which floor to draw.
        ranked_by : str, default="whole"
            The floor that ``distinguishable`` is about; where another is drawn, all marks are the same.
        confidence : float, optional
            Level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        TransformComparisonDisplay
            The display, drawn.
        """
        quantity = checks.MEASURES[check_option("measure", measure, checks.MEASURES)]
        floors, interval, columns = checks.columns_of(
            comparison, measure, f"{measure}_low", f"{measure}_high", ["transform"], ["n_features", "distinguishable"]
        )
        display = cls(
            floors,
            names=[str(name) for name in columns["transform"]],
            interval=interval,
            confidence=confidence,
            n_features=columns.get("n_features"),
            distinguishable=columns.get("distinguishable") if measure == ranked_by else None,
            quantity=quantity,
        )
        return display.plot(ax)

    def frame(self) -> Any:
        """Return a data frame with one row per transform, in the order of the picture."""
        columns = {"transform": list(self.names), "floor": self.floors, **checks.interval_columns(self.interval)}
        more = {"n_features": self.n_features, "distinguishable": self.distinguishable}
        return self._frame_of({**columns, **{name: column for name, column in more.items() if column is not None}})

    def plot(self, ax: Any = None) -> Self:
        """Draw one row per transform, the first on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with space for all transforms.

        Returns
        -------
        TransformComparisonDisplay
            This display.
        """
        canvas.load_pyplot()
        names = canvas.shortened(self.names)
        if self.n_features is not None:
            names = [f"{name} (d = {d})" for name, d in zip(names, self.n_features, strict=True)]
        distinct = np.zeros(len(names), dtype=bool)
        if self.distinguishable is not None:
            distinct = np.asarray(self.distinguishable, dtype=bool)
        if ax is None:
            ax = canvas.axes_for_rows(names, bool(distinct.any()))
        self.ax_, self.figure_ = ax, ax.figure
        rows = np.arange(len(names), dtype=np.float64)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows, self.interval)
        self.marks_ = canvas.draw_row_marks(ax, rows[~distinct], self.floors[~distinct], label="like the first")
        open_marks = {"markerfacecolor": "white", "label": "differs from it"}
        self.distinct_marks_ = canvas.draw_row_marks(ax, rows[distinct], self.floors[distinct], **open_marks)
        canvas.finish_rows(ax, names, canvas.with_level(self.quantity, self.confidence), legend=bool(distinct.any()))
        return self
