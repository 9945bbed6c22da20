"""Kernels: distances between a tile's points and another tile's, in float32, and in float64 where it counts.

A tile's coordinates are stored relative to its centre, axis by axis, so that float32 errors are relative to the size
of the neighbourhood and not to that of the data. Float32 results only ever propose an edge; `squared_distance` decides.

Here and in the other kernels, arrays are indexed and not sliced inside loops: a slice counts references, atomically,
and costs more than the arithmetic. Unsigned offsets spare the test for negative indices, which would stop LLVM from
using vectors.
"""

from itertools import pairwise

import numpy as np

from bayesfloor.forest.sweep.vectors import LANES, VECTOR
from bayesfloor.runtime.kernels import kernel

# Largest relative error of one float64 operation, rounded up.
FLOAT64_ROUNDING = 2.3e-16
# Coordinate of the padding of tiles: far beyond any limit, and its square is finite in float32.
FAR_AWAY = np.float32(1e18)


def _localize(coords, off, items, starts, columns, centers, local, norms, slack):
    n_axes = coords.shape[1]
    local[:], norms[:] = FAR_AWAY, np.inf
    for leaf, (start, stop) in enumerate(pairwise(starts)):
        own = items[start:stop]
        centers[leaf] = coords[own].mean(axis=0)
        exact = coords[own] - centers[leaf]
        values = exact.astype(np.float32)
        first, last = columns[leaf], columns[leaf + 1]
        local[first * n_axes : last * n_axes].reshape(n_axes, last - first)[:, : stop - start] = values.T
        norms[first : first + stop - start] = np.sum(values.astype(np.float64) ** 2, axis=1)
        error = np.sqrt(np.sum((exact - values) ** 2, axis=1))
        slack[leaf] = 1.001 * np.max(error + off[own])


@kernel(plain=_localize)
def localize(coords, off, items, starts, columns, centers, local, norms, slack):
    """Write each tile's coordinates relative to its centre, axis by axis, in float32.

    Padding lies far away.
    """
    n_axes = coords.shape[1]
    for leaf in range(len(starts) - 1):
        start, stop = starts[leaf], starts[leaf + 1]
        first = columns[leaf]
        width = columns[leaf + 1] - first
        local[first * n_axes : (first + width) * n_axes] = FAR_AWAY
        norms[first : first + width] = np.inf
        for f in range(n_axes):
            total = 0.0
            for p in range(start, stop):
                total += coords[items[p], f]
            centers[leaf, f] = total / (stop - start)
        worst = 0.0
        for p in range(start, stop):
            norm = 0.0
            error = 0.0
            for f in range(n_axes):
                exact = coords[items[p], f] - centers[leaf, f]
                value = np.float32(exact)
                local[first * n_axes + f * width + (p - start)] = value
                norm += float(value) ** 2
                error += (exact - value) ** 2
            norms[first + p - start] = norm
            worst = max(worst, np.sqrt(error) + off[items[p]])
        slack[leaf] = worst * 1.001


@kernel
def vector_boxes(local, starts, columns, n_axes, low, high):
    """Fill in the box of every VECTOR columns of some tiles. It is exact: that of the float32 coordinates."""
    n_lanes = -(-n_axes // LANES) * LANES
    for leaf in range(len(starts) - 1):
        first, size = columns[leaf], starts[leaf + 1] - starts[leaf]
        width = columns[leaf + 1] - first
        for vector in range(0, size, VECTOR):
            for f in range(n_axes):
                offset = first * n_axes + f * width
                lowest = highest = local[offset + vector]
                for c in range(vector + 1, min(vector + VECTOR, size)):
                    lowest, highest = min(lowest, local[offset + c]), max(highest, local[offset + c])
                at = (first + vector) // VECTOR * n_lanes + f
                low[at], high[at] = lowest, highest


def _localize_full(rows, scale, starts, centers, full, norms, slack):
    for leaf, (start, stop) in enumerate(pairwise(starts)):
        own = rows[start:stop]
        center = own.mean(axis=0)
        exact = (own - center) * scale
        full[start:stop] = exact
        norms[start:stop] = np.sum(full[start:stop].astype(np.float64) ** 2, axis=1)
        error = np.sqrt(np.sum((exact - full[start:stop]) ** 2, axis=1))
        rounding = np.sqrt(norms[start:stop].astype(np.float64)) * FLOAT64_ROUNDING
        slack[leaf] = max(slack[leaf], 1.001 * np.max(error + rounding))
        centers[leaf] = center * scale


@kernel(plain=_localize_full)
def localize_full(rows, scale, starts, centers, full, norms, slack):
    """Write all scaled features of each tile's points relative to its centre, point by point, in float32.

    A tile's slack is raised to what these may be off by, so that a limit which is widened by it holds for them too. The
    centre may be any number: a point's difference to it is off by half its last bit. A shift to the centre of another
    tile adds as much for the point's distance to that centre, far less than `expand_products` leaves room for.
    """
    n_features = rows.shape[1]
    for leaf in range(len(starts) - 1):
        start, stop = starts[leaf], starts[leaf + 1]
        center = centers[leaf]
        center[:] = 0.0
        for i in range(start, stop):
            for f in range(n_features):
                center[f] += rows[i, f]
        for f in range(n_features):
            center[f] /= stop - start
        worst = 0.0
        for i in range(start, stop):
            norm = 0.0
            error = 0.0
            for f in range(n_features):
                exact = (rows[i, f] - center[f]) * scale
                value = np.float32(exact)
                full[i, f] = value
                norm += float(value) ** 2
                error += (exact - value) ** 2
            norms[i] = norm
            worst = max(worst, np.sqrt(error) + np.sqrt(norm) * FLOAT64_ROUNDING)
        slack[leaf] = max(slack[leaf], worst * 1.001)
        for f in range(n_features):
            center[f] *= scale


@kernel(fastmath={"contract", "reassoc", "nsz"})
def roughly_within(x, i, y, j, bound):
    """Tell, in float64 and in any order of summation, whether two rows may be within a squared distance."""
    n_features = x.shape[1]
    enough = bound * (1.0 + 1e-9)
    total = 0.0
    for first in range(0, n_features, 64):
        part = 0.0
        for f in range(first, min(first + 64, n_features)):
            difference = x[i, f] - y[j, f]
            part += difference * difference
        total += part
        if total > enough:
            return False
    return True


@kernel
def squared_distance(x, i, y, j):
    """Return the squared distance of two rows as the strict order defines it: float64, feature by feature."""
    total = 0.0
    for f in range(x.shape[1]):
        difference = x[i, f] - y[j, f]
        total += difference * difference
    return total


def _edge_lengths(x, y, u, v, out):
    out[:] = 0.0
    # feature by feature, as `squared_distance` adds up; some edges at a time, which stay in the processor's cache
    columns_x, columns_y = np.ascontiguousarray(x.T), np.ascontiguousarray(y.T)
    for first in range(0, len(u), 1 << 14):
        some = slice(first, first + (1 << 14))
        ends_x, ends_y, total = u[some], v[some], out[some]
        for column_x, column_y in zip(columns_x, columns_y, strict=True):
            difference = column_x.take(ends_x)
            difference -= column_y.take(ends_y)
            difference *= difference
            total += difference


@kernel(plain=_edge_lengths)
def edge_lengths(x, y, u, v, out):
    """Fill in the squared lengths of edges from row u of x to row v of y."""
    # Four edges at a time: one sum alone would wait for each addition.
    whole = len(u) // 4 * 4
    for e in range(0, whole, 4):
        total_0, total_1, total_2, total_3 = 0.0, 0.0, 0.0, 0.0
        for f in range(x.shape[1]):
            difference_0 = x[u[e], f] - y[v[e], f]
            difference_1 = x[u[e + 1], f] - y[v[e + 1], f]
            difference_2 = x[u[e + 2], f] - y[v[e + 2], f]
            difference_3 = x[u[e + 3], f] - y[v[e + 3], f]
            total_0 += difference_0 * difference_0
            total_1 += difference_1 * difference_1
            total_2 += difference_2 * difference_2
            total_3 += difference_3 * difference_3
        out[e], out[e + 1], out[e + 2], out[e + 3] = total_0, total_1, total_2, total_3
    for e in range(whole, len(u)):
        out[e] = squared_distance(x, u[e], y, v[e])


@kernel(fastmath={"contract"})
def row_distances(points, p, local, offset, width, out):
    """Fill row p of out with squared distances from point p to the points of a tile, all relative to its centre."""
    n_axes = points.shape[1]
    step = np.uint64(width)
    at_0 = np.uint64(offset)
    f = n_axes % 4
    if f == 0:
        for j in range(step):
            out[p, j] = np.float32(0.0)
    elif f == 2:
        x_0, x_1 = points[p, 0], points[p, 1]
        at_1 = at_0 + step
        for j in range(step):
            d_0, d_1 = local[at_0 + j] - x_0, local[at_1 + j] - x_1
            out[p, j] = d_0 * d_0 + d_1 * d_1
    elif f == 3:
        x_0, x_1, x_2 = points[p, 0], points[p, 1], points[p, 2]
        at_1 = at_0 + step
        at_2 = at_1 + step
        for j in range(step):
            d_0, d_1, d_2 = local[at_0 + j] - x_0, local[at_1 + j] - x_1, local[at_2 + j] - x_2
            out[p, j] = d_0 * d_0 + d_1 * d_1 + d_2 * d_2
    else:
        x_0 = points[p, 0]
        for j in range(step):
            d_0 = local[at_0 + j] - x_0
            out[p, j] = d_0 * d_0
    at_0 += np.uint64(f) * step
    while f < n_axes:
        x_0, x_1, x_2, x_3 = points[p, f], points[p, f + 1], points[p, f + 2], points[p, f + 3]
        at_1 = at_0 + step
        at_2 = at_1 + step
        at_3 = at_2 + step
        for j in range(step):
            d_0, d_1 = local[at_0 + j] - x_0, local[at_1 + j] - x_1
            d_2, d_3 = local[at_2 + j] - x_2, local[at_3 + j] - x_3
            out[p, j] += (d_0 * d_0 + d_1 * d_1) + (d_2 * d_2 + d_3 * d_3)
        at_0 = at_3 + step
        f += 4


@kernel(fastmath={"contract"})
def points_to_box(local, offset, width, low, high, out):
    """Fill out with the squared distances of a tile's points to a box, both relative to the tile's centre."""
    step = np.uint64(width)
    at = np.uint64(offset)
    for r in range(step):
        out[r] = np.float32(0.0)
    for f in range(len(low)):
        low_f, high_f = low[f], high[f]
        for r in range(step):
            x = local[at + r]
            below, above = low_f - x, x - high_f
            gap = below if below > above else above
            gap = gap if gap > np.float32(0.0) else np.float32(0.0)
            out[r] += gap * gap
        at += step


@kernel
def tile_rows(local, offset, width, size, centers, leaf, out):
    """Write a tile's points in the tree's coordinates, point by point."""
    for f in range(out.shape[1]):
        for r in range(size):
            out[r, f] = local[offset + f * width + r] + centers[leaf, f]


@kernel
def shift(rows, r, centers, leaf, out, p):
    """Write row r relative to a tile's centre into row p, in float32; return its squared norm."""
    norm = 0.0
    for f in range(out.shape[1]):
        value = rows[r, f] - centers[leaf, f]
        out[p, f] = value
        norm += value * value
    return norm


@kernel
def shift_full(full, i, centers, leaf, other_centers, other_leaf, out, p):
    """Write point i of a tile, in all features, relative to another tile's centre; return its squared norm."""
    norm = 0.0
    for f in range(out.shape[1]):
        value = full[i, f] + (centers[leaf, f] - other_centers[other_leaf, f])
        out[p, f] = value
        norm += value * value
    return norm


@kernel
def leading_rows(points, n_rows):
    """Return the first rows in a form that the compiler knows to be contiguous; a slice would be multiplied slowly."""
    n_axes = points.shape[1]
    return points.reshape(-1)[: n_rows * n_axes].reshape(n_rows, n_axes)


@kernel
def block_products(points, n_rows, norms, local, local_norms, first, width, product_buffer, out):
    """Fill out with squared distances of points to a tile's by a matrix product; the points are relative to its centre.

    Each entry is lowered by a bound on the rounding of its product, so it never exceeds the true distance.
    """
    n_axes = points.shape[1]
    block = local[first * n_axes : (first + width) * n_axes].reshape(n_axes, width)
    product = product_buffer[: n_rows * width].reshape(n_rows, width)
    np.dot(leading_rows(points, n_rows), block, product)
    expand_products(product, norms, local_norms, first, n_axes, out)


@kernel
def full_products(points, n_rows, norms, full, full_norms, first, size, product_buffer, out):
    """Do the same in all features, for the points first, first + 1, ... of a tile."""
    n_features = points.shape[1]
    product = product_buffer[: n_rows * size].reshape(n_rows, size)
    tile = full.reshape(-1)[first * n_features : (first + size) * n_features].reshape(size, n_features)
    np.dot(leading_rows(points, n_rows), tile.T, product)
    expand_products(product, norms, full_norms, first, n_features, out)


@kernel
def full_block(a, leaf_a, start_a, chosen, n_rows, b, leaf_b, start_b, size_b, points, norms, product_buffer, out):
    """Fill out with squared distances, in all features, of chosen points of a tile to all points of another tile.

    a and b are the full coordinates of the two sides; points, norms and product_buffer are overwritten.
    """
    for p in range(n_rows):
        norms[p] = shift_full(a.points, start_a + chosen[p], a.centers, leaf_a, b.centers, leaf_b, points, p)
    full_products(points, n_rows, norms, b.points, b.norms, start_b, size_b, product_buffer, out)


@kernel
def expand_products(product, norms, other_norms, first, n_axes, out):
    """Turn inner products into squared distances, lowered by what rounding may have added."""
    n_rows, width = product.shape
    certain = np.float32(1.0 - (n_axes + 8) * 6.0e-8)
    start = np.uint64(first)
    for r in range(n_rows):
        base = np.float32(norms[r]) * certain
        for j in range(np.uint64(width)):
            out[r, j] = base + (other_norms[start + j] * certain - np.float32(2.0) * product[r, j])


@kernel
def count_within(distances, p, first, last, limit, limits):
    """Count the distances in row p, from column first on, within the row's limit or their own."""
    hits = 0
    for c in range(np.uint64(first), np.uint64(last)):
        distance = distances[p, c]
        hits += (distance <= limit) | (distance <= limits[c])
    return hits
