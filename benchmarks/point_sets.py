"""The point sets that benchmarks/forests.py measures: Gaussian mixtures, and real sets from a local folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("BAYESFLOOR_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def mixture(n: int, d: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw from ten unit Gaussians with centres uniform in [-extent, extent]^d."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-extent, extent, (10, d))
    labels = rng.integers(0, 10, n)
    return centers[labels] + rng.standard_normal((n, d)), labels


def real(name: str, rows: int | None = None, standardize: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Read the first rows of a set."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as stored:
        X, y = stored["X"][:rows].astype(float), stored["y"][:rows]
    if standardize:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, y


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "mixture [-3, 3] 10 000 x 64": lambda: mixture(10_000, 64, 3),
    "mixture [-10, 10] 10 000 x 64": lambda: mixture(10_000, 64, 10),
    "mixture [-3, 3] 10 000 x 256": lambda: mixture(10_000, 256, 3),
    "mixture [-10, 10] 10 000 x 256": lambda: mixture(10_000, 256, 10),
    "first 10 000 MNIST digits x 784": lambda: real("extra/mnist", 10_000, standardize=False),
    "first 50 000 covertype x 54": lambda: real("extra/covertype", 50_000),
    "kr-vs-k 28 056 x 34": lambda: real("paper/kr-vs-k"),
    "mixture [-3, 3] 20 000 x 16": lambda: mixture(20_000, 16, 3),
    "mixture [-10, 10] 20 000 x 16": lambda: mixture(20_000, 16, 10),
    "letter 20 000 x 16": lambda: real("paper/letter"),
    "pendigits 10 992 x 16": lambda: real("paper/pendigits"),
    "mixture [-3, 3] 50 000 x 8": lambda: mixture(50_000, 8, 3),
    "mixture [-10, 10] 50 000 x 8": lambda: mixture(50_000, 8, 10),
    "mixture [-3, 3] 100 000 x 2": lambda: mixture(100_000, 2, 3),
    "mixture [-10, 10] 100 000 x 2": lambda: mixture(100_000, 2, 10),
}

# What the first column of a row has to reach: (times faster than the peer's tree, three trees against one).
TARGETS = {
    "10 000 x 64": (5.0, 1.5),
    "10 000 x 256": (7.0, 1.5),
    "MNIST digits": (8.0, 1.5),
    "covertype": (5.0, 1.5),
    "kr-vs-k": (4.0, 2.0),
    "20 000 x 16": (2.5, 2.0),
    "letter": (1.3, 2.0),
    "pendigits": (1.0, 2.0),
    "50 000 x 8": (1.0, 2.5),
    "100 000 x 2": (0.5, 3.0),
}


def targets(name: str) -> tuple[float, float]:
    """Return the targets of a set."""
    for part in ("letter", "pendigits", "covertype", "kr-vs-k", "MNIST digits"):
        if part in name:
            return TARGETS[part]
    return next(goal for part, goal in TARGETS.items() if name.endswith(part))
