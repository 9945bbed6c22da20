"""Where the squared error ends: the learning curve and the products of neighbours' residuals, in one posterior.

With m the training size as a multiple of the largest, and r disjoint models of that size averaged,

    error(m, r)   = θ + e(m, r),     e(m, r) = c m^-b + v / (m r),
    products(m)   = φ e(m, 1),       0 < φ ≤ 1.

e is the bias and the variance of a model, which averaging tells apart. φ is the part of it that neighbours have in
common. Equal rows have all of it in common, but they lie where rows are many, and models are better there: on real
tables, e is half as large between equal rows as in the mean, or as large. Given c, v, b and φ all of this is linear in
θ, so that its posterior is a mixture of truncated normal distributions, one for each point of a grid. Where time moves
on, r is 1 and v m^2 stands for what rows of long ago add to the error.
"""

from typing import NamedTuple

import numpy as np

from bayesfloor.floor.learned.learning_curve import Posterior, mixed_posterior
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.settings import in_detail

#: Scale of the half-Cauchy priors of c and v, as shares of the variance of y: half of all problems have less.
EXCESS = 0.03
#: Largest c and v.
MOST_EXCESS = 1.5
#: Values of φ, all as likely.
COMMON = (0.06, 0.12, 0.2, 0.3, 0.42, 0.56, 0.72, 0.9)
#: Standard deviation of a mean error from the curve, as a share of its distance from the smallest of the errors; the
#: same of a product, as a share of itself.
MISFIT, MISFIT_OF_PRODUCTS = 0.1, 0.15
#: Prior probability that b is 0: that more rows remove nothing of the bias. The errors alone cannot tell it from noise;
#: products can. It is larger where products of equal rows do so exactly.
FLAT, FLAT_OF_EQUAL = 0.01, 0.3
#: Values of φ of equal rows.
OF_EQUAL = (0.5, 1.0)
#: Grid points of c and v, and of c where b is 0.
_N_BIAS, _N_VARIANCE, _N_FLAT = 36, 18, 76


class Fall(NamedTuple):
    """How a bias may fall with more rows.

    Attributes
    ----------
    rates : tuple of float
        Values of b, all as likely.
    excess : float
        Scale of the prior of c.
    """

    rates: tuple[float, ...]
    excess: float


#: Curves for the estimate, and for the better end of an interval, where much may fall slowly and for long.
USUAL = Fall(tuple(np.linspace(0.35, 1.6, 8)), EXCESS)
SLOW = Fall(tuple(np.geomspace(0.15, 1.6, 8)), 0.1)


class Points(NamedTuple):
    """Errors and products, as the posterior takes them.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        Their values.
    covariance : ndarray of shape (p, p)
        For sampling.
    size, averaged : ndarray of shape (p,)
        Training size as a multiple of the largest, and how many disjoint models are averaged.
    is_product : ndarray of shape (p,)
        Which of them are products.
    """

    mean: Floats
    covariance: Floats
    size: Floats
    averaged: Floats
    is_product: np.ndarray

    def of_largest(self) -> "Points":
        """Return the error and the product at the largest size."""
        kept = np.array([0, int(np.argmax(self.is_product))])
        rest = (each[kept] for each in (self.size, self.averaged, self.is_product))
        return Points(self.mean[kept], self.covariance[np.ix_(kept, kept)], *rest)


def _cauchy_nodes(n: int, scale: float) -> Floats:
    """Return points of equal probability of a half-Cauchy distribution, within `MOST_EXCESS`."""
    top = 2.0 / np.pi * np.arctan(MOST_EXCESS / scale)
    return scale * np.tan(0.5 * np.pi * top * (np.arange(n) + 0.5) / n)


def _grid(fall: Fall, common: tuple[float, ...], flat: float) -> tuple[Floats, ...]:
    """Return c, v, b, φ and the logarithm of the prior of each point of the grid, up to a constant."""
    variances = _cauchy_nodes(in_detail(_N_VARIANCE), EXCESS)
    falling = np.meshgrid(_cauchy_nodes(in_detail(_N_BIAS), fall.excess), variances, fall.rates, common, indexing="ij")
    steady = np.meshgrid(np.linspace(0.0, MOST_EXCESS, _N_FLAT), variances, [0.0], common, indexing="ij")
    density = 1.0 / (1.0 + (steady[0].ravel() / fall.excess) ** 2)
    of_falling = np.full(falling[0].size, np.log((1.0 - flat) / falling[0].size))
    of_steady = np.log(flat * density / density.sum())
    grids = [np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(falling, steady, strict=True)]
    return (*grids, np.concatenate([of_falling, of_steady]))


def end_of_curve(
    points: Points, *, fall: Fall = USUAL, common: tuple[float, ...] = COMMON, in_time: bool = False
) -> Posterior:
    """Return the posterior of θ.

    Parameters
    ----------
    points : Points
        What is known.
    fall : Fall, default=USUAL
        Which curves there are.
    common : tuple of float, default=COMMON
        Values of φ.
    in_time : bool, default=False
        Whether smaller training sets are more recent ones.

    Returns
    -------
    Posterior
        `fitted` are the errors and products that the curve has.
    """
    is_equal = common == OF_EQUAL
    c, v, b, phi, log_prior = _grid(fall, common, FLAT_OF_EQUAL if is_equal else FLAT)
    size = points.size
    second = size**2 if in_time else 1.0 / (size * points.averaged)
    rate, of_curve = np.unique(b, return_inverse=True)  # there are few, and powers cost more than all else
    above = c[:, np.newaxis] * (size ** -rate[:, np.newaxis])[of_curve] + v[:, np.newaxis] * second
    above[:, points.is_product] *= phi[:, np.newaxis]
    is_error = ~points.is_product
    smallest = points.mean[is_error].min()
    off = np.where(
        is_error,
        MISFIT * (points.mean - smallest + 1e-3),
        (0.0 if is_equal else MISFIT_OF_PRODUCTS) * np.abs(points.mean) + 1e-4,
    )
    covariance = points.covariance + np.diag(off**2)
    return mixed_posterior(points.mean, covariance, above, 1.0, is_error.astype(np.float64), log_prior)
