"""Each class against all others: its floor, and beside it what a classifier reached."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.runtime.frames import Framed

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class ClassFloorsDisplay(Framed):
    """One-vs-rest floors with their intervals and, where there are predictions, the confusion rate of each class.

    Make one with `from_estimator` or `from_data`, or with ``one_vs_rest_bayes_error(X, y).plot()``.

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
    _: KW_ONLY
    classes: NDArray[Any]
    interval: Floats | None = None
    confidence: float | None = None
    confusion: Floats | None = None
    quantity: str = "floor"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Any:
        """Draw the one-vs-rest floors of a fitted `BayesErrorEstimator`.

        Parameters
        ----------
        estimator : BayesErrorEstimator or Pipeline
            Fitted; of a pipeline, the last step.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `OneVsRestBayesError.plot`: predictions to compare with, and the order.

        Returns
        -------
        ClassFloorsDisplay
            The display, drawn.
        """
        return checks.fitted_attribute(estimator, "one_vs_rest_bayes_error_", "one-vs-rest floors").plot(ax, **options)

    @classmethod
    def from_data(
        cls,
        floors: Any,
        classes: Any = None,
        *,
        interval: Any = None,
        confidence: float | None = None,
        confusion: Any = None,
        quantity: str = "floor",
        ax: Any = None,
        order: Any = "floor",
    ) -> Self:
        """Draw one-vs-rest floors.

        Parameters
        ----------
        floors : array-like of shape (K,)
            The floors.
        classes : array-like of shape (K,), optional
            The labels; by default 0 to K − 1.
        interval : array-like of shape (K, 2), optional
            Confidence intervals of the floors.
        confidence : float, optional
            Level of the intervals.
        confusion : array-like of shape (K,), optional
            What a classifier reached: the share of rows wrongly put into each class or wrongly kept out of it.
        quantity : str, default="floor"
            What the floors are.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        order : "floor", "name" or sequence of labels, default="floor"
            As for `plot`.

        Returns
        -------
        ClassFloorsDisplay
            The display, drawn.
        """
        n = np.size(floors)
        display = cls(
            checks.check_values(floors, "floors", (n,)),
            classes=checks.check_labels_of(n, classes),
            interval=checks.check_interval(interval, (n,)),
            confidence=confidence,
            confusion=None if confusion is None else checks.check_values(confusion, "confusion", (n,)),
            quantity=quantity,
        )
        return display.plot(ax, order=order)

    def frame(self) -> Any:
        """Return a data frame with one row per class, in the order of the classes."""
        columns = {"class": self.classes, "floor": self.floors, **checks.interval_columns(self.interval)}
        return self._frame_of(columns if self.confusion is None else {**columns, "confusion": self.confusion})

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
        if ax is None:
            ax = canvas.axes_for_rows(names, self.confusion is not None)
        self.order_ = self.classes[codes]
        self.ax_, self.figure_ = ax, ax.figure

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
            diamonds = {"marker": "D", "color": canvas.ORANGE, "markeredgecolor": "black", "markeredgewidth": 0.6}
            marks = canvas.draw_row_marks(ax, rows + apart, self.confusion[codes], label="confusion rate", **diamonds)
            self.confusion_marks_ = marks
        canvas.finish_rows(ax, names, x_label, legend=self.confusion is not None)
        return self
