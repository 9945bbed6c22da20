"""Linear support vector machines with the squared hinge, along a whole path of C.

The objective is that of scikit-learn's ``LinearSVC``, intercept included in the penalty:

    1/2 |w|² + C Σ_i s_i max(0, 1 - y_i (x_i, 1)'w)².

`solve_problems` solves all the binary problems into which a multiclass problem has been divided, each with and without
every fold of a cross-validation, each C from the solution of the one before; see `newton_kernels` for how. Sparse rows
of many features, and very many features, go to scikit-learn's liblinear, which needs no matrix of features by features.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from bayesfloor.classify.linear.newton_kernels import LOOSE_TOL, walk_path
from bayesfloor.classify.training import F64, I64
from bayesfloor.runtime.checks import ParameterError, check_int, is_int, warn_caller
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.threads import WorkerPool

#: Tolerance of the solution on all rows, and of those without a fold: the largest component of the gradient, relative
#: to the largest at zero.
TOLERANCES = np.array([1e-11, 1e-6])

#: Maximum number of features for which Newton's system is factorised; liblinear is faster beyond.
MOST_FEATURES = 3000

#: Tolerance of liblinear's solutions, and the gradient, relative to the one at zero, above which its other solver has a
#: try as well: each of them stops early somewhere at large C.
LIBLINEAR_TOL, SECOND_TRY_TOL = 1e-8, 1e-6

#: liblinear draws from one generator for all threads.
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class FoldedRows:
    """The rows of a training set, those of each fold together.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, d + 1)
        The points and a column of ones.
    codes : ndarray of shape (n,)
        Class of each row.
    weight : ndarray of shape (n,)
        Weight of each row, above zero.
    fold_start : ndarray of shape (n_folds + 1,)
        Fold f holds the rows from ``fold_start[f]`` to ``fold_start[f + 1]``. One number alone: no folds.
    basis : ndarray of shape (d + 1, n) or None
        Orthonormal columns in which X is written when there are more features than rows.
    """

    X: Any
    codes: I64
    weight: F64
    fold_start: I64
    basis: F64 | None = None

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.fold_start) - 1

    def fold(self, number: int) -> slice:
        """Return the rows of a fold."""
        return slice(int(self.fold_start[number]), int(self.fold_start[number + 1]))

    def scores(self, part: slice, coefficients: F64) -> F64:
        """Return the scores of some rows in each problem, given the problems' coefficients (n_problems, d + 1)."""
        if self.basis is not None:
            coefficients = coefficients @ self.basis
        return self.X[part] @ coefficients.T


def dense_where_narrow(X: Any) -> Any:
    """Return a sparse matrix of few features as a dense one: the direct solver is faster on that."""
    n, d = X.shape
    if not sparse.issparse(X) or d >= MOST_FEATURES:
        return X
    check_memory(8.0 * n * d, f"a sparse matrix of {n} rows and {d} columns made dense")
    return X.toarray()


def fold_rows(X: Any, codes: I64, weight: F64, folds: I64 | None, keys: NDArray[np.uint64]) -> FoldedRows:
    """Sort the rows of a training set by fold, for `solve_problems`.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        The points.
    codes, weight : ndarray of shape (n,)
        Class and weight of each row.
    folds : ndarray of shape (n,) or None
        Fold of each row, counted from 0.
    keys : ndarray of shape (n,)
        Rows come in this order within a fold, so that sums do not depend on the order in which they were given.

    Returns
    -------
    FoldedRows
    """
    n, d = X.shape
    if folds is None:
        order, fold_start = np.lexsort((weight, codes, keys)), np.zeros(1, np.int64)
    else:
        order = np.lexsort((weight, codes, keys, folds))
        fold_start = np.searchsorted(folds[order], np.arange(int(folds.max()) + 2))
    basis = None
    if sparse.issparse(X):
        rows = sparse.hstack([X, np.ones((n, 1))], format="csr")[order]
    else:
        rows = np.empty((n, d + 1))
        np.take(X, order, axis=0, out=rows[:, :d])
        rows[:, d] = 1.0
        if d + 1 > n:
            # The solution lies in the span of the rows: n coordinates are enough.
            basis, triangle = linalg.qr(rows.T, mode="economic", check_finite=False)
            rows = np.ascontiguousarray(triangle.T)
    return FoldedRows(rows, codes[order], weight[order], fold_start, basis)


def solve_problems(rows: FoldedRows, code_matrix: NDArray[np.int8], Cs: F64, pool: WorkerPool) -> tuple[F64, int]:
    """Solve binary problems on parts of a training set.

    Parameters
    ----------
    rows : FoldedRows
        The training set.
    code_matrix : ndarray of shape (n_problems, n_classes)
        What each class is in each problem: -1, +1, or 0 for classes that take no part.
    Cs : ndarray of shape (n_Cs,)
        Rising values of C.
    pool : WorkerPool
        The threads.

    Returns
    -------
    coefficients : ndarray of shape (1 + n_folds, n_Cs, n_problems, d + 1)
        Coefficients and intercept: of all rows first, then without each fold.
    n_failed : int
        For how many of these Newton's method ended far from the optimum.
    """
    n_problems, d = len(code_matrix), rows.X.shape[1]
    penalties = 1.0 / (2.0 * Cs)
    wide = sparse.issparse(rows.X) or d > MOST_FEATURES
    n_parts = 1 + rows.n_folds
    width = d if rows.basis is None else len(rows.basis)
    system = 0 if wide else 8 * d * d
    n_values = rows.X.nnz if sparse.issparse(rows.X) else rows.X.size
    copies = 24.0 * n_values if wide else 0.0  # of a problem's rows, and of those in liblinear's own format
    check_memory(
        8.0 * n_parts * len(Cs) * n_problems * width
        + pool.n_threads * n_parts * (system + 20.0 * len(rows.codes))
        + copies,
        f"{n_problems} linear problems of {width} coefficients, {len(Cs)} values of C and {rows.n_folds} folds,",
    )
    coefficients = np.empty((n_parts, len(Cs), n_problems, width))
    n_failed = np.zeros(n_problems, np.int64)

    def solve(problem: int) -> None:
        sign = code_matrix[problem][rows.codes]
        chosen = np.flatnonzero(sign)
        fold_start = np.searchsorted(chosen, rows.fold_start)
        X, sides, weight = rows.X[chosen], sign[chosen].astype(np.float64), rows.weight[chosen]
        if wide:
            found, n_failed[problem] = _walk_with_liblinear(X, sides, weight, fold_start, Cs, pool)
        else:
            X *= sides[:, np.newaxis]
            found, _, n_failed[problem] = walk_path(X, weight, fold_start, penalties, TOLERANCES, pool.stopped)
        pool.check()
        coefficients[:, :, problem] = found if rows.basis is None else found @ rows.basis.T

    class_sizes = np.bincount(rows.codes, minlength=code_matrix.shape[1])
    sizes = (code_matrix != 0) @ class_sizes
    largest_first = np.argsort(-sizes, kind="stable")
    pool.expect(int(sizes.sum()))
    pool.run(solve, [(int(problem),) for problem in largest_first], sizes[largest_first].tolist())
    if not np.isfinite(coefficients).all():
        raise ValueError("The features are on such scales that rounding leaves no solution. Scale them first.")
    return coefficients, int(n_failed.sum())


def warn_of_failures(n_failed: int, n_solutions: int) -> None:
    """Warn the caller of `fit` where solutions are not optimal."""
    if n_failed > 0:
        message = (
            f"{n_failed} of {n_solutions} linear SVMs did not converge: the features are on such scales that rounding "
            "errors exceed the gradient. Scale the features."
        )
        warn_caller(message, ConvergenceWarning)


def _walk_with_liblinear(
    X: Any, sides: F64, weight: F64, fold_start: I64, Cs: F64, pool: WorkerPool
) -> tuple[F64, int]:
    """Solve a problem, and the same problem without each fold, at each C.

    Returns
    -------
    coefficients : ndarray of shape (1 + n_folds, n_Cs, d)
        Of all rows first, then without each fold.
    n_failed : int
        How many of these are far from the optimum.
    """
    scale = float(np.abs(X.T @ (sides * weight)).max())
    left_out = [slice(0, 0), *map(slice, fold_start[:-1].tolist(), fold_start[1:].tolist())]
    coefficients = np.empty((len(left_out), len(Cs), X.shape[1]))
    n_failed = 0
    for part, fold in enumerate(left_out):
        share = weight.copy()
        share[fold] = 0.0
        for level, C in enumerate(Cs.tolist()):
            pool.check()
            coefficients[part, level], gradient = _solve_with_liblinear(X, sides, share, C, SECOND_TRY_TOL * scale)
            n_failed += not gradient <= LOOSE_TOL * scale
    return coefficients, n_failed


def _solve_with_liblinear(X: Any, sides: F64, weight: F64, C: float, small: float) -> tuple[F64, float]:
    """Return a solution and the largest component of its gradient, of the better solver where that is not small."""
    counted = weight > 0
    X, sides, weight = X[counted], sides[counted], weight[counted]
    if not sides.min() < sides.max():  # liblinear wants rows on both sides; one at the origin moves nothing
        origin = np.zeros((1, X.shape[1]))
        X = sparse.vstack([X, origin], format="csr") if sparse.issparse(X) else np.vstack([X, origin])
        sides, weight = np.append(sides, -sides[0]), np.append(weight, 1.0)
    n, d = X.shape
    best, smallest = np.zeros(d), np.inf
    for dual in (n < d, n >= d):
        svm = LinearSVC(C=C, dual=dual, tol=LIBLINEAR_TOL, fit_intercept=False, random_state=0)
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found: F64 = svm.fit(X, sides, weight).coef_[0]
        residual = weight * np.maximum(0.0, 1.0 - sides * (X @ found))
        gradient = float(np.abs(found / (2.0 * C) - X.T @ (sides * residual)).max())
        if gradient < smallest:
            best, smallest = found, gradient
        if smallest <= small:
            break
    return best, smallest


def check_values_of_c(C: Any, Cs: Any) -> F64:
    """Return the values of C to solve for, rising: those of `Cs` where C is "cv", else C alone.

    `Cs` is the number of values from 2^-18 to 2^18, or the values themselves.
    """
    if not isinstance(C, str) or C != "cv":
        if isinstance(C, bool) or not isinstance(C, Real) or not 0 < float(C) < np.inf:
            raise ParameterError("C", "'cv' or a positive number", C)
        return np.array([float(C)])
    if is_int(Cs):
        n_values = check_int("Cs", Cs)
        return np.exp2(np.linspace(-18, 18, n_values)) if n_values > 1 else np.ones(1)
    values = np.asarray(Cs, np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.all((values > 0) & np.isfinite(values)):
        raise ParameterError("Cs", "an int or positive numbers", Cs)
    return np.unique(values)
