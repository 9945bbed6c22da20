"""The sweep on a device: whole blocks of distances held against bounds; what passes is decided by the CPU's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.forest.gpu.device import DeviceRows, nearest_across, nearest_within
from bayesfloor.forest.order.arrays import I64, Edges
from bayesfloor.forest.order.edges import Task
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.sweep.bounds import tile_gaps
from bayesfloor.forest.sweep.driver import Chunk, Part, Sweep
from bayesfloor.forest.sweep.records import Bounds, Line, Side, Work
from bayesfloor.forest.sweep.tile_kernels import FORWARD, WITHIN, settle_candidates
from bayesfloor.forest.sweep.tiling import Axes
from bayesfloor.runtime.threads import Crew

if TYPE_CHECKING:
    import torch

#: Rounding of a limit in float32.
_UP = 1.0 + 1e-6
#: Candidates that one thread settles before it looks up.
_PORTION = 1 << 14
#: Threads that keep a device busy; each has a block there.
_AT_ONCE = 6


class Half(NamedTuple):
    """One side of a sweep on the device."""

    points: torch.Tensor  # (n, n_features)
    slack: torch.Tensor  # (n,)
    reach: torch.Tensor  # (n,) how far each point looks
    tile: torch.Tensor  # (n,) the tile of each point
    place_low: torch.Tensor
    place_high: torch.Tensor


def tiles_of(side: Side) -> np.ndarray:
    """Return the tile of each point of a side."""
    return np.repeat(np.arange(1 << side.height), np.diff(side.starts))


def cut_block(n_a: int, n_b: int, size: int, within: bool) -> list[tuple[int, int, int, int]]:
    """Cut a block of distances into smaller ones, about square; within one side, those above the diagonal."""
    step = max(1, int(size**0.5))
    step_a = max(1, min(n_a, max(step, size // max(n_b, 1))))
    step_b = max(1, min(n_b, size // step_a))
    return [
        (a, min(a + step_a, n_a), b, min(b + step_b, n_b))
        for a in range(0, n_a, step_a)
        for b in range(0, n_b, step_b)
        if not within or b + step_b > a
    ]


class DeviceKernels:
    """All pairs of points of one block of distances, held against the last tree so far; chunks count points."""

    def __init__(self, sweep: Sweep, device: DeviceRows, n_threads: int):
        (self.block,) = sweep.blocks
        self.sweep, self.device = sweep, device
        self.n_workers = min(n_threads, _AT_ONCE)
        self.a, self.b = (part.tiled.side for part in self.block)
        self.within = self.block[0] is self.block[1]
        self.tiles_a, self.tiles_b = tiles_of(self.a), tiles_of(self.b)

        def rows_of(part: Part) -> tuple[torch.Tensor, torch.Tensor]:
            return device.take(part.tiled.point_rows), device.slack_of(part.tiled.point_rows)

        self.points_a = rows_of(self.block[0])
        self.points_b = self.points_a if self.within else rows_of(self.block[1])

    def chunks(self) -> list[Chunk]:
        """Cut the block into chunks."""
        cut = cut_block(len(self.tiles_a), len(self.tiles_b), self.device.block, self.within)
        return [Chunk(0, WITHIN if self.within else FORWARD, *piece) for piece in cut]

    def set_bounds(self, line: Line, resumed: bool) -> None:
        """Take the bounds of the last tree to the device."""
        self.line = line
        self.bounds_a, self.bounds_b = (self.sweep.bounds[id(part)] for part in self.block)
        send = self.device.send
        gaps = tile_gaps(
            self.bounds_a.node_low, self.bounds_a.node_high, self.bounds_b.node_low, self.bounds_b.node_high, line
        )
        self.between = send(gaps, np.float32)
        self.half_a = self._half(self.points_a, self.tiles_a, self.bounds_a)
        self.half_b = self.half_a if self.within else self._half(self.points_b, self.tiles_b, self.bounds_b)
        self.lengths = send(line.lengths, np.float32)
        self.table, self.logs = send(line.table, np.int32), send(line.logs, np.int64)

    def _half(self, points: tuple[torch.Tensor, torch.Tensor], tiles: np.ndarray, bounds: Bounds) -> Half:
        send = self.device.send
        return Half(
            *points,
            send(bounds.reach, np.float32),
            send(tiles, np.int64),
            send(bounds.place_low, np.int64),
            send(bounds.place_high, np.int64),
        )

    def candidates(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of a chunk that may be near enough."""
        torch = self.device.torch
        a = Half(*(part[chunk.first : chunk.last] for part in self.half_a))
        b = Half(*(part[chunk.other_first : chunk.other_last] for part in self.half_b))
        d2 = self.device.lowered_distances(a.points, b.points)
        slack = a.slack.max() + b.slack.max()
        first_a, first_b = int(self.tiles_a[chunk.first]), int(self.tiles_b[chunk.other_first])
        last_a, last_b = int(self.tiles_a[chunk.last - 1]) + 1, int(self.tiles_b[chunk.other_last - 1]) + 1
        # the largest of three limits, tile by tile as long as possible: what is done for each distance costs time
        of_tiles = self._limit(self.between[first_a:last_a, first_b:last_b], slack).index_select(1, b.tile - first_b)
        of_tiles = torch.maximum(of_tiles, self._limit(b.reach, slack)[None, :])
        limits = of_tiles.index_select(0, a.tile - first_a)
        torch.maximum(limits, self._limit(a.reach, slack)[:, None], out=limits)
        i, j = (d2 <= limits).nonzero(as_tuple=True)
        if self.within:
            above = i + chunk.first < j + chunk.other_first
            i, j = i[above], j[above]
        # now with the heaviest edge between these two points, not their tiles
        low = torch.minimum(a.place_low[i], b.place_low[j])
        high = torch.maximum(a.place_high[i], b.place_high[j])
        level = self.logs[high - low]
        width = self.table.shape[1]
        flat = self.table.reshape(-1)
        edge = torch.maximum(flat[level * width + low], flat[level * width + high - (1 << level)])
        near = d2[i, j] <= self._limit(self.lengths[edge.to(torch.int64)], slack)
        i, j = i[near] + chunk.first, j[near] + chunk.other_first
        return i.to(torch.int32).cpu().numpy(), j.to(torch.int32).cpu().numpy()

    def _in_parts(self, chunk: Chunk, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of a chunk, in parts if it has become too large."""
        a, b = chunk.first, chunk.other_first
        pieces = cut_block(chunk.last - a, chunk.other_last - b, size, within=False)
        parts = [
            chunk._replace(first=a + first, last=a + last, other_first=b + other_first, other_last=b + other_last)
            for first, last, other_first, other_last in pieces
        ]
        found = [self.candidates(part) for part in parts]
        return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])

    def _limit(self, length: torch.Tensor, slack: torch.Tensor) -> torch.Tensor:
        """Return the squared distance within which a pair at most a length apart is found."""
        return (length * _UP + slack) ** 2 * _UP + 1e-35

    def worker(self) -> Callable[[Chunk], Iterator[tuple[Edges, Chunk | None]]]:
        """Return what one thread calls with chunk after chunk: while one decides, the device is busy for another."""
        return self._sweep_chunk

    def _sweep_chunk(self, chunk: Chunk) -> Iterator[tuple[Edges, Chunk | None]]:
        i, j = self.device.in_blocks(lambda size: self._in_parts(chunk, size))
        for at in range(0, len(i), _PORTION):
            for edges in self._settle(i[at : at + _PORTION], j[at : at + _PORTION]):
                yield edges, None

    def _settle(self, i: np.ndarray, j: np.ndarray) -> Iterator[Edges]:
        """Decide candidates in float64, as the kernels for the CPU do."""
        work = empty_work(i, j)
        capacity = self.sweep.settings.buffer_edges
        while work.pending[0] < work.pending[1]:
            before = int(work.pending[0])
            out = Edges(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity))
            count = settle_candidates(
                self.a, self.bounds_a, self.b, self.bounds_b, self.line, self.sweep.task.key, self.sweep.saturation,
                work, out, 0,
            )
            if count:
                one, other = self.block
                yield Edges(one.numbers(out.u[:count]), other.numbers(out.v[:count]), out.d2[:count].copy())
            elif work.pending[0] == before:
                capacity *= 2  # not even one pair of sites fits


def empty_work(i: np.ndarray, j: np.ndarray) -> Work:
    """Return a thread's buffers that hold candidates and nothing else."""
    plane, numbers = np.empty((0, 1), np.float32), np.empty(0, np.float32)
    return Work(
        rows=np.empty((0, 1)),
        points=plane,
        norms=np.empty(0),
        full_points=plane,
        gaps=numbers,
        low=numbers,
        high=numbers,
        chosen=np.empty(0, np.int64),
        limit=numbers,
        column_limit=numbers,
        product=numbers,
        block=plane,
        stack=np.empty(0, np.int64),
        candidate_i=np.ascontiguousarray(i, np.int32),
        candidate_j=np.ascontiguousarray(j, np.int32),
        pending=np.array([0, len(i)], np.int64),
        largest_slack=0.0,
    )


class SweepDevice:
    """The points on a device, as the sweep sees them."""

    def __init__(self, rows: DeviceRows):
        self.rows = rows

    def nearest_within(self, rows: np.ndarray, n_wanted: int) -> I64:
        """Return about the nearest other points of each point of a set, nearest first."""
        return nearest_within(self.rows, rows, n_wanted)

    def nearest_across(self, rows_a: np.ndarray, rows_b: np.ndarray) -> tuple[I64, I64]:
        """Return, for each point of two sets, about the nearest of the other set."""
        return nearest_across(self.rows, rows_a, rows_b)

    def backend(self, sweep: Sweep, n_threads: int) -> DeviceKernels:
        """Return who works through the chunks of a sweep."""
        return DeviceKernels(sweep, self.rows, n_threads)


def with_device(task: Task, points: Points, axes: Axes, device: Any, crew: Crew, tensor: Any = None) -> Task:
    """Return the same task with the points on a device; None is the CPU."""
    if device is None:
        return task
    at_hand = tensor if points.exponent == 0 else None
    return replace(task, device=SweepDevice(DeviceRows(points.X, axes.center, axes.scale, device, crew, at_hand)))
