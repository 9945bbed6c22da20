"""Each class against all others: its floor, and beside it what a classifier reached."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display.canvas import BLUE, ORANGE, load_pyplot, shortened, with_certainty
from bayesfloor.display.checks import check_interval, check_labels_of, check_order, check_values, fitted_step
from bayesfloor.display.dot_rows import axes_for_rows, draw_intervals, draw_marks, prepare_rows
from bayesfloor.floor.trees.henze_penrose import confusion_rate
from bayesfloor.floor.trees.results import OneVsRestBayesError
from bayesfloor.runtime.frames import data_frame
from bayesfloor.runtime.text import shown

Floats = NDArray[np.float64]


class ClassFloorsDisplay:
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
    >>> from sklearn.datasets import load_wine
    >>> from bayesfloor import one_vs_rest_bayes_error
    >>> from bayesfloor.display import ClassFloorsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = ClassFloorsDisplay.from_data(one_vs_rest_bayes_error(X, y), y_true=[0, 1, 2, 2], y_pred=[0, 1, 1, 2])
    >>> display.confusion.tolist()
    [0.0, 0.25, 0.25]
    """

    def __init__(
        self,
        floors: Floats,
        *,
        classes: NDArray[Any],
        interval: Floats | None = None,
        confidence: float | None = None,
        confusion: Floats | None = None,
        quantity: str = "floor",
    ) -> None:
        self.floors = floors
        self.classes = classes
        self.interval = interval
        self.confidence = confidence
        self.confusion = confusion
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, y_true: Any = None, y_pred: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the one-vs-rest floors of a fitted `BayesErrorEstimator`.

        Parameters
        ----------
        estimator : BayesErrorEstimator or Pipeline
            Fitted; of a pipeline, the last step.
        y_true, y_pred : array-like, optional
            Labels of rows that a classifier has not seen, and what it took them for.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `from_data` and `plot`.

        Returns
        -------
        ClassFloorsDisplay
            The display, drawn.
        """
        estimator = fitted_step(estimator)
        floors = getattr(estimator, "one_vs_rest_bayes_error_", None)
        if floors is None:
            raise TypeError(f"{type(estimator).__name__} has no one-vs-rest floors: no one_vs_rest_bayes_error_")
        return cls.from_data(floors, y_true=y_true, y_pred=y_pred, ax=ax, **options)

    @classmethod
    def from_data(
        cls,
        floors: Any,
        classes: Any = None,
        *,
        interval: Any = None,
        normalize: bool = False,
        y_true: Any = None,
        y_pred: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw one-vs-rest floors.

        Parameters
        ----------
        floors : OneVsRestBayesError, or array-like of shape (K,)
            The floors.
        classes : array-like of shape (K,), optional
            The labels; by default those of `floors`, or 0 to K − 1.
        interval : array-like of shape (K, 2), optional
            Confidence intervals, where `floors` are plain numbers.
        normalize : bool, default=False
            Draw the floors of a OneVsRestBayesError as shares of the largest that they could be, the smaller of p_k and
            1 − p_k. This shows which classes are hard; the floors themselves also show which are large.
        y_true, y_pred : array-like, optional
            Labels of rows that a classifier has not seen, and what it took them for. Adds the confusion rate C_k,
            the share of rows wrongly put into class k or wrongly kept out of it, which compares with
            floors that are not normalized.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `plot`.

        Returns
        -------
        ClassFloorsDisplay
            The display, drawn.
        """
        confidence = None
        values = floors
        if isinstance(floors, OneVsRestBayesError):
            priors = floors.class_counts / floors.class_counts.sum()
            largest = np.minimum(priors, 1 - priors) if normalize else np.ones(len(priors))
            values, interval = floors.estimate / largest, floors.interval / largest[:, None]
            classes = floors.classes if classes is None else classes
            confidence = floors.confidence
        elif normalize:
            raise ValueError("normalize needs a OneVsRestBayesError, which knows how large the classes are")
        values = check_values(values, "floors", (np.size(values),))
        classes = check_labels_of(len(values), classes)
        display = cls(
            values,
            classes=classes,
            interval=None if interval is None else check_interval(interval, len(values)),
            confidence=confidence,
            confusion=_confusion(y_true, y_pred, classes, normalize),
            quantity="normalized floor" if normalize else "floor",
        )
        return display.plot(ax, **options)

    def frame(self) -> Any:
        """Return a data frame with one row per class, in the order of the classes."""
        columns: dict[str, Any] = {"class": self.classes, "floor": self.floors}
        if self.interval is not None:
            columns["interval_low"], columns["interval_high"] = self.interval.T
        if self.confusion is not None:
            columns["confusion"] = self.confusion
        return data_frame(columns)

    def plot(self, ax: Any = None, *, order: Any = "floor") -> Self:
        """Draw one row per class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with room for all classes.
        order : "floor", "name" or sequence of labels, default="floor"
            The classes from top to bottom: the highest floor first, in the order of `classes`, or as given.

        Returns
        -------
        ClassFloorsDisplay
            This display.
        """
        load_pyplot()
        if isinstance(order, str) and order == "floor":
            codes = np.argsort(-self.floors, kind="stable")
        else:
            codes = check_order(order, self.classes)
        names = shortened(self.classes[codes])
        if ax is None:
            ax = axes_for_rows(names, self.confusion is not None)
        self.order_ = self.classes[codes]
        self.ax_, self.figure_ = ax, ax.figure

        rows = np.arange(len(names), dtype=np.float64)
        apart = 0.0 if self.confusion is None else 0.16  # two kinds of marks are often at the same place
        interval = None if self.interval is None else self.interval[codes]
        title = with_certainty(self.quantity, self.confidence)
        self.interval_lines_ = draw_intervals(ax, rows - apart, interval, BLUE)
        self.floor_marks_ = draw_marks(ax, rows - apart, self.floors[codes], color=BLUE, label=title)
        self.confusion_marks_ = None
        x_label = with_certainty(f"{self.quantity} against the rest", self.confidence)
        if self.confusion is not None:
            x_label = "share of rows"
            manners = {"marker": "D", "color": ORANGE, "markeredgecolor": "black", "markeredgewidth": 0.6}
            marks = draw_marks(ax, rows + apart, self.confusion[codes], label="confusion rate", **manners)
            self.confusion_marks_ = marks
        prepare_rows(ax, names, x_label, legend=self.confusion is not None)
        return self


def _confusion(y_true: Any, y_pred: Any, classes: NDArray[Any], normalize: bool) -> Floats | None:
    """Return C_k of each class, or None where there are no predictions."""
    if y_true is None and y_pred is None:
        return None
    if y_true is None or y_pred is None:
        raise ValueError("y_true and y_pred go together: give both or neither")
    if normalize:
        raise ValueError("The confusion rate compares with floors that are not normalized: leave normalize off")
    known = set(classes.tolist())
    for name, labels in (("y_true", y_true), ("y_pred", y_pred)):
        strange = [label for label in dict.fromkeys(np.asarray(labels).tolist()) if label not in known]
        if strange:
            raise ValueError(f"{name} holds labels that have no floor: {', '.join(map(shown, strange[:10]))}")
    if not len(np.asarray(y_true)):
        raise ValueError("y_true is empty")
    return np.array([confusion_rate(y_true, y_pred, label) for label in classes.tolist()])
