"""Core distances: as they are passed, or the exact distance to the k-th nearest other point.

The search has the shape of the sweep for forests: lists of near points from the tiles around each point, then every
pair of tiles that may hold a nearer one. What is found shortens the lists midway, so that less is found later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, no_forests, settle
from bayesfloor.forest.order.kruskal_kernels import saturation_size, site_forests
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.reachability.reach_kernels import (
    bound_by_neighbors,
    copies_of_pairs,
    count_to_core,
    keep_neighbors,
    sweep_neighbors,
    sweep_reaching,
)
from bayesfloor.forest.sweep.bound_kernels import bound_nodes, empty_bounds
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.driver import (
    NOTHING_KNOWN,
    Chunk,
    Part,
    Survivors,
    Sweep,
    TileKernels,
    cut_tiles,
    work_through,
)
from bayesfloor.forest.sweep.grow import SAMPLE, chain_components, cut_along_last_tree, neighbors_of
from bayesfloor.forest.sweep.records import Hops, Line, Side, Work
from bayesfloor.forest.sweep.seed_kernels import neighbor_edges, sample_trees
from bayesfloor.forest.sweep.tile_kernels import WITHIN
from bayesfloor.forest.sweep.tiling import Axes, Tiled, choose_axes, lengths_of, new_work, tile_points
from bayesfloor.runtime.checks import ParameterError, is_int
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Update the lists of near points after this number of pairs per point.
PAIRS_PER_POINT = 4
# Maximum core distance, in units of the points' largest coordinate, and absolute: its square is finite.
LARGEST_CORE, LARGEST_SQUARED = 2.0**200, 2.0**511
# Minimum core distance other than 0: its square is a normal number.
LEAST_SQUARED = 2.0**-511

Kernel = Callable[..., tuple[int, int, int]]

# Near points per point in the seed graph: the number where there is no list of them, and the maximum.
FEW_NEAR, MANY_NEAR = 12, 32


def check_core_distances(core_distances: Any, n: int) -> int | F64 | None:
    """Return k for the k-th nearest other row, or an array of a distance for each of n rows; None for neither."""
    if core_distances is None:
        return None
    expected = f"an int in the range [1, {n - 1}], or an array of a distance for each of the {n} rows"
    if is_int(core_distances):
        if not 1 <= core_distances < n:
            raise ParameterError("core_distances", expected, core_distances)
        return int(core_distances)
    if isinstance(core_distances, bool | float | str):
        raise ParameterError("core_distances", expected, core_distances)
    try:
        core = np.array(core_distances, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("core_distances", expected, core_distances) from error
    if core.shape != (n,):
        raise ValueError(f"core_distances must be {expected}; its shape is {core.shape}.")
    for is_bad, what in ((~np.isfinite(core), "NaN or infinity"), (core < 0.0, "negative distances")):
        if is_bad.any():
            row, n_bad = int(np.argmax(is_bad)), int(np.count_nonzero(is_bad))
            raise ValueError(f"core_distances contains {what} in {n_bad} of {n} rows; the first is row {row}.")
    core += 0.0  # no negative zeros
    core.flags.writeable = False
    return core


def squares_of(core: F64) -> F64:
    """Return, for each core distance, the largest float64 whose root rounds to it."""
    squares = core * core
    for _ in range(3):  # a root is shared by three neighbouring numbers at the most
        above = np.nextafter(squares, np.inf)
        squares = np.where(np.sqrt(above) == core, above, squares)
    return squares


def scaled_core(core: F64, points: Points) -> F64:
    """Return the squares of core distances in the units of the points."""
    scaled = np.ldexp(core, -points.exponent)
    reach = f"points of up to {np.ldexp(points.extent.largest, points.exponent):.2g}"
    if scaled.max() > min(LARGEST_SQUARED, LARGEST_CORE * max(1.0, points.extent.largest)):
        raise ValueError(f"core_distances reach {core.max():.2g}, too large beside {reach}: their squares overflow.")
    if scaled.min(initial=np.inf, where=scaled > 0) < LEAST_SQUARED:
        least = core.min(initial=np.inf, where=core > 0)
        raise ValueError(f"core_distances go down to {least:.2g}, too small beside {reach}: their squares vanish.")
    return squares_of(scaled)


def told_apart(points: Points, core: F64) -> Points:
    """Return the points with a site for every value and core distance, ranked by value, core distance and row."""
    order = np.lexsort((core, points.sites)).astype(np.int32)
    sites, ranked_core = points.sites[order], core[order]
    is_new = (sites[1:] != sites[:-1]) | (ranked_core[1:] != ranked_core[:-1])
    if np.count_nonzero(is_new) == sites[-1]:
        return points
    apart = np.empty_like(points.sites)
    apart[order] = np.concatenate(([0], np.cumsum(is_new)))
    other = replace(points, order=order, sites=apart)
    other.__dict__["extent"] = points.extent
    return other


@dataclass(frozen=True, eq=False)
class NearPoints:
    """Of each point in tile order the square of its core distance, and near points."""

    core: F64  # (n,)
    near: I32  # (n, n_near) nearest first, -1 where there are too few


def nearest_points(tiled: Tiled, k: int, axes: Axes, pool: WorkerPool, amount: int) -> NearPoints:
    """Return the distance of each point to the k-th nearest other copy, exactly, and its nearest points."""
    side = tiled.side
    n = len(side.hashes)
    n_wanted = min(k, n - 1)
    core = np.zeros(n)
    if n_wanted == 0:
        return NearPoints(core, np.empty((1, 0), np.int32))
    if n <= plan.current().all_pairs_below or is_plain():
        return nearest_of_all(tiled, k, n_wanted)
    tile = int(np.diff(side.starts).max())
    near = neighbors_of(tiled, tiled, n_wanted, pool, max(4, -(-3 * n_wanted // tile)))
    near_d2 = np.full(near.shape, np.inf)
    shares = pool.shares(n)

    def measure(first: int, last: int) -> None:
        own, at = np.nonzero(near[first:last] >= 0)
        d2 = np.empty(len(own))
        edge_lengths(side.rows, side.rows, own + first, near[own + first, at], d2)
        near_d2[own + first, at] = d2
        by_length = np.argsort(near_d2[first:last], axis=1, kind="stable")
        near_d2[first:last] = np.take_along_axis(near_d2[first:last], by_length, axis=1)
        near[first:last] = np.take_along_axis(near[first:last], by_length, axis=1)

    pool.run(measure, shares)
    bounds = empty_bounds(side, True)
    for places in (bounds.node_low, bounds.node_high, bounds.rank_low, bounds.rank_high):
        places.fill(0)  # one place for all: no tree says how far apart tiles may be
    nowhere = Line(np.zeros((1, 1), np.int32), np.zeros(2, np.int8), np.zeros(1), np.zeros(1), np.zeros(1, np.uint64))
    no_hops = Hops(np.zeros((1, 1), np.float32), NOTHING_KNOWN)
    products = plan.current().use_products(axes.n_axes, axes.exact)
    chunks = deque(whole_chunks(side, pool.n_threads))
    share = amount // len(chunks)
    resumed = False
    while chunks:
        count_to_core(k, near, near_d2, side.copy_start, core)
        bound_by_neighbors(side, core, axes.scale, bounds)
        bound_nodes(side, bounds)
        found = Survivors()
        arguments = (side, bounds, nowhere, no_hops, core, resumed, products)
        workers = [chunk_worker(side, sweep_neighbors, arguments) for _ in range(pool.n_threads)]
        pool.run(work_through, [(worker, chunks, found, PAIRS_PER_POINT * n, pool, share) for worker in workers])
        if found.edges:
            pairs = tuple(np.concatenate(field) for field in zip(*found.edges, strict=True))
            pool.run(keep_neighbors, [(*part, *pairs, near, near_d2) for part in shares])
        resumed = True
    count_to_core(k, near, near_d2, side.copy_start, core)
    return NearPoints(squares_of(np.sqrt(core)), near)


def nearest_of_all(tiled: Tiled, k: int, n_wanted: int) -> NearPoints:
    """Do the same for few points, from all distances."""
    n = len(tiled.side.hashes)
    copies = np.diff(tiled.side.copy_start)
    i, j = np.triu_indices(n, 1)
    d2 = np.zeros((n, n))
    d2[i, j] = d2[j, i] = lengths_of(tiled, tiled, i, j)
    np.fill_diagonal(d2, -1.0)  # first of its own list
    by_length = np.argsort(d2, axis=1, kind="stable")
    n_within = np.cumsum(copies[by_length], axis=1)
    kth = np.argmax(n_within >= k + 1, axis=1)
    core = np.maximum(d2[np.arange(n), by_length[np.arange(n), kth]], 0.0)
    return NearPoints(squares_of(np.sqrt(core)), by_length[:, 1 : n_wanted + 1].astype(np.int32))


def whole_chunks(side: Side, n_threads: int) -> list[Chunk]:
    """Cut the tiles of a side, each against all, into chunks."""
    cut = cut_tiles(side, n_threads, len(side.hashes))
    return [Chunk(0, WITHIN, first, last, 0, 1 << side.height) for first, last in cut]


def chunk_worker(
    side: Side, kernel: Kernel, arguments: tuple[Any, ...]
) -> Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]]:
    """Return what one thread calls with chunk after chunk, with buffers of its own."""
    capacity = plan.current().buffer_edges
    out = [Edges(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity))]
    work: Work = new_work(side)

    def sweep_chunk(chunk: Chunk) -> Iterator[tuple[Edges, Chunk | None]]:
        tile, leaf, pending = chunk.first, chunk.other_first, True
        while tile < chunk.last or pending:
            count, tile, leaf = kernel(tile, chunk.last, leaf, *arguments, work, out[0])
            pending = bool(work.pending[0] < work.pending[1])
            if pending and count == 0:
                out[0] = Edges(*(np.empty(2 * len(field), field.dtype) for field in out[0]))
            u, v, d2 = out[0]
            edges = Edges(u[:count].copy(), v[:count].copy(), d2[:count].copy())
            can_stop = tile < chunk.last and not pending
            yield edges, chunk._replace(first=tile, other_first=leaf) if can_stop else None

    return sweep_chunk


def grow_reaching(
    points: Points, core: int | F64, task: Task, pool: WorkerPool, amount: int
) -> tuple[Tiled, ForestEdges, F64]:
    """Return the forests of mutual reachability distances, numbered as copies, and the tiles they are in.

    `core` is k, for the distance to the k-th nearest other row, or the squares of core distances by row. The squares
    are returned as well.
    """
    if not isinstance(core, int):
        points = told_apart(points, core)
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, points.order, axes, pool)
    side = tiled.side
    n = len(side.hashes)
    small = n <= plan.current().all_pairs_below or is_plain()
    if isinstance(core, int):
        found = nearest_points(tiled, core, axes, pool, amount // 2)
        amount -= amount // 2
    else:
        n_near = 0 if small else max(2 * task.n_trees + 2, FEW_NEAR)
        near = neighbors_of(tiled, tiled, n_near, pool) if n_near else np.empty((n, 0), np.int32)
        found = NearPoints(core.take(tiled.point_rows), near)
    site = np.repeat(np.arange(n), np.diff(side.copy_start))
    by_row = np.empty(tiled.n_copies)
    by_row[tiled.copy_rows] = found.core.take(site)
    ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    site_u, site_v = site_forests(side.copy_start, task.n_trees)
    inside = Edges(site_u, site_v, found.core.take(site.take(site_u)))
    if small:
        first, second = np.triu_indices(n, 1)
        edges = copies_between(tiled, found.core, first, second, task)
        return tiled, settle(ends, task, no_forests(), [inside, edges]), by_row
    grown = settle(ends, task, no_forests(), [inside, seed_edges(tiled, found, task, axes, pool)])
    grown = chain_components(ends, task, grown, lambda u, v: weights_of(tiled, found.core, site[u], site[v]))
    tiled, grown, ends = cut_along_last_tree(points, tiled, grown, ends, task, axes, pool)
    sweep = ReachSweep(tiled, by_row.take(tiled.point_rows), ends, task, axes)
    return tiled, sweep.run(grown, pool, amount), by_row


def weights_of(tiled: Tiled, core: F64, i: np.ndarray, j: np.ndarray) -> F64:
    """Return squared mutual reachability distances of points i and j."""
    return np.maximum(lengths_of(tiled, tiled, i, j), np.maximum(core.take(i), core.take(j)))


def copies_between(tiled: Tiled, core: F64, i: np.ndarray, j: np.ndarray, task: Task) -> Edges:
    """Return the edges between all copies of points i and j that can matter."""
    d2 = weights_of(tiled, core, i, j)
    copy_start = tiled.side.copy_start
    if tiled.n_copies == len(core):
        return Edges(i.astype(np.int32), j.astype(np.int32), d2)
    saturation = saturation_size(task.n_trees, int(np.diff(copy_start).max()) + 1)
    return Edges(*copies_of_pairs(i, j, d2, core, copy_start, saturation))


def seed_edges(tiled: Tiled, found: NearPoints, task: Task, axes: Axes, pool: WorkerPool) -> Edges:
    """Return edges to near points, and the trees of a sample."""
    side = tiled.side
    n = len(side.hashes)
    u, v = neighbor_edges(np.ascontiguousarray(found.near[:, :MANY_NEAR]))
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int64))
    coordinates = axes.coordinates(side.rows[sample])[0].astype(np.float32)
    sample_u, sample_v = sample_trees(coordinates, task.n_trees)
    u = np.concatenate((u, sample[sample_u].astype(np.int32)))
    v = np.concatenate((v, sample[sample_v].astype(np.int32)))
    d2 = np.empty(len(u))
    pool.run(edge_lengths, [(side.rows, side.rows, u[a:b], v[a:b], d2[a:b]) for a, b in pool.shares(len(u))])
    d2 = np.maximum(d2, np.maximum(found.core.take(u), found.core.take(v)))
    return Edges(side.copy_start[u].astype(np.int32), side.copy_start[v].astype(np.int32), d2)


class ReachSweep(Sweep):
    """The sweep over all pairs of tiles of one set of points, decided by mutual reachability distances."""

    def __init__(self, tiled: Tiled, core: F64, ends: Ends, task: Task, axes: Axes):
        part = Part(tiled)
        super().__init__([(part, part)], ends, task, axes)
        self.part, self.core = part, core

    def backend(self, n_threads: int) -> TileKernels:
        """Return the kernels of this sweep."""
        return ReachKernels(self, n_threads)


class ReachKernels(TileKernels):
    """The kernels for the CPU, which decide by mutual reachability distances."""

    sweep: ReachSweep

    def worker(self) -> Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]]:
        """Return what one thread calls with chunk after chunk."""
        sweep = self.sweep
        side, bounds = sweep.part.tiled.side, sweep.bounds[id(sweep.part)]
        decided_by = sweep.core, sweep.task.key, sweep.saturation
        arguments = (side, bounds, self.line, self.hops, *decided_by, self.resumed, sweep.products)
        return chunk_worker(side, sweep_reaching, arguments)
