"""The multiclass SVM of Crammer & Singer, with its C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from bayesfloor.classify.linear.linear_svm import check_values_of_c
from bayesfloor.classify.linear.path_classifiers import LinearDecisions
from bayesfloor.classify.training import F64, I64, check_training
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.checks import check_random_state_seed, warn_caller
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise
from benchmarks.study.joint.crammer_singer_solver import MOST_UNKNOWNS, Solution, walk_path
from benchmarks.study.joint.path_scores import check_effort, path_scores

#: Sparse rows are made dense where Newton's system is solved directly and they take no more numbers than this.
MOST_DENSE_NUMBERS = 2**25


class CrammerSingerSVC(LinearDecisions):
    """Multiclass SVM of Crammer & Singer (2002), linear: all classes in one problem.

    Minimises ``1/2 Σ_k |w_k|² + C Σ_i max_j (1[j ≠ y_i] + w_j'x_i - w_{y_i}'x_i)``, the intercept being a coefficient
    like the others, as scikit-learn's ``LinearSVC(multi_class="crammer_singer")`` does. Unlike that, it finds the
    optimum at large C too.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        Weight of the errors. "cv" chooses it by cross-validated accuracy, the smallest C where several are as good.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn. The accuracy by which C is chosen is weighted by them too.
    max_iter : int, default=2000
        Most Newton steps for one C.
    tol : float, default=1e-6
        How far the objective may lie above a lower bound of its minimum, as a share of it.
    n_jobs : int or None, default=None
        Threads over the folds; None for every core. Results do not depend on it.
    random_state : int, None or random generator, default=0
        Seed of the folds. Results do not depend on the order of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    C_ : float
        The C in use.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; for two classes, of the second less those of the first.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    Cs_ : ndarray of shape (n_Cs,)
        The values that were tried, rising.
    cv_scores_ : ndarray of shape (n_Cs, n_folds)
        Accuracy at each C on each fold. No folds when C is a number.
    n_not_converged_ : int
        How many of the fits without a fold took `max_iter` steps.
    n_iter_ : int
        Newton steps of the final fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    References
    ----------
    K. Crammer and Y. Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines", Journal of
    Machine Learning Research 2 (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from benchmarks.study.joint.crammer_singer import CrammerSingerSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> svm = CrammerSingerSVC(Cs=[0.01, 0.1, 1.0], cv=5).fit(scale(X), y)
    >>> svm.coef_.shape, svm.cv_scores_.shape
    ((3, 13), (3, 5))
    """

    def __init__(
        self,
        C: Any = "cv",
        *,
        Cs: Any = 19,
        cv: Any = 10,
        class_weight: Any = None,
        max_iter: int = 2000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. Features should be on comparable scales.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight zero is as good as absent.

        Returns
        -------
        CrammerSingerSVC
            This estimator.
        """
        Cs = check_values_of_c(self.C, self.Cs)
        check_effort(self.max_iter, self.tol)
        n_threads = check_n_jobs(self.n_jobs)
        seed = check_random_state_seed(self.random_state)
        training = check_training(
            self, X, y, sample_weight=sample_weight, class_weight=self.class_weight, accept_sparse=True, squares=True
        )
        keys = fold_keys(training.X, seed)
        folds = None
        if isinstance(self.C, str):
            folds = training.folds(self.cv, keys)
        order = np.lexsort((training.weight, training.codes, keys))
        n_classes = len(training.classes)
        X = _with_ones(training.X, n_classes)[order]
        codes, weight = training.codes[order], training.weight[order]

        def walk(rows: I64 | slice, known: I64, n_present: int, Cs: F64, pool: WorkerPool) -> Iterator[Solution]:
            points, tol, max_iter = X[rows], self.tol, self.max_iter
            return walk_path(points, known, weight[rows], n_present, Cs, tol=tol, max_iter=max_iter, check=pool.check)

        def held_out(
            path: int, train: I64, known: I64, n_present: int, test: I64, pool: WorkerPool
        ) -> Iterator[tuple[F64, bool]]:
            points = X[test]
            for solution in walk(train, known, n_present, Cs, pool):
                yield points @ solution.coefficients.T, solution.converged

        self.classes_ = training.classes
        self.Cs_ = Cs
        self.cv_scores_ = np.empty((len(Cs), 0))
        self.n_not_converged_ = 0
        chosen = 0
        if folds is not None:
            scores, self.n_not_converged_ = path_scores(codes, weight, folds[order], (1, len(Cs)), held_out, n_threads)
            self.cv_scores_ = scores[0]
            chosen = int(np.argmax(self.cv_scores_.mean(axis=1)))
        self.C_ = float(Cs[chosen])
        final = supervise(lambda pool: next(walk(slice(None), codes, n_classes, Cs[[chosen]], pool)), 1, False)
        self._adopt(final)
        return self

    def _adopt(self, solution: Solution) -> None:
        W = solution.coefficients
        if len(W) == 2:
            W = W[1:] - W[:1]
        self.coef_, self.intercept_ = W[:, :-1].copy(), W[:, -1].copy()
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            message = (
                f"Not converged at C = {self.C_:.3g} after {self.n_iter_} steps: the objective may lie "
                f"{solution.gap:.1g} of itself above its minimum. Scale the features, lower C or raise max_iter."
            )
            warn_caller(message, ConvergenceWarning)


def _with_ones(X: Any, n_classes: int) -> Any:
    """Return X with a last feature of 1; sparse only where it is worth it."""
    n, n_features = X.shape[0], X.shape[1] + 1
    if sparse.issparse(X):
        if n_features * n_classes > MOST_UNKNOWNS or n * n_features > MOST_DENSE_NUMBERS:
            return sparse.hstack([X, np.ones((n, 1))], format="csr")
        X = X.toarray()
    return np.column_stack([X, np.ones(n)])
