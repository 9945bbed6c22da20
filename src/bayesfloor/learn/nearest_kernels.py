"""Kernels: the nearest of many rows, and kernel ridge regression of them."""

import numpy as np

from bayesfloor.learn.landmarks.feature_kernels import ZERO, exp_of_row
from bayesfloor.runtime.kernels import kernel

TINY = np.float32(1e-20)


@kernel
def keep_nearest(distances, numbers, nearest, rows):
    """Update the nearest rows of each test row with a block of others; of equal distances, the first row is nearer.

    Parameters
    ----------
    distances : ndarray of shape (n_test, n)
        Distances from test rows.
    numbers : ndarray of shape (n,)
        Numbers of the others, ascending.
    nearest, rows : ndarray of shape (n_test, k)
        Distances and numbers of the nearest so far, ascending; changed in place.
    """
    n_test, n = distances.shape
    k = nearest.shape[1]
    for i in range(n_test):
        farthest = nearest[i, k - 1]
        for p in range(n):
            d = distances[i, p]
            if d < farthest or (d == farthest and numbers[p] < rows[i, k - 1]):
                place = k - 1
                while place > 0 and (
                    nearest[i, place - 1] > d or (nearest[i, place - 1] == d and rows[i, place - 1] > numbers[p])
                ):
                    nearest[i, place] = nearest[i, place - 1]
                    rows[i, place] = rows[i, place - 1]
                    place -= 1
                nearest[i, place] = d
                rows[i, place] = numbers[p]
                farthest = nearest[i, k - 1]


@kernel(fastmath=True)
def cholesky_solve(matrix, k, right):
    """Solve matrix x = right in place, for a symmetric positive definite matrix whose lower triangle is given."""
    for i in range(k):
        for j in range(i + 1):
            total = matrix[i, j]
            for p in range(j):
                total -= matrix[i, p] * matrix[j, p]
            matrix[i, j] = np.sqrt(max(total, TINY)) if i == j else total / matrix[j, j]
    for i in range(k):
        total = right[i]
        for p in range(i):
            total -= matrix[i, p] * right[p]
        right[i] = total / matrix[i, i]
    for i in range(k - 1, -1, -1):
        total = right[i]
        for p in range(i + 1, k):
            total -= matrix[p, i] * right[p]
        right[i] = total / matrix[i, i]


@kernel(fastmath=True)
def fit_nearest(rows, tests, nearest, scale, penalties, codes, values, middle, out):
    """Regress targets on the nearest rows of each test row, by kernel ridge regression.

    Parameters
    ----------
    rows, tests : ndarray of shape (n, d) and (n_test, d), float32
        Rows with targets, and rows to predict.
    nearest : ndarray of shape (n_test, k)
        Nearest rows of each test row.
    scale : float32
        Of squared distances in the exponent of the kernel.
    penalties : ndarray of shape (n,), float32
        What is added to the diagonal of the kernel for each row.
    codes, values : ndarray of shape (n,), int32 and float32
        Which target of each row is not 0, and what it is.
    middle : ndarray of shape (n_targets,), float32
        What targets are less.
    out : ndarray of shape (n_test, n_targets), float32
        Predictions.
    """
    n_test, k = nearest.shape
    d = rows.shape[1]
    points, matrix = np.empty((k, d), np.float32), np.empty((k, k), np.float32)
    weights, bits = np.empty(k, np.float32), np.empty(k, np.int32)
    powers = bits.view(np.float32)
    for q in range(n_test):
        for i in range(k):
            square = ZERO
            for c in range(d):
                points[i, c] = rows[nearest[q, i], c]
                square += (points[i, c] - tests[q, c]) ** 2
            weights[i] = scale * square
            for j in range(i):
                square = ZERO
                for c in range(d):
                    square += (points[i, c] - points[j, c]) ** 2
                matrix[i, j] = scale * square
            exp_of_row(matrix[i], i, bits, powers)
            matrix[i, i] = np.float32(1.0) + penalties[nearest[q, i]]
        exp_of_row(weights, k, bits, powers)
        cholesky_solve(matrix, k, weights)
        for t in range(len(middle)):
            out[q, t] = ZERO
        for i in range(k):
            code, value = codes[nearest[q, i]], values[nearest[q, i]]
            for t in range(len(middle)):
                out[q, t] += weights[i] * ((value if t == code else ZERO) - middle[t])
