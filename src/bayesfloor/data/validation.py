"""Everything that checks what a caller passes, under one name.

`check_points` and `check_labels` read X and y, `check_n_jobs` and `check_memory` ask the machine,
and the rest of the arguments are checked here.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_labels
from bayesfloor.data.limits import check_memory, check_n_jobs, one_of_a_pool
from bayesfloor.data.points import SPARSE_LIMIT, check_points, check_sparse_points

__all__ = [
    "SPARSE_LIMIT",
    "check_labels",
    "check_memory",
    "check_n_jobs",
    "check_n_trees",
    "check_points",
    "check_random_state_seed",
    "check_sparse_points",
    "check_weights",
    "one_of_a_pool",
]


def check_n_trees(n_trees: Any) -> int:
    """Return the number of trees asked for, an int of at least 1."""
    if isinstance(n_trees, bool) or not isinstance(n_trees, int | np.integer):
        raise TypeError(f"The 'n_trees' parameter must be an int. Got {n_trees!r} instead.")
    if n_trees < 1:
        raise ValueError(f"The 'n_trees' parameter must be an int in the range [1, inf). Got {n_trees} instead.")
    return int(n_trees)


def check_random_state_seed(random_state: Any) -> int:
    """Return a seed in [0, 2**64).

    Parameters
    ----------
    random_state : int, None, numpy Generator or RandomState
        An integer is the seed itself. A generator gives its next number, so that two calls with
        the same generator differ. None draws a fresh seed.

    Returns
    -------
    int
        The seed.
    """
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**64, dtype=np.uint64))
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            "The 'random_state' parameter must be an int, None, a numpy Generator or a "
            f"RandomState. Got {random_state!r} instead."
        )
    if not 0 <= random_state < 2**64:
        raise ValueError(
            f"The 'random_state' parameter must be an int in the range [0, 2**64). Got {random_state} instead."
        )
    return int(random_state)


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
