"""GenSVM: a multiclass support vector machine with all classes in one problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from bayesfloor.classify.decode_kernels import linear_scores
from bayesfloor.classify.linear.path_classifiers import LinearDecisions
from bayesfloor.classify.training import F64, Training, check_training
from bayesfloor.data.folds import fold_keys
from bayesfloor.data.points import check_points
from bayesfloor.runtime.checks import check_float, check_option, warn_caller
from bayesfloor.runtime.threads import WorkerPool, supervise
from benchmarks.study.joint.gensvm_solver import ScaledRows, Solution, scale_rows, walk_path
from benchmarks.study.joint.path_scores import check_effort


def simplex_vertices(n_classes: int) -> F64:
    """Return the corners of a regular simplex around zero with edges of length 1, (n_classes, n_classes - 1)."""
    row, column = np.indices((n_classes, n_classes - 1))
    below = -1.0 / np.sqrt(2.0 * (column + 1.0) * (column + 2.0))
    return np.where(row <= column, below, np.where(row == column + 1, -(column + 1.0) * below, 0.0))


class SimplexClassifier(LinearDecisions):
    """Base of the GenSVM classifiers: a row belongs to the class of the nearest vertex of a simplex.

    The score of a class is z'u_k, where z = X coef_' + intercept_ and u_k is the class's vertex. All vertices are
    equally far from zero, so the largest score is that of the nearest one. Differences of scores are the margins in the
    loss; for two classes, z itself is the difference.
    """

    loss_: float
    n_iter_: int

    def _adopt(self, classes: NDArray[Any], rows: ScaledRows, solution: Solution) -> None:
        self.classes_ = classes
        self.coef_, self.intercept_ = _unscaled(rows, solution)
        self.loss_ = solution.loss
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            message = f"GenSVM has not converged after {solution.n_iter} steps. Scale the features, or raise max_iter."
            warn_caller(message, ConvergenceWarning)

    def _class_scores(self, scores: F64) -> F64:
        if len(self.classes_) == 2:
            return scores[:, 0]
        vertices = simplex_vertices(len(self.classes_))
        return linear_scores(scores, np.ascontiguousarray(vertices.T), np.zeros(len(vertices)))


class GenSVC(SimplexClassifier):
    """Generalized multiclass support vector machine (van den Burg & Groenen 2016), linear.

    Minimises, over the coefficients W and the intercepts t,

        1/n Σ_i ρ_i (Σ_{j ≠ y_i} h(q_ij)^p)^(1/p) + λ tr W'W,    q_ij = (x_i'W + t')(u_{y_i} - u_j),

    where u_k are the vertices of a regular simplex, one for each class, and h is the Huber hinge: 1 - q - (κ+1)/2 up to
    -κ, (1-q)²/(2(κ+1)) from there to 1, and 0 above. Other weights take the place of n when there are any.

    Parameters
    ----------
    p : float, default=1.0
        Norm in which a row's errors against the other classes are added up, from 1 to 2.
    kappa : float, default=0.0
        Where the hinge turns from a parabola into a line, above -1. Near -1 it is the plain hinge.
    lmd : float, default=2**-8
        Penalty of the coefficients, above 0. The intercepts are not penalised.
    weights : {"unit", "group"}, default="unit"
        ρ: whether all rows count the same, or all classes (what `class_weight` "balanced" is elsewhere).
    max_iter : int, default=500
        Most Newton steps.
    tol : float, default=1e-10
        How far above its optimum the loss may end, as a part of it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes - 1, n_features)
        W', transposed as in scikit-learn.
    intercept_ : ndarray of shape (n_classes - 1,)
        t.
    loss_ : float
        The loss reached.
    n_iter_ : int
        Newton steps taken.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    GenSVCCV : Chooses these parameters by cross-validation.

    References
    ----------
    G. J. J. van den Burg and P. J. F. Groenen, "GenSVM: A Generalized Multiclass Support Vector Machine", Journal of
    Machine Learning Research 17 (2016).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from benchmarks.study.joint.gensvm import GenSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> svm = GenSVC(p=1.5, kappa=0.5).fit(scale(X), y)
    >>> svm.coef_.shape, round(svm.loss_, 4)
    ((2, 13), 0.0178)
    """

    def __init__(
        self,
        p: float = 1.0,
        *,
        kappa: float = 0.0,
        lmd: float = 2**-8,
        weights: str = "unit",
        max_iter: int = 500,
        tol: float = 1e-10,
    ) -> None:
        self.p = p
        self.kappa = kappa
        self.lmd = lmd
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. Features should be on comparable scales. A sparse matrix is made dense.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts like two rows, one of weight zero is as good as absent.

        Returns
        -------
        GenSVC
            This estimator.
        """
        check_loss(self.p, self.kappa, self.lmd, self.weights)
        check_effort(self.max_iter, self.tol)
        training = check_dense_training(self, X, y, sample_weight)
        rows = rows_of(training, self.weights)
        (solution,) = solve(rows, np.array([self.lmd]), self.p, self.kappa, self.tol, self.max_iter)
        self._adopt(training.classes, rows, solution)
        return self


def check_dense_training(classifier: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Check what a classifier is fitted on; a sparse X becomes dense, up to the limit for all sparse points."""
    training = check_training(classifier, X, y, sample_weight=sample_weight, accept_sparse=True)
    return replace(training, X=check_points(training.X)) if issparse(training.X) else training


def rows_of(training: Training, weights: str) -> ScaledRows:
    """Sort and scale dense rows for the solver."""
    keys = fold_keys(training.X, 0)
    return scale_rows(training.X, training.codes, len(training.classes), training.weight, weights, keys)


def solve(rows: ScaledRows, lmds: F64, p: float, kappa: float, tol: float, max_iter: int) -> list[Solution]:
    """Solve for each λ on one thread; Ctrl-C stops it."""

    def work(pool: WorkerPool) -> list[Solution]:
        return list(walk_path(rows, lmds, p, kappa, tol=tol, max_iter=max_iter, check=pool.check))

    return supervise(work, 1, False)


def _unscaled(rows: ScaledRows, solution: Solution) -> tuple[F64, F64]:
    """Return W' and t of a solution, in the features as they came."""
    # U'U = I/2, so W' = 2 U'B solves B = U W'.
    places = 2.0 * solution.coefficients.T @ simplex_vertices(rows.n_classes)
    coef = places[:-1] / rows.scale[:, np.newaxis]
    return np.ascontiguousarray(coef.T), places[-1] - rows.centre @ coef


def check_loss(p: Any, kappa: Any, lmd: Any, weights: Any) -> None:
    """Check the parameters of the loss."""
    check_float("p", p, "[1, 2]")
    check_float("kappa", kappa, "(-1, inf)")
    check_float("lmd", lmd, "(0, inf)")
    check_option("weights", weights, ("unit", "group"))
