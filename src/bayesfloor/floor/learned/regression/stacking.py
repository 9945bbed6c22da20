"""Combine learners of numbers by weights that are not negative, fitted on rows of other folds."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from bayesfloor.floor.learned.regression.cross_fitting import NumberFit
from bayesfloor.runtime.arrays import Floats, Ints

#: Learners in a stack: the best by squared error.
N_BEST = 14
#: Ridge penalty that draws weights to equal shares, in rows of the variance that the best learner leaves.
_RIDGE = 4.0


@dataclass(frozen=True, eq=False)
class NumberStack:
    """The stack's predictions at one size.

    Attributes
    ----------
    predicted : ndarray of shape (n_views, n)
        Predictions; NaN where there are none.
    weights : ndarray of shape (n_folds, n_learners)
        Weights of the learners; 0 for those left out.
    """

    predicted: Floats
    weights: Floats


def fit_number_stacks(fitted: NumberFit, y: Floats, weight: Floats) -> list[NumberStack]:
    """Fit one stack for each size and fold, on the rows of the other folds; in time, on those of earlier ones.

    Parameters
    ----------
    fitted : NumberFit
        What the learners predict.
    y, weight : ndarray of shape (n,)
        Targets of the rows, and what each row counts.

    Returns
    -------
    list of NumberStack
    """
    n_folds = int(fitted.folds.max()) + 1
    stacks = []
    for predicted in fitted.predicted:
        combined = np.full(predicted.shape[1:], np.nan)
        weights = np.zeros((n_folds, len(predicted)))
        for fold in range(n_folds):
            outside = fitted.outside(fold)
            if not len(outside):
                continue
            rows = np.flatnonzero(fitted.folds == fold)
            weights[fold], offset = fit_weights(predicted[:, :, outside], y[outside], weight[outside])
            combined[:, rows] = np.einsum("m,mvn->vn", weights[fold], predicted[:, :, rows].astype(np.float64)) + offset
        stacks.append(NumberStack(combined, weights))
    return stacks


def fit_weights(predicted: np.ndarray, y: Floats, weight: Floats) -> tuple[Floats, float]:
    """Fit w >= 0 and b of sum of w f + b by least squares.

    Parameters
    ----------
    predicted : ndarray of shape (n_learners, n_views, n)
        Predictions of each learner.
    y, weight : ndarray of shape (n,)
        Targets, and what each row counts.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : float
    """
    n_learners, n_views, n = predicted.shape
    share = weight / weight.sum()
    residuals = y - predicted.astype(np.float64)
    errors = np.einsum("mvn,n->m", residuals**2, share) / n_views
    chosen: Ints = np.argsort(errors, kind="stable")[:N_BEST]
    features = predicted[chosen].astype(np.float64)
    centre = float(share @ y)
    middle = np.einsum("mvn,n->m", features, share) / n_views
    features -= middle[:, np.newaxis, np.newaxis]
    flat = (features * np.sqrt(share / n_views)).reshape(len(chosen), -1)
    target = np.tile((y - centre) * np.sqrt(share / n_views), n_views)
    strength = _RIDGE * max(float(errors[chosen[0]]), 1e-300) / n
    gram = flat @ flat.T
    equal = 1.0 / len(chosen)
    # |Fw - t|² + penalty |w - equal|² as least squares of a triangular factor
    scale = max(float(np.trace(gram)) * equal, 1e-300)
    penalty = strength + 1e-9 * scale
    gram[np.diag_indices(len(chosen))] += penalty
    factor = linalg.cholesky(gram, lower=False)
    right = flat @ target + penalty * equal
    w, _ = optimize.nnls(factor, linalg.solve_triangular(factor, right, trans="T"))
    weights = np.zeros(n_learners)
    weights[chosen] = w
    return weights, centre - float(w @ middle)
