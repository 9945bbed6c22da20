"""Small rows with features of landmarks, for tests of what is summed over them."""

from typing import Any

import numpy as np

from bayesfloor.learn.landmarks.feature_map import FeatureMap
from bayesfloor.learn.landmarks.row_sums import RowSums
from bayesfloor.runtime.threads import WorkerPool


def small_map(columns: Any, n_landmarks: int) -> FeatureMap:
    """Features of the first rows as landmarks, and a rule of two cuts."""
    d = columns.shape[1]
    return FeatureMap(
        np.zeros(d), np.ones(d), None, np.ones(d, np.float32), columns[:n_landmarks].copy(), 0.3,
        np.array([0, 1]), np.zeros(2, np.float32), np.array([0]), np.array([1]),
    )  # fmt: skip


def class_rows(n: int, n_classes: int, *, n_landmarks: int = 20, spread: float = 2.0, seed: int = 0) -> RowSums:
    """Rows of Gaussian classes, with weights; every class has some. Its centre depends on the seed alone."""
    rng, d = np.random.default_rng(seed), 6
    centres = spread * rng.standard_normal((n_classes, d))
    codes = rng.permutation(np.arange(n) % n_classes)
    columns = ((centres[codes] + rng.standard_normal((n, d))) / spread).astype(np.float32)
    weight = rng.choice([0.5, 1.0, 2.0], n).astype(np.float32)
    return RowSums(small_map(columns, n_landmarks), columns, codes, weight, WorkerPool(1))
