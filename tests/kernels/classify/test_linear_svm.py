"""The path solver against scikit-learn's liblinear, against theory, and against itself."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from bayesfloor.classify.linear import linear_svm
from bayesfloor.classify.linear.linear_svm import (
    check_values_of_c,
    dense_where_narrow,
    fold_rows,
    solve_problems,
)
from bayesfloor.classify.linear.path_classifiers import LinearSVCCV
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.threads import WorkerPool, supervise

PAPER_CS = np.exp2(np.arange(-18.0, 19.0, 2.0))
#: The second of two classes is on the side above zero.
SIDES = np.array([[-1, 1]], np.int8)


def noisy(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)


def separable(n=200, d=4):
    X, _ = noisy(n, d)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def constant_and_repeated_columns():
    X, y = noisy()
    return np.column_stack([X, X[:, :2], np.full(len(X), 7.0), np.zeros(len(X))]), y


def more_features_than_rows():
    return noisy(40, 90)


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), (y == 1).astype(int)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def one_class_is_a_single_row():
    X, _ = noisy(60, 3)
    return X, (np.arange(60) == 17).astype(int)


ORDINARY = [noisy, separable, constant_and_repeated_columns, more_features_than_rows, wine, one_class_is_a_single_row]


def signed_rows(X, y):
    return np.column_stack([X, np.ones(len(X))]) * np.where(y == 1, 1.0, -1.0)[:, None]


def objective(w, Z, C):
    return 0.5 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - Z @ w) ** 2)


def gradient(w, Z, C):
    return w - 2.0 * C * Z.T @ np.maximum(0.0, 1.0 - Z @ w)


def solve(X, y, Cs=PAPER_CS, weight=None):
    """Return coefficients and intercept at each C, (n_Cs, d + 1)."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    points, codes = dense_where_narrow(X[weight > 0]), np.asarray(y, np.int64)[weight > 0]
    rows = fold_rows(points, codes, weight[weight > 0], None, fold_keys(points, 0))
    return supervise(lambda pool: solve_problems(rows, SIDES, Cs, pool), 1, False)[0][0, :, 0]


def liblinear(X, y, C):
    """The better of liblinear's two solvers: each of them stops early somewhere at large C."""
    Z, found = signed_rows(X, y), []
    for dual in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm = LinearSVC(C=C, dual=dual, tol=1e-8, max_iter=20_000, random_state=0).fit(X, y)
        found.append(np.append(svm.coef_[0], svm.intercept_))
    return min(found, key=lambda w: objective(w, Z, C))


@pytest.mark.parametrize("problem", [*ORDINARY, cancer])
def test_the_gradient_vanishes_at_every_C(problem):
    X, y = problem()
    Z = signed_rows(X, y)
    for C, w in zip(PAPER_CS, solve(X, y, Cs=PAPER_CS), strict=True):
        at_zero = np.abs(gradient(np.zeros_like(w), Z, C)).max()
        assert np.abs(gradient(w, Z, C)).max() <= 1e-9 * at_zero


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda X: X + 1e4, id="far from zero"),
        pytest.param(lambda X: X * 10.0 ** np.arange(-6, 7, 3), id="mixed scales"),
    ],
)
def test_badly_scaled_features(change):
    X, y = noisy()
    X = change(X)
    Z = signed_rows(X, y)
    for C, w in zip(PAPER_CS[::6], solve(X, y, Cs=PAPER_CS[::6]), strict=True):
        assert objective(w, Z, C) <= objective(liblinear(X, y, C), Z, C) * (1 + 1e-9)


@pytest.mark.parametrize("size", [1e4, 1e7])
def test_rows_that_dwarf_all_others(size):
    """Such rows leave the active set early, and nothing of them may stay behind in sums over it."""
    X, y = noisy(200, 4)
    for row in (3, 50):
        X[row] = np.where(y[row], size, -size) * np.array([1.0, 0.1, 0.01, 0.3])
    Z = signed_rows(X, y)
    for C, w in zip(PAPER_CS[::3], solve(X, y, Cs=PAPER_CS[::3]), strict=True):
        residual = np.maximum(0.0, 1.0 - Z @ w)
        assert np.abs(gradient(w, Z, C)).max() <= 1e-7 * C * (np.abs(Z).T @ residual).max()
        assert objective(w, Z, C) <= objective(liblinear(X, y, C), Z, C) * (1 + 1e-7)


def test_extreme_scales_give_numbers():
    X, y = noisy()
    for factor in (1e150, 1e-150):
        assert np.all(np.isfinite(solve(X * factor, y)))


def test_large_features_leave_the_intercept_to_its_penalty():
    """In units of the features the same problem, with no penalty but that of the intercept, solved by scipy."""
    X, y = load_wine(return_X_y=True)
    X, C = scale(X), 2.0**-18
    Z, penalty = signed_rows(X, y == 2), np.append(np.zeros(X.shape[1]), 1.0 / (2.0 * C))

    def loss(w):
        residual = np.maximum(0.0, 1.0 - Z @ w)
        return 0.5 * residual @ residual + 0.5 * penalty @ w**2, penalty * w - Z.T @ residual

    w = solve(X * 1e8, y == 2, np.array([C]))[0] * np.append(np.full(X.shape[1], 1e8), 1.0)
    assert loss(w)[0] == pytest.approx(minimize(loss, np.zeros(len(w)), jac=True, method="BFGS").fun, rel=1e-6)


def test_sparse_rows_that_are_no_numbers():
    X, y = noisy()
    for value, message in ((np.nan, "NaN in 1 row, column 1"), (np.inf, "infinity"), (1e155, "overflow.* column 1")):
        X[3, 1] = value
        for points in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match=message):
                LinearSVCCV(1.0).fit(points, y)


def test_all_rows_identical():
    np.testing.assert_allclose(solve(np.ones((20, 3)), np.arange(20) % 2), 0.0, atol=1e-12)


def test_two_rows_have_the_widest_margin():
    """Hard margin between (0, 1) and (1, 0): w = ±(1, -1), no intercept."""
    solved = solve(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1], np.array([2.0**18]))
    np.testing.assert_allclose(solved[0], [1.0, -1.0, 0.0], atol=1e-5)


def test_weights_are_repeated_rows():
    X, y = noisy(120)
    times = np.random.default_rng(3).integers(0, 4, len(X))
    weighted = solve(X, y, weight=times)
    repeated = solve(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("problem", [separable, one_class_is_a_single_row, more_features_than_rows])
def test_a_fold_is_the_problem_without_it(problem):
    X, y = problem()
    folds = np.random.default_rng(0).integers(0, 4, len(y))
    rows = fold_rows(X, y.astype(np.int64), np.ones(len(y)), folds, np.arange(len(y), dtype=np.uint64))
    found = supervise(lambda pool: solve_problems(rows, SIDES, PAPER_CS, pool), 1, False)[0][:, :, 0]
    np.testing.assert_allclose(found[0], solve(X, y, Cs=PAPER_CS), rtol=1e-6, atol=1e-9)
    for fold in range(4):
        if len(np.unique(y[folds != fold])) < 2:
            continue
        apart = solve(X[folds != fold], y[folds != fold], Cs=PAPER_CS)
        for w, reference in zip(found[1 + fold], apart, strict=True):
            np.testing.assert_allclose(w, reference, rtol=0, atol=1e-3 * np.abs(reference).max())


@pytest.mark.parametrize("problem", [wine, one_class_is_a_single_row])
def test_liblinear_ends_at_the_same_place(problem, monkeypatch):
    """Also without the only row of a class, where its fold is left out."""
    X, y = problem()
    rows = fold_rows(
        X, y.astype(np.int64), np.ones(len(y)), np.arange(len(y)) // 30, np.arange(len(y), dtype=np.uint64)
    )
    ours, theirs = [], []
    for most, found in ((3000, ours), (0, theirs)):
        monkeypatch.setattr(linear_svm, "MOST_FEATURES", most)
        found.extend(supervise(lambda pool: solve_problems(rows, SIDES, PAPER_CS[:12], pool), 1, False))
    size = np.abs(ours[0]).max(axis=3, keepdims=True)
    np.testing.assert_allclose(theirs[0] / size, ours[0] / size, atol=1e-3)  # folds end sooner
    np.testing.assert_allclose(theirs[0][0] / size[0], ours[0][0] / size[0], atol=1e-5)
    assert theirs[1] == 0


def test_sparse_rows_with_many_features():
    X = sparse.random_array((120, 5000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(X[:, :2500].sum(axis=1) > X[:, 2500:].sum(axis=1)).astype(int)
    Cs = PAPER_CS[4:15:5]
    on_sparse, on_dense = (solve(kind, y, Cs=Cs) for kind in (X, X.toarray()))
    np.testing.assert_allclose(on_sparse, on_dense, rtol=0, atol=1e-6 * np.abs(on_dense).max())


def test_few_sparse_features():
    X, y = noisy()
    X[np.abs(X) < 1] = 0
    of_sparse, of_dense = (LinearSVCCV(1.0).fit(kind, y) for kind in (sparse.coo_array(X), X))
    np.testing.assert_array_equal(of_sparse.coef_, of_dense.coef_)


def test_a_stopped_pool_gives_up():
    X, y = noisy()
    rows = fold_rows(X, y.astype(np.int64), np.ones(len(y)), None, np.arange(len(y), dtype=np.uint64))
    pool = WorkerPool(1)
    pool.stop()
    with pytest.raises(InterruptedError):
        solve_problems(rows, SIDES, PAPER_CS, pool)


def test_default_Cs_are_the_papers():
    np.testing.assert_array_equal(check_values_of_c("cv", 19), PAPER_CS)


def test_unusable_Cs():
    for Cs in (0, -3, [], [0.0], [-1.0, 1.0], [np.inf], [np.nan], [[1.0]], True):
        with pytest.raises(ValueError, match="The 'Cs' parameter must be"):
            check_values_of_c("cv", Cs)
