"""Multinomial logistic regression on the features of a landmark model.

The loss is Σ_i w_i loss(row i) + (λ/2) Σ_k b_k'R b_k, where R has the kernel between landmarks as their block, so that
the penalty is the squared norm in the kernel's own space; elsewhere it is diagonal. Böhning's bound, ½ F'WF + λR, is
above the Hessian for every b. Its Cholesky factor preconditions L-BFGS: the bound is several times too large for most
classes, and the last few steps tell by how much and where. Nesterov's accelerated steps with the same factor need two
to four times as many passes over the rows.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.runtime.arrays import Floats

#: Penalty of the constant, and what is added to the diagonal of the landmarks' block, relative to other features.
SMALL_PENALTY = 1e-3
#: Damping of the Cholesky factor, as a share of the trace; it grows until there is a factor.
DAMPING = 4e-7
#: Stop when a step is expected to gain less than this per unit of weight.
TOLERANCE = 2e-6
#: Pairs of steps and changes of the gradient that L-BFGS remembers.
N_REMEMBERED = 8
#: Maximum number of times that a step which raises the objective is shortened, and the factor.
MOST_CUTBACKS, CUTBACK = 6, 0.25


class Penalty(NamedTuple):
    """The matrix R of the penalty: a diagonal, and a block of the landmarks.

    Attributes
    ----------
    diagonal : ndarray of shape (n_features,)
        On the diagonal.
    kernel : ndarray of shape (n_landmarks, n_landmarks)
        Added to the block of the landmarks.
    columns : slice
        Where that block is.
    """

    diagonal: NDArray[Any]
    kernel: NDArray[Any]
    columns: slice

    def times(self, strength: float) -> "Penalty":
        """Return the penalty times its strength, in single precision."""
        return Penalty(
            (strength * self.diagonal).astype(np.float32), (strength * self.kernel).astype(np.float32), self.columns
        )

    def pull(self, coefficients: F32) -> F32:
        """Return the gradient, (n_classes, n_features)."""
        pulled: F32 = coefficients * self.diagonal
        pulled[:, self.columns] += coefficients[:, self.columns] @ self.kernel
        return pulled


def penalty_of(feature_map: FeatureMap) -> Penalty:
    """Return the penalty on the coefficients of some features."""
    diagonal = np.ones(feature_map.n_features)
    diagonal[0] = diagonal[feature_map.kernel_columns] = SMALL_PENALTY
    return Penalty(diagonal, feature_map.landmark_kernel(), feature_map.kernel_columns)


class Fit(NamedTuple):
    """Coefficients with a penalty that was chosen on held-out rows.

    Attributes
    ----------
    coefficients : ndarray of shape (n_classes, n_features), float32
        From features to scores.
    penalty : float
        The penalty in use.
    error, log_loss : float
        On held-out rows, of a fit without them; the penalty was chosen on these rows.
    """

    coefficients: F32
    penalty: float
    error: float
    log_loss: float


#: Steps, and how each changed the gradient of the loss without its penalty.
Memory = list[tuple[F32, F32]]


class Point(NamedTuple):
    """Coefficients, value and gradient of the objective there, and both of the loss without its penalty."""

    coefficients: F32
    value: float
    gradient: F32
    of_loss: tuple[float, F32]


class Bend(NamedTuple):
    """What a step tells about the curvature.

    Attributes
    ----------
    step, change : ndarray of shape (n_classes, n_features), float32
        The step, and how it changed the gradient.
    inverse : float
        The inverse of their product.
    """

    step: F32
    change: F32
    inverse: float


class Objective:
    """The penalised loss, and what preconditions it.

    Parameters
    ----------
    gradient : callable
        Returns the summed loss, without the penalty, and its gradient at coefficients.
    products : ndarray of shape (n_features, n_features)
        F'WF, the lower triangle.
    penalty : Penalty
        The penalty.
    strength : float
        What multiplies it.
    """

    def __init__(
        self, gradient: Callable[[F32], tuple[float, F32]], products: Floats, penalty: Penalty, strength: float
    ) -> None:
        self._gradient = gradient
        self._penalty = penalty.times(strength)
        self._factor = cholesky(0.5 * products, penalty, strength)

    def of(self, gradient: Callable[[F32], tuple[float, F32]]) -> "Objective":
        """Return the objective of other rows, with the same preconditioner."""
        other = copy(self)
        other._gradient = gradient
        return other

    def at(self, coefficients: F32, of_loss: tuple[float, F32] | None = None) -> Point:
        """Return value and gradient; those of the loss alone need not be computed again where they are known."""
        loss, slope = self._gradient(coefficients) if of_loss is None else of_loss
        pull = self._penalty.pull(coefficients)
        value = loss + 0.5 * float(np.vdot(coefficients, pull))
        pull += slope
        return Point(coefficients, value, pull, (loss, slope))

    def bend(self, step: F32, change_of_loss: F32) -> Bend | None:
        """Return what a step tells about the curvature, or None if there is none along it."""
        change = change_of_loss + self._penalty.pull(step)
        curvature = float(np.vdot(step, change))
        if not curvature > 0:
            return None
        return Bend(step, change, 1.0 / curvature)

    def precondition(self, gradient: F32) -> F32:
        """Return the gradient times the inverse of the bound."""
        return solve(self._factor, gradient)


def descend(
    objective: Objective,
    start: Point,
    n_steps: int,
    total_weight: float,
    memory: Memory | None = None,
    tolerance: float = TOLERANCE,
) -> Point:
    """Take steps of preconditioned L-BFGS down from some coefficients.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    start : Point
        Where to start.
    n_steps : int
        Maximum number of steps.
    total_weight : float
        Weight of all rows.
    memory : list or None, default=None
        Steps so far and how each changed the gradient of the loss, also with other penalties; new ones are added.
    tolerance : float, default=TOLERANCE
        Stop when a step is expected to gain less than this per unit of weight.

    Returns
    -------
    Point
        The best coefficients.
    """
    memory = [] if memory is None else memory
    remembered = [each for step in memory if (each := objective.bend(*step)) is not None]
    point = start
    for _ in range(n_steps):
        step = _direction(objective, point.gradient, remembered)
        if float(np.vdot(step, point.gradient)) < tolerance * total_weight:
            break
        following = _go(objective, point, step)
        if following is None:
            break
        moved = following.coefficients - point.coefficients
        memory.append((moved, following.of_loss[1] - point.of_loss[1]))
        bend = objective.bend(*memory[-1])
        remembered = remembered if bend is None else [*remembered, bend]
        del memory[:-N_REMEMBERED], remembered[:-N_REMEMBERED]
        point = following
    return point


def _go(objective: Objective, point: Point, step: F32) -> Point | None:
    """Return the point after a step, which is cut back until it does not rise; None if it always does."""
    for _ in range(MOST_CUTBACKS):
        following = objective.at(point.coefficients - step)
        if following.value <= point.value:
            return following
        step = step * np.float32(CUTBACK)
    return None


def _direction(objective: Objective, gradient: F32, remembered: list[Bend]) -> F32:
    """Return L-BFGS's approximate inverse Hessian times the gradient, by the two-loop recursion."""
    left, shares = gradient.copy(), []
    for bend in reversed(remembered):
        share = float(np.vdot(bend.step, left)) * bend.inverse
        left -= np.float32(share) * bend.change
        shares.append(share)
    direction = objective.precondition(left)
    if remembered:
        step, change, _ = remembered[-1]
        of_bound = float(np.vdot(change, objective.precondition(change)))
        direction *= np.float32(float(np.vdot(step, change)) / of_bound)  # the bound is that much too large
    for bend, share in zip(remembered, reversed(shares), strict=True):
        direction += np.float32(share - float(np.vdot(bend.change, direction)) * bend.inverse) * bend.step
    return direction


def cholesky(matrix: Floats, penalty: Penalty, strength: float) -> Floats:
    """Return the Cholesky factor of a matrix, of which the lower triangle is given, plus strength times the penalty.

    Products of float32 may need some damping to be positive definite.
    """
    total = matrix.copy(order="K")
    diagonal = np.diag_indices(len(total))
    total[diagonal] += strength * penalty.diagonal
    total[penalty.columns, penalty.columns] += strength * penalty.kernel
    damping = DAMPING * float(np.trace(matrix))
    while True:
        total[diagonal] += damping
        found, failed = dpotrf(total, lower=1, clean=0)
        if not failed:
            return np.asarray(found)
        damping *= 10.0


def solve(factor: Floats, right: F32) -> F32:
    """Solve for each row of the right-hand side, given the factor."""
    return np.asarray(dpotrs(factor, right.T, lower=1)[0].T, np.float32)
