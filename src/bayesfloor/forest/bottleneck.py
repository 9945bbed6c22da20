"""Kernels: the heaviest edge between any two points of a tree, in constant time.

Kruskal's merges write the points of a tree in a line: each merge puts one component behind the other and notes the
merging edge in the gap between them. The heaviest edge on the path between two points is then the heaviest gap
between their places in the line. Gaps hold the edge's place in the tree's own order, so that a comparison of integers
is a comparison in the strict order; a gap that no edge closes holds the number of edges, one more than any of them.
"""

import numpy as np

from bayesfloor.forest.hashing import edge_hash
from bayesfloor.forest.kruskal import find, unite
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
    table[0] = gaps
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


@kernel
def point_places(place, copy_start, first_copy, place_low, place_high):
    """Fill in the first and last place of each point's copies."""
    for i in range(len(copy_start) - 1):
        low = high = place[first_copy + copy_start[i]]
        for copy in range(copy_start[i] + 1, copy_start[i + 1]):
            at = place[first_copy + copy]
            low = min(low, at)
            high = max(high, at)
        place_low[i] = low
        place_high[i] = high


@kernel
def bound_tiles(first, last, side, line, bounds, choose):
    """Fill in every point's reach to its representative, in tiles first..last.

    A representative is chosen as the point with the lightest edges around it, so that the reach of others is their
    own, and is kept when the bounds are drawn closer.
    """
    n_leaves = 1 << side.height
    starts = side.starts
    table, logs, lengths = line.table, line.logs, line.lengths
    lows, highs, reaches, by_reach = bounds.place_low, bounds.place_high, bounds.reach, bounds.by_reach
    representative, node_low, node_high = bounds.representative, bounds.node_low, bounds.node_high
    n_gaps = table.shape[1]
    for leaf in range(first, last):
        start, stop = starts[leaf], starts[leaf + 1]
        best, best_gap = representative[leaf], np.int64(1) << 62
        for i in range(start, stop if choose else start):
            gap = np.int64(heaviest_gap(table, logs, max(lows[i] - 1, 0), min(highs[i] + 1, n_gaps)))
            if gap < best_gap:
                best, best_gap = i, gap
        representative[leaf] = best
        place_low, place_high = lows[best], highs[best]
        node_low[n_leaves + leaf] = place_low
        node_high[n_leaves + leaf] = place_high
        for i in range(start, stop):
            edge = heaviest_gap(table, logs, min(place_low, lows[i]), max(place_high, highs[i]))
            reach = 0.0 if edge < 0 else lengths[edge]
            reaches[i] = reach
            p = i
            while p > start and reaches[by_reach[p - 1]] < reach:
                by_reach[p] = by_reach[p - 1]
                p -= 1
            by_reach[p] = i
        bounds.node_reach[n_leaves + leaf] = reaches[by_reach[start]]


@kernel
def bound_nodes(side, bounds):
    """Gather what the tiles' bounds say about the nodes above them."""
    for node in range((1 << side.height) - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        bounds.node_reach[node] = max(bounds.node_reach[left], bounds.node_reach[right])
        bounds.node_low[node] = min(bounds.node_low[left], bounds.node_low[right])
        bounds.node_high[node] = max(bounds.node_high[left], bounds.node_high[right])


@kernel
def tile_gaps(low_a, high_a, low_b, high_b, line):
    """Return the length of the heaviest edge between the representatives of every two tiles of two sides.

    The places come by node, those of the tiles last.
    """
    n_a, n_b = len(low_a) // 2, len(low_b) // 2
    table, logs, lengths = line.table, line.logs, line.lengths
    between = np.empty((n_a, n_b), np.float32)
    for a in range(n_a):
        for b in range(n_b):
            low, high = min(low_a[n_a + a], low_b[n_b + b]), max(high_a[n_a + a], high_b[n_b + b])
            edge = heaviest_gap(table, logs, low, high)
            between[a, b] = 0.0 if edge < 0 else lengths[edge]
    return between
