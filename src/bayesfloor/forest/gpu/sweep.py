"""The sweep on a device: blocks of points in the order of the last tree's line, held against its bounds.

Edges are measured and sorted on the device, and walked here.
"""

from __future__ import annotations

import threading
from collections import deque
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.gpu import torch_kernels
from bayesfloor.forest.gpu.device import DeviceError
from bayesfloor.forest.gpu.rows import ROWS, DeviceLine, DeviceRows, Places, Rounded
from bayesfloor.forest.order.arrays import F32, I32, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, settle
from bayesfloor.forest.order.kruskal_kernels import walk_with
from bayesfloor.forest.sweep.bound_kernels import bound_along
from bayesfloor.forest.sweep.driver import last_line
from bayesfloor.forest.sweep.records import Line
from bayesfloor.forest.sweep.tiling import Tiled, between_copies
from bayesfloor.runtime.threads import WorkerPool

if TYPE_CHECKING:
    import torch

# Blocks of one side in a chunk, and the number of blocks up to which all are one chunk.
CHUNK, ONE_CHUNK = 128, 512
# Maximum number of candidates in a chunk, and the number above which the share that survives matters.
CAPACITY, MANY = 1 << 25, 1 << 20
# Round the points of each chunk around its own middle above this number of candidates per survivor.
IMPRECISE = 16

# Maximum number of threads that use the device at the same time.
AT_ONCE = 2
# Minimum number of edges that are sorted on the device.
MANY_EDGES = 1 << 20


class Found(NamedTuple):
    """Edges on a device, between numbered sites or copies, and the rows that these are."""

    u: torch.Tensor
    v: torch.Tensor
    d2: torch.Tensor
    row_u: torch.Tensor
    row_v: torch.Tensor

    def __len__(self) -> int:
        return len(self.u)

    def edges(self) -> Edges:
        """Fetch the edges."""
        return Edges(*(part.cpu().numpy() for part in (self.u.int(), self.v.int(), self.d2)))


def joined(found: list[Found]) -> Found:
    """Put edges that were found one after the other into one list."""
    import torch

    return Found(*(torch.cat(parts) for parts in zip(*found, strict=True))) if len(found) > 1 else found[0]


class DeviceEdges:
    """Rows on a device, and the edges between them."""

    def __init__(self, rows: DeviceRows, hashes: np.ndarray | None):
        self.rows = rows
        #: Held for a step on the device: many threads at once only get in each other's way.
        self.turn = threading.BoundedSemaphore(AT_ONCE)
        self.kernels: Any = torch_kernels
        if rows.device.type == "cuda" and find_spec("triton") is not None:
            from bayesfloor.forest.gpu import triton_kernels

            self.kernels = triton_kernels
        #: The rows' hashes, with the sign that torch gives them.
        self.hashes: torch.Tensor = (
            self.kernels.hash_rows(rows.exact) if hashes is None else rows.send(hashes.view(np.int64), np.int64)
        )

    def measured(self, a: Tiled, b: Tiled, i: np.ndarray, j: np.ndarray, first: int) -> Found:
        """Measure edges between the first copies of points i of a and j of b, whose copies are numbered from first."""
        send = self.rows.send
        u, v = a.side.copy_start[i], b.side.copy_start[j]
        with self.turn:
            rows = send(a.copy_rows[u], np.int64), send(b.copy_rows[v], np.int64)
            d2 = self.kernels.lengths(self.rows.exact, *rows)
            return Found(send(u, np.int64), send(v + first, np.int64), d2, *rows)

    def settle(
        self, ends: Ends, task: Task, forests: ForestEdges, found: list[Found], others: list[Edges]
    ) -> ForestEdges:
        """Run Kruskal's walk over the edges of some forests and over new ones; many are sorted on the device."""
        n_found = sum(map(len, found))
        others = [edges for edges in others if len(edges.u)]
        if n_found + len(others) == 0:
            return forests
        is_ordered = not others and n_found >= MANY_EDGES
        with self.turn:
            edges, is_ordered = self.ordered(found, task.key) if is_ordered else (joined(found).edges(), False)
        if not is_ordered:
            return settle(ends, task, forests, [*others, edges])
        in_order = np.arange(len(edges.u), dtype=np.int32)
        return ForestEdges(
            *walk_with(len(ends), task.n_trees, *forests, *edges, in_order, ends.hashes, ends.ranks, task.key)
        )

    def ordered(self, found: list[Found], key: np.uint64) -> tuple[Edges, bool]:
        """Sort edges by length and hash; return them, and whether that is the strict order, as without copies."""
        torch = self.rows.torch
        every = joined(found)
        hashes = torch_kernels.edge_hashes(self.hashes, every.row_u, every.row_v, key)
        order = torch.sort(hashes ^ torch_kernels.SIGN, stable=True).indices
        order = order[torch.sort(every.d2[order], stable=True).indices]
        every, hashes = Found(*(part[order] for part in every)), hashes[order]
        same_ends = ((every.u[1:] == every.u[:-1]) & (every.v[1:] == every.v[:-1])) | (
            (every.u[1:] == every.v[:-1]) & (every.v[1:] == every.u[:-1])
        )
        tied = (every.d2[1:] == every.d2[:-1]) & (hashes[1:] == hashes[:-1]) & ~same_ends
        return every.edges(), not bool(tied.any())


class Listed:
    """One side of a sweep: its points in the order of the line, and how far each looks."""

    def __init__(self, device_rows: DeviceRows, tiled: Tiled, first: int, rounded: Rounded):
        self.device_rows, self.tiled, self.first = device_rows, tiled, first
        self.base = rounded
        self.n = len(tiled.side.hashes)
        self.n_blocks = -(-self.n // ROWS)
        self.order: Any = None
        self.listed: Any = None

    def bounds(self, place: I32, line: Line) -> tuple[np.ndarray, ...]:
        """Say how far every point looks, given the last tree; the first time, list the points in its order."""
        n = self.n
        low, high, order = (np.empty(n, np.int32) for _ in range(3))
        reach = np.zeros(self.n_blocks * ROWS, np.float32)
        anchors = np.empty(self.n_blocks, np.int32)
        if self.listed is not None:
            order = self.listed
        start = self.tiled.side.copy_start
        choose = self.listed is None
        bound_along(place, start, self.first, line, choose, ROWS, order, low, high, reach, anchors)
        self.listed = order
        return low, high, reach * np.float32(1.0 + 1e-6), anchors

    def set_bounds(self, low: I32, high: I32, reach: F32, anchors: I32) -> None:
        """Take the bounds to the device, and the first time the points in their order."""
        rows = self.device_rows
        if self.order is None:
            torch = rows.torch
            self.order = rows.send(self.listed, np.int64)
            self.rows = rows.send(self.tiled.point_rows[self.listed], np.int64)
            gathered = Rounded(*(torch.zeros_like(part) for part in self.base))
            gathered.norms.fill_(float("inf"))
            for part, before in zip(gathered, self.base, strict=True):
                torch.index_select(before, 0, self.order, out=part[: self.n])
            self.rounded = gathered
        self.places = Places(self.rows, *(rows.send(places, np.int64) for places in (low, high)))
        self.anchors = rows.send(anchors, np.int64)
        self.reach = rows.send(reach, np.float32)

    def around(self, first: int, last: int, middle: torch.Tensor | None) -> Rounded:
        """Return some blocks, rounded around a middle of their own where there is one."""
        if middle is None:
            return self.rounded.blocks(first, last)
        return self.device_rows.rounded(self.rows[first * ROWS : last * ROWS], middle)


class Chunk(NamedTuple):
    """Some blocks of one side against some of the other."""

    first: int
    last: int
    other_first: int
    other_last: int
    is_part: bool = False  # of one that had too many candidates
    is_again: bool = False  # looked through once, with wider bounds

    def halves(self) -> list[Chunk]:
        """Cut the longer side in two."""
        n, n_other = self.last - self.first, self.other_last - self.other_first
        if n == n_other == 1:
            raise DeviceError("the device has too little memory for two blocks of points")
        part = self._replace(is_part=True, is_again=False)
        if n >= n_other:
            middle = self.first + n // 2
            return [part._replace(last=middle), part._replace(first=middle)]
        middle = self.other_first + n_other // 2
        return [part._replace(other_last=middle), part._replace(other_first=middle)]


class DeviceSweep:
    """One sweep over all pairs of points of a set, or of two sets."""

    def __init__(self, device: DeviceEdges, sides: list[Listed], ends: Ends, task: Task):
        self.device, self.sides, self.ends, self.task = device, sides, ends, task
        self.has_copies = any(side.tiled.n_copies != side.n for side in sides)
        self.is_imprecise = False

    def run(self, forests: ForestEdges, pool: WorkerPool, amount: int) -> ForestEdges:
        """Return the exact forests, given those of a graph on the same points."""
        a, b = self.sides[0], self.sides[-1]
        settings = plan.current()
        limit = int(settings.survivors_per_point * len(self.ends) * self.task.n_trees) + settings.buffer_edges
        step = a.n_blocks if max(a.n_blocks, b.n_blocks) <= ONE_CHUNK else CHUNK
        chunks = deque(
            Chunk(first, min(first + step, a.n_blocks), first if a is b else 0, b.n_blocks)
            for first in range(0, a.n_blocks, step)
        )
        share = amount // len(chunks)
        while chunks:
            place, line = last_line(self.ends, self.task, forests, self.device.rows.scale)
            bounds = [side.bounds(place, line) for side in self.sides]
            with self.device.turn:
                self.line = DeviceLine(line, self.device.rows)
                for side, its_bounds in zip(self.sides, bounds, strict=True):
                    side.set_bounds(*its_bounds)
            found: list[Found] = []
            while chunks and sum(map(len, found)) < limit:
                pool.check()
                chunk = chunks.popleft()
                with self.device.turn:
                    survivors, rest = self.look_through(chunk)
                chunks.extendleft(rest)
                found.append(survivors)
                if any(again.is_again for again in rest):
                    break
                if not chunk.is_part:
                    pool.advance(share)
            forests = self.settle(forests, found)
        return forests

    def look_through(self, chunk: Chunk) -> tuple[Found, list[Chunk]]:
        """Return the edges of a chunk that may enter, and what of it is to be looked through again."""
        torch = self.device.rows.torch
        a, b = self.sides[0], self.sides[-1]
        try:
            middle = None
            if chunk.is_part or self.is_imprecise:
                middle = self.device.rows.middle(a.rows[chunk.first * ROWS : chunk.last * ROWS])
            one, other = a.around(*chunk[:2], middle), b.around(*chunk[2:4], middle)
            anchors, others = a.anchors[chunk.first : chunk.last, None], b.anchors[chunk.other_first : chunk.other_last]
            between = self.line.length(torch.minimum(anchors, others), torch.maximum(anchors, others))
            reach = (
                side.reach[first * ROWS : last * ROWS] for side, first, last in ((a, *chunk[:2]), (b, *chunk[2:4]))
            )
            ahead = chunk.first - chunk.other_first if a is b else None
            i, j, count = self.device.kernels.candidates(one, other, *reach, between, ahead, CAPACITY)
            found = self.survivors(i + chunk.first * ROWS, j + chunk.other_first * ROWS)
        except torch.OutOfMemoryError:
            if self.device.rows.device.type == "cuda":
                torch.cuda.empty_cache()
            return self.nothing(), chunk.halves()
        self.is_imprecise |= count > max(MANY, IMPRECISE * len(found))
        if count <= CAPACITY:
            return found, []
        # Too many: with closer bounds there are fewer, unless it is rounding that lets them pass.
        is_worth_it = not chunk.is_again and IMPRECISE * len(found) > CAPACITY
        return found, [chunk._replace(is_again=True)] if is_worth_it else chunk.halves()

    def survivors(self, i: torch.Tensor, j: torch.Tensor) -> Found:
        """Decide candidates in float64: those that come before the heaviest edge between their ends."""
        device = self.device
        a, b = self.sides[0], self.sides[-1]
        places = a.places, b.places
        i, j, d2 = device.kernels.decide(device.rows.exact, device.hashes, self.task.key, *places, self.line, i, j)
        u, v = a.order[i], b.order[j]
        if not self.has_copies:  # then the number of a point is that of its copy
            u, v = u + a.first, v + b.first
        return Found(u, v, d2, a.rows[i], b.rows[j])

    def nothing(self) -> Found:
        """Return no edge."""
        torch, where = self.device.rows.torch, self.device.rows.device
        none = torch.empty(0, dtype=torch.int64, device=where)
        return Found(none, none, torch.empty(0, dtype=torch.float64, device=where), none, none)

    def settle(self, forests: ForestEdges, found: list[Found]) -> ForestEdges:
        """Settle the forests with edges that were found, between all copies that may have part in them."""
        if not sum(map(len, found)):
            return forests
        if not self.has_copies:
            return self.device.settle(self.ends, self.task, forests, found, [])
        a, b = self.sides[0], self.sides[-1]
        starts = a.tiled.side.copy_start, b.tiled.side.copy_start
        pairs = (each.edges() for each in found)
        edges = [between_copies(*starts, i, j, d2, self.task.n_trees) for i, j, d2 in pairs]
        numbered = [Edges(u + np.int32(a.first), v + np.int32(b.first), d2) for u, v, d2 in edges]
        return settle(self.ends, self.task, forests, numbered)
