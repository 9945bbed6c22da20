"""The exact forests of mutual reachability distances: lists of near points, repaired and cut anew, then the sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, no_forests, settle
from bayesfloor.forest.order.kruskal_kernels import saturation_size, site_forests
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.reachability.core import NearPoints, chunk_worker, nearest_points, told_apart
from bayesfloor.forest.reachability.reach_kernels import copies_of_pairs, sweep_reaching
from bayesfloor.forest.sweep.chaining import chain_components
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.driver import Chunk, Part, Sweep, TileKernels
from bayesfloor.forest.sweep.grow import SAMPLE, cut_along_last_tree, neighbors_of
from bayesfloor.forest.sweep.seed_kernels import neighbor_edges, sample_trees
from bayesfloor.forest.sweep.tiling import Axes, Tiled, choose_axes, lengths_of, tile_points
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Near points per point in the seed graph: the number where there is no list of them, and the maximum.
FEW_NEAR, MANY_NEAR = 12, 32


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
