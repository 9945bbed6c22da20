"""Kernels: the nearest of many rows."""

import numpy as np

from bayesfloor.runtime.kernels import kernel


@kernel
def nearest_columns(distances, nearest):
    """Write the numbers of the nearest rows, in the order of their distance; of equal distances, the first row.

    Parameters
    ----------
    distances : ndarray of shape (m, n)
        Distances from each of m rows to each of n.
    nearest : ndarray of shape (m, k)
        The numbers are written here.
    """
    k = nearest.shape[1]
    near, which = np.empty(k, distances.dtype), np.empty(k, np.int64)
    for i in range(distances.shape[0]):
        of_row = distances[i]
        n_near = 0
        for j in range(np.uint64(of_row.shape[0])):
            if n_near == k and not of_row[j] < near[k - 1]:
                continue
            place = min(n_near, k - 1)
            while place > 0 and of_row[j] < near[place - 1]:
                near[place], which[place] = near[place - 1], which[place - 1]
                place -= 1
            near[place], which[place] = of_row[j], j
            n_near = min(n_near + 1, k)
        for place in range(k):
            nearest[i, place] = which[place]
