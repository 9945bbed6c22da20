"""Which rows a number of cross edges depends on, so that two numbers from the same rows can be compared.

The sampling variance of R sums r_e r_f over pairs of edges that share a row (`floor.trees.uncertainty`), and with
S_v = Σ_{e at v} r_e its main part is Σ_v S_v². In the same way the covariance of two counts on the same rows, in two
graphs, is Σ_v S_v S'_v, the sum over pairs of edges that share a row. So S, as a vector over the rows, is the direction
in which a count errs. Where the directions of two counts agree, so do their errors, and the difference of the counts is
surer than either.

Identical rows form a *site*. Which of them a tree passes through depends on the order of the rows, so S is the
expectation over all ways to permute labels within a site. This is the same as spreading each edge evenly over the pairs
of rows that it could join::

    e edges inside a site of m rows         weight 2e / (m (m−1)) on each of its m(m−1)/2 pairs
    e edges between sites of m and m' rows  weight e / (m m')     on each of the m·m' pairs

Where rows belong together, groups take the place of rows, and edges between groups that of all edges
(`floor.trees.between_groups`).
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from bayesfloor.floor.trees.between_groups import edges_between_groups, sum_at_groups
from bayesfloor.forest import Forests
from bayesfloor.runtime.arrays import Floats, Ints


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
