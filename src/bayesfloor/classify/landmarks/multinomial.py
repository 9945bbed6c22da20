"""Multinomial logistic regression on the features of a landmark model.

The loss is Σ_i w_i loss(row i) + (λ/2) Σ_k b_k'R b_k, where R has the kernel between landmarks as their block, so that
the penalty is the squared norm in the kernel's own space; elsewhere it is diagonal. Böhning's bound, ½ F'WF + λR, is
above the Hessian for every b. One Cholesky factor of it serves all steps, which are accelerated (Nesterov), with a
restart whenever a step turns back.
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
#: A step whose gain is below so much for each unit of weight is the last.
TOLERANCE = 2e-6
#: A gain that is so many times the first one shows that the bound does not hold.
DIVERGED = 10.0


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

    def times(self, strength: float, coefficients: F32) -> F32:
        """Return strength · R b for the coefficients b of each class, (n_classes, n_features)."""
        pulled: F32 = coefficients * (strength * self.diagonal).astype(np.float32)
        pulled[:, self.columns] += coefficients[:, self.columns] @ (strength * self.kernel).astype(np.float32)
        return pulled


def penalty_of(feature_map: FeatureMap) -> Penalty:
    """Return the penalty on the coefficients of some features."""
    diagonal = np.ones(feature_map.n_features)
    diagonal[0] = diagonal[feature_map.kernel_columns] = SMALL_PENALTY
    return Penalty(diagonal, feature_map.landmark_kernel(), feature_map.kernel_columns)


class Steps(NamedTuple):
    """Where accelerated steps ended.

    Attributes
    ----------
    coefficients : ndarray of shape (n_classes, n_features), float32
        The last ones; those of the start if the steps diverged.
    n_steps : int
        How many steps there were.
    has_diverged : bool
        Whether the bound did not hold.
    """

    coefficients: F32
    n_steps: int
    has_diverged: bool


def descend(
    gradient: Callable[[F32], F32],
    products: Floats,
    penalty: Penalty,
    strength: float,
    start: F32,
    n_steps: int,
    total_weight: float,
) -> Steps:
    """Take accelerated steps down from some coefficients.

    Parameters
    ----------
    gradient : callable
        Returns the gradient of the summed loss, without the penalty, at coefficients.
    products : ndarray of shape (n_features, n_features)
        F'WF, the lower triangle.
    penalty : Penalty
        The penalty.
    strength : float
        What multiplies it.
    start : ndarray of shape (n_classes, n_features), float32
        Where to start.
    n_steps : int
        How many steps, at the most.
    total_weight : float
        Weight of all rows.

    Returns
    -------
    Steps
    """
    factor = _factor(products, penalty, strength)
    current = ahead = start
    momentum, first_gain = 1.0, np.inf
    for number in range(1, n_steps + 1):
        slope = gradient(ahead)
        slope += penalty.times(strength, ahead)
        step = dpotrs(factor, slope.T, lower=1)[0].T.astype(np.float32)
        gain = float(np.vdot(step, slope))
        if number == 1:
            first_gain = gain
        if not gain <= DIVERGED * first_gain:
            return Steps(start, number, True)
        following = ahead - step
        if gain < TOLERANCE * total_weight:
            return Steps(following, number, False)
        if np.vdot(ahead - following, following - current) > 0:
            momentum, ahead = 1.0, following
        else:
            next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = following + np.float32((momentum - 1) / next_momentum) * (following - current)
            momentum = next_momentum
        current = following
    return Steps(current, n_steps, False)


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
