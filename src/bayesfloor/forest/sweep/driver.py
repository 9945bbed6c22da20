"""One sweep for all on the CPU: a block of distances held against the last tree so far.

::

    forests so far ──last_line──▶ line ──draw_bounds──▶ bounds of every part
          ▲                                                │
          └──settle◀── survivors ◀──kernels, chunk by chunk┘     until no chunk is left

Each thread takes chunks of distances and yields the edges that may still enter. When more have come in than are worth
waiting for, the forests are settled and the sweep resumes with closer bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import I32, Edges, ForestEdges
from bayesfloor.forest.order.bottleneck_kernels import tree_line
from bayesfloor.forest.order.edges import Ends, Task, empty_edges, settle
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
    """Some of the points in tiles; their copies are numbered from `first` on among all points."""

    tiled: Tiled
    first: int = 0

    @cached_property
    def most_copies(self) -> int:
        """Copies of the point that has most."""
        return int(np.diff(self.tiled.side.copy_start).max())

    def numbers(self, copies: np.ndarray) -> I32:
        """Return the numbers of copies."""
        return copies.astype(np.int32) + np.int32(self.first)

    def draw_bounds(self, place: I32, line: Line, bounds: Bounds, choose: bool, pool: WorkerPool) -> None:
        """Say how far every point, tile and node has to look; `choose` also chooses the tiles' representatives."""
        side, first = self.tiled.side, self.first
        point_places(place, side.copy_start, first, bounds.place_low, bounds.place_high)
        shares = cut_tiles(side, pool.n_threads, LOOK_UPS)
        pool.run(bound_tiles, [(*share, side, line, bounds, choose) for share in shares])
        bound_nodes(side, bounds)
        # one copy of each representative, always the same: bounds drawn anew must not be wider
        bounds.rank_low[len(bounds.representative) :] = place.take(first + side.copy_start.take(bounds.representative))


class Chunk(NamedTuple):
    """A piece of a sweep: tiles first..last of one side against all of the other; `kind` says which is which."""

    kind: int
    first: int
    last: int
    other_first: int = 0  # tile of the other side to go on with


def cut_tiles(side: Side, n_threads: int, n_others: int) -> list[tuple[int, int]]:
    """Cut a side's tiles into (first, last): enough to share out evenly, not so many that their number costs time.

    n_others is how many points each point may be compared with.
    """
    n_leaves = 1 << side.height
    per_leaf = max(1, len(side.hashes) * n_others // n_leaves)
    size = min(max(1, n_leaves // (16 * n_threads), SMALL_CHUNK // per_leaf), n_leaves)
    return [(first, min(first + size, n_leaves)) for first in range(0, n_leaves, size)]


#: Takes a chunk; yields edges, and what is left of the chunk where it can be left for later.
SweepChunk = Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]]


class Survivors:
    """Edges that several threads find."""

    def __init__(self) -> None:
        self.edges: list[Edges] = []
        self.count = 0  # about: threads count at the same time

    def add(self, edges: Edges) -> None:
        """Keep edges."""
        self.edges.append(edges)
        self.count += len(edges.u)


def device_for(task: Task, n_distances: int) -> Any:
    """Return the device of a task for a block of so many distances; None where the CPU does it."""
    return task.device if n_distances >= plan.current().device_pairs else None


class Sweep:
    """One sweep over a block of distances, resumed with closer bounds when too many edges survive.

    A block has two sides: those of a pair of classes, or one part twice, which is swept within: a whole set. Both share
    one line of points, the last tree so far.

    `known` are near neighbours of each point of a set that is swept within, none of which has copies. Their edges were
    candidates of the forests that the sweep starts from.
    """

    def __init__(self, a: Part, b: Part, ends: Ends, task: Task, axes: Axes, known: I32 = NOTHING_KNOWN):
        self.a, self.b, self.ends, self.task, self.axes, self.known = a, b, ends, task, axes, known
        self.parts = [a] if a is b else [a, b]
        self.products = plan.current().use_products(axes.n_axes, axes.exact)
        self.bounds = {id(part): empty_bounds(part.tiled.side, self.products) for part in self.parts}
        most_copies = max(part.most_copies for part in self.parts)
        self.saturation = saturation_size(task.n_trees, most_copies + 1)
        self.settings = plan.current()

    def run(
        self, forests: ForestEdges, pool: WorkerPool, amount: int, last: tuple[I32, Line] | None = None
    ) -> ForestEdges:
        """Return the exact forests, given those of a graph on the same points; `last` is their last tree as a line."""
        chunks = deque(self.chunks(pool.n_threads))
        share = amount // len(chunks)
        limit = int(self.settings.survivors_per_point * len(self.ends) * self.task.n_trees) + self.settings.buffer_edges
        resumed = False
        while chunks:
            place, line = last or last_line(self.ends, self.task, forests, self.axes.scale)
            for part in self.parts:
                part.draw_bounds(place, line, self.bounds[id(part)], not resumed, pool)
            hops, found = self.hops(line), Survivors()
            workers = [self.worker(line, hops, resumed) for _ in range(pool.n_threads)]
            pool.run(work_through, [(worker, chunks, found, limit, pool, share) for worker in workers])
            if found.edges:
                forests = settle(self.ends, self.task, forests, found.edges, pool)
            resumed, last = True, None
        return forests

    def chunks(self, n_threads: int) -> list[Chunk]:
        """Cut the block into chunks; two sides look at each other both ways."""
        a, b = self.a, self.b
        cut: list[Chunk] = []
        ways = [(WITHIN, a, b)] if a is b else [(FORWARD, a, b), (BACKWARD, b, a)]
        for kind, one, other in ways:
            tiles = cut_tiles(one.tiled.side, n_threads, len(other.tiled.side.hashes))
            cut += [Chunk(kind, first, last) for first, last in tiles]
        return cut

    def hops(self, line: Line) -> Hops:
        """Rank the representatives of all tiles along the line, and measure the hops from one to the next."""
        if self.products:
            return Hops(np.zeros((1, 1), np.float32), self.known)
        all_bounds = [self.bounds[id(part)] for part in self.parts]
        places = np.concatenate([bounds.rank_low[len(bounds.representative) :] for bounds in all_bounds])
        places, numbers = np.unique(places, return_inverse=True)
        ranks = numbers.astype(np.int32)
        for bounds in all_bounds:
            n_leaves = len(bounds.representative)
            rank_nodes(ranks[:n_leaves], bounds.rank_low, bounds.rank_high)
            ranks = ranks[n_leaves:]
        return Hops(hop_table(places, line), self.known)

    def worker(self, line: Line, hops: Hops, resumed: bool) -> SweepChunk:
        """Return what one thread calls with chunk after chunk, with buffers of its own."""
        out, work = [empty_edges(self.settings.buffer_edges)], new_work(self.a.tiled.side, self.b.tiled.side)

        def sweep_chunk(chunk: Chunk) -> Iterator[tuple[Edges, Chunk | None]]:
            a, b = (self.b, self.a) if chunk.kind == BACKWARD else (self.a, self.b)
            sides = a.tiled.side, self.bounds[id(a)], b.tiled.side, self.bounds[id(b)]
            how = line, hops, self.task.key, chunk.kind, resumed, self.saturation, self.products
            for edges, rest in in_steps(chunk, sweep_leaves, (*sides, *how), work, out):
                yield Edges(a.numbers(edges.u), b.numbers(edges.v), edges.d2.copy()), rest

        return sweep_chunk


def in_steps(
    chunk: Chunk, kernel: Callable[..., tuple[int, int, int]], arguments: tuple[Any, ...], work: Work, out: list[Edges]
) -> Iterator[tuple[Edges, Chunk | None]]:
    """Yield what a kernel writes to `out` until a chunk is done, and what is left of it where that can wait."""
    tile, leaf, pending = chunk.first, chunk.other_first, True
    while tile < chunk.last or pending:
        count, tile, leaf = kernel(tile, chunk.last, leaf, *arguments, work, out[0])
        pending = bool(work.pending[0] < work.pending[1])
        if pending and count == 0:
            out[0] = empty_edges(2 * len(out[0].u))
        u, v, d2 = out[0]
        can_wait = tile < chunk.last and not pending
        yield (
            Edges(u[:count], v[:count], d2[:count]),
            chunk._replace(first=tile, other_first=leaf) if can_wait else None,
        )


def work_through(
    sweep_chunk: SweepChunk,
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
