"""From forests and labels to cross edges: how many, how sure, how many by chance.

::

    forests + labels ──► EdgeSums ────────► CrossEdges ──► the equations of henze_penrose
                         (identical rows    R, its variance, its permutation moments,
                          interchangeable)  and the forced edges among them

The three ways to look at one pass over the data are `of_whole`, `of_each_class` and
`of_each_pair`; their results have shape (), (K,) and (K(K−1)/2,).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.floor.trees.between_groups import edges_between_groups, share_between_groups
from bayesfloor.floor.trees.results import CrossEdgeCount
from bayesfloor.floor.trees.uncertainty import (
    cross_edge_interval,
    cross_edge_variance,
    permutation_moments,
    permutation_p_value,
    smoothed_share,
)
from bayesfloor.forest import ClassForests, Forests
from bayesfloor.forest.results import EdgeSums
from bayesfloor.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class CrossEdges:
    """Cross edges of one or many problems, as a mean per spanning tree.

    Where a tree does not span, the share of cross edges among all edges stands in: R is that share
    times n − 1, the edges of a spanning tree.

    Attributes
    ----------
    count : ndarray
        R, label-averaged, before any correction.
    forced : ndarray
        Edges per tree that are there only because a tree must join classes that share no point.
    variance : ndarray
        Sampling variance of R.
    null_mean, null_variance : ndarray
        Mean and variance of R when labels are dealt at random.
    n_points : ndarray
        Rows of each problem.
    prior_variance : ndarray
        Sampling variance of the share of rows outside of the commonest class.
    permuted : ndarray
        Share of permutations with as few cross edges; NaN where none were drawn.
    """

    count: Floats
    forced: Floats
    variance: Floats
    null_mean: Floats
    null_variance: Floats
    n_points: Floats
    prior_variance: Floats
    permuted: Floats = field(default_factory=lambda: np.asarray(np.nan))

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Interval for the mean of R."""
        n_edges = np.maximum(self.n_points - 1.0, 1.0)
        return cross_edge_interval(self.count, self.variance, n_edges, confidence)

    def summary(self, confidence: float, n_trees: int) -> CrossEdgeCount[Floats, Floats]:
        """Return what results say of R."""
        return CrossEdgeCount(self.count, np.stack(self.interval(confidence), axis=-1), self.forced, n_trees)

    def divergence(
        self, first: ArrayLike, second: ArrayLike, confidence: float, forced_edges: str = "drop"
    ) -> tuple[Floats, Floats]:
        """Henze-Penrose divergence of two classes with so many rows each, and its interval along the last axis."""
        forced = self.forced if forced_edges == "drop" else 0.0
        low, high = self.interval(confidence)
        # More cross edges, less divergence: the upper end of one interval is the lower of the other.
        estimate, at_high, at_low = (
            hp.divergence(np.maximum(R, 0.0), first, second) for R in (self.count - forced, high, low - forced)
        )
        return estimate, np.stack([at_high, at_low], axis=-1)

    def p_value(self) -> Floats:
        """Probability of so few cross edges if labels had nothing to do with the points."""
        by_normal_law = permutation_p_value(self.count, self.null_mean, self.null_variance)
        return np.where(np.isnan(self.permuted), by_normal_law, self.permuted)


def of_whole(forests: Forests, codes: Ints, n_classes: int, groups: Ints | None = None) -> CrossEdges:
    """Edges between any two classes in the forests of all rows; with groups of rows, for rows of new groups."""
    if groups is not None:
        return _stacked(_of_new_groups(forests, codes, groups, forests.edge_sums(codes), [codes]), ())
    return _measure(forests.edge_sums(codes), np.bincount(codes, minlength=n_classes))


def of_each_class(forests: Forests, codes: Ints, n_classes: int, groups: Ints | None = None) -> CrossEdges:
    """Edges between each class and all others in the forests of all rows, shape (K,)."""
    if groups is not None:
        sums = forests.one_vs_rest_edge_sums(codes)
        labels = [(codes == k).astype(np.int64) for k in range(n_classes)]
        return _stacked(_of_new_groups(forests, codes, groups, sums, labels), (n_classes,))
    counts = np.bincount(codes, minlength=n_classes)
    return _measure(forests.one_vs_rest_edge_sums(codes), np.column_stack([counts, len(codes) - counts]))


def of_whole_and_classes(forests: Forests, codes: Ints, n_classes: int) -> tuple[CrossEdges, CrossEdges]:
    """Return what `of_whole` and `of_each_class` do, in one pass over the edges."""
    whole, by_class = forests._all_edge_sums(codes, n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    return _measure(whole, counts), _measure(by_class, np.column_stack([counts, len(codes) - counts]))


def of_each_pair(forests: ClassForests, codes: Ints, groups: Ints | None = None) -> CrossEdges:
    """Edges between the two classes in the forests of each pair, in the order of `pairs_of`."""
    first, second = pairs_of(len(forests.classes))
    if groups is not None:
        measured = []
        for a, b in zip(first, second, strict=True):
            pair = forests.pair(forests.classes[a], forests.classes[b])
            labels = (codes[pair.rows] == b).astype(np.int64)
            measured += _of_new_groups(pair, labels, groups[pair.rows], pair.edge_sums(labels), [labels])
        return _stacked(measured, (len(first),))
    counts = np.bincount(codes, minlength=len(forests.classes))
    return _measure(forests.pair_edge_sums, np.column_stack([counts[first], counts[second]]))


def pairs_of(n_classes: int) -> tuple[Ints, Ints]:
    """Return the two classes of every pair: (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.triu_indices(n_classes, 1)
    return first, second


def as_matrix(values: Floats, n_classes: int) -> Floats:
    """Turn values of all pairs, along the first axis, into a symmetric matrix with a zero diagonal."""
    first, second = pairs_of(n_classes)
    matrix = np.zeros((n_classes, n_classes, *values.shape[1:]))
    matrix[first, second] = matrix[second, first] = values
    return matrix


def _measure(sums: EdgeSums, class_counts: Ints) -> CrossEdges:
    """Turn sums over all trees into means per spanning tree; class counts are along the last axis."""
    n_points = np.asarray(class_counts.sum(axis=-1), np.float64)
    null_mean, null_variance = permutation_moments(sums, class_counts)
    per_tree = (n_points - 1.0) / sums.total
    common = smoothed_share(class_counts.max(axis=-1), n_points)
    return CrossEdges(
        count=sums.cross * per_tree,
        forced=sums.n_spanning * (sums.n_components - 1) * per_tree,
        variance=cross_edge_variance(sums) * per_tree**2,
        null_mean=null_mean * per_tree,
        null_variance=null_variance * per_tree**2,
        n_points=n_points,
        prior_variance=common * (1.0 - common) / n_points,
    )


def _of_new_groups(
    forests: Forests, codes: Ints, groups: Ints, sums: EdgeSums, problems: Sequence[Ints]
) -> list[CrossEdges]:
    """Measure edges between groups of rows: for each problem, which is a way to label the rows, one by one.

    R is the share of cross edges times n - 1. Forced edges are between groups, too, and count as one edge of these;
    where there are no others, they are all that is known.
    """
    edges = edges_between_groups(forests, codes, groups)
    n_edges = len(codes) - 1.0
    n_forced = np.atleast_1d(sums.n_spanning * (sums.n_components - 1))
    forced = np.where(n_forced < edges.n_edges - 0.5, n_forced / max(edges.n_edges, 1.0), 0.0)
    measured = []
    for labels, forced_share in zip(problems, forced, strict=True):
        found = share_between_groups(edges, labels[edges.cell_rows], int(labels.max()) + 1)
        R = found.share * n_edges
        # `cross_edge_interval` smooths as if all edges told something; the variance makes up for it.
        n_told = min(found.n_independent, n_edges)
        told, smoothed = smoothed_share(found.share * n_told, n_told), smoothed_share(R, n_edges)
        wider = smoothed * (1.0 - smoothed) / (told * (1.0 - told))
        values = (
            R,
            min(forced_share, found.share) * n_edges,
            found.variance * wider * n_edges**2,
            found.null_mean * n_edges,
            found.null_variance * n_edges**2,
            len(codes),
            found.prior_variance,
        )
        measured.append(CrossEdges(*(np.asarray(value, np.float64) for value in values)))
    return measured


def _stacked(measured: Sequence[CrossEdges], shape: tuple[int, ...]) -> CrossEdges:
    """Put problems that were measured one by one into one record of the given shape."""
    fields = CrossEdges.__dataclass_fields__
    return CrossEdges(*(np.reshape([getattr(each, name) for each in measured], shape) for name in fields))
