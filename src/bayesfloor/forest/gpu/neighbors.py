"""Near neighbours of points on a device, which seed the forests. Nothing of it needs to be exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest.gpu import torch_kernels
from bayesfloor.forest.gpu.rows import ROWS, DeviceRows, Rounded
from bayesfloor.forest.order.arrays import I32
from bayesfloor.forest.sweep.tiling import Tiled

# Maximum number of points whose near neighbours come from all distances at once.
FEW_POINTS = 1024
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
            if n > FEW_POINTS:
                mine = keys[:, of_set[c]]
                at = mine.topk(min(n_wanted, mine.shape[1]), dim=1, largest=False).indices
                near = numbers[:, of_set[c]].gather(1, at)
                own.append(torch.where(near >= 0, near - int(first_block[c]) * ROWS, -1))
            nearest = [
                numbers[:, some].gather(1, keys[:, some].argmin(dim=1, keepdim=True)).ravel() - int(start) * ROWS
                for some, start in zip(of_set, first_block, strict=False)
            ]
            others.append(torch.stack(nearest))
        if n <= FEW_POINTS:
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
