"""The smooth part of a number: what a linear smoother explains of y, so that differences of the rest are mostly noise.

Over an edge of a spanning tree, y changes by noise and by what is known of it. In more than three dimensions edges are
long, and the second is no longer small. A smoother takes most of it away first::

    y  =  a linear function  +  curves of single columns  +  Gaussian bumps at some of the rows  +  what is left

One penalty for curves and bumps, their share and the width of the bumps are chosen by generalised cross-validation. The
mean square of the gradient of the fit says how much each column matters. Columns are scaled by it, and all is fitted
once more: bumps, and edges, are then short where y changes.

The fit is H y with H = Q diag(s) Q', Q orthonormal. What is left is no longer independent from row to row, but by a
known amount: for noise of variance σ², half the squared difference of rows i and j has the mean
σ² (1 − Σ_p (2 s_p − s_p²)(Q_ip − Q_jp)² / 2), see `kept_share`.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from bayesfloor.learn.ridge import eigenpairs, gaussian_slopes, gcv_scores, landmark_factor
from bayesfloor.learn.training_rows import distances_between, squared_distances
from bayesfloor.runtime.arrays import Floats, Ints

#: Maximum number of rows on which scales, widths and shares are chosen.
SEARCH_ROWS = 2000
#: Maximum number of bumps, while choosing and in the final fit.
SEARCH_BUMPS, BUMPS = 200, 300
#: Width of the bumps, as a share of the median distance: weights of curves to try with it.
CANDIDATES = {0.5: (0.0, 1.0), 1.0: (0.0, 1.0), 2.0: (0.0, 10.0)}
#: Maximum number of curves, in all and for one column.
CURVES, CURVES_OF_COLUMN = 300, 7
#: Minimum number of rows, or groups of rows, to fit more than the mean.
FEWEST_TO_FIT = 20
#: Minimum scale of a column that has curves.
NEGLIGIBLE = 0.02
#: Minimum number of rows per column for a linear part without penalty.
ROWS_PER_COLUMN = 10
#: Maximum degrees of freedom of the smoother, as a share of the rows.
MOST_FREEDOM = 0.5
#: Factor of the degrees of freedom in cross-validation: 1 fits noise now and then (Kim and Gu 2004).
CAUTION = 1.1
#: Minimum share of an axis that is kept.
FAINT = 1e-5
#: Edges in a block, which bounds memory.
EDGES_AT_ONCE = 4096


class SmoothPart(NamedTuple):
    """A linear smoother H = Q diag(s) Q' and what it leaves of y.

    Attributes
    ----------
    residual : ndarray of shape (n,)
        y − H y.
    axes, shares : ndarray of shape (n, p) and (p,)
        Q and s.
    scale : ndarray of shape (d,)
        What each column was multiplied by, at most 1: how much it matters.
    freedom : float
        Degrees of freedom, the trace of H.
    """

    residual: Floats
    axes: Floats
    shares: Floats
    scale: Floats
    freedom: float


def smooth_part(Z: Floats, y: Floats, seed: int, n_units: int) -> SmoothPart:
    """Fit the smooth part of y.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns of mean 0 and variance 1, rows in an order that depends on their values only.
    y : ndarray of shape (n,)
        The target, of mean 0 and variance 1.
    seed : int
        Seed of the choice of rows.
    n_units : int
        Rows, or groups of rows, that are independent: they limit the degrees of freedom.

    Returns
    -------
    SmoothPart
    """
    n = len(y)
    if n_units < FEWEST_TO_FIT or not Z.any():
        return linear_part(Z[:, :0], y)._replace(scale=np.ones(Z.shape[1]))
    most = MOST_FREEDOM * n_units / n
    rows = np.sort(np.random.default_rng(seed).permutation(len(Z))[:SEARCH_ROWS])
    some, target = Z[rows], y[rows]
    first = _best(some, target, np.ones(Z.shape[1]), most, seed)[0]
    slope = np.sqrt(np.mean(first.gradient() ** 2, axis=0))
    scale = slope / slope.max() if slope.max() > 0 else np.ones(len(slope))
    _, width, mixture = _best(some, target, scale, most, seed)
    return _Basis(Z, scale, width, BUMPS, seed).fit(y, mixture, most).part()


def linear_part(Z: Floats, y: Floats) -> SmoothPart:
    """Fit a linear function; the mean alone where rows are few.

    Parameters
    ----------
    Z, y
        As for `smooth_part`.

    Returns
    -------
    SmoothPart
    """
    n, d = Z.shape
    axes = _linear_axes(Z if d * ROWS_PER_COLUMN < n else Z[:, :0])
    return SmoothPart(y - axes @ (axes.T @ y), axes, np.ones(axes.shape[1]), np.ones(d), float(axes.shape[1]))


def _best(Z: Floats, y: Floats, scale: Floats, most: float, seed: int) -> tuple["_Fit", float, float]:
    """Return the candidate with the best score, its width and its weight of curves."""
    tried = []
    for width, mixtures in CANDIDATES.items():
        basis = _Basis(Z, scale, width, SEARCH_BUMPS, seed)
        tried += [(basis.fit(y, mixture, most), width, mixture) for mixture in mixtures]
    return min(tried, key=lambda each: each[0].score)


class _Basis:
    """The linear part, bumps and curves of some rows, and the products of their columns."""

    def __init__(self, Z: Floats, scale: Floats, width: float, n_bumps: int, seed: int) -> None:
        n, d = Z.shape
        self.Z, self.scale = Z, scale
        self.plain = _linear_axes(Z) if d * ROWS_PER_COLUMN < n else np.full((n, 1), n**-0.5)
        self.bumps = _Bumps.at(Z * scale, min(n_bumps, max(n // 2, 2)), width, seed)
        self.curves, self.slopes, self.column = _curves(Z, scale, with_lines=self.plain.shape[1] == 1)
        self.n_bumps = self.bumps.features.shape[1]
        features = np.hstack([self.bumps.features, self.curves])
        self.features = features - self.plain @ (self.plain.T @ features)
        self.products = self.features.T @ self.features

    def fit(self, y: Floats, mixture: float, most: float) -> "_Fit":
        """Fit y with curves of this weight, with the penalty that cross-validation chooses."""
        return _Fit(self, y, mixture, most)


class _Fit:
    """A fit of y in a basis."""

    def __init__(self, basis: _Basis, y: Floats, mixture: float, most: float) -> None:
        n, n_plain = basis.plain.shape
        self.basis, self.y = basis, y
        self.weight = np.repeat([1.0, mixture**0.5], [basis.n_bumps, len(basis.column) if mixture else 0])
        self.features = basis.features[:, : len(self.weight)]
        rest = y - basis.plain @ (basis.plain.T @ y)
        products = basis.products[: len(self.weight), : len(self.weight)] * self.weight[:, np.newaxis] * self.weight
        self.strengths, self.directions = eigenpairs(products)
        moments = self.directions.T @ (self.weight * (self.features.T @ rest))
        scores, penalties = gcv_scores(
            self.strengths, moments**2, float(rest @ rest), n, CAUTION, CAUTION * n_plain, CAUTION * most
        )
        best = int(scores.argmin())
        self.shares = self.strengths / (self.strengths + penalties[best])
        self.score, self.freedom = float(scores[best]), float(self.shares.sum()) + n_plain
        self.coefficients = self.weight * (self.directions @ (moments / (self.strengths + penalties[best])))

    def fitted(self) -> Floats:
        """Return H y."""
        plain = self.basis.plain
        return plain @ (plain.T @ self.y) + self.features @ self.coefficients

    def part(self) -> SmoothPart:
        """Return the smoother and what it leaves."""
        plain, used = self.basis.plain, self.shares > FAINT
        to_axes = self.weight[:, np.newaxis] * (self.directions[:, used] / np.sqrt(self.strengths[used]))
        axes = np.hstack([plain, self.features @ to_axes])
        shares = np.concatenate([np.ones(plain.shape[1]), self.shares[used]])
        return SmoothPart(self.y - self.fitted(), axes, shares, self.basis.scale, self.freedom)

    def gradient(self) -> Floats:
        """Return the gradient of the fit at each row."""
        basis = self.basis
        of_bumps, of_curves = np.split(self.coefficients, [basis.n_bumps])
        gradient = basis.bumps.gradient(of_bumps) * basis.scale
        n_curves = len(of_curves)  # none, or all
        np.add.at(gradient.T, basis.column[:n_curves], (basis.slopes[:, :n_curves] * of_curves).T)
        if basis.plain.shape[1] > 1:
            linear = self.fitted() - basis.bumps.features @ of_bumps - basis.curves[:, :n_curves] @ of_curves
            gradient += np.linalg.lstsq(np.column_stack([np.ones(len(linear)), basis.Z]), linear, rcond=None)[0][1:]
        return gradient


def _linear_axes(Z: Floats) -> Floats:
    """Return orthonormal columns that span the linear functions."""
    U, s, _ = np.linalg.svd(np.column_stack([np.ones(len(Z)), Z]), full_matrices=False)
    return U[:, s > 1e-8 * s[0]]


class _Bumps(NamedTuple):
    """Gaussian functions of the distance to some rows, made orthonormal in their own space (Nyström's method)."""

    features: Floats
    kernel: Floats
    factor: Floats
    points: Floats
    centres: Floats
    rate: float

    @classmethod
    def at(cls, points: Floats, number: int, width: float, seed: int) -> "_Bumps":
        distinct = np.unique(points, axis=0)
        centres = distinct[np.random.default_rng(seed).permutation(len(distinct))[:number]]
        between, typical = distances_between(centres)
        rate = -0.5 / (width**2 * typical)
        factor = landmark_factor(between, rate)
        kernel = np.exp(rate * squared_distances(points, centres))
        features = linalg.solve_triangular(factor, kernel.T, lower=True, check_finite=False).T
        return cls(features, kernel, factor, points, centres, rate)

    def gradient(self, coefficients: Floats) -> Floats:
        """Return the gradient of a sum of bumps at each point."""
        heights = linalg.solve_triangular(self.factor, coefficients, lower=True, trans="T")
        return gaussian_slopes(self.points, self.centres, self.kernel * heights, self.rate)


def _curves(Z: Floats, scale: Floats, *, with_lines: bool) -> tuple[Floats, Floats, Ints]:
    """Return hat functions of single columns, their slopes, and the column of each.

    Knots are quantiles. Columns that matter more have a smaller penalty. A line of each column comes with them
    where there are too many columns for a linear part without penalty.
    """
    n, d = Z.shape
    matters = np.flatnonzero(scale >= NEGLIGIBLE)
    n_knots = min(CURVES_OF_COLUMN, CURVES // max(len(matters), 1))
    values: list[Floats] = []
    slopes: list[Floats] = []
    columns: list[int] = []
    for column in matters if n_knots > 1 else ():
        knots = np.unique(np.quantile(Z[:, column], np.linspace(0.0, 1.0, n_knots + 2)))
        for left, middle, right in zip(knots, knots[1:], knots[2:], strict=False):
            z = Z[:, column]
            rising, falling = (z - left) / (middle - left), (right - z) / (right - middle)
            values.append(np.maximum(np.minimum(rising, falling), 0.0))
            is_rising, is_falling = (z > left) & (z <= middle), (z > middle) & (z < right)
            slopes.append(is_rising / (middle - left) - is_falling / (right - middle))
            columns.append(int(column))
    if with_lines:
        values.extend(Z.T)
        slopes.extend(np.ones((d, n)))
        columns.extend(range(d))
    own = np.array(columns, np.int64)
    empty = np.zeros((n, 0))
    if not len(own):
        return empty, empty, own
    return np.column_stack(values) * scale[own], np.column_stack(slopes) * scale[own], own


def kept_share(part: SmoothPart, first: Ints, second: Ints) -> Floats:
    """Return, for each pair of rows, which share of σ² is left in half the squared difference of their residuals.

    Parameters
    ----------
    part : SmoothPart
        The smoother.
    first, second : ndarray of shape (n_pairs,)
        Rows.

    Returns
    -------
    ndarray of shape (n_pairs,)
    """
    lost = 2.0 * part.shares - part.shares**2
    kept = np.empty(len(first))
    for start in range(0, len(first), EDGES_AT_ONCE):
        pairs = slice(start, start + EDGES_AT_ONCE)
        kept[pairs] = 1.0 - 0.5 * (part.axes[first[pairs]] - part.axes[second[pairs]]) ** 2 @ lost
    return kept
