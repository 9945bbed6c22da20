"""Which rows a number of cross edges hangs on, so that two numbers from the same rows can be compared.

The sampling variance of R sums r_e r_f over pairs of edges that share a row (`floor.trees.uncertainty`), and with
S_v = Σ_{e at v} r_e its main part is Σ_v S_v². In the same way the covariance of two counts on the same rows, in two
graphs, is Σ_v S_v S'_v, the sum over pairs of edges that share a row. So S, as a vector over the rows, says in which
direction a count errs: where two of them point the same way, so do their errors, and the difference of the counts is
surer than either.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesfloor.floor.trees.averaged_graph import average_identical_rows
from bayesfloor.forest import Forests

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def error_direction(forests: Forests, codes: Ints, n_classes: int) -> Floats:
    """Return S over the rows, scaled to length one.

    Identical rows are interchangeable, as in `AveragedGraph`: S_v is the expectation over permuting labels among them.
    Where no edge crosses, or all do, S is zero and says nothing. An even direction stands in. It is orthogonal to every
    other one, as Σ_v S_v = 2 Σ_e r_e = 0: such a count errs independently.

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
    graph = average_identical_rows(forests)
    sites, n_sites = graph.sites, len(graph.sizes)
    at_site = np.bincount(sites * n_classes + codes, minlength=n_sites * n_classes).reshape(n_sites, n_classes)
    ends = np.concatenate([graph.first, graph.second]), np.concatenate([graph.second, graph.first])
    between = sparse.csr_array((np.tile(graph.multiplicity, 2), ends), shape=(n_sites, n_sites))

    size, n_alike = graph.sizes[sites].astype(np.float64), at_site[sites, codes]
    # Edges to the other rows of the site, each of weight 2e / (m (m − 1)).
    weight = 2.0 * graph.inner[sites] / np.maximum(size * (size - 1.0), 1.0)
    edges = weight * (size - 1.0)
    crossing = weight * (size - n_alike)
    # Edges to other sites, shared out evenly among the rows of this one.
    degree = between.sum(axis=1)[sites] / size
    alike = (between @ (at_site / graph.sizes[:, None]))[sites, codes] / size
    edges += degree
    crossing += degree - alike

    mean = crossing.sum() / edges.sum()
    deviation = crossing - mean * edges
    length = float(np.linalg.norm(deviation))
    # What is left by rounding where all edges are alike is no direction.
    if length <= 1e-9 * float(np.linalg.norm(edges)):
        return np.full(len(sites), len(sites) ** -0.5)
    return deviation / length
