"""How surely a mean loss is known, where rows are independent and where some err alike."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from bayesfloor.floor.learned.counted_rows import PlainRows, clustered_error
from bayesfloor.floor.learned.metrics import Metric
from bayesfloor.runtime.arrays import Floats, Ints, Range

#: Rows that a proportion's interval is computed for, at most. A loss that hardly varies stands for 1e27 of them, where
#: SciPy's quantiles are NaN or noise; from here on the interval is narrower than any digit that is shown.
MOST_ROWS = 1e10
#: Degrees of freedom of a variance, at the least.
FEWEST_DEGREES = 4.0


def proportion_interval(count: float, n: float, confidence: float) -> Range:
    """Return Clopper and Pearson's interval of a proportion; of a weighted one, with numbers that stand for it."""
    tail = (1.0 - confidence) / 2.0
    if n > MOST_ROWS:
        count, n = count * MOST_ROWS / n, MOST_ROWS
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return low, high


def _proportion_variance(share: float, n: float) -> float:
    """Return the variance of a proportion, which is not 0 when nothing was counted."""
    share = (share * n + 0.5) / (n + 1.0)
    return share * (1.0 - share) / n


def standard_error_of(clusters: Ints | None) -> Callable[[Floats], float]:
    """Return what gives the standard error of a mean of values of rows, of which those of a cluster err alike."""

    def standard_error(values: Floats) -> float:
        error = values.std() / len(values) ** 0.5 if clusters is None else clustered_error(values, clusters)
        return max(float(error), 1e-12 / len(values) ** 0.5)

    return standard_error


def squared_parts(values: Floats, clusters: Ints | None) -> Floats:
    """Return squared deviations from the mean: of rows, or of the sums of clusters."""
    away = values - values.mean()
    if clusters is not None:
        away = np.bincount(np.unique(clusters, return_inverse=True)[1], away).astype(np.float64)
    return away**2


def freedom_of(parts: Floats) -> float:
    """Return the degrees of freedom of the variance of a mean, of whose independent parts `squared_parts` are given.

    Where a few of them make it up, it is a guess: twice its square by its own variance, and less than there are parts.
    """
    freedom = 2.0 * float(parts.sum()) ** 2 / max(float((parts**2).sum()), 1e-300)
    return min(max(freedom, FEWEST_DEGREES), max(len(parts) - 1.0, 1.0))


class Sampling(NamedTuple):
    """How surely a mean loss is known.

    Attributes
    ----------
    variance : float
        Of the mean; not 0 when nothing was lost.
    n_rows : float or None
        How many independent rows say as much as these, where some belong together; None for all.
    n_equivalent : float
        How many rows would show a share of this size as surely.
    """

    variance: float
    n_rows: float | None
    n_equivalent: float

    def interval(self, loss: float, top: float, confidence: float) -> Range:
        """Return where the loss lies, as for a proportion of the largest one; for one without end, in logarithms."""
        if np.isfinite(top):
            n = self.n_equivalent
            low, high = proportion_interval(round(loss / top * n, 6), n, confidence)
            return top * low, top * high
        reach = float(ndtri(0.5 + 0.5 * confidence)) * self.variance**0.5
        share = reach / max(loss, 1e-300)
        # A loss that is as small as what it varies by says nothing of its logarithm.
        high = loss * float(np.exp(share)) if share < 1.0 else loss + (math.e - 1.0) * reach
        return loss * float(np.exp(-share)), float(high)


def sampling_of(
    lost: Floats,
    scores: Floats,
    rows: PlainRows,
    metric: Metric,
    clusters: Ints | None,
    confidence: float,
    baseline: float,
    top: float,
    between: float,
) -> Sampling:
    """Return how surely the mean of what rows lose is known; of the error, by the class that has the largest score.

    `scores` are of shape (n_repeats, n, n_classes): a row that is wrong in some repeats is that share of an error.
    """
    mean = float(lost.mean())
    if metric.name == "error":
        is_wrong = (scores.argmax(axis=-1) != rows.codes).mean(axis=0)
        if clusters is not None:
            n = rows.n_equivalent(is_wrong, clusters, confidence)
            return Sampling(_proportion_variance(mean, n), n, n)
        return Sampling(rows.variance(is_wrong), None, rows.n_equivalent(is_wrong))
    n_rows = len(lost)
    parts = squared_parts(lost, clusters)
    n_parts = len(parts)
    total = float(parts.sum()) * (1.0 if clusters is None else n_parts / max(n_parts - 1, 1))
    # One more row that loses as much as without features, so that the variance is not 0 where nothing was lost.
    variance = (total + float(metric.of_one_row * (baseline - mean)) ** 2) / n_rows**2 + between
    n_independent = None if clusters is None else n_rows * float(lost.var() * n_rows / max(total, 1e-300))
    tail = 0.5 + 0.5 * confidence
    variance *= float(stdtrit(freedom_of(parts), tail) / ndtri(tail)) ** 2
    n_equivalent = _n_equivalent(mean, variance, top, n_rows)
    return Sampling(variance, n_independent and min(max(n_independent, 1.0), n_rows), n_equivalent)


def _n_equivalent(loss: float, variance: float, top: float, n: float) -> float:
    """Return how many rows show a proportion with the variance that a loss has, as a share of the largest one."""
    if not np.isfinite(top):
        return n
    share = (loss / top * n + 0.5) / (n + 1.0)
    most = MOST_ROWS * variance  # a loss that is the same for all rows is known
    return share * (1.0 - share) * top**2 / variance if share * (1.0 - share) * top**2 < most else MOST_ROWS
