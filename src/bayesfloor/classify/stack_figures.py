"""What a stack reaches on rows that it has not seen.

Cross-fitting measures members that saw four fifths of the rows. The model's members see all of them: the learning curve
tells what that is worth, and the figure is moved along it. Its range allows for three things: the rows that figures are
about are a sample, the model was trained on a sample, and what the curve adds is uncertain by as much as it adds. The
second is a matter of experience: over simulated problems, figures of fresh rows lie so many times farther off than the
first alone would have it (benchmarks/truth/stack_held_out.py).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.floor.learned.held_out import HeldOutNumbers
from bayesfloor.floor.learned.result import MetricFloor, StackFloor
from bayesfloor.learn.landmarks.regression import HeldOutRows
from bayesfloor.runtime.arrays import Range
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
    n_samples, n_rows : int
        Rows given, and rows that were held out.
    confidence : float
        Level of the intervals.
    """

    metrics: dict[str, Reached]
    measured: dict[str, float]
    n_samples: int
    n_rows: int
    confidence: float

    def _columns(self) -> dict[str, Any]:
        """Return a row for each figure."""
        rows = [(name, each.value, *each.interval) for name, each in self.metrics.items()]
        return dict(zip(("metric", "value", "low", "high"), zip(*rows, strict=True), strict=True))


def figures_of(floor: StackFloor, n_rows: int, confidence: float, scores: Collection[str] = ()) -> StackHeldOut:
    """Return what a stack reached on so many rows; `scores` are metrics of probabilities."""
    figures, measured = {}, {}
    for name, metric in floor.metrics.items():
        value = float(metric.curve.value[0])
        low, high = (value + end - metric.reached for end in metric.reached_interval)
        wider = TRAINED_ON_OF_SCORES if name in scores else TRAINED_ON
        figures[name] = Reached(*_of_model(value, (low, high), _gain(metric, floor.n_rows), metric.bounds, wider))
        measured[name] = value
    return StackHeldOut(figures, measured, floor.n_samples, n_rows, confidence)


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
