"""Base of the linear classifiers: a multiclass problem as binary problems that share one C."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.linear.linear_svm import (
    FoldedRows,
    check_values_of_c,
    dense_where_narrow,
    fold_rows,
    solve_problems,
    warn_of_failures,
)
from bayesfloor.classify.linear_decisions import LinearDecisions, best_class
from bayesfloor.classify.training import F64, I64, Training, check_training
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.checks import check_random_state_seed
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise


class PathClassifier(LinearDecisions, metaclass=ABCMeta):
    """A multiclass classifier made of binary linear SVMs that share one C.

    A subclass says what the binary problems are (`_divide`) and how their scores become scores of
    classes (`_class_scores`). With ``C="cv"`` the C with the best cross-validated accuracy of the *whole* classifier is
    chosen, the smallest of them where several are equally good.
    """

    def __init__(
        self,
        C: Any = "cv",
        *,
        Cs: Any = 19,
        cv: Any = 10,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _divide(self, training: Training) -> NDArray[np.int8]:
        """Return what each class is in each binary problem, (n_problems, n_classes): -1, +1, or 0 for no part."""

    def _decide(self, scores: F64) -> I64:
        """Return the class of each row, as a code, from the scores (n, n_problems): the decision to cross-validate."""
        return best_class(self._class_scores(scores))

    @property
    def _needs_folds(self) -> bool:
        return isinstance(self.C, str)

    @like_input
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. Features should be on comparable scales.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight zero is as good as absent.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. No group is then in two folds,
            and a splitter gets the groups.

        Returns
        -------
        Self
            This estimator.
        """
        Cs = check_values_of_c(self.C, self.Cs)
        n_threads = check_n_jobs(self.n_jobs)
        training = check_training(
            self, X, y, sample_weight=sample_weight, class_weight=self.class_weight, accept_sparse=True, squares=True
        )
        X = dense_where_narrow(training.X)
        keys = fold_keys(X, check_random_state_seed(self.random_state))
        folds = None
        if self._needs_folds:
            folds = training.folds(self.cv, keys, groups)
        self.classes_ = training.classes
        code_matrix = self._divide(training)
        rows = fold_rows(X, training.codes, training.weight, folds, keys)

        def compute(pool: WorkerPool) -> tuple[F64, int, F64]:
            coefficients, n_failed = solve_problems(rows, code_matrix, Cs, pool)
            return coefficients, n_failed, self._cross_validate(rows, coefficients, pool)

        coefficients, n_failed, cv_scores = supervise(compute, n_threads, False)
        warn_of_failures(n_failed, coefficients[..., 0].size)
        chosen = int(np.argmax(cv_scores.mean(axis=1))) if isinstance(self.C, str) else 0
        self.C_ = float(Cs[chosen])
        self.Cs_ = Cs
        self.cv_scores_ = cv_scores
        self.coef_ = coefficients[0, chosen, :, :-1].copy()
        self.intercept_ = coefficients[0, chosen, :, -1].copy()
        self._after_fit(rows, coefficients[:, chosen], code_matrix)
        return self

    def _after_fit(self, rows: FoldedRows, coefficients: F64, code_matrix: NDArray[np.int8]) -> None:
        """Use the chosen C's coefficients, of all rows and without each fold, (1 + n_folds, n_problems, d + 1)."""

    def _cross_validate(self, rows: FoldedRows, coefficients: F64, pool: WorkerPool) -> F64:
        """Return the accuracy at each C on each fold by the classifier fitted without it, (n_Cs, n_folds)."""
        n_Cs = coefficients.shape[1]
        accuracy = np.empty((n_Cs, rows.n_folds))

        def test(fold: int) -> None:
            held = rows.fold(fold)
            truth, weight = rows.codes[held], rows.weight[held]
            for level in range(n_Cs):
                pool.check()
                right = self._decide(rows.scores(held, coefficients[1 + fold, level])) == truth
                accuracy[level, fold] = np.average(right, weights=weight)

        pool.run(test, [(fold,) for fold in range(rows.n_folds)])
        return accuracy
