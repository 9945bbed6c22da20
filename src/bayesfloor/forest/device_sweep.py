"""The sweep on a device: whole blocks of distances held against bounds; what passes is decided by the CPU's kernels."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.bottleneck import tile_gaps
from bayesfloor.forest.device import DeviceRows
from bayesfloor.forest.sides import Bounds, Edges, Line, Side, Work
from bayesfloor.forest.sweep_kernels import settle_candidates
from bayesfloor.forest.threads import Crew

if TYPE_CHECKING:
    import torch

    from bayesfloor.forest.engine import Task
    from bayesfloor.forest.tiling import Tiled

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


class Block(NamedTuple):
    """Points first_a..last_a of one side against first_b..last_b of the other."""

    first_a: int
    last_a: int
    first_b: int
    last_b: int


def point_rows(tiled: Tiled) -> np.ndarray:
    """Return the row of each point of a side."""
    return tiled.copy_rows[tiled.side.copy_start[:-1]]


def tiles_of(side: Side) -> np.ndarray:
    """Return the tile of each point of a side."""
    return np.repeat(np.arange(1 << side.height), np.diff(side.starts))


def cut_blocks(n_a: int, n_b: int, size: int, within: bool) -> list[Block]:
    """Cut a block of distances into smaller ones, about square; within one side, those above the diagonal."""
    step = max(1, int(size**0.5))
    step_a = max(1, min(n_a, max(step, size // max(n_b, 1))))
    step_b = max(1, min(n_b, size // step_a))
    return [
        Block(a, min(a + step_a, n_a), b, min(b + step_b, n_b))
        for a in range(0, n_a, step_a)
        for b in range(0, n_b, step_b)
        if not within or b + step_b > a
    ]


class DeviceSweep:
    """All pairs of points of two sides, or within one, held against the last tree so far."""

    def __init__(self, a: Tiled, b: Tiled, task: Task, device: DeviceRows, saturation: int):
        self.a, self.b, self.task, self.device = a, b, task, device
        self.within = a is b
        self.saturation = saturation
        self.points_a, self.slack_a = device.take(point_rows(a)), device.slack_of(point_rows(a))
        if self.within:
            self.points_b, self.slack_b = self.points_a, self.slack_a
        else:
            self.points_b, self.slack_b = device.take(point_rows(b)), device.slack_of(point_rows(b))

    def blocks(self) -> list[Block]:
        """Return the blocks to sweep."""
        n_a, n_b = len(self.points_a), len(self.points_b)
        return cut_blocks(n_a, n_b, self.device.block, self.within)

    def set_bounds(self, bounds_a: Bounds, bounds_b: Bounds, line: Line) -> None:
        """Take the bounds of the last tree to the device."""
        self.bounds_a, self.bounds_b, self.line = bounds_a, bounds_b, line
        send = self.device.send
        gaps = tile_gaps(bounds_a.node_low, bounds_a.node_high, bounds_b.node_low, bounds_b.node_high, line)
        self.between = send(gaps, np.float32)
        self.half_a = self._half(self.a.side, bounds_a, self.points_a, self.slack_a)
        self.half_b = self.half_a
        if not self.within:
            self.half_b = self._half(self.b.side, bounds_b, self.points_b, self.slack_b)
        self.tiles_a, self.tiles_b = tiles_of(self.a.side), tiles_of(self.b.side)
        self.lengths = send(line.lengths, np.float32)
        self.table, self.logs = send(line.table, np.int32), send(line.logs, np.int64)

    def _half(self, side: Side, bounds: Bounds, points: torch.Tensor, slack: torch.Tensor) -> Half:
        send = self.device.send
        return Half(
            points,
            slack,
            send(bounds.reach, np.float32),
            send(tiles_of(side), np.int64),
            send(bounds.place_low, np.int64),
            send(bounds.place_high, np.int64),
        )

    def candidates(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of a block that may be near enough."""
        torch = self.device.torch
        a = Half(*(part[block.first_a : block.last_a] for part in self.half_a))
        b = Half(*(part[block.first_b : block.last_b] for part in self.half_b))
        d2 = self.device.lowered_distances(a.points, b.points)
        slack = a.slack.max() + b.slack.max()
        first_a, first_b = int(self.tiles_a[block.first_a]), int(self.tiles_b[block.first_b])
        last_a, last_b = int(self.tiles_a[block.last_a - 1]) + 1, int(self.tiles_b[block.last_b - 1]) + 1
        # the largest of three limits, tile by tile as long as possible: what is done for each distance costs time
        of_tiles = self._limit(self.between[first_a:last_a, first_b:last_b], slack).index_select(1, b.tile - first_b)
        of_tiles = torch.maximum(of_tiles, self._limit(b.reach, slack)[None, :])
        limits = of_tiles.index_select(0, a.tile - first_a)
        torch.maximum(limits, self._limit(a.reach, slack)[:, None], out=limits)
        i, j = (d2 <= limits).nonzero(as_tuple=True)
        if self.within:
            above = i + block.first_a < j + block.first_b
            i, j = i[above], j[above]
        # now with the heaviest edge between these two points, not their tiles
        low = torch.minimum(a.place_low[i], b.place_low[j])
        high = torch.maximum(a.place_high[i], b.place_high[j])
        level = self.logs[high - low]
        width = self.table.shape[1]
        flat = self.table.reshape(-1)
        edge = torch.maximum(flat[level * width + low], flat[level * width + high - (1 << level)])
        near = d2[i, j] <= self._limit(self.lengths[edge.to(torch.int64)], slack)
        i, j = i[near] + block.first_a, j[near] + block.first_b
        return i.to(torch.int32).cpu().numpy(), j.to(torch.int32).cpu().numpy()

    def _in_parts(self, block: Block, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of a block, in parts if it has become too large."""
        n_a, n_b = block.last_a - block.first_a, block.last_b - block.first_b
        parts = [Block(block.first_a + a, block.first_a + last_a, block.first_b + b, block.first_b + last_b)
                 for a, last_a, b, last_b in cut_blocks(n_a, n_b, size, within=False)]
        found = [self.candidates(part) for part in parts]
        return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])

    def _limit(self, length: torch.Tensor, slack: torch.Tensor) -> torch.Tensor:
        """Return the squared distance within which a pair at most a length apart is found."""
        return (length * _UP + slack) ** 2 * _UP + 1e-35

    def work_through(self, blocks: deque[Block], found: list[Edges], limit: int, crew: Crew, share: int) -> None:
        """Take blocks until none is left, or until too much has been found.

        A few threads do so at once: while one decides, the device is busy for another.
        """
        n_found = 0

        def work() -> None:
            nonlocal n_found
            while n_found < limit:  # about: others count at the same time
                try:
                    block = blocks.popleft()
                except IndexError:
                    return
                crew.check()
                i, j = self.device.in_blocks(lambda size: self._in_parts(block, size))  # noqa: B023 - called at once
                for at in range(0, len(i), _PORTION):
                    crew.check()
                    edges = self._settle(i[at : at + _PORTION], j[at : at + _PORTION])
                    found.extend(edges)
                    n_found += sum(len(part.u) for part in edges)
                crew.advance(share)

        crew.run(work, [()] * min(crew.n_threads, _AT_ONCE))

    def _settle(self, i: np.ndarray, j: np.ndarray) -> list[Edges]:
        work = empty_work(i, j)
        room = plan.current().buffer_edges
        found = []
        while work.pending[0] < work.pending[1]:
            before = int(work.pending[0])
            out = Edges(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room))
            count = settle_candidates(
                self.a.side, self.bounds_a, self.b.side, self.bounds_b, self.line, self.task.key, self.saturation,
                work, out, 0,
            )
            if count:
                v = out.v[:count] if self.within else out.v[:count] + np.int32(self.a.n_copies)
                found.append(Edges(out.u[:count].copy(), v.copy(), out.d2[:count].copy()))
            elif work.pending[0] == before:
                room *= 2  # not even one pair of sites fits
        return found


def empty_work(i: np.ndarray, j: np.ndarray) -> Work:
    """Return a thread's room that holds candidates and nothing else."""
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
