"""Kernels: the heaviest edge between any two points of a tree, in constant time.

Kruskal's merges write the points of a tree in a line: each merge puts one component behind the other and notes the
merging edge in the gap between them. The heaviest edge on the path between two points is then the heaviest gap
between their places in the line. Gaps hold the edge's place in the tree's own order, so that a comparison of integers
is a comparison in the strict order; a gap that no edge closes holds the number of edges, one more than any of them.
"""

import numpy as np

from bayesfloor.forest.order.hash_kernels import edge_hash
from bayesfloor.forest.order.kruskal_kernels import find, unite
from bayesfloor.runtime.kernels import kernel


@kernel
def merge_line(n_points, u, v):
    """Write the points of a tree in a line, as (place of each point, edge in each gap).

    The edges come in the strict order.
    """
    parent = np.full(n_points, -1, np.int32)
    head = np.arange(n_points).astype(np.int32)
    tail = np.arange(n_points).astype(np.int32)
    following = np.full(n_points, -1, np.int32)
    gap_after = np.full(n_points, len(u), np.int32)
    for edge in range(len(u)):
        a = find(parent, u[edge])
        b = find(parent, v[edge])
        first, last = head[a], tail[b]
        following[tail[a]] = head[b]
        gap_after[tail[a]] = edge
        unite(parent, a, b)
        root = a if parent[a] < 0 else b
        head[root] = first
        tail[root] = last
    place = np.empty(n_points, np.int32)
    gaps = np.empty(max(n_points - 1, 1), np.int32)
    at = 0
    for start in range(n_points):
        if parent[start] >= 0:
            continue
        point = head[start]
        while point >= 0:
            place[point] = at
            if at < n_points - 1:
                gaps[at] = gap_after[point]
            at += 1
            point = following[point]
    return place, gaps


@kernel
def range_max_table(gaps):
    """Return the maxima of all stretches of 1, 2, 4, ... gaps."""
    n = len(gaps)
    levels = 1
    while (2 << (levels - 1)) <= n:
        levels += 1
    table = np.empty((levels, n), np.int32)
    for p in range(n):
        table[0, p] = gaps[p]
    for level in range(1, levels):
        half = 1 << (level - 1)
        for p in range(n - 2 * half + 1):
            table[level, p] = max(table[level - 1, p], table[level - 1, p + half])
    return table


@kernel
def tree_line(n_points, u, v, d2, tree, last, scale, hashes, key):
    """Write the last tree of some forests as a line.

    Returns the place of each point, the range maxima and logarithms that `heaviest_gap` reads, and of each edge the
    squared length, the scaled length and the hash; then those of the gap that no edge closes, heavier than any.
    """
    n_edges = 0
    for edge in range(len(tree)):
        n_edges += tree[edge] == last
    last_u, last_v = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    edge_d2, lengths = np.empty(n_edges + 1), np.empty(n_edges + 1)
    edge_hashes = np.empty(n_edges + 1, np.uint64)
    at = 0
    for edge in range(len(tree)):
        if tree[edge] == last:
            last_u[at], last_v[at], edge_d2[at] = u[edge], v[edge], d2[edge]
            lengths[at] = np.sqrt(d2[edge]) * scale
            edge_hashes[at] = edge_hash(hashes[u[edge]], hashes[v[edge]], key)
            at += 1
    edge_d2[n_edges], lengths[n_edges], edge_hashes[n_edges] = np.inf, np.inf, ~np.uint64(0)
    place, gaps = merge_line(n_points, last_u, last_v)
    logs = np.zeros(n_points + 1, np.int8)
    for k in range(2, n_points + 1):
        logs[k] = logs[k >> 1] + 1
    return place, range_max_table(gaps), logs, edge_d2, lengths, edge_hashes


@kernel(inline="always")
def heaviest_gap(table, logs, low, high):
    """Return the heaviest gap between two places, -1 when they are one place."""
    width = high - low
    if width == 0:
        return np.int32(-1)
    level = logs[width]
    return max(table[level, low], table[level, high - (1 << level)])
