"""What kernels for a device read of the last tree, and of the points that are listed along its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesfloor.forest.gpu.rows import DeviceRows
from bayesfloor.forest.sweep.records import Line

if TYPE_CHECKING:
    import torch


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
