"""Points that are on a GPU when they come: they stay there, and only their hashes are fetched."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesfloor.data.points import host_array
from bayesfloor.forest.gpu.device import choose_device
from bayesfloor.forest.gpu.rows import DeviceRows
from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.hash_kernels import order_of_hashes
from bayesfloor.forest.order.points import Extent, Points

if TYPE_CHECKING:
    import torch

# Bytes of a tensor that are checked at a time.
_PIECE = 1 << 27


class Resident:
    """A tensor of points on a GPU, of which all is well."""

    def __init__(self, tensor: torch.Tensor, extent: Extent):
        self.tensor, self.extent = tensor, extent
        self.shape: tuple[int, int] = tuple(tensor.shape)

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def X(self) -> F64:  # noqa: N802 - the name of points everywhere
        """The points in the memory of this process; whoever needs them fetches them."""
        X: F64 = np.array(host_array(self.tensor), np.float64, order="C")
        X.flags.writeable = False
        return X

    def rank(self, rows: DeviceRows, row_hashes: torch.Tensor) -> Points | None:
        """Hash and rank the rows where they are, as `rank_points` does; None where two different rows share a hash."""
        torch, exact = rows.torch, rows.exact
        hashes = row_hashes.cpu().numpy().view(np.uint64)
        order = order_of_hashes(hashes)
        ranked = rows.send(order, np.int64)
        same_hash = (row_hashes[ranked[1:]] == row_hashes[ranked[:-1]]).nonzero().ravel()
        if len(same_hash) and not bool(torch.equal(exact[ranked[same_hash]], exact[ranked[same_hash + 1]])):
            return None
        is_new = np.ones(len(order), np.int64)
        is_new[0] = 0
        is_new[same_hash.cpu().numpy() + 1] = 0
        sites = np.empty(len(order), np.int64)
        sites[order] = np.cumsum(is_new)
        points = Points(lambda: self.X, 0, hashes, order, sites)
        points.__dict__["extent"] = self.extent
        return points


def resident(X: Any, device: Any) -> Resident | None:
    """Return points that are on the GPU which is to compare them; None for what has to be looked at more closely."""
    if type(X).__module__.split(".")[0] != "torch" or not getattr(X, "is_cuda", False):
        return None
    if device != "auto":
        chosen = choose_device(device, 0, 0)
        if chosen is None or chosen.type != "cuda" or chosen.index not in (None, X.device.index):
            return None
    return of_tensor(X.detach())


def of_tensor(tensor: torch.Tensor) -> Resident | None:
    """Return the points of a tensor, unless there is anything to refuse, to warn of or to scale."""
    import torch

    exact = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.uint8, torch.int16, torch.int32)
    if tensor.ndim != 2 or tensor.shape[0] < 2 or tensor.shape[1] < 1 or tensor.dtype not in exact:
        return None
    low, high = (float(value) for value in tensor.aminmax())
    if not math.isfinite(low) or not math.isfinite(high):
        return None
    extent = Extent(low, high, _least(tensor))
    return Resident(tensor, extent) if extent.exponent == 0 else None


def _least(tensor: torch.Tensor) -> float:
    """Return the least magnitude other than 0 in float64; other types have none that matters."""
    import torch

    if tensor.dtype != torch.float64:
        return 1.0
    parts = (part.abs() for part in tensor.split(max(1, _PIECE // (8 * tensor.shape[1]))))
    return min(float(torch.where(part > 0, part, torch.inf).min()) for part in parts)
