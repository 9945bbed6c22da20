"""Kernels: the lasso by coordinate descent on products of columns (Friedman, Hastie and Tibshirani 2010)."""

import numpy as np

from bayesfloor.runtime.kernels import kernel


@kernel
def lasso_path(gram, moments, penalties, n_sweeps, tolerance, coefficients):
    """Fit the lasso at falling penalties, each from where the last one ended.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        Products of centred columns.
    moments : ndarray of shape (d,)
        Their products with the target.
    penalties : ndarray of shape (n_penalties,)
        Penalties of the absolute coefficients: of ½|y - Xw|² + penalty |w|₁.
    n_sweeps : int
        Sweeps over the columns at the most, for each penalty.
    tolerance : float
        Change of a coefficient, times the length of its column, below which a sweep is the last.
    coefficients : ndarray of shape (n_penalties, d)
        The solutions are written here.
    """
    d = moments.shape[0]
    w = np.zeros(d)
    slopes = moments.copy()  # moments - gram @ w
    for p in range(penalties.shape[0]):
        for _ in range(n_sweeps):
            largest = 0.0
            for j in range(d):
                length = gram[j, j]
                if not length > 0:
                    continue
                target = slopes[j] + length * w[j]
                size = max(abs(target) - penalties[p], 0.0)
                new = size / length if target > 0 else -size / length
                change = new - w[j]
                if change != 0.0:
                    w[j] = new
                    for k in range(d):
                        slopes[k] -= change * gram[j, k]
                    largest = max(largest, abs(change) * length**0.5)
            if largest < tolerance:
                break
        coefficients[p] = w
