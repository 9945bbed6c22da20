"""The averaged graph written out as an n x n matrix: slow, obvious, and the measure of the fast one."""

from itertools import permutations, product

import numpy as np


def averaged_adjacency(forests):
    """Spread each edge evenly over the pairs of rows it could join if identical rows were swapped."""
    n, sites = forests.n_samples, forests.sites
    A = np.zeros((n, n))
    for i, j in forests.edges:
        rows_i, rows_j = np.flatnonzero(sites == sites[i]), np.flatnonzero(sites == sites[j])
        pairs = [(a, b) for a, b in product(rows_i, rows_j) if a != b]
        for a, b in pairs:
            A[a, b] += 0.5 / len(pairs)
            A[b, a] += 0.5 / len(pairs)
    return 2 * A


def cross_edges(A, y):
    return float(np.sum(np.triu(A) * (y[:, None] != y[None, :])))


def local_variance(A, y):
    """Sum the products of deviations over all pairs of edges that share a row."""
    i, j = np.nonzero(np.triu(A))
    mean = cross_edges(A, y) / A.sum() * 2
    r = A[i, j] * ((y[i] != y[j]) - mean)
    shares = (i[:, None] == i) | (i[:, None] == j) | (j[:, None] == i) | (j[:, None] == j)
    return float(r @ shares @ r)


def label_orders_within_sites(sites, y):
    """All ways to deal the labels of each site among its rows."""
    groups = [np.flatnonzero(sites == site) for site in np.unique(sites)]
    for orders in product(*(permutations(group) for group in groups)):
        shuffled = y.copy()
        for group, order in zip(groups, orders, strict=True):
            shuffled[group] = y[list(order)]
        yield shuffled
