"""The forests as one weighted graph in which rows of equal value are interchangeable.

Which of several identical rows a tree happens to pass through is a matter of row order. Averaging
over all ways to permute labels among the rows of a site is the same as spreading each edge evenly
over the pairs of rows it could join::

    e edges inside a site of m rows         weight 2e / (m (m−1)) on each of its m(m−1)/2 pairs
    e edges between sites of m and m' rows  weight e / (m m')     on each of the m·m' pairs

All trees together, with weights. Sums over this graph are those of `EdgeSums`; here it is itself, contracted to its
sites: one record per site and one per pair of sites.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesfloor.forest import Forests


@dataclass(frozen=True, eq=False)
class AveragedGraph:
    """All trees of some forests, contracted to sites of identical rows.

    Attributes
    ----------
    sites : ndarray of shape (n_points,)
        The site of each row.
    sizes : ndarray of shape (n_sites,)
        Rows per site.
    inner : ndarray of shape (n_sites,)
        Edges inside each site.
    first, second : ndarray of shape (n_pairs,)
        The pairs of sites that edges join.
    multiplicity : ndarray of shape (n_pairs,)
        How many edges join them.
    """

    sites: NDArray[np.int64]
    sizes: NDArray[np.int64]
    inner: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    multiplicity: NDArray[np.float64]


def average_identical_rows(forests: Forests) -> AveragedGraph:
    """Contract forests to the sites of identical rows."""
    sites = forests.sites
    first, second = forests.edges[:, 0], forests.edges[:, 1]
    n_sites = int(sites.max()) + 1
    sizes = np.bincount(sites, minlength=n_sites)
    first, second = sites[first], sites[second]
    if n_sites == forests.n_points:  # no two trees share an edge, so no two edges share their ends
        return AveragedGraph(sites, sizes, np.zeros(n_sites), first, second, np.ones(len(first)))
    within = first == second
    inner = np.bincount(first[within], minlength=n_sites).astype(np.float64)
    # Only edges at a site of several rows can have a parallel.
    alone = (sizes[first] == 1) & (sizes[second] == 1)
    parallel = ~(within | alone)
    low, high = np.minimum(first, second)[parallel], np.maximum(first, second)[parallel]
    keys, counts = np.unique(low * n_sites + high, return_counts=True)
    return AveragedGraph(
        sites,
        sizes,
        inner,
        np.concatenate([first[alone], keys // n_sites]),
        np.concatenate([second[alone], keys % n_sites]),
        np.concatenate([np.ones(np.count_nonzero(alone)), counts]),
    )
