"""Each class against all others: its floor, and beside it what a classifier reached."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import EstimatorDisplay

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class ClassFloorsDisplay(EstimatorDisplay):
    """One-vs-rest floors with their intervals and, where there are predictions, the confusion rate of each class.

    Make one with `from_estimator` of a fitted `BayesErrorEstimator`, with `from_data`, or with
    ``one_vs_rest_bayes_error(X, y).plot()``.

    Parameters
    ----------
    floors : ndarray of shape (K,)
        The floor of each class against the rest.
    classes : ndarray of shape (K,)
        The labels.
    interval : ndarray of shape (K, 2), optional
        Confidence intervals of the floors.
    confidence : float, optional
        Level of the intervals.
    confusion : ndarray of shape (K,), optional
        What a classifier reached: the confusion rate of each class.
    quantity : str, default="floor"
        What the floors are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    floor_marks_, confusion_marks_ : matplotlib Line2D or None
        The two kinds of marks.
    interval_lines_ : matplotlib LineCollection or None
        The intervals.
    order_ : ndarray of shape (K,)
        The labels from top to bottom.

    See Also
    --------
    PairwiseHeatmapDisplay : Every class against every other.

    Examples
    --------
    >>> from bayesfloor.display import ClassFloorsDisplay
    >>> display = ClassFloorsDisplay.from_data([0.02, 0.05], ["cat", "dog"], confusion=[0.04, 0.06])
    >>> display.order_.tolist()
    ['dog', 'cat']
    """

    floors: Floats
    classes: Any = None
    _: KW_ONLY
    interval: Floats | None = None
    confidence: float | None = None
    confusion: Floats | None = None
    quantity: str = "floor"

    _fitted = ("one_vs_rest_bayes_error_", "one-vs-rest floors")

    def __post_init__(self) -> None:
        n = np.size(self.floors)
        self.floors = checks.check_values(self.floors, "floors", (n,))
        self.classes = checks.check_labels_of(n, self.classes)
        self.interval = checks.check_interval(self.interval, (n,))
        self.confusion = None if self.confusion is None else checks.check_values(self.confusion, "confusion", (n,))

    def _columns(self) -> dict[str, Any]:
        """Return a row for each class, in the order of the classes."""
        columns = {"class": self.classes, "floor": self.floors, **checks.interval_columns(self.interval)}
        return columns if self.confusion is None else {**columns, "confusion": self.confusion}

    def plot(self, ax: Any = None, *, order: Any = "floor") -> Self:
        """Draw one row per class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with space for all classes.
        order : "floor", "name" or sequence of labels, default="floor"
            The classes from top to bottom: the highest floor first, in the order of `classes`, or as given.

        Returns
        -------
        ClassFloorsDisplay
            This display.
        """
        canvas.load_pyplot()
        codes = checks.check_order(order, self.classes, floor=lambda: np.argsort(-self.floors, kind="stable"))
        names = canvas.shortened(self.classes[codes])
        ax = self._open(canvas.axes_for_rows(names, self.confusion is not None) if ax is None else ax)
        self.order_ = self.classes[codes]
        rows = np.arange(len(names), dtype=np.float64)
        apart = 0.0 if self.confusion is None else 0.16  # two kinds of marks are often at the same place
        interval = None if self.interval is None else self.interval[codes]
        title = canvas.with_level(self.quantity, self.confidence)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows - apart, interval)
        self.floor_marks_ = canvas.draw_row_marks(ax, rows - apart, self.floors[codes], label=title)
        self.confusion_marks_ = None
        x_label = canvas.with_level(f"{self.quantity} against the rest", self.confidence)
        if self.confusion is not None:
            x_label = "share of rows"
            self.confusion_marks_ = canvas.draw_row_marks(
                ax, rows + apart, self.confusion[codes], label="confusion rate", **canvas.DIAMONDS
            )
        canvas.finish_rows(ax, names, x_label, legend=self.confusion is not None)
        return self
