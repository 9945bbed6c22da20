"""Seed, sweep, settle: the exact forests of one set of points, and of two sets joined."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.blocks import edge_lengths
from bayesfloor.forest.bottleneck import (
    bound_nodes,
    bound_tiles,
    point_places,
    tree_line,
)
from bayesfloor.forest.copies import copy_edges, lengths_of
from bayesfloor.forest.device import DeviceRows, nearest_within
from bayesfloor.forest.device_sweep import DeviceSweep, point_rows
from bayesfloor.forest.hashing import seed_key
from bayesfloor.forest.kruskal import (
    component_labels,
    kruskal_forests,
    merge_edges,
    order_edges,
    saturation_size,
    site_forests,
)
from bayesfloor.forest.points import Points
from bayesfloor.forest.seed_kernels import chain_edges, near_neighbors, neighbor_edges, sample_trees
from bayesfloor.forest.sides import F64, I32, U64, Bounds, Edges, Line, Side
from bayesfloor.forest.sweep_kernels import BACKWARD, FORWARD, WITHIN, sweep_leaves
from bayesfloor.forest.threads import Crew
from bayesfloor.forest.tiling import Axes, Tiled, new_work, tile_along

REPAIRS = 4  # rounds of joining what the seed left apart; what is still apart then is found by the sweep
MIXED = 3.5  # times the usual length: edges that lead from one cluster to the next
SMALL_CHUNK = 1 << 20  # distances: a few milliseconds' work
LOOK_UPS = 50  # what bounding a point costs, in distances
SAMPLE = 1024  # points whose trees join far clusters


class Grown(NamedTuple):
    """Edges of the forests of some numbered points, in the strict order."""

    u: I32
    v: I32
    d2: F64
    tree: I32


@dataclass(frozen=True)
class Task:
    """What is asked for: how many trees, how ties are broken, and where distances are computed."""

    n_trees: int
    n_trees_asked: int
    key: np.uint64
    device: DeviceRows | None = None

    @classmethod
    def of(cls, n_trees: int, seed: int, n_points: int) -> Task:
        """Return the task for a seed.

        A point with an edge in a tree has one in every tree before, so there are no more trees than a point has edges.
        """
        return cls(min(n_trees, n_points - 1), n_trees, np.uint64(seed_key(np.uint64(seed))))

    def on(self, points: Points, axes: Axes, device: Any, crew: Crew, tensor: Any = None) -> Task:
        """Return the same task with the points on a device; None is the CPU."""
        if device is None:
            return self
        at_hand = tensor if points.exponent == 0 else None
        return replace(self, device=DeviceRows(points.X, axes.center, axes.scale, device, crew, at_hand))

    def on_device(self, n_pairs: int) -> DeviceRows | None:
        """Return the device for a block of so many distances; None where the CPU does it."""
        return self.device if n_pairs >= plan.current().device_pairs else None


@dataclass(frozen=True)
class Ends:
    """What the strict order needs to know of the points that edges join."""

    hashes: U64
    ranks: I32

    def __len__(self) -> int:
        return len(self.hashes)


def settle(ends: Ends, task: Task, kept: Edges | Grown, found: list[Edges]) -> Grown:
    """Run Kruskal's walk over edges that are in order already and new ones that are not."""
    u = np.concatenate([edges.u for edges in found])
    v = np.concatenate([edges.v for edges in found])
    d2 = np.concatenate([edges.d2 for edges in found])
    order = order_edges(u, v, d2, ends.hashes, ends.ranks, task.key)
    return walk(ends, task, merge(ends, task, kept, Edges(u.take(order), v.take(order), d2.take(order))))


def merge(ends: Ends, task: Task, some: Edges | Grown, others: Edges) -> Edges:
    """Merge two lists of edges that are in order."""
    if len(some.u) == 0:
        return others
    return Edges(*merge_edges(some.u, some.v, some.d2, *others, ends.hashes, ends.ranks, task.key))


def walk(ends: Ends, task: Task, edges: Edges) -> Grown:
    """Run Kruskal's walk over edges that are in order."""
    return Grown(*kruskal_forests(len(ends), *edges, task.n_trees))


def no_edges() -> Edges:
    """Return an empty list of edges."""
    return Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


def last_line(ends: Ends, task: Task, grown: Grown, scale: float) -> tuple[I32, Line]:
    """Write the last tree as a line: the place of each point, and the edges between."""
    place, *line = tree_line(len(ends), *grown, task.n_trees - 1, scale, ends.hashes, task.key)
    return place, Line(*line)


def empty_bounds(side: Side) -> Bounds:
    """Return room for bounds."""
    n, n_leaves = len(side.hashes), 1 << side.height
    return Bounds(
        place_low=np.empty(n, np.int32),
        place_high=np.empty(n, np.int32),
        reach=np.empty(n),
        by_reach=np.empty(n, np.int32),
        representative=np.empty(n_leaves, np.int64),
        node_reach=np.empty(2 * n_leaves),
        node_low=np.empty(2 * n_leaves, np.int32),
        node_high=np.empty(2 * n_leaves, np.int32),
    )


def bound_side(side: Side, place: I32, first_copy: int, line: Line, before: Bounds | None, crew: Crew) -> Bounds:
    """Say how far every point, tile and node has to look."""
    bounds = empty_bounds(side)
    if before is not None:
        bounds = bounds._replace(representative=before.representative)
    point_places(place, side.copy_start, first_copy, bounds.place_low, bounds.place_high)
    chunks = cut_chunks(side, WITHIN, crew.n_threads, LOOK_UPS)
    crew.run(bound_tiles, [(chunk.first, chunk.last, side, line, bounds, before is None) for chunk in chunks])
    bound_nodes(side, bounds)
    return bounds


class Chunk(NamedTuple):
    """Tiles first..last of a side to sweep against the other, the first of them from a leaf on."""

    kind: int
    first: int
    last: int
    from_leaf: int = 0


def cut_chunks(side: Side, kind: int, n_threads: int, n_others: int) -> list[Chunk]:
    """Cut a side's tiles into chunks: enough to share out evenly, not so many that their number costs time.

    n_others is how many points each point may be compared with.
    """
    n_leaves = 1 << side.height
    per_leaf = max(1, len(side.hashes) * n_others // n_leaves)
    size = min(max(1, n_leaves // (16 * n_threads), SMALL_CHUNK // per_leaf), n_leaves)
    return [Chunk(kind, first, min(first + size, n_leaves)) for first in range(0, n_leaves, size)]


class Sweep:
    """One sweep between two sides, or within one, resumed with closer bounds when too many edges survive."""

    def __init__(self, a: Tiled, b: Tiled, ends: Ends, task: Task, axes: Axes):
        self.a, self.b = a, b
        self.ends, self.task, self.axes = ends, task, axes
        self.within = a is b
        most_copies = max(int(np.diff(a.side.copy_start).max()), int(np.diff(b.side.copy_start).max()))
        self.saturation = saturation_size(task.n_trees, most_copies + 1)
        self.settings = plan.current()
        self.products = self.settings.use_products(axes.n_axes, axes.exact)

    def run(self, grown: Grown, crew: Crew, amount: int) -> Grown:
        """Return the exact forests, given those of a graph on the same points."""
        n_a, n_b = len(self.a.side.hashes), len(self.b.side.hashes)
        device = self.task.on_device(n_a * n_b)
        if device is not None:
            return self._run_on(device, grown, crew, amount)
        chunks = deque(cut_chunks(self.a.side, WITHIN if self.within else FORWARD, crew.n_threads, n_b))
        if not self.within:
            chunks.extend(cut_chunks(self.b.side, BACKWARD, crew.n_threads, n_a))
        limit = self._limit()
        bounds = None
        resumed = False
        share = amount // len(chunks)
        while chunks:
            line, bounds = self._draw_bounds(grown, bounds, crew)
            found: list[Edges] = []

            arguments = (chunks, found, limit, *bounds, line, resumed, crew, share)
            crew.run(self._work_through, [arguments] * crew.n_threads)
            grown = settle(self.ends, self.task, grown, [no_edges(), *found])
            resumed = True
        return grown

    def _limit(self) -> int:
        """Return how many survivors are enough to settle the trees anew."""
        settings = self.settings
        return int(settings.survivors_per_point * len(self.ends) * self.task.n_trees) + settings.buffer_edges

    def _draw_bounds(
        self, grown: Grown, before: tuple[Bounds, Bounds] | None, crew: Crew
    ) -> tuple[Line, tuple[Bounds, Bounds]]:
        """Write the last tree as a line, and say how far every point of both sides has to look."""
        place, line = last_line(self.ends, self.task, grown, self.axes.scale)
        near = bound_side(self.a.side, place, 0, line, before and before[0], crew)
        if self.within:
            return line, (near, near)
        return line, (near, bound_side(self.b.side, place, self.a.n_copies, line, before and before[1], crew))

    def _run_on(self, device: DeviceRows, grown: Grown, crew: Crew, amount: int) -> Grown:
        """Do the same with blocks of distances from a device."""
        sweep = DeviceSweep(self.a, self.b, self.task, device, self.saturation)
        blocks = deque(sweep.blocks())
        share = amount // len(blocks)
        limit = self._limit()
        bounds = None
        while blocks:
            line, bounds = self._draw_bounds(grown, bounds, crew)
            sweep.set_bounds(*bounds, line)
            found: list[Edges] = []
            sweep.work_through(blocks, found, limit, crew, share)
            grown = settle(self.ends, self.task, grown, [no_edges(), *found])
        return grown

    def _work_through(
        self,
        chunks: deque[Chunk],
        found: list[Edges],
        limit: int,
        bounds_a: Bounds,
        bounds_b: Bounds,
        line: Line,
        resumed: bool,
        crew: Crew,
        share: int,
    ) -> None:
        """Take chunks until none is left, or until too much has been found; one thread's part."""
        room = self.settings.buffer_edges
        out = Edges(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room))
        work = new_work(self.a.side, self.b.side)
        count = 0

        def hand_over(kind: int) -> None:
            u, v = out.u[:count].copy(), out.v[:count].copy()
            if kind == FORWARD:
                v += np.int32(self.a.n_copies)
            elif kind == BACKWARD:
                u += np.int32(self.a.n_copies)
            found.append(Edges(u, v, out.d2[:count].copy()))

        while sum(len(edges.u) for edges in found) < limit:
            try:
                chunk = chunks.popleft()
            except IndexError:
                return
            a, b, near, far = self.a.side, self.b.side, bounds_a, bounds_b
            if chunk.kind == BACKWARD:
                a, b, near, far = b, a, far, near
            tile, leaf = chunk.first, chunk.from_leaf
            while True:
                crew.check()
                count, tile, leaf = sweep_leaves(
                    tile, chunk.last, leaf, a, near, b, far, line, self.task.key, chunk.kind, resumed,
                    self.saturation, self.products, work, out, count,
                )
                pending = work.pending[0] < work.pending[1]
                if count > 0:
                    hand_over(chunk.kind)
                    count = 0
                elif pending:
                    out = Edges(*(np.empty(2 * len(part), part.dtype) for part in out))
                if tile == chunk.last and not pending:
                    crew.advance(share)
                    break
                if not pending and sum(len(edges.u) for edges in found) >= limit:
                    chunks.appendleft(Chunk(chunk.kind, tile, chunk.last, leaf))
                    return


def grow(
    points: Points, tiled: Tiled, task: Task, axes: Axes, crew: Crew, amount: int, light: bool = False
) -> tuple[Tiled, Grown]:
    """Return the exact forests of one set of points, numbered as copies, and the tiles that they ended up in."""
    side = tiled.side
    n = len(side.hashes)
    ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    site_u, site_v = site_forests(side.copy_start, task.n_trees)
    sites = Edges(site_u, site_v, np.zeros(len(site_u)))
    if n <= plan.current().all_pairs_below:
        first, second = np.triu_indices(n, 1)
        edges = copy_edges(tiled, tiled, first, second, task.n_trees)
        return tiled, settle(ends, task, no_edges(), [sites, edges])
    grown = settle(ends, task, no_edges(), [sites, *seed_edges(tiled, task, axes, crew)])
    for _ in range(REPAIRS):
        last = grown.tree == task.n_trees - 1
        if np.count_nonzero(last) == len(ends) - 1:
            break
        labels = component_labels(len(ends), grown.u[last], grown.v[last])
        u, v = chain_edges(labels, 2 * task.n_trees + 4)
        site = np.repeat(np.arange(n), np.diff(side.copy_start))
        grown = settle(ends, task, grown, [Edges(u, v, lengths_of(tiled, tiled, site[u], site[v]))])
    if axes.n_axes > 3:
        place, line = last_line(ends, task, grown, axes.scale)
        if tiles_are_mixed(side, place, line):
            tiled, number = tile_along(points, tiled, place, axes, crew, light)
            grown = Grown(number[grown.u], number[grown.v], grown.d2, grown.tree)
            ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
    return tiled, Sweep(tiled, tiled, ends, task, axes).run(grown, crew, amount)


def tiles_are_mixed(side: Side, place: I32, line: Line) -> bool:
    """Tell whether many points reach their tile's representative only by edges far longer than is usual.

    Their tiles hold parts of several clusters, and would have to look as far as from one cluster to the next. Tiles
    cut along the line of the last tree hold one cluster each.
    """
    bounds = empty_bounds(side)
    point_places(place, side.copy_start, 0, bounds.place_low, bounds.place_high)
    n_leaves = 1 << side.height
    looked_at = range(0, n_leaves, max(1, n_leaves // 64))
    for leaf in looked_at:
        bound_tiles(leaf, leaf + 1, side, line, bounds, True)
    reach = np.concatenate([bounds.reach[side.starts[leaf] : side.starts[leaf + 1]] for leaf in looked_at])
    many_reach = np.sort(reach)[int(0.85 * len(reach))]
    return bool(many_reach > MIXED * line.lengths[len(line.lengths) // 2])


def seed_edges(tiled: Tiled, task: Task, axes: Axes, crew: Crew) -> list[Edges]:
    """Return near neighbours, and the trees of a sample."""
    side = tiled.side
    n = len(side.hashes)
    device = task.on_device(n * n)
    if device is None:
        near = neighbors_of(tiled, tiled, 2 * task.n_trees + 2, crew)
    else:
        near = nearest_within(device, point_rows(tiled), 2 * task.n_trees + 2).astype(np.int32)
    u, v = neighbor_edges(near)
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int64))
    coordinates = axes.coordinates(side.rows[sample])[0].astype(np.float32)
    sample_u, sample_v = sample_trees(coordinates, task.n_trees)
    u = np.concatenate((u, sample[sample_u].astype(np.int32)))
    v = np.concatenate((v, sample[sample_v].astype(np.int32)))
    d2 = np.empty(len(u))
    shares = crew.shares(len(u))
    crew.run(edge_lengths, [(side.rows, side.rows, u[a:b], v[a:b], d2[a:b]) for a, b in shares])
    return [Edges(side.copy_start[u].astype(np.int32), side.copy_start[v].astype(np.int32), d2)]


def neighbors_of(a: Tiled, b: Tiled, n_wanted: int, crew: Crew, n_near: int | None = None) -> I32:
    """Return near neighbours in b of the points of a."""
    within = a is b
    n_axes = a.side.centers.shape[1]
    products = plan.current().use_products(n_axes, len(a.side.full) == 0)
    neighbors = np.empty((len(a.side.hashes), min(n_wanted, len(b.side.hashes) - within)), np.int32)
    n_near = plan.current().near_tiles or n_near or (7 if 3 < n_axes <= 20 else 4)

    def search(first: int, last: int) -> None:
        work = new_work(a.side, b.side)
        near_neighbors(first, last, a.side, b.side, within, n_near, products, work, neighbors)

    n_others = min(n_near * len(b.side.hashes) >> b.side.height, len(b.side.hashes))
    chunks = cut_chunks(a.side, WITHIN, crew.n_threads, n_others)
    crew.run(search, [(chunk.first, chunk.last) for chunk in chunks])
    return neighbors
