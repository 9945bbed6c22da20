"""From the stack's residuals at several training sizes to the noise variance and its interval.

All losses are shares of the variance of y, so that 1 - loss is R². Where the squared error ends is told by
`curve_end`, from the learning curve and from what residuals of neighbours have in common. The measured side is what the
stack attains. The other side is drawn out to 0, a perfect prediction, where a curve cannot tell: as for classes
(`bayesfloor.floor.learned.summary`), where nothing beats the mean of y, where the lead over it has only begun to grow,
and where the error falls as fast as before.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from bayesfloor.data.numbers import weighted_median
from bayesfloor.floor.learned.certainty import freedom_of, squared_parts, standard_error_of
from bayesfloor.floor.learned.learning_curve import (
    DECADES_MISFIT,
    MISFIT,
    covariance_of,
    decades_posterior,
    goes_over_decades,
)
from bayesfloor.floor.learned.regression.curve_end import COMMON, OF_EQUAL, SLOW, Points, end_of_curve
from bayesfloor.floor.learned.regression.residuals import Draws, TestedRows, draw_means
from bayesfloor.floor.learned.rules import ERR_ALIKE, N_COMPARED, WIDER, Lead, below_attained, surely_as_fast, widened
from bayesfloor.floor.learned.simulated import Signs, with_simulated
from bayesfloor.runtime.arrays import Floats, Ints, Range

#: Pairs of equal rows from which the noise is read off them.
ENOUGH_PAIRS = 30
#: Growth of R² from a quarter of the training rows to all of them at which the better end begins to be drawn to 1, and
#: at which it is 1: functions of real columns go on where a curve would end them (`benchmarks/truth/real_columns.py`).
GROWTH = (1.02, 1.3)
#: Doublings of the rows for which an error that falls as fast as before may go on to do so; for classes it is 10.
N_DOUBLINGS = 5
#: Rows of similar predictions whose median is taken, as a multiple of the root of all.
MEDIAN_ROWS = 2.0


class Level(NamedTuple):
    """How surely a mean loss is known.

    Attributes
    ----------
    mean : float
        The mean.
    error : float
        Its standard error, with Student's quantile in place of the normal one where a few rows make it up.
    n_rows : float
        How many independent rows vary as much.
    """

    mean: float
    error: float
    n_rows: float

    def interval(self, confidence: float) -> Range:
        """Return where the mean of all there is lies, in logarithms: losses are skewed."""
        reach = float(ndtri(0.5 + 0.5 * confidence)) * self.error / max(self.mean, 1e-300)
        high = math.exp(reach) if reach < 1.0 else 1.0 + (math.e - 1.0) * reach
        return self.mean * math.exp(-reach), self.mean * high


class NumberSummary(NamedTuple):
    """The end of the squared error, as a share of the variance of y.

    Attributes
    ----------
    estimate : float
        The noise variance.
    interval : (float, float)
        Where it lies.
    reached : Level
        What the stack attains, of which the variance of y varies as well.
    raw, absolute : Level
        The same in the unit of the variance of these rows, and the mean absolute distance of residuals from their
        median.
    by_size : ndarray
        Squared errors at each size, the largest first.
    absolute_by_size : ndarray
        The mean absolute distances.
    fitted : ndarray
        The curve at these sizes.
    covariance, absolute_covariance : ndarray
        Of `by_size` and `absolute_by_size`.
    surely : float
        How surely the stack beats the mean of y: not at all, 0, or by two standard errors and more, 1.
    growth : float
        As for classes.
    is_steady : bool
        Whether the error surely falls as fast as before.
    alike : float
        Standard errors by which residuals of neighbours are alike.
    n_pairs : int
        Pairs of equal rows that the noise was read off; 0 where there were too few.
    freedom : float
        Degrees of freedom of the variance of the squared error: few where a few rows rule it.
    """

    estimate: float
    interval: Range
    reached: Level
    raw: Level
    absolute: Level
    by_size: Floats
    absolute_by_size: Floats
    fitted: Floats
    covariance: Floats
    absolute_covariance: Floats
    surely: float
    growth: float
    is_steady: bool
    alike: float
    n_pairs: int
    freedom: float


def summarise_numbers(
    tested: TestedRows, confidence: float, seed: int, *, in_time: bool, stack: tuple[int, Floats] | None = None
) -> NumberSummary:
    """Extrapolate the squared error of the stack.

    Parameters
    ----------
    tested : TestedRows
        What the stack predicts.
    confidence : float
        Level of the intervals.
    seed : int
        Seeds the draws that tell how surely means are known.
    in_time : bool
        Whether smaller training sets are more recent ones.
    stack : (int, ndarray) or None, default=None
        As for classes, see `bayesfloor.floor.learned.summary.summarise`.

    Returns
    -------
    NumberSummary
    """
    y, weight, clusters = tested.y, tested.weight, tested.clusters
    away = y - float(weight @ y / len(y))
    variance = float(weight @ away**2 / len(y))
    of_mean = weight * away**2 / variance
    residuals = [y - predicted for predicted in tested.predicted]
    averages = [] if in_time else [y - p.mean(axis=1, keepdims=True) for p in tested.predicted[1:]]
    losses, of_averages = (
        [weight * (r**2).mean(axis=(0, 1)) / variance for r in each] for each in (residuals, averages)
    )
    # the influence of each row on a ratio: that of a large y on the squared error is mostly one on the variance too
    ratios = [loss - loss.mean() * (of_mean - 1.0) for loss in (*losses, *of_averages)]
    reached, raw = (level_of(each[0], clusters, confidence) for each in (ratios, losses))
    # the smallest absolute error is that of the median, which for skewed noise is not the mean that the stack predicts
    absolutes = [weight * np.abs(from_medians(r, tested)).mean(axis=(0, 1)) for r in residuals]
    absolute = level_of(absolutes[0], clusters, confidence)

    relative, n_near = tested.sizes / tested.sizes[0], min(len(residuals), N_COMPARED)
    near = [*residuals[:n_near], *averages[: n_near - 1]]
    draws = draw_means(near, y, weight, tested.edges, clusters, seed)
    averaged = np.array([1.0] * len(residuals) + [float(p.shape[1]) for p in tested.predicted[1:]][: len(averages)])
    sizes = np.concatenate([relative, relative[1:]][: 2 if averages else 1])
    are_near = np.flatnonzero(sizes >= relative[n_near - 1])
    # pairs of equal rows in one fold, of which there are others in another repeat
    n_pairs = round(float(np.mean([len(equal.i) for equal in tested.edges[2]])))
    kind, common = (2, OF_EQUAL) if n_pairs >= ENOUGH_PAIRS else (1, COMMON)
    n_pairs = n_pairs if kind == 2 else 0
    wider = (reached.error / _plain(ratios[0])) ** 2
    points = _points(draws, kind, sizes[are_near], averaged[are_near], n_near, wider)
    over_decades = goes_over_decades(relative)
    if over_decades:
        curve, of_near = (
            decades_posterior(np.column_stack(ratios)[:, own], reached.error**2, sizes[own], averaged[own], 1.0)
            for own in (np.arange(len(sizes)), are_near)
        )
    else:
        curve = end_of_curve(points, common=common, in_time=in_time)
    # equal rows tell the noise at the largest size alone; of all sizes together the covariance is nearly singular
    end = end_of_curve(points.of_largest(), common=common, in_time=in_time) if n_pairs else curve
    slow = end
    if not n_pairs:
        slow = of_near if over_decades else end_of_curve(points, fall=SLOW, common=common, in_time=in_time)
    tail = (1.0 - confidence) / 2.0
    estimate = 0.5 * (end.mean + slow.mean) if over_decades else end.mean
    lower = min(end.quantile(tail), slow.quantile(tail))
    upper = max(reached.interval(confidence)[1], end.quantile(1.0 - tail))

    lead = Lead.of(losses, of_mean, standard_error_of(clusters), in_time=in_time)
    surely = lead.surely
    alike = max(_z(draws.products[k][:, 0]) for k in (0, 1))
    if surely < 1.0 and not n_pairs and alike <= ERR_ALIKE:
        estimate = surely * estimate + (1.0 - surely)
    estimate = min(estimate, reached.mean)
    upper = min(upper, 1.0)  # attained without features
    if not n_pairs:  # equal rows tell the noise whatever was learned
        lower = widened(lower, estimate, alike, WIDER * alike / ERR_ALIKE)  # the more no learner caught, the wider
        lower = lead.after_doublings(
            lead.drawn_to_zero(lower, GROWTH, over_decades=over_decades), reached.mean, N_DOUBLINGS
        )
    lower = max(min(lower, reached.interval(confidence)[0], estimate), 0.0)
    by_size = np.array([float(loss.mean()) for loss in losses])
    if stack is not None:
        signs = Signs(float(tested.sizes[0]), stack[0], by_size[:N_COMPARED], reached.mean, 1.0, alike, stack[1])
        estimate, (lower, upper) = with_simulated("numbers", estimate, (lower, upper), signs, lead, confidence)
    estimate, interval = below_attained(estimate, (lower, upper), (reached.mean, 1.0), (1.0, 1.0))
    misfit = DECADES_MISFIT if over_decades else MISFIT
    of_sizes = np.column_stack(ratios[: len(residuals)]), np.column_stack(absolutes)
    return NumberSummary(
        estimate=estimate,
        interval=interval,
        reached=reached,
        raw=raw,
        absolute=absolute,
        by_size=by_size,
        absolute_by_size=np.array([loss.mean() for loss in absolutes]),
        fitted=curve.fitted[: len(residuals)],
        covariance=covariance_of(of_sizes[0], reached.error**2, reached.n_rows, misfit),
        absolute_covariance=covariance_of(of_sizes[1], absolute.error**2, absolute.n_rows, misfit),
        surely=surely,
        growth=lead.growth,
        is_steady=not in_time and surely_as_fast(losses, standard_error_of(clusters)),
        alike=alike,
        n_pairs=n_pairs,
        freedom=freedom_of(squared_parts(losses[0], clusters)),
    )


def _points(draws: Draws, kind: int, sizes: Floats, averaged: Floats, n_sizes: int, wider: float) -> Points:
    """Gather errors and products of one kind of edges, with their covariance."""
    products = draws.products[kind][:, :n_sizes]
    columns = np.column_stack([draws.errors, products])
    is_product = np.arange(columns.shape[1]) >= len(sizes)
    return Points(
        columns[0],
        max(wider, 1.0) * np.cov(columns[1:].T),
        np.concatenate([sizes, sizes[:n_sizes]]),
        np.concatenate([averaged, np.ones(n_sizes)]),
        is_product,
    )


def _plain(values: Floats) -> float:
    return max(float(values.std()) / len(values) ** 0.5, 1e-300)


def _z(draws: Floats) -> float:
    """Return a mean in standard errors."""
    return float(draws[0] / max(float(draws[1:].std()), 1e-300))


def level_of(values: Floats, clusters: Ints | None, confidence: float) -> Level:
    """Return a mean, and how surely it is known."""
    parts, n = squared_parts(values, clusters), len(values)
    tail = 0.5 + 0.5 * confidence
    student = float(stdtrit(freedom_of(parts), tail) / ndtri(tail))
    error = student * float(parts.sum() * len(parts) / max(len(parts) - 1, 1)) ** 0.5 / n
    error = max(error, 1e-12)
    return Level(float(values.mean()), error, float(np.clip(values.var() / error**2, 1.0, n)))


def from_medians(residuals: Floats, tested: TestedRows) -> Floats:
    """Return how far numbers are from their medians, as far as predictions of means tell these.

    The median is a mean plus a constant, plus the median of what rows of similar predictions are off by, or, where
    numbers have few values, the median of their numbers: whichever is nearest. No row has a say in its own.

    Parameters
    ----------
    residuals : ndarray of shape (..., n)
        What numbers are less their means, as each of some models predicts these.
    tested : TestedRows
        The rows.

    Returns
    -------
    ndarray of shape (..., n)
    """
    y, weight, n = tested.y, tested.weight, len(tested.y)
    clusters = np.arange(n) if tested.clusters is None else tested.clusters
    width = min(n, round(MEDIAN_ROWS * n**0.5))
    first = np.clip(np.arange(n) - width // 2, 0, n - width)[:, np.newaxis]
    shifted = residuals - weighted_median(residuals.mean(axis=tuple(range(residuals.ndim - 1))), weight)
    found = np.array([shifted, shifted, shifted])
    for place in np.ndindex(residuals.shape[:-1]):
        predicted = y - residuals[place]
        order = np.argsort(predicted, kind="stable")
        near = order[first + np.arange(width)]
        counts = np.where(clusters[near] != clusters[order][:, np.newaxis], weight[near], 0.0)
        is_told = counts.any(axis=1)
        for own, values in zip(found[1:], (residuals[place], y), strict=True):
            own[place][order[is_told]] = (values[order] - weighted_median(values[near], counts))[is_told]
    return found[(np.abs(found).reshape(3, -1, n) @ weight).mean(axis=1).argmin()]
