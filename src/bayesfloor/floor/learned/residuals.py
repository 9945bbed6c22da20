"""Spanning trees around a learned posterior: bounds given it, and a search for what it missed."""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned.training_rows import standardised
from bayesfloor.floor.trees.bayes_error import bayes_error
from bayesfloor.forest import spanning_forests

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Trees in which neighbours are sought.
N_TREES = 3


def posterior_bounds(q: Floats, codes: Ints, n_jobs: int | None, seed: int) -> tuple[float, float]:
    """Return the Henze-Penrose bounds that hold for anyone who sees the learned posterior only.

    Its square roots are the points, so that distances are Hellinger's and the dimension is that of the classes, however
    many features there are.

    Parameters
    ----------
    q : ndarray of shape (n, n_classes)
        Probabilities for each row by models that have not seen it.
    codes : ndarray of shape (n,)
        Classes of the rows.
    n_jobs : int or None
        Threads.
    seed : int
        Breaks ties.

    Returns
    -------
    (float, float)
    """
    floor = bayes_error(np.sqrt(q), codes, n_trees=N_TREES, n_jobs=n_jobs, random_state=seed)
    return floor.lower, floor.upper


def residual_test(X: Floats, codes: Ints, q: Floats, folds: Ints, n_jobs: int | None, seed: int) -> float:
    """Test whether neighbours err alike, which they do where a learned posterior has missed something local.

    Residuals are r = onehot(label) - q. Where q is the true posterior, those of different rows are independent with
    mean 0 and covariance diag(q) - qq', so products over the edges of a forest have mean 0, variance tr(S_i S_j), and
    are uncorrelated. The forests join rows of one fold, whose q comes from one model that has seen none of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    codes, q
        As for `posterior_bounds`.
    folds : ndarray of shape (n,)
        The fold of each row.
    n_jobs, seed
        As for `posterior_bounds`.

    Returns
    -------
    float
        Approximately standard normal if nothing was missed; large if something was.
    """
    residuals = np.eye(q.shape[1])[codes] - q
    points, _ = standardised(X, X[:0])
    total = variance = 0.0
    for fold in range(int(folds.max()) + 1):
        rows = np.flatnonzero(folds == fold)
        if len(rows) < 2:
            continue
        edges = spanning_forests(points[rows], n_trees=N_TREES, n_jobs=n_jobs, random_state=seed).edges
        i, j = rows[edges[:, 0]], rows[edges[:, 1]]
        total += float((residuals[i] * residuals[j]).sum())
        both = q[i] * q[j]
        variance += float((both * (1.0 - q[i] - q[j])).sum() + (both.sum(axis=1) ** 2).sum())
    return total / variance**0.5 if variance > 0 else 0.0
