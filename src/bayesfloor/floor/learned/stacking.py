"""Combine learners by weights that are fitted on rows of other folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.floor.learned.cross_fitting import CrossFit
from bayesfloor.floor.learned.splits import unseen
from bayesfloor.floor.learned.targets import Target
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import WorkerPool


@dataclass(frozen=True, eq=False)
class Stack:
    """The stack's predictions at one size.

    Attributes
    ----------
    predicted : ndarray of shape (n_repeats, n_views, n, …)
        Logarithms of the probabilities of the classes, or numbers; NaN where there are none. Views of one repeat are of
        models that share no training rows.
    weights : ndarray of shape (n_repeats * n_folds, n_learners)
        Weights of the learners; 0 for those left out.
    """

    predicted: Floats
    weights: Floats

    def take(self, rows: Ints, folds: Ints) -> "Stack":
        """Keep some of the rows, and the weights of their folds."""
        return Stack(self.predicted[:, :, rows], self.weights[np.unique(folds[rows])])

    def joined(self, other: "Stack") -> "Stack":
        """Add the repeats of another stack of the same rows."""
        return Stack(np.concatenate([self.predicted, other.predicted]), np.concatenate([self.weights, other.weights]))

    @property
    def models(self) -> Floats:
        """The predictions of each model, whichever repeat it is of: an array of shape (n_repeats * n_views, n, …)."""
        return self.predicted.reshape(-1, *self.predicted.shape[2:])


class StackFits:
    """Weights of the learners in the stacks of all folds, each fitted once.

    Which learners take part in the stack for a fold, and with which weights, is decided by rows of the other folds
    alone, as models predict them that have not seen the fold: see `unseen`. In time, they are rows of earlier folds. A
    fold that has no earlier ones has no stack.

    Parameters
    ----------
    target : Target
        Whose predictions are combined.
    seed : int
        Seeds the choice of rows where they are many.
    pool : WorkerPool
        Threads to work with.
    """

    def __init__(self, target: Target, seed: int, pool: WorkerPool) -> None:
        self.target, self.seed, self.pool = target, seed, pool
        self._fits: dict[int, dict[int, tuple[Floats, Any]]] = {}

    def fit(self, fitted: CrossFit, size: int) -> dict[int, tuple[Floats, Any]]:
        """Return weights, 0 for learners left out, and an offset, for each fold that has a stack."""
        if size not in self._fits:
            folds = [fold for fold in range(fitted.n_folds) if len(fitted.outside(fold))]
            found = self.pool.run(lambda fold: self._fit(fitted, size, fold), [(fold,) for fold in folds])
            self._fits[size] = dict(zip(folds, found, strict=True))
        return self._fits[size]

    def _fit(self, fitted: CrossFit, size: int, fold: int) -> tuple[Floats, Any]:
        source, views, rows = self.source(fitted, size, fold)
        among = fitted.trained_for(fold, source)
        return self.target.fit_stack(fitted.predicted[source], among, views, rows, [self.seed, size, fold])

    @staticmethod
    def source(fitted: CrossFit, size: int, fold: int) -> tuple[int, Ints, Ints]:
        """Return the predictions that the stack of a fold is fitted on: their size, views and rows."""
        n_views = [predicted.shape[1] for predicted in fitted.predicted]
        return unseen(fitted.seen, n_views, fitted.folds, fitted.outside(fold), fold, size)


def fit_stacks(fitted: CrossFit, fits: StackFits) -> list[Stack]:
    """Combine learners for each size and fold of one repeat."""
    stacks = []
    for size, predicted in enumerate(fitted.predicted[: len(fitted.sizes)]):
        combined = np.full(predicted.shape[1:], np.nan)
        weights = np.zeros((fitted.n_folds, len(predicted)))
        for fold, (of_fold, offset) in fits.fit(fitted, size).items():
            rows = fitted.folds == fold
            weights[fold] = of_fold
            used = np.flatnonzero(of_fold)
            combined[:, rows] = fits.target.combined(predicted[used][:, :, rows], of_fold[used], offset)
        stacks.append(Stack(combined[np.newaxis], weights))
    return stacks
