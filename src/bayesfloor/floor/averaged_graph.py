"""The forests as one weighted graph in which rows of equal value are interchangeable.

Which of several identical rows a tree happens to pass through is a matter of row order. Averaging
over all ways to permute labels among the rows of a site is the same as spreading each edge evenly
over the pairs of rows it could join::

    e edges inside a site of m rows         weight 2e / (m (m−1)) on each of its m(m−1)/2 pairs
    e edges between sites of m and m' rows  weight e / (m m')     on each of the m·m' pairs

All trees together, with weights. Counts, variances and permutation moments of that graph are then
exactly those of the label-averaged count, and nothing depends on row order. The graph is kept
contracted to its sites: one record per site and one per pair of sites.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.edge_kernels import count_classes_at_sites, sum_local_covariances
from bayesfloor.forest import Forests


class SiteClasses(NamedTuple):
    """The classes at each site, ascending, in compressed rows: site s has entries start[s] to start[s + 1]."""

    start: NDArray[np.int64]
    labels: NDArray[np.int64]
    counts: NDArray[np.int64]


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

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.sites)

    @cached_property
    def n_edges(self) -> float:
        """Number of edges of all trees, the total weight W = Σ_e w_e."""
        return float(self.inner.sum() + self.multiplicity.sum())

    @cached_property
    def squared_weights(self) -> float:
        """Σ_e w_e² over all pairs of rows; the number of edges when no two rows are equal."""
        sizes = self.sizes.astype(np.float64)
        several = sizes > 1
        m = sizes[several]
        inside = 2.0 * self.inner[several] ** 2 / (m * (m - 1.0))
        between = self.multiplicity**2 / (sizes[self.first] * sizes[self.second])
        return float(inside.sum() + between.sum())

    @cached_property
    def squared_degrees(self) -> float:
        """Σ_v (Σ_{e at v} w_e)² over all rows."""
        n_sites = len(self.sizes)
        degree = 2.0 * self.inner
        degree += np.bincount(self.first, self.multiplicity, n_sites)
        degree += np.bincount(self.second, self.multiplicity, n_sites)
        return float(np.sum(degree**2 / self.sizes))

    def classes_at_sites(self, codes: NDArray[np.int64], n_classes: int) -> SiteClasses:
        """Count the classes at each site."""
        return SiteClasses(*count_classes_at_sites(self.sites, codes, len(self.sizes), n_classes))

    def local_covariances(self, classes: SiteClasses, mean: float) -> tuple[float, float]:
        """Return Σ_v S_v² and Σ_e r_e² for r_e = w_e (1[cross] − mean), S_v = Σ_{e at v} r_e."""
        at_rows, at_edges = sum_local_covariances(
            classes.start,
            classes.labels,
            classes.counts,
            self.inner,
            self.first,
            self.second,
            self.multiplicity,
            mean,
        )
        return float(at_rows), float(at_edges)


def n_class_groups(classes: SiteClasses, n_classes: int) -> int:
    """Count the groups of classes that are connected through sites they share.

    A tree needs one edge less than this to join all classes. Classes that share a point are joined there, by an edge
    of length zero that is no artefact of the tree.
    """
    if len(classes.labels) == len(classes.start) - 1:  # one class at each site
        return n_classes
    group = list(range(n_classes))
    for site in np.flatnonzero(np.diff(classes.start) > 1):
        joined = {group[k] for k in classes.labels[classes.start[site] : classes.start[site + 1]]}
        if len(joined) > 1:
            group = [min(joined) if g in joined else g for g in group]
        if not any(group):  # all are joined to class 0
            break
    return len(set(group))


def average_identical_rows(forests: Forests) -> AveragedGraph:
    """Contract forests to the sites of identical rows."""
    sites = forests.sites
    first, second = forests.edges[:, 0], forests.edges[:, 1]
    n_sites = int(sites.max()) + 1
    sizes = np.bincount(sites, minlength=n_sites)
    first, second = sites[first], sites[second]
    if n_sites == forests.n_points:  # no two trees share an edge, so no two edges share their ends
        return AveragedGraph(
            sites, sizes, np.zeros(n_sites), first, second, np.ones(len(first))
        )
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
