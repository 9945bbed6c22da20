"""Parts of Newton's method that both solvers share: a system solved by Cholesky's factor or iteratively, and a search.

Conjugate gradients are not `scipy.sparse.linalg.cg`: that measures the residual without its preconditioner, does not
stop where curvature vanishes, and spends 10 to 20 µs per product on wrappers, as much as a product on small data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy import linalg

from bayesfloor.classify.training import F64

#: Most lengths that a line search evaluates. Usually 1 to 4 are enough.
MOST_TRIALS = 40


def cholesky_solve(matrix: F64, diagonals: Iterable[F64], vector: F64) -> F64 | None:
    """Solve matrix x = vector with the first of several diagonals that makes the matrix positive definite.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), C-contiguous
        Only the lower triangle is read. Its diagonal is overwritten.
    diagonals : iterable of ndarray of shape (n,)
        The diagonals to try, each larger than the one before.
    vector : ndarray of shape (n,)
        The right-hand side.

    Returns
    -------
    ndarray of shape (n,) or None
        None where no diagonal is large enough.
    """
    for diagonal in diagonals:
        matrix.flat[:: len(matrix) + 1] = diagonal
        try:
            factor = linalg.cho_factor(matrix.T, check_finite=False)  # LAPACK's order: a lower triangle is an upper one
        except linalg.LinAlgError:
            continue
        solution: F64 = linalg.cho_solve(factor, vector, check_finite=False)
        return solution
    return None


def conjugate_gradients(
    multiply: Callable[[F64], F64], precondition: Callable[[F64], F64], gradient: F64, tol: float, max_products: int
) -> tuple[F64, int, float]:
    """Solve H step = -gradient for a symmetric H without negative eigenvalues, starting from zero.

    Parameters
    ----------
    multiply : callable
        Returns H times an array of the gradient's shape.
    precondition : callable
        Returns an array times an approximate inverse M of H.
    gradient : ndarray
        Minus the right-hand side, of any shape.
    tol : float
        Stop when the norm of the residual r, the square root of r'M r, has fallen to this part of its first value.
    max_products : int
        Most products with H.

    Returns
    -------
    step : ndarray
        The solution. Where H has no curvature along a direction, the solution before that direction.
    n_products : int
        Products with H.
    left : float
        The norm of the residual at the end, as a part of its first value. 0 where the first direction has no curvature.
    """
    step, residual = np.zeros_like(gradient), -gradient
    direction = precondition(residual)
    size = first_size = float(np.vdot(residual, direction))
    n_products, left = 0, 0.0
    while n_products < max_products:
        n_products += 1
        product = multiply(direction)
        curvature = float(np.vdot(direction, product))
        if not curvature > 0.0 or size == 0.0:
            break
        length = size / curvature
        step += length * direction
        residual -= length * product
        scaled = precondition(residual)
        last_size, size = size, float(np.vdot(residual, scaled))
        left = max(size / first_size, 0.0) ** 0.5
        if left <= tol:
            break
        direction = scaled + size / last_size * direction
    return step, n_products, left


def line_search(
    evaluate: Callable[[float], tuple[float, bool]], slope_at_zero: float, *, edge: float, bisect_every: int = 0
) -> float:
    """Find a length along a descent direction at which a convex function is nearly flat.

    Doubles the length until the slope is positive, then interpolates linearly between the slopes at both ends of the
    bracket.

    Parameters
    ----------
    evaluate : callable
        Returns the slope at a length, and whether to stop there.
    slope_at_zero : float
        Below zero.
    edge : float
        How far from both ends of the bracket a trial stays, as a part of its width.
    bisect_every : int, default=0
        Every so many trials, take the middle of the bracket; 0 for never.

    Returns
    -------
    float
        The length that was evaluated last.
    """
    low, low_slope, high, high_slope = 0.0, slope_at_zero, np.inf, np.inf
    length = 1.0
    for n_trials in range(1, MOST_TRIALS + 1):
        slope, stop = evaluate(length)
        if stop or n_trials == MOST_TRIALS:
            break
        if slope > 0.0:
            high, high_slope = length, slope
        else:
            low, low_slope = length, slope
        if high == np.inf:
            length *= 2.0
        else:
            bisect = bisect_every > 0 and n_trials % bisect_every == 0
            share = 0.5 if bisect else low_slope / (low_slope - high_slope)
            length = low + (high - low) * min(max(share, edge), 1.0 - edge)
    return length
