"""Friedman and Rafsky's test where rows have few distinct values: labels are dealt out to the rows again.

The count of cross edges is then a sum over few places, and its law has a longer lower tail than the normal one: with a
binary column, where it is nearly a constant less a chi-squared number, 2% of samples without any difference were taken
for one in a thousand. Permutations are drawn as tables of the labels at each place, with the rows of each place and of
each class held fixed; that takes no longer for a million rows than for a hundred.
"""

import numpy as np

from bayesfloor.forest import ClassForests, Forests
from bayesfloor.runtime.arrays import Floats, Ints

#: Maximum number of distinct rows; with more, the normal law is good (benchmarks/truth/tree_intervals.py).
MOST_PLACES = 100
#: Permutations, and entries of all their tables together: about a hundredth of a second.
FEWEST, MOST, MOST_ENTRIES = 999, 9999, 2 * 10**5


def cross_edges_at(first: Ints, second: Ints, n_edges: Ints, sizes: Ints, counts: Floats | Ints) -> Floats:
    """Count the edges between one class and all others, averaged over rows of equal values.

    Parameters
    ----------
    first, second, n_edges : ndarray of shape (n_joined,)
        Pairs of places that edges join, a place with itself among them, and how many edges join them.
    sizes : ndarray of shape (n_places,)
        Rows at each place.
    counts : ndarray of shape (n_places, n_ways)
        Rows of the class at each place, in each way to deal out the labels.

    Returns
    -------
    ndarray of shape (n_ways,)
    """
    share = counts / sizes[:, np.newaxis]
    is_within = first == second
    a, b, own = share[first[~is_within]], share[second[~is_within]], first[is_within]
    of_pairs = np.maximum(sizes[own] * (sizes[own] - 1.0), 1.0)
    within = 2.0 * counts[own] * (sizes[own, np.newaxis] - counts[own])
    return np.asarray(n_edges[~is_within] @ (a + b - 2.0 * a * b) + (n_edges[is_within] / of_pairs) @ within)


def permuted_p_values(forests: Forests, codes: Ints, n_classes: int) -> Floats | None:
    """Return the share of permutations with as few cross edges; None where there are no rows of equal values, or many.

    Parameters
    ----------
    forests : Forests
        Trees of the rows.
    codes : ndarray of shape (n_samples,)
        The class of each row, from 0.
    n_classes : int
        How many there are.

    Returns
    -------
    ndarray of shape (n_classes + 1,) or None
        Of each class against all others, and last of all classes.
    """
    sites = forests.sites
    sizes, totals = np.bincount(sites), np.bincount(codes, minlength=n_classes)
    n_sites = len(sizes)
    if not _are_few(n_sites, len(sites)):
        return None
    from scipy.stats import random_table  # takes as long to load as the floor of a small table

    ends = np.sort(sites[forests.edges], axis=1)
    joined, n_edges = np.unique(ends[:, 0] * n_sites + ends[:, 1], return_counts=True)
    graph = (joined // n_sites, joined % n_sites, n_edges, sizes)
    # in an order that neither the numbers of the places nor the names of the classes change
    places = np.lexsort((np.bincount(ends.ravel(), minlength=n_sites), sizes))
    n_drawn = int(np.clip(MOST_ENTRIES // (n_sites * n_classes), FEWEST, MOST))
    tables = random_table(sizes[places], np.sort(totals)).rvs(n_drawn, random_state=0)[:, np.argsort(places)]
    drawn = np.array([cross_edges_at(*graph, tables[:, :, k].T) for k in range(n_classes)])
    drawn = np.vstack([drawn[np.searchsorted(np.sort(totals), totals)], drawn.sum(axis=0) / 2.0])
    table = np.bincount(sites * n_classes + codes, minlength=n_sites * n_classes).reshape(n_sites, n_classes)
    found = cross_edges_at(*graph, table)
    found = np.append(found, found.sum() / 2.0)
    as_few = drawn <= found[:, np.newaxis] * (1.0 + 1e-9)  # sums in another order are equal
    return np.asarray((1.0 + as_few.sum(axis=1)) / (1.0 + n_drawn))


def permuted_p_values_of_pairs(forests: ClassForests, codes: Ints) -> Floats:
    """Return the share of permutations with as few cross edges for each pair of classes; NaN where values are many."""
    n_classes, sites = len(forests.classes), forests.whole.sites
    places, totals = [np.unique(sites[codes == k]) for k in range(n_classes)], np.bincount(codes)
    first, second = np.triu_indices(n_classes, 1)
    found = np.full(len(first), np.nan)
    for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if _are_few(len(np.union1d(places[a], places[b])), int(totals[a] + totals[b])):
            pair = forests.pair(forests.classes[a], forests.classes[b])
            p_values = permuted_p_values(pair, (codes[pair.rows] == b).astype(np.int64), 2)
            assert p_values is not None
            found[at] = p_values[-1]
    return found


def _are_few(n_places: int, n_rows: int) -> bool:
    return n_places <= min(MOST_PLACES, n_rows - 1)
