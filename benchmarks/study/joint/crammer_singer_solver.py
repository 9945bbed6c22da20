"""Crammer & Singer's SVM along rising C, by Newton's method on smoothed losses.

The problem is, for rows x_i with a last feature of 1, coefficients W and scores s_i = W x_i,

    minimise  1/2 |W|² + C Σ_i weight_i max_k (δ_ik + s_ik - s_iy).

This is the proximal method of multipliers with semismooth Newton steps. The loss has kinks; a proximal term smooths it,
which keeps the dual variables (the classes' shares in a row's loss) near a center. Newton's method solves the smoothed
problem; its shares become the next center, and the proximal step grows. A row whose loss is due to one class alone has
no curvature, so nearly all rows drop out of the Newton system.

The shares give a lower bound of the optimum and the coefficients an upper one: the search ends when the gap is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.classify.training import F64, I64
from benchmarks.study.joint.crammer_singer_kernels import (
    curved_directions,
    gradient_in_scores,
    loss_along,
    loss_and_dual,
    sum_hessian,
    times_curvature,
)
from benchmarks.study.joint.newton import cholesky_solve, conjugate_gradients, line_search

#: Most unknowns of a linear system that is factorised.
MOST_UNKNOWNS = 3000

#: The first proximal step: how far shares move for a violation of 1.
FIRST_PROX_STEP = 0.3

#: Factor from one proximal step to the next.
PROX_GROWTH = 3.0

#: Largest proximal step.
LARGEST_PROX_STEP = 1e9

#: Most Newton steps with one center. A search that needs more goes on with a new center and a smaller proximal step.
STEPS_PER_CENTER = 50

#: Searches in a row in which rounding leaves no descent direction, before the solution is taken as it is.
MOST_STUCK = 5

#: Products with the Hessian that the first step by conjugate gradients is expected to take.
FIRST_PRODUCTS = 30

#: Most products with the Hessian for one step by conjugate gradients.
MOST_PRODUCTS = 300

#: Tolerance of conjugate gradients, as a part of the gradient.
INNER_TOL = 0.05

#: Overhead of the calls around one product, in multiplications.
CALL_COST = 1e6


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients at one C.

    Attributes
    ----------
    coefficients : ndarray of shape (n_classes, n_features)
        The last feature's are the intercepts.
    n_iter : int
        Newton steps.
    gap : float
        The objective less a lower bound of its smallest value, as a share of it.
    converged : bool
        Whether the gap is as small as asked for.
    """

    coefficients: F64
    n_iter: int
    gap: float
    converged: bool


def walk_path(
    X: Any, codes: I64, weight: F64, n_classes: int, Cs: F64, *, tol: float, max_iter: int, check: Callable[[], None]
) -> Iterator[Solution]:
    """Solve the problem at each C, starting from the solution of the one before.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_features)
        Rows, a last feature of 1 included.
    codes : ndarray of shape (n,)
        Class of each row, from 0.
    weight : ndarray of shape (n,)
        What errors on each row cost, above zero.
    n_classes : int
        At least 2.
    Cs : ndarray
        Rising values.
    tol : float
        Largest gap between the objective and its lower bound, as a share of the objective.
    max_iter : int
        Most Newton steps for one C.
    check : callable
        Called before each Newton step; may raise, to end the search.

    Yields
    ------
    Solution
    """
    search = _Search(X, codes, n_classes, tol, max_iter, check)
    for C in Cs:
        yield search.solve(C * weight)


class _Search:
    def __init__(
        self, X: Any, codes: I64, n_classes: int, tol: float, max_iter: int, check: Callable[[], None]
    ) -> None:
        n, n_features = X.shape
        self.X, self.codes, self.tol, self.max_iter, self.check = X, codes, tol, max_iter, check
        self.W = np.zeros((n_classes, n_features))
        # As at tiny C, where all scores are the same.
        self.shares = np.full((n, n_classes), 1.0 / (n_classes - 1))
        self.shares[np.arange(n), codes] = 0.0
        self.center = np.empty_like(self.shares)
        self.trial = np.empty_like(self.shares)
        self.n_active = np.empty(n, np.int64)
        self.n_active_of_trial = np.empty(n, np.int64)
        self.by_score = np.empty_like(self.shares)

    def solve(self, weight: F64) -> Solution:
        """Minimise the objective for these costs of an error, from where the last search has ended."""
        self.weight = weight
        self.prox_step = FIRST_PROX_STEP
        self.expected_products = FIRST_PRODUCTS
        n_iter, n_stuck, best = 0, 0, None
        self._start()
        while True:
            n_steps = self._minimise_smoothed(self.max_iter - n_iter)
            n_iter += max(n_steps, 1)  # at least 1, so that the loop ends where rounding stops every search
            loss, linear = loss_and_dual(self.scores, self.codes, weight, self.shares)
            objective = loss + 0.5 * float(np.vdot(self.W, self.W))
            bound = linear - 0.5 * float(np.vdot(self.W_of_shares, self.W_of_shares))
            gap = max(objective - bound, 0.0) / objective
            if best is None or gap < best[0]:
                best = gap, self.W
            n_stuck = n_stuck + 1 if self.is_stuck else 0
            if gap <= self.tol or n_iter >= self.max_iter or n_stuck == MOST_STUCK:
                return Solution(best[1], n_iter, best[0], best[0] <= self.tol)
            factor = PROX_GROWTH if n_steps < STEPS_PER_CENTER else 1.0 / PROX_GROWTH
            self.prox_step = min(factor * self.prox_step, LARGEST_PROX_STEP)
            self.center[:] = self.shares

    def _start(self) -> None:
        """Begin with the last coefficients, or with those of the last shares, whichever is better."""
        self.center[:] = self.shares
        gradient_in_scores(self.shares, self.codes, self.weight, self.by_score)
        values = []
        for W in (self.W, -self._in_coefficients(self.by_score)):
            scores = self.X @ W.T
            values.append((self._try(scores, scores, 0.0)[0] + 0.5 * float(np.vdot(W, W)), W, scores))
        _, self.W, self.scores = min(values, key=lambda each: each[0])

    def _try(self, scores: F64, direction: F64, length: float) -> tuple[float, float]:
        loss, slope = loss_along(
            scores,
            direction,
            length,
            self.codes,
            self.weight,
            self.center,
            self.prox_step,
            self.trial,
            self.n_active_of_trial,
        )
        return float(loss), float(slope)

    def _adopt_trial(self) -> None:
        self.shares, self.trial = self.trial, self.shares
        self.n_active, self.n_active_of_trial = self.n_active_of_trial, self.n_active

    def _in_coefficients(self, by_score: F64) -> F64:
        product: F64 = (self.X.T @ by_score).T
        return product

    def _minimise_smoothed(self, most_steps: int) -> int:
        """Take Newton steps until the error is small beside what the next center will change; return how many."""
        loss = self._try(self.scores, self.scores, 0.0)[0]
        self._adopt_trial()
        self.is_stuck = False
        for n_steps in range(STEPS_PER_CENTER + 1):
            gradient_in_scores(self.shares, self.codes, self.weight, self.by_score)
            self.W_of_shares = -self._in_coefficients(self.by_score)
            gradient = self.W - self.W_of_shares
            # Half the squared norm of the gradient is a bound of what is left to gain.
            left = float(np.vdot(gradient, gradient))
            moved = float(self.weight @ np.sum((self.shares - self.center) ** 2, axis=1)) / self.prox_step
            objective = loss + 0.5 * float(np.vdot(self.W, self.W))
            if left <= max(0.1 * moved, 0.1 * self.tol * objective) or n_steps == min(STEPS_PER_CENTER, most_steps):
                break
            self.check()
            step = self._newton_step(gradient)
            self.is_stuck = not float(np.vdot(gradient, step)) < 0.0
            if self.is_stuck:
                break
            loss = self._go_along(step, gradient)
        return n_steps

    def _newton_step(self, gradient: F64) -> F64:
        """Solve Newton's system by the cheapest method, counted in multiplications by BLAS."""
        (n_classes, n_features), size = gradient.shape, gradient.size
        n_active = self.n_active[self.n_active > 1].astype(np.float64)
        rank, n_pairs = float(np.sum(n_active - 1.0)), float(np.sum(n_active * (n_active + 1.0))) / 2.0
        methods: dict[Callable[[F64], F64 | None], float] = {
            self._step_by_conjugate_gradients: self.expected_products * (4.0 * len(n_active) * size + CALL_COST)
        }
        if rank <= MOST_UNKNOWNS:
            methods[self._step_in_curved_directions] = rank**2 * (n_features + n_classes) + rank**3 / 6
        if size <= MOST_UNKNOWNS and isinstance(self.X, np.ndarray):
            methods[self._step_in_coefficients] = n_pairs * n_features**2 + size**3 / 6
        step = min(methods, key=methods.__getitem__)(gradient)
        return self._step_by_conjugate_gradients(gradient) if step is None else step

    def _step_in_coefficients(self, gradient: F64) -> F64 | None:
        hessian = np.empty((gradient.size, gradient.size))
        sum_hessian(self.X, self.shares, self.n_active, self.weight, self.prox_step, hessian)
        solved = _solve(hessian, gradient.ravel())
        return None if solved is None else -solved.reshape(gradient.shape)

    def _step_in_curved_directions(self, gradient: F64) -> F64 | None:
        """Invert I + B'B by Woodbury's formula: a row of B is a row's features times one of its curved directions."""
        rows, vectors = curved_directions(self.shares, self.n_active)
        X = self.X[rows]
        vectors *= np.sqrt(self.prox_step * self.weight[rows])[:, None]
        products = X @ X.T
        inner = (products if isinstance(products, np.ndarray) else products.toarray()) * (vectors @ vectors.T)
        along = np.einsum("ij,ij->i", X @ gradient.T, vectors)
        solved = _solve(inner, along)
        return None if solved is None else (X.T @ (vectors * solved[:, None])).T - gradient

    def _step_by_conjugate_gradients(self, gradient: F64) -> F64:
        curved = np.flatnonzero(self.n_active > 1)
        X, shares, n_active, weight = self.X[curved], self.shares[curved], self.n_active[curved], self.weight[curved]
        squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        stiffness = np.where(shares > 0.0, (self.prox_step * weight * (1.0 - 1.0 / n_active))[:, None], 0.0)
        preconditioner = 1.0 + (squares.T @ stiffness).T

        def multiply(direction: F64) -> F64:
            in_scores = np.ascontiguousarray(X @ direction.T)
            times_curvature(in_scores, shares, n_active, weight, self.prox_step)
            product: F64 = direction + (X.T @ in_scores).T
            return product

        step, self.expected_products, _ = conjugate_gradients(
            multiply, lambda residual: residual / preconditioner, gradient, INNER_TOL, MOST_PRODUCTS
        )
        return step

    def _go_along(self, step: F64, gradient: F64) -> float:
        """Move along a step until the slope is a third of its first value; return the smoothed loss there."""
        in_scores = np.ascontiguousarray(self.X @ step.T)
        slope_at_start = float(np.vdot(gradient, step))
        slope_of_norm, curvature_of_norm = float(np.vdot(self.W, step)), float(np.vdot(step, step))
        loss = np.nan

        def evaluate(length: float) -> tuple[float, bool]:
            nonlocal loss
            loss, slope = self._try(self.scores, in_scores, length)
            slope += slope_of_norm + length * curvature_of_norm
            return slope, abs(slope) <= 0.3 * abs(slope_at_start)

        length = line_search(evaluate, slope_at_start, edge=0.02, bisect_every=3)
        self._adopt_trial()
        self.W = self.W + length * step
        self.scores = self.scores + length * in_scores
        return loss


def _solve(matrix: F64, vector: F64) -> F64 | None:
    """Solve (I + matrix) x = vector for a matrix without negative eigenvalues, of which the lower triangle is read.

    None where rounding makes it indefinite in spite of a shifted diagonal.
    """
    diagonal = 1.0 + matrix.diagonal()
    solved = cholesky_solve(matrix, (diagonal,), vector)
    if solved is not None:
        return solved
    # With a diagonal near 1 the shift is relative, whatever the scale of a feature. Powers of 2 are exact.
    scale = np.exp2(-np.round(0.5 * np.log2(diagonal)))
    matrix *= scale[:, np.newaxis]
    matrix *= scale
    diagonal *= scale * scale
    solved = cholesky_solve(matrix, (diagonal + jitter for jitter in (1e-12, 1e-8, 1e-4)), scale * vector)
    return None if solved is None else scale * solved
