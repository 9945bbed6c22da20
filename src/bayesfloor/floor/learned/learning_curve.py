"""Where does a learning curve end? The floor as the limit of errors at a few training sizes.

Four curves, with the training size m as a multiple of the largest one:

(a) error(m) = θ + c m^-b
(b) error(m, r) = θ + c m^-b + v / (m r), where r models trained on disjoint rows are averaged: that divides their
    variance by r and leaves their bias, which tells the two apart.
(c) error(m) = θ + c m^-b + s m^a, where m is how far back in time the training rows go: those of long ago mislead where
    classes have moved since.
(d) curve (b) over decades of training sizes, of tables on disk. Learners see structure of one scale after the other, so
    that slopes of small sizes tell little of what is left, and errors of large tables fall slowly: half of the problems
    of benchmarks/truth/disk_curves.py have more than four times as much left as the last fourfold of the rows took off.

Given all but θ the errors are linear in θ, so its posterior is a mixture of truncated normal distributions, one for
each point of a grid over the rest.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from bayesfloor.floor.learned.rules import N_COMPARED
from bayesfloor.runtime.arrays import Floats, Range
from bayesfloor.runtime.settings import in_detail

#: Prior mean of c in curve (a): the excess over the floor at the largest size.
EXCESS = 0.05
#: Prior mean of c in curve (b): the bias at the largest size.
BIAS = 0.03
#: Prior mean of v in curve (b): the variance of one model at the largest size.
VARIANCE = 0.03
#: Prior mean of s in curve (c): what rows of long ago add to the error at the largest size.
STALENESS = 0.03
#: Powers a of curve (c): an optimum that moves at an even speed, seen through a boundary that is off by as much, costs
#: the square of the time that has passed.
STALE_POWERS = (1.0, 2.0)
#: Lowest and highest rate b of the grid.
RATES = (0.3, 1.6)
#: The same for the lower end of an interval, where a curve that hardly falls any more may fall for long.
SLOW_RATES = (0.2, 1.6)
#: Standard deviation of a mean error from the curve, as a share of its distance from the smallest of the errors.
MISFIT = 0.1
#: Lowest and highest rate of curve (d), all octaves as likely, and its misfit.
DECADES_RATES, DECADES_MISFIT = (0.05, 1.6), 0.2
#: Prior mean of c in curve (d); v is as in curve (b).
DECADES_EXCESS = 0.1
#: Grid points for b, c and v in curve (d), and the smallest c and v: v / m has to be small at a thousandth of the rows.
_N_DECADES, _LEAST_OF_DECADES = (12, 24, 14), (1e-4, 1e-5)
#: Grid points for c in curve (a); curve (b) has half as many for c and for v.
_N_LEVELS = 60
#: Grid points for b in curve (a); curve (b) has half as many.
_N_RATES = 14
#: Curves above which each is moved to one of so many places before their posteriors are added.
MOST_CURVES, _N_PLACES = 8000, 600
#: Distance of the places of `_sum_of_normals`, and terms of the series about each: the next one is below 1e-10.
_CELL, _N_TERMS = 0.25, 7


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of the floor, as a distribution on a grid.

    Attributes
    ----------
    theta : ndarray
        Values of the floor.
    cdf : ndarray
        Probability that it is at most that.
    mean : float
        Its mean.
    fitted : ndarray
        Mean of the curve at the points it was fitted to.
    """

    theta: Floats
    cdf: Floats
    mean: float
    fitted: Floats

    def quantile(self, level: float) -> float:
        """Return the value that the floor is below with a probability."""
        return float(np.interp(level, self.cdf, self.theta))


def curve_posterior(
    values: Floats,
    variance: float,
    sizes: Floats,
    largest: float,
    n_rows: float | None = None,
    rates: Range = RATES,
) -> Posterior:
    """Fit curve (a).

    Parameters
    ----------
    values : ndarray of shape (n, n_points)
        An estimate of each row's error at each training size, the largest first.
    variance : float
        Sampling variance of the error, at the largest size.
    sizes : ndarray of shape (n_points,)
        Training sizes as multiples of the largest.
    largest : float
        What the floor cannot exceed.
    n_rows : float or None, default=None
        How many independent rows say as much as these, where some belong together; None for n.
    rates : (float, float), default=RATES
        Lowest and highest rate of the grid.

    Returns
    -------
    Posterior
    """
    c = _exponential_nodes(EXCESS, in_detail(_N_LEVELS))
    b = np.linspace(*rates, in_detail(_N_RATES))
    c, b = (grid.ravel() for grid in np.meshgrid(c, b, indexing="ij"))
    return _posterior(values, variance, c[:, None] * sizes ** -b[:, None], largest, n_rows)


def split_posterior(
    values: Floats,
    variance: float,
    sizes: Floats,
    averaged: Floats,
    largest: float,
    n_rows: float | None = None,
    rates: Range = RATES,
) -> Posterior:
    """Fit curve (b), which also takes how many disjoint models were averaged at each point."""
    c = _exponential_nodes(BIAS, in_detail(_N_LEVELS // 2))
    v = _exponential_nodes(VARIANCE, in_detail(_N_LEVELS // 2))
    b = np.linspace(*rates, in_detail(_N_RATES // 2))
    c, v, b = (grid.ravel() for grid in np.meshgrid(c, v, b, indexing="ij"))
    above = c[:, None] * sizes ** -b[:, None] + v[:, None] / (sizes * averaged)
    return _posterior(values, variance, above, largest, n_rows)


def drift_posterior(
    values: Floats,
    variance: float,
    sizes: Floats,
    largest: float,
    n_rows: float | None = None,
    rates: Range = RATES,
) -> Posterior:
    """Fit curve (c), for training rows that go back in time."""
    c = _exponential_nodes(EXCESS, in_detail(_N_LEVELS // 2))
    s = _exponential_nodes(STALENESS, in_detail(_N_LEVELS // 2))
    b = np.linspace(*rates, in_detail(_N_RATES // 2))
    c, s, b, a = (grid.ravel() for grid in np.meshgrid(c, s, b, STALE_POWERS, indexing="ij"))
    above = c[:, None] * sizes ** -b[:, None] + s[:, None] * sizes ** a[:, None]
    return _posterior(values, variance, above, largest, n_rows)


def goes_over_decades(sizes: Floats) -> bool:
    """Tell whether there are training sizes below a quarter of the largest."""
    return len(sizes) > N_COMPARED


def decades_posterior(
    values: Floats,
    variance: float,
    sizes: Floats,
    averaged: Floats,
    largest: float,
    n_rows: float | None = None,
) -> Posterior:
    """Fit curve (d), which takes what curve (b) does."""
    n_rates, n_excess, n_variances = _N_DECADES
    c, of_c = _exponential_octaves(DECADES_EXCESS, _LEAST_OF_DECADES[0], n_excess)
    v, of_v = _exponential_octaves(VARIANCE, _LEAST_OF_DECADES[1], n_variances)
    b = np.geomspace(*DECADES_RATES, n_rates)
    log_prior = np.add.outer(np.add.outer(of_c, of_v), np.zeros(n_rates)).ravel()
    c, v, b = (grid.ravel() for grid in np.meshgrid(c, v, b, indexing="ij"))
    above = c[:, None] * sizes ** -b[:, None] + v[:, None] / (sizes * averaged)
    covariance = covariance_of(values, variance, n_rows, DECADES_MISFIT)
    return mixed_posterior(values.mean(axis=0), covariance, above, largest, np.ones(values.shape[1]), log_prior)


def _exponential_octaves(mean: float, least: float, n: int) -> tuple[Floats, Floats]:
    """Return 0 and points at equal ratios, up to ten means, and logarithms of their exponential prior."""
    points = np.geomspace(least, 10.0 * mean, n)
    log_prior = np.log(points) - points / mean
    return np.append(0.0, points), np.append(log_prior[0], log_prior)


def _exponential_nodes(mean: float, n: int) -> Floats:
    """Return points of equal probability of an exponential distribution."""
    return -mean * np.log1p(-(np.arange(n) + 0.5) / n)


def _posterior(
    values: Floats, variance: float, above: Floats, largest: float, n_rows: float | None = None
) -> Posterior:
    """Mix the posteriors of the floor over a grid of curves, each given by its heights above the floor."""
    covariance = covariance_of(values, variance, n_rows)
    return mixed_posterior(values.mean(axis=0), covariance, above, largest, np.ones(values.shape[1]))


def mixed_posterior(
    means: Floats,
    covariance: Floats,
    above: Floats,
    largest: float,
    levels: Floats,
    log_prior: Floats | float = 0.0,
) -> Posterior:
    """Mix the posteriors of θ over a grid of curves.

    Parameters
    ----------
    means : ndarray of shape (n_points,)
        What was observed.
    covariance : ndarray of shape (n_points, n_points)
        Of what was observed, about the curve.
    above : ndarray of shape (n_curves, n_points)
        What each curve has at the points, less θ times `levels`.
    largest : float
        What θ cannot exceed.
    levels : ndarray of shape (n_points,)
        1 where a point lies above θ, 0 where θ has no part in it.
    log_prior : ndarray of shape (n_curves,) or float, default=0.0
        Logarithm of the prior of each curve, up to a constant.

    Returns
    -------
    Posterior
    """
    precision = np.linalg.inv(covariance)
    weighted = precision @ levels
    total = float(levels @ weighted)
    rest = means - above
    theta_hat = rest @ weighted / total
    misfit = np.einsum("gp,pq,gq->g", rest, precision, rest, optimize=True) - total * theta_hat**2
    width = 1.0 / total**0.5
    log_weight = log_prior - 0.5 * misfit + _log_mass(theta_hat / width, (largest - theta_hat) / width)
    weight = np.exp(log_weight - log_weight.max())
    # Grid points of negligible weight are dropped: each costs as much as one that matters.
    weight /= weight.sum()
    kept = weight > 1e-7
    weight, theta_hat, above = weight[kept] / weight[kept].sum(), theta_hat[kept], above[kept]
    low = max(0.0, float(theta_hat.min()) - 6 * width)
    high = min(largest, max(float(theta_hat.max()) + 6 * width, low + 1e-9))
    theta = np.linspace(low, max(high, low + 1e-9), 400)
    bottom = ndtr(-theta_hat / width)
    mass = weight / np.maximum(ndtr((largest - theta_hat) / width) - bottom, 1e-300)
    below = float(mass @ bottom)
    if len(theta_hat) > MOST_CURVES:  # many share a place: a sum over a fine grid of places costs little
        places = np.linspace(theta_hat.min(), max(theta_hat.max(), theta_hat.min() + 1e-12), _N_PLACES)
        of_curve = np.searchsorted(places, theta_hat).clip(0, _N_PLACES - 1)
        theta_hat, mass = places, np.bincount(of_curve, mass, minlength=_N_PLACES)
    cdf = np.maximum.accumulate(np.clip(_sum_of_normals(theta / width, theta_hat / width, mass) - below, 0.0, 1.0))
    cdf /= max(float(cdf[-1]), 1e-300)
    mean = float(theta[-1] - (np.diff(theta) * (cdf[1:] + cdf[:-1]) / 2.0).sum())
    return Posterior(theta=theta, cdf=cdf, mean=mean, fitted=mean * levels + weight @ above)


def _sum_of_normals(x: Floats, means: Floats, mass: Floats) -> Floats:
    """Return the sum of normal distribution functions of deviation 1, each times its mass, at x.

    The functions of means that are close together are expanded about one place, of which there are few:

        Φ(z - δ) = Φ(z) - φ(z) Σ_k δ^k / k! He_{k-1}(z).
    """
    places, of_mean = np.unique(np.rint(means / _CELL), return_inverse=True)
    offset = means - _CELL * places[of_mean]
    z = x[:, np.newaxis] - _CELL * places
    total = ndtr(z) @ np.bincount(of_mean, mass)
    term, next_term = np.zeros_like(z), np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    for k in range(1, _N_TERMS + 1):
        mass = mass * offset / k
        total -= next_term @ np.bincount(of_mean, mass)
        term, next_term = next_term, z * next_term - (k - 1) * term
    return total


def _log_mass(left: Floats, right: Floats) -> Floats:
    """Return the log probability of a normal variable between -left and right deviations from its mean."""
    # Computed in the tail where both ends lie on one side of the mean.
    a, b = np.where(right < left, -right, -left), np.where(right < left, left, right)
    upper, lower = log_ndtr(b), log_ndtr(a)
    return upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-15)))


def covariance_of(values: Floats, variance: float, n_rows: float | None = None, misfit: float = MISFIT) -> Floats:
    """Return the covariance of the mean errors, which are of the same rows, and of the curve's own misfit.

    The part that the points have in common is at least `variance`: what a model expects of itself follows the labels
    that it was calibrated with, and so varies with them.
    """
    n, n_points = n_rows or len(values), values.shape[1]
    means = values.mean(axis=0)
    covariance = np.cov(values.T, bias=True).reshape(n_points, n_points) / n
    covariance += max(variance - covariance[0, 0], 0.0)
    off = 0.3 / n + misfit * (means - means.min() + 1e-3)
    return covariance + np.diag(off**2)


def power_of(excess: Floats, relative: Floats) -> float:
    """Return the power of the size through both ends of a curve, of its largest sizes where it goes over decades.

    A mean of power laws is no power law.
    """
    excess, relative = excess[:N_COMPARED], relative[:N_COMPARED]
    if not 0.0 < excess[0] < excess[-1]:
        return 1.0  # there is next to nothing to fall
    return float(np.log(excess[-1] / excess[0]) / -np.log(relative[-1]))
