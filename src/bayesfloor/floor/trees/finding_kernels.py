"""A kernel that findings need: nearest distances in forests."""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel(plain=True)
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
