"""The multiclass SVM of Crammer & Singer, solved by liblinear, with its C chosen by cross-validation."""

from __future__ import annotations

import threading
import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from bayesfloor.classify.fold_choice import check_folds, fold_keys
from bayesfloor.classify.linear_decisions import LinearDecisions
from bayesfloor.classify.linear_svm import check_values_of_c
from bayesfloor.classify.training import check_training
from bayesfloor.data.validation import check_random_state_seed

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

#: Where liblinear gives this problem up, whatever ``max_iter`` scikit-learn passes on.
MOST_ITERATIONS = 100_000

#: Above this, liblinear takes all coefficients to be zero and says nothing.
LARGEST_VALUE = 1e150

#: liblinear draws from one stream of random numbers per process: two fits at a time would take turns at it.
_one_fit_at_a_time = threading.Lock()


class CrammerSingerSVC(LinearDecisions):
    """Multiclass SVM of Crammer & Singer (2002), linear: all classes in one problem.

    Minimises ``1/2 Σ_k |w_k|² + C Σ_i max_j (1[j ≠ y_i] + w_j'x_i - w_{y_i}'x_i)``, the intercept being a coefficient
    like the others, by scikit-learn's ``LinearSVC(multi_class="crammer_singer")``. liblinear gives up after 100 000
    iterations and cannot be told otherwise. It does so on most data once C is large: solutions from there on are far
    from optimal, and take longest.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        Weight of the errors. "cv" chooses it by cross-validated accuracy, the smallest C where several are as good.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
    patience : int or None, default=1
        After this many C in a row at which a fold has not converged, larger ones are left untried. None: try all.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn. The accuracy by which C is chosen is weighted by them too.
    tol : float, default=0.01
        Where to stop: the largest violation of the optimality conditions. At 0.1, liblinear's own default, predictions
        still depend on the seed.
    n_jobs : int or None, default=None
        Processes over the folds, as in joblib; None for one. Threads would not give the same answer twice, because
        liblinear has one stream of random numbers per process.
    random_state : int, None or random generator, default=0
        Seed of the folds and of liblinear. Results do not depend on the order of the rows.

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
        Accuracy at each C on each fold, NaN where C was left untried. No folds when C is a number.
    n_not_converged_ : int
        How many of the fits without a fold did not converge.
    n_iter_ : int
        Iterations of the final fit.
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
    >>> from bayesfloor import CrammerSingerSVC
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
        patience: Any = 1,
        class_weight: Any = None,
        tol: Any = 0.01,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.patience = patience
        self.class_weight = class_weight
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
        Cs = self._check_parameters()
        seed = check_random_state_seed(self.random_state)
        training = check_training(
            self, X, y, sample_weight=sample_weight, class_weight=self.class_weight, accept_sparse=True
        )
        values = training.X.data if issparse(training.X) else training.X
        if np.max(np.abs(values), initial=0.0) > LARGEST_VALUE:
            raise ValueError(f"X holds values above {LARGEST_VALUE:g}, whose squares liblinear cannot add up.")
        weight = training.weight
        keys = fold_keys(training.X, seed)
        folds = check_folds(self.cv, training.codes, keys) if isinstance(self.C, str) else None
        order = np.lexsort((weight, training.codes, keys))
        points, codes, weight = training.X[order], training.codes[order], weight[order]
        liblinear_seed = seed % 2**32

        self.classes_ = training.classes
        self.Cs_ = Cs
        self.cv_scores_ = np.empty((len(Cs), 0))
        self.n_not_converged_ = 0
        chosen = 0
        if folds is not None:
            in_order = folds[order]
            walks = Parallel(n_jobs=self.n_jobs)(
                delayed(_walk_fold)(
                    points, codes, weight, in_order == fold, Cs, self.tol, self.patience, liblinear_seed
                )
                for fold in range(int(folds.max()) + 1)
            )
            scores, failures = zip(*walks, strict=True)
            self.cv_scores_ = np.array(scores).T
            self.n_not_converged_ = sum(failures)
            mean = self.cv_scores_.mean(axis=1)  # NaN where not all folds tried it
            chosen = int(np.argmax(np.where(np.isnan(mean), -1.0, mean)))
        self.C_ = float(Cs[chosen])
        model = _fit(points, codes, weight, self.C_, self.tol, liblinear_seed)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, int(model.n_iter_)
        if not _has_converged(model):
            warnings.warn(
                f"liblinear has not converged at C = {self.C_:.3g} after {self.n_iter_} iterations. "
                "Scale the features, lower C or raise tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_parameters(self) -> F64:
        """Check all parameters that nothing else checks, and return the values of C to try."""
        if isinstance(self.tol, bool) or not isinstance(self.tol, Real) or not 0 < float(self.tol) < np.inf:
            raise ValueError(f"The 'tol' parameter must be a float in the range (0, inf). Got {self.tol!r} instead.")
        whole = isinstance(self.patience, int | np.integer) and not isinstance(self.patience, bool)
        if self.patience is not None and (not whole or self.patience < 1):
            raise ValueError(
                f"The 'patience' parameter must be an int in the range [1, inf) or None. Got {self.patience!r} instead."
            )
        return check_values_of_c(self.C, self.Cs)


def _fit(X: Any, codes: I64, weight: F64, C: float, tol: float, seed: int) -> LinearSVC:
    # One more than liblinear ever takes: scikit-learn would warn of each fit that ends at its own limit.
    model = LinearSVC(multi_class="crammer_singer", C=C, tol=tol, max_iter=MOST_ITERATIONS + 1, random_state=seed)
    with _one_fit_at_a_time:
        return model.fit(X, codes, sample_weight=weight)


def _has_converged(model: LinearSVC) -> bool:
    return bool(model.n_iter_ < MOST_ITERATIONS)


def _walk_fold(
    X: Any, codes: I64, weight: F64, held: NDArray[np.bool_], Cs: F64, tol: float, patience: int | None, seed: int
) -> tuple[F64, int]:
    """Return the accuracy on the rows held out at each C, NaN where untried, and how many fits did not converge."""
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    if len(np.unique(codes[train])) == 1:
        only = codes[train[0]]
        return np.full(len(Cs), np.average(codes[test] == only, weights=weight[test])), 0
    scores = np.full(len(Cs), np.nan)
    n_failed, in_a_row = 0, 0
    for level, C in enumerate(Cs):
        model = _fit(X[train], codes[train], weight[train], float(C), tol, seed)
        scores[level] = np.average(model.predict(X[test]) == codes[test], weights=weight[test])
        in_a_row = 0 if _has_converged(model) else in_a_row + 1
        n_failed += in_a_row > 0
        if patience is not None and in_a_row >= patience:
            break
    return scores, n_failed
