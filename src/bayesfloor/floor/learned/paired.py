"""Two models on the same rows: is one of them surely better, and by how much?

Rows that both get right, or both get wrong, say nothing about the difference. What counts are the rows that only one of
them gets wrong:

- The test: were both equally good, each such row would be as likely the one's as the other's. That is McNemar's exact
  test. Where rows belong together, the signs of whole groups are drawn instead, and all sums that these can have are
  counted.
- The interval: Tango's (1998), by the score test of the difference of two paired proportions. Unlike Wald's it holds
  its level where few rows differ.

Where rows count differently, test and interval are those of as many rows, drawn at random, as show the difference as
surely; and so is the interval where rows belong together.

By other metrics than the error, and for numbers, the means of what rows lose are compared (`compare_values`): of a
statistic such as the area under the ROC curve, by the influence of each row, which is DeLong's test.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, gammaln, ndtri, stdtr, stdtrit

from bayesfloor.floor.learned.certainty import freedom_of, squared_parts
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.runtime.arrays import Floats, Ints, Range

#: Parts of their total that sums of weighted rows are rounded to: all that these can add up to are counted.
FINEST = 5000


class Difference(NamedTuple):
    """By how much more one model loses than another, on the same rows.

    Attributes
    ----------
    first, second : float
        What each loses: its error, or a loss by another metric, of which smaller is better.
    value : float
        The first less the second.
    interval : (float, float)
        Where the difference lies. It holds 0 wherever the test does not rule that out.
    p_value : float
        Chance of a difference as large, either way, if both were equally good.
    n_first, n_second : int
        Rows that only the first, and only the second, gets wrong; by other metrics, in which one loses more.
    """

    first: float
    second: float
    value: float
    interval: Range
    p_value: float
    n_first: int
    n_second: int

    def is_sure(self, confidence: float) -> bool:
        """Tell whether a test rejects that both are equal, and the interval leaves out 0."""
        return self.p_value < 1.0 - confidence and not self.interval[0] <= 0.0 <= self.interval[1]


def compare(first: Floats, second: Floats, rows: PlainRows, clusters: Ints | None, confidence: float) -> Difference:
    """Compare the errors of two classifiers.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        1 where each gets a row wrong, else 0; or the share of several tries, which then counts as that part of a row.
    rows : PlainRows
        What each row counts.
    clusters : ndarray of shape (n,) or None
        Rows that err alike have the same number, from 0; None where all are independent.
    confidence : float
        Level of the interval.

    Returns
    -------
    Difference
    """
    first, second = (np.asarray(wrong, np.float64) for wrong in (first, second))
    only_first, only_second = np.maximum(first - second, 0.0), np.maximum(second - first, 0.0)
    errors = [float(rows.weighted(wrong).mean()) for wrong in (first, second)]
    shares = [float(rows.weighted(wrong).mean()) for wrong in (only_first, only_second)]
    n = rows.n_equivalent_of_difference(only_first, only_second, clusters, confidence)
    p_value = paired_p_value(first, second, rows, clusters)
    low, high = difference_interval(shares[0] * n, shares[1] * n, n, confidence)
    if p_value >= 1.0 - confidence:  # the exact test is the stricter one
        low, high = min(low, 0.0), max(high, 0.0)
    counts = round(float(only_first.sum())), round(float(only_second.sum()))
    return Difference(errors[0], errors[1], errors[0] - errors[1], (low, high), p_value, *counts)


def compare_values(first: Floats, second: Floats, clusters: Ints | None, confidence: float) -> Difference:
    """Compare two models by what each row loses; the parameters are those of `compare`.

    The test is Student's, with as many degrees of freedom as the variance of the differences has: where a few rows make
    it up, it is a guess. Of rows that belong together the sums vary.
    """
    value = first - second
    mean, n = float(value.mean()), len(value)
    parts = squared_parts(value, clusters)
    total, n_parts = float(parts.sum()), len(parts)
    difference = float(first.mean()), float(second.mean()), mean
    counts = int(np.count_nonzero(value > 0.0)), int(np.count_nonzero(value < 0.0))
    if total == 0.0:
        return Difference(*difference, (mean, mean), 1.0 if mean == 0.0 else 0.0, *counts)
    error = (total * n_parts / max(n_parts - 1, 1)) ** 0.5 / n
    freedom = freedom_of(parts)
    reach = float(stdtrit(freedom, 0.5 + 0.5 * confidence)) * error
    p_value = 2.0 * float(stdtr(freedom, -abs(mean) / error))
    return Difference(*difference, (mean - reach, mean + reach), p_value, *counts)


def paired_p_value(first: Floats, second: Floats, rows: PlainRows, clusters: Ints | None) -> float:
    """Test whether two classifiers are equally often wrong; the parameters are those of `compare`.

    Returns
    -------
    float
        1 where they are wrong on the same rows.
    """
    first, second = (np.asarray(wrong, np.float64) for wrong in (first, second))
    only_first, only_second = np.maximum(first - second, 0.0), np.maximum(second - first, 0.0)
    if not only_first.any() and not only_second.any():
        return 1.0
    if clusters is not None:
        return sign_flip_p_value(whole_sums(np.bincount(clusters, rows.sample_weight * (first - second))))
    n = rows.n_equivalent_of_difference(only_first, only_second)
    fewer, more = sorted(float(rows.weighted(wrong).mean()) * n for wrong in (only_first, only_second))
    # the tail of a binomial distribution, which is known for numbers that are not whole as well
    return min(2.0 * float(betainc(more, fewer + 1.0, 0.5)), 1.0)


def whole_sums(sums: Ints | Floats) -> Ints:
    """Return sums as whole numbers; those of rows that count differently are rounded, to some thousandths of all."""
    if np.array_equal(sums, np.rint(sums)):
        return sums.astype(np.int64)
    return np.rint(sums * (FINEST / np.abs(sums).sum())).astype(np.int64)


def sign_flip_p_value(sums: Ints) -> float:
    """Test whether differences are as likely of either sign.

    Parameters
    ----------
    sums : ndarray of shape (n_groups,)
        For each group, rows that only the first classifier gets wrong less those that only the second does.

    Returns
    -------
    float
        McNemar's exact p-value where each group is one row; 1 where all are 0.
    """
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    return _exact_p_value(sizes, counts, abs(int(sums.sum())))


def _exact_p_value(sizes: Ints, counts: Ints, observed: int) -> float:
    """Return the chance that a sum of these sizes, with random signs, is as far from 0."""
    chances = np.ones(1)  # that the positive ones sum up to 0, 1, 2, …
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        of_size = np.zeros(size * count + 1)
        k = np.arange(count + 1)
        logs = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0) - count * np.log(2.0)
        of_size[::size] = np.exp(logs)  # binomial
        chances = np.convolve(chances, of_size)
    total = len(chances) - 1
    return min(float(chances[np.abs(2 * np.arange(total + 1) - total) >= observed].sum()), 1.0)


def difference_interval(n_first: float, n_second: float, n: float, confidence: float) -> Range:
    """Return Tango's interval of the difference of two paired proportions.

    Parameters
    ----------
    n_first, n_second : float
        Rows that only the first, and only the second, gets wrong.
    n : float
        All rows.
    confidence : float
        Level of the interval.

    Returns
    -------
    (float, float)
    """
    z = float(ndtri(0.5 + 0.5 * confidence))
    return -_upper_end(n_second, n_first, n, z), _upper_end(n_first, n_second, n, z)


def _upper_end(b: float, c: float, n: float, z: float) -> float:
    """Return the largest difference that the score test does not reject: the root of (b - c - nΔ) + z sd(Δ)."""

    def excess(delta: float) -> float:
        # the second proportion, as likely as can be where the first is larger by delta
        linear = (2.0 * n - b + c) * delta - b - c
        root = max(linear**2 + 8.0 * n * c * delta * (1.0 - delta), 0.0) ** 0.5
        variance = n * (2.0 * (root - linear) / (4.0 * n) + delta * (1.0 - delta))
        return b - c - n * delta + z * max(variance, 0.0) ** 0.5

    start = (b - c) / n + 1e-12  # where no row differs, the score is 0 at 0 itself
    return float(brentq(excess, start, 1.0)) if start < 1.0 and excess(start) > 0.0 else 1.0


def holm(p_values: Any) -> Floats:
    """Adjust p-values of several tests by Holm's method: each is the level at which its test rejects among all."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
