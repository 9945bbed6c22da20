"""Kernels: near neighbours of new points among tiles that are there already.

As in `seed_kernels`, nothing here needs to be exact. New points are few and lie far apart, so each looks for the tiles
nearest to itself, and not its tile for those nearest to the tile.
"""

import numpy as np

from bayesfloor.forest.blocks import count_within, row_distances, shift
from bayesfloor.forest.kdtree import nearest_leaves, point_to_box
from bayesfloor.forest.seed_kernels import keep_nearest
from bayesfloor.runtime.kernels import kernel

FEW_AXES = 8  # up to here the tree leaves out most tiles; beyond, looking at all their centres is faster


@kernel
def nearest_centers(distances, n_leaves, found, found_distances):
    """Fill found with the leaves of the least distances, nearest first; return how many there are."""
    wanted, n_found = len(found), 0
    for leaf in range(n_leaves):
        distance = distances[0, leaf]
        if n_found == wanted and distance >= found_distances[wanted - 1]:
            continue
        p = min(n_found, wanted - 1)
        while p > 0 and found_distances[p - 1] > distance:
            found_distances[p] = found_distances[p - 1]
            found[p] = found[p - 1]
            p -= 1
        found_distances[p] = distance
        found[p] = leaf
        n_found = min(n_found + 1, wanted)
    return n_found


@kernel
def near_in_side(first, last, coords, side, flat_centers, n_near, offset, best, neighbors):
    """Find near neighbours in a side for points first..last, among the tiles nearest to each.

    `flat_centers` are the side's centres axis by axis. `best` and `neighbors` (n points, how many) hold what was
    found before, nearest first, and receive what is nearer; points of the side are numbered from the offset on.
    """
    n_axes, n_wanted = coords.shape[1], neighbors.shape[1]
    n_leaves = 1 << side.height
    starts, columns, centers, local = side.starts, side.columns, side.centers, side.local
    box_low, box_high = side.box_low, side.box_high
    found = np.empty(min(n_near, n_leaves), np.int64)
    found_distances = np.empty(len(found))
    widest = 0
    for leaf in range(n_leaves):
        widest = max(widest, columns[leaf + 1] - columns[leaf])
    no_limits = np.full(widest, -np.inf, np.float32)
    block = np.empty((1, max(widest, n_leaves)), np.float32)
    point = np.empty((1, n_axes), np.float32)
    for i in range(first, last):
        if n_axes <= FEW_AXES:
            n_found = nearest_leaves(coords, i, centers, box_low, box_high, side.height, found, found_distances)
        else:
            for f in range(n_axes):
                point[0, f] = coords[i, f]
            row_distances(point, 0, flat_centers, 0, n_leaves, block)
            n_found = nearest_centers(block, n_leaves, found, found_distances)
        for near in range(n_found):
            leaf = found[near]
            if point_to_box(coords, i, box_low, box_high, n_leaves + leaf) >= best[i, n_wanted - 1]:
                continue
            column = columns[leaf]
            size = starts[leaf + 1] - starts[leaf]
            shift(coords, i, centers, leaf, point, 0)
            row_distances(point, 0, local, column * n_axes, columns[leaf + 1] - column, block)
            if count_within(block, 0, 0, size, best[i, n_wanted - 1], no_limits) > 0:
                keep_nearest(block, 0, size, starts[leaf] + offset, best, i, neighbors, i)
