"""Kernels of the GenSVM loss: its value along a line, its derivatives, and the sums that make its Hessian.

All of them work on the scores s of a row, one per class (see `gensvm_solver`). With y the row's class, the margin
against class j falls short by v_j = 1 - (s_y - s_j). The Huber hinge of width w = κ + 1 is, for u = min(max(v, 0), w),

    h = u (v - u/2) / w,      dh/dv = u / w,

which is zero, a parabola or a line where v is below 0, within (0, w) or above. The loss of a row is the p-norm of its
h_j, j ≠ y, and its Hessian in v is diag(a) - c c'. In s that is a matrix whose rows sum to zero, the Laplacian of a
graph of classes.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A hinge below this is zero: its share of a norm would not be a number.
TINY = 1e-200


@kernel(inline="always")
def _power(base: float, exponent: float) -> float:
    # The paper's p = 2 and p = 1.5 need no logarithm.
    if exponent == 1.0:
        return base
    if exponent == 0.5:
        return math.sqrt(base)
    return base**exponent


@kernel
def loss_along(
    scores: Floats, direction: Floats, step: float, codes: Ints, weight: Floats, p: float, width: float
) -> tuple[float, float]:
    """Return the loss at ``scores + step * direction``, up to 1e-15 or so, and its slope in step."""
    n, n_classes = scores.shape
    hinge = np.empty(n_classes)
    rise = np.empty(n_classes)
    own = min(1.0, width) * (1.0 - 0.5 * min(1.0, width))
    loss, slope = 0.0, 0.0
    for i in range(n):
        y = codes[i]
        shift = direction[i, y]
        base = 1.0 - scores[i, y] - step * shift
        if p == 1.0:
            row, row_slope = 0.0, 0.0
            for j in range(n_classes):
                v = max(base + scores[i, j] + step * direction[i, j], 0.0)
                u = min(v, width)
                row += u * (v - 0.5 * u)
                row_slope += u * (direction[i, j] - shift)
            row -= own  # the loop takes half the time when it need not ask whether j is y
            loss += weight[i] * row / width
            slope += weight[i] * row_slope / width
            continue
        largest = 0.0
        for j in range(n_classes):
            v = max(base + scores[i, j] + step * direction[i, j], 0.0)
            u = min(v, width)
            hinge[j] = u * (v - 0.5 * u) / width
            rise[j] = u / width
        hinge[y] = 0.0
        for j in range(n_classes):
            largest = max(largest, hinge[j])
        if largest == 0.0:
            continue
        total, row_slope = 0.0, 0.0
        for j in range(n_classes):
            if hinge[j] > 0.0:
                share = hinge[j] / largest
                power = _power(share, p - 1.0)
                total += share * power
                row_slope += power * rise[j] * (direction[i, j] - shift)
        norm = total ** (1.0 / p)
        loss += weight[i] * norm * largest
        slope += weight[i] * row_slope * norm / total
    return loss, slope


@kernel
def derivatives(
    scores: Floats,
    codes: Ints,
    weight: Floats,
    p: float,
    width: float,
    stiffness: float,
    gradient: Floats,
    diagonal: Floats,
    outer: Floats,
    outer_sum: Floats,
) -> float:
    """Return the loss; fill in its gradient in the scores and its curvature in v, both of shape (n, n_classes).

    The curvature of row i is ``diag(diagonal[i]) - outer[i] outer[i]'``; for p = 1 there is no second part, and outer
    is not touched. Where the hinge is a line, `stiffness` times the curvature of the parabola through 1 that lies above
    it is added: the Hessian is that of the loss for 0, and that of iterative majorisation for 1.

    Where all hinges are zero the loss has no second derivative for p > 1, but a gradient: zero.
    """
    n, n_classes = scores.shape
    rise = np.empty(n_classes)
    share = np.empty(n_classes)
    loss = 0.0
    for i in range(n):
        y = codes[i]
        base = 1.0 - scores[i, y]
        largest = 0.0
        for j in range(n_classes):
            v = max(base + scores[i, j], 0.0)
            u = min(v, width)
            h = u * (v - 0.5 * u) / width
            share[j] = h
            rise[j] = u / width
            if j == y or h < TINY:
                share[j] = 0.0
                rise[j] = 0.0
                diagonal[i, j] = 0.0
            elif v < width:
                diagonal[i, j] = (2.0 * p - 1.0) / width
            else:
                diagonal[i, j] = (p - 1.0) / h + stiffness / v
            largest = max(largest, share[j])
        total_rise = 0.0
        if p == 1.0:
            for j in range(n_classes):
                loss += weight[i] * share[j]
                gradient[i, j] = weight[i] * rise[j]
                diagonal[i, j] *= weight[i]
                total_rise += gradient[i, j]
            gradient[i, y] = -total_rise
            continue
        total_outer = 0.0
        if largest > 0.0:
            total = 0.0
            for j in range(n_classes):
                share[j] /= largest
                power = _power(share[j], p - 1.0) if share[j] > 0.0 else 0.0
                total += share[j] * power
                share[j] = power
            norm = total ** (1.0 / p)
            loss += weight[i] * norm * largest
            root = math.sqrt(weight[i] * (p - 1.0) / (norm * largest))
            for j in range(n_classes):
                pull = share[j] * norm / total  # the derivative of the norm in h_j
                gradient[i, j] = weight[i] * pull * rise[j]
                diagonal[i, j] *= weight[i] * pull
                outer[i, j] = root * pull * rise[j]
                total_rise += gradient[i, j]
                total_outer += outer[i, j]
            gradient[i, y] = -total_rise
        else:
            for j in range(n_classes):
                gradient[i, j] = 0.0
                outer[i, j] = 0.0
        outer_sum[i] = total_outer
    return loss


@kernel
def times_curvature(vectors: Floats, codes: Ints, diagonal: Floats, outer: Floats, p: float) -> None:
    """Multiply each row's vector of class scores by the row's Hessian, in place."""
    n, n_classes = vectors.shape
    for i in range(n):
        y = codes[i]
        own = vectors[i, y]
        projection = 0.0
        if p > 1.0:
            for j in range(n_classes):
                projection += outer[i, j] * (own - vectors[i, j])
        total = 0.0
        for j in range(n_classes):
            product = diagonal[i, j] * (own - vectors[i, j])
            if p > 1.0:
                product -= outer[i, j] * projection
            vectors[i, j] = -product
            total += product
        vectors[i, y] = total


@kernel
def sum_hessian(
    X: Floats, class_start: Ints, diagonal: Floats, outer: Floats, outer_sum: Floats, p: float, hessian: Floats
) -> None:
    """Fill in the lower half of the Hessian in all coefficients, (n_classes * d)², class by class.

    Rows of X are sorted by class; class k has those from ``class_start[k]`` to ``class_start[k + 1]``. Block (m, k) is
    a weighted sum of x x' over the rows in which both classes have a part. The blocks on the diagonal are minus the
    sums of the others, because a row's Hessian in the scores is a Laplacian.
    """
    d = X.shape[1]
    n_classes = diagonal.shape[1]
    largest = 0
    for y in range(n_classes):
        largest = max(largest, class_start[y + 1] - class_start[y])
    rows = np.empty(largest + 3, np.int64)
    factors = np.empty(largest + 3)
    block = np.empty((d, d))
    hessian[:] = 0.0
    for k in range(n_classes):
        for m in range(k + 1, n_classes):
            block[:] = 0.0
            for y in range(n_classes):
                if p == 1.0 and y not in (k, m):
                    continue
                n_rows = 0
                for i in range(class_start[y], class_start[y + 1]):
                    if y in (k, m):
                        j = m if y == k else k
                        factor = -diagonal[i, j]
                        if p > 1.0:
                            factor += outer[i, j] * outer_sum[i]
                    else:
                        factor = -outer[i, k] * outer[i, m]
                    if factor != 0.0:
                        rows[n_rows] = i
                        factors[n_rows] = factor
                        n_rows += 1
                _add_outer_products(X, rows, factors, n_rows, block)
            for e in range(d):
                for f in range(e + 1):
                    hessian[m * d + e, k * d + f] = block[e, f]
                    hessian[m * d + f, k * d + e] = block[e, f]
                    hessian[k * d + e, k * d + f] -= block[e, f]
                    hessian[m * d + e, m * d + f] -= block[e, f]


@kernel
def _add_outer_products(X: Floats, rows: Ints, factors: Floats, n_rows: int, block: Floats) -> None:
    """Add factor * x x' of each row to the lower half of a block; rows and factors have room for three more."""
    # Four rows at a time: each entry of the block is then read and written a quarter as often.
    while n_rows % 4 != 0:
        rows[n_rows] = rows[0]
        factors[n_rows] = 0.0
        n_rows += 1
    for q in range(0, n_rows, 4):
        i0, i1, i2, i3 = rows[q], rows[q + 1], rows[q + 2], rows[q + 3]
        for e in range(block.shape[0]):
            x0 = factors[q] * X[i0, e]
            x1 = factors[q + 1] * X[i1, e]
            x2 = factors[q + 2] * X[i2, e]
            x3 = factors[q + 3] * X[i3, e]
            for f in range(e + 1):
                block[e, f] += x0 * X[i0, f] + x1 * X[i1, f] + x2 * X[i2, f] + x3 * X[i3, f]
