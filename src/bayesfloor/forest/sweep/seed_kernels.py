"""Kernels: near neighbours and a sample's trees, the graph whose last tree bounds the sweep.

Nothing here needs to be exact; the better the graph, the fewer edges survive the sweep.
"""

import numpy as np

from bayesfloor.forest.sweep.distance_kernels import (
    block_products,
    count_within,
    full_block,
    row_distances,
    shift,
    tile_rows,
)
from bayesfloor.forest.sweep.kdtree_kernels import insert_nearest, nearest_leaves, point_to_box
from bayesfloor.forest.sweep.vectors import LANES, VECTOR, box_gap, sixteen_distances
from bayesfloor.runtime.kernels import kernel

# Maximum number of axes for which the k-d tree leaves out most tiles; beyond, all centres are compared.
FEW_AXES = 8


@kernel
def near_neighbors(first, last, a, b, same, n_near, products, work, neighbors):
    """Find near neighbours in side b for the points of tiles first..last of side a, among the nearest tiles.

    neighbors (n points of a, how many) receives points of b, nearest first, -1 where there are too few.
    """
    n_wanted = neighbors.shape[1]
    n_axes = a.centers.shape[1]
    box_low, box_high, centers = b.box_low, b.box_high, b.centers
    rows, points, full_points, norms = work.rows, work.points, work.full_points, work.norms
    chosen, block, no_limits = work.chosen, work.block, work.column_limit
    full = len(a.full.points) > 0
    no_limits[:] = -np.inf
    found = np.empty(min(n_near, 1 << b.height), np.int64)
    found_distances = np.empty(len(found))
    best = np.empty((len(chosen), n_wanted), np.float32)
    has_vectors = len(b.vector_low) > 0
    # The tile's points, and the boxes of others, relative to its centre; axes are padded with zeros.
    n_lanes = -(-n_axes // LANES) * LANES
    own, low_box = np.zeros(len(chosen) * n_lanes, np.float32), np.zeros(n_lanes, np.float32)
    high_box = np.zeros(n_lanes, np.float32)
    for leaf_a in range(first, last):
        start_a = a.starts[leaf_a]
        size_a = a.starts[leaf_a + 1] - start_a
        column_a = a.columns[leaf_a]
        width_a = a.columns[leaf_a + 1] - column_a
        neighbors[start_a : start_a + size_a] = -1
        best[:size_a] = np.inf
        tile_rows(a.local, column_a * n_axes, width_a, size_a, a.centers, leaf_a, rows)
        for r in range(size_a):
            for f in range(n_axes):
                own[r * n_lanes + f] = rows[r, f] - a.centers[leaf_a, f]
        n_found = nearest_leaves(a.centers, leaf_a, centers, box_low, box_high, b.height, found, found_distances)
        for near in range(n_found):
            leaf_b = found[near]
            node_b = (1 << b.height) + leaf_b
            start_b = b.starts[leaf_b]
            size_b = b.starts[leaf_b + 1] - start_b
            n_rows = 0
            for f in range(n_axes):
                center = a.centers[leaf_a, f]
                low_box[f], high_box[f] = box_low[node_b, f] - center, box_high[node_b, f] - center
            for r in range(size_a):
                chosen[n_rows] = r
                gap = box_gap(own, own, r * n_lanes, low_box, high_box, 0, n_lanes)
                n_rows += gap < best[r, n_wanted - 1]
            if n_rows == 0:
                continue
            column_b = b.columns[leaf_b]
            width_b = b.columns[leaf_b + 1] - column_b
            if has_vectors:
                is_own = same and leaf_a == leaf_b
                nearest_in_vectors(rows, chosen, n_rows, b, leaf_b, is_own, best, start_a, neighbors)
                continue
            if full:
                buffers = full_points, norms, work.product, block
                full_block(a.full, leaf_a, start_a, chosen, n_rows, b.full, leaf_b, start_b, size_b, *buffers)
            else:
                for p in range(n_rows):
                    norms[p] = shift(rows, chosen[p], centers, leaf_b, points, p)
                if products:
                    block_products(points, n_rows, norms, b.local, b.norms, column_b, width_b, work.product, block)
                else:
                    for p in range(n_rows):
                        row_distances(points, p, b.local, column_b * n_axes, width_b, block)
            for p in range(n_rows):
                r = chosen[p]
                if same and leaf_a == leaf_b:
                    block[p, r] = np.inf
                if count_within(block, p, 0, size_b, best[r, n_wanted - 1], no_limits) > 0:
                    keep_nearest(block, p, size_b, start_b, best, r, neighbors, start_a + r)


@kernel
def nearest_in_vectors(rows, chosen, n_rows, b, leaf, is_own, best, first, neighbors):
    """Merge the points of a tile of b into the nearest so far of chosen rows of a tile, which may be their own.

    Vectors whose box is farther away than the nearest so far are skipped.
    """
    n_axes, n_wanted = rows.shape[1], best.shape[1]
    centers, local, vector_low, vector_high = b.centers, b.local, b.vector_low, b.vector_high
    start, column = b.starts[leaf], b.columns[leaf]
    size, width = b.starts[leaf + 1] - start, b.columns[leaf + 1] - column
    n_lanes = -(-n_axes // LANES) * LANES
    point, distances = np.zeros(n_lanes, np.float32), np.empty((1, VECTOR), np.float32)
    sixteen = distances[0]
    for p in range(n_rows):
        r = chosen[p]
        for f in range(n_axes):
            point[f] = rows[r, f] - centers[leaf, f]
        for vector in range(0, size, VECTOR):
            box, at = (column + vector) // VECTOR * n_lanes, column * n_axes + vector
            farthest = best[r, n_wanted - 1]
            if box_gap(point, point, 0, vector_low, vector_high, box, n_lanes) >= farthest:
                continue
            if sixteen_distances(point, 0, n_axes, local, at, width, farthest, sixteen, 0) < farthest:
                if is_own and vector <= r < vector + VECTOR:
                    sixteen[r - vector] = np.inf
                n_others = min(VECTOR, size - vector)
                keep_nearest(distances, 0, n_others, start + vector, best, r, neighbors, first + r)


@kernel
def keep_nearest(distances, p, size, first, best, r, neighbors, i):
    """Merge a row of distances into the nearest so far of a point."""
    n_wanted = best.shape[1]
    for j in range(size):
        distance = distances[p, j]
        if distance >= best[r, n_wanted - 1]:
            continue
        q = n_wanted - 1
        while q > 0 and best[r, q - 1] > distance:
            best[r, q] = best[r, q - 1]
            neighbors[i, q] = neighbors[i, q - 1]
            q -= 1
        best[r, q] = distance
        neighbors[i, q] = first + j


@kernel
def neighbor_edges(neighbors):
    """Return each neighbour pair once, as (i, j)."""
    n, n_wanted = neighbors.shape
    out_u = np.empty(n * n_wanted, np.int32)
    out_v = np.empty(n * n_wanted, np.int32)
    written = 0
    for i in range(n):
        for p in range(n_wanted):
            j = neighbors[i, p]
            if j < 0:
                break
            mutual = False
            if j < i:
                for q in range(n_wanted):
                    if neighbors[j, q] == i:
                        mutual = True
                        break
            if not mutual:
                out_u[written] = i
                out_v[written] = j
                written += 1
    return out_u[:written], out_v[:written]


@kernel
def sample_trees(rows, n_trees):
    """Return the edges of the first few minimum spanning trees of a small set of points, by Prim's method."""
    n = len(rows)
    d2 = np.dot(rows, rows.T)
    norms = np.empty(n, np.float32)
    for i in range(n):
        norms[i] = d2[i, i]
    for i in range(n):
        for j in range(n):
            d2[i, j] = norms[i] + norms[j] - np.float32(2.0) * d2[i, j]
        d2[i, i] = np.inf
    out_u = np.empty(n_trees * (n - 1), np.int32)
    out_v = np.empty(n_trees * (n - 1), np.int32)
    written = 0
    distance = np.empty(n, np.float32)
    source = np.empty(n, np.int32)
    for _ in range(n_trees):
        inside = np.zeros(n, np.bool_)
        distance[:] = np.inf
        at = 0
        for _ in range(n - 1):
            inside[at] = True
            row = d2[at]
            nearest, nearest_distance = -1, np.float32(np.inf)
            for j in range(n):
                if inside[j]:
                    continue
                if row[j] < distance[j]:
                    distance[j] = row[j]
                    source[j] = at
                if distance[j] < nearest_distance:
                    nearest, nearest_distance = j, distance[j]
            if nearest < 0:
                break
            out_u[written], out_v[written] = source[nearest], nearest
            written += 1
            d2[source[nearest], nearest] = np.inf
            d2[nearest, source[nearest]] = np.inf
            at = nearest
    return out_u[:written], out_v[:written]


@kernel
def chain_edges(labels, window):
    """Return edges between points less than a window apart in tile order whose labels differ."""
    n = len(labels)
    capacity = 0
    for i in range(n):
        for j in range(i + 1, min(i + window, n)):
            capacity += labels[i] != labels[j]
    out_u = np.empty(capacity, np.int32)
    out_v = np.empty(capacity, np.int32)
    written = 0
    for i in range(n):
        for j in range(i + 1, min(i + window, n)):
            if labels[i] != labels[j]:
                out_u[written], out_v[written] = i, j
                written += 1
    return out_u, out_v


@kernel
def nearest_centers(distances, n_leaves, found, found_distances):
    """Fill found with the leaves of the least distances, nearest first; return how many there are."""
    n_found = 0
    for leaf in range(n_leaves):
        n_found = insert_nearest(leaf, distances[0, leaf], found, found_distances, n_found)
    return n_found


@kernel
def near_in_side(coords, side, flat_centers, n_near, best, neighbors):
    """Find near neighbours in a side for some points, among the tiles nearest to each.

    The points are few and lie far apart, so each looks for the tiles nearest to itself, and not its tile for those
    nearest to the tile.

    `flat_centers` are the side's centres axis by axis. `best` (infinite) and `neighbors` (n points, how many) receive
    distances and points of the side, nearest first.
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
    for i in range(len(coords)):
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
                keep_nearest(block, 0, size, starts[leaf], best, i, neighbors, i)
