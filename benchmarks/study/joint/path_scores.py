"""Cross-validated accuracy along the paths of solvers that have all classes in one problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from bayesfloor.classify.training import F64, I64
from bayesfloor.runtime.checks import check_float, check_int
from bayesfloor.runtime.threads import WorkerPool, supervise

#: Solves one path without one fold. Arguments: number of the path, training rows, their classes counted from 0 without
#: gaps, how many classes these are, test rows, pool. Yields at each penalty the scores (n_test, n_classes) of the test
#: rows, and whether the solver has converged.
Walk = Callable[[int, I64, I64, int, I64, WorkerPool], Iterator[tuple[F64, bool]]]


def check_effort(max_iter: Any, tol: Any) -> None:
    """Check the limit on Newton steps and the tolerance."""
    check_int("max_iter", max_iter)
    check_float("tol", tol, "(0, inf)")


def path_scores(
    codes: I64, weight: F64, folds: I64, shape: tuple[int, int], walk: Walk, n_threads: int
) -> tuple[F64, int]:
    """Return accuracies on held-out folds.

    Parameters
    ----------
    codes, weight, folds : ndarray of shape (n,)
        Class, weight and fold of each row.
    shape : tuple of int
        How many paths there are, and how many penalties in each.
    walk : callable
        The solver, see `Walk`.
    n_threads : int
        Threads over paths and folds.

    Returns
    -------
    scores : ndarray of shape (n_paths, n_penalties, n_folds)
        Accuracy on each fold.
    n_not_converged : int
        How many solutions did not converge.
    """
    n_folds = int(folds.max()) + 1
    scores = np.empty((*shape, n_folds))
    converged = np.ones(scores.shape, bool)

    def score(pool: WorkerPool, path: int, fold: int) -> None:
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        present, known = np.unique(codes[train], return_inverse=True)
        if len(present) == 1:
            scores[path, :, fold] = np.average(codes[test] == present[0], weights=weight[test])
            return
        for level, (class_scores, has_converged) in enumerate(walk(path, train, known, len(present), test, pool)):
            decided = present[np.argmax(class_scores, axis=1)]
            scores[path, level, fold] = np.average(decided == codes[test], weights=weight[test])
            converged[path, level, fold] = has_converged

    tasks = list(product(range(shape[0]), range(n_folds)))
    supervise(lambda pool: pool.run(lambda path, fold: score(pool, path, fold), tasks), n_threads, False)
    return scores, int(np.count_nonzero(~converged))
