"""Floors of one set of points, as figures that can be compared with those of another set of the same rows.

::

    points, labels ──► DirectedFloor  the floor of the whole problem with its interval,
                          │           and the direction over the rows in which it errs
                          ▼
                       FloorLevel     what is shown of it

The interval of a difference takes one arm of each interval (the method of variance estimates recovery, Zou and
Donner 2008), and the covariance from how far their directions agree.

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

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from bayesfloor.floor.trees.between_groups import edges_between_groups, sum_at_groups
from bayesfloor.floor.trees.cross_edges import of_each_pair, of_whole, pairs_of
from bayesfloor.floor.trees.problem import Options, floors_of
from bayesfloor.forest import ClassForests, Forests
from bayesfloor.runtime.arrays import Floats, Ints


@dataclass(frozen=True)
class FloorLevel:
    """A floor.

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
class DirectedFloor:
    """A floor, and the rows on which its error depends.

    Attributes
    ----------
    floor : float
        The estimate.
    below, above : float
        Arms of the confidence interval.
    confidence : float
        Level of the interval.
    direction : sparse array of shape (1, n_rows) or None
        A vector of length one: on which rows, or groups of rows, the error depends. None where it was not asked for.
    """

    floor: float
    below: float
    above: float
    confidence: float
    direction: Any

    @property
    def standard_error(self) -> float:
        """Standard error of the floor; see `FloorLevel`."""
        return max(self.below, self.above) / float(ndtri(0.5 + 0.5 * self.confidence))

    def level(self) -> FloorLevel:
        """Return the floor with its interval and standard error."""
        low, high = max(self.floor - self.below, 0.0), self.floor + self.above
        return FloorLevel(self.floor, low, high, self.standard_error)


def mean_of_halves(first: DirectedFloor, second: DirectedFloor) -> DirectedFloor:
    """Return the mean of the floors of two sets of rows that have no row in common."""
    both = sparse.hstack([_scaled(each.direction, each.standard_error) for each in (first, second)], format="csr")
    length = _length(both)  # 0 where there is no error
    return DirectedFloor(
        0.5 * (first.floor + second.floor),
        0.5 * float(np.hypot(first.below, second.below)),
        0.5 * float(np.hypot(first.above, second.above)),
        first.confidence,
        _scaled(both, 1.0 / length if length > 0.0 else 1.0),
    )


def difference_interval(first: DirectedFloor, second: DirectedFloor) -> tuple[float, float]:
    """Return the confidence interval of first − second, for two representations of the same rows.

    The difference is less where the first floor is lower than estimated or the second higher, so its lower arm takes
    the lower arm of the one and the upper arm of the other. Both are vectors over the rows, and what they have in
    common drops out; of two that depend on different rows, the root of the sum of squares is left.
    """
    difference = first.floor - second.floor
    below = _scaled(first.direction, first.below) - _scaled(second.direction, second.above)
    above = _scaled(first.direction, first.above) - _scaled(second.direction, second.below)
    return difference - _length(below), difference + _length(above)


def _scaled(direction: Any, length: float) -> Any:
    return sparse.diags_array([length]) @ direction


def _length(vector: Any) -> float:
    return float(np.sqrt((vector * vector).sum(axis=1))[0])


def whole_floor(
    forests: Forests, codes: Ints, n_classes: int, options: Options, *, directed: bool, groups: Ints | None = None
) -> DirectedFloor:
    """Return the floor of the whole problem."""
    largest = 1.0 - np.bincount(codes).max() / len(codes)
    direction = None
    if directed:
        direction = sparse.csr_array(_direction(forests, codes, n_classes, groups)[np.newaxis])
    floors = floors_of(of_whole(forests, codes, n_classes, groups), n_classes, largest, options)
    floor, (low, high) = float(floors.estimate), floors.interval.tolist()
    return DirectedFloor(floor, floor - low, high - floor, options.confidence, direction)


def _direction(forests: Forests, codes: Ints, n_classes: int, groups: Ints | None) -> Floats:
    """Return the direction in which the count errs, over rows or over groups."""
    if groups is not None:
        return group_error_direction(forests, codes, groups)
    return error_direction(forests, codes, n_classes)


def pair_floors(forests: ClassForests, codes: Ints, options: Options, groups: Ints | None = None) -> Floats:
    """Return the floor of each pair of classes, in the order of `pairs_of`."""
    first, second = (forests.class_counts[classes] for classes in pairs_of(len(forests.classes)))
    largest = np.minimum(first, second) / (first + second)
    return floors_of(of_each_pair(forests, codes, groups), 2, largest, options).estimate


def level_without_features(class_counts: Ints) -> FloorLevel:
    """Return the floor where there is nothing to go by: the error of always predicting the commonest class."""
    floor = float(1.0 - class_counts.max() / class_counts.sum())
    return FloorLevel(floor, floor, floor, 0.0)


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


def group_error_direction(forests: Forests, codes: Ints, groups: Ints) -> Floats:
    """Return S over groups of rows, scaled to length one.

    Parameters
    ----------
    forests : Forests
        The forests of the rows.
    codes : ndarray of shape (n_points,)
        Class of each row.
    groups : ndarray of shape (n_points,)
        Group of each row.

    Returns
    -------
    ndarray of shape (n_groups,)
        In the order of the sorted groups.
    """
    edges = edges_between_groups(forests, codes, groups)
    of_cells = codes[edges.cell_rows]
    crossing = edges.weight * (of_cells[edges.first] != of_cells[edges.second])
    mean = crossing.sum() / max(edges.weight.sum(), 1e-300)
    deviation = sum_at_groups(edges, crossing - mean * edges.weight)
    return _unit(deviation, float(np.linalg.norm(sum_at_groups(edges, edges.weight))))


def _unit(deviation: Floats, scale: float) -> Floats:
    """Scale a direction to length one; where only rounding errors are left, a constant one stands in."""
    length = float(np.linalg.norm(deviation))
    if length <= 1e-9 * scale:
        return np.full(len(deviation), len(deviation) ** -0.5)
    return deviation / length
