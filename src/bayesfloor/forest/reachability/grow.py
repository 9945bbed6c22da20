"""Forests of mutual reachability distances: points that have core distances, passed or found, grown as any others.

A core distance is the exact distance to the k-th nearest other point. The search for it has the shape of the sweep for
forests: lists of near points from the tiles around each point, then every pair of tiles that may hold a nearer one.
What is found shortens the lists midway, so that less is found later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, Edges, ForestEdges
from bayesfloor.forest.order.edges import Task, empty_edges, together
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.reachability.reach_kernels import (
    bound_by_neighbors,
    count_to_core,
    keep_neighbors,
    sweep_neighbors,
)
from bayesfloor.forest.sweep.bound_kernels import bound_nodes, empty_bounds
from bayesfloor.forest.sweep.driver import (
    NOTHING_KNOWN,
    Chunk,
    Survivors,
    SweepChunk,
    cut_tiles,
    in_steps,
    work_through,
)
from bayesfloor.forest.sweep.grow import grow, neighbors_of
from bayesfloor.forest.sweep.records import Hops, Line
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
# Maximum number of near points per point in the seed graph.
MANY_NEAR = 32


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


def nearest_points(tiled: Tiled, k: int, axes: Axes, pool: WorkerPool, amount: int) -> tuple[F64, I32]:
    """Return the square of each point's exact distance to the k-th nearest other copy, and its nearest points.

    Points come in tile order; -1 stands where there are too few near ones.
    """
    side = tiled.side
    n = len(side.hashes)
    n_wanted = min(k, n - 1)
    core = np.zeros(n)
    if n_wanted == 0:
        return core, np.empty((1, 0), np.int32)
    if n <= plan.current().all_pairs_below or is_plain():
        return nearest_of_all(tiled, k, n_wanted)
    tile = int(np.diff(side.starts).max())
    near = neighbors_of(tiled, tiled, n_wanted, pool, max(4, -(-3 * n_wanted // tile)))
    near_d2 = np.full(near.shape, np.inf)
    shares = pool.shares(n)

    def measure(first: int, last: int) -> None:
        own, at = np.nonzero(near[first:last] >= 0)
        near_d2[own + first, at] = lengths_of(tiled, tiled, own + first, near[own + first, at])
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
    chunks = deque(Chunk(WITHIN, first, last) for first, last in cut_tiles(side, pool.n_threads, n))
    share = amount // len(chunks)

    def worker(resumed: bool) -> SweepChunk:
        work, out = new_work(side), [empty_edges(plan.current().buffer_edges)]
        arguments = (side, bounds, nowhere, no_hops, core, resumed, products)

        def sweep_chunk(chunk: Chunk) -> Iterator[tuple[Edges, Chunk | None]]:
            for edges, rest in in_steps(chunk, sweep_neighbors, arguments, work, out):
                yield Edges(edges.u.copy(), edges.v.copy(), edges.d2.copy()), rest

        return sweep_chunk

    resumed = False
    while chunks:
        count_to_core(k, near, near_d2, side.copy_start, core)
        bound_by_neighbors(side, core, axes.scale, bounds)
        bound_nodes(side, bounds)
        found = Survivors()
        workers = [worker(resumed) for _ in range(pool.n_threads)]
        pool.run(work_through, [(each, chunks, found, PAIRS_PER_POINT * n, pool, share) for each in workers])
        if found.edges:
            pairs = together(found.edges)
            pool.run(keep_neighbors, [(*part, *pairs, near, near_d2) for part in shares])
        resumed = True
    count_to_core(k, near, near_d2, side.copy_start, core)
    return squares_of(np.sqrt(core)), near


def nearest_of_all(tiled: Tiled, k: int, n_wanted: int) -> tuple[F64, I32]:
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
    return squares_of(np.sqrt(core)), by_length[:, 1 : n_wanted + 1].astype(np.int32)


def grow_reaching(
    points: Points, core: int | F64, task: Task, pool: WorkerPool, amount: int
) -> tuple[Tiled, ForestEdges, F64]:
    """Return the forests of mutual reachability distances, numbered as copies, and the tiles they are in.

    `core` is k, for the distance to the k-th nearest other row, or the squares of core distances by row. The squares
    are returned as well.
    """
    squares = None if isinstance(core, int) else core
    points = points if squares is None else told_apart(points, squares)
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, points.order, axes, pool)
    near = None
    if isinstance(core, int):
        of_points, near = nearest_points(tiled, core, axes, pool, amount // 2)
        amount -= amount // 2
        squares = np.empty(tiled.n_copies)
        squares[tiled.copy_rows] = np.repeat(of_points, np.diff(tiled.side.copy_start))
        is_enough = near.shape[1] > 2 * task.n_trees
        near = np.ascontiguousarray(near[:, : max(MANY_NEAR, 2 * task.n_trees)]) if is_enough else None
    assert squares is not None
    reaching = replace(points, core=squares)
    reaching.__dict__["extent"] = points.extent
    tiled = replace(tiled, side=tiled.side._replace(core=squares.take(tiled.point_rows)))
    return *grow(reaching, tiled, task, axes, pool, amount, near), squares
