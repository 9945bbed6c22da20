"""Checks of parameters that mean the same in every public function."""

from typing import Any

import numpy as np


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


def check_confidence(confidence: Any) -> float:
    """Return the level of an interval, a float between 0 and 1."""
    if not isinstance(confidence, float | int | np.number) or not 0 < confidence < 1:
        raise ValueError(f"The 'confidence' parameter must be a float in the range (0, 1). Got {confidence!r} instead.")
    return float(confidence)


def check_max_rows(max_rows: Any, n_classes: int) -> int | None:
    """Return the largest number of rows to use, or None for all."""
    if max_rows is None:
        return None
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer):
        raise TypeError(f"The 'max_rows' parameter must be an int or None. Got {max_rows!r} instead.")
    if max_rows < 2 * n_classes:
        raise ValueError(f"max_rows={max_rows} is less than two rows for each of the {n_classes} classes.")
    return int(max_rows)
