"""Points become tiles: axes to cut along, a k-d tree, and float32 coordinates relative to each tile's centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, I64, U64, Edges
from bayesfloor.forest.order.kruskal_kernels import saturation_size
from bayesfloor.forest.order.points import Extent, Points
from bayesfloor.forest.sweep.distance_kernels import (
    FLOAT64_ROUNDING,
    edge_lengths,
    localize,
    localize_full,
    vector_boxes,
)
from bayesfloor.forest.sweep.kdtree_kernels import leaf_boxes, leaf_starts, node_boxes, split_points, split_tiles
from bayesfloor.forest.sweep.records import FullCoordinates, Side, Work
from bayesfloor.forest.sweep.vectors import LANES, VECTOR
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Maximum number of axes without boxes of vectors: tiles are so small there that boxes would not pay.
AXES_WITHOUT_VECTORS = 3
# Maximum number of features for which all principal axes are computed; of more, only the leading ones.
MANY_FEATURES = 96
# Number of principal axes computed where there are more features than that.
LEADING_AXES = 64


@dataclass(frozen=True)
class Axes:
    """A map to scaled coordinates in which distances equal the true ones times `scale`, or bound them from below.

    Coordinates are centred, scaled to order one, turned by an orthonormal basis where there is one, and followed by
    the norm of what the basis leaves out where it leaves out something.
    """

    center: F64
    scale: float
    basis: F64 | None
    exact: bool

    @property
    def n_axes(self) -> int:
        """The number of coordinates."""
        if self.basis is None:
            return len(self.center)
        return self.basis.shape[1] + (not self.exact)

    def coordinates(self, rows: F64) -> tuple[F64, F64]:
        """Return the coordinates of rows, and how far rounding may have moved each."""
        centred = (rows - self.center) * self.scale
        norms = np.sqrt(np.einsum("ij,ij->i", centred, centred))
        if self.basis is None:
            return centred, norms * FLOAT64_ROUNDING
        turned = centred @ self.basis
        off = FLOAT64_ROUNDING * len(self.center) * np.sqrt(self.basis.shape[1]) + 1e-14
        if self.exact:
            return turned, norms * off
        rest = np.sqrt(np.maximum(norms**2 - np.einsum("ij,ij->i", turned, turned), 0.0))
        return np.column_stack((turned, rest)), norms * np.sqrt(2 * off)


def choose_axes(points: Points, projection: str) -> Axes:
    """Choose the axes in which tiles are cut and compared, from a sample of the points."""
    X = points.X
    n, n_features = X.shape
    step = max(1, n // 2000)
    sample = X[points.order[::step]]
    center = np.median(sample, axis=0)
    raw = Axes(center, scale_around(center, points.extent), None, True)
    scale = raw.scale
    if projection == "none" or n_features <= 3 or len(sample) < 2:
        return raw
    two_valued = np.all((sample == sample.min(axis=0)) | (sample == sample.max(axis=0)), axis=0)
    if projection == "auto" and np.mean(two_valued) > 0.5:
        return raw  # the levels of categories lie apart along the features themselves
    centred = (sample - center) * scale
    spread = centred - centred.mean(axis=0)
    basis, shares = principal_axes(spread)
    captured = np.cumsum(shares)
    # Keep axes until 80% of the variance is explained, plus any above 2%, none below three times the mean of the tail.
    rest = (1.0 - captured[len(captured) // 2]) / (n_features - len(captured) // 2)
    n_kept = max(int(np.searchsorted(captured, 0.8)) + 1, int(np.count_nonzero(shares > 0.02)))
    n_kept = max(min(n_kept, int(np.count_nonzero(shares > 3.0 * rest))), 1)
    n_kept = min(-(-n_kept // 4) * 4 - 1, len(captured))
    if n_features > 24 and n_kept < n_features // 2 and captured[n_kept - 1] > 0.5:
        return Axes(center, scale, np.ascontiguousarray(basis[:, :n_kept]), False)
    return Axes(center, scale, basis, True) if basis.shape[1] == n_features else raw


def own_axes(extent: Extent, n_features: int) -> Axes:
    """Return the features themselves as axes."""
    center = np.full(n_features, (extent.low + extent.high) / 2)
    return Axes(center, scale_around(center, extent), None, True)


def scale_around(center: F64, extent: Extent) -> float:
    """Return the power of two that brings numbers within an extent to order one."""
    largest = max(float(extent.high - center.min()), float(center.max() - extent.low))
    return float(np.ldexp(1.0, -int(np.frexp(largest)[1]))) if largest > 0 else 1.0


def principal_axes(spread: F64) -> tuple[F64, F64]:
    """Return orthonormal axes of falling variance and each one's share of it: all of them, or the leading few of many.

    The axes need not be exact, only orthonormal: of many, a random subspace is turned towards the leading ones.
    """
    n_features = spread.shape[1]
    total = max(float(np.einsum("ij,ij->", spread, spread)), 1e-300)
    if n_features <= MANY_FEATURES:
        subspace = np.eye(n_features)
    else:
        subspace = np.random.default_rng(0).standard_normal((n_features, LEADING_AXES))
        for _ in range(2):
            subspace = np.linalg.qr(spread.T @ (spread @ subspace))[0]
    within = spread @ subspace
    values, vectors = np.linalg.eigh(within.T @ within)
    basis = np.linalg.qr(subspace @ vectors[:, ::-1])[0]
    return np.ascontiguousarray(basis), np.maximum(values[::-1], 0.0) / total


@dataclass(frozen=True)
class Tiled:
    """A set of points in tile order, and the rows that they are copies of."""

    side: Side
    n_copies: int
    copy_rows: I32  # row of each copy, point by point in tile order, copies by rank
    copy_hashes: U64
    copy_ranks: I32

    @property
    def point_rows(self) -> I32:
        """The row of each point: that of its first copy."""
        return self.copy_rows[self.side.copy_start[:-1]]

    def numbers_of(self, rows: np.ndarray) -> I32:
        """Return the numbers of rows among the copies; all of them are there."""
        number_of_row = np.empty(int(self.copy_rows.max()) + 1, np.int32)
        number_of_row[self.copy_rows] = np.arange(self.n_copies, dtype=np.int32)
        return number_of_row.take(rows)


def tile_points(
    points: Points,
    ranked_rows: I32,
    axes: Axes,
    pool: WorkerPool,
    order: I32 | None = None,
    starts: I64 | None = None,
) -> Tiled:
    """Cut the points of the given rows, which come by rank, into tiles: by median splits, or along a given order.

    Where `starts` says where each tile starts in that order, points come in any order within their tile.
    """
    first_copy = _first_copies(points, ranked_rows)
    n = len(first_copy)
    copies = np.diff(np.append(first_copy, len(ranked_rows)))
    own_rows = ranked_rows[first_copy]
    n_axes = axes.n_axes
    coords, off = np.empty((n, n_axes)), np.empty(n)

    def turn(start: int, stop: int) -> None:
        coords[start:stop], off[start:stop] = axes.coordinates(points.X.take(own_rows[start:stop], axis=0))

    pool.run(turn, pool.shares(n))
    is_free = order is None or starts is not None
    if starts is None:
        height = 0
        while n > plan.current().tile_points(n_axes, axes.exact) << height and n >= 2 << height:
            height += 1
        starts = leaf_starts(n, height)
    n_leaves = len(starts) - 1
    height = n_leaves.bit_length() - 1
    keys = np.empty(n if is_free else 0)
    items = _split(coords, keys, starts, height, pool) if order is None else order
    box_low, box_high = np.empty((2 * n_leaves, n_axes)), np.empty((2 * n_leaves, n_axes))
    centers = np.empty((n_leaves, n_axes))
    columns = np.concatenate(([0], np.cumsum(-(-np.diff(starts) // VECTOR) * VECTOR)))
    local, norms = np.empty(columns[-1] * n_axes, np.float32), np.empty(columns[-1], np.float32)
    slack = np.empty(n_leaves)
    products = plan.current().use_products(n_axes, axes.exact)
    has_vectors = n_axes > AXES_WITHOUT_VECTORS and not products and not is_plain()
    n_lanes = -(-n_axes // LANES) * LANES
    vector_low, vector_high = np.zeros((2, columns[-1] // VECTOR * n_lanes if has_vectors else 0), np.float32)

    def place_tiles(first: int, last: int) -> None:
        some, more = slice(first, last), slice(first, last + 1)
        boxes = box_low[n_leaves + first : n_leaves + last], box_high[n_leaves + first : n_leaves + last]
        if has_vectors and is_free:
            split_tiles(coords, items, keys, starts, first, last)
        leaf_boxes(coords, items, starts[more], *boxes)
        localize(coords, off, items, starts[more], columns[more], centers[some], local, norms, slack[some])
        if has_vectors:
            vector_boxes(local, starts[more], columns[more], n_axes, vector_low, vector_high)

    pool.run(place_tiles, pool.shares(n_leaves))
    node_boxes(box_low, box_high)
    tile_rows = own_rows.take(items)
    rows = _taken(points.X, tile_rows, pool)
    side = Side(
        height=height,
        starts=starts,
        box_low=box_low,
        box_high=box_high,
        centers=centers,
        columns=columns,
        local=local,
        norms=norms,
        vector_low=vector_low,
        vector_high=vector_high,
        slack=slack,
        full=_full_coordinates(rows, axes, starts, slack),
        rows=rows,
        hashes=points.hashes.take(tile_rows),
        copy_start=np.concatenate(([0], np.cumsum(copies[items]))),
    )
    copy_rows = _rows_of_copies(ranked_rows, first_copy[items], copies[items])
    return Tiled(side, len(ranked_rows), copy_rows, points.hashes.take(copy_rows), points.ranks.take(copy_rows))


def _first_copies(points: Points, ranked_rows: I32) -> I64:
    """Return where among rows, which come by rank, each site has its first copy."""
    sites = points.sites.take(ranked_rows)
    return np.flatnonzero(np.concatenate(([True], sites[1:] != sites[:-1])))


def _split(coords: F64, keys: F64, starts: I64, height: int, pool: WorkerPool) -> I32:
    """Return the points in the order of their tiles, by median splits."""
    items, n_leaves = np.arange(len(coords), dtype=np.int32), 1 << height
    n_splits = min(pool.n_threads.bit_length() - 1, height)  # enough for every thread to have a part
    split_points(coords, items, keys, starts, 0, n_leaves, n_splits)
    part = n_leaves >> n_splits
    parts = [(coords, items, keys, starts, first, first + part, height) for first in range(0, n_leaves, part)]
    pool.run(split_points, parts)
    return items


def _taken(X: F64, numbers: I32, pool: WorkerPool) -> F64:
    """Return some rows, copied by all threads."""
    rows = np.empty((len(numbers), X.shape[1]))

    def copy(start: int, stop: int) -> None:
        X.take(numbers[start:stop], axis=0, out=rows[start:stop], mode="clip")

    pool.run(copy, pool.shares(len(rows)))
    return rows


def _full_coordinates(rows: F64, axes: Axes, starts: I64, slack: F64) -> FullCoordinates:
    """Return all features relative to the tiles' centres, where axes leave some out; the slack then covers both."""
    n_full, n_features = 0 if axes.exact else len(rows), rows.shape[1]
    points, norms = np.empty((n_full, n_features), np.float32), np.empty(n_full, np.float32)
    centers = np.empty((len(starts) - 1, n_features))
    if not axes.exact:
        localize_full(rows, axes.scale, starts, centers, points, norms, slack)
    return FullCoordinates(points, norms, centers)


def _rows_of_copies(ranked_rows: I32, first_copy: I64, copies: I64) -> I32:
    """Return the row of each copy, point by point, copies by rank."""
    if len(first_copy) == len(ranked_rows):
        return ranked_rows[first_copy]
    within = np.arange(len(ranked_rows)) - np.repeat(np.cumsum(copies) - copies, copies)
    return ranked_rows[np.repeat(first_copy, copies) + within]


def bare_tile(points: Points, ranked_rows: I32) -> Tiled:
    """Put the points of the given rows, which come by rank, into one tile that lacks everything but their names.

    Only a device can compare them.
    """
    first_copy = _first_copies(points, ranked_rows)
    none, numbers = np.empty((0, 0)), np.empty(0, np.float32)
    side = Side(
        height=0,
        starts=np.array([0, len(first_copy)]),
        box_low=none,
        box_high=none,
        centers=none,
        columns=np.zeros(2, np.int64),
        local=numbers,
        norms=numbers,
        vector_low=numbers,
        vector_high=numbers,
        slack=np.empty(0),
        full=FullCoordinates(np.empty((0, 0), np.float32), numbers, none),
        rows=none,
        hashes=points.hashes.take(ranked_rows[first_copy]),
        copy_start=np.append(first_copy, len(ranked_rows)),
    )
    hashes, ranks = points.hashes.take(ranked_rows), points.ranks.take(ranked_rows)
    return Tiled(side, len(ranked_rows), ranked_rows, hashes, ranks)


def tile_along(points: Points, tiled: Tiled, place: I32, axes: Axes, pool: WorkerPool) -> Tiled:
    """Cut the same points into tiles anew, in the order of the places of their copies."""
    return _tile_anew(points, tiled, np.argsort(place.take(tiled.side.copy_start[:-1])), None, axes, pool)


def move_points(points: Points, tiled: Tiled, leaves: I64, axes: Axes, pool: WorkerPool) -> Tiled:
    """Put each point into the given tile; there are as many tiles as before, and none is empty."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(leaves))))
    return _tile_anew(points, tiled, np.argsort(leaves, kind="stable"), starts, axes, pool)


def _tile_anew(points: Points, tiled: Tiled, order: I64, starts: I64 | None, axes: Axes, pool: WorkerPool) -> Tiled:
    """Cut points into tiles in another order."""
    by_rank = np.argsort(tiled.copy_ranks.take(tiled.side.copy_start[:-1]))
    among_ranked = np.empty(len(order), np.int32)
    among_ranked[by_rank] = np.arange(len(order), dtype=np.int32)
    rows = points.order.take(np.sort(tiled.copy_ranks))
    return tile_points(points, rows, axes, pool, among_ranked.take(order), starts)


def new_work(*sides: Side) -> Work:
    """Return one thread's buffers for pairs of tiles of some sides."""
    largest = max(int(np.diff(side.columns).max()) for side in sides)
    n_axes = sides[0].centers.shape[1]
    full = sides[0].full.points
    return Work(
        rows=np.empty((largest, n_axes)),
        points=np.empty((largest, n_axes), np.float32),
        norms=np.empty(largest),
        full_points=np.empty((largest if len(full) else 0, full.shape[1]), np.float32),
        gaps=np.empty(largest, np.float32),
        box=np.empty((2, n_axes), np.float32),
        chosen=np.empty(largest, np.int64),
        limit=np.empty(largest, np.float32),
        column_limit=np.empty(largest, np.float32),
        product=np.empty(largest * largest, np.float32),
        block=np.empty((largest, largest), np.float32),
        stack=np.empty(max(side.height for side in sides) + 3, np.int64),
        candidate_i=np.empty(max(1 << 12, 2 * largest * largest), np.int32),
        candidate_j=np.empty(max(1 << 12, 2 * largest * largest), np.int32),
        pending=np.zeros(2, np.int64),
        largest_slack=max(float(side.slack.max()) for side in sides),
    )


def lengths_of(a: Tiled, b: Tiled, i: np.ndarray, j: np.ndarray, pool: WorkerPool | None = None) -> F64:
    """Return squared distances of points i of a and j of b."""
    d2 = np.empty(len(i))
    pool = pool or WorkerPool(1)
    shares = [slice(*share) for share in pool.shares(len(i))]
    pool.run(edge_lengths, [(a.side.rows, b.side.rows, i[own], j[own], d2[own]) for own in shares])
    return d2


def copy_edges(a: Tiled, b: Tiled, i: np.ndarray, j: np.ndarray, n_trees: int) -> Edges:
    """Return the edges between all copies of points i of a and j of b that can matter."""
    return between_copies(a.side.copy_start, b.side.copy_start, i, j, lengths_of(a, b, i, j), n_trees)


def between_copies(copies_of_a: I64, copies_of_b: I64, i: np.ndarray, j: np.ndarray, d2: F64, n_trees: int) -> Edges:
    """Return the edges between all copies of points that can matter, given where the copies of each point start."""
    copies_a, copies_b = np.diff(copies_of_a), np.diff(copies_of_b)
    if copies_of_a[-1] == len(copies_a) and copies_of_b[-1] == len(copies_b):
        return Edges(i.astype(np.int32), j.astype(np.int32), d2)
    saturation = saturation_size(n_trees, int(max(copies_a.max(), copies_b.max())) + 1)
    outer_a, start_a = outer_copies(copies_of_a, saturation)
    outer_b, start_b = outer_copies(copies_of_b, saturation)
    n_a, n_b = np.diff(start_a)[i], np.diff(start_b)[j]
    pair = np.repeat(np.arange(len(i)), n_a * n_b)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(n_a * n_b) - n_a * n_b, n_a * n_b)
    u = outer_a[start_a[i[pair]] + within // n_b[pair]]
    v = outer_b[start_b[j[pair]] + within % n_b[pair]]
    return Edges(u.astype(np.int32), v.astype(np.int32), d2[pair])


def outer_copies(copy_start: I64, saturation: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last copies of each point, those an edge to another point can end in, and their starts."""
    copies = np.diff(copy_start)
    site = np.repeat(np.arange(len(copies)), copies)
    place = np.arange(copy_start[-1]) - copy_start[site]
    outer = (place < saturation) | (place >= copies[site] - saturation)
    return np.flatnonzero(outer), np.concatenate(([0], np.cumsum(np.bincount(site[outer], minlength=len(copies)))))
