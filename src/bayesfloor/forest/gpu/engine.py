"""The forests of points on a device: seeds and sweeps there, Kruskal's walk here.

The steps are those of `sweep`: near neighbours seed the forests, their last tree bounds all further edges, and a sweep
over all pairs finds these. On a device, points come in the order of that tree's line and in blocks of equal size, so
that no tiles are needed. One kernel multiplies the distances of two blocks out, in TF32 and lowered by more than the
error can be, and holds them against the bounds. What passes is measured in float64, feature by feature as the CPU does
it, and held against the heaviest edge between its ends. So the result is the same edge by edge, whatever the device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest.gpu import torch_kernels
from bayesfloor.forest.gpu.device import DeviceError, full_precision
from bayesfloor.forest.gpu.rows import ROWS, DeviceRows, Resident, Rounded
from bayesfloor.forest.gpu.sweep import DeviceEdges, DeviceSweep, Listed
from bayesfloor.forest.order.arrays import F32, F64, I32, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, no_forests
from bayesfloor.forest.order.kruskal_kernels import site_forests
from bayesfloor.forest.order.points import Points, rank_points
from bayesfloor.forest.sweep.grow import chain_components
from bayesfloor.forest.sweep.seed_kernels import neighbor_edges, sample_trees
from bayesfloor.forest.sweep.tiling import Tiled
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.threads import WorkerPool

# Points in the sample whose spanning trees join parts that lie far apart.
SAMPLE = 1024
# Dimensions in which the sample's trees are grown.
FEW_AXES = 64

# Number of slabs of a set; the nearest point of each is kept.
SLABS = 64
# Bytes of near neighbours that are computed at a time.
_PIECE = 1 << 30


class Surroundings(NamedTuple):
    """The near neighbours of a set of points, and the points themselves as they were rounded for the search."""

    own: I32  # (n, how many) nearest first; -1 for none
    others: I32  # (n_sets, n) the nearest in each set
    number_of: dict[int, int]  # of each set
    rounded: Rounded

    def other(self, tiled: Tiled) -> I32:
        """Return the nearest in another set."""
        return self.others[self.number_of[id(tiled)]]


def surroundings(rows: DeviceRows, kernels: Any, sets: list[Tiled], n_wanted: int) -> dict[int, Surroundings]:
    """Search near neighbours of all points of some sets, slab by slab of every set."""
    torch = rows.torch
    rows_of = [rows.send(tiled.point_rows, np.int64) for tiled in sets]
    middle = rows.middle(torch.cat(rows_of))
    every = Rounded(*map(torch.cat, zip(*(rows.rounded(own, middle) for own in rows_of), strict=True)))
    n_blocks = [-(-len(own) // ROWS) for own in rows_of]
    first_block = np.concatenate(([0], np.cumsum(n_blocks)))
    cuts = [
        np.linspace(first, first + count, min(count, SLABS) + 1).astype(np.int32)[:-1]
        for first, count in zip(first_block, n_blocks, strict=False)
    ]
    first_slab = np.concatenate(([0], np.cumsum([len(cut) for cut in cuts])))
    slab_start = rows.send(np.append(np.concatenate(cuts), first_block[-1]), np.int32)
    number_of = {id(tiled): number for number, tiled in enumerate(sets)}
    step = max(1, _PIECE // (8 * ROWS * int(first_slab[-1])))
    found = {}
    for c, tiled in enumerate(sets):
        n = len(rows_of[c])
        own, others = [], []
        rounded = every.blocks(int(first_block[c]), int(first_block[c + 1]))
        for first in range(int(first_block[c]), int(first_block[c + 1]), step):
            last = min(first + step, int(first_block[c + 1]))
            keys, numbers = kernels.nearest(every, slab_start, first, last)
            of_set = [slice(first_slab[s], first_slab[s + 1]) for s in range(len(sets))]
            if n > limits().device_points:
                mine = keys[:, of_set[c]]
                at = mine.topk(min(n_wanted, mine.shape[1]), dim=1, largest=False).indices
                near = numbers[:, of_set[c]].gather(1, at)
                own.append(torch.where(near >= 0, near - int(first_block[c]) * ROWS, -1))
            nearest = [
                numbers[:, some].gather(1, keys[:, some].argmin(dim=1, keepdim=True)).ravel() - int(start) * ROWS
                for some, start in zip(of_set, first_block, strict=False)
            ]
            others.append(torch.stack(nearest))
        if n <= limits().device_points:
            d2 = torch_kernels.squared_distances(rounded, rounded)[:n, :n]
            d2.fill_diagonal_(float("inf"))
            own.append(d2.topk(min(n_wanted, n - 1), dim=1, largest=False).indices)
        found[id(tiled)] = Surroundings(
            torch.cat(own)[:n].to(torch.int32).cpu().numpy(),
            torch.cat(others, dim=1)[:, :n].cpu().numpy(),
            number_of,
            rounded,
        )
    return found


class SweepDevice(DeviceEdges):
    """The points on a device, and the forests that are grown from them."""

    def __init__(self, rows: DeviceRows, hashes: np.ndarray | None):
        super().__init__(rows, hashes)
        self._around: dict[int, Surroundings] = {}

    def look_around(self, sets: list[Tiled], n_trees: int) -> None:
        """Find the near neighbours of all points of some sets, in their own set and in each of the others."""
        with self.memory():
            self._around = surroundings(self.rows, self.kernels, sets, 2 * n_trees + 2)

    def around(self, tiled: Tiled) -> Surroundings:
        """Return the near neighbours of a set that has been looked around in."""
        return self._around[id(tiled)]

    @contextlib.contextmanager
    def memory(self) -> Iterator[None]:
        """Turn torch's error for want of memory into one of ours."""
        try:
            yield
        except self.rows.torch.OutOfMemoryError as error:
            raise DeviceError(f"{self.rows.device} has too little memory: {error}") from error

    def projected(self, rounded: Rounded, sample: np.ndarray) -> F32:
        """Return some points in few dimensions."""
        coordinates = rounded.coordinates.index_select(0, self.rows.send(sample, np.int64))
        if self.rows.width > FEW_AXES:
            directions = np.random.default_rng(0).standard_normal((self.rows.width, FEW_AXES))
            with full_precision():
                coordinates = coordinates @ self.rows.send(directions, np.float32)
        projected: F32 = coordinates.cpu().numpy()
        return projected

    def grow(self, tiled: Tiled, task: Task, pool: WorkerPool, amount: int) -> ForestEdges:
        """Return the exact forests of one set of points, numbered as copies."""
        if id(tiled) not in self._around:
            self.look_around([tiled], task.n_trees)
        with self.memory():
            ends, grown = self.seeded(tiled, task)
            listed = [Listed(self.rows, tiled, 0, self.around(tiled).rounded)]
            return DeviceSweep(self, listed, ends, task).run(grown, pool, amount)

    def seeded(self, tiled: Tiled, task: Task) -> tuple[Ends, ForestEdges]:
        """Return the forests of near neighbours and of a sample, joined as far as that is easy."""
        ends = Ends(tiled.copy_hashes, tiled.copy_ranks)
        start = tiled.side.copy_start
        site_u, site_v = site_forests(start, task.n_trees)
        sites = Edges(site_u, site_v, np.zeros(len(site_u)))
        u, v = neighbor_edges(self.around(tiled).own)
        sample = np.unique(np.linspace(0, len(start) - 2, min(SAMPLE, len(start) - 1)).astype(np.int64))
        with self.turn:
            coordinates = self.projected(self.around(tiled).rounded, sample)
        sample_u, sample_v = sample_trees(coordinates, task.n_trees)
        i, j = np.concatenate((u, sample[sample_u])), np.concatenate((v, sample[sample_v]))
        seeds = self.measured(tiled, tiled, i, j, 0)
        grown = self.settle(ends, task, no_forests(), [seeds], [sites])

        def squared_lengths(u: np.ndarray, v: np.ndarray) -> F64:
            with self.turn:
                rows = (self.rows.send(tiled.copy_rows[copies], np.int64) for copies in (u, v))
                return self.kernels.lengths(self.rows.exact, *rows).cpu().numpy()

        return ends, chain_components(ends, task, grown, squared_lengths)

    def join(
        self, a: Tiled, b: Tiled, known: ForestEdges, ends: Ends, coinciding: list[Edges], task: Task, pool: WorkerPool,
        amount: int,
    ) -> ForestEdges:  # fmt: skip
        """Return the forests of two sets together, given what their own forests keep."""
        near_a, near_b = self.around(a).other(b), self.around(b).other(a)
        i = np.concatenate((np.arange(len(near_a)), near_b))
        j = np.concatenate((near_a, np.arange(len(near_b))))
        with self.memory():
            seeds = self.measured(a, b, i, j, a.n_copies)
            grown = self.settle(ends, task, known, [seeds], coinciding)
            sides = ((a, 0), (b, a.n_copies))
            listed = [Listed(self.rows, tiled, first, self.around(tiled).rounded) for tiled, first in sides]
            return DeviceSweep(self, listed, ends, task).run(grown, pool, amount)


def rank_for(X: F64 | Resident, device: Any, pool: WorkerPool) -> tuple[Points, SweepDevice | None]:
    """Rank the rows of X, and put them on a device; None is the CPU."""
    if device is not None and isinstance(X, Resident):
        engine = SweepDevice(DeviceRows(X.tensor, X.extent, device, pool), None)
        points = X.rank(engine.rows, engine.hashes)
        if points is not None:
            return points, engine
    points = rank_points(X.X if isinstance(X, Resident) else X, pool)
    if device is None:
        return points, None
    return points, SweepDevice(DeviceRows(points.X, points.extent, device, pool), points.hashes)
