"""A quick figure for the noise of a number: what a linear function leaves, differenced over edges of spanning trees.

Half the squared difference of two residuals has the mean σ² (1 − ‖Q_i − Q_j‖² / 2) where only noise is left, Q having
the orthonormal columns of the linear function. The mean of the differences over that of these shares is σ², or above it
where edges are long: a figure by which sets of columns are compared, and no estimate of the noise.

Rows with the same values are interchangeable: an edge between two places is spread evenly over the pairs of rows that
it could join, and an edge within a place over the pairs there, where its mean is the variance of replicates. All sums
over pairs are closed forms in the first four moments at each place.

The figure is Σ_e c_e (d_e − mean), with d_e the difference of an edge and c_e its coefficient. Edges that share a row
are not independent. With S_v the sum of the terms at row v, the variance is Σ_v S_v² − Σ_e (term)²: all pairs of terms
that share a row, those that share both counted once. Where rows come in groups, S is summed over each group instead.
"""

from dataclasses import dataclass

import numpy as np

from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.floor.trees.problem import Options
from bayesfloor.forest import Forests, spanning_forests
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Minimum number of rows per column for a linear function; with fewer, the mean alone is taken away.
ROWS_PER_COLUMN = 10
#: Edges in a block, which bounds memory.
EDGES_AT_ONCE = 4096


def quick_noise(Z: Floats, y: Floats, groups: Ints | None, options: Options) -> tuple[float, float]:
    """Return half the mean squared difference of what a linear function leaves over all trees, and its standard error.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns of mean 0 and variance 1.
    y : ndarray of shape (n,)
        The target, of mean 0 and variance 1.
    groups : ndarray of shape (n,) or None
        Rows that belong together.
    options : Options
        How to build the trees.

    Returns
    -------
    noise, error : float
        As a share of the variance of y.
    """
    axes = _linear_axes(Z if Z.shape[1] * ROWS_PER_COLUMN < len(Z) else Z[:, :0])
    forests = spanning_forests(Z, **options.engine(options.random_state))
    edges = _edges(forests, axes, y - axes @ (axes.T @ y), groups)
    if not edges.n_trees:  # nothing joins two groups
        return 1.0, 0.0
    level, share = edges.tree_means()
    pooled = share / share.sum()
    return float(pooled @ level), edges.error_of(pooled, level)


def standard_columns(X: Floats) -> Floats:
    """Return columns of mean 0 and variance 1; constant ones stay 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers of any size.

    Returns
    -------
    ndarray of shape (n, d)
    """
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * high - 0.5 * low
    is_constant = half == 0.0
    unit = (0.5 * X - 0.5 * (0.5 * low + 0.5 * high)) / np.where(is_constant, 1.0, half)  # within [-1, 1] at any size
    unit -= unit.mean(axis=0)
    spread = unit.std(axis=0)
    return np.where(is_constant, 0.0, unit / np.where(spread > 0, spread, 1.0))


def _linear_axes(Z: Floats) -> Floats:
    """Return orthonormal columns that span the linear functions."""
    U, s, _ = np.linalg.svd(np.column_stack([np.ones(len(Z)), Z]), full_matrices=False)
    return U[:, s > 1e-8 * s[0]]


def _edges(forests: Forests, axes: Floats, residual: Floats, groups: Ints | None) -> "EdgeDifferences":
    """Return the edges that count: all, or those between groups."""
    i, j = forests.edges.T
    kept = kept_share(axes, i, j)
    places, numbers = forests.sites, None
    chosen = np.ones(len(i), bool)
    if groups is not None:
        places = np.arange(len(residual))  # rows of equal values are in different groups
        numbers = in_order_of_appearance(groups)
        chosen = groups[i] != groups[j]
    tree = np.unique(forests.tree[chosen], return_inverse=True)[1]
    at_least = np.maximum(kept, 1e-3)[chosen]
    return EdgeDifferences(places[i][chosen], places[j][chosen], tree, at_least, residual, places, numbers)


def kept_share(axes: Floats, first: Ints, second: Ints) -> Floats:
    """Return, for each pair of rows, which share of σ² is left in half the squared difference of their residuals.

    Parameters
    ----------
    axes : ndarray of shape (n, p)
        Orthonormal columns that were taken away.
    first, second : ndarray of shape (n_pairs,)
        Rows.

    Returns
    -------
    ndarray of shape (n_pairs,)
    """
    lost = np.ones(axes.shape[1])
    kept = np.empty(len(first))
    for start in range(0, len(first), EDGES_AT_ONCE):
        pairs = slice(start, start + EDGES_AT_ONCE)
        kept[pairs] = 1.0 - 0.5 * (axes[first[pairs]] - axes[second[pairs]]) ** 2 @ lost
    return kept


@dataclass(frozen=True, eq=False)
class EdgeDifferences:
    """Edges of all trees, the half squared differences over them, and what they are made of.

    Attributes
    ----------
    first, second : ndarray of shape (n_edges,)
        The places that each edge joins.
    tree : ndarray of shape (n_edges,)
        Its tree.
    kept : ndarray of shape (n_edges,)
        The share of the noise variance that its difference holds.
    values : ndarray of shape (n,)
        The number that differs, for each row.
    place : ndarray of shape (n,)
        The place of each row.
    groups : ndarray of shape (n,) or None
        Rows that are not independent have the same number.
    """

    first: Ints
    second: Ints
    tree: Ints
    kept: Floats
    values: Floats
    place: Ints
    groups: Ints | None

    def __post_init__(self) -> None:
        n_places = int(self.place.max()) + 1
        count = np.bincount(self.place, minlength=n_places).astype(np.float64)
        mean = np.bincount(self.place, self.values, n_places) / count
        centred = self.values - mean[self.place]
        moments = [np.bincount(self.place, centred**power, n_places) / count for power in (2, 3, 4)]
        object.__setattr__(self, "_count", count)
        object.__setattr__(self, "_mean", mean)
        object.__setattr__(self, "_moments", moments)

    @property
    def n_trees(self) -> int:
        """Trees that have an edge left."""
        return int(self.tree.max()) + 1 if len(self.tree) else 0

    @property
    def within(self) -> Bools:
        """Which edges join rows of the same values."""
        return self.first == self.second

    def differences(self) -> Floats:
        """Return the mean of (a − b)² / 2 over the pairs of rows of each edge."""
        count, mean, (variance, *_) = self._count, self._mean, self._moments  # type: ignore[attr-defined]
        a, b = self.first, self.second
        between = 0.5 * ((mean[a] - mean[b]) ** 2 + variance[a] + variance[b])
        unbiased = variance[a] * count[a] / np.maximum(count[a] - 1.0, 1.0)
        return np.where(self.within, unbiased, between)

    def tree_means(self) -> tuple[Floats, Floats]:
        """Return, for each tree, the noise variance that its edges give, and what they count."""
        total, kept = (
            np.bincount(self.tree, each, self.n_trees).astype(np.float64) for each in (self.differences(), self.kept)
        )
        return total / kept, kept

    def error_of(self, coefficient: Floats, level: Floats) -> float:
        """Return the standard error of a figure, made of the means of the trees by these coefficients."""
        sums, squares = self.row_terms(coefficient, level)
        return float(np.sqrt(max(float(sums @ sums) - squares, 0.5 * squares, 0.0)))

    def row_terms(self, coefficient: Floats, level: Floats) -> tuple[Floats, float]:
        """Return S_v of a figure for each row, or group, and the sum of squares of its terms.

        Parameters
        ----------
        coefficient, level : ndarray of shape (n_trees,)
            The coefficient of the mean of each tree, and those means.

        Returns
        -------
        sums : ndarray of shape (n,), or (n_groups,)
        squares : float
        """
        count, mean, (variance, third, fourth) = self._count, self._mean, self._moments  # type: ignore[attr-defined]
        share = np.bincount(self.tree, self.kept, self.n_trees)
        of_edge = (coefficient / share)[self.tree]
        expected = level[self.tree] * self.kept
        n_places = len(count)
        sums = np.zeros(len(self.values))
        squares = 0.0
        apart, inside = ~self.within, self.within

        a, b, c, known = self.first[apart], self.second[apart], of_edge[apart], expected[apart]
        for here, there in ((a, b), (b, a)):
            # mean over the rows there: (r − r')² / 2 = r²/2 − r m + (m² + v)/2
            of_there = 0.5 * (mean[there] ** 2 + variance[there]) - known
            parts = (np.bincount(here, c * each, n_places) / count for each in (0.5, -mean[there], of_there))
            quadratic, linear, constant = (each[self.place] for each in parts)
            sums += quadratic * self.values**2 + linear * self.values + constant
        gap, spread = mean[a] - mean[b], variance[a] + variance[b]
        quartic = gap**4 + 6.0 * gap**2 * spread + 4.0 * gap * (third[a] - third[b]) + fourth[a] + fourth[b]
        quartic += 6.0 * variance[a] * variance[b]
        squares += float(c**2 / (count[a] * count[b]) @ (quartic / 4.0 - known * (gap**2 + spread) + known**2))

        a, c, known = self.first[inside], of_edge[inside], expected[inside]
        if len(a):
            size = count[a]
            total, of_known = np.bincount(a, c, n_places), np.bincount(a, c * known, n_places)
            others = np.maximum(count - 1.0, 1.0)
            from_mean = (self.values - mean[self.place]) ** 2 + variance[self.place]
            sums += total[self.place] * from_mean / others[self.place] - (2.0 * of_known / count)[self.place]
            quartic = size / (size - 1.0) * (2.0 * fourth[a] + 6.0 * variance[a] ** 2)
            square = 2.0 * variance[a] * size / (size - 1.0)
            squares += float(c**2 * 2.0 / (size * (size - 1.0)) @ (quartic / 4.0 - known * square + known**2))
        return sums if self.groups is None else np.bincount(self.groups, sums).astype(np.float64), squares
