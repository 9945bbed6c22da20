"""Two representations on the same rows and folds: what each row loses with the one and with the other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from bayesfloor.choose.comparing.results import FeatureDifference
from bayesfloor.floor.learned.held_out import HeldOut, HeldOutClasses
from bayesfloor.floor.learned.paired import holm
from bayesfloor.floor.learned.result import LearningCurve, MetricFloor
from bayesfloor.floor.learned.stack_errors import confusion_matrix, errors_of_pairs
from bayesfloor.floor.trees.cross_edges import pairs_of
from bayesfloor.runtime.arrays import Floats, Ints, Range

#: Training sizes up to which curves are followed, as a multiple of the largest.
_BEYOND = 10.0
#: Sizes at which curves are looked at for a crossing.
_N_SIZES = 200
#: Standard errors by which all rows must be better than half of them for a curve to be improving: 5% of curves that
#: do not improve.
_IMPROVES = 1.645


class Arms(NamedTuple):
    """A floor as a loss, of which smaller is better.

    Attributes
    ----------
    estimate : float
        The floor.
    below, above : float
        From there to the ends of its interval.
    sampling : float
        Half of the width of the interval of what is reached: how far the rows that were drawn move both.
    """

    estimate: float
    below: float
    above: float
    sampling: float


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of one representation in one round.

    Attributes
    ----------
    floor : MetricFloor
        What is reached, and the best value.
    held_out : HeldOut
        What rows lose.
    n_features, n_rows : int
        Columns, and rows used.
    seconds : float
        Time that it took.
    """

    floor: MetricFloor
    held_out: HeldOut
    n_features: int
    n_rows: int
    seconds: float

    @property
    def arms(self) -> Arms:
        """The floor as a loss."""
        floor = self.floor
        low, high = floor.range(*floor.interval)
        reached = floor.range(*floor.reached_interval)
        estimate = floor.value(floor.estimate)
        return Arms(estimate, estimate - low, high - estimate, 0.5 * (reached[1] - reached[0]))


def compare_measured(names: tuple[str, str], first: Measured, second: Measured) -> FeatureDifference:
    """Compare two representations; p-values do not allow for other pairs yet."""
    floor, metric, confidence = first.floor, first.floor.name, first.floor.confidence
    sign = -1.0 if floor.larger_is_better else 1.0
    difference = first.held_out.compare(second.held_out, metric, confidence)
    losses = [each.held_out.row_losses(metric) for each in (first, second)]
    alike = correlation(losses[0], losses[1], first.held_out.clusters)
    of_floors = floor_difference_interval(first.arms, second.arms, alike)
    value = first.arms.estimate - second.arms.estimate
    return FeatureDifference(
        first=names[0],
        second=names[1],
        # of what is shown: a metric that is no mean over rows is known by its own value
        reached=first.floor.reached - second.floor.reached,
        reached_interval=_in_unit(difference.interval, sign),
        reached_p_value=difference.p_value,
        floor=sign * value,
        floor_interval=_in_unit(of_floors, sign),
        floor_p_value=p_value_of(value, of_floors, confidence),
        crossing=crossing_of(first.floor, second.floor),
        n_rows=first.n_rows,
    )


def _in_unit(interval: Range, sign: float) -> Range:
    low, high = sorted(sign * end for end in interval)
    return low, high


def correlation(first: Floats, second: Floats, clusters: Ints | None) -> float:
    """Return how alike two stacks err over the rows, or over groups of rows that err alike; at least 0."""
    values = [each - each.mean() for each in (first, second)]
    if clusters is not None:
        values = [np.bincount(clusters, each) for each in values]
    size = float(np.linalg.norm(values[0]) * np.linalg.norm(values[1]))
    return max(float(values[0] @ values[1]) / size, 0.0) if size > 0.0 else 0.0


def floor_difference_interval(first: Arms, second: Arms, alike: float) -> Range:
    """Return where the difference of two floors lies, the first less the second.

    The arms of both intervals are taken together (Zou and Donner 2008): the difference is less where the first floor is
    lower than estimated, or the second higher. What the draw of the rows does to both drops out, as far as both err on
    the same rows. That the curves of both go on otherwise than expected does not.
    """

    def arm(of_first: float, of_second: float) -> float:
        common = alike * min(first.sampling, of_first) * min(second.sampling, of_second)
        return float(max(of_first**2 + of_second**2 - 2.0 * common, 0.0)) ** 0.5

    value = first.estimate - second.estimate
    return value - arm(first.below, second.above), value + arm(first.above, second.below)


def p_value_of(value: float, interval: Range, confidence: float) -> float:
    """Return the level at which an interval, with arms that grow as normal quantiles do, would just hold 0."""
    arm = value - interval[0] if value > 0.0 else interval[1] - value
    if arm <= 0.0:
        return 1.0 if value == 0.0 else 0.0
    return 2.0 * float(ndtr(-abs(value) / arm * float(ndtri(0.5 + 0.5 * confidence))))


def allowing_for_all(differences: list[FeatureDifference]) -> tuple[FeatureDifference, ...]:
    """Adjust the p-values for the number of pairs, by Holm's method."""
    of_floors = holm([each.floor_p_value for each in differences]).tolist()
    known = [each.reached_p_value for each in differences]
    of_reached = known if None in known else holm(known).tolist()
    pairs = zip(differences, of_floors, of_reached, strict=True)
    return tuple(each._replace(floor_p_value=p, reached_p_value=q) for each, p, q in pairs)


def crossing_of(first: MetricFloor, second: MetricFloor) -> float | None:
    """Return the training rows at which two learning curves cross for the last time, or None."""
    smallest = max(float(first.curve.size[-1]), float(second.curve.size[-1]))
    largest = _BEYOND * min(float(first.curve.size[0]), float(second.curve.size[0]))
    sizes = np.geomspace(smallest, largest, _N_SIZES)
    apart = first.curve_at(sizes) - second.curve_at(sizes)
    is_apart = np.flatnonzero(apart != 0.0)
    changes = np.flatnonzero(np.diff(np.sign(apart[is_apart])) != 0)
    if not len(changes):
        return None
    low, high = sizes[is_apart[changes[-1]]], sizes[is_apart[changes[-1] + 1]]
    return float(brentq(lambda size: float(first.curve_at(size) - second.curve_at(size)), low, high, xtol=0.5))


def is_improving(curve: LearningCurve, *, larger_is_better: bool) -> bool:
    """Tell whether all rows are surely better than half of them."""
    if curve.covariance is None:
        return False
    fall = float(curve.value[1] - curve.value[0]) * (-1.0 if larger_is_better else 1.0)
    variance = float(curve.covariance[0, 0] + curve.covariance[1, 1] - 2.0 * curve.covariance[0, 1])
    return fall > _IMPROVES * max(variance, 0.0) ** 0.5


def pair_errors(held_out: HeldOut) -> Floats:
    """Return how often rows of each pair of classes are taken for the other one, in the order of `pairs_of`."""
    if not isinstance(held_out, HeldOutClasses):
        return np.empty(0)
    rows, n_classes = held_out.counted, len(held_out.used.classes)
    first, second = pairs_of(n_classes)
    errors = errors_of_pairs(confusion_matrix(held_out.stack, rows.codes, rows.weights, n_classes))
    return np.asarray(errors[first, second])
