"""Cross edges where rows come in groups, such as several rows of each patient: what they say about new groups.

An edge within a group joins two rows of one patient. A row of a new patient has no such neighbour, so these edges are
left out, and the share of cross edges among those *between groups* stands for the whole. Two things keep that share
right:

- *Weights.* Rows of one group that lie close together are joined to each other first, and the piece that they form
  then has few edges to other groups, however many rows it stands for. Where group g has s_g rows in each piece on
  average, an edge between groups g and h has the weight 2 s_g s_h / (s_g + s_h). It is 1 for groups whose rows lie
  apart. For copies of one row each it makes the share that of all rows, not of all groups: a class with large groups
  counts for its rows.
- *Variance.* Edges that share a group are not independent, even if they share no row. Sums over the edges of each
  group and of each two groups take the place of sums over rows and edges in `uncertainty.cross_edge_variance`.

Where every row is a group of its own, all of this is what it is without groups. Both choices were made by simulation
(benchmarks/truth/groups.py): random intercepts, copies with noise, groups of one label, groups whose size depends on
the class.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from bayesfloor.floor.trees.group_kernels import spread
from bayesfloor.floor.trees.uncertainty import permutation_moments, smoothed_share
from bayesfloor.forest import Forests
from bayesfloor.forest.results import EdgeSums
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.limits import check_memory

#: Variance of a share on which there is no evidence: its interval then reaches from 0 to 1.
KNOWS_NOTHING = 1e3


@dataclass(frozen=True, eq=False)
class GroupEdges:
    """The edges of all trees, spread over rows of equal values, as far as they join different groups.

    A *cell* is the rows of one group and class that have the same values; entries are pairs of cells.

    Attributes
    ----------
    first, second : ndarray of shape (n_entries,)
        The two cells.
    weight : ndarray of shape (n_entries,)
        Weight of the edges between them in all trees together.
    pair : ndarray of shape (n_entries,)
        The number of the pair of groups that the two cells belong to.
    cell_rows, cell_groups, cell_counts : ndarray of shape (n_cells,)
        One row of each cell, its group, and how many rows it has.
    n_edges : float
        How many edges join different groups.
    """

    first: Ints
    second: Ints
    weight: Floats
    pair: Ints
    cell_rows: Ints
    cell_groups: Ints
    cell_counts: Ints
    n_edges: float


class GroupedShare(NamedTuple):
    """The share of cross edges between groups, and its moments.

    Attributes
    ----------
    share : float
        The share.
    variance : float
        Its variance when groups are sampled.
    null_mean, null_variance : float
        Its mean and variance when labels have nothing to do with the points.
    n_independent : float
        How many independent edges would tell as much as these do.
    prior_variance : float
        Variance of the share of rows outside of the commonest class when groups are sampled.
    """

    share: float
    variance: float
    null_mean: float
    null_variance: float
    n_independent: float
    prior_variance: float


def edges_between_groups(forests: Forests, codes: Ints, groups: Ints) -> GroupEdges:
    """Spread the edges of all trees over cells, and weigh those between groups."""
    n_sites = int(forests.sites.max()) + 1
    groups = np.unique(groups, return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    order = np.lexsort((codes, groups, forests.sites))
    is_new = np.ones(len(order), bool)
    is_new[1:] = np.any([np.diff(values[order]) != 0 for values in (forests.sites, groups, codes)], axis=0)
    rows, counts = order[is_new], np.diff(np.append(np.flatnonzero(is_new), len(order)))
    cell_groups = groups[rows]
    start = np.searchsorted(forests.sites[rows], np.arange(n_sites + 1))
    ends = np.sort(forests.sites[forests.edges], axis=1)
    joined, n_edges = np.unique(ends[:, 0] * n_sites + ends[:, 1], return_counts=True)
    a, b = np.divmod(joined, n_sites)
    n_cells = np.diff(start)
    n_most = int(np.sum(n_cells[a] * n_cells[b]))
    check_memory(32 * n_most, f"the edges between {n_groups} groups, many rows of which have the same values")
    first, second, weight, within = spread(a, b, n_edges, start, cell_groups, counts, n_groups, n_most)
    sizes = np.bincount(groups)
    rows_per_piece = sizes / (sizes - within / max(forests.n_trees, 1))
    n_between = float(weight.sum())
    g, h = cell_groups[first], cell_groups[second]
    weight *= 2.0 / (1.0 / rows_per_piece[g] + 1.0 / rows_per_piece[h])
    pair = np.unique(np.minimum(g, h) * n_groups + np.maximum(g, h), return_inverse=True)[1]
    return GroupEdges(first, second, weight, pair, rows, cell_groups, counts, n_between)


def share_between_groups(edges: GroupEdges, labels: Ints, n_classes: int) -> GroupedShare:
    """Measure the share of cross edges between groups.

    With r_e = w_e (1[cross] - q) and S_g its sum over the edges at group g, the variance of Σ r_e is
    Σ_g S_g² - Σ_e r_e²: all pairs of edges that share a group, twice where they share both. Otherwise intervals were
    too short where groups differ much, because one group also decides which edges others have. The variance is never
    taken to be less than independent edges would have, those between two groups counting as one so far as rows of a
    group share their label; and it is larger for few groups, as Student's t is wider than the normal law.

    Parameters
    ----------
    edges : GroupEdges
        The edges between groups.
    labels : ndarray of shape (n_cells,)
        The class of each cell, from 0.
    n_classes : int
        How many there are.

    Returns
    -------
    GroupedShare
    """
    first, second, weight, counts = edges.first, edges.second, edges.weight, edges.cell_counts
    class_counts = np.bincount(labels, counts, n_classes)
    total = float(weight.sum())
    if total == 0.0:  # nothing is known of rows in new groups
        n = class_counts.sum()
        chance = 1.0 - float(np.sum(class_counts * (class_counts - 1.0)) / (n * (n - 1.0)))
        return GroupedShare(chance, KNOWS_NOTHING, chance, 0.0, 1.0, KNOWS_NOTHING)
    q = float(weight[labels[first] != labels[second]].sum()) / total
    residual = np.where(labels[first] != labels[second], 1.0 - q, -q) * weight
    # Without group g the share would change by S_g / (W - W_g), W_g being the weight of its edges: a jackknife.
    weight_at = sum_at_groups(edges, weight)
    left = np.maximum(1.0 - weight_at / total, 1.0 / np.count_nonzero(weight_at))
    at_group = sum_at_groups(edges, residual) / left
    n_row_pairs = counts[first] * counts[second]
    shared = float(at_group @ at_group - np.sum(residual**2 / n_row_pairs)) / total**2

    squares = float(np.sum(weight**2 / n_row_pairs))
    alike = label_correlation(labels, edges.cell_groups, counts, n_classes)
    of_pairs = np.bincount(edges.pair, weight)
    n_independent = total**2 / ((1.0 - alike) * squares + alike * float(of_pairs @ of_pairs))
    smoothed = smoothed_share(q * n_independent, n_independent)
    independent = smoothed * (1.0 - smoothed) / n_independent

    n_equal = float(weight_at.sum() ** 2 / (weight_at @ weight_at))  # groups of equal weight that would tell as much
    wider = float(stdtrit(max(n_equal - 1.0, 1.0), 0.975) / stdtrit(np.inf, 0.975)) ** 2

    degree = (np.bincount(first, weight, len(counts)) + np.bincount(second, weight, len(counts))) / counts
    graph = np.array([total, squares, counts @ degree**2])
    sums = EdgeSums._make([*graph, *np.zeros(6)])
    null_mean, null_variance = (float(moment) for moment in permutation_moments(sums, class_counts))
    return GroupedShare(
        share=q,
        variance=max(shared, independent) * wider,
        null_mean=null_mean / total,
        null_variance=max(null_variance / total**2, shared),
        n_independent=n_independent,
        prior_variance=prior_variance(labels, edges.cell_groups, counts, class_counts) * wider,
    )


def sum_at_groups(edges: GroupEdges, values: Floats) -> Floats:
    """Sum values of edges over those of each group."""
    ends = edges.cell_groups[np.concatenate([edges.first, edges.second])]
    return np.bincount(ends, np.tile(values, 2), int(edges.cell_groups.max()) + 1).astype(np.float64)


def prior_variance(labels: Ints, groups: Ints, counts: Ints, class_counts: Floats | Ints) -> float:
    """Variance of the share of the commonest class when groups are sampled, but never less than of independent rows."""
    n = float(class_counts.sum())
    common = smoothed_share(class_counts.max(), n)
    residuals = np.bincount(groups, counts * ((labels == class_counts.argmax()) - class_counts.max() / n))
    return max(float(residuals @ residuals) / n, common * (1.0 - common)) / n


def label_correlation(labels: Ints, groups: Ints, counts: Ints, n_classes: int) -> float:
    """Correlation of the labels of two rows of one group, in [0, 1], by an analysis of variance of their indicators."""
    table = np.zeros((int(groups.max()) + 1, n_classes))
    np.add.at(table, (groups, labels), counts)
    sizes = table.sum(axis=1)
    n, n_groups = sizes.sum(), len(sizes)
    if n_groups in (1, n):
        return 0.0
    between = float(np.sum(table**2 / sizes[:, None]) - np.sum(table.sum(axis=0) ** 2) / n)
    within = float(n - np.sum(table**2 / sizes[:, None]))
    mean_size = (n - np.sum(sizes**2) / n) / (n_groups - 1)
    mean_between, mean_within = between / (n_groups - 1), within / (n - n_groups)
    total = mean_between + (mean_size - 1.0) * mean_within
    return float(np.clip((mean_between - mean_within) / total, 0.0, 1.0)) if total > 0 else 0.0
