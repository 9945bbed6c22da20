"""The loop over edges between sites of which each holds rows of several groups."""

import numpy as np

from bayesfloor.runtime.kernels import kernel


@kernel
def spread(a, b, n_edges, start, group, count, n_groups, n_most):  # type: ignore[no-untyped-def]
    """Spread the edges between two sites evenly over the pairs of rows there.

    Returns the pairs of cells of different groups, the number of edges that falls to each, and the number that falls
    to pairs of rows within each group.
    """
    first, second, weight = np.empty(n_most, np.int64), np.empty(n_most, np.int64), np.empty(n_most)
    within = np.zeros(n_groups)
    at = 0
    for e in range(len(a)):
        size_a, size_b = 0, 0
        for p in range(start[a[e]], start[a[e] + 1]):
            size_a += count[p]
        for q in range(start[b[e]], start[b[e] + 1]):
            size_b += count[q]
        inside = a[e] == b[e]
        per_pair = n_edges[e] / (0.5 * size_a * (size_a - 1) if inside else size_a * size_b)
        for p in range(start[a[e]], start[a[e] + 1]):
            for q in range(p if inside else start[b[e]], start[b[e] + 1]):
                n_pairs = 0.5 * count[p] * (count[p] - 1) if inside and p == q else count[p] * count[q]
                if group[p] == group[q]:
                    within[group[p]] += per_pair * n_pairs
                else:
                    first[at], second[at], weight[at] = p, q, per_pair * n_pairs
                    at += 1
    return first[:at], second[:at], weight[:at], within
