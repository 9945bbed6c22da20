"""All points on a device: in float64 as they are, and rounded around a middle for products.

Points that are on a GPU when they come stay there, and only their hashes are fetched (`Resident`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.data.points import host_array
from bayesfloor.forest.gpu.device import DeviceError, choose_device
from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.hash_kernels import order_of_hashes
from bayesfloor.forest.order.points import Extent, Points
from bayesfloor.forest.sweep.records import Line
from bayesfloor.runtime.threads import WorkerPool

if TYPE_CHECKING:
    import torch

#: Rows in a block, of either side of a product; features in a step.
ROWS, FEATURES = 128, 32
#: Largest relative error of an addition in float32, even where it is cut off and not rounded.
F32_ROUNDING = 1.2e-7
#: Bytes of rows that are sent or rounded at a time.
_PIECE = 1 << 27


class Rounded(NamedTuple):
    """Points around a middle in TF32, which are multiplied without an error, in whole blocks."""

    coordinates: torch.Tensor  # (n_padded, width) float32
    norms: torch.Tensor  # (n_padded,) squared, lowered by more than the error of sums; infinite for padding
    slack: torch.Tensor  # (n_padded,) how far each point has been moved, at most

    def blocks(self, first: int, last: int) -> Rounded:
        """Return some of the blocks."""
        return Rounded(*(part[first * ROWS : last * ROWS] for part in self))


def to_tf32(values: torch.Tensor) -> torch.Tensor:
    """Round float32 to the ten bits that TF32 keeps."""
    import torch

    bits = values.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


class DeviceRows:
    """All points on a device, by the number of their row."""

    def __init__(self, X: F64 | torch.Tensor, extent: Extent, device: torch.device, pool: WorkerPool):
        import torch

        self.torch, self.device = torch, device
        n, self.n_features = int(X.shape[0]), int(X.shape[1])
        self.width = -(-self.n_features // FEATURES) * FEATURES
        span = extent.high - extent.low
        #: Brings coordinates to order one.
        self.scale = float(np.ldexp(1.0, -int(np.frexp(span)[1]))) if span > 0 else 1.0
        self.keep = 1.0 - (2 * self.width + 32) * F32_ROUNDING
        try:
            self.exact = self._sent(X, pool) if isinstance(X, np.ndarray) else X.to(device, torch.float64).contiguous()
        except torch.OutOfMemoryError as error:
            raise DeviceError(f"{device} has no room for {n} x {self.n_features} numbers") from error

    def _sent(self, X: F64, pool: WorkerPool) -> torch.Tensor:
        """Send rows through memory that the device reads by itself, one piece while the next is copied there."""
        torch = self.torch
        exact = torch.empty(X.shape, dtype=torch.float64, device=self.device)
        is_gpu = self.device.type == "cuda"
        step = max(1, min(len(X), _PIECE // (8 * self.n_features)))
        pieces = [torch.empty((step, self.n_features), dtype=torch.float64, pin_memory=is_gpu) for _ in range(2)]
        sent: list[Any] = [None, None]
        for number, start in enumerate(range(0, len(X), step)):
            part, piece = X[start : start + step], pieces[number % 2]
            if sent[number % 2] is not None:
                sent[number % 2].synchronize()
            target = piece.numpy()
            pool.run(lambda a, b, target=target, part=part: np.copyto(target[a:b], part[a:b]), pool.shares(len(part)))
            exact[start : start + len(part)].copy_(piece[: len(part)], non_blocking=is_gpu)
            if is_gpu:
                sent[number % 2] = torch.cuda.Event()
                sent[number % 2].record()
        return exact

    def send(self, values: np.ndarray, dtype: Any) -> torch.Tensor:
        """Send an array to the device."""
        return self.torch.from_numpy(np.array(values, dtype, order="C")).to(self.device)

    def middle(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the mean of some rows, of many a part."""
        return self.exact.index_select(0, rows[:: max(1, len(rows) // 4096)]).mean(dim=0)

    def rounded(self, rows: torch.Tensor, middle: torch.Tensor) -> Rounded:
        """Return some rows around a middle, rounded."""
        torch, n = self.torch, len(rows)
        n_padded = -(-n // ROWS) * ROWS
        coordinates = torch.zeros((n_padded, self.width), device=self.device)
        norms = torch.full((n_padded,), float("inf"), device=self.device)
        slack = torch.zeros(n_padded, device=self.device)
        step = max(1, _PIECE // (8 * self.n_features))
        for start in range(0, n, step):
            some = slice(start, min(start + step, n))
            moved = (self.exact.index_select(0, rows[some]) - middle) * self.scale
            near = to_tf32(moved.float())
            coordinates[some, : self.n_features] = near
            norms[some] = ((near.double() ** 2).sum(dim=1) * self.keep).float()
            moved_by = torch.linalg.vector_norm(moved - near, dim=1)
            slack[some] = ((moved_by + 1e-15 * torch.linalg.vector_norm(moved, dim=1)) * 1.00001).float()
        return Rounded(coordinates, norms, slack)


class Places(NamedTuple):
    """Points in the order of the line."""

    rows: torch.Tensor  # (n,) the row of each point
    low: torch.Tensor  # (n,) first place of its copies
    high: torch.Tensor


class DeviceLine:
    """The last tree as a line of points, on the device."""

    def __init__(self, line: Line, rows: DeviceRows):
        self.torch = rows.torch
        self.table = rows.send(line.table.ravel(), np.int32)
        self.n_gaps = line.table.shape[1]
        self.logs = rows.send(line.logs, np.int32)
        self.lengths = rows.send(line.lengths * (1.0 + 1e-6), np.float32)
        self.d2 = rows.send(line.d2, np.float64)
        self.hashes = rows.send(line.hashes.view(np.int64), np.int64)

    def heaviest(self, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        """Return the heaviest edge between two different places."""
        level = self.logs[high - low].to(self.torch.int64)
        first = level * self.n_gaps
        one, other = self.table[first + low], self.table[first + high - (1 << level)]
        return self.torch.maximum(one, other).to(self.torch.int64)

    def length(self, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        """Return the length of the heaviest edge between two places, 0 where they are one."""
        torch = self.torch
        apart = torch.maximum(high, low + 1).clamp(max=self.n_gaps)
        heaviest = self.heaviest(torch.minimum(low, apart - 1), apart)
        return torch.where(high > low, self.lengths[heaviest], 0.0)


class Resident:
    """A tensor of points on a GPU, of which all is well."""

    def __init__(self, tensor: torch.Tensor, extent: Extent):
        self.tensor, self.extent = tensor, extent
        self.shape: tuple[int, int] = tuple(tensor.shape)  # type: ignore[assignment]

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
