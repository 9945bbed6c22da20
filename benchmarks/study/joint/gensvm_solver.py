"""The optimum of the GenSVM loss, by Newton steps, along a path of penalties.

GenSVM (van den Burg & Groenen 2016) places the K classes at the corners u_k of a regular simplex in K - 1 dimensions
and maps a row to z = x'W + t'. Only the scores s_k = z'u_k enter its loss, through the margins s_y - s_k. So the solver
works on B = U W' and b = U t, a row of coefficients for each class, and no product with U is left: U'U = I/2 turns the
penalty λ tr W'W into 2 λ tr B'B.

What was tried, on pendigits (10 992 × 16, 10 classes), for a path of 19 λ from 2^18 to 2^-18, on one core:

- L-BFGS, told the optimum so that it could stop 1e-6 above it: 1.3 to 2.0 s and 900 to 1300 evaluations; 1.6 to 2.5 s
  unless features were whitened. Without warm starts, at λ = 2^-18, p = 1 and κ = -0.9, segment took 2000 evaluations.
- Newton steps by conjugate gradients, to 1e-8: 1.0 to 1.4 s. For small λ a step takes up to 250 products.
- Newton steps by a Cholesky factor, to 1e-8: 0.5 to 0.7 s for p = 1 and 2 s for p > 1. With a large λ all classes have
  a part in all rows, and for p > 1 their pairs cost more than conjugate gradients; with a small λ, a tenth of them.
- Iterative majorisation, by the authors: 162 to 15 000 steps where 4 to 18 of these are enough (the golden values).

Each step here takes the cheaper of the second and the third: 0.5 to 0.9 s for these paths. Alone, both fail where κ is
near -1: almost every hinge is then a line, without curvature. So a part of the curvature of iterative majorisation is
added there (`stiffness`), more after a step that was too long and less otherwise. It took the cold start on segment
from 148 steps to 90.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.training import F64, I64
from bayesfloor.runtime.limits import check_memory
from benchmarks.study.joint.gensvm_kernels import derivatives, loss_along, sum_hessian, times_curvature
from benchmarks.study.joint.newton import cholesky_solve, conjugate_gradients, line_search

#: Most coefficients for which the Hessian is built; it takes 128 MB.
MOST_UNKNOWNS = 4000

#: Products with the Hessian that the first step by conjugate gradients is expected to take.
FIRST_PRODUCTS = 5

#: Most products with the Hessian for one step by conjugate gradients.
MOST_PRODUCTS = 250

#: Largest tolerance of conjugate gradients, as a part of the gradient. A step that leaves more says nothing about how
#: far the optimum is.
LARGEST_INNER_TOL = 0.1

#: Stiffness at the first λ, where the coefficients start at zero: the Hessian of iterative majorisation.
COLD_STIFFNESS = 1.0

#: Stiffness at each further λ, which starts from the solution before.
WARM_STIFFNESS = 0.1

#: Largest stiffness with which a solution counts as converged.
FINAL_STIFFNESS = 1e-3

#: Smallest stiffness: without any, intercepts may have no curvature.
SMALLEST_STIFFNESS = 1e-6

#: Absolute error of the loss by rounding; the loss at zero coefficients is about 1.
LOSS_ROUNDING = 1e-15

#: Largest penalty of a coefficient, for a feature of unit variance. It already makes the coefficient zero.
LARGEST_PENALTY = 1e250


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """A training set, sorted by class and scaled.

    Attributes
    ----------
    X : ndarray of shape (n, d + 1)
        Features with mean 0 and spread 1 and a column of ones, sorted by class.
    codes : ndarray of shape (n,)
        Class of each row.
    class_start : ndarray of shape (n_classes + 1,)
        Where each class begins.
    weight : ndarray of shape (n,)
        What the loss of each row is multiplied by: its weight over the sum of all weights.
    centre, scale : ndarray of shape (d,)
        What was subtracted from the features, and what they were then divided by.
    """

    X: F64
    codes: I64
    class_start: I64
    weight: F64
    centre: F64
    scale: F64

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_start) - 1

    def penalty(self, lmd: float) -> F64:
        """Return the curvature of the penalty in each coefficient of a class, (d + 1,)."""
        with np.errstate(over="ignore", divide="ignore"):
            per_feature = 4.0 * lmd / self.scale / self.scale
        return np.append(np.minimum(per_feature, LARGEST_PENALTY), 0.0)

    def scaled(self, X: F64) -> F64:
        """Return other rows on the same scale, with a column of ones."""
        return np.column_stack([(X - self.centre) / self.scale, np.ones(len(X))])


def scale_rows(X: F64, codes: I64, n_classes: int, weight: F64, weights: str, keys: NDArray[np.uint64]) -> ScaledRows:
    """Sort and scale a training set for the solver.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    codes : ndarray of shape (n,)
        Class of each row.
    n_classes : int
        How many classes there are; each has a row.
    weight : ndarray of shape (n,)
        Weight of each row, above zero.
    weights : {"unit", "group"}
        Whether all rows or all classes count the same.
    keys : ndarray of shape (n,)
        Rows of a class come in this order, so that sums do not depend on the order in which they were given.

    Returns
    -------
    ScaledRows
    """
    n, d = X.shape
    check_memory(8.0 * n * (d + 1 + 6 * n_classes), f"GenSVM on {n} rows, {d} features and {n_classes} classes")
    order = np.lexsort((weight, keys, codes))
    codes, weight = codes[order], weight[order] / weight.max()
    if weights == "group":
        weight /= np.bincount(codes, weight, n_classes)[codes]
    weight /= weight.sum()

    scaled = np.empty((n, d + 1))
    features = scaled[:, :d]
    np.take(X, order, axis=0, out=features)
    scaled[:, d] = 1.0
    # Sums of squares must not overflow, so the largest value becomes 1 first; powers of two lose nothing.
    size = _power_of_two(np.abs(features).max(axis=0))
    features /= size
    centre = features.mean(axis=0)
    features -= centre
    features[:, X.max(axis=0) == X.min(axis=0)] = 0.0  # a mean may be off by a rounding error
    spread = _power_of_two(features.std(axis=0))
    features /= spread
    class_start = np.searchsorted(codes, np.arange(n_classes + 1))
    with np.errstate(over="ignore", under="ignore"):
        scale = size * spread
    return ScaledRows(scaled, codes, class_start, weight, centre * size, np.maximum(scale, np.finfo(float).tiny))


def _power_of_two(values: F64) -> F64:
    """Return the largest power of two below each value, 1 for zero."""
    return np.where(values > 0, np.exp2(np.frexp(values)[1] - 1.0), 1.0)


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients (n_classes, d + 1) in scaled features, their loss, and how they were reached."""

    coefficients: F64
    loss: float
    n_iter: int
    converged: bool


def walk_path(
    rows: ScaledRows,
    lmds: F64,
    p: float,
    kappa: float,
    *,
    tol: float,
    max_iter: int,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Solution]:
    """Minimise the loss for one λ after the other, each from the solution of the one before.

    Parameters
    ----------
    rows : ScaledRows
        The training set.
    lmds : ndarray of shape (n_lmds,)
        Penalties, falling: a large one is easy from zero.
    p, kappa : float
        Norm and Huber constant.
    tol : float
        How far above the optimum to stop, as a part of it.
    max_iter : int
        Most Newton steps for each λ.
    check : callable
        Called now and then; an exception that it raises ends the work.

    Yields
    ------
    Solution
        One for each λ.
    """
    descent = _Descent(rows, p, kappa + 1.0)
    stiffness = COLD_STIFFNESS
    for lmd in lmds:
        yield descent.run(float(lmd), stiffness, tol, max_iter, check)
        stiffness = WARM_STIFFNESS


class _Descent:
    """The state of the minimisation, and its buffers."""

    def __init__(self, rows: ScaledRows, p: float, width: float) -> None:
        self.rows, self.p, self.width = rows, p, width
        self.B = np.zeros((rows.n_classes, rows.X.shape[1]))
        shape = (len(rows.X), rows.n_classes)
        self.scores = np.zeros(shape)
        self.gradient_in_scores, self.diagonal = np.empty(shape), np.empty(shape)
        self.outer, self.outer_sum = np.zeros(shape if p > 1.0 else (0, 0)), np.zeros(shape[0])
        self.expected_products = FIRST_PRODUCTS

    def run(self, lmd: float, stiffness: float, tol: float, max_iter: int, check: Callable[[], None]) -> Solution:
        """Minimise the loss for one λ, starting from the last solution."""
        self.penalty = self.rows.penalty(lmd)
        self.inner_tol = LARGEST_INNER_TOL
        self.inexact = False
        loss, n_iter, converged = self._evaluate(stiffness), 0, False
        while not converged and n_iter < max_iter:
            check()
            gradient = self.gradient_in_scores.T @ self.rows.X + self.penalty * self.B
            step = self._newton_step(gradient)
            # Twice the decrease of the quadratic model.
            decrease = -float(np.vdot(gradient, step))
            near = decrease <= 2.0 * (tol * loss + LOSS_ROUNDING)
            converged = near and stiffness <= FINAL_STIFFNESS and not self.inexact
            length = self._line_search(step, decrease, loss)
            # Inexact Newton: a tolerance that falls with the decrease gives superlinear convergence.
            self.inner_tol = min(LARGEST_INNER_TOL, (max(decrease, 0.0) / (loss + LOSS_ROUNDING)) ** 0.5)
            if near:
                stiffness = min(stiffness, FINAL_STIFFNESS)
            elif length < 0.5:
                stiffness = min(4.0 * stiffness, 1.0)
            elif length > 0.8:
                stiffness = max(stiffness / 10.0, SMALLEST_STIFFNESS)
            loss = self._evaluate(stiffness)
            n_iter += 1
        return Solution(self.B.copy(), loss, n_iter, converged)

    def _evaluate(self, stiffness: float) -> float:
        """Return the loss, and store its derivatives."""
        loss: float = derivatives(
            self.scores,
            self.rows.codes,
            self.rows.weight,
            self.p,
            self.width,
            stiffness,
            self.gradient_in_scores,
            self.diagonal,
            self.outer,
            self.outer_sum,
        )
        return loss + 0.5 * float(np.vdot(self.B, self.penalty * self.B))

    def _newton_step(self, gradient: F64) -> F64:
        """Minimise the quadratic model of the loss, by the method that is expected to take less time."""
        n, d = self.rows.X.shape
        n_unknowns = gradient.size
        if n_unknowns > MOST_UNKNOWNS:
            return self._step_by_conjugate_gradients(gradient)
        parts = np.count_nonzero(self.diagonal, axis=1)
        n_sums = parts.sum() if self.p == 1.0 else (parts * (parts + 1) // 2).sum()
        # Multiplications; those inside BLAS take half the time.
        direct = n_sums * d * (d + 1) / 2 + n_unknowns**3 / 12
        iterative = self.expected_products * n * n_unknowns
        return self._step_by_cholesky(gradient) if direct < iterative else self._step_by_conjugate_gradients(gradient)

    def _step_by_cholesky(self, gradient: F64) -> F64:
        rows = self.rows
        hessian = np.empty((gradient.size, gradient.size))
        sum_hessian(rows.X, rows.class_start, self.diagonal, self.outer, self.outer_sum, self.p, hessian)
        diagonal = hessian.diagonal().copy()
        penalty = np.tile(self.penalty, rows.n_classes)
        # The same shift of all intercepts changes nothing, so one direction has no curvature at all.
        shift = diagonal + 0.01 * diagonal.max()
        diagonals = (diagonal + penalty + jitter * shift + 1e-300 for jitter in (1e-12, 1e-8, 1e-4))
        solved = cholesky_solve(hessian, diagonals, gradient.ravel())
        if solved is None:
            return self._step_by_conjugate_gradients(gradient)
        self.inexact = False
        return -solved.reshape(gradient.shape)

    def _step_by_conjugate_gradients(self, gradient: F64) -> F64:
        X, codes, diagonal, outer = self.rows.X, self.rows.codes, self.diagonal, self.outer
        curved = np.flatnonzero(diagonal.any(axis=1))
        in_scores = diagonal.copy()
        in_scores[np.arange(len(X)), codes] = diagonal.sum(axis=1)
        if self.p > 1.0:
            in_scores -= outer**2
            in_scores[np.arange(len(X)), codes] -= self.outer_sum**2
        if len(curved) < 0.7 * len(X):  # fewer rows outweigh the copy
            X, codes, diagonal, in_scores = X[curved], codes[curved], diagonal[curved], in_scores[curved]
            outer = outer[curved] if self.p > 1.0 else outer
        preconditioner = in_scores.T @ (X * X) + self.penalty
        preconditioner += 1e-12 * preconditioner.max(axis=0) + 1e-300

        def precondition(residual: F64) -> F64:
            scaled = residual / preconditioner
            return scaled - scaled.mean(axis=0)  # a shift of all classes only adds penalty

        def multiply(direction: F64) -> F64:
            in_scores = X @ direction.T
            times_curvature(in_scores, codes, diagonal, outer, self.p)
            product: F64 = in_scores.T @ X + self.penalty * direction
            return product

        step, self.expected_products, left = conjugate_gradients(
            multiply, precondition, gradient, self.inner_tol, MOST_PRODUCTS
        )
        self.inexact = left > LARGEST_INNER_TOL
        return step

    def _line_search(self, step: F64, decrease: float, loss: float) -> float:
        """Move along a step until the slope is a tenth of its first value, and return how far."""
        rows = self.rows
        in_scores = rows.X @ step.T
        start = 0.5 * float(np.vdot(self.B, self.penalty * self.B))
        slope_at_start = float(np.vdot(self.B, self.penalty * step))
        curvature = float(np.vdot(step, self.penalty * step))

        def evaluate(length: float) -> tuple[float, bool]:
            value, slope = loss_along(self.scores, in_scores, length, rows.codes, rows.weight, self.p, self.width)
            value += start + length * slope_at_start + 0.5 * length**2 * curvature
            slope += slope_at_start + length * curvature
            # The loss is compared too: the slope may turn early and then stay small.
            return slope, abs(slope) <= 0.1 * decrease and value <= loss * (1.0 + 1e-14) + LOSS_ROUNDING

        length = line_search(evaluate, -decrease, edge=0.1)
        self.B += length * step
        self.scores += length * in_scores
        return length
