"""The exact forests of one set of points: a seed graph, repaired and cut into better tiles, then the sweep.

The seed is near neighbours and the trees of a sample. Its last tree bounds the sweep: the better it is, the fewer edges
survive. Nothing of it needs to be exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, no_forests, settle, settle_all
from bayesfloor.forest.order.kruskal_kernels import component_labels, site_forests
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.sweep.boruvka import grow_in_rounds, suits_rounds
from bayesfloor.forest.sweep.bound_kernels import bound_tiles, empty_bounds, point_places
from bayesfloor.forest.sweep.driver import NOTHING_KNOWN, Part, Sweep, cut_tiles, device_for, last_line
from bayesfloor.forest.sweep.records import Line, Side
from bayesfloor.forest.sweep.seed_kernels import chain_edges, near_neighbors, neighbor_edges, sample_trees
from bayesfloor.forest.sweep.tiling import Axes, Tiled, copy_edges, lengths_of, new_work, tile_along
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Tiles are mixed when many points reach their representative only by edges this many times as long as the median edge.
MIXED = 3.5
# Minimum number of points for a sweep; all distances of smaller sets are computed.
MANY_POINTS = 64
# Points in the sample whose spanning trees join parts that lie far apart.
SAMPLE = 1024
# Maximum number of axes that count as few.
FEW_AXES = 3
# Maximum number of axes: number of tiles in which a tile's points look for neighbours.
NEAR_TILES = ((FEW_AXES, 5), (8, 14), (20, 7), (np.inf, 4))

# Maximum number of rounds of joining; the sweep finds what is still apart then.
ROUNDS = 4


def grow(
    points: Points, tiled: Tiled, task: Task, axes: Axes, pool: WorkerPool, amount: int, near: I32 | None = None
) -> tuple[Tiled, ForestEdges]:
    """Return the exact forests of one set of points, numbered as copies, and the tiles that they ended up in.

    `near` are near neighbours of each point, nearest first, where they are known.
    """
    side = tiled.side
    n = len(side.hashes)
    ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    if not len(side.core) and suits_rounds(len(ends), side.rows.shape[1], int(np.diff(side.copy_start).max()), task):
        return tiled, grow_in_rounds(points.X.take(tiled.copy_rows, axis=0), ends, task, pool, amount)
    site = np.repeat(np.arange(n), np.diff(side.copy_start))
    site_u, site_v = site_forests(side.copy_start, task.n_trees)
    sites = Edges(site_u, site_v, side.core.take(site[site_u]) if len(side.core) else np.zeros(len(site_u)))
    if n <= max(plan.current().all_pairs_below, 1) or is_plain():
        first, second = np.triu_indices(n, 1)
        edges = copy_edges(tiled, tiled, first, second, task.n_trees)
        if is_plain():
            return tiled, settle_all(ends, task, no_forests(), [sites], edges)
        return tiled, settle(ends, task, no_forests(), [sites, edges])
    device = device_for(task, n * n)
    if device is not None:
        return tiled, device.grow(tiled, task, pool, amount)
    if near is None:
        near = neighbors_of(tiled, tiled, 2 * task.n_trees + (1 if axes.n_axes <= FEW_AXES else 2), pool)
    grown = settle(ends, task, no_forests(), [sites, seed_edges(tiled, near, task, axes, pool)], pool)
    grown = chain_components(ends, task, grown, lambda u, v: lengths_of(tiled, tiled, site[u], site[v]))
    cut, grown, ends = cut_along_last_tree(points, tiled, grown, ends, task, axes, pool)
    known = near if cut is tiled and n == len(ends) and not len(side.core) else NOTHING_KNOWN
    part = Part(cut)
    return cut, Sweep([(part, part)], ends, task, axes, known).run(grown, pool, amount)


def cut_along_last_tree(
    points: Points, tiled: Tiled, grown: ForestEdges, ends: Ends, task: Task, axes: Axes, pool: WorkerPool
) -> tuple[Tiled, ForestEdges, Ends]:
    """Cut tiles anew, along the line of the last tree, where they are mixed; return all that is numbered by them."""
    if axes.n_axes > FEW_AXES:
        place, line = last_line(ends, task, grown, axes.scale)
        if tiles_are_mixed(tiled.side, place, line):
            tiled, number = tile_along(points, tiled, place, axes, pool)
            grown = ForestEdges(number[grown.u], number[grown.v], grown.d2, grown.tree)
            ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    return tiled, grown, ends


def only_for_device(points: Points, sets: list[I32], task: Task) -> bool:
    """Tell whether all points of some sets of rows, which come by rank, are compared by a device alone."""
    if task.device is None:
        return False
    n_sites = min(1 + int(np.count_nonzero(np.diff(points.sites[rows]))) for rows in sets)
    least = max(plan.current().all_pairs_below, MANY_POINTS)
    return n_sites > least and not is_plain() and device_for(task, n_sites**2) is not None


def tiles_are_mixed(side: Side, place: I32, line: Line) -> bool:
    """Tell whether many points reach their tile's representative only by edges far longer than is usual.

    Their tiles hold parts of several dense regions, and would have to look as far as from one region to the next. Tiles
    cut along the line of the last tree hold one region each.
    """
    bounds = empty_bounds(side, False)
    point_places(place, side.copy_start, 0, bounds.place_low, bounds.place_high)
    n_leaves = 1 << side.height
    looked_at = range(0, n_leaves, max(1, n_leaves // 64))
    for leaf in looked_at:
        bound_tiles(leaf, leaf + 1, side, line, bounds, True)
    reach = np.concatenate([bounds.reach[side.starts[leaf] : side.starts[leaf + 1]] for leaf in looked_at])
    many_reach = np.sort(reach)[int(0.85 * len(reach))]
    return bool(many_reach > MIXED * line.lengths[len(line.lengths) // 2])


def seed_edges(tiled: Tiled, near: I32, task: Task, axes: Axes, pool: WorkerPool) -> Edges:
    """Return the edges to near neighbours, and the trees of a sample."""
    side = tiled.side
    n = len(side.hashes)
    u, v = neighbor_edges(near)
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int64))
    coordinates = axes.coordinates(side.rows[sample])[0].astype(np.float32)
    sample_u, sample_v = sample_trees(coordinates, task.n_trees)
    u = np.concatenate((u, sample[sample_u].astype(np.int32)))
    v = np.concatenate((v, sample[sample_v].astype(np.int32)))
    d2 = lengths_of(tiled, tiled, u, v, pool)
    return Edges(side.copy_start[u].astype(np.int32), side.copy_start[v].astype(np.int32), d2)


def neighbors_of(a: Tiled, b: Tiled, n_wanted: int, pool: WorkerPool, n_near: int | None = None) -> I32:
    """Return near neighbours in b of the points of a."""
    within = a is b
    n_axes = a.side.centers.shape[1]
    products = plan.current().use_products(n_axes, len(a.side.full.points) == 0)
    neighbors = np.empty((len(a.side.hashes), min(n_wanted, len(b.side.hashes) - within)), np.int32)
    n_near = plan.current().near_tiles or n_near or next(n for most, n in NEAR_TILES if n_axes <= most)

    def search(first: int, last: int) -> None:
        work = new_work(a.side, b.side)
        near_neighbors(first, last, a.side, b.side, within, n_near, products, work, neighbors)

    n_others = min(n_near * len(b.side.hashes) >> b.side.height, len(b.side.hashes))
    pool.run(search, cut_tiles(a.side, pool.n_threads, n_others))
    return neighbors


def chain_components(
    ends: Ends, task: Task, grown: ForestEdges, squared_lengths: Callable[[np.ndarray, np.ndarray], F64]
) -> ForestEdges:
    """Join the components of the last tree by chains of edges, whose squared lengths are measured between copies."""
    for _ in range(ROUNDS):
        last = grown.tree == task.n_trees - 1
        if np.count_nonzero(last) == len(ends) - 1:
            break
        u, v = chain_edges(component_labels(len(ends), grown.u[last], grown.v[last]), 2 * task.n_trees + 4)
        grown = settle(ends, task, grown, [Edges(u, v, squared_lengths(u, v))])
    return grown
