"""Half squared differences of a number over the edges of spanning trees: their mean in each tree, and how sure it is.

Rows with the same values are interchangeable: an edge between two places is spread evenly over the pairs of rows that
it could join, and an edge within a place over the pairs there, where its mean is the variance of replicates. All sums
over pairs are closed forms in the first four moments at each place.

A figure made of these means is Σ_e c_e (d_e − mean), with d_e the difference of an edge and c_e its coefficient. Edges
that share a row are not independent. With S_v the sum of the terms at row v, the variance is Σ_v S_v² − Σ_e (term)²:
all pairs of terms that share a row, those that share both counted once. Where rows come in groups, S is summed over
each group instead.
"""

from dataclasses import dataclass

import numpy as np

from bayesfloor.runtime.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class EdgeDifferences:
    """Edges of all trees, the half squared differences over them, and what they are made of.

    Attributes
    ----------
    first, second : ndarray of shape (n_edges,)
        The places that each edge joins.
    tree : ndarray of shape (n_edges,)
        Its tree.
    length : ndarray of shape (n_edges,)
        Its length.
    kept : ndarray of shape (n_edges,)
        The share of the noise variance that its difference holds.
    weight : ndarray of shape (n_edges,)
        What it counts.
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
    length: Floats
    kept: Floats
    weight: Floats
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

    def tree_means(self) -> tuple[Floats, Floats, Floats]:
        """Return, for each tree, the noise variance that its edges give, their mean length, and what they count."""
        total, length, kept, weight = (
            np.bincount(self.tree, self.weight * each, self.n_trees).astype(np.float64)
            for each in (self.differences(), self.length, self.kept, np.ones(len(self.tree)))
        )
        return total / kept, length / weight, kept

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
        share = np.bincount(self.tree, self.weight * self.kept, self.n_trees)
        of_edge = (coefficient / share)[self.tree] * self.weight
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
        return self.by_unit(sums), squares

    def by_unit(self, values: Floats) -> Floats:
        """Sum values of rows over each group, if there are any."""
        return values if self.groups is None else np.bincount(self.groups, values).astype(np.float64)
