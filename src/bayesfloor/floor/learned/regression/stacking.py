"""Combine learners of numbers by weights that are not negative, fitted on rows of other folds."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from bayesfloor.floor.learned.cross_fitting import VIEWS, unseen
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

    Rows count as models predict them that have not seen the fold: see `unseen`.

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
    n_views = [predicted.shape[1] for predicted in fitted.predicted]
    for size, predicted in enumerate(fitted.predicted[: len(VIEWS)]):
        combined = np.full(predicted.shape[1:], np.nan)
        weights = np.zeros((n_folds, len(predicted)))
        for fold in range(n_folds):
            outside = fitted.outside(fold)
            if not len(outside):
                continue
            rows = np.flatnonzero(fitted.folds == fold)
            source, views, known = unseen(fitted.seen, n_views, fitted.folds, outside, fold, size)
            weights[fold], offset = fit_weights(
                fitted.predicted[source][:, views, known], y[known], weight[known], len(outside)
            )
            combined[:, rows] = np.einsum("m,mvn->vn", weights[fold], predicted[:, :, rows].astype(np.float64)) + offset
        stacks.append(NumberStack(combined, weights))
    return stacks


def fit_weights(predicted: np.ndarray, y: Floats, weight: Floats, n_rows: int) -> tuple[Floats, float]:
    """Fit w >= 0 and b of sum of w f + b by least squares.

    Parameters
    ----------
    predicted : ndarray of shape (n_learners, n)
        Predictions of each learner.
    y, weight : ndarray of shape (n,)
        Targets, and what each prediction counts.
    n_rows : int
        Different rows among them.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : float
    """
    share = weight / weight.sum()
    errors = (y - predicted.astype(np.float64)) ** 2 @ share
    chosen: Ints = np.argsort(errors, kind="stable")[:N_BEST]
    features = predicted[chosen].astype(np.float64)
    centre = float(share @ y)
    middle = features @ share
    features -= middle[:, np.newaxis]
    flat = features * np.sqrt(share)
    target = (y - centre) * np.sqrt(share)
    strength = _RIDGE * max(float(errors[chosen[0]]), 1e-300) / n_rows
    gram = flat @ flat.T
    equal = 1.0 / len(chosen)
    # |Fw - t|² + penalty |w - equal|² as least squares of a triangular factor
    scale = max(float(np.trace(gram)) * equal, 1e-300)
    penalty = strength + 1e-9 * scale
    gram[np.diag_indices(len(chosen))] += penalty
    factor = linalg.cholesky(gram, lower=False)
    right = flat @ target + penalty * equal
    w, _ = optimize.nnls(factor, linalg.solve_triangular(factor, right, trans="T"))
    weights = np.zeros(len(predicted))
    weights[chosen] = w
    return weights, centre - float(w @ middle)
