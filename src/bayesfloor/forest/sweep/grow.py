"""The exact forests of one set of points: a seed graph, repaired and cut into better tiles, then the sweep.

The seed is near neighbours and the trees of a sample. Its last tree bounds the sweep: the better it is, the fewer edges
survive. Nothing of it needs to be exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, I64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, no_forests, settle, settle_all
from bayesfloor.forest.order.kruskal_kernels import component_labels, site_forests
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.sweep.boruvka import grow_in_rounds, suits_rounds
from bayesfloor.forest.sweep.bound_kernels import bound_tiles, empty_bounds, point_places
from bayesfloor.forest.sweep.driver import LOOK_UPS, NOTHING_KNOWN, Part, Sweep, cut_tiles, device_for, last_line
from bayesfloor.forest.sweep.records import Line, Side
from bayesfloor.forest.sweep.seed_kernels import chain_edges, near_in_side, near_neighbors, neighbor_edges, sample_trees
from bayesfloor.forest.sweep.tiling import Axes, Tiled, copy_edges, lengths_of, move_points, new_work, tile_along
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# A point looks far where it reaches its tile's representative only by edges this many times as long as the median edge.
MIXED = 3.5
# Tiles are mixed when more than this share of all points looks far.
MANY_FAR = 0.15
# Minimum share of a tile's points that are a region of their own; fewer are outliers.
PART_OF_TILE = 1 / 16
# Maximum number of points in parts of other regions that stay where they are: more take longer than new tiles.
FEW_ASTRAY = 200
# Tiles in which such a point looks for neighbours.
NEAR_EACH = 4
# Minimum number of points for a sweep; all distances of smaller sets are computed.
MANY_POINTS = 64
# Points in the sample whose spanning trees join parts that lie far apart: as many at the most, and one in so many.
SAMPLE, ONE_IN = 1024, 8
# Maximum number of axes that count as few.
FEW_AXES = 3
# Maximum number of axes: number of tiles in which a tile's points look for neighbours.
NEAR_TILES = ((FEW_AXES, 5), (8, 14), (20, 7), (np.inf, 4))
# These are no more than one tile in so many, but two: small sets are soon swept as a whole.
NEAR_ONE_IN = 4

# Maximum number of rounds of joining; the sweep finds what is still apart then.
ROUNDS = 4


def grow(
    points: Points, tiled: Tiled, task: Task, axes: Axes, pool: WorkerPool, amount: int
) -> tuple[Tiled, ForestEdges]:
    """Return the exact forests of one set of points, numbered as copies, and the tiles that they ended up in."""
    side = tiled.side
    n = len(side.hashes)
    ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    if suits_rounds(len(ends), side.rows.shape[1], int(np.diff(side.copy_start).max()), task):
        return tiled, grow_in_rounds(points.X.take(tiled.copy_rows, axis=0), ends, task, pool, amount)
    site = np.repeat(np.arange(n), np.diff(side.copy_start))
    site_u, site_v = site_forests(side.copy_start, task.n_trees)
    sites = Edges(site_u, site_v, np.zeros(len(site_u)))
    if n <= max(plan.current().all_pairs_below, 1) or is_plain():
        first, second = np.triu_indices(n, 1)
        edges = copy_edges(tiled, tiled, first, second, task.n_trees)
        if is_plain():
            return tiled, settle_all(ends, task, no_forests(), [sites], edges)
        return tiled, settle(ends, task, no_forests(), [sites, edges])
    device = device_for(task, n * n)
    if device is not None:
        return tiled, device.grow(tiled, task, pool, amount)
    near = neighbors_of(tiled, tiled, 2 * task.n_trees + (1 if axes.n_axes <= FEW_AXES else 2), pool)
    grown = settle(ends, task, no_forests(), [sites, seed_edges(tiled, near, task, axes, pool)], pool)
    grown = chain_components(ends, task, grown, lambda u, v: lengths_of(tiled, tiled, site[u], site[v]))
    known = near if n == len(ends) else NOTHING_KNOWN
    if axes.n_axes <= FEW_AXES:
        cut, last = tiled, None
    else:
        cut, grown, last = cut_anew(points, tiled, grown, ends, task, axes, pool)
    if cut is not tiled:
        number = cut.numbers_of(tiled.copy_rows)
        grown = grown._replace(u=number.take(grown.u), v=number.take(grown.v))
        known = renumbered(known, number)
        ends = Ends(cut.copy_hashes, cut.copy_ranks)
        last = last_line(ends, task, grown, axes.scale)
    part = Part(cut)
    return cut, Sweep(part, part, ends, task, axes, known).run(grown, pool, amount, last)


def cut_anew(
    points: Points, tiled: Tiled, grown: ForestEdges, ends: Ends, task: Task, axes: Axes, pool: WorkerPool
) -> tuple[Tiled, ForestEdges, tuple[I32, Line]]:
    """Cut tiles anew that hold parts of several dense regions; return the last tree as a line as well.

    Where many tiles do, all are cut along the line of the last tree. Where a few do, the smaller parts move to tiles of
    their own region. Their neighbours were looked for around the tile, far from either region, and are found first.
    """
    last = last_line(ends, task, grown, axes.scale)
    is_far = looks_far(tiled.side, *last, pool)
    if tiles_are_mixed(is_far):
        return tile_along(points, tiled, last[0], axes, pool), grown, last
    astray = parts_of_tiles(tiled.side, is_far)
    if len(astray) <= FEW_ASTRAY:
        return tiled, grown, last
    neighbors = near_each(tiled, astray, 2 * task.n_trees + 2, axes)
    i, at = np.nonzero(neighbors >= 0)
    u, v = (tiled.side.copy_start.take(end).astype(np.int32) for end in (astray[i], neighbors[i, at]))
    found = Edges(u, v, lengths_of(tiled, tiled, astray[i], neighbors[i, at]))
    leaves = beside_others(tiled.side, astray, neighbors)
    return move_points(points, tiled, leaves, axes, pool), settle(ends, task, grown, [found]), last


def renumbered(neighbors: I32, number: I32) -> I32:
    """Return the neighbours of points, where there are any, under other numbers."""
    if len(neighbors) == 0:
        return neighbors
    anew = np.empty_like(neighbors)
    anew[number] = np.where(neighbors < 0, neighbors, number.take(neighbors, mode="clip"))
    return anew


def looks_far(side: Side, place: I32, line: Line, pool: WorkerPool) -> np.ndarray:
    """Tell which points reach their tile's representative only by edges far longer than is usual."""
    bounds = empty_bounds(side, False)
    point_places(place, side.copy_start, 0, bounds.place_low, bounds.place_high)
    shares = cut_tiles(side, pool.n_threads, LOOK_UPS)
    pool.run(bound_tiles, [(*share, side, line, bounds, True) for share in shares])
    is_far: np.ndarray = bounds.reach > MIXED * line.lengths[len(line.lengths) // 2]
    return is_far


def tiles_are_mixed(is_far: np.ndarray) -> bool:
    """Tell whether many points look far.

    Their tiles hold parts of several dense regions, and would have to look as far as from one region to the next. Tiles
    cut along the line of the last tree hold one region each.
    """
    return bool(np.mean(is_far) > MANY_FAR)


def parts_of_tiles(side: Side, is_far: np.ndarray) -> I64:
    """Return those of the points that look far which are a part of their tile; fewer are outliers."""
    sizes = np.diff(side.starts)
    is_mixed = np.add.reduceat(is_far, side.starts[:-1], dtype=np.int64) > PART_OF_TILE * sizes
    return np.flatnonzero(is_far & np.repeat(is_mixed, sizes))


def near_each(tiled: Tiled, chosen: I64, n_wanted: int, axes: Axes) -> I32:
    """Return near neighbours of some points, each from the tiles nearest to itself; -1 where there are too few."""
    coords = axes.coordinates(tiled.side.rows.take(chosen, axis=0))[0]
    neighbors = np.full((len(chosen), n_wanted + 1), -1, np.int32)
    best = np.full(neighbors.shape, np.inf, np.float32)
    flat_centers = np.ascontiguousarray(tiled.side.centers.T.astype(np.float32)).ravel()
    near_in_side(coords, tiled.side, flat_centers, NEAR_EACH, best, neighbors)
    neighbors[neighbors == chosen[:, None]] = -1
    return neighbors


def beside_others(side: Side, astray: I64, neighbors: I32) -> I64:
    """Return the tile of each point, where those that are astray go to that of the nearest neighbour which is not."""
    leaves = np.repeat(np.arange(len(side.starts) - 1), np.diff(side.starts))
    is_astray = np.zeros(len(leaves), np.bool_)
    is_astray[astray] = True
    is_settled = (neighbors >= 0) & ~is_astray.take(neighbors, mode="clip")
    has_one = is_settled.any(axis=1)
    first = neighbors[np.arange(len(astray)), is_settled.argmax(axis=1)]
    leaves[astray[has_one]] = leaves.take(first[has_one])
    return leaves


def only_for_device(points: Points, sets: list[I32], task: Task) -> bool:
    """Tell whether all points of some sets of rows, which come by rank, are compared by a device alone."""
    if task.device is None:
        return False
    n_sites = min(1 + int(np.count_nonzero(np.diff(points.sites[rows]))) for rows in sets)
    least = max(plan.current().all_pairs_below, MANY_POINTS)
    return n_sites > least and not is_plain() and device_for(task, n_sites**2) is not None


def seed_edges(tiled: Tiled, near: I32, task: Task, axes: Axes, pool: WorkerPool) -> Edges:
    """Return the edges to near neighbours, and the trees of a sample."""
    side = tiled.side
    n = len(side.hashes)
    u, v = neighbor_edges(near)
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, max(n // ONE_IN, 1))).astype(np.int64))
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
    few = max((1 << b.side.height) // NEAR_ONE_IN, 2)
    n_near = plan.current().near_tiles or n_near or min(next(n for most, n in NEAR_TILES if n_axes <= most), few)

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
