"""Combine learners by a product of powers of their probabilities, fitted on rows of other folds."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import log_softmax

from bayesfloor.floor.learned.cross_fitting import VIEWS, CrossFit, unseen
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import Crew

#: Learners in a stack: the best by log-loss.
N_BEST = 14
#: Most rows that a stack is fitted to: it has few parameters.
MOST_ROWS = 4000
#: Ridge penalty that draws exponents to equal shares and offsets to 0, in rows.
_RIDGE = 4.0


@dataclass(frozen=True, eq=False)
class Stack:
    """The stack's predictions at one size.

    Attributes
    ----------
    log_q : ndarray of shape (n_views, n, n_classes)
        Logarithms of probabilities.
    weights : ndarray of shape (n_folds, n_learners)
        Exponents of the learners; 0 for those left out.
    """

    log_q: Floats
    weights: Floats


def fit_stacks(fitted: CrossFit, codes: Ints, seed: int, crew: Crew) -> list[Stack]:
    """Fit one stack for each size and fold.

    Which learners take part in the stack for a fold, and with which exponents, is decided by rows of the other folds
    alone, as models predict them that have not seen the fold: see `unseen`. In time, they are rows of earlier folds. A
    fold that has no earlier ones gets no predictions.
    """
    n_folds = int(fitted.folds.max()) + 1
    stacked = [fold for fold in range(n_folds) if len(fitted.outside(fold))]
    tasks = [(size, fold) for size in range(len(VIEWS)) for fold in stacked]
    fits = crew.run(lambda size, fold: _fit_fold(fitted, size, fold, codes, seed), tasks)
    stacks = []
    for size, log_p in enumerate(fitted.log_p[: len(VIEWS)]):
        log_q = np.full(log_p.shape[1:], np.nan)
        weights = np.zeros((n_folds, len(log_p)))
        for (of_size, fold), (chosen, w, b) in zip(tasks, fits, strict=True):
            if of_size == size:
                rows = fitted.folds == fold
                combined = np.einsum("m,mvnk->vnk", w, log_p[chosen][:, :, rows].astype(np.float64)) + b
                log_q[:, rows] = log_softmax(combined, axis=-1)
                weights[fold, chosen] = w
        stacks.append(Stack(log_q, weights))
    return stacks


def _fit_fold(fitted: CrossFit, size: int, fold: int, codes: Ints, seed: int) -> tuple[Ints, Floats, Floats]:
    """Choose learners and fit their exponents on the rows outside of a fold."""
    n_views = [log_p.shape[1] for log_p in fitted.log_p]
    source, views, rows = unseen(fitted.seen, n_views, fitted.folds, fitted.outside(fold), fold, size)
    log_p = fitted.log_p[source]
    losses = [-float(of_learner[views, rows, codes[rows]].mean()) for of_learner in log_p]
    chosen = np.argsort(losses, kind="stable")[:N_BEST]
    distinct = np.unique(rows)
    most = max(MOST_ROWS * len(distinct) // len(rows), 1)
    if len(distinct) > most:
        distinct = np.random.default_rng([seed, size, fold]).permutation(distinct)[:most]
        kept = np.isin(rows, distinct)
        views, rows = views[kept], rows[kept]
    inputs = log_p[chosen[:, np.newaxis], views, rows].astype(np.float64)
    w, b = fit_exponents(inputs, codes[rows], len(distinct) / len(rows), fitted.has_offsets)
    return chosen, w, b


def fit_exponents(
    log_p: Floats, codes: Ints, row_weight: float = 1.0, has_offsets: bool = True
) -> tuple[Floats, Floats]:
    """Fit w >= 0 and b of softmax(sum of w log p + b) by penalised likelihood.

    Parameters
    ----------
    log_p : ndarray of shape (n_learners, n, n_classes)
        Logarithms of probabilities.
    codes : ndarray of shape (n,)
        Classes of the rows.
    row_weight : float, default=1.0
        Weight of each row against the penalty.
    has_offsets : bool, default=True
        Whether to fit b; otherwise it is 0.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : ndarray of shape (n_classes,)
    """
    n_learners, n, n_classes = log_p.shape
    flat = np.ascontiguousarray(log_p.reshape(n_learners, -1))
    at_label = log_p[:, np.arange(n), codes].sum(axis=1)
    counts = np.bincount(codes, minlength=n_classes)
    middle = 1.0 / n_learners
    strength = _RIDGE / (row_weight * n)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        w, b = parameters[:n_learners], parameters[n_learners:]
        scores = (w @ flat).reshape(n, n_classes) + b
        top = scores.max(axis=1, keepdims=True)
        q = np.exp(scores - top)
        total = q.sum(axis=1, keepdims=True)
        value = (np.log(total) + top).sum() - w @ at_label - b @ counts
        q /= total
        gradient = np.concatenate([flat @ q.ravel() - at_label, q.sum(axis=0) - counts]) / n
        away = np.concatenate([w - middle, b])
        return value / n + 0.5 * strength * float(away @ away), gradient + strength * away

    start = np.concatenate([np.full(n_learners, middle), np.zeros(n_classes)])
    bounds = [(0.0, None)] * n_learners + [(None, None) if has_offsets else (0.0, 0.0)] * n_classes
    found = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100, "ftol": 1e-8, "gtol": 1e-6}
    )
    return found.x[:n_learners], found.x[n_learners:]
