"""The forests on a GPU, beside the CPU and beside the device's own half pass of matrix products.

    python -m benchmarks.speed.gpu mnist [--rows N]        all pairs of classes and the whole set, 3 trees
    python -m benchmarks.speed.gpu points --rows N --features D
    python -m benchmarks.speed.gpu equal                   edges compared with the CPU's on awkward points

MNIST is read from $BAYESFLOOR_DATA/extra/mnist.npz, or from shared/data beside the repository. Each line of output is a
measurement; the edges of the two engines are compared where both ran.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bayesfloor import class_forests, spanning_forests
from benchmarks.problems.point_sets import mixture
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools import measuring
from benchmarks.tools.command_line import parser_of


def timed(what: str, work: Callable[[], Any], repeats: int = 3) -> Any:
    """Print the median time of some runs, and return what the last gave."""
    runs = [measuring.timed(work) for _ in range(repeats)]
    listed = ", ".join(f"{run.seconds:.3f}" for run in runs)
    print(f"{what}: {np.median([run.seconds for run in runs]):.3f} s (median of {listed})", flush=True)
    return runs[-1].result


def half_pass(X: np.ndarray, device: torch.device) -> None:
    """Multiply out half of all distances and compare each once."""
    points = torch.as_tensor(X.astype(np.float32), device=device)
    norms = (points * points).sum(1)
    step = 8192
    near = torch.zeros((), dtype=torch.int64, device=device)
    for a in range(0, len(points), step):
        for b in range(a, len(points), step):
            product = points[a : a + step] @ points[b : b + step].T
            near += (norms[a : a + step, None] + norms[None, b : b + step] - 2 * product < 1.0).sum()
    near.item()


def mnist(rows: int, device: torch.device, with_cpu: bool) -> None:
    X, y = stored_set("extra/mnist", rows)
    print(f"MNIST {X.shape}, device {device}, {os.cpu_count()} cores")
    class_forests(X[:3000], y[:3000], device=device)  # load kernels
    timed("half pass of float32 products, one comparison each", lambda: half_pass(X, device))
    class_forests(X, y, device=device)  # the first call reserves memory on the device
    on_gpu = timed("all pairs and the whole, 3 trees, on the device", lambda: class_forests(X, y, device=device), 7)
    timed("the whole alone, on the device", lambda: spanning_forests(X, device=device), 5)
    tensor = torch.as_tensor(X, device=device)
    class_forests(tensor, y, device=device)
    timed("all pairs and the whole, from a tensor on the device", lambda: class_forests(tensor, y, device=device), 7)
    if with_cpu:
        on_cpu = timed("all pairs and the whole, 3 trees, on the CPU", lambda: class_forests(X, y, device="cpu"), 1)
        same = np.array_equal(on_cpu.whole.edges, on_gpu.whole.edges) and np.array_equal(
            on_cpu.whole.weights, on_gpu.whole.weights
        )
        same &= np.array_equal(on_cpu.pair_cross_counts, on_gpu.pair_cross_counts)
        for a in range(10):
            for b in range(a):
                same &= np.array_equal(on_cpu.pair(a, b).edges, on_gpu.pair(a, b).edges)
        print("edges of the whole and of all 45 pairs equal on both:", same)


def points(rows: int, features: int, device: torch.device, with_cpu: bool) -> None:
    X, _ = mixture(rows, features, 3)
    print(f"mixture [-3, 3] {X.shape}, device {device}, {os.cpu_count()} cores")
    spanning_forests(X[:3000], device=device)
    spanning_forests(X[:100_000], device=device)  # all kernels
    on_gpu = timed("3 trees on the device", lambda: spanning_forests(X, device=device), 3)
    if device.type == "cuda":
        print(f"most memory on the device: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    if with_cpu:
        on_cpu = timed("3 trees on the CPU", lambda: spanning_forests(X, device="cpu"), 1)
        print("edges equal:", np.array_equal(on_cpu.edges, on_gpu.edges))


def equal(rows: int, device: torch.device) -> None:
    """Compare edges with the CPU's, bit by bit, where rounding and ties are hardest."""
    rng = np.random.default_rng(0)
    X, y = mixture(rows, 40, 3)
    tight = mixture(rows, 40, 1000)[0]
    levels = rng.integers(0, 4, (rows, 12))
    cases = {
        "one-hot": (levels[:, :, None] == np.arange(4)).reshape(rows, -1).astype(float),
        "a third are duplicates": X[rng.integers(0, 2 * rows // 3, rows)],
        "offset 1e6": X + 1e6,
        "offset 1e8": X + 1e8,
        "integers": rng.integers(0, 3, (rows, 40)).astype(float),
        "tight clusters far apart": tight,
        "scale 1e-150": X * 1e-150,
        "float32": X.astype(np.float32).astype(np.float64),
    }
    for name, points in cases.items():
        found, expected = (class_forests(points, y % 3, device=where) for where in (device, "cpu"))
        same = [
            np.array_equal(a.edges, b.edges) and np.array_equal(a.weights, b.weights)
            for a, b in [(found.whole, expected.whole)]
            + [(found.pair(i, j), expected.pair(i, j)) for i in range(3) for j in range(i)]
        ]
        tensor = torch.as_tensor(points, device=device)
        same.append(np.array_equal(spanning_forests(tensor, device=device).edges, expected.whole.edges))
        print(
            f"{name} {points.shape}: edges of the whole, of all pairs and from a tensor equal:", all(same), flush=True
        )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["mnist", "points", "equal"])
    parser.add_argument("--rows", type=int, default=None, help="60 000 of MNIST, else 20 000")
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-cpu", action="store_true", help="leave out the CPU")
    chosen = parser.parse_args()
    where = torch.device(chosen.device)
    if chosen.what == "mnist":
        mnist(chosen.rows or 60_000, where, not chosen.no_cpu)
    elif chosen.what == "points":
        points(chosen.rows or 20_000, chosen.features, where, not chosen.no_cpu)
    else:
        equal(chosen.rows or 20_000, where)
