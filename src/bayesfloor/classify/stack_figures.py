"""What a stack reached on rows that it had not seen."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import rows_worth
from bayesfloor.floor.learned.held_out import HeldOutClasses, HeldOutNumbers
from bayesfloor.floor.learned.result import MetricFloor, StackFloor
from bayesfloor.learn.landmarks.regression import HeldOutRows
from bayesfloor.runtime.arrays import Floats, Range
from bayesfloor.runtime.results import Result


class Reached(NamedTuple):
    """A figure, and where it lies."""

    value: float
    interval: Range


@dataclass(frozen=True, eq=False, repr=False)
class StackHeldOut(Result, says="metrics n_rows"):
    """What a stack reached on rows that its members had not seen.

    Attributes
    ----------
    metrics : dict of str to Reached
        Each figure with its interval: of classes "error" and "log_loss", of numbers "r2", "rmse" and "mae".
    expected : dict of str to float
        The same figures as the learning curve expects them of the model, whose members are trained on all rows: those
        of the figures that were measured saw four fifths of them.
    classes : ndarray of shape (n_classes,)
        The labels; empty for numbers.
    class_errors : ndarray of shape (n_classes,)
        Share of the rows of each class that are predicted wrongly.
    class_intervals : ndarray of shape (n_classes, 2)
        Where these lie.
    n_samples, n_rows : int
        Rows given, and rows that were held out.
    confidence : float
        Level of the intervals.
    """

    metrics: dict[str, Reached]
    expected: dict[str, float]
    classes: NDArray[Any]
    class_errors: Floats
    class_intervals: Floats
    n_samples: int
    n_rows: int
    confidence: float

    def frame(self) -> Any:
        """Return a data frame with a row for each figure, and for the error of each class."""
        metrics = [(name, None, each.value, *each.interval) for name, each in self.metrics.items()]
        rows = zip(self.classes.tolist(), self.class_errors.tolist(), self.class_intervals.tolist(), strict=True)
        by_class = [("error", str(label), error, *ends) for label, error, ends in rows]
        names = ("metric", "label", "value", "low", "high")
        return self._frame_of(dict(zip(names, zip(*metrics, *by_class, strict=True), strict=True)))


def figures_of_classes(floor: StackFloor, held_out: HeldOutClasses, confidence: float) -> StackHeldOut:
    """Return what a stack of classes reached, over all rows and in each class."""
    rows, q = held_out.counted, held_out.reached_by["error"]
    is_wrong = (q.argmax(axis=-1) != rows.codes).mean(axis=0)
    clusters, classes = held_out.clusters, held_out.used.classes
    errors, intervals = np.full(len(classes), np.nan), np.full((len(classes), 2), np.nan)
    for k in range(len(classes)):
        own = rows.codes == k
        if not own.any():
            continue
        weight = rows.weights[own] / rows.weights[own].mean()
        errors[k] = float(weight @ is_wrong[own]) / int(own.sum())
        n = rows_worth(is_wrong[own], weight, None if clusters is None else clusters[own], confidence)
        intervals[k] = proportion_interval(errors[k] * n, n, confidence)
    return StackHeldOut(
        metrics=_metrics(floor),
        expected=_expected(floor),
        classes=classes,
        class_errors=errors,
        class_intervals=intervals,
        n_samples=floor.n_samples,
        n_rows=len(rows.codes),
        confidence=confidence,
    )


def figures_of_numbers(floor: StackFloor, n_rows: int, confidence: float) -> StackHeldOut:
    """Return what a stack of numbers reached."""
    return StackHeldOut(
        metrics=_metrics(floor),
        expected=_expected(floor),
        classes=np.empty(0),
        class_errors=np.empty(0),
        class_intervals=np.empty((0, 2)),
        n_samples=floor.n_samples,
        n_rows=n_rows,
        confidence=confidence,
    )


def rows_of_numbers(held_out: HeldOutNumbers) -> HeldOutRows:
    """Return the rows that were held out, and what the stack predicts for them on average over the repeats."""
    rows = held_out.rows
    group = np.arange(len(rows.y)) if rows.clusters is None else in_order_of_appearance(rows.clusters)
    predicted = rows.predicted[0].mean(axis=(0, 1))
    return HeldOutRows(
        predicted=predicted.astype(np.float32),
        target=rows.y.astype(np.float32),
        weight=rows.weight.astype(np.float32),
        group=group,
    )


def _expected(floor: StackFloor) -> dict[str, float]:
    """Return what is expected of members that are trained on all rows."""
    return {name: _at_size(each, floor.n_rows) for name, each in floor.metrics.items()}


def _at_size(metric: MetricFloor, n_rows: int) -> float:
    """Return what was reached, moved along the learning curve to so many training rows."""
    curve = metric.curve
    beyond = curve.fitted[0] - curve.limit
    moved = beyond * ((curve.size[0] / n_rows) ** curve.rate - 1.0)
    return float(metric.reached + moved) if np.isfinite(moved) else metric.reached


def _metrics(floor: StackFloor) -> dict[str, Reached]:
    return {name: Reached(each.reached, each.reached_interval) for name, each in floor.metrics.items()}
