"""Newton's method on the active set for sparse rows, or for very many features: no matrix of features by features.

The same problems, paths and results as in `newton_kernels`. Newton's system is solved by conjugate gradients,
preconditioned by its diagonal. They are not `scipy.sparse.linalg.cg`: that measures the residual without its
preconditioner, does not stop where curvature vanishes, and spends 10 to 20 µs per product on wrappers, as much as a
product on small data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.linear.newton_kernels import LOOSE_TOL, MOST_STEPS, best_step
from bayesfloor.classify.training import F64, I64

#: Maximum number of products with the Hessian per Newton step.
MOST_PRODUCTS = 500

#: Relative size of the gradient at which conjugate gradients stop.
INNER_TOL = 1e-4


def walk_sparse_path(
    Z: Any, weight: F64, fold_start: I64, penalties: F64, tol: F64, stopped: NDArray[np.uint8]
) -> tuple[F64, int, int]:
    """Solve a problem, and the same problem without each fold, at each penalty; see `newton_kernels.walk_path`.

    Z may be a CSR matrix or a dense one.
    """
    d = Z.shape[1]
    n_problems = len(fold_start)
    held = [(0, 0), *zip(fold_start[:-1].tolist(), fold_start[1:].tolist(), strict=True)]
    transposed = Z.T.tocsr() if hasattr(Z, "tocsr") else Z.T
    squares = Z.power(2).T.tocsr() if hasattr(Z, "tocsr") else np.square(Z).T
    scale = np.abs(transposed @ weight).max()
    w = np.zeros((n_problems, d))
    coefficients = np.empty((n_problems, len(penalties), d))
    n_steps, n_failed = 0, 0
    for level, penalty in enumerate(penalties):
        last = w[0].copy()
        for q, (held_from, held_to) in enumerate(held):
            if q > 0:
                w[q] += w[0] - last
            margin = Z @ w[q]
            share = weight.copy()
            share[held_from:held_to] = 0.0
            for _ in range(MOST_STEPS):
                if stopped[0]:
                    return coefficients, n_steps, n_failed
                active = np.where(margin < 1.0, share, 0.0)
                gradient = penalty * w[q] - transposed @ (active * (1.0 - margin))
                if np.abs(gradient).max() <= tol[min(q, 1)] * scale:
                    break
                toward = _newton_step(Z, transposed, squares, active, penalty, gradient)
                ahead = margin + Z @ toward
                slope = float(gradient @ toward)
                linear, quadratic = penalty * float(toward @ w[q]), penalty * float(toward @ toward)
                step = best_step(margin, ahead, weight, held_from, held_to, linear, quadratic, slope)
                w[q] += step * toward
                margin = Z @ w[q]
                n_steps += 1
            n_failed += not np.abs(gradient).max() <= LOOSE_TOL * scale
        coefficients[:, level] = w
    return coefficients, n_steps, n_failed


def _newton_step(Z: Any, transposed: Any, squares: Any, active: F64, penalty: float, gradient: F64) -> F64:
    """Solve (penalty I + Z' diag(active) Z) step = -gradient."""
    diagonal = penalty + squares @ active

    def multiply(direction: F64) -> F64:
        product: F64 = penalty * direction + transposed @ (active * (Z @ direction))
        return product

    return conjugate_gradients(multiply, lambda residual: residual / diagonal, gradient, INNER_TOL, MOST_PRODUCTS)[0]


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
