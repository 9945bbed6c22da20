"""Kernels: the sweep over pairs of tiles.

An edge (i, j) can enter the forests only if it precedes the heaviest edge between i and j in the last tree so far.
With one representative to a tile, that edge is no longer than the longest of reach(i), the heaviest edge between the
two representatives, and reach(j): a test that costs one comparison. What passes is a candidate; candidates are tested
exactly, and decided in float64.
"""

import numpy as np

from bayesfloor.forest.order.bottleneck_kernels import heaviest_gap
from bayesfloor.forest.order.hash_kernels import edge_hash
from bayesfloor.forest.sweep.distance_kernels import (
    block_products,
    count_within,
    full_block,
    points_to_box,
    roughly_within,
    row_distances,
    shift,
    squared_distance,
    tile_rows,
)
from bayesfloor.forest.sweep.kdtree_kernels import box_distance, box_span, point_to_box
from bayesfloor.forest.sweep.vectors import LANES, VECTOR, box_gap, sixteen_distances
from bayesfloor.runtime.kernels import kernel

# Largest relative error of one float32 operation, rounded up.
F32_ROUNDING = 6.0e-8
# Minimum number of points of a tile for which distances to a box are computed for the whole tile at once, with vectors.
MANY_ROWS = 8
# Minimum number of rows for a matrix product.
FEW_ROWS = 8
# Compare a whole block in all features at once above this share of pairs that pass.
DENSE_SHARE = 0.05

WITHIN, FORWARD, BACKWARD = 0, 1, 2


@kernel(inline="always")
def widened(length, slack, n_axes):
    """Return the float32 squared distance within which a pair at most a length apart is found."""
    wide = length + slack
    return np.float32(wide * wide * (1.0 + (n_axes + 8) * 2 * F32_ROUNDING) + 1e-35)


@kernel(inline="always")
def n_copy_pairs(n_a, n_b, sat):
    """Return how many pairs of copies `write_copies` writes."""
    return min(n_a, 2 * sat) * min(n_b, 2 * sat)


@kernel
def write_copies(a0, a1, b0, b1, sat, d2, out_u, out_v, out_d2, count):
    """Write the edges between copies a0 .. a1 of one point and b0 .. b1 of another that can matter; return the count.

    All of them weigh the same and fall by rank. Copies of one point, which lighter edges join, are one component in
    every tree: only the first and last few take part. `docs/design.md` says why.
    """
    for p in range(a0, a1):
        if a0 + sat <= p < a1 - sat:
            continue
        for q in range(b0, b1):
            if b0 + sat <= q < b1 - sat:
                continue
            out_u[count], out_v[count], out_d2[count] = p, q, d2
            count += 1
    return count


@kernel
def settle_candidates(a, bounds_a, b, bounds_b, line, key, sat, work, out, count):
    """Decide pending candidates in float64 and write the edges that may enter.

    Returns the new count; candidates stay pending when `out` is full.
    """
    candidate_i, candidate_j, pending = work.candidate_i, work.candidate_j, work.pending
    copies_a, copies_b = a.copy_start, b.copy_start
    rows_a, rows_b, hashes_a, hashes_b = a.rows, b.rows, a.hashes, b.hashes
    low_a, high_a, low_b, high_b = bounds_a.place_low, bounds_a.place_high, bounds_b.place_low, bounds_b.place_high
    table, logs, edge_d2, edge_hashes = line.table, line.logs, line.d2, line.hashes
    out_u, out_v, out_d2 = out.u, out.v, out.d2
    for at in range(pending[0], pending[1]):
        i, j = candidate_i[at], candidate_j[at]
        edge = heaviest_gap(table, logs, min(low_a[i], low_b[j]), max(high_a[i], high_b[j]))
        bound = edge_d2[edge]
        if not roughly_within(rows_a, i, rows_b, j, bound):
            continue
        d2 = squared_distance(rows_a, i, rows_b, j)
        if d2 > bound or (d2 == bound and edge_hash(hashes_a[i], hashes_b[j], key) > edge_hashes[edge]):
            continue
        a0, a1, b0, b1 = copies_a[i], copies_a[i + 1], copies_b[j], copies_b[j + 1]
        if count + n_copy_pairs(a1 - a0, b1 - b0, sat) > len(out_d2):
            pending[0] = at
            return count
        count = write_copies(a0, a1, b0, b1, sat, d2, out_u, out_v, out_d2, count)
    pending[0] = pending[1]
    return count


@kernel
def sweep_leaf(leaf_a, from_leaf, a, bounds_a, b, bounds_b, line, kind, resumed, work):
    """Gather candidates between one tile and the tiles of a side, from a leaf on, by matrix products.

    Each pair of tiles is met in both directions: in the first, points look as far as the longer of their own reach
    and the edge between the representatives; in the second, only points whose reach is longer than that edge look.
    Tiles so near that most points look across are compared whole in the first direction, and skipped in the second.
    When the sweep is resumed with closer bounds, a pair may have been skipped already because it was to be compared
    whole, so then the first direction always is.

    Returns the leaf to go on with: the number of leaves when done, an earlier one when there is no capacity for more
    candidates.
    """
    # Longer than other functions: handing its many local arrays to parts of it would cost more than the arithmetic.
    n_leaves = 1 << b.height
    node_a = (1 << a.height) + leaf_a
    n_axes = a.centers.shape[1]
    start_a = a.starts[leaf_a]
    size_a = a.starts[leaf_a + 1] - start_a
    column_a = a.columns[leaf_a]
    width_a = a.columns[leaf_a + 1] - column_a
    slack_a = a.slack[leaf_a]
    box_low_a, box_high_a, centers_a, local_a = a.box_low, a.box_high, a.centers, a.local
    starts_b, columns_b, slacks_b = b.starts, b.columns, b.slack
    box_low_b, box_high_b, centers_b, local_b, norms_b = b.box_low, b.box_high, b.centers, b.local, b.norms
    full_a, full_b = a.full, b.full
    reaches_a, by_reach_a = bounds_a.reach, bounds_a.by_reach
    reaches_b, by_reach_b = bounds_b.reach, bounds_b.by_reach
    node_reach_b, node_low_b, node_high_b = bounds_b.node_reach, bounds_b.node_low, bounds_b.node_high
    table, logs, lengths = line.table, line.logs, line.lengths
    rows, points, norms, full_points = work.rows, work.points, work.norms, work.full_points
    gaps, low_box, high_box = work.gaps, work.box[0], work.box[1]
    chosen, limit_of, limits, product, block = work.chosen, work.limit, work.column_limit, work.product, work.block
    stack, pending, candidate_i, candidate_j = work.stack, work.pending, work.candidate_i, work.candidate_j
    two_stages = len(full_a.points) > 0

    place_low, place_high = bounds_a.node_low[node_a], bounds_a.node_high[node_a]
    reach_a = bounds_a.node_reach[node_a]
    half_a = reaches_a[by_reach_a[start_a + size_a // 2]]
    largest_block = len(chosen) ** 2
    tile_rows(local_a, column_a * n_axes, width_a, size_a, centers_a, leaf_a, rows)
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if node >= n_leaves and node - n_leaves < from_leaf:
            continue
        edge = heaviest_gap(table, logs, min(place_low, node_low_b[node]), max(place_high, node_high_b[node]))
        between = 0.0 if edge < 0 else lengths[edge]
        apart = box_distance(box_low_a, box_high_a, node_a, box_low_b, box_high_b, node)
        farthest = max(between, max(reach_a, node_reach_b[node]))
        if apart > widened(farthest, slack_a + work.largest_slack, n_axes):
            continue
        if node < n_leaves:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
            continue
        leaf_b = node - n_leaves
        if pending[1] + largest_block > len(candidate_i):
            return leaf_b
        start_b = starts_b[leaf_b]
        size_b = starts_b[leaf_b + 1] - start_b
        forward = kind == FORWARD or (kind == WITHIN and leaf_a <= leaf_b)
        diagonal = kind == WITHIN and leaf_a == leaf_b
        # Coordinates are off by the slack, and by the rounding of their shift to the other tile's centre.
        span = box_span(box_low_a, box_high_a, node_a, box_low_b, box_high_b, node)
        slack = slack_a + slacks_b[leaf_b] + F32_ROUNDING * np.sqrt(span)
        whole = diagonal or (resumed and forward)
        if not whole:
            half_b = reaches_b[by_reach_b[start_b + size_b // 2]]
            whole = apart <= widened(max(between, max(half_a, half_b)), slack, n_axes)
        if whole and not forward:
            continue

        # Choose the points of the one tile that look across, and how far each looks.
        n_rows = 0
        if whole:
            for r in range(size_a):
                chosen[r] = r
                limit_of[r] = widened(max(between, reaches_a[start_a + r]), slack, n_axes)
            for c in range(size_b):
                limits[c] = widened(reaches_b[start_b + c], slack, n_axes)
            n_rows = size_a
        else:
            n_looking = 0
            while n_looking < size_a:
                reach = reaches_a[by_reach_a[start_a + n_looking]]
                if apart > widened(max(reach, between), slack, n_axes) or (reach <= between and not forward):
                    break
                n_looking += 1
            many = n_looking >= MANY_ROWS
            if many:
                for f in range(n_axes):
                    low_box[f] = box_low_b[node, f] - centers_a[leaf_a, f]
                    high_box[f] = box_high_b[node, f] - centers_a[leaf_a, f]
                points_to_box(local_a, column_a * n_axes, width_a, low_box, high_box, gaps)
            for p in range(n_looking):
                r = by_reach_a[start_a + p] - start_a
                limit = widened(max(reaches_a[start_a + r], between), slack, n_axes)
                gap = gaps[r] if many else np.float32(point_to_box(rows, r, box_low_b, box_high_b, node))
                if gap <= limit:
                    chosen[n_rows] = r
                    limit_of[n_rows] = limit
                    n_rows += 1
            if n_rows == 0:
                continue
            for c in range(size_b):
                limits[c] = np.float32(-np.inf)

        # Compare them with all points of the other tile.
        column_b = columns_b[leaf_b]
        width_b = columns_b[leaf_b + 1] - column_b
        for p in range(n_rows):
            norms[p] = shift(rows, chosen[p], centers_b, leaf_b, points, p)
        if n_rows >= FEW_ROWS:
            block_products(points, n_rows, norms, local_b, norms_b, column_b, width_b, product, block)
        else:
            for p in range(n_rows):
                row_distances(points, p, local_b, column_b * n_axes, width_b, block)
        if two_stages and n_rows >= FEW_ROWS:
            hits = 0
            for p in range(n_rows):
                hits += count_within(block, p, 0, size_b, limit_of[p], limits)
            if hits > DENSE_SHARE * n_rows * size_b:
                buffers = full_points, norms, product, block
                full_block(full_a, leaf_a, start_a, chosen, n_rows, full_b, leaf_b, start_b, size_b, *buffers)
        for p in range(n_rows):
            r = chosen[p]
            first = r + 1 if diagonal else 0
            limit = limit_of[p]
            if count_within(block, p, first, size_b, limit, limits) == 0:
                continue
            for c in range(first, size_b):
                if block[p, c] <= limit or block[p, c] <= limits[c]:
                    candidate_i[pending[1]] = start_a + r
                    candidate_j[pending[1]] = start_b + c
                    pending[1] += 1
    return n_leaves


@kernel
def search_leaf(leaf_a, from_leaf, a, bounds_a, b, bounds_b, hops, logs, kind, resumed, work):
    """Do the same by differences: the tile's points walk down the tree of tiles together.

    At every node those points stay behind that cannot find anything in its box. So of the pairs of tiles whose boxes
    are near each other, few are met. In a tile that they arrive at, each is held against the boxes of vectors of points
    first, and compared with those of near vectors. Tiles in the second direction look as far as their own reach and no
    further. When the sweep is resumed, the first direction looks for both.

    Every second tile walks the other way, so that it begins with what is still in the processor's cache. `from_leaf`
    counts leaves in the order of the walk.
    """
    # Longer than other functions: handing its many local arrays to parts of it would cost more than the arithmetic.
    n_leaves = 1 << b.height
    node_a = (1 << a.height) + leaf_a
    n_axes = a.centers.shape[1]
    start_a = a.starts[leaf_a]
    size_a = a.starts[leaf_a + 1] - start_a
    column_a = a.columns[leaf_a]
    width_a = a.columns[leaf_a + 1] - column_a
    box_low_a, box_high_a, centers_a, local_a = a.box_low, a.box_high, a.centers, a.local
    starts_b, columns_b, slacks_b = b.starts, b.columns, b.slack
    box_low_b, box_high_b, centers_b, local_b = b.box_low, b.box_high, b.centers, b.local
    reaches_a, reaches_b, node_reach_b = bounds_a.reach, bounds_b.reach, bounds_b.node_reach
    rank_low_b, rank_high_b = bounds_b.rank_low, bounds_b.rank_high
    table, known = hops.table, hops.known
    vector_low, vector_high = b.vector_low, b.vector_high
    chosen, limit_of, rows = work.chosen, work.limit, work.rows
    pending, candidate_i, candidate_j = work.pending, work.candidate_i, work.candidate_j
    n_known = known.shape[1] if len(known) > 0 else 0
    has_boxes = len(vector_low) > 0
    mirrored = leaf_a % 2 == 1

    # All tests here are in float32, and none of them may turn away a pair that lies within its length. The distance of
    # float32 coordinates is at most that length plus the slack, and a gap to a box around them is no larger. Each
    # difference, square and sum adds a relative error of one rounding at most, in any order: n_axes + 3 in all, for
    # which `widened` leaves room. The box of a vector is that of its float32 coordinates, without any rounding.
    # Rounding of a box's sides relative to the tile's centre counts only for the part inside the tile: what is
    # beyond is a part of the gap, and relative to it.
    extent = 0.0
    for f in range(n_axes):
        extent += (box_high_a[node_a, f] - box_low_a[node_a, f]) ** 2
    slack_a = a.slack[leaf_a] + F32_ROUNDING * np.sqrt(extent)
    box_slack = slack_a + work.largest_slack
    rank_a = bounds_a.rank_low[node_a]
    tile_limit = widened(bounds_a.node_reach[node_a], box_slack, n_axes)
    row_limit = np.empty(size_a, np.float32)
    no_limits = np.full(len(chosen), -np.inf, np.float32)
    no_vector_limits = np.full(len(chosen) // VECTOR, -np.inf, np.float32)
    vector_limits = np.empty(len(chosen) // VECTOR, np.float32)
    # The tile's points, its box, and other boxes and points beside them, relative to a centre. Padding is 0 in all.
    n_lanes = -(-n_axes // LANES) * LANES
    own = np.zeros(size_a * n_lanes, np.float32)
    own_low, own_high = np.zeros(n_lanes, np.float32), np.zeros(n_lanes, np.float32)
    low_box, high_box = np.zeros(n_lanes, np.float32), np.zeros(n_lanes, np.float32)
    points, distances = np.zeros(size_a * n_lanes, np.float32), np.empty(VECTOR, np.float32)
    near_row = np.empty(size_a * len(no_vector_limits) + 1, np.int64)
    near_vector = np.empty(size_a * len(no_vector_limits) + 1, np.int64)
    for f in range(n_axes):
        own_low[f] = own_high[f] = local_a[column_a * n_axes + f * width_a]
        for r in range(size_a):
            value = local_a[column_a * n_axes + f * width_a + r]
            own[r * n_lanes + f] = value
            own_low[f], own_high[f] = min(own_low[f], value), max(own_high[f], value)
    # Those who are left at a node are written behind those at its parent.
    left = np.empty((b.height + 2) * size_a, np.int32)
    for r in range(size_a):
        row_limit[r] = widened(reaches_a[start_a + r], box_slack, n_axes)
        left[r] = r
    tile_rows(local_a, column_a * n_axes, width_a, size_a, centers_a, leaf_a, rows)
    stack = np.empty((b.height + 2, 5), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 1, 0, n_leaves, 0, size_a
    depth = 1
    while depth > 0:
        depth -= 1
        node, first_leaf, last_leaf, begin, end = (
            stack[depth, 0],
            stack[depth, 1],
            stack[depth, 2],
            stack[depth, 3],
            stack[depth, 4],
        )
        if (n_leaves - first_leaf if mirrored else last_leaf) <= from_leaf:
            continue
        second = kind == BACKWARD or (kind == WITHIN and last_leaf <= leaf_a)
        between = np.float32(0.0)
        if not second or node >= n_leaves:
            low, high = min(rank_a, rank_low_b[node]), max(rank_a, rank_high_b[node])
            if high > low:
                level = logs[high - low]
                between = max(table[level, low], table[level, high - (1 << level)])
        if kind == WITHIN and first_leaf <= leaf_a < last_leaf:
            stop = end  # all points of the tile are in the box
            end = begin
        else:
            farthest = 0.0
            if not second:
                farthest = max(between, node_reach_b[node]) if resumed else np.float64(between)
            node_limit = widened(farthest, box_slack, n_axes)
            for f in range(n_axes):
                low_box[f] = box_low_b[node, f] - centers_a[leaf_a, f]
                high_box[f] = box_high_b[node, f] - centers_a[leaf_a, f]
            if box_gap(own_low, own_high, 0, low_box, high_box, 0, n_lanes) > max(node_limit, tile_limit):
                continue
            stop = end
            for p in range(begin, end):
                r = left[p]
                left[stop] = r
                gap = box_gap(own, own, r * n_lanes, low_box, high_box, 0, n_lanes)
                stop += gap <= max(row_limit[r], node_limit)
            if stop == end:
                continue
        if node < n_leaves:
            middle = (first_leaf + last_leaf) // 2
            left_at = depth + (0 if mirrored else 1)
            right_at = 2 * depth + 1 - left_at
            stack[left_at, 0], stack[left_at, 1], stack[left_at, 2] = 2 * node, first_leaf, middle
            stack[right_at, 0], stack[right_at, 1], stack[right_at, 2] = 2 * node + 1, middle, last_leaf
            stack[depth, 3], stack[depth, 4] = end, stop
            stack[depth + 1, 3], stack[depth + 1, 4] = end, stop
            depth += 2
            continue

        leaf_b = first_leaf
        start_b = starts_b[leaf_b]
        size_b = starts_b[leaf_b + 1] - start_b
        if pending[1] + (stop - end) * size_b > len(candidate_i):
            return n_leaves - 1 - leaf_b if mirrored else leaf_b
        # Coordinates are off by the slack, and by the rounding of their shift to the other tile's centre.
        span = box_span(box_low_a, box_high_a, node_a, box_low_b, box_high_b, node)
        slack = slack_a + slacks_b[leaf_b] + F32_ROUNDING * np.sqrt(span)
        n_rows = 0
        for p in range(end, stop):
            r = left[p]
            reach = reaches_a[start_a + r]
            if second and reach <= between:
                continue
            chosen[n_rows] = r
            limit_of[n_rows] = widened(max(reach, np.float64(between)), slack, n_axes)
            n_rows += 1
        diagonal = kind == WITHIN and leaf_a == leaf_b
        column_b = columns_b[leaf_b]
        width_b = columns_b[leaf_b + 1] - column_b
        limits, limits_of_vectors = no_limits, no_vector_limits
        if diagonal or (resumed and not second):
            limits, limits_of_vectors = work.column_limit, vector_limits
            vector_limits[:] = -np.inf
            for c in range(size_b):
                limits[c] = widened(reaches_b[start_b + c], slack, n_axes)
                vector_limits[c // VECTOR] = max(vector_limits[c // VECTOR], limits[c])
        # Which vectors of the tile each point is near, in a loop of its own that goes the same way for all of them.
        n_vectors, n_near = width_b // VECTOR, 0
        for p in range(n_rows):
            r = chosen[p]
            for f in range(n_axes):
                points[p * n_lanes + f] = rows[r, f] - centers_b[leaf_b, f]
            for vector in range((r + 1) // VECTOR if diagonal else 0, n_vectors):
                near_row[n_near], near_vector[n_near] = p, vector
                at = (column_b // VECTOR + vector) * n_lanes
                limit = max(limit_of[p], limits_of_vectors[vector])
                gap = box_gap(points, points, p * n_lanes, vector_low, vector_high, at, n_lanes) if has_boxes else limit
                n_near += gap <= limit
        for pair in range(n_near):
            p, vector = near_row[pair], near_vector[pair]
            at = column_b * n_axes + vector * VECTOR
            limit = max(limit_of[p], limits_of_vectors[vector])
            if sixteen_distances(points, p * n_lanes, n_axes, local_b, at, width_b, limit, distances, 0) <= limit:
                r = chosen[p]
                i = start_a + r
                first = r + 1 if diagonal else 0
                for c in range(max(first, vector * VECTOR), min((vector + 1) * VECTOR, size_b)):
                    distance = distances[c - vector * VECTOR]
                    if distance <= limit_of[p] or distance <= limits[c]:
                        j = start_b + c
                        is_new = True
                        for q in range(n_known):
                            is_new &= (known[i, q] != j) & (known[j, q] != i)
                        candidate_i[pending[1]] = i
                        candidate_j[pending[1]] = j
                        pending[1] += is_new
    return n_leaves


@kernel
def gather(leaf, from_leaf, a, bounds_a, b, bounds_b, line, hops, kind, resumed, products, work):
    """Gather candidates between a tile and a side, from a leaf of it on; return the tile and the leaf to go on with."""
    work.pending[0], work.pending[1] = 0, 0
    if products:
        from_leaf = sweep_leaf(leaf, from_leaf, a, bounds_a, b, bounds_b, line, kind, resumed, work)
    else:
        from_leaf = search_leaf(leaf, from_leaf, a, bounds_a, b, bounds_b, hops, line.logs, kind, resumed, work)
    return (leaf, from_leaf) if from_leaf < 1 << b.height else (leaf + 1, 0)


@kernel
def sweep_leaves(
    first, last, from_leaf, a, bounds_a, b, bounds_b, line, hops, key, kind, resumed, sat, products, work, out
):
    """Sweep tiles first..last against a side.

    Returns the number of edges written and where to go on: (tile, leaf of the side). That is (last, 0) when done;
    before that, `out` is full and candidates may be pending.
    """
    leaf, count = first, 0
    while True:
        count = settle_candidates(a, bounds_a, b, bounds_b, line, key, sat, work, out, count)
        if work.pending[0] < work.pending[1] or leaf == last:
            return count, leaf, from_leaf
        leaf, from_leaf = gather(leaf, from_leaf, a, bounds_a, b, bounds_b, line, hops, kind, resumed, products, work)
