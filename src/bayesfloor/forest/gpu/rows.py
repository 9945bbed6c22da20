"""All points on a device: in float64 as they are, and rounded around a middle for products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.forest.gpu.device import DeviceError
from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.points import Extent
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
