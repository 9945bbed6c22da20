"""Newton's method on the active set for sparse rows, or for very many features: no matrix of features by features.

The same problems, paths and results as in `newton_kernels`. Newton's system is solved by conjugate gradients,
preconditioned by its diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.linear.newton_kernels import LOOSE_TOL, MOST_STEPS, best_step
from bayesfloor.classify.newton import conjugate_gradients
from bayesfloor.classify.training import F64, I64

#: Most products with the Hessian for one Newton step.
MOST_PRODUCTS = 500

#: Part of the gradient that a Newton step may leave.
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
