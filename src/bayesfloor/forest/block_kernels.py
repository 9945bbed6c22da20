"""Kernels: two classes joined in one call, seed, sweep and settle, without a step of Python in between.

What `engine` does for large blocks of distances, for blocks that one thread is done with in milliseconds. Tiles are as
there; blocks of tiles are computed whole, four points of the one side at a time.
"""

import numpy as np

from bayesfloor.forest.blocks import (
    count_within,
    full_products,
    points_to_box,
    roughly_within,
    shift_full,
    squared_distance,
    tile_rows,
)
from bayesfloor.forest.bottleneck import heaviest_gap, point_places, tree_line
from bayesfloor.forest.hashing import edge_hash
from bayesfloor.forest.kdtree import box_distance
from bayesfloor.forest.kruskal import order_edges
from bayesfloor.forest.pair_kernels import merge_forests, walk_with
from bayesfloor.forest.sweep_kernels import DENSE_SHARE, F32_ROUNDING, widened
from bayesfloor.runtime.kernels import kernel


@kernel
def lay_out(side):
    """Return a side's coordinates point by point in float64, and those of its tiles with a multiple of four axes.

    The latter are as in `Side.local`; axes that are missing are zero.
    """
    columns, starts, local = side.columns, side.starts, side.local
    n_axes = side.centers.shape[1]
    n_padded = -(-n_axes // 4) * 4
    rows = np.empty((starts[-1], n_axes))
    padded = np.zeros(columns[-1] * n_padded, np.float32)
    for leaf in range(len(starts) - 1):
        first, width = columns[leaf], columns[leaf + 1] - columns[leaf]
        part = rows[starts[leaf] : starts[leaf + 1]]
        tile_rows(local, first * n_axes, width, len(part), side.centers, leaf, part)
        for p in range(width * n_axes):
            padded[first * n_padded + p] = local[first * n_axes + p]
    return rows, padded


@kernel(fastmath={"contract"})
def four_rows(points, p, norms, local, offset, width, column_norms, out):
    """Fill rows p .. p + 3 of out with squared distances to the points of a tile.

    The points are relative to the tile's centre and times -2, and have a multiple of four axes, as the tile has. Four
    rows at a time share each load of the tile's coordinates.
    """
    step = np.uint64(width)
    for f in range(0, points.shape[1], 4):
        a0, a1, a2, a3 = points[p, f], points[p, f + 1], points[p, f + 2], points[p, f + 3]
        b0, b1, b2, b3 = points[p + 1, f], points[p + 1, f + 1], points[p + 1, f + 2], points[p + 1, f + 3]
        c0, c1, c2, c3 = points[p + 2, f], points[p + 2, f + 1], points[p + 2, f + 2], points[p + 2, f + 3]
        d0, d1, d2, d3 = points[p + 3, f], points[p + 3, f + 1], points[p + 3, f + 2], points[p + 3, f + 3]
        at_0 = np.uint64(offset + f * width)
        at_1 = at_0 + step
        at_2 = at_1 + step
        at_3 = at_2 + step
        if f == 0:
            norm_a, norm_b, norm_c, norm_d = norms[p], norms[p + 1], norms[p + 2], norms[p + 3]
            for j in range(step):
                norm = column_norms[j]
                out[p, j], out[p + 1, j] = norm_a + norm, norm_b + norm
                out[p + 2, j], out[p + 3, j] = norm_c + norm, norm_d + norm
        for j in range(step):
            x_0, x_1, x_2, x_3 = local[at_0 + j], local[at_1 + j], local[at_2 + j], local[at_3 + j]
            out[p, j] = (((out[p, j] + a0 * x_0) + a1 * x_1) + a2 * x_2) + a3 * x_3
            out[p + 1, j] = (((out[p + 1, j] + b0 * x_0) + b1 * x_1) + b2 * x_2) + b3 * x_3
            out[p + 2, j] = (((out[p + 2, j] + c0 * x_0) + c1 * x_1) + c2 * x_2) + c3 * x_3
            out[p + 3, j] = (((out[p + 3, j] + d0 * x_0) + d1 * x_1) + d2 * x_2) + d3 * x_3


@kernel(fastmath={"contract", "reassoc"})
def shift_rows(rows, start, chosen, n_rows, centers, leaf, certain, points, norms):
    """Write chosen rows relative to a tile's centre and times -2, and their squared norms times `certain`."""
    for p in range(n_rows):
        i = start + chosen[p]
        norm = 0.0
        for f in range(rows.shape[1]):
            value = rows[i, f] - centers[leaf, f]
            points[p, f] = -2.0 * value
            norm += value * value
        norms[p] = norm * certain


@kernel
def block_distances(rows, start, chosen, n_rows, b, leaf, local, points, norms, column_norms, out, bits, least):
    """Fill out with squared distances of points start + chosen of a side to the points of tile leaf of b.

    Entries are lowered by a bound on their rounding, so that none exceeds the true distance. `least` receives the bits
    of the least entry of each row: as integers, which are ordered as the floats are, and whose minimum is a vector
    operation. (Entries may be negative. The minimum is then one of these, though not the least.)
    """
    n_axes = rows.shape[1]
    # A sum of n_axes products and two norms is off by n_axes + 1 roundings of the sum of its terms' sizes, which is
    # at most twice the sum of the norms.
    certain = 1.0 - 2.0 * (n_axes + 8) * F32_ROUNDING
    shift_rows(rows, start, chosen, n_rows, b.centers, leaf, certain, points, norms)
    padded = -(-n_rows // 4) * 4
    norms[n_rows:padded] = np.inf
    points[n_rows:padded] = 0.0
    column = b.columns[leaf]
    width = b.columns[leaf + 1] - column
    tile_norms = b.norms
    for j in range(width):
        column_norms[j] = tile_norms[column + j] * certain
    for p in range(0, padded, 4):
        four_rows(points, p, norms, local, column * points.shape[1], width, column_norms, out)
    for p in range(0, padded, 4):
        least_0 = least_1 = least_2 = least_3 = np.int32(0x7FFFFFFF)
        for j in range(np.uint64(width)):
            least_0, least_1 = min(least_0, bits[p, j]), min(least_1, bits[p + 1, j])
            least_2, least_3 = min(least_2, bits[p + 2, j]), min(least_3, bits[p + 3, j])
        least[p], least[p + 1], least[p + 2], least[p + 3] = least_0, least_1, least_2, least_3


@kernel
def nearest_tile(centers, leaf, other_centers):
    """Return the tile of another side whose centre is nearest."""
    nearest, nearest_distance = 0, np.inf
    for other in range(len(other_centers)):
        distance = 0.0
        for f in range(centers.shape[1]):
            distance += (centers[leaf, f] - other_centers[other, f]) ** 2
        if distance < nearest_distance:
            nearest, nearest_distance = other, distance
    return nearest


@kernel
def bound_points(starts, low, high, table, logs, lengths, reach, tile_low, tile_high, tile_reach):
    """Choose a representative for each tile and fill in how far each point must look, as `bound_tiles` does."""
    n_gaps = table.shape[1]
    for leaf in range(len(starts) - 1):
        best, best_gap = starts[leaf], np.int64(1) << 62
        for i in range(starts[leaf], starts[leaf + 1]):
            gap = np.int64(heaviest_gap(table, logs, max(low[i] - 1, 0), min(high[i] + 1, n_gaps)))
            if gap < best_gap:
                best, best_gap = i, gap
        tile_low[leaf], tile_high[leaf] = low[best], high[best]
        farthest = 0.0
        for i in range(starts[leaf], starts[leaf + 1]):
            edge = heaviest_gap(table, logs, min(low[best], low[i]), max(high[best], high[i]))
            reach[i] = 0.0 if edge < 0 else lengths[edge]
            farthest = max(farthest, reach[i])
        tile_reach[leaf] = farthest


@kernel
def join_block(a, b, rows, local, ends_a, ends_b, grown_a, grown_b, extra, n_trees, key, scale, sat, room):
    """Return the forests (u, v, d2, tree) of two classes together.

    Of each class come its points, the hashes and ranks of their copies, and its forests; rows are those of a and local
    those of b as `lay_out` returns them; `extra` are edges that are candidates in any case. Copies are numbered
    through, those of a first. When more than `room` edges survive, they are settled midway.
    """
    hashes, ranks = np.concatenate((ends_a[0], ends_b[0])), np.concatenate((ends_a[1], ends_b[1]))
    n_a, n_b = len(a.hashes), len(b.hashes)
    n_copies_a = a.copy_start[n_a]
    n_points = n_copies_a + b.copy_start[n_b]
    n_axes = a.centers.shape[1]
    n_tiles_a, n_tiles_b = len(a.starts) - 1, len(b.starts) - 1
    starts_a, starts_b, columns_b = a.starts, b.starts, b.columns
    copies_a, copies_b = a.copy_start, b.copy_start
    rows_a, rows_b, hashes_a, hashes_b = a.rows, b.rows, a.hashes, b.hashes
    height, width = 4, 4
    for leaf in range(n_tiles_a):
        height = max(height, starts_a[leaf + 1] - starts_a[leaf] + 3)
    for leaf in range(n_tiles_b):
        width = max(width, columns_b[leaf + 1] - columns_b[leaf])
    points = np.zeros((height, -(-n_axes // 4) * 4), np.float32)
    norms, column_norms = np.empty(height, np.float32), np.empty(width, np.float32)
    block = np.empty((height, width), np.float32)
    bits = block.view(np.int32)
    least = np.empty(height, np.int32)
    least_distance = least.view(np.float32)
    chosen, limit_of = np.empty(height, np.int64), np.empty(height, np.float32)
    gaps = np.empty(height + 16, np.float32)
    low_box, high_box = np.empty(n_axes, np.float32), np.empty(n_axes, np.float32)
    two_stages = len(a.full) > 0
    full_points = np.empty((height if two_stages else 0, a.full.shape[1]), np.float32)
    full_norms, product = np.empty(height), np.empty(height * width if two_stages else 0, np.float32)

    # Seed: each point of a and its nearest in the nearest tile of b.
    capacity = max(room, len(extra[0]) + n_a, 4 * sat * sat)
    new_u, new_v = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    new_d2 = np.empty(capacity, np.float64)
    count = len(extra[0])
    for e in range(count):
        new_u[e], new_v[e], new_d2[e] = extra[0][e], extra[1][e], extra[2][e]
    for tile_a in range(n_tiles_a):
        start, size = starts_a[tile_a], starts_a[tile_a + 1] - starts_a[tile_a]
        tile_b = nearest_tile(a.centers, tile_a, b.centers)
        for r in range(size):
            chosen[r] = r
        block_distances(rows, start, chosen, size, b, tile_b, local, points, norms, column_norms, block, bits, least)
        for r in range(size):
            c = 0
            while bits[r, c] != least[r]:
                c += 1
            i, j = start + r, starts_b[tile_b] + c
            new_u[count], new_v[count] = copies_a[i], n_copies_a + copies_b[j]
            new_d2[count] = squared_distance(rows_a, i, rows_b, j)
            count += 1

    u, v, d2, tree = merge_forests(
        grown_a.u,
        grown_a.v,
        grown_a.d2,
        grown_a.tree,
        grown_b.u,
        grown_b.v,
        grown_b.d2,
        grown_b.tree,
        n_copies_a,
        hashes,
        ranks,
        key,
    )
    low_a, high_a, low_b, high_b = (
        np.empty(n_a, np.int32),
        np.empty(n_a, np.int32),
        np.empty(n_b, np.int32),
        np.empty(n_b, np.int32),
    )
    reach_a, reach_b = np.empty(n_a), np.empty(n_b)
    tile_low_a, tile_high_a = np.empty(n_tiles_a, np.int32), np.empty(n_tiles_a, np.int32)
    tile_low_b, tile_high_b = np.empty(n_tiles_b, np.int32), np.empty(n_tiles_b, np.int32)
    tile_reach_a, tile_reach_b = np.empty(n_tiles_a), np.empty(n_tiles_b)
    limits = np.empty(width, np.float32)
    from_tile, from_row, from_column = 0, 0, 0  # the pair of tiles, and the entry of its block, to go on with
    while True:
        # Settle, and see how far each point must look.
        if count > 0:
            found_u, found_v, found_d2 = new_u[:count], new_v[:count], new_d2[:count]
            order = order_edges(found_u, found_v, found_d2, hashes, ranks, key)
            u, v, d2, tree = walk_with(
                n_points, n_trees, u, v, d2, tree, found_u, found_v, found_d2, order, hashes, ranks, key
            )
        if from_tile == n_tiles_a * n_tiles_b:
            return u, v, d2, tree
        count = 0
        place, table, logs, edge_d2, lengths, edge_hashes = tree_line(
            n_points, u, v, d2, tree, n_trees - 1, scale, hashes, key
        )
        point_places(place, copies_a, 0, low_a, high_a)
        point_places(place, copies_b, n_copies_a, low_b, high_b)
        bound_points(starts_a, low_a, high_a, table, logs, lengths, reach_a, tile_low_a, tile_high_a, tile_reach_a)
        bound_points(starts_b, low_b, high_b, table, logs, lengths, reach_b, tile_low_b, tile_high_b, tile_reach_b)

        # Sweep until done, or out of room.
        is_full = False
        while from_tile < n_tiles_a * n_tiles_b and not is_full:
            tile_a, tile_b = from_tile // n_tiles_b, from_tile % n_tiles_b
            node_a, node_b = n_tiles_a + tile_a, n_tiles_b + tile_b
            span = 0.0
            for f in range(n_axes):
                wide = max(a.box_high[node_a, f], b.box_high[node_b, f])
                wide -= min(a.box_low[node_a, f], b.box_low[node_b, f])
                span += wide * wide
            slack = a.slack[tile_a] + b.slack[tile_b]
            if two_stages:
                slack = max(slack, a.full_slack[tile_a] + b.full_slack[tile_b])
            slack += F32_ROUNDING * np.sqrt(span)
            edge = heaviest_gap(
                table, logs, min(tile_low_a[tile_a], tile_low_b[tile_b]), max(tile_high_a[tile_a], tile_high_b[tile_b])
            )
            between = 0.0 if edge < 0 else lengths[edge]
            farthest = max(between, max(tile_reach_a[tile_a], tile_reach_b[tile_b]))
            apart = box_distance(a.box_low, a.box_high, node_a, b.box_low, b.box_high, node_b)
            if apart > widened(farthest, slack, n_axes):
                from_tile, from_row, from_column = from_tile + 1, 0, 0
                continue
            start_a, start_b = starts_a[tile_a], starts_b[tile_b]
            size_a, size_b = starts_a[tile_a + 1] - start_a, starts_b[tile_b + 1] - start_b
            for c in range(size_b):
                limits[c] = widened(reach_b[start_b + c], slack, n_axes)
            most = widened(tile_reach_b[tile_b], slack, n_axes)

            # Choose the points of the one tile that may have something to find in the other's box, and compare them.
            for f in range(n_axes):
                low_box[f] = b.box_low[node_b, f] - a.centers[tile_a, f]
                high_box[f] = b.box_high[node_b, f] - a.centers[tile_a, f]
            column = a.columns[tile_a]
            points_to_box(a.local, column * n_axes, a.columns[tile_a + 1] - column, low_box, high_box, gaps)
            n_rows = 0
            for r in range(from_row, size_a):
                limit = widened(max(between, reach_a[start_a + r]), slack, n_axes)
                if gaps[r] <= max(limit, most):
                    chosen[n_rows], limit_of[n_rows] = r, limit
                    n_rows += 1
            block_distances(
                rows, start_a, chosen, n_rows, b, tile_b, local, points, norms, column_norms, block, bits, least
            )
            if two_stages:
                hits = 0
                for p in range(n_rows):
                    if least_distance[p] <= max(limit_of[p], most):
                        hits += count_within(block, p, 0, size_b, limit_of[p], limits)
                if hits > DENSE_SHARE * n_rows * size_b:
                    for p in range(n_rows):
                        full_norms[p] = shift_full(
                            a.full, start_a + chosen[p], a.full_centers, tile_a, b.full_centers, tile_b, full_points, p
                        )
                    full_products(
                        full_points, n_rows, full_norms, b.full, b.full_norms, start_b, size_b, product, block
                    )
            for p in range(n_rows):
                i, limit = start_a + chosen[p], limit_of[p]
                if least_distance[p] > max(limit, most):
                    continue
                for c in range(from_column if chosen[p] == from_row else 0, size_b):
                    if block[p, c] > limit and block[p, c] > limits[c]:
                        continue
                    j = start_b + c
                    edge = heaviest_gap(table, logs, min(low_a[i], low_b[j]), max(high_a[i], high_b[j]))
                    bound = edge_d2[edge]
                    if not roughly_within(rows_a, i, rows_b, j, bound):
                        continue
                    length = squared_distance(rows_a, i, rows_b, j)
                    if length > bound or (
                        length == bound and edge_hash(hashes_a[i], hashes_b[j], key) > edge_hashes[edge]
                    ):
                        continue
                    # Copies beyond the first and last few of a large site never take part in an edge that leaves it.
                    a0, a1, b0, b1 = copies_a[i], copies_a[i + 1], copies_b[j], copies_b[j + 1]
                    if count + min(a1 - a0, 2 * sat) * min(b1 - b0, 2 * sat) > capacity:
                        is_full = True
                        from_row, from_column = chosen[p], c
                        break
                    for one in range(a0, a1):
                        if a0 + sat <= one < a1 - sat:
                            continue
                        for other in range(b0, b1):
                            if b0 + sat <= other < b1 - sat:
                                continue
                            new_u[count], new_v[count], new_d2[count] = one, n_copies_a + other, length
                            count += 1
                if is_full:
                    break
            if not is_full:
                from_tile, from_row, from_column = from_tile + 1, 0, 0
