"""Kernels: how far every point, tile and node of a side has to look.

One point of each tile represents it. An edge between two points that can still enter is no longer than the longest of
three: the heaviest edges from either point to its representative, its *reach*, and that between the representatives.
A device has blocks of points along the line of the last tree in place of tiles (`bound_along`).
"""

import numpy as np

from bayesfloor.forest.order.bottleneck_kernels import heaviest_gap
from bayesfloor.forest.sweep.records import Bounds
from bayesfloor.runtime.kernels import kernel


@kernel
def insert_by_reach(i, start, reaches, by_reach):
    """Put point i into the list of its tile's points, which begins at `start`: those that reach farthest come first."""
    p = i
    while p > start and reaches[by_reach[p - 1]] < reaches[i]:
        by_reach[p] = by_reach[p - 1]
        p -= 1
    by_reach[p] = i


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
        farthest = 0.0
        for i in range(start, stop):
            edge = heaviest_gap(table, logs, min(place_low, lows[i]), max(place_high, highs[i]))
            reach = 0.0 if edge < 0 else lengths[edge]
            reaches[i] = reach
            farthest = max(farthest, reach)
            if len(by_reach) > 0:
                insert_by_reach(i, start, reaches, by_reach)
        bounds.node_reach[n_leaves + leaf] = farthest


@kernel
def bound_nodes(side, bounds):
    """Gather what the tiles' bounds say about the nodes above them."""
    for node in range((1 << side.height) - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        bounds.node_reach[node] = max(bounds.node_reach[left], bounds.node_reach[right])
        bounds.node_low[node] = min(bounds.node_low[left], bounds.node_low[right])
        bounds.node_high[node] = max(bounds.node_high[left], bounds.node_high[right])


@kernel
def empty_bounds(side, ordered):
    """Return bounds of a side that are still to be drawn, with each tile's points by their reach where `ordered`."""
    n, n_leaves = len(side.hashes), 1 << side.height
    return Bounds(
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n),
        np.empty(n if ordered else 0, np.int32),
        np.empty(n_leaves, np.int64),
        np.empty(2 * n_leaves),
        np.empty(2 * n_leaves, np.int32),
        np.empty(2 * n_leaves, np.int32),
        np.empty(2 * n_leaves, np.int32),
        np.empty(2 * n_leaves, np.int32),
    )


@kernel
def rank_nodes(ranks, low, high):
    """Fill in the lowest and the highest rank of the tiles below each node."""
    n_leaves = len(ranks)
    for leaf in range(n_leaves):
        low[n_leaves + leaf] = high[n_leaves + leaf] = ranks[leaf]
    for node in range(n_leaves - 1, 0, -1):
        low[node] = min(low[2 * node], low[2 * node + 1])
        high[node] = max(high[2 * node], high[2 * node + 1])


@kernel
def hop_table(places, line):
    """Return range maxima of the lengths between places that ascend: of 1, 2, 4, ... hops.

    They are rounded up to float32, which bounds may be.
    """
    table, logs, lengths = line.table, line.logs, line.lengths
    n_hops = max(len(places) - 1, 1)
    hops = np.zeros((logs[n_hops] + 1, n_hops), np.float32)
    for p in range(len(places) - 1):
        hops[0, p] = lengths[heaviest_gap(table, logs, places[p], places[p + 1])] * (1.0 + 1e-6) + 1e-37
    for level in range(1, hops.shape[0]):
        half = 1 << (level - 1)
        for p in range(n_hops - 2 * half + 1):
            hops[level, p] = max(hops[level - 1, p], hops[level - 1, p + half])
    return hops


@kernel
def bound_side(side, place, first_copy, line, bounds, choose):
    """Draw the bounds of a whole side from the places of its copies, which are numbered from first_copy on."""
    point_places(place, side.copy_start, first_copy, bounds.place_low, bounds.place_high)
    bound_tiles(0, 1 << side.height, side, line, bounds, choose)
    bound_nodes(side, bounds)


@kernel
def bound_along(place, copy_start, first_copy, line, choose, block_size, order, low, high, reach, anchors):
    """Fill in how far each point looks: the heaviest edge between it and the point in the middle of its block.

    `order` holds the points as they are listed. Where `choose` says so, it is filled in first: by the place of their
    first copies. `low` and `high` receive the places of the copies of each point, `anchors` those of the middles.
    """
    n, n_places = len(order), len(place)
    table, logs, lengths = line.table, line.logs, line.lengths
    lows, highs = np.empty(n, np.int32), np.empty(n, np.int32)
    point_places(place, copy_start, first_copy, lows, highs)
    if choose:
        point_at = np.full(n_places, -1, np.int32)
        for i in range(n):
            point_at[lows[i]] = i
        listed = 0
        for at in range(n_places):
            if point_at[at] >= 0:
                order[listed] = point_at[at]
                listed += 1
    for p in range(n):
        low[p], high[p] = lows[order[p]], highs[order[p]]
    for block in range(len(anchors)):
        start = block * block_size
        anchor = low[min(start + block_size // 2, n - 1)]
        anchors[block] = anchor
        for p in range(start, min(start + block_size, n)):
            edge = heaviest_gap(table, logs, min(low[p], anchor), max(high[p], anchor))
            reach[p] = 0.0 if edge < 0 else lengths[edge]
