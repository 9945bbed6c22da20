"""Kernels of Crammer & Singer's loss, smoothed; see `crammer_singer_solver`.

With s the scores of a row of class y, one per class, and δ_k = 1 for k ≠ y, δ_y = 0, its loss is

    max_k (δ_k + s_k) - s_y  =  max_a  a'(δ + s) - s_y

over shares a of the classes, not below zero, with sum 1. A proximal term with center b and step p makes it smooth in s:

    max_a  a'(δ + s) - s_y - |a - b|² / 2p.

The maximum is at the projection of b + p (δ + s) onto the simplex. A class is active where its share is above zero. The
second derivative in s is p times the projection onto vectors that sum to zero over the active classes and are zero
elsewhere; a row with one active class has none.
"""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Rows of one matrix product in the Hessian.
CHUNK = 2048


@kernel
def loss_along(
    scores: Floats,
    direction: Floats,
    step: float,
    codes: Ints,
    weight: Floats,
    center: Floats,
    prox_step: float,
    shares: Floats,
    n_active: Ints,
) -> tuple[float, float]:
    """Return the smoothed loss at ``scores + step * direction`` and its slope in step.

    Fills in the shares of each row, and how many of them are above zero.
    """
    n, n_classes = scores.shape
    violation, wish = np.empty(n_classes), np.empty(n_classes)
    candidates = np.empty(n_classes, np.int64)
    loss, slope = 0.0, 0.0
    for i in range(n):
        y = codes[i]
        for k in range(n_classes):
            violation[k] = 1.0 + scores[i, k] + step * direction[i, k]
        violation[y] -= 1.0
        largest, distance = -np.inf, 0.0
        for k in range(n_classes):
            wish[k] = center[i, k] + prox_step * violation[k]
            largest = max(largest, wish[k])
            distance += center[i, k] ** 2
            shares[i, k] = 0.0
        # The nearest point of the simplex is max(wish - level, 0). Its level rises from that of a set of classes which
        # holds all shares above zero, as classes below it leave the set.
        size, total, level = 0, 0.0, 0.0
        for k in range(n_classes):
            if wish[k] - largest > -1.0:
                candidates[size] = k
                size += 1
                total += wish[k] - largest
        count = 0
        while count < size:
            if count > 0:
                size = count
            level = (total - 1.0) / size
            count, total = 0, 0.0
            for j in range(size):
                k = candidates[j]
                if wish[k] - largest > level:
                    candidates[count] = k
                    count += 1
                    total += wish[k] - largest
        n_active[i] = size
        row, row_slope = 0.0, 0.0
        for j in range(size):
            k = candidates[j]
            share = wish[k] - largest - level
            shares[i, k] = share
            distance += share * (share - 2.0 * center[i, k])
            row += share * violation[k]
            row_slope += share * direction[i, k]
        loss += weight[i] * (row - violation[y] - 0.5 * distance / prox_step)
        slope += weight[i] * (row_slope - direction[i, y])
    return loss, slope


@kernel
def gradient_in_scores(shares: Floats, codes: Ints, weight: Floats, gradient: Floats) -> None:
    """Fill in the derivative of the loss in the scores, (n, n_classes)."""
    n, n_classes = shares.shape
    for i in range(n):
        for k in range(n_classes):
            gradient[i, k] = weight[i] * shares[i, k]
        gradient[i, codes[i]] -= weight[i]


@kernel
def loss_and_dual(scores: Floats, codes: Ints, weight: Floats, shares: Floats) -> tuple[float, float]:
    """Return the loss, not smoothed, and the part of the dual objective that is linear in the shares."""
    n, n_classes = scores.shape
    loss, dual = 0.0, 0.0
    for i in range(n):
        y = codes[i]
        worst = scores[i, y]
        for k in range(n_classes):
            if k != y:
                worst = max(worst, 1.0 + scores[i, k])
                dual += weight[i] * shares[i, k]
        loss += weight[i] * (worst - scores[i, y])
    return loss, dual


@kernel
def times_curvature(vectors: Floats, shares: Floats, n_active: Ints, weight: Floats, prox_step: float) -> None:
    """Multiply each row, in the scores, by its second derivative."""
    n, n_classes = vectors.shape
    for i in range(n):
        mean = 0.0
        for k in range(n_classes):
            if shares[i, k] > 0.0:
                mean += vectors[i, k]
        mean /= n_active[i]
        for k in range(n_classes):
            vectors[i, k] = weight[i] * prox_step * (vectors[i, k] - mean) if shares[i, k] > 0.0 else 0.0


@kernel
def curved_directions(shares: Floats, n_active: Ints) -> tuple[Ints, Floats]:
    """Return unit vectors in the scores that span those with curvature, and the row that each belongs to.

    For a row with m shares, m - 1 of them: the sum of the first j of its classes against the next one.
    """
    n, n_classes = shares.shape
    rank = np.sum(n_active) - n
    rows = np.empty(rank, np.int64)
    vectors = np.zeros((rank, n_classes))
    place = 0
    for i in range(n):
        if n_active[i] < 2:
            continue
        before = 0
        for k in range(n_classes):
            if shares[i, k] > 0.0:
                if before > 0:
                    norm = 1.0 / np.sqrt(before * (before + 1.0))
                    for j in range(k):
                        if shares[i, j] > 0.0:
                            vectors[place, j] = norm
                    vectors[place, k] = -before * norm
                    rows[place] = i
                    place += 1
                before += 1
    return rows, vectors


@kernel
def sum_hessian(X: Floats, shares: Floats, n_active: Ints, weight: Floats, prox_step: float, hessian: Floats) -> None:
    """Fill in the lower half of the second derivative of the loss in the coefficients, class by class.

    Each pair of classes is a matrix product over the rows that have a share of both.
    """
    n_features, n_classes = X.shape[1], shares.shape[1]
    start, rows = _rows_by_pair(shares, n_active)
    left, right = np.empty((CHUNK, n_features)), np.empty((CHUNK, n_features))
    hessian[:] = 0.0
    for a in range(n_classes):
        for b in range(a + 1):
            pair = a * n_classes + b
            block = hessian[a * n_features : (a + 1) * n_features, b * n_features : (b + 1) * n_features]
            for first in range(start[pair], start[pair + 1], CHUNK):
                size = min(CHUNK, start[pair + 1] - first)
                for j in range(size):
                    i = rows[first + j]
                    factor = weight[i] * prox_step * ((1.0 if a == b else 0.0) - 1.0 / n_active[i])
                    for feature in range(n_features):
                        left[j, feature] = X[i, feature]
                        right[j, feature] = factor * X[i, feature]
                block += np.dot(left[:size].T, right[:size])


@kernel
def _rows_by_pair(shares: Floats, n_active: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """List the rows of each pair of active classes, pair by pair; return where each pair begins, and the rows."""
    n, n_classes = shares.shape
    start = np.zeros(n_classes * n_classes + 1, np.int64)
    place = start
    rows = np.empty(0, np.int32)
    for is_counted in (False, True):
        if is_counted:
            start = np.cumsum(start)
            place = start.copy()
            rows = np.empty(start[-1], np.int32)
        for i in range(n):
            if n_active[i] < 2:
                continue
            for a in range(n_classes):
                if shares[i, a] > 0.0:
                    for b in range(a + 1):
                        if shares[i, b] > 0.0:
                            pair = a * n_classes + b
                            if is_counted:
                                rows[place[pair]] = i
                                place[pair] += 1
                            else:
                                start[pair + 1] += 1
    return start, rows
