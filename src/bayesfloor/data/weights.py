"""Weights of rows, as callers pass them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return a weight for each row: ones where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError("sample_weight must be finite and not below zero")
    if not np.any(weight > 0):
        raise ValueError("sample_weight must be above zero for at least one row")
    return weight
