"""Kernels: points in the order of the last tree's line, in blocks of equal size, and how far each looks."""

import numpy as np

from bayesfloor.forest.order.bottleneck_kernels import heaviest_gap
from bayesfloor.forest.sweep.bound_kernels import point_places
from bayesfloor.runtime.kernels import kernel


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
