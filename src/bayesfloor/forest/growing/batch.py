"""A batch of new points joined to forests that are there: only distances between new points and all others.

F_k(A ∪ B) = F_k(F_k(A) ∪ edges of B and between A and B), so the old points' own distances are never looked at again.
Old points stay in the tiles that they are in. New ones make a part of their own, and parts are joined into larger ones
as a counter carries: each is larger than all after it, and a point is cut into tiles anew about log2(n) times in all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, I64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, settle
from bayesfloor.forest.order.kruskal_kernels import site_forests
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.driver import Part, Sweep, last_line
from bayesfloor.forest.sweep.grow import grow, looks_far, neighbors_of, tiles_are_mixed
from bayesfloor.forest.sweep.records import Line
from bayesfloor.forest.sweep.seed_kernels import near_in_side, neighbor_edges
from bayesfloor.forest.sweep.tiling import Axes, choose_axes, tile_along, tile_points
from bayesfloor.runtime.threads import WorkerPool

# Grow all forests anew up to this number of points; parts are joined until they have as many.
FEW_POINTS = 512
# Maximum number of points in a tile of new points: few, since they lie far apart.
BATCH_TILE = 32
# Tiles searched in each part for neighbours of a new point.
NEAR_TILES = 4
# Choose axes anew when a new point has a scaled coordinate above this.
FAR_OUT = 2.0**10


@dataclass(frozen=True, eq=False)
class TiledForests:
    """Numbered points with their forests, ready for more: their rows, and their tiles in parts, largest first."""

    rows: I64  # (n,) row of each number
    axes: Axes
    parts: tuple[Part, ...]
    forests: ForestEdges
    place: I32  # (n,) in the line of a tree, where near points are together


def ends_of(points: Points, rows: np.ndarray) -> Ends:
    """Return what the strict order needs to know of rows."""
    return Ends(points.hashes.take(rows), points.ranks.take(rows))


def by_rank(points: Points, rows: np.ndarray) -> I32:
    """Sort rows by rank."""
    return points.order.take(np.sort(points.ranks.take(rows)))


def grow_tiled(points: Points, rows: I64, task: Task, pool: WorkerPool, amount: int) -> TiledForests:
    """Grow the forests of some rows from nothing; numbers are places in `rows`, which ascend."""
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, rows), axes, pool)
    tiled, grown = grow(points, tiled, task, axes, pool, amount)
    number = np.searchsorted(rows, tiled.copy_rows).astype(np.int32)
    place = np.empty(len(rows), np.int32)
    place[number] = last_line(Ends(tiled.copy_hashes, tiled.copy_ranks), task, grown, axes.scale)[0]
    grown = grown._replace(u=number.take(grown.u), v=number.take(grown.v))
    return TiledForests(rows, axes, (Part(tiled, number=number),), grown, place)


def extend_tiled(
    points: Points, known: TiledForests, new_rows: I64, task: Task, pool: WorkerPool, amount: int
) -> TiledForests:
    """Add new rows, which get the next numbers, to forests; all rows ascend."""
    rows = np.concatenate((known.rows, new_rows))
    if grows_anew(len(known.rows), len(new_rows)):
        return grow_tiled(points, rows, task, pool, amount)
    ranked = by_rank(points, new_rows)
    if is_far_out(points, ranked, known.axes):
        known = tile_anew(points, known, pool)
    joined = join_batch(points, known, new_rows, ranked, task, pool, amount)
    axes, parts = carry(points, known.axes, [*known.parts, joined.batch], joined.place, joined.line, pool)
    return TiledForests(rows, axes, parts, joined.forests, joined.place)


def grows_anew(n_old: int, n_new: int) -> bool:
    """Tell whether there are so few old points that the forests of all are grown from nothing."""
    return n_old < max(n_new, FEW_POINTS)


def is_far_out(points: Points, ranked: I32, axes: Axes) -> bool:
    """Tell whether rows lie so far away that the scale of the axes does not suit them."""
    return bool(np.abs((points.X.take(ranked, axis=0) - axes.center) * axes.scale).max() > FAR_OUT)


def tile_anew(points: Points, known: TiledForests, pool: WorkerPool) -> TiledForests:
    """Cut all points of some forests into tiles along axes chosen anew."""
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, known.rows), axes, pool)
    number = np.searchsorted(known.rows, tiled.copy_rows).astype(np.int32)
    return replace(known, axes=axes, parts=(Part(tiled, number=number),))


class Joined(NamedTuple):
    """A batch in tiles, the forests of all points, and the last tree of the seed as a line."""

    batch: Part
    forests: ForestEdges
    place: I32
    line: Line


def join_batch(
    points: Points, known: TiledForests, new_rows: I64, ranked: I32, task: Task, pool: WorkerPool, amount: int
) -> Joined:
    """Join new rows, which get the next numbers and come by rank as well, to a known."""
    n_old = len(known.rows)
    rows = np.concatenate((known.rows, new_rows))
    site = points.sites.take(ranked)
    is_first = np.concatenate(([True], site[1:] != site[:-1]))
    coords = known.axes.coordinates(points.X.take(ranked[is_first], axis=0))[0]
    neighbors = near_in_parts(coords, known.parts, task.n_trees + 2, pool)
    # Points whose neighbours are close to each other in the tree make a tile: they are of one cluster.
    order = np.argsort(known.place.take(neighbors[:, 0]), kind="stable").astype(np.int32)
    settings = plan.current()
    products = settings.use_products(known.axes.n_axes, known.axes.exact)
    with plan.override(tile_size=settings.tile_size or (None if products else BATCH_TILE)):
        tiled = tile_points(points, ranked, known.axes, pool, order)
    batch = Part(tiled, number=(n_old + np.searchsorted(new_rows, tiled.copy_rows)).astype(np.int32))
    ends = ends_of(points, rows)
    # Seeds: edges from new points to near ones, old and new, and those inside sites that have new copies.
    new, at = np.nonzero(neighbors[order] >= 0)
    found = [(batch.first_copies(new), neighbors[order][new, at])]
    if len(tiled.side.hashes) > 1:
        near = neighbor_edges(neighbors_of(tiled, tiled, task.n_trees + 2, pool))
        found.append((batch.first_copies(near[0]), batch.first_copies(near[1])))
    found.append(edges_in_sites(points.sites.take(rows), ends, n_old, task))
    u, v = map(np.concatenate, zip(*found, strict=True))
    d2 = np.empty(len(u))
    edge_lengths(points.X, points.X, rows.take(u), rows.take(v), d2)
    grown = settle(ends, task, known.forests, [Edges(u, v, d2)])
    place, line = last_line(ends, task, grown, known.axes.scale)
    blocks = [(batch, part) for part in (batch, *known.parts)]
    grown = Sweep(blocks, ends, task, known.axes).run(grown, pool, amount, (place, line))
    return Joined(batch, grown, place, line)


def near_in_parts(coords: F64, parts: tuple[Part, ...], n_wanted: int, pool: WorkerPool) -> I32:
    """Return the numbers of near neighbours of new points in all parts, -1 where there are too few."""
    n = len(coords)
    neighbors = np.full((n, n_wanted), -1, np.int32)
    best = np.full((n, n_wanted), np.inf, np.float32)
    size = max(1, -(-n // (4 * pool.n_threads)))
    pieces = [(first, min(first + size, n)) for first in range(0, n, size)]

    def search(first: int, last: int) -> None:
        offset = 0
        for part in parts:
            side = part.tiled.side
            near_in_side(first, last, coords, side, part.flat_centers, NEAR_TILES, offset, best, neighbors)
            offset += len(side.hashes)

    pool.run(search, pieces)
    offset, found = 0, np.full_like(neighbors, -1)
    for part in parts:
        n = len(part.tiled.side.hashes)
        is_here = (neighbors >= offset) & (neighbors < offset + n)
        found[is_here] = part.first_copies(neighbors[is_here] - offset)
        offset += n
    return found


def edges_in_sites(sites: I64, ends: Ends, n_old: int, task: Task) -> tuple[I32, I32]:
    """Return the forests inside those sites of identical rows that have new ones."""
    has_new = np.zeros(int(sites.max()) + 1, np.bool_)
    has_new[sites[n_old:]] = True
    members = np.flatnonzero(has_new.take(sites))
    if len(members) == np.count_nonzero(has_new):
        return np.empty(0, np.int32), np.empty(0, np.int32)
    members = members[np.argsort(ends.ranks.take(members))]
    own = sites.take(members)
    starts = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1], [True])))
    u, v = site_forests(starts, task.n_trees)
    return members.take(u).astype(np.int32), members.take(v).astype(np.int32)


def carry(
    points: Points, axes: Axes, parts: list[Part], place: I32, line: Line, pool: WorkerPool
) -> tuple[Axes, tuple[Part, ...]]:
    """Join parts into one as long as the last is no smaller than the one before, or small at all."""
    n_joined = 1
    size = parts[-1].tiled.n_copies
    while n_joined < len(parts) and parts[-n_joined - 1].tiled.n_copies <= max(size, FEW_POINTS):
        n_joined += 1
        size += parts[-n_joined].tiled.n_copies
    if n_joined == 1:
        return axes, tuple(parts)
    joined = parts[-n_joined:]
    rows = by_rank(points, np.concatenate([part.tiled.copy_rows for part in joined]))
    if n_joined == len(parts):
        axes = choose_axes(points, plan.current().projection)
    number_of_row = np.empty(len(points.order), np.int32)
    for part in joined:
        number_of_row[part.tiled.copy_rows] = part.numbers(np.arange(part.tiled.n_copies))
    tiled = tile_points(points, rows, axes, pool)
    if axes.n_axes > 3 and tiled.side.height > 0:
        own_place = place.take(number_of_row.take(tiled.copy_rows))
        if tiles_are_mixed(looks_far(tiled.side, own_place, line, pool)):
            tiled = tile_along(points, tiled, own_place, axes, pool)
    return axes, (*parts[:-n_joined], Part(tiled, number=number_of_row.take(tiled.copy_rows)))
