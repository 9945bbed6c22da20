"""Combine learners by weights that are fitted on rows of other folds."""

from dataclasses import dataclass

import numpy as np

from bayesfloor.floor.learned.cross_fitting import CrossFit
from bayesfloor.floor.learned.splits import VIEWS, unseen
from bayesfloor.floor.learned.targets import Target
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import WorkerPool


@dataclass(frozen=True, eq=False)
class Stack:
    """The stack's predictions at one size.

    Attributes
    ----------
    predicted : ndarray of shape (n_deals, n_views, n, …)
        Logarithms of the probabilities of the classes, or numbers; NaN where there are none. Views of one deal are of
        models that share no training rows.
    weights : ndarray of shape (n_deals * n_folds, n_learners)
        Weights of the learners; 0 for those left out.
    """

    predicted: Floats
    weights: Floats

    def take(self, rows: Ints, folds: Ints) -> "Stack":
        """Keep some of the rows, and the weights of their folds."""
        return Stack(self.predicted[:, :, rows], self.weights[np.unique(folds[rows])])

    def joined(self, other: "Stack") -> "Stack":
        """Add the deals of another stack of the same rows."""
        return Stack(np.concatenate([self.predicted, other.predicted]), np.concatenate([self.weights, other.weights]))

    @property
    def models(self) -> Floats:
        """The predictions of each model, whichever deal it is of: an array of shape (n_deals * n_views, n, …)."""
        return self.predicted.reshape(-1, *self.predicted.shape[2:])


def fit_stacks(fitted: CrossFit, target: Target, seed: int, pool: WorkerPool) -> list[Stack]:
    """Fit one stack for each size and fold of one deal.

    Which learners take part in the stack for a fold, and with which weights, is decided by rows of the other folds
    alone, as models predict them that have not seen the fold: see `unseen`. In time, they are rows of earlier folds. A
    fold that has no earlier ones gets no predictions.
    """
    n_folds = int(fitted.folds.max()) + 1
    stacked = [fold for fold in range(n_folds) if len(fitted.outside(fold))]
    tasks = [(size, fold) for size in range(len(VIEWS)) for fold in stacked]
    n_views = [predicted.shape[1] for predicted in fitted.predicted]

    def fit(size: int, fold: int) -> tuple[Floats, Floats]:
        source, views, rows = unseen(fitted.seen, n_views, fitted.folds, fitted.outside(fold), fold, size)
        return target.fit_stack(fitted.predicted[source], views, rows, [seed, size, fold])

    fits = dict(zip(tasks, pool.run(fit, tasks), strict=True))
    stacks = []
    for size, predicted in enumerate(fitted.predicted[: len(VIEWS)]):
        combined = np.full(predicted.shape[1:], np.nan)
        weights = np.zeros((n_folds, len(predicted)))
        for fold in stacked:
            rows = fitted.folds == fold
            weights[fold], offset = fits[size, fold]
            used = np.flatnonzero(weights[fold])
            combined[:, rows] = target.combined(predicted[used][:, :, rows], weights[fold, used], offset)
        stacks.append(Stack(combined[np.newaxis], weights))
    return stacks
