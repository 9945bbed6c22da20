"""Kernels: cross edges counted with labels averaged over identical points.

Where several rows have the same values it is chance which of them an edge ends in, so an edge counts with its
expectation over all ways to hand out the labels among the rows of a site.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def count_cross_edges(edges, tree, codes, sites, site_start, site_class, site_count, site_total, counts):
    """Add every edge's expected share of each pair of classes to counts (n_trees, K, K), in both triangles.

    Site s has site_total[s] rows; their classes and counts are entries site_start[s] .. site_start[s + 1].
    """
    n_trees = counts.shape[0]
    n_sites = len(site_total)
    inside = np.zeros((n_trees, n_sites), np.int64)
    for e in range(len(tree)):
        i, j, t = edges[e, 0], edges[e, 1], tree[e]
        a, b = sites[i], sites[j]
        if a == b:
            inside[t, a] += 1
            continue
        if site_total[a] == 1 and site_total[b] == 1:
            k, m = codes[i], codes[j]
            if k != m:
                counts[t, k, m] += 1.0
                counts[t, m, k] += 1.0
            continue
        weight = 1.0 / (site_total[a] * site_total[b])
        for p in range(site_start[a], site_start[a + 1]):
            for q in range(site_start[b], site_start[b + 1]):
                k, m = site_class[p], site_class[q]
                if k != m:
                    share = weight * site_count[p] * site_count[q]
                    counts[t, k, m] += share
                    counts[t, m, k] += share
    for t in range(n_trees):
        for s in range(n_sites):
            if inside[t, s] == 0:
                continue
            weight = 2.0 * inside[t, s] / (site_total[s] * (site_total[s] - 1.0))
            for p in range(site_start[s], site_start[s + 1]):
                for q in range(p + 1, site_start[s + 1]):
                    share = weight * site_count[p] * site_count[q]
                    counts[t, site_class[p], site_class[q]] += share
                    counts[t, site_class[q], site_class[p]] += share
