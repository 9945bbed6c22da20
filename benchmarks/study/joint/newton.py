"""Parts of Newton's method that both solvers share: a system solved by Cholesky's factor, and a line search."""

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
