"""Floors of one set of points, as figures that can be compared with those of another set of the same rows.

::

    points, labels ──► FloorSet  the floor of each pair, or of the whole problem
                          │      with its interval, and the direction over the rows in which it errs
                          ▼
                       FloorLevel  one of them, their mean, or the worst

The interval of a mean takes the arms of all intervals together (the method of variance estimates recovery, Zou and
Donner 2008), and the covariances from how far their directions agree.

Floors from the same rows err together. The sampling variance of R, a number of cross edges, sums r_e r_f over pairs of
edges that share a row (`floor.trees.uncertainty`), and with S_v = Σ_{e at v} r_e its main part is Σ_v S_v². In the same
way the covariance of two counts on the same rows, in two graphs, is Σ_v S_v S'_v, the sum over pairs of edges that
share a row. So S, as a vector over the rows, is the direction in which a count errs. Where the directions of two counts
agree, so do their errors, and the difference of the counts is surer than either.

Identical rows form a *site*. Which of them a tree passes through depends on the order of the rows, so S is the
expectation over all ways to permute labels within a site. This is the same as spreading each edge evenly over the pairs
of rows that it could join::

    e edges inside a site of m rows         weight 2e / (m (m−1)) on each of its m(m−1)/2 pairs
    e edges between sites of m and m' rows  weight e / (m m')     on each of the m·m' pairs

Where rows belong together, groups take the place of rows, and edges between groups that of all edges
(`floor.trees.between_groups`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from bayesfloor.floor.trees.between_groups import edges_between_groups, sum_at_groups
from bayesfloor.floor.trees.cross_edges import CrossEdges, of_each_pair, of_whole, pairs_of
from bayesfloor.floor.trees.problem import Options, floors_of
from bayesfloor.forest import ClassForests, Forests
from bayesfloor.runtime.arrays import Floats, Ints

CRITERIA = ("whole", "mean", "worst")


@dataclass(frozen=True)
class FloorLevel:
    """A floor, or a mean of floors.

    Attributes
    ----------
    floor : float
        The estimate.
    low, high : float
        Ends of its confidence interval.
    standard_error : float
        The longer arm of the interval over the normal quantile, so that it does not vanish at the largest possible
        floor, where the upper arm does.
    """

    floor: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class FloorSet:
    """Floors of several problems on the same rows.

    Attributes
    ----------
    floor : ndarray of shape (n_problems,)
        The estimates.
    below, above : ndarray of shape (n_problems,)
        Arms of the confidence intervals.
    confidence : float
        Level of the intervals.
    directions : sparse array of shape (n_problems, n_rows) or None
        For each problem a vector of length one: on which rows, or groups of rows, its error depends. None where it was
        not asked for.
    """

    floor: Floats
    below: Floats
    above: Floats
    confidence: float
    directions: Any

    @property
    def standard_error(self) -> Floats:
        """Standard error of each floor; see `FloorLevel`."""
        return np.maximum(self.below, self.above) / float(ndtri(0.5 + 0.5 * self.confidence))

    @property
    def interval(self) -> Floats:
        """Confidence intervals, shape (n_problems, 2)."""
        return np.stack([np.maximum(self.floor - self.below, 0.0), self.floor + self.above], axis=-1)

    @property
    def worst(self) -> int:
        """The problem with the highest floor; the first of equals."""
        return int(np.argmax(self.floor))

    def level(self, problem: int = 0) -> FloorLevel:
        """Return one of the floors."""
        low, high = self.interval[problem]
        return FloorLevel(float(self.floor[problem]), float(low), float(high), float(self.standard_error[problem]))

    def among(self, problems: Ints) -> "FloorSet":
        """Return some of the floors."""
        floor, below, above = (values[problems] for values in (self.floor, self.below, self.above))
        return FloorSet(floor, below, above, self.confidence, self.directions[problems])

    def mean(self) -> "FloorSet":
        """Return the mean of the floors as a set of one."""
        n = len(self.floor)
        below, above = (np.linalg.norm(arms @ self.directions) / n for arms in (self.below, self.above))
        direction = _unit_rows(sparse.csr_array((self.standard_error @ self.directions)[None, :]))
        return FloorSet(np.array([self.floor.mean()]), np.array([below]), np.array([above]), self.confidence, direction)


def mean_of_halves(first: FloorSet, second: FloorSet) -> FloorSet:
    """Return the means of the same floors on two sets of rows that have no row in common."""
    both = sparse.hstack([_scaled(each.directions, each.standard_error) for each in (first, second)], format="csr")
    return FloorSet(
        0.5 * (first.floor + second.floor),
        0.5 * np.hypot(first.below, second.below),
        0.5 * np.hypot(first.above, second.above),
        first.confidence,
        _unit_rows(both),
    )


def difference_interval(first: FloorSet, second: FloorSet) -> tuple[Floats, Floats]:
    """Return confidence intervals of first − second, for two representations of the same rows.

    The difference is less where the first floor is lower than estimated or the second higher, so its lower arm takes
    the lower arm of the one and the upper arm of the other. Both are vectors over the rows, and what they have in
    common drops out; of two that depend on different rows, the root of the sum of squares is left.
    """
    difference = first.floor - second.floor
    below = _scaled(first.directions, first.below) - _scaled(second.directions, second.above)
    above = _scaled(first.directions, first.above) - _scaled(second.directions, second.below)
    return difference - _row_lengths(below), difference + _row_lengths(above)


def _scaled(directions: Any, lengths: Floats) -> Any:
    return sparse.diags_array(lengths) @ directions


def _row_lengths(vectors: Any) -> Floats:
    return np.sqrt((vectors * vectors).sum(axis=1))


def _unit_rows(vectors: Any) -> Any:
    """Scale the rows of a sparse array to length one; a row of zeros, which has no error, stays as it is."""
    lengths = _row_lengths(vectors)
    return _scaled(vectors, 1.0 / np.where(lengths > 0, lengths, 1.0))


def whole_floor(
    forests: Forests, codes: Ints, n_classes: int, options: Options, *, directed: bool, groups: Ints | None = None
) -> FloorSet:
    """Return the floor of the whole problem, a set of one."""
    largest = 1.0 - np.bincount(codes).max() / len(codes)
    directions = None
    if directed:
        directions = sparse.csr_array(np.array(_directions(forests, codes, n_classes, groups, [codes])))
    return _floor_set(of_whole(forests, codes, n_classes, groups), n_classes, largest, options, directions)


def pair_floors(
    forests: ClassForests, codes: Ints, options: Options, *, directed: bool, groups: Ints | None = None
) -> FloorSet:
    """Return the floor of each pair of classes, in the order of `pairs_of`."""
    directions = _pair_directions(forests, codes, groups) if directed else None
    cross = of_each_pair(forests, codes, groups)
    return _floor_set(cross, 2, smaller_priors(forests.class_counts), options, directions)


def _directions(
    forests: Forests, codes: Ints, n_classes: int, groups: Ints | None, problems: list[Ints]
) -> list[Floats]:
    """Return the direction in which the count of each problem errs, over rows or over groups."""
    if groups is not None:
        return group_error_directions(forests, codes, groups, problems)
    return [error_direction(forests, labels, n_classes) for labels in problems]


def smaller_priors(class_counts: Ints) -> Floats:
    """Return the share of the smaller class in each pair, in the order of `pairs_of`."""
    first, second = (class_counts[classes] for classes in pairs_of(len(class_counts)))
    return np.minimum(first, second) / (first + second)


def _pair_directions(forests: ClassForests, codes: Ints, groups: Ints | None) -> Any:
    rows, values, starts = [], [], [0]
    for a, b in zip(*pairs_of(len(forests.classes)), strict=True):
        pair = forests.pair(forests.classes[a], forests.classes[b])
        members = np.asarray(pair.rows)
        is_second = (codes[members] == b).astype(np.int64)
        of_members = None if groups is None else groups[members]
        rows.append(members if of_members is None else np.unique(of_members))
        values.extend(_directions(pair, is_second, 2, of_members, [is_second]))
        starts.append(starts[-1] + len(rows[-1]))
    shape = len(rows), forests.n_samples if groups is None else int(groups.max()) + 1
    return sparse.csr_array((np.concatenate(values), np.concatenate(rows), starts), shape=shape)


def _floor_set(cross: CrossEdges, n_classes: int, largest: Any, options: Options, directions: Any) -> FloorSet:
    floors = floors_of(cross, n_classes, largest, options)
    floor = np.atleast_1d(floors.estimate)
    low, high = np.atleast_2d(floors.interval).T
    return FloorSet(floor, floor - low, high - floor, options.confidence, directions)


def level_without_features(class_counts: Ints, criterion: str) -> FloorLevel:
    """Return the floor where there is nothing to go by: the error of always predicting the commonest class."""
    if criterion == "whole":
        floor = 1.0 - class_counts.max() / class_counts.sum()
    else:
        of_pairs = smaller_priors(class_counts)
        floor = of_pairs.mean() if criterion == "mean" else of_pairs.max()
    return FloorLevel(float(floor), float(floor), float(floor), 0.0)


def error_direction(forests: Forests, codes: Ints, n_classes: int) -> Floats:
    """Return S over the rows, scaled to length one.

    Where no edge crosses, or all do, S is zero and says nothing. A constant direction stands in. It is orthogonal to
    every other one, as Σ_v S_v = 2 Σ_e r_e = 0: such a count errs independently.

    Parameters
    ----------
    forests : Forests
        The forests of the rows.
    codes : ndarray of shape (n_points,)
        Class of each row.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_points,)
    """
    sites = forests.sites
    sizes = np.bincount(sites)
    n_sites = len(sizes)
    at_site = np.bincount(sites * n_classes + codes, minlength=n_sites * n_classes).reshape(n_sites, n_classes)
    first, second = sites[forests.edges].T
    within = first == second
    inner = np.bincount(first[within], minlength=n_sites)
    first, second = first[~within], second[~within]
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    between = sparse.csr_array((np.ones(2 * len(first)), ends), shape=(n_sites, n_sites))

    size, n_alike = sizes[sites].astype(np.float64), at_site[sites, codes]
    # Edges to the other rows of the site, each of weight 2e / (m (m − 1)).
    weight = 2.0 * inner[sites] / np.maximum(size * (size - 1.0), 1.0)
    edges = weight * (size - 1.0)
    crossing = weight * (size - n_alike)
    # Edges to other sites, shared out evenly among the rows of this one.
    degree = between.sum(axis=1)[sites] / size
    alike = (between @ (at_site / sizes[:, None]))[sites, codes] / size
    edges += degree
    crossing += degree - alike

    mean = crossing.sum() / edges.sum()
    deviation = crossing - mean * edges
    return _unit(deviation, float(np.linalg.norm(edges)))


def group_error_directions(forests: Forests, codes: Ints, groups: Ints, problems: Sequence[Ints]) -> list[Floats]:
    """Return S over groups of rows, scaled to length one, for several ways to label the rows.

    Parameters
    ----------
    forests : Forests
        The forests of the rows.
    codes : ndarray of shape (n_points,)
        Class of each row.
    groups : ndarray of shape (n_points,)
        Group of each row.
    problems : sequence of ndarray of shape (n_points,)
        Labels of the rows; rows of one class have one label.

    Returns
    -------
    list of ndarray of shape (n_groups,)
        In the order of the sorted groups.
    """
    edges = edges_between_groups(forests, codes, groups)
    degree = sum_at_groups(edges, edges.weight)
    directions = []
    for labels in problems:
        of_cells = labels[edges.cell_rows]
        crossing = edges.weight * (of_cells[edges.first] != of_cells[edges.second])
        mean = crossing.sum() / max(edges.weight.sum(), 1e-300)
        deviation = sum_at_groups(edges, crossing - mean * edges.weight)
        directions.append(_unit(deviation, float(np.linalg.norm(degree))))
    return directions


def _unit(deviation: Floats, scale: float) -> Floats:
    """Scale a direction to length one; where only rounding errors are left, a constant one stands in."""
    length = float(np.linalg.norm(deviation))
    if length <= 1e-9 * scale:
        return np.full(len(deviation), len(deviation) ** -0.5)
    return deviation / length
