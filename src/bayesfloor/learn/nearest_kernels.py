"""Kernels: the nearest of many rows."""

from bayesfloor.runtime.kernels import kernel


@kernel
def keep_nearest(distances, first, nearest, rows):
    """Update the nearest rows of each test row with a block of others; of equal distances, the first row is nearer.

    Parameters
    ----------
    distances : ndarray of shape (n_test, n)
        Distances from test rows.
    first : int
        Number of the first of the others.
    nearest, rows : ndarray of shape (n_test, k)
        Distances and numbers of the nearest so far, ascending; changed in place.
    """
    n_test, n = distances.shape
    k = nearest.shape[1]
    for i in range(n_test):
        farthest = nearest[i, k - 1]
        for p in range(n):
            if distances[i, p] < farthest:
                place = k - 1
                while place > 0 and nearest[i, place - 1] > distances[i, p]:
                    nearest[i, place] = nearest[i, place - 1]
                    rows[i, place] = rows[i, place - 1]
                    place -= 1
                nearest[i, place] = distances[i, p]
                rows[i, place] = first + p
                farthest = nearest[i, k - 1]
