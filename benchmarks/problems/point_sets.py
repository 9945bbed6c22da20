"""The point sets whose spanning forests are measured: Gaussian mixtures, and real sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.problems.stored_sets import stored_set


def mixture(n: int, d: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw from ten unit Gaussians with centres uniform in [-extent, extent]^d."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-extent, extent, (10, d))
    labels = rng.integers(0, 10, n)
    return centers[labels] + rng.standard_normal((n, d)), labels


def nested_clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw clusters of clusters in 3 dimensions, as galaxies lie (Soneira and Peebles 1978).

    Each of 8 spheres holds 4 spheres 1.9 times smaller, and so on, eight times over; a point lies in one of the last.
    """
    rng = np.random.default_rng(0)
    sphere = labels = rng.integers(0, 8, n)
    X, radius = rng.uniform(-1, 1, (8, 3))[sphere], 0.5
    for level in range(1, 9):
        sphere = 4 * sphere + rng.integers(0, 4, n)
        steps = rng.standard_normal((8 * 4**level, 3))
        steps *= radius * rng.random((len(steps), 1)) ** (1 / 3) / np.linalg.norm(steps, axis=1, keepdims=True)
        X, radius = X + steps[sphere], radius / 1.9
    return X + radius * rng.standard_normal((n, 3)), labels


def scanned_surfaces(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw points on 20 spheres of all sizes and on the ground, as a laser scanner sees them: nearer, denser, noisy."""
    rng = np.random.default_rng(0)
    centers, radii = rng.uniform(-10, 10, (20, 3)), 10 ** rng.uniform(-1, 0.5, 20)
    labels = rng.integers(0, 21, n)
    ball = rng.standard_normal((n, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    angle, away = rng.uniform(0, 2 * np.pi, n), 0.5 * np.exp(rng.uniform(0, 4, n))
    ground = np.column_stack((away * np.cos(angle), away * np.sin(angle), np.full(n, -10.0)))
    is_ground = (labels == 20)[:, None]
    on_balls = centers[labels % 20] + radii[labels % 20, None] * ball
    return np.where(is_ground, ground, on_balls) + 1e-3 * rng.standard_normal((n, 3)), labels


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "mixture [-3, 3] 10 000 x 64": lambda: mixture(10_000, 64, 3),
    "mixture [-10, 10] 10 000 x 64": lambda: mixture(10_000, 64, 10),
    "mixture [-3, 3] 10 000 x 256": lambda: mixture(10_000, 256, 3),
    "mixture [-10, 10] 10 000 x 256": lambda: mixture(10_000, 256, 10),
    "first 10 000 MNIST digits x 784": lambda: stored_set("extra/mnist", 10_000),
    "first 50 000 covertype x 54": lambda: stored_set("extra/covertype", 50_000, standardize=True),
    "kr-vs-k 28 056 x 34": lambda: stored_set("paper/kr-vs-k", standardize=True),
    "mixture [-3, 3] 20 000 x 16": lambda: mixture(20_000, 16, 3),
    "mixture [-10, 10] 20 000 x 16": lambda: mixture(20_000, 16, 10),
    "letter 20 000 x 16": lambda: stored_set("paper/letter", standardize=True),
    "pendigits 10 992 x 16": lambda: stored_set("paper/pendigits", standardize=True),
    "mixture [-3, 3] 50 000 x 8": lambda: mixture(50_000, 8, 3),
    "mixture [-10, 10] 50 000 x 8": lambda: mixture(50_000, 8, 10),
    "mixture [-3, 3] 100 000 x 2": lambda: mixture(100_000, 2, 3),
    "mixture [-10, 10] 100 000 x 2": lambda: mixture(100_000, 2, 10),
    "mixture [-3, 3] 1 000 000 x 2": lambda: mixture(1_000_000, 2, 3),
    "mixture [-3, 3] 300 000 x 3": lambda: mixture(300_000, 3, 3),
    "clusters of clusters 100 000 x 3": lambda: nested_clusters(100_000),
    "scanned surfaces 100 000 x 3": lambda: scanned_surfaces(100_000),
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
    "50 000 x 8": (4.0, 2.5),
    " 100 000 x 2": (1.1, 1.5),
    "1 000 000 x 2": (1.1, 1.5),
    "00 000 x 3": (1.1, 1.5),
}


def targets(name: str) -> tuple[float, float]:
    """Return the targets of a set."""
    for part in ("letter", "pendigits", "covertype", "kr-vs-k", "MNIST digits"):
        if part in name:
            return TARGETS[part]
    return next(goal for part, goal in TARGETS.items() if name.endswith(part))
