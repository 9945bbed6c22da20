"""Compiled search for the nearest rows of each row, and kernel ridge regression of these."""

from typing import Any

import numpy as np

from bayesfloor.learn.landmarks.feature_kernels import ZERO, exp_of_row
from bayesfloor.runtime.kernels import kernel

FAR = np.float32(3e38)
TINY = np.float32(1e-20)


@kernel(fastmath=True)
def _keep(distance: Any, row: int, nearest: Any, distances: Any) -> None:
    """Put a row among the nearest ones, in order of distance, if it is nearer than the last of them."""
    place = len(distances) - 1
    if not distance < distances[place]:
        return
    while place > 0 and distances[place - 1] > distance:
        distances[place], nearest[place] = distances[place - 1], nearest[place - 1]
        place -= 1
    distances[place], nearest[place] = distance, row


@kernel(fastmath=True)
def _square(a: Any, b: Any) -> Any:
    total = ZERO
    for j in range(len(a)):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@kernel
def find_nearest(
    query: Any, rows: Any, centres: Any, starts: Any, cells: Any, of_cells: Any, nearest: Any, distances: Any
) -> int:
    """Find the nearest rows of one row in the cells whose centres are nearest to it.

    Parameters
    ----------
    query : ndarray of shape (d,), float32
        The row.
    rows : ndarray of shape (n, d), float32
        Rows, cell by cell.
    centres : ndarray of shape (n_cells, d), float32
        Centres of the cells.
    starts : ndarray of shape (n_cells + 1,)
        The first row of each cell.
    cells, of_cells : ndarray of shape (n_searched,)
        Working memory: the nearest cells, and their distances.
    nearest, distances : ndarray of shape (k,)
        What is found, the nearest first.

    Returns
    -------
    int
        How many rows were found, k at the most.
    """
    of_cells[:], cells[:] = FAR, -1
    for c in range(len(centres)):
        _keep(_square(query, centres[c]), c, cells, of_cells)
    distances[:] = FAR
    for cell in cells:
        if cell < 0:  # no other centre is at a distance that float32 holds
            break
        for row in range(starts[cell], starts[cell + 1]):
            _keep(_square(query, rows[row]), row, nearest, distances)
    found = 0
    while found < len(nearest) and distances[found] < FAR:
        found += 1
    return found


@kernel
def assign_cells(rows: Any, centres: Any, cells: Any) -> None:
    """Write the number of the nearest centre of each row, the first of several."""
    for i in range(len(rows)):
        best = FAR
        for c in range(len(centres)):
            distance = _square(rows[i], centres[c])
            if distance < best:
                best, cells[i] = distance, c


@kernel(fastmath=True)
def cholesky_solve(matrix: Any, k: int, right: Any) -> None:
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
def fit_locally(
    queries: Any,
    rows: Any,
    centres: Any,
    starts: Any,
    n_searched: int,
    k: int,
    width: float,
    penalties: Any,
    codes: Any,
    prior: Any,
    probabilities: Any,
    near: Any,
    residuals: Any,
) -> None:
    """Regress classes, and residuals, on the nearest rows of each row, by kernel ridge regression with its own width.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, d), float32
        Rows to predict.
    rows, centres, starts : ndarray
        Rows by cells, see `find_nearest`.
    n_searched : int
        How many cells are searched.
    k : int
        Nearest rows.
    width : float
        Width of the kernel, as a share of the root mean squared distance between the nearest rows (or, if that is more,
        to them).
    penalties : ndarray of shape (n,), float32
        What is added to the kernel's diagonal for each row.
    codes : ndarray of shape (n,)
        Classes of the rows.
    prior : ndarray of shape (n_classes,), float32
        Shares of the classes, which the regression starts from.
    probabilities : ndarray of shape (n, n_classes), float32
        Of another model for the rows; no columns where its residuals are not regressed.
    near, residuals : ndarray of shape (n_queries, n_classes), float32
        Regressions of the classes, and of the residuals of the other model (zeros where no row is near), if any.
    """
    cells, of_cells = np.empty(n_searched, np.int64), np.empty(n_searched, np.float32)
    nearest, distances = np.zeros(k, np.int64), np.empty(k, np.float32)
    matrix, weights = np.empty((k, k), np.float32), np.empty(k, np.float32)
    bits = np.empty(k, np.int32)
    powers = bits.view(np.float32)
    for q in range(len(queries)):
        n_used = find_nearest(queries[q], rows, centres, starts, cells, of_cells, nearest, distances)
        total, to_query = ZERO, ZERO
        for i in range(n_used):
            to_query += distances[i]
            for j in range(i):
                square = _square(rows[nearest[i]], rows[nearest[j]])
                matrix[i, j] = square
                total += square
        n_pairs = n_used * (n_used - 1) // 2
        mean = max(total / np.float32(max(n_pairs, 1)), to_query / np.float32(max(n_used, 1)))
        scale = np.float32(-0.5) / max(np.float32(width * width) * mean, TINY)
        for i in range(n_used):
            for j in range(i):
                matrix[i, j] *= scale
            exp_of_row(matrix[i], i, bits, powers)
            matrix[i, i] = np.float32(1.0) + penalties[nearest[i]]
            weights[i] = distances[i] * scale
        exp_of_row(weights, n_used, bits, powers)
        cholesky_solve(matrix, n_used, weights)
        left = np.float32(1.0)
        for i in range(n_used):
            left -= weights[i]
        for c in range(near.shape[1]):
            near[q, c] = left * prior[c]
        residuals[q, :] = ZERO
        for i in range(n_used):
            row = nearest[i]
            near[q, codes[row]] += weights[i]
            for c in range(residuals.shape[1]):
                residuals[q, c] -= weights[i] * probabilities[row, c]
            if residuals.shape[1] > 0:
                residuals[q, codes[row]] += weights[i]
