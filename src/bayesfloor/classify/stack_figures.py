"""What a stack reaches on rows that it has not seen.

Cross-fitting measures members that saw four fifths of the rows. The model's members see all of them: the learning curve
tells what that is worth, and the figure is moved along it. Its range allows for three things: the rows that figures are
about are a sample, the model was trained on a sample, and what the curve adds is uncertain by as much as it adds. The
second is a matter of experience: over simulated problems, figures of fresh rows lie so many times farther off than the
first alone would have it (benchmarks/truth/stack_held_out.py).
"""

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

#: How many times the sampling error of the rows a figure of fresh rows is off, as another sample would have given
#: another model: of decisions and of numbers, and of probabilities, which lose most in few rows.
TRAINED_ON, TRAINED_ON_OF_SCORES = 1.3, 1.6


class Reached(NamedTuple):
    """A figure, and where it lies."""

    value: float
    interval: Range


@dataclass(frozen=True, eq=False, repr=False)
class StackHeldOut(Result, says="metrics n_rows"):
    """What a stack reaches on rows that it has not seen.

    Attributes
    ----------
    metrics : dict of str to Reached
        Each figure of the model on fresh rows, with its interval: of classes "error" and "log_loss", of numbers "r2",
        "rmse" and "mae".
    measured : dict of str to float
        The same figures as they were measured, of members that saw four fifths of the rows. The model's members see all
        of them; the learning curve tells what that is worth.
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
    measured: dict[str, float]
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
    rows = held_out.counted
    named = rows.at_shares_of_all(held_out.learned.stacks[0].predicted[:, 0]).argmax(axis=-1)
    is_wrong = (named != rows.codes).mean(axis=0)
    clusters, classes = held_out.clusters, held_out.used.classes
    metrics, measured = _figures(floor, {each.name for each in held_out.metrics if each.is_score})
    # what members gain from all rows, each class gains its part of
    gain = metrics["error"].value / measured["error"] if measured["error"] > 0 else 1.0
    errors, intervals = np.full(len(classes), np.nan), np.full((len(classes), 2), np.nan)
    for k in range(len(classes)):
        own = rows.codes == k
        if not own.any():
            continue
        weight = rows.weights[own] / rows.weights[own].mean()
        error = float(weight @ is_wrong[own]) / int(own.sum())
        n = rows_worth(is_wrong[own], weight, None if clusters is None else clusters[own], confidence)
        ends = proportion_interval(error * n, n, confidence)
        errors[k], intervals[k] = _of_model(error, ends, error * (gain - 1.0), (0.0, 1.0), TRAINED_ON)
    return StackHeldOut(metrics, measured, classes, errors, intervals, floor.n_samples, len(rows.codes), confidence)


def figures_of_numbers(floor: StackFloor, n_rows: int, confidence: float) -> StackHeldOut:
    """Return what a stack of numbers reached."""
    of_classes = np.empty(0), np.empty(0), np.empty((0, 2))
    return StackHeldOut(*_figures(floor, set()), *of_classes, floor.n_samples, n_rows, confidence)


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


def _figures(floor: StackFloor, scores: set[str]) -> tuple[dict[str, Reached], dict[str, float]]:
    """Return figures of the model, and of members that saw four fifths of the rows; `scores` are of probabilities."""
    figures, measured = {}, {}
    for name, metric in floor.metrics.items():
        value = float(metric.curve.value[0])
        low, high = (value + end - metric.reached for end in metric.reached_interval)
        wider = TRAINED_ON_OF_SCORES if name in scores else TRAINED_ON
        figures[name] = Reached(*_of_model(value, (low, high), _gain(metric, floor.n_rows), metric.bounds, wider))
        measured[name] = value
    return figures, measured


def _gain(metric: MetricFloor, n_rows: int) -> float:
    """Return what the learning curve expects a figure to change by where members are trained on so many rows."""
    curve = metric.curve
    beyond = curve.fitted[0] - curve.limit
    gain = float(beyond * ((curve.size[0] / n_rows) ** curve.rate - 1.0))
    return gain if np.isfinite(gain) else 0.0


def _of_model(measured: float, interval: Range, gain: float, bounds: Range, wider: float) -> tuple[float, Range]:
    """Return a figure of the model and its interval, from those that were measured and what all rows add."""
    value = float(np.clip(measured + gain, *bounds))
    below, above = (float(np.hypot(wider * (end - measured), gain)) for end in interval)
    return value, (max(value - below, bounds[0]), min(value + above, bounds[1]))
