"""Blocks of distances on a GPU, as matrix products through torch.

The same contract as on the CPU: float32 proposes, float64 decides. A block of points is moved to the middle of its rows
and multiplied out; each product is lowered by more than its rounding can be, so that no pair which is near enough is
missed. What is proposed goes back to the CPU, where the same kernels decide as always. So the result is the same edge
by edge, whatever the device.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayesfloor.forest.order.arrays import F64, I64
from bayesfloor.forest.sweep.distances import center_rows
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.threads import Crew

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

F32_ROUNDING = 6.0e-8
#: Distances in one block: on a GPU, and on the CPU through torch.
GPU_BLOCK = 1 << 26
CPU_BLOCK = 1 << 22
SMALLEST_BLOCK = 1 << 12
#: Multiplications from which "auto" takes a GPU: below, starting one costs more than it saves.
WORTH_A_GPU = 2e11
#: Up to so many points, near neighbours are searched among all.
MANY_POINTS = 1 << 17
#: Bytes of rows that are sent at a time.
_PIECE = 1 << 28


_DEVICES = "'auto', 'cpu', 'cuda' or a torch.device"


class DeviceError(RuntimeError):
    """A device that was asked for is not there, or too small for even the smallest block."""


def choose_device(device: Any, n_points: int, n_features: int) -> torch.device | None:
    """Say which device to use; None for the CPU without torch.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, str or torch.device
        "auto" takes a GPU where there is one and the work is worth it. A ``torch.device`` is taken as it is, that of
        the CPU as well.
    n_points, n_features : int
        The size of the work.

    Returns
    -------
    torch.device or None

    Raises
    ------
    ImportError
        If a GPU is asked for and torch is not installed.
    DeviceError
        If a GPU is asked for and there is none.
    """
    if device == "cpu":
        return None
    if device == "auto":
        if 0.5 * float(n_points) ** 2 * n_features < WORTH_A_GPU or find_spec("torch") is None:
            return None
        import torch

        return torch.device("cuda") if torch.cuda.is_available() else None
    if not isinstance(device, str) and type(device).__module__.split(".")[0] != "torch":
        raise ParameterError("device", _DEVICES, device)
    if isinstance(device, str) and device.split(":")[0] != "cuda":
        raise ParameterError("device", _DEVICES, device)
    if find_spec("torch") is None:
        raise ImportError(f"device={device!r} needs PyTorch; install bayesfloor[gpu].", name="torch")
    import torch

    chosen = torch.device(device)
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device={str(chosen)!r}: PyTorch {torch.__version__} finds no GPU here.")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise DeviceError(f"device={str(chosen)!r}: there are {torch.cuda.device_count()} GPUs here.")
    return chosen


class DeviceRows:
    """All points on a device: centred, scaled to order one, in float32, by the number of their row."""

    def __init__(
        self, X: F64, center: F64, scale: float, device: torch.device, crew: Crew | None = None, tensor: Any = None
    ):
        import torch

        self.torch = torch
        self.device = device
        self.block = GPU_BLOCK if device.type == "cuda" else CPU_BLOCK
        n, n_features = X.shape
        #: How far a squared distance from float32 products may be off, as a share of the two squared norms: rounding of
        #: the products, of the norms, and of moving the points.
        self.margin = (3 * n_features + 32) * F32_ROUNDING
        try:
            if tensor is None:
                self.rows = self._sent(X, center, scale, crew or Crew(1))
            else:
                self.rows = self._moved(tensor, center, scale)
        except torch.OutOfMemoryError as error:
            raise DeviceError(f"{device} has no room for {n} x {n_features} numbers") from error
        #: How far each point may be from its float32 coordinates.
        self.slack = 2 * F32_ROUNDING * torch.linalg.vector_norm(self.rows, dim=1)

    def _sent(self, X: F64, center: F64, scale: float, crew: Crew) -> torch.Tensor:
        """Return coordinates that were computed here and sent to the device, piece by piece."""
        n, n_features = X.shape
        rows = self.torch.empty((n, n_features), dtype=self.torch.float32, device=self.device)
        step = max(1, _PIECE // (4 * n_features))
        for start in range(0, n, step):
            part = X[start : start + step]
            piece = np.empty(part.shape, np.float32)
            crew.run(center_rows, [(part, center, scale, *share, piece) for share in crew.shares(len(part))])
            rows[start : start + step] = self.torch.from_numpy(piece).to(self.device)
        return rows

    def _moved(self, tensor: torch.Tensor, center: F64, scale: float) -> torch.Tensor:
        """Return coordinates that were computed where the points are."""
        n, n_features = tensor.shape
        rows = self.torch.empty((n, n_features), dtype=self.torch.float32, device=self.device)
        middle = self.torch.as_tensor(center, dtype=self.torch.float64, device=self.device)
        step = max(1, _PIECE // (8 * n_features))
        for start in range(0, n, step):
            piece = tensor[start : start + step].to(self.device, self.torch.float64)
            rows[start : start + step] = ((piece - middle) * scale).to(self.torch.float32)
        return rows

    def take(self, rows: np.ndarray) -> torch.Tensor:
        """Return the coordinates of some rows."""
        return self.rows.index_select(0, self.send(rows, np.int64))

    def slack_of(self, rows: np.ndarray) -> torch.Tensor:
        """Return how far some rows may be from their coordinates."""
        return self.slack.index_select(0, self.send(rows, np.int64))

    def send(self, values: np.ndarray, dtype: Any) -> torch.Tensor:
        """Send an array to the device."""
        return self.torch.as_tensor(np.ascontiguousarray(values, dtype), device=self.device)

    def lowered_distances(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return squared distances between all of a and all of b, none of them above the truth of the coordinates."""
        torch = self.torch
        middle = a.mean(dim=0)
        a, b = a - middle, b - middle
        keep = 1.0 - self.margin
        norms_a, norms_b = ((x * x).sum(dim=1, keepdim=True) * keep for x in (a, b))
        left = torch.cat((a, norms_a, torch.ones_like(norms_a)), dim=1)
        right = torch.cat((-2.0 * b, torch.ones_like(norms_b), norms_b), dim=1)
        with full_precision():
            return left @ right.T

    def in_blocks(self, work: Callable[[int], T]) -> T:
        """Call work with the number of distances that fit into a block; halve it when memory runs out."""
        while True:
            try:
                return work(self.block)
            except self.torch.OutOfMemoryError as error:
                if self.block // 2 < SMALLEST_BLOCK:
                    raise DeviceError(f"{self.device} has too little memory: {error}") from error
                self.block //= 2
                if self.device.type == "cuda":
                    self.torch.cuda.empty_cache()


_precision_lock = threading.Lock()
_precision_users = 0
_precision_before: tuple[str, ...] = ("highest",)
#: Full precision as the one setting for all, and as those of CUDA and of the CPU's library.
_FULL = {1: ("highest",), 2: ("ieee", "ieee")}


def matmul_precision() -> tuple[str, ...]:
    """Return the precision of float32 products: one setting, or two where backends were set one by one."""
    import torch

    try:
        return (torch.get_float32_matmul_precision(),)
    except RuntimeError:  # torch refuses to sum up settings that differ
        backends: tuple[Any, ...] = (torch.backends.cuda, torch.backends.mkldnn)
        return tuple(backend.matmul.fp32_precision for backend in backends)


def set_matmul_precision(setting: tuple[str, ...]) -> None:
    """Set the precision as `matmul_precision` returned it."""
    import torch

    if len(setting) == 1:
        torch.set_float32_matmul_precision(setting[0])
    else:
        backends: tuple[Any, ...] = (torch.backends.cuda, torch.backends.mkldnn)
        for backend, value in zip(backends, setting, strict=True):
            backend.matmul.fp32_precision = value


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """Have float32 products computed in float32, whatever the caller has set.

    The setting belongs to the process. The last of several threads to leave restores it, unless somebody else has
    changed it meanwhile. It is held for one product at a time, so that a change by others lasts for none.
    """
    global _precision_users, _precision_before
    with _precision_lock:
        setting = matmul_precision()
        if _precision_users == 0 or setting not in _FULL.values():
            _precision_before = setting
        set_matmul_precision(_FULL[len(setting)])
        _precision_users += 1
    try:
        yield
    finally:
        with _precision_lock:
            _precision_users -= 1
            if _precision_users == 0 and matmul_precision() in _FULL.values():
                set_matmul_precision(_precision_before)


def nearest_across(device: DeviceRows, rows_a: np.ndarray, rows_b: np.ndarray) -> tuple[I64, I64]:
    """Return, for each point of two sets, about the nearest of the other set."""
    torch = device.torch
    a, b = device.take(rows_a), device.take(rows_b)

    def search(block: int) -> tuple[I64, I64]:
        of_b = torch.full((len(b),), float("inf"), device=device.device)
        near_b = torch.zeros(len(b), dtype=torch.int64, device=device.device)
        near_a = torch.zeros(len(a), dtype=torch.int64, device=device.device)
        step = max(1, block // len(b))
        for start in range(0, len(a), step):
            d2 = device.lowered_distances(a[start : start + step], b)
            near_a[start : start + step] = d2.argmin(dim=1)
            least, at = d2.min(dim=0)
            closer = least < of_b
            of_b = torch.where(closer, least, of_b)
            near_b = torch.where(closer, at + start, near_b)
        return near_a.cpu().numpy(), near_b.cpu().numpy()

    return device.in_blocks(search)


def nearest_within(device: DeviceRows, rows: np.ndarray, n_wanted: int) -> I64:
    """Return about the nearest other points of each point of a set, nearest first."""
    n_wanted = min(n_wanted, len(rows) - 1)
    if len(rows) <= MANY_POINTS:
        return _nearest_of_all(device, rows, n_wanted)
    return _nearest_in_groups(device, rows, n_wanted)


def _nearest_of_all(device: DeviceRows, rows: np.ndarray, n_wanted: int) -> I64:
    torch = device.torch
    points = device.take(rows)

    def search(block: int) -> I64:
        found = torch.empty((len(points), n_wanted), dtype=torch.int64, device=device.device)
        step = max(1, block // len(points))
        for start in range(0, len(points), step):
            d2 = device.lowered_distances(points[start : start + step], points)
            own = torch.arange(len(d2), device=device.device)
            d2[own, own + start] = float("inf")
            found[start : start + step] = d2.topk(n_wanted, dim=1, largest=False).indices
        return found.cpu().numpy()

    return device.in_blocks(search)


#: Points in a group whose neighbours are searched in it, and how many times all points are cut into groups.
_GROUP = 4096
_ROUNDS = 6


def _nearest_in_groups(device: DeviceRows, rows: np.ndarray, n_wanted: int) -> I64:
    """Search in groups of points that lie on the same side of several cuts; what several rounds find is merged."""
    torch = device.torch
    points = device.take(rows)
    n = len(points)
    n_levels = max(1, int(np.ceil(np.log2(n / _GROUP))))
    generator = np.random.default_rng(0)
    nearest = torch.full((n, 2 * n_wanted), float("inf"), device=device.device)
    found = torch.zeros((n, 2 * n_wanted), dtype=torch.int64, device=device.device)
    for _ in range(_ROUNDS):
        order = torch.arange(n, device=device.device)
        for level in range(n_levels):
            starts = np.linspace(0, n, (1 << level) + 1).astype(np.int64)
            for first, last in pairwise(starts.tolist()):
                members = order[first:last]
                one, other = (int(members[int(generator.integers(len(members)))]) for _ in range(2))
                along = points.index_select(0, members) @ (points[one] - points[other])
                order[first:last] = members[along.argsort()]
        starts = np.linspace(0, n, (1 << n_levels) + 1).astype(np.int64)
        for first, last in pairwise(starts.tolist()):
            members = order[first:last]
            group = points.index_select(0, members)
            d2 = device.lowered_distances(group, group)
            d2.fill_diagonal_(float("inf"))
            least, at = d2.topk(min(n_wanted, len(members) - 1), dim=1, largest=False)
            nearest[members, n_wanted : n_wanted + least.shape[1]] = least
            found[members, n_wanted : n_wanted + least.shape[1]] = members[at]
        # the same neighbour found twice counts once
        by_number = found.argsort(dim=1, stable=True)
        found, nearest = found.gather(1, by_number), nearest.gather(1, by_number)
        nearest[:, 1:][found[:, 1:] == found[:, :-1]] = float("inf")
        by_distance = nearest.argsort(dim=1, stable=True)
        found, nearest = found.gather(1, by_distance), nearest.gather(1, by_distance)
    found = torch.where(torch.isinf(nearest), torch.full_like(found, -1), found)
    return found[:, :n_wanted].cpu().numpy()


def on_device(device: Any, shape: tuple[int, int], work: Callable[[torch.device | None], T]) -> T:
    """Do some work on a device, or on the CPU where that is chosen.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, str or torch.device
        What was asked for.
    shape : (int, int)
        Points and features.
    work : callable
        Takes the device, or None for the CPU without torch.

    Returns
    -------
    What `work` returns.

    Raises
    ------
    DeviceError
        If the device's memory runs out, unless it was chosen by "auto": then the CPU does it, after a warning.
    """
    chosen = choose_device(device, *shape)
    if chosen is not None:
        try:
            return work(chosen)
        except DeviceError as error:
            if device != "auto":
                raise
            warnings.warn(f"{error}; the CPU goes on, with the same result.", RuntimeWarning, stacklevel=3)
    return work(None)


def host_array(X: Any) -> tuple[Any, Any]:
    """Return X where NumPy can read it, and the tensor itself where it lies on a GPU."""
    if type(X).__module__.split(".")[0] != "torch" or not hasattr(X, "detach"):
        return X, None
    tensor = X.detach()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()  # NumPy knows no bfloat16
    return tensor.cpu().numpy(), tensor if tensor.is_cuda else None
