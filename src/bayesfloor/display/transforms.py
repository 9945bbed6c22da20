"""Transforms of the same data, ranked by the floor that each leaves."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display.canvas import BLUE, load_pyplot, shortened, with_certainty
from bayesfloor.display.checks import check_values, columns_of, interval_in
from bayesfloor.display.dot_rows import axes_for_rows, draw_intervals, draw_marks, prepare_rows
from bayesfloor.runtime.frames import data_frame

Floats = NDArray[np.float64]

#: The floors that a comparison has, and what to call them.
MEASURES = {
    "whole": "floor",
    "mean_pair": "mean floor of all pairs",
    "worst_pair": "floor of the worst pair",
    "mean_class": "mean floor of all classes",
    "worst_class": "floor of the worst class",
}
#: Which of them each criterion of a comparison ranks by.
MEASURE_OF = {"whole": "whole", "mean": "mean_pair", "worst": "worst_pair"}


class TransformComparisonDisplay:
    """The floor that each of several transforms leaves, with its interval.

    Make one with `from_estimator` or `from_data`, or with ``compare_transforms(X, y, ...).plot()``. Open marks are
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

    def __init__(
        self,
        floors: Floats,
        *,
        names: Sequence[str],
        interval: Floats | None = None,
        confidence: float | None = None,
        n_features: NDArray[np.int64] | None = None,
        distinguishable: NDArray[np.bool_] | None = None,
        quantity: str = "floor",
    ) -> None:
        self.floors = floors
        self.names = names
        self.interval = interval
        self.confidence = confidence
        self.n_features = n_features
        self.distinguishable = distinguishable
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, measure: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Compare transforms and draw the result.

        Parameters
        ----------
        estimator : transformer, dict of them, or "default"
            What to compare, by name, as in `compare_transforms`. One transformer is compared with the data as it is.
        X : array-like or data frame of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            The labels.
        measure : str, optional
            Which floor to draw, as in `from_data`.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `compare_transforms`.

        Returns
        -------
        TransformComparisonDisplay
            The display, drawn.
        """
        from bayesfloor.choose import compare_transforms

        if not isinstance(estimator, Mapping | str):
            estimator = {"as it is": "passthrough", type(estimator).__name__: estimator}
        return cls.from_data(compare_transforms(X, y, transforms=estimator, **options), measure=measure, ax=ax)

    @classmethod
    def from_data(cls, comparison: Any, *, measure: str | None = None, ax: Any = None) -> Self:
        """Draw a comparison.

        Parameters
        ----------
        comparison : TransformComparison, data frame or dict
            The comparison, or columns such as those of its ``frame()``: ``transform``, the measure, and, if there are
            any, the measure with ``_low`` and ``_high`` for its interval, ``n_features`` and ``distinguishable``.
        measure : {"whole", "mean_pair", "worst_pair", "mean_class", "worst_class"}, optional
            Which floor to draw; by default the one that the transforms are ranked by, or else "whole".
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        TransformComparisonDisplay
            The display, drawn.
        """
        from bayesfloor.choose import TransformComparison

        confidence, ranked_by, table = None, "whole", comparison
        if isinstance(comparison, TransformComparison):
            confidence, ranked_by, table = comparison.confidence, MEASURE_OF[comparison.criterion], comparison.frame()
        measure = ranked_by if measure is None else measure
        if measure not in MEASURES:
            raise ValueError(f"The 'measure' parameter must be one of {list(MEASURES)}. Got {measure!r} instead.")
        low, high = f"{measure}_low", f"{measure}_high"
        columns = columns_of(table, [measure, "transform"], [low, high, "n_features", "distinguishable"])
        floors = check_values(columns[measure], measure, (len(columns[measure]),))
        display = cls(
            floors,
            names=[str(name) for name in columns["transform"]],
            interval=interval_in(columns, low, high),
            confidence=confidence,
            n_features=columns.get("n_features"),
            # another floor than the one that was compared says nothing about that
            distinguishable=columns.get("distinguishable") if measure == ranked_by else None,
            quantity=MEASURES[measure],
        )
        return display.plot(ax)

    def frame(self) -> Any:
        """Return a data frame with one row per transform, in the order of the picture."""
        columns: dict[str, Any] = {"transform": list(self.names), "floor": self.floors}
        if self.interval is not None:
            columns["interval_low"], columns["interval_high"] = self.interval.T
        if self.n_features is not None:
            columns["n_features"] = self.n_features
        if self.distinguishable is not None:
            columns["distinguishable"] = self.distinguishable
        return data_frame(columns)

    def plot(self, ax: Any = None) -> Self:
        """Draw one row per transform, the first on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with room for all transforms.

        Returns
        -------
        TransformComparisonDisplay
            This display.
        """
        load_pyplot()
        names = shortened(self.names)
        if self.n_features is not None:
            names = [f"{name} (d = {d})" for name, d in zip(names, self.n_features, strict=True)]
        distinct = np.zeros(len(names), dtype=bool)
        if self.distinguishable is not None:
            distinct = np.asarray(self.distinguishable, dtype=bool)
        if ax is None:
            ax = axes_for_rows(names, bool(distinct.any()))
        self.ax_, self.figure_ = ax, ax.figure
        rows = np.arange(len(names), dtype=np.float64)
        self.interval_lines_ = draw_intervals(ax, rows, self.interval, BLUE)
        self.marks_ = draw_marks(ax, rows[~distinct], self.floors[~distinct], color=BLUE, label="like the first")
        open_marks = {"color": BLUE, "markerfacecolor": "white", "label": "differs from it"}
        self.distinct_marks_ = draw_marks(ax, rows[distinct], self.floors[distinct], **open_marks)
        prepare_rows(ax, names, with_certainty(self.quantity, self.confidence), legend=bool(distinct.any()))
        return self
