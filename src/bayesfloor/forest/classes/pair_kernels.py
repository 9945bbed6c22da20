"""Kernels: two classes joined in one call, seed, sweep and settle, without a step of Python in between.

`join_block` joins two classes of moderate size, `join_small_pairs` many pairs of small ones, all edges between them
being candidates.

`join_block` does what `sweep.driver` does for large blocks of distances, for blocks that one thread is done with in
milliseconds. The bounds and the decision about each candidate are the same kernels. Only how candidates are gathered
stands apart: each pair of tiles is met once, in one direction. Tiles that have boxes of vectors are compared vector by
vector, others as products, four points at a time. With the kernels of the sweep instead, letter's pairs take a third
longer to gather (pendigits 12%), and those of satimage 9% in all.
"""

import numpy as np

from bayesfloor.forest.order.bottleneck_kernels import heaviest_gap, tree_line
from bayesfloor.forest.order.kruskal_kernels import merge_forests, order_edges, precedes, walk_with
from bayesfloor.forest.order.label_kernels import measure_pair
from bayesfloor.forest.sweep.bound_kernels import bound_side, empty_bounds
from bayesfloor.forest.sweep.distance_kernels import (
    count_within,
    full_block,
    points_to_box,
    squared_distance,
    tile_rows,
)
from bayesfloor.forest.sweep.kdtree_kernels import box_distance, box_span, nearest_leaves
from bayesfloor.forest.sweep.records import Line
from bayesfloor.forest.sweep.tile_kernels import DENSE_SHARE, F32_ROUNDING, settle_candidates, widened
from bayesfloor.forest.sweep.vectors import LANES, VECTOR, box_gap, sixteen_distances
from bayesfloor.runtime.kernels import kernel

# Maximum number of edges for which insertion sorts faster than radix.
FEW_EDGES = 96


@kernel(fastmath={"contract"})
def four_rows(points, p, norms, local, offset, width, column_norms, out):
    """Fill rows p .. p + 3 of out with squared distances to the points of a tile.

    The points are relative to the tile's centre and times -2. Four rows at a time share each load of the tile's
    coordinates.
    """
    n_axes = points.shape[1]
    step = np.uint64(width)
    norm_a, norm_b, norm_c, norm_d = norms[p], norms[p + 1], norms[p + 2], norms[p + 3]
    for j in range(step):
        norm = column_norms[j]
        out[p, j], out[p + 1, j] = norm_a + norm, norm_b + norm
        out[p + 2, j], out[p + 3, j] = norm_c + norm, norm_d + norm
    f = 0
    at_0 = np.uint64(offset)
    while f + 4 <= n_axes:
        a0, a1, a2, a3 = points[p, f], points[p, f + 1], points[p, f + 2], points[p, f + 3]
        b0, b1, b2, b3 = points[p + 1, f], points[p + 1, f + 1], points[p + 1, f + 2], points[p + 1, f + 3]
        c0, c1, c2, c3 = points[p + 2, f], points[p + 2, f + 1], points[p + 2, f + 2], points[p + 2, f + 3]
        d0, d1, d2, d3 = points[p + 3, f], points[p + 3, f + 1], points[p + 3, f + 2], points[p + 3, f + 3]
        at_1 = at_0 + step
        at_2 = at_1 + step
        at_3 = at_2 + step
        for j in range(step):
            x_0, x_1, x_2, x_3 = local[at_0 + j], local[at_1 + j], local[at_2 + j], local[at_3 + j]
            out[p, j] = (((out[p, j] + a0 * x_0) + a1 * x_1) + a2 * x_2) + a3 * x_3
            out[p + 1, j] = (((out[p + 1, j] + b0 * x_0) + b1 * x_1) + b2 * x_2) + b3 * x_3
            out[p + 2, j] = (((out[p + 2, j] + c0 * x_0) + c1 * x_1) + c2 * x_2) + c3 * x_3
            out[p + 3, j] = (((out[p + 3, j] + d0 * x_0) + d1 * x_1) + d2 * x_2) + d3 * x_3
        at_0 = at_3 + step
        f += 4
    while f < n_axes:
        a0, b0, c0, d0 = points[p, f], points[p + 1, f], points[p + 2, f], points[p + 3, f]
        for j in range(step):
            x_0 = local[at_0 + j]
            out[p, j] += a0 * x_0
            out[p + 1, j] += b0 * x_0
            out[p + 2, j] += c0 * x_0
            out[p + 3, j] += d0 * x_0
        at_0 += step
        f += 1


@kernel(fastmath={"contract", "reassoc"})
def shift_rows(rows, chosen, n_rows, centers, leaf, certain, points, norms):
    """Write chosen rows relative to a tile's centre and times -2, and their squared norms times `certain`."""
    for p in range(n_rows):
        i = chosen[p]
        norm = 0.0
        for f in range(rows.shape[1]):
            value = rows[i, f] - centers[leaf, f]
            points[p, f] = -2.0 * value
            norm += value * value
        norms[p] = norm * certain


@kernel
def block_distances(rows, chosen, n_rows, b, leaf, points, norms, column_norms, out, bits, least):
    """Fill out with squared distances of chosen rows to the points of tile leaf of b: (centers, columns, norms, local).

    Entries are lowered by a bound on their rounding, so that none exceeds the true distance. `least` receives the bits
    of the least entry of each row: as integers, which are ordered as the floats are, and whose minimum is a vector
    operation. (Entries may be negative. The minimum is then one of these, though not the least.)
    """
    n_axes = rows.shape[1]
    centers, columns, tile_norms, local = b
    # A sum of n_axes products and two norms is off by n_axes + 1 roundings of the sum of its terms' sizes, which is
    # at most twice the sum of the norms.
    certain = 1.0 - 2.0 * (n_axes + 8) * F32_ROUNDING
    shift_rows(rows, chosen, n_rows, centers, leaf, certain, points, norms)
    padded = -(-n_rows // 4) * 4
    norms[n_rows:padded] = np.inf
    points[n_rows:padded] = 0.0
    column = columns[leaf]
    width = columns[leaf + 1] - column
    for j in range(width):
        column_norms[j] = tile_norms[column + j] * certain
    for p in range(0, padded, 4):
        four_rows(points, p, norms, local, column * n_axes, width, column_norms, out)
    for p in range(0, padded, 4):
        least_0 = least_1 = least_2 = least_3 = np.int32(0x7FFFFFFF)
        for j in range(np.uint64(width)):
            least_0, least_1 = min(least_0, bits[p, j]), min(least_1, bits[p + 1, j])
            least_2, least_3 = min(least_2, bits[p + 2, j]), min(least_3, bits[p + 3, j])
        least[p], least[p + 1], least[p + 2], least[p + 3] = least_0, least_1, least_2, least_3


@kernel
def load_tile(side, leaf, rows):
    """Write a tile's points, in the tree's coordinates, to rows; return its first point and how many there are."""
    column, start = side.columns[leaf], side.starts[leaf]
    width, size = side.columns[leaf + 1] - column, side.starts[leaf + 1] - start
    tile_rows(side.local, column * side.centers.shape[1], width, size, side.centers, leaf, rows)
    return start, size


@kernel
def vector_buffers(largest, n_axes):
    """Return the buffers of `gather_in_vectors` for tiles of so many columns; axes are padded with zeros."""
    n_lanes, n_vectors = -(-n_axes // LANES) * LANES, largest // VECTOR
    return (
        np.zeros(largest * n_lanes, np.float32),
        np.empty(n_vectors, np.float32),
        np.empty(VECTOR, np.float32),
        np.empty(largest * n_vectors + 1, np.int32),
        np.empty(largest * n_vectors + 1, np.int32),
    )


@kernel
def gather_in_vectors(rows, looking, tile, buffers, found_i, found_j, count):
    """Gather candidates between chosen rows of a tile and another, whose points lie in vectors with boxes of their own.

    A row is held against the boxes first, then compared with the points of near ones. A pair is a candidate if it is
    within the limit of either point. Returns the number of candidates.
    """
    chosen, n_rows, first_row, limit_of = looking
    centers, columns, local, vector_low, vector_high, leaf, start, size, limits = tile
    points, vector_limits, distances, near_row, near_vector = buffers
    n_axes, column = rows.shape[1], columns[leaf]
    n_lanes, width = -(-n_axes // LANES) * LANES, columns[leaf + 1] - column
    for c in range(size):
        vector = c // VECTOR
        vector_limits[vector] = limits[c] if c % VECTOR == 0 else max(vector_limits[vector], limits[c])
    # In a loop of its own, which goes the same way for all of them.
    n_near = 0
    for p in range(n_rows):
        for f in range(n_axes):
            points[p * n_lanes + f] = rows[chosen[p], f] - centers[leaf, f]
        for vector in range(-(-size // VECTOR)):
            near_row[n_near], near_vector[n_near] = p, vector
            at = (column // VECTOR + vector) * n_lanes
            gap = box_gap(points, points, p * n_lanes, vector_low, vector_high, at, n_lanes)
            n_near += gap <= max(limit_of[p], vector_limits[vector])
    for near in range(n_near):
        p, first = near_row[near], near_vector[near] * VECTOR
        limit, at = max(limit_of[p], vector_limits[near_vector[near]]), column * n_axes + first
        if sixteen_distances(points, p * n_lanes, n_axes, local, at, width, limit, distances, 0) <= limit:
            for c in range(first, min(first + VECTOR, size)):
                if distances[c - first] <= limit_of[p] or distances[c - first] <= limits[c]:
                    found_i[count], found_j[count] = first_row + chosen[p], start + c
                    count += 1
    return count


@kernel
def gather_across(tile_a, from_tile, a, bounds_a, b, bounds_b, line, work, vectors, norms, column_norms, bits, least):
    """Gather candidates between the points of a tile of a and the tiles of b, from one of them on.

    The last five arguments are buffers: those of `gather_in_vectors`, float32 norms, the bits of `work.block`, and
    those of each row's least entry.
    Returns the tile of b to go on with: their number when done, an earlier one when out of capacity for candidates.
    """
    n_tiles_b = 1 << b.height
    n_axes = a.centers.shape[1]
    node_a = (1 << a.height) + tile_a
    box_low_a, box_high_a, box_low_b, box_high_b = a.box_low, a.box_high, b.box_low, b.box_high
    starts_b, slacks_b, centers_a = b.starts, b.slack, a.centers
    full_a, full_b = a.full, b.full
    tiles_b = (b.centers, b.columns, b.norms, b.local)
    reach_a, reach_b = bounds_a.reach, bounds_b.reach
    node_low_b, node_high_b, node_reach_b = bounds_b.node_low, bounds_b.node_high, bounds_b.node_reach
    table, logs, lengths = line.table, line.logs, line.lengths
    rows, points, gaps, block = work.rows, work.points, work.gaps, work.block
    low_box, high_box = work.box[0], work.box[1]
    chosen, limit_of, limits = work.chosen, work.limit, work.column_limit
    full_points, full_norms, product = work.full_points, work.norms, work.product
    candidate_i, candidate_j, pending = work.candidate_i, work.candidate_j, work.pending
    least_distance = least.view(np.float32)
    columns_b, centers_b, local_b, vector_low, vector_high = b.columns, b.centers, b.local, b.vector_low, b.vector_high
    has_vectors = len(vector_low) > 0
    two_stages = len(full_a.points) > 0
    place_low, place_high = bounds_a.node_low[node_a], bounds_a.node_high[node_a]
    node_reach_a, slack_a = bounds_a.node_reach[node_a], a.slack[tile_a]
    column_a, local_a = a.columns[tile_a], a.local
    width_a = a.columns[tile_a + 1] - column_a
    start_a, size_a = load_tile(a, tile_a, rows)
    for tile_b in range(from_tile, n_tiles_b):
        if pending[1] + len(chosen) ** 2 > len(candidate_i):
            return tile_b
        node_b = n_tiles_b + tile_b
        span = box_span(box_low_a, box_high_a, node_a, box_low_b, box_high_b, node_b)
        slack = slack_a + slacks_b[tile_b] + F32_ROUNDING * np.sqrt(span)
        edge = heaviest_gap(table, logs, min(place_low, node_low_b[node_b]), max(place_high, node_high_b[node_b]))
        between = 0.0 if edge < 0 else lengths[edge]
        farthest = max(between, max(node_reach_a, node_reach_b[node_b]))
        apart = box_distance(box_low_a, box_high_a, node_a, box_low_b, box_high_b, node_b)
        if apart > widened(farthest, slack, n_axes):
            continue
        start_b = starts_b[tile_b]
        size_b = starts_b[tile_b + 1] - start_b
        for c in range(size_b):
            limits[c] = widened(reach_b[start_b + c], slack, n_axes)
        most = widened(node_reach_b[node_b], slack, n_axes)

        # Choose the points of the one tile that may have something to find in the other's box, and compare them.
        for f in range(n_axes):
            low_box[f] = box_low_b[node_b, f] - centers_a[tile_a, f]
            high_box[f] = box_high_b[node_b, f] - centers_a[tile_a, f]
        points_to_box(local_a, column_a * n_axes, width_a, low_box, high_box, gaps)
        n_rows = 0
        for r in range(size_a):
            limit = widened(max(between, reach_a[start_a + r]), slack, n_axes)
            chosen[n_rows], limit_of[n_rows] = r, limit
            n_rows += gaps[r] <= max(limit, most)
        if has_vectors:
            looking = (chosen, n_rows, start_a, limit_of)
            tile = (centers_b, columns_b, local_b, vector_low, vector_high, tile_b, start_b, size_b, limits)
            pending[1] = gather_in_vectors(rows, looking, tile, vectors, candidate_i, candidate_j, pending[1])
            continue
        block_distances(rows, chosen, n_rows, tiles_b, tile_b, points, norms, column_norms, block, bits, least)
        if two_stages:
            hits = 0
            for p in range(n_rows):
                if least_distance[p] <= max(limit_of[p], most):
                    hits += count_within(block, p, 0, size_b, limit_of[p], limits)
            if hits > DENSE_SHARE * n_rows * size_b:
                buffers = full_points, full_norms, product, block
                full_block(full_a, tile_a, start_a, chosen, n_rows, full_b, tile_b, start_b, size_b, *buffers)
        at = pending[1]
        for p in range(n_rows):
            limit = limit_of[p]
            if least_distance[p] > max(limit, most):
                continue
            for c in range(size_b):
                if block[p, c] <= limit or block[p, c] <= limits[c]:
                    candidate_i[at], candidate_j[at] = start_a + chosen[p], start_b + c
                    at += 1
        pending[1] = at
    return n_tiles_b


@kernel
def seed_across(a, b, work, norms, column_norms, bits, least, first_b, found_u, found_v, found_d2, count):
    """Add to the edges found those from every second point of a to its nearest in the nearest tile of b."""
    nearest, distance = np.empty(1, np.int64), np.empty(1)
    copies_a, copies_b, rows_a, rows_b, starts_b = a.copy_start, b.copy_start, a.rows, b.rows, b.starts
    rows, chosen, points, block = work.rows, work.chosen, work.points, work.block
    tiles_b = (b.centers, b.columns, b.norms, b.local)
    for tile_a in range(1 << a.height):
        start, size = load_tile(a, tile_a, rows)
        n_rows = (size + 1) // 2
        for p in range(n_rows):
            chosen[p] = 2 * p
        nearest_leaves(a.centers, tile_a, b.centers, b.box_low, b.box_high, b.height, nearest, distance)
        leaf = nearest[0]
        block_distances(rows, chosen, n_rows, tiles_b, leaf, points, norms, column_norms, block, bits, least)
        for p in range(n_rows):
            c = 0
            while bits[p, c] != least[p]:
                c += 1
            i, j = start + chosen[p], starts_b[leaf] + c
            found_u[count], found_v[count] = copies_a[i], first_b + copies_b[j]
            found_d2[count] = squared_distance(rows_a, i, rows_b, j)
            count += 1
    return count


@kernel
def join_block(a, b, ends_a, ends_b, forests_a, forests_b, extra, n_trees, key, scale, sat, work, out):
    """Return the forests (u, v, d2, tree) of two classes together.

    Of each class come its points, the hashes and ranks of all copies, and its forests; `extra` are edges that are
    candidates in any case. Copies are numbered through, those of a first. When more edges survive than `out` has
    capacity for, they are settled midway.
    """
    hashes, ranks = np.concatenate((ends_a[0], ends_b[0])), np.concatenate((ends_a[1], ends_b[1]))
    n_points, n_extra = len(hashes), len(extra[0])
    first_b = np.int32(len(ends_a[0]))
    n_tiles_a = 1 << a.height
    largest = len(work.chosen)
    norms, column_norms = np.empty(largest, np.float32), np.empty(largest, np.float32)
    bits, least = work.block.view(np.int32), np.empty(largest, np.int32)
    most = n_extra + len(a.hashes)
    found_u, found_v, found_d2 = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.float64)
    for e in range(n_extra):
        found_u[e], found_v[e], found_d2[e] = extra[0][e], extra[1][e], extra[2][e]
    buffers = (norms, column_norms, bits, least)
    vectors = vector_buffers(largest, a.centers.shape[1])
    count = seed_across(a, b, work, *buffers, first_b, found_u, found_v, found_d2, n_extra)
    found_u, found_v, found_d2 = found_u[:count], found_v[:count], found_d2[:count]
    u, v, d2, tree = merge_forests(forests_a, forests_b, first_b, hashes, ranks, key)
    bounds_a, bounds_b = empty_bounds(a, False), empty_bounds(b, False)
    is_first = True
    tile, other = 0, 0  # the pair of tiles to go on with
    pending = work.pending
    pending[:] = 0
    while True:
        if len(found_u) > 0:
            order = order_edges(found_u, found_v, found_d2, hashes, ranks, key)
            u, v, d2, tree = walk_with(
                n_points, n_trees, u, v, d2, tree, found_u, found_v, found_d2, order, hashes, ranks, key
            )
        if tile == n_tiles_a and pending[0] == pending[1]:
            return u, v, d2, tree
        place, table, logs, edge_d2, lengths, edge_hashes = tree_line(
            n_points, u, v, d2, tree, n_trees - 1, scale, hashes, key
        )
        line = Line(table, logs, edge_d2, lengths, edge_hashes)
        bound_side(a, place, 0, line, bounds_a, is_first)
        bound_side(b, place, first_b, line, bounds_b, is_first)
        is_first = False
        # Sweep until done, or out of capacity.
        count = 0
        while True:
            before = count
            count = settle_candidates(a, bounds_a, b, bounds_b, line, key, sat, work, out, count)
            for e in range(before, count):
                out.v[e] += first_b
            if pending[0] < pending[1]:
                break
            pending[:] = 0
            if tile == n_tiles_a:
                break
            other = gather_across(tile, other, a, bounds_a, b, bounds_b, line, work, vectors, *buffers)
            if other == 1 << b.height:
                tile, other = tile + 1, 0
        found_u, found_v, found_d2 = out.u[:count], out.v[:count], out.d2[:count]


@kernel
def order_few_edges(u, v, d2, hashes, ranks, key):
    """Return the numbers of a few edges in the strict order, by insertion."""
    order = np.empty(len(d2), np.int32)
    for e in range(len(d2)):
        p = e
        while p > 0 and precedes(e, order[p - 1], u, v, d2, hashes, ranks, key):
            order[p] = order[p - 1]
            p -= 1
        order[p] = e
    return order


@kernel
def join_small_pairs(first_class, second_class, X, n_trees, key, copies, touch, tree_edges, tree_cross, sums, n_cross):
    """Join pairs of small classes, all edges between them being candidates.

    Fills in, by pair: whether the classes share a site, the edges of each tree, those between the classes, the sums
    over all of them, and the number of edges between. Returns these edges (u, v, d2), numbered within their classes,
    one pair after the other.
    """
    starts, rows, hashes, ranks, sites = copies.starts, copies.rows, copies.hashes, copies.ranks, copies.sites
    forest_starts, forest_u, forest_v = copies.forest_starts, copies.u, copies.v
    forest_d2, forest_tree = copies.d2, copies.tree
    capacity = 0
    for pair in range(len(first_class)):
        a, b = first_class[pair], second_class[pair]
        n_a, n_b = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
        capacity += min(n_a * n_b, n_trees * (n_a + n_b - 1))
    out_u, out_v, out_d2 = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.float64)
    written = 0
    for pair in range(len(first_class)):
        a, b = first_class[pair], second_class[pair]
        from_a, from_b = starts[a], starts[b]
        n_a, n_b = starts[a + 1] - from_a, starts[b + 1] - from_b
        n = n_a + n_b
        own_hashes, own_ranks = np.empty(n, np.uint64), np.empty(n, np.int32)
        own_sites = np.empty(n, np.int64)
        n_sites = 0
        for i in range(n):
            copy = from_a + i if i < n_a else from_b + i - n_a
            own_hashes[i], own_ranks[i] = hashes[copy], ranks[copy]
            n_sites += i == 0 or i == n_a or sites[copy] != sites[copy - 1]
            own_sites[i] = n_sites - 1
        new_u, new_v = np.empty(n_a * n_b, np.int32), np.empty(n_a * n_b, np.int32)
        new_d2 = np.empty(n_a * n_b, np.float64)
        at = 0
        for i in range(n_a):
            for j in range(n_b):
                new_u[at], new_v[at] = i, n_a + j
                new_d2[at] = squared_distance(X, rows[from_a + i], X, rows[from_b + j])
                at += 1
                if sites[from_a + i] == sites[from_b + j]:
                    own_sites[n_a + j] = own_sites[i]
                    touch[pair] = True
        if touch[pair]:
            n_sites = close_gaps(own_sites, n_sites)
        if at <= FEW_EDGES:
            order = order_few_edges(new_u, new_v, new_d2, own_hashes, own_ranks, key)
        else:
            order = order_edges(new_u, new_v, new_d2, own_hashes, own_ranks, key)
        own, other = slice(forest_starts[a], forest_starts[a + 1]), slice(forest_starts[b], forest_starts[b + 1])
        u, v, d2, tree = merge_forests(
            (forest_u[own], forest_v[own], forest_d2[own], forest_tree[own]),
            (forest_u[other], forest_v[other], forest_d2[other], forest_tree[other]),
            n_a,
            own_hashes,
            own_ranks,
            key,
        )
        u, v, d2, tree = walk_with(n, n_trees, u, v, d2, tree, new_u, new_v, new_d2, order, own_hashes, own_ranks, key)
        measure_pair(
            u, v, tree, own_sites, n_sites, n_a, own_ranks, False, tree_edges[pair], tree_cross[pair], sums[pair]
        )
        before = written
        for e in range(len(u)):
            if (u[e] < n_a) != (v[e] < n_a):
                out_u[written], out_v[written], out_d2[written] = min(u[e], v[e]), max(u[e], v[e]) - n_a, d2[e]
                written += 1
        n_cross[pair] = written - before
    return out_u[:written].copy(), out_v[:written].copy(), out_d2[:written].copy()


@kernel
def close_gaps(sites, n_sites):
    """Number sites anew, in order of appearance; return how many there are."""
    number = np.full(n_sites, -1, np.int64)
    n = 0
    for i in range(len(sites)):
        if number[sites[i]] < 0:
            number[sites[i]] = n
            n += 1
        sites[i] = number[sites[i]]
    return n
