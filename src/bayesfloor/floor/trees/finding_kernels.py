"""Kernels that findings need: nearest distances in forests, and features that give the label away."""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def two_nearest(n_points: int, edges: Ints, lengths: Floats) -> tuple[Floats, Floats]:
    """Return the shortest and second shortest edge at each point, infinity where there is none."""
    nearest = np.full(n_points, np.inf)
    second = np.full(n_points, np.inf)
    for e in range(edges.shape[0]):
        for end in range(2):
            point = edges[e, end]
            if lengths[e] < nearest[point]:
                second[point] = nearest[point]
                nearest[point] = lengths[e]
            elif lengths[e] < second[point]:
                second[point] = lengths[e]
    return nearest, second


@kernel
def feature_gives_label(values: Floats, codes: Ints, most: int) -> bool:
    """Tell whether each distinct value occurs in one class only, with at most `most` values.

    Gives up at the first value seen in two classes, or at one value too many, which on most
    features is after a few rows.
    """
    capacity = 1
    while capacity < 4 * (most + 1):
        capacity *= 2
    key = np.empty(capacity, np.float64)
    code_of = np.full(capacity, -1, np.int64)
    n_distinct = 0
    for i in range(values.shape[0]):
        value = values[i]
        slot = hash(value) & (capacity - 1)
        while code_of[slot] >= 0 and key[slot] != value:
            slot = (slot + 1) & (capacity - 1)
        if code_of[slot] < 0:
            n_distinct += 1
            if n_distinct > most:
                return False
            key[slot] = value
            code_of[slot] = codes[i]
        elif code_of[slot] != codes[i]:
            return False
    return n_distinct > 1
