"""One sweep for all: blocks of distances held against the last tree so far, by the CPU's kernels or a device.

::

    forests so far ──last_line──▶ line ──draw_bounds──▶ bounds of every part
          ▲                                                │
          └──settle◀── survivors ◀──backend, chunk by chunk┘     until no chunk is left

A backend takes chunks of distances and yields the edges that may still enter. When more have come in than are worth
waiting for, the forests are settled and the sweep resumes with closer bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F32, I32, Edges, ForestEdges
from bayesfloor.forest.order.bottleneck_kernels import tree_line
from bayesfloor.forest.order.edges import Ends, Task, settle
from bayesfloor.forest.order.kruskal_kernels import saturation_size
from bayesfloor.forest.sweep.bound_kernels import (
    bound_nodes,
    bound_tiles,
    empty_bounds,
    hop_table,
    point_places,
    rank_nodes,
)
from bayesfloor.forest.sweep.records import Bounds, Hops, Line, Side, Work
from bayesfloor.forest.sweep.tile_kernels import BACKWARD, FORWARD, WITHIN, sweep_leaves
from bayesfloor.forest.sweep.tiling import Axes, Tiled, new_work
from bayesfloor.runtime.threads import WorkerPool

# Minimum number of distances in a chunk: a few milliseconds of work.
SMALL_CHUNK = 1 << 20
# Cost of bounding one point, in distances.
LOOK_UPS = 50
# An empty array of near neighbours.
NOTHING_KNOWN: I32 = np.empty((0, 1), np.int32)


def last_line(ends: Ends, task: Task, grown: ForestEdges, scale: float) -> tuple[I32, Line]:
    """Write the last tree as a line: the place of each point, and the edges between."""
    place, *line = tree_line(len(ends), *grown, task.n_trees - 1, scale, ends.hashes, task.key)
    return place, Line(*line)


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the points in tiles, and the number of each copy among all points.

    Copies are numbered from `first` on as they come, unless `number` says otherwise.
    """

    tiled: Tiled
    first: int = 0
    number: I32 | None = None

    @cached_property
    def most_copies(self) -> int:
        """Copies of the point that has most."""
        return int(np.diff(self.tiled.side.copy_start).max())

    @cached_property
    def flat_centers(self) -> F32:
        """The tiles' centres, axis by axis."""
        return np.ascontiguousarray(self.tiled.side.centers.T.astype(np.float32)).ravel()

    def numbers(self, copies: np.ndarray) -> I32:
        """Return the numbers of copies."""
        if self.number is None:
            return copies.astype(np.int32) + np.int32(self.first)
        return self.number.take(copies)

    def shifted(self, by: int) -> Part:
        """Return the same part with higher numbers."""
        number = None if self.number is None else self.number + np.int32(by)
        return replace(self, first=self.first + by, number=number)

    def first_copies(self, points: np.ndarray) -> I32:
        """Return the numbers of points' first copies."""
        return self.numbers(self.tiled.side.copy_start.take(points))

    def draw_bounds(self, place: I32, line: Line, bounds: Bounds, choose: bool, pool: WorkerPool) -> None:
        """Say how far every point, tile and node has to look; `choose` also chooses the tiles' representatives."""
        side, first = self.tiled.side, self.first
        if self.number is not None:
            place, first = place.take(self.number), 0
        point_places(place, side.copy_start, first, bounds.place_low, bounds.place_high)
        shares = cut_tiles(side, pool.n_threads, LOOK_UPS)
        pool.run(bound_tiles, [(*share, side, line, bounds, choose) for share in shares])
        bound_nodes(side, bounds)
        # one copy of each representative, always the same: bounds drawn anew must not be wider
        bounds.rank_low[len(bounds.representative) :] = place.take(first + side.copy_start.take(bounds.representative))


class Chunk(NamedTuple):
    """A piece of a block of distances: first..last of one side against other_first..other_last of the other.

    The kernels for the CPU count tiles, a device counts points. `kind` says which side is the one.
    """

    block: int
    kind: int
    first: int
    last: int
    other_first: int
    other_last: int


def cut_tiles(side: Side, n_threads: int, n_others: int) -> list[tuple[int, int]]:
    """Cut a side's tiles into (first, last): enough to share out evenly, not so many that their number costs time.

    n_others is how many points each point may be compared with.
    """
    n_leaves = 1 << side.height
    per_leaf = max(1, len(side.hashes) * n_others // n_leaves)
    size = min(max(1, n_leaves // (16 * n_threads), SMALL_CHUNK // per_leaf), n_leaves)
    return [(first, min(first + size, n_leaves)) for first in range(0, n_leaves, size)]


class Survivors:
    """Edges that several threads find."""

    def __init__(self) -> None:
        self.edges: list[Edges] = []
        self.count = 0  # about: threads count at the same time

    def add(self, edges: Edges) -> None:
        """Keep edges."""
        self.edges.append(edges)
        self.count += len(edges.u)


class Device(Protocol):
    """Where forests are grown, if not by the kernels for the CPU."""

    def look_around(self, sets: list[Tiled], n_trees: int) -> None:
        """Find the near neighbours of all points of some sets, in their own set and in each of the others."""

    def grow(self, tiled: Tiled, task: Task, pool: WorkerPool, amount: int) -> ForestEdges:
        """Return the exact forests of one set of points, numbered as copies."""

    def join(
        self, a: Tiled, b: Tiled, known: ForestEdges, ends: Ends, coinciding: list[Edges], task: Task, pool: WorkerPool,
        amount: int,
    ) -> ForestEdges:  # fmt: skip
        """Return the forests of two sets together, given what their own forests keep."""


def device_for(task: Task, n_distances: int) -> Device | None:
    """Return the device of a task for a block of so many distances; None where the CPU does it."""
    device: Device | None = task.device
    return device if n_distances >= plan.current().device_pairs else None


class Sweep:
    """One sweep over blocks of distances, resumed with closer bounds when too many edges survive.

    A block has two sides; a block of a part with itself is swept within. All blocks share one line of points, the last
    tree so far, and are settled together. So a whole set is the block [(part, part)], a pair of classes [(one, other)],
    and a batch of new points [(batch, batch), (batch, old part), ...].

    `known` are near neighbours of each point of a set that is swept within, none of which has copies. Their edges were
    candidates of the forests that the sweep starts from.
    """

    def __init__(self, blocks: list[tuple[Part, Part]], ends: Ends, task: Task, axes: Axes, known: I32 = NOTHING_KNOWN):
        self.blocks, self.ends, self.task, self.axes, self.known = blocks, ends, task, axes, known
        self.parts = list({id(part): part for block in blocks for part in block}.values())
        self.products = plan.current().use_products(axes.n_axes, axes.exact)
        self.bounds = {id(part): empty_bounds(part.tiled.side, self.products) for part in self.parts}
        most_copies = max(part.most_copies for part in self.parts)
        self.saturation = saturation_size(task.n_trees, most_copies + 1)
        self.settings = plan.current()

    def run(
        self, forests: ForestEdges, pool: WorkerPool, amount: int, last: tuple[I32, Line] | None = None
    ) -> ForestEdges:
        """Return the exact forests, given those of a graph on the same points; `last` is their last tree as a line."""
        backend = self.backend(pool.n_threads)
        chunks = deque(backend.chunks())
        share = amount // len(chunks)
        limit = int(self.settings.survivors_per_point * len(self.ends) * self.task.n_trees) + self.settings.buffer_edges
        resumed = False
        while chunks:
            place, line = last or last_line(self.ends, self.task, forests, self.axes.scale)
            for part in self.parts:
                part.draw_bounds(place, line, self.bounds[id(part)], not resumed, pool)
            backend.set_bounds(line, resumed)
            found = Survivors()
            workers = [backend.worker() for _ in range(backend.n_workers)]
            pool.run(work_through, [(worker, chunks, found, limit, pool, share) for worker in workers])
            if found.edges:
                forests = settle(self.ends, self.task, forests, found.edges, pool)
            resumed, last = True, None
        return forests

    def backend(self, n_threads: int) -> TileKernels:
        """Return who works through the chunks."""
        return TileKernels(self, n_threads)


def work_through(
    sweep_chunk: Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]],
    chunks: deque[Chunk],
    found: Survivors,
    limit: int,
    pool: WorkerPool,
    share: int,
) -> None:
    """Take chunks until none is left, or until too much has been found; one thread's part of a sweep."""
    while found.count < limit:
        try:
            chunk = chunks.popleft()
        except IndexError:
            return
        pool.check()
        for edges, rest in sweep_chunk(chunk):
            pool.check()
            found.add(edges)
            if rest is not None and found.count >= limit:
                chunks.appendleft(rest)
                return
        pool.advance(share)


class TileKernels:
    """The kernels for the CPU: chunks are tiles of one side against all tiles of the other."""

    def __init__(self, sweep: Sweep, n_threads: int):
        self.sweep, self.n_workers = sweep, n_threads
        self.hops = Hops(np.zeros((1, 1), np.float32), sweep.known)

    def chunks(self) -> list[Chunk]:
        """Cut all blocks into chunks; two sides look at each other both ways."""
        cut: list[Chunk] = []
        for block, (a, b) in enumerate(self.sweep.blocks):
            ways = [(WITHIN, a, b)] if a is b else [(FORWARD, a, b), (BACKWARD, b, a)]
            for kind, one, other in ways:
                side = other.tiled.side
                for first, last in cut_tiles(one.tiled.side, self.n_workers, len(side.hashes)):
                    cut.append(Chunk(block, kind, first, last, 0, 1 << side.height))
        return cut

    def set_bounds(self, line: Line, resumed: bool) -> None:
        """Take note that the bounds have been drawn anew."""
        self.line, self.resumed = line, resumed
        if self.sweep.products:
            return
        all_bounds = [self.sweep.bounds[id(part)] for part in self.sweep.parts]
        places = np.concatenate([bounds.rank_low[len(bounds.representative) :] for bounds in all_bounds])
        # new points are in tiles of their own and in those of all points, where one of them may represent both
        places, numbers = np.unique(places, return_inverse=True)
        ranks = numbers.astype(np.int32)
        self.hops = self.hops._replace(table=hop_table(places, line))
        for bounds in all_bounds:
            n_leaves = len(bounds.representative)
            rank_nodes(ranks[:n_leaves], bounds.rank_low, bounds.rank_high)
            ranks = ranks[n_leaves:]

    def worker(self) -> Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]]:
        """Return what one thread calls with chunk after chunk, with buffers of its own."""
        sweep, capacity = self.sweep, self.sweep.settings.buffer_edges
        out = [Edges(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity))]
        works: dict[int, Work] = {}

        def sweep_chunk(chunk: Chunk) -> Iterator[tuple[Edges, Chunk | None]]:
            a, b = sweep.blocks[chunk.block]
            if chunk.kind == BACKWARD:
                a, b = b, a
            sides = a.tiled.side, sweep.bounds[id(a)], b.tiled.side, sweep.bounds[id(b)]
            if chunk.block not in works:
                works[chunk.block] = new_work(sides[0], sides[2])
            work = works[chunk.block]
            tile, leaf, pending = chunk.first, chunk.other_first, True
            while tile < chunk.last or pending:
                count, tile, leaf = sweep_leaves(
                    tile,
                    chunk.last,
                    leaf,
                    *sides,
                    self.line,
                    self.hops,
                    sweep.task.key,
                    chunk.kind,
                    self.resumed,
                    sweep.saturation,
                    sweep.products,
                    work,
                    out[0],
                    0,
                )
                pending = work.pending[0] < work.pending[1]
                if pending and count == 0:
                    out[0] = Edges(*(np.empty(2 * len(part), part.dtype) for part in out[0]))
                u, v, d2 = out[0]
                can_stop = tile < chunk.last and not pending
                rest = chunk._replace(first=tile, other_first=leaf) if can_stop else None
                yield Edges(a.numbers(u[:count]), b.numbers(v[:count]), d2[:count].copy()), rest

        return sweep_chunk
