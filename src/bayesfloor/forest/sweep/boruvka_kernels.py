"""Kernels: Borůvka's rounds over lists of near rows; components are numbers, and their best edges are arrays."""

import numpy as np

from bayesfloor.forest.order.kruskal_kernels import comes_first, find, unite
from bayesfloor.runtime.kernels import kernel


@kernel
def scan_lists(first, last, third, fourth, cloud, key, old_labels, new_label, labels, near, at, bound, best):
    """Offer the first edge to a stranger that each of the rows first..last has in its list to the row's component.

    `new_label` tells what has become of the components that the rows were in; `labels` receives it. A row whose list
    is at its end, or whose edge is not shorter than edges outside its list may be, lowers the least bound of its
    component.
    """
    rows, _, _, hashes, ranks = cloud
    best_u, best_v, best_d2, least = best
    wanted = near.shape[1]
    for i in range(first, last):
        label = new_label[old_labels[i]]
        labels[i] = label
        p = at[i]
        while p < wanted and (near[i, p] < 0 or new_label[old_labels[near[i, p]]] == label):
            p += 1
        at[i] = p
        if p < wanted:
            j = near[i, p]
            x, y = rows[i, 0] - rows[j, 0], rows[i, 1] - rows[j, 1]
            d2 = x * x + y * y
            if third is not None:
                x = rows[i, 2] - rows[j, 2]
                d2 += x * x
            if fourth is not None:
                y = rows[i, 3] - rows[j, 3]
                d2 += y * y
            if d2 < best_d2[label] or (
                d2 == best_d2[label] and comes_first(i, j, best_u[label], best_v[label], hashes, ranks, key)
            ):
                best_u[label], best_v[label], best_d2[label] = i, j, d2
            if d2 < bound[i]:
                continue
        if bound[i] < least[label]:  # and no store where it is not
            least[label] = bound[i]


@kernel
def combine(best, other, hashes, ranks, key):
    """Add what another thread found to the best edges of all components."""
    best_u, best_v, best_d2, least = best
    other_u, other_v, other_d2, other_least = other
    for c in range(len(best_d2)):
        if other_d2[c] < best_d2[c] or (
            other_d2[c] == best_d2[c]
            and other_d2[c] < np.inf
            and comes_first(other_u[c], other_v[c], best_u[c], best_v[c], hashes, ranks, key)
        ):
            best_u[c], best_v[c], best_d2[c] = other_u[c], other_v[c], other_d2[c]
        least[c] = min(least[c], other_least[c])


@kernel
def join_components(best, labels, sizes, new_label, edges, n_edges):
    """Join each component to another by its best edge, where no edge that has not been looked at can come before that.

    Writes the edges behind the first n_edges, and what becomes of each component. Returns how many edges there are, and
    the sizes of the components.
    """
    best_u, best_v, best_d2, least = best
    edge_u, edge_v, edge_d2 = edges
    n = len(new_label)
    parent = np.full(n, -1, np.int32)
    for c in range(n):
        if least[c] > best_d2[c]:
            a, b = find(parent, labels[best_u[c]]), find(parent, labels[best_v[c]])
            if a != b:
                unite(parent, a, b)
                edge_u[n_edges], edge_v[n_edges], edge_d2[n_edges] = best_u[c], best_v[c], best_d2[c]
                n_edges += 1
    n_components = 0
    for c in range(n):
        if parent[c] < 0:
            new_label[c] = n_components
            n_components += 1
    new_sizes = np.zeros(n_components, np.int64)
    for c in range(n):
        if parent[c] >= 0:
            new_label[c] = new_label[find(parent, c)]
        new_sizes[new_label[c]] += sizes[c]
    return n_edges, new_sizes


@kernel
def ends_by_row(n_rows, u, v):
    """Return the other ends of the edges at each row, row after row: where those of each row start, and the ends."""
    starts = np.zeros(n_rows + 2, np.int64)
    for e in range(len(u)):
        starts[u[e] + 2] += 1
        starts[v[e] + 2] += 1
    for i in range(2, n_rows + 2):
        starts[i] += starts[i - 1]
    ends = np.empty(2 * len(u), np.int32)
    for e in range(len(u)):
        for one, other in ((u[e], v[e]), (v[e], u[e])):
            ends[starts[one + 1]] = other
            starts[one + 1] += 1
    return starts[: n_rows + 1], ends


@kernel
def leave_out(first, last, u, v, near):
    """Take the edges first..last of a tree out of the lists of their ends."""
    for e in range(first, last):
        for one, other in ((u[e], v[e]), (v[e], u[e])):
            for p in range(near.shape[1]):
                if near[one, p] == other:
                    near[one, p] = -1
