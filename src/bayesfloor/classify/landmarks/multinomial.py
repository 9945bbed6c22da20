"""Multinomial logistic regression on the features of a landmark model.

The loss is Σ_i w_i loss(row i) + (λ/2) Σ_k b_k'R b_k, where R has the kernel between landmarks as their block, so that
the penalty is the squared norm in the kernel's own space; elsewhere it is diagonal. Böhning's bound, ½ F'WF + λR, is
above the Hessian for every b. Its Cholesky factor preconditions L-BFGS: the bound is several times too large for most
classes, and the last few steps tell by how much and where. Nesterov's accelerated steps with the same factor need two
to four times as many passes over the rows.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesfloor.classify.landmarks.feature_map import F32, FeatureMap
from bayesfloor.runtime.arrays import Floats

#: What the constant and the diagonal of the landmarks' block count of the penalty.
SMALL_PENALTY = 1e-3
#: Damping of the Cholesky factor, as a share of the trace; it grows until there is a factor.
DAMPING = 2e-7
#: A step that is expected to gain less than this for each unit of weight is the last.
TOLERANCE = 2e-6
#: Pairs of steps and changes of the gradient that L-BFGS remembers.
N_REMEMBERED = 8
#: Times that a step which does not lower the objective is divided by 4.
MOST_CUTBACKS = 6


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

    diagonal: Floats
    kernel: Floats
    columns: slice


def penalty_of(feature_map: FeatureMap) -> Penalty:
    """Return the penalty on the coefficients of some features."""
    diagonal = np.ones(feature_map.n_features)
    diagonal[0] = diagonal[feature_map.kernel_columns] = SMALL_PENALTY
    return Penalty(diagonal, feature_map.landmark_kernel(), feature_map.kernel_columns)


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
        self._gradient, self._columns = gradient, penalty.columns
        self._diagonal = (strength * penalty.diagonal).astype(np.float32)
        self._kernel = (strength * penalty.kernel).astype(np.float32)
        self._factor = _factor(products, penalty, strength)

    def at(self, coefficients: F32) -> tuple[float, F32]:
        """Return value and gradient."""
        loss, gradient = self._gradient(coefficients)
        pull: F32 = coefficients * self._diagonal
        pull[:, self._columns] += coefficients[:, self._columns] @ self._kernel
        gradient += pull
        return loss + 0.5 * float(np.vdot(coefficients, pull)), gradient

    def precondition(self, gradient: F32) -> F32:
        """Return the gradient times the inverse of the bound."""
        return np.asarray(dpotrs(self._factor, gradient.T, lower=1)[0].T, np.float32)


class Descent(NamedTuple):
    """Where L-BFGS ended.

    Attributes
    ----------
    coefficients : ndarray of shape (n_classes, n_features), float32
        The best ones.
    n_passes : int
        Passes over the rows.
    """

    coefficients: F32
    n_passes: int


def descend(objective: Objective, start: F32, n_steps: int, total_weight: float) -> Descent:
    """Take steps of preconditioned L-BFGS down from some coefficients.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    start : ndarray of shape (n_classes, n_features), float32
        Where to start.
    n_steps : int
        How many steps, at the most.
    total_weight : float
        Weight of all rows.

    Returns
    -------
    Descent
    """
    remembered: list[tuple[F32, F32, float]] = []
    scale, n_passes = 1.0, 1
    point = start
    value, gradient = objective.at(point)
    for _ in range(n_steps):
        step = _direction(objective, gradient, remembered, scale)
        gain = float(np.vdot(step, gradient))
        if gain < TOLERANCE * total_weight:
            break
        for _ in range(MOST_CUTBACKS):
            following = point - step
            new_value, new_gradient = objective.at(following)
            n_passes += 1
            if new_value <= value:
                break
            step *= np.float32(0.25)
        else:
            break
        change = new_gradient - gradient
        curvature = -float(np.vdot(step, change))
        if curvature > 0:
            scale = curvature / float(np.vdot(change, objective.precondition(change)))
            remembered = [*remembered[1 - N_REMEMBERED :], (-step, change, 1.0 / curvature)]
        point, value, gradient = following, new_value, new_gradient
    return Descent(point, n_passes)


def _direction(objective: Objective, gradient: F32, remembered: list[tuple[F32, F32, float]], scale: float) -> F32:
    """Return L-BFGS's approximate inverse Hessian times the gradient, by the two-loop recursion."""
    left, shares = gradient.copy(), []
    for step, change, inverse in reversed(remembered):
        share = float(np.vdot(step, left)) * inverse
        left -= np.float32(share) * change
        shares.append(share)
    direction = objective.precondition(left) * np.float32(scale)
    for (step, change, inverse), share in zip(remembered, reversed(shares), strict=True):
        direction += np.float32(share - float(np.vdot(change, direction)) * inverse) * step
    return direction


def _factor(products: Floats, penalty: Penalty, strength: float) -> Floats:
    """Return the Cholesky factor of the bound; products of float32 may need some damping to be positive definite."""
    bound = 0.5 * products
    diagonal = np.diag_indices(len(bound))
    bound[diagonal] += strength * penalty.diagonal
    bound[penalty.columns, penalty.columns] += strength * penalty.kernel
    damping = DAMPING * float(np.trace(products))
    while True:
        bound[diagonal] += damping
        factor, failed = dpotrf(bound, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
        damping *= 10.0
