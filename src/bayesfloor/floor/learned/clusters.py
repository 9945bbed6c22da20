"""How much rows say that belong together: errors of one group, or of one stretch of time, are alike.

The variance of a mean over clusters of rows is Σ_g (Σ_{i in g} (v_i - v̄))² / n². As many independent rows as have that
variance are the *effective* rows, and with them the formulas for independent rows hold (Korn and Graubard 1998).
"""

import numpy as np
from scipy.special import stdtrit

from bayesfloor.runtime.arrays import Floats, Ints


def clustered_error(values: Floats, clusters: Ints) -> float:
    """Return the standard error of a mean, of which clusters and not rows are independent.

    Parameters
    ----------
    values : ndarray of shape (n,)
        A value for each row.
    clusters : ndarray of shape (n,)
        The cluster of each row, from 0.

    Returns
    -------
    float
    """
    sums = np.bincount(clusters, values - values.mean())
    n_clusters = len(np.unique(clusters))
    return float(np.sqrt(n_clusters / max(n_clusters - 1, 1) * (sums**2).sum()) / len(values))


def effective_rows(errors: Floats, clusters: Ints, confidence: float, weights: Floats | None = None) -> float:
    """Return how many independent rows say as much about an error, or a difference of two, as these.

    The design effect is by how much the variance of the mean exceeds that of independent rows. Few errors cannot show
    it: clusters with errors are taken as so many observations of it, beside one that says that clusters err as a whole.
    With few clusters the variance itself is a guess, and Student's quantile takes the place of the normal one.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        1 where a row is predicted wrongly, else 0; of a difference 1, 0 or -1.
    clusters : ndarray of shape (n,)
        The cluster of each row, from 0.
    confidence : float
        Level of the interval that the number is for.
    weights : ndarray of shape (n,) or None, default=None
        What each row counts, 1 on average; None where all count the same.

    Returns
    -------
    float
        At most n.
    """
    n, size, values = len(errors), np.abs(errors), errors
    if weights is not None:
        size = weights * size
        mean = float(weights @ errors) / n
        values = mean + weights * (errors - mean)
    share, sizes = float(values.mean()), np.bincount(clusters, weights)
    n_clusters = n**2 / float((sizes**2).sum())  # clusters of equal size that vary as much
    n_with_errors = int(np.count_nonzero(np.bincount(clusters, size)))
    variance = float(size.mean()) - share**2 if np.any(errors < 0.0) else share * (1.0 - share)
    observed = n * clustered_error(values, clusters) ** 2 / variance if variance > 0.0 else 1.0
    as_a_whole = n / n_clusters
    design_effect = max(1.0, (n_with_errors * observed + as_a_whole) / (n_with_errors + 1))
    tail = 0.5 + 0.5 * confidence
    quantiles = stdtrit(n - 1, tail) / stdtrit(max(n_clusters - 1.0, 1.0), tail)
    return float(n / design_effect * quantiles**2)
