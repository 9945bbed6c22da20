"""Blocks of distances on a GPU, as matrix products through torch.

The same contract as on the CPU: float32 proposes, float64 decides. A block of points is moved to the middle of its rows
and multiplied out; each product is lowered by more than its rounding can be, so that no pair which is near enough is
missed. What is proposed goes back to the CPU, where the same kernels decide as always. So the result is the same edge
by edge, whatever the device.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from bayesfloor.runtime.checks import ParameterError, warn_caller

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

#: Minimum number of multiplications for which "auto" takes a GPU: below, starting one costs more than it saves.
WORTH_A_GPU = 2e11
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
            warn_caller(f"{error}; the CPU goes on, with the same result.", RuntimeWarning)
    return work(None)
