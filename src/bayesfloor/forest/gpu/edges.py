"""Edges on a device, measured and sorted there, and walked here."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.forest.gpu import torch_kernels
from bayesfloor.forest.gpu.rows import DeviceRows
from bayesfloor.forest.order.arrays import Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, settle
from bayesfloor.forest.order.kruskal_kernels import walk_with
from bayesfloor.forest.sweep.tiling import Tiled

if TYPE_CHECKING:
    import torch

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
