"""A batch of new points joined to forests that are there: only distances between new points and all others.

F_k(A ∪ B) = F_k(F_k(A) ∪ edges of B and between A and B), so the old points' own distances are never looked at again.
Old points stay in the tiles that they are in. New ones make a part of their own, and parts are joined into larger ones
as a counter carries: each is larger than all after it, and a point is cut into tiles anew about log2(n) times in all.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.blocks import edge_lengths
from bayesfloor.forest.engine import (
    Ends,
    Grown,
    Task,
    bound_side,
    cut_chunks,
    grow,
    last_line,
    neighbors_of,
    tiles_are_mixed,
)
from bayesfloor.forest.extend_kernels import near_in_side
from bayesfloor.forest.kruskal import order_edges, saturation_size, site_forests
from bayesfloor.forest.pair_kernels import walk_with
from bayesfloor.forest.points import Points
from bayesfloor.forest.seed_kernels import neighbor_edges
from bayesfloor.forest.sides import F32, F64, I32, I64, Bounds, Edges, Line, Work
from bayesfloor.forest.sweep_kernels import BACKWARD, FORWARD, WITHIN, sweep_leaves
from bayesfloor.forest.threads import Crew
from bayesfloor.forest.tiling import Axes, Tiled, choose_axes, new_work, tile_along, tile_points

FEW_POINTS = 512  # up to here all forests are grown anew; parts are joined until they have as many
BATCH_TILE = 32  # points to a tile of new points, which lie far apart
NEAR_TILES = 4  # searched in each part for neighbours of a new point
FAR_OUT = 2.0**10  # in scaled coordinates: axes chosen for points so much nearer to each other serve no more


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the points in tiles, and the number of each copy among all points."""

    tiled: Tiled
    number: I32

    @cached_property
    def most_copies(self) -> int:
        """Copies of the point that has most."""
        return int(np.diff(self.tiled.side.copy_start).max())

    @cached_property
    def flat_centers(self) -> F32:
        """The tiles' centres, axis by axis."""
        return np.ascontiguousarray(self.tiled.side.centers.T.astype(np.float32)).ravel()

    def first_copies(self, points: np.ndarray) -> I32:
        """Return the numbers of points' first copies."""
        return self.number.take(self.tiled.side.copy_start.take(points))


@dataclass(frozen=True, eq=False)
class Stock:
    """Numbered points with their forests, ready for more: their rows, and their tiles in parts, largest first."""

    rows: I64  # (n,) row of each number
    axes: Axes
    parts: tuple[Part, ...]
    grown: Grown
    place: I32  # (n,) in the line of a tree in which points of a cluster are together


def ends_of(points: Points, rows: np.ndarray) -> Ends:
    """Return what the strict order needs to know of rows."""
    return Ends(points.hashes.take(rows), points.ranks.take(rows))


def by_rank(points: Points, rows: np.ndarray) -> I32:
    """Sort rows by rank."""
    return points.order.take(np.sort(points.ranks.take(rows)))


def grow_stock(points: Points, rows: I64, task: Task, crew: Crew, amount: int) -> Stock:
    """Grow the forests of some rows from nothing; numbers are places in `rows`, which ascend."""
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, rows), axes, crew)
    tiled, grown = grow(points, tiled, task, axes, crew, amount)
    number = np.searchsorted(rows, tiled.copy_rows).astype(np.int32)
    place = np.empty(len(rows), np.int32)
    place[number] = last_line(Ends(tiled.copy_hashes, tiled.copy_ranks), task, grown, axes.scale)[0]
    grown = grown._replace(u=number.take(grown.u), v=number.take(grown.v))
    return Stock(rows, axes, (Part(tiled, number),), grown, place)


def extend_stock(points: Points, stock: Stock, new_rows: I64, task: Task, crew: Crew, amount: int) -> Stock:
    """Return the forests of the rows of a stock and of new ones, which get the next numbers; all rows ascend."""
    rows = np.concatenate((stock.rows, new_rows))
    if len(stock.rows) < max(len(new_rows), FEW_POINTS):
        return grow_stock(points, rows, task, crew, amount)
    ranked = by_rank(points, new_rows)
    if is_far_out(points, ranked, stock.axes):
        stock = cut_anew(points, stock, crew)
    joined = join_batch(points, stock, new_rows, ranked, task, crew, amount)
    axes, parts = carry(points, stock.axes, [*stock.parts, joined.batch], joined.place, joined.line, crew)
    return Stock(rows, axes, parts, joined.grown, joined.place)


def is_far_out(points: Points, ranked: I32, axes: Axes) -> bool:
    """Tell whether rows lie so far away that the scale of the axes does not suit them."""
    return bool(np.abs((points.X.take(ranked, axis=0) - axes.center) * axes.scale).max() > FAR_OUT)


def cut_anew(points: Points, stock: Stock, crew: Crew) -> Stock:
    """Cut all points of a stock into tiles along axes chosen anew."""
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, stock.rows), axes, crew)
    number = np.searchsorted(stock.rows, tiled.copy_rows).astype(np.int32)
    return replace(stock, axes=axes, parts=(Part(tiled, number),))


class Joined(NamedTuple):
    """A batch in tiles, the forests of all points, and the last tree of the seed as a line."""

    batch: Part
    grown: Grown
    place: I32
    line: Line


def join_batch(
    points: Points, stock: Stock, new_rows: I64, ranked: I32, task: Task, crew: Crew, amount: int
) -> Joined:
    """Join new rows, which get the next numbers and come by rank as well, to a stock."""
    n_old = len(stock.rows)
    rows = np.concatenate((stock.rows, new_rows))
    site = points.sites.take(ranked)
    is_first = np.concatenate(([True], site[1:] != site[:-1]))
    coords = stock.axes.coordinates(points.X.take(ranked[is_first], axis=0))[0]
    neighbors = near_in_parts(coords, stock.parts, task.n_trees + 2, crew)
    # Points whose neighbours are close to each other in the tree make a tile: they are of one cluster.
    order = np.argsort(stock.place.take(neighbors[:, 0]), kind="stable").astype(np.int32)
    settings = plan.current()
    products = settings.use_products(stock.axes.n_axes, stock.axes.exact)
    with plan.override(tile_size=settings.tile_size or (None if products else BATCH_TILE)):
        tiled = tile_points(points, ranked, stock.axes, crew, order)
    batch = Part(tiled, (n_old + np.searchsorted(new_rows, tiled.copy_rows)).astype(np.int32))
    ends = ends_of(points, rows)
    seeds = seed_edges(points, rows, ends, batch, neighbors[order], n_old, task, crew)
    grown = settle(ends, task, stock.grown, [seeds])
    place, line = last_line(ends, task, grown, stock.axes.scale)
    blocks = [(batch, part) for part in (batch, *stock.parts)]
    grown = BlockSweep(blocks, ends, task, stock.axes).run(grown, place, line, crew, amount)
    return Joined(batch, grown, place, line)


def near_in_parts(coords: F64, parts: tuple[Part, ...], n_wanted: int, crew: Crew) -> I32:
    """Return the numbers of near neighbours of new points in all parts, -1 where there are too few."""
    n = len(coords)
    neighbors = np.full((n, n_wanted), -1, np.int32)
    best = np.full((n, n_wanted), np.inf, np.float32)
    size = max(1, -(-n // (4 * crew.n_threads)))
    pieces = [(first, min(first + size, n)) for first in range(0, n, size)]

    def search(first: int, last: int) -> None:
        offset = 0
        for part in parts:
            side = part.tiled.side
            near_in_side(first, last, coords, side, part.flat_centers, NEAR_TILES, offset, best, neighbors)
            offset += len(side.hashes)

    crew.run(search, pieces)
    offset, found = 0, np.full_like(neighbors, -1)
    for part in parts:
        n = len(part.tiled.side.hashes)
        is_here = (neighbors >= offset) & (neighbors < offset + n)
        found[is_here] = part.first_copies(neighbors[is_here] - offset)
        offset += n
    return found


def seed_edges(
    points: Points,
    rows: I64,
    ends: Ends,
    batch: Part,
    neighbors: I32,
    n_old: int,
    task: Task,
    crew: Crew,
) -> Edges:
    """Return edges from new points to near ones, old and new, and those inside sites that have new copies."""
    new, at = np.nonzero(neighbors >= 0)
    u, v = [batch.first_copies(new)], [neighbors[new, at]]
    if len(batch.tiled.side.hashes) > 1:
        near = neighbor_edges(neighbors_of(batch.tiled, batch.tiled, task.n_trees + 2, crew))
        u.append(batch.first_copies(near[0]))
        v.append(batch.first_copies(near[1]))
    site_u, site_v = edges_in_sites(points.sites.take(rows), ends, n_old, task)
    u.append(site_u)
    v.append(site_v)
    all_u, all_v = np.concatenate(u), np.concatenate(v)
    d2 = np.empty(len(all_u))
    edge_lengths(points.X, points.X, rows.take(all_u), rows.take(all_v), d2)
    return Edges(all_u, all_v, d2)


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


def settle(ends: Ends, task: Task, grown: Grown, found: list[Edges]) -> Grown:
    """Run Kruskal's walk over the edges of some forests and over new ones, which are in no order."""
    u, v, d2 = (np.concatenate(field) for field in zip(*found, strict=True))
    order = order_edges(u, v, d2, ends.hashes, ends.ranks, task.key)
    return Grown(*walk_with(len(ends), task.n_trees, *grown, u, v, d2, order, ends.hashes, ends.ranks, task.key))


class Stretch(NamedTuple):
    """Tiles first..last of one side of a block to sweep against the other."""

    kind: int
    block: int
    first: int
    last: int
    from_leaf: int = 0


class BlockSweep:
    """One sweep over several blocks, resumed with closer bounds when too many edges survive.

    What `engine.Sweep` does for two sides; here several blocks share one line, and are settled together. A block of a
    part with itself is swept within.
    """

    def __init__(self, blocks: list[tuple[Part, Part]], ends: Ends, task: Task, axes: Axes):
        self.blocks, self.ends, self.task, self.axes = blocks, ends, task, axes
        self.parts = list({id(part): part for block in blocks for part in block}.values())
        most_copies = max(part.most_copies for part in self.parts)
        self.saturation = saturation_size(task.n_trees, most_copies + 1)
        self.settings = plan.current()
        self.products = self.settings.use_products(axes.n_axes, axes.exact)

    def run(self, grown: Grown, place: I32, line: Line, crew: Crew, amount: int) -> Grown:
        """Return the exact forests, given those of a graph on the same points, the last of them as a line."""
        stretches = deque(self.stretches(crew.n_threads))
        share = amount // len(stretches)
        limit = int(self.settings.survivors_per_point * len(self.ends) * self.task.n_trees) + self.settings.buffer_edges
        bounds: dict[int, Bounds] = {}
        resumed = False
        while stretches:
            if resumed:
                place, line = last_line(self.ends, self.task, grown, self.axes.scale)
            bounds = {
                id(part): bound_side(part.tiled.side, place.take(part.number), 0, line, bounds.get(id(part)), crew)
                for part in self.parts
            }
            found: list[Edges] = []
            arguments = (stretches, found, limit, bounds, line, resumed, crew, share)
            crew.run(self._work_through, [arguments] * crew.n_threads)
            if found:
                grown = settle(self.ends, self.task, grown, found)
            resumed = True
        return grown

    def stretches(self, n_threads: int) -> list[Stretch]:
        """Cut all blocks into stretches of tiles."""
        cut: list[Stretch] = []
        for number, (a, b) in enumerate(self.blocks):
            one, other = a.tiled.side, b.tiled.side
            chunks = cut_chunks(one, WITHIN if a is b else FORWARD, n_threads, len(other.hashes))
            if a is not b:
                chunks += cut_chunks(other, BACKWARD, n_threads, len(one.hashes))
            cut += [Stretch(chunk.kind, number, chunk.first, chunk.last) for chunk in chunks]
        return cut

    def _work_through(
        self,
        stretches: deque[Stretch],
        found: list[Edges],
        limit: int,
        bounds: dict[int, Bounds],
        line: Line,
        resumed: bool,
        crew: Crew,
        share: int,
    ) -> None:
        """Take stretches until none is left, or until too much has been found; one thread's part."""
        room = self.settings.buffer_edges
        out = Edges(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room))
        works: dict[tuple[int, int], Work] = {}
        while sum(len(edges.u) for edges in found) < limit:
            try:
                stretch = stretches.popleft()
            except IndexError:
                return
            a, b = self.blocks[stretch.block]
            if stretch.kind == BACKWARD:
                a, b = b, a
            side, other, near, far = a.tiled.side, b.tiled.side, bounds[id(a)], bounds[id(b)]
            if (stretch.kind, stretch.block) not in works:
                works[stretch.kind, stretch.block] = new_work(side, other)
            work = works[stretch.kind, stretch.block]
            tile, leaf = stretch.first, stretch.from_leaf
            while True:
                crew.check()
                count, tile, leaf = sweep_leaves(
                    tile, stretch.last, leaf, side, near, other, far, line, self.task.key, stretch.kind, resumed,
                    self.saturation, self.products, work, out, 0,
                )
                pending = work.pending[0] < work.pending[1]
                if count > 0:
                    u, v = a.number.take(out.u[:count]), b.number.take(out.v[:count])
                    found.append(Edges(u, v, out.d2[:count].copy()))
                elif pending:
                    out = Edges(*(np.empty(2 * len(part), part.dtype) for part in out))
                if tile == stretch.last and not pending:
                    crew.advance(share)
                    break
                if not pending and sum(len(edges.u) for edges in found) >= limit:
                    stretches.appendleft(stretch._replace(first=tile, from_leaf=leaf))
                    return


def carry(
    points: Points, axes: Axes, parts: list[Part], place: I32, line: Line, crew: Crew
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
        number_of_row[part.tiled.copy_rows] = part.number
    tiled = tile_points(points, rows, axes, crew)
    if axes.n_axes > 3 and tiled.side.height > 0:
        own_place = place.take(number_of_row.take(tiled.copy_rows))
        if tiles_are_mixed(tiled.side, own_place, line):
            tiled, _ = tile_along(points, tiled, own_place, axes, crew)
    return axes, (*parts[:-n_joined], Part(tiled, number_of_row.take(tiled.copy_rows)))
