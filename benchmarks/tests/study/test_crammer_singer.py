"""Crammer & Singer's SVM: the optimum, by other solvers and by its own conditions; the choice of C; hard fits."""

import doctest

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from benchmarks.study.joint import crammer_singer, crammer_singer_solver
from benchmarks.study.joint.crammer_singer import CrammerSingerSVC
from benchmarks.study.joint.crammer_singer_solver import walk_path
from helpers.estimator_contract import (
    CONTRACT,
    VARIANT_CONTRACT,
    assert_same_outputs,
    blobs,
    check_kinds_of_array,
    check_search_in_processes,
)

CHOSEN_C = CrammerSingerSVC(Cs=[0.02, 0.03], cv=3)


@pytest.mark.slow
@pytest.mark.usefixtures("array_api_checks")
@parametrize_with_checks([CHOSEN_C])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract(check):
    check(clone(CHOSEN_C))


@pytest.mark.slow
@pytest.mark.parametrize("check", VARIANT_CONTRACT, ids=lambda check: check.__name__)
def test_contract_with_a_given_C(check):
    check(CrammerSingerSVC(0.2))


def test_a_weight_of_two_is_a_row_given_twice():
    check_sample_weight_equivalence_on_dense_data("CrammerSingerSVC", CrammerSingerSVC(0.2))
    check_sample_weight_equivalence_on_sparse_data("CrammerSingerSVC", CrammerSingerSVC(0.2))


@pytest.mark.slow
def test_kinds_of_array(tmp_path):
    check_kinds_of_array(clone(CHOSEN_C), tmp_path)


@pytest.mark.slow
def test_search_in_processes():
    check_search_in_processes(CrammerSingerSVC(Cs=[0.1, 1.0], cv=2, n_jobs=2))


def test_bad_input():
    X, y = blobs()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in 1 row, column 1"):
        CrammerSingerSVC().fit(X, y)


def test_examples():
    assert doctest.testmod(crammer_singer).failed == 0


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("n_classes", [3, 4])
def test_optimum_is_that_of_the_quadratic_program(n_classes):
    X, y = blobs(24, n_classes, 2)
    C, n_coefficients = 0.3, 3 * n_classes
    fitted = CrammerSingerSVC(C, tol=1e-8).fit(X, y)

    def cost(v):
        return 0.5 * np.sum(v[:n_coefficients] ** 2) + C * np.sum(v[n_coefficients:])

    # Each row's slack is at least 1 + w_j'x - w_y'x for every other class, and not below zero.
    A, bound = [], []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        for j in range(n_classes):
            w, slack = np.zeros((n_classes, 3)), np.zeros(len(y))
            w[label] += [*x, 1.0]
            w[j] -= [*x, 1.0]
            slack[i] = 1.0
            A.append(np.append(w.ravel(), slack))
            bound.append(float(j != label))
    A, bound = np.array(A), np.array(bound)
    start = np.append(np.zeros(n_coefficients), np.ones(len(y)))
    constraint = {"type": "ineq", "fun": lambda v: A @ v - bound, "jac": lambda v: A}
    gradient = lambda v: np.append(v[:n_coefficients], np.full(len(y), C))  # noqa: E731
    best = minimize(cost, start, jac=gradient, constraints=constraint, method="SLSQP", options={"ftol": 1e-12})
    assert best.success
    coefficients = np.column_stack([fitted.coef_, fitted.intercept_])
    np.testing.assert_allclose(coefficients.ravel(), best.x[:n_coefficients], rtol=0, atol=1e-5)


@pytest.mark.parametrize("labels", [lambda y: y, lambda y: y > 0], ids=["three classes", "two classes"])
def test_same_coefficients_as_scikit_learn(labels):
    X, y = wine()
    y = labels(y)
    ours = CrammerSingerSVC(0.1, tol=1e-9).fit(X, y)
    theirs = LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-9, max_iter=100_001, random_state=1)
    theirs.fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-5)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99  # one row lies on a boundary


def test_same_scores_as_a_cross_validation_of_each_C():
    X, y = wine()
    folds = np.random.default_rng(0).integers(0, 4, len(y))
    Cs = [2.0**-10, 2.0**-5, 1.0]
    fitted = CrammerSingerSVC(Cs=Cs, cv=PredefinedSplit(folds), tol=1e-6).fit(X, y)
    for level, C in enumerate(Cs):
        expected = cross_val_score(
            LinearSVC(multi_class="crammer_singer", C=C, tol=1e-6, max_iter=100_001, random_state=0),
            X,
            y,
            cv=PredefinedSplit(folds),
        )
        np.testing.assert_allclose(fitted.cv_scores_[level], expected, rtol=0, atol=1e-12)
    assert Cs[int(np.argmax(fitted.cv_scores_.mean(axis=1)))] == fitted.C_


def test_the_smallest_of_equally_good_C_is_taken():
    X = np.array([[-2.0], [-1.9], [-1.8], [1.8], [1.9], [2.0]])
    fitted = CrammerSingerSVC(Cs=[1.0, 4.0, 2.0], cv=3).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(fitted.cv_scores_, 1)
    assert fitted.C_ == 1
    assert fitted.Cs_.tolist() == [1, 2, 4]


def test_a_number_is_taken_as_it_is():
    X, y = blobs()
    fitted = CrammerSingerSVC(0.5).fit(X, y)
    assert fitted.C_ == 0.5
    assert fitted.cv_scores_.shape == (1, 0)
    assert fitted.n_not_converged_ == 0


def test_classes_that_weigh_the_same():
    X, y = blobs(90, 3)
    counts = np.bincount(y)
    balanced = CrammerSingerSVC(0.1, class_weight="balanced", tol=1e-8).fit(X, y)
    weighted = CrammerSingerSVC(0.1, tol=1e-8).fit(X, y, sample_weight=90 / (3 * counts[y]))
    assert_same_outputs(balanced, weighted, X, rtol=0, atol=1e-5)


def test_order_of_rows_does_not_matter():
    X, y = blobs()
    order = np.random.default_rng(3).permutation(len(y))
    plain = CrammerSingerSVC(Cs=[0.01, 0.1, 1.0], cv=3).fit(X, y)
    other = clone(plain).fit(X[order], y[order])
    np.testing.assert_array_equal(other.cv_scores_, plain.cv_scores_)
    np.testing.assert_array_equal(other.coef_, plain.coef_)


def test_threads_do_not_matter():
    X, y = blobs()
    plain = CrammerSingerSVC(Cs=[0.01, 0.1, 1.0], cv=3).fit(X, y)
    other = clone(plain).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.cv_scores_, plain.cv_scores_)
    np.testing.assert_array_equal(other.coef_, plain.coef_)


def test_rows_of_few_classes():
    # With two rows each fold trains on one class alone.
    fitted = CrammerSingerSVC(Cs=3).fit([[0.0], [1.0]], ["a", "b"])
    np.testing.assert_array_equal(fitted.cv_scores_, 0)
    assert fitted.predict([[-9.0], [9.0]]).tolist() == ["a", "b"]


def objective(fitted, X, y, C):
    """The objective, by its definition."""
    W = np.column_stack([fitted.coef_, fitted.intercept_])
    scores = fitted.decision_function(X)
    own = scores[np.arange(len(y)), y]
    violations = scores - own[:, None] + 1
    violations[np.arange(len(y)), y] = 0
    return 0.5 * np.sum(W**2) + C * np.sum(violations.max(axis=1))


def lowest_objective(X, y, C):
    """The linear program that is left once C is so large that coefficients cost nothing beside errors."""
    n, d, K = len(y), X.shape[1] + 1, y.max() + 1
    rows, bound = [], []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        for j in np.flatnonzero(np.arange(K) != label):
            row = np.zeros(K * d + n)
            row[label * d : (label + 1) * d] -= [*x, 1.0]
            row[j * d : (j + 1) * d] += [*x, 1.0]
            row[K * d + i] = -1.0
            rows.append(row)
            bound.append(-1.0)
    cost = np.append(np.zeros(K * d), np.full(n, C))
    limits = [(None, None)] * (K * d) + [(0, None)] * n
    return linprog(cost, np.array(rows), bound, bounds=limits, method="highs").fun


def test_optimum_at_large_C_is_that_of_the_linear_program():
    # liblinear has not converged here after 100 000 iterations.
    X, y = load_iris(return_X_y=True)
    C = 2.0**18
    fitted = CrammerSingerSVC(C).fit(X, y)
    lowest = lowest_objective(X, y, C)
    norm = 0.5 * (np.sum(fitted.coef_**2) + np.sum(fitted.intercept_**2))
    assert lowest <= objective(fitted, X, y, C) <= (lowest + norm) * (1 + 2e-6)
    assert norm < 0.01 * lowest


def test_optimum_does_not_depend_on_the_way_there():
    # A path of C on the one hand, one jump on the other.
    X, y = blobs(150, 4)
    Cs = 2.0 ** np.arange(-10, 19, 4)
    rows = np.column_stack([X, np.ones(len(y))])
    path = walk_path(rows, y, np.ones(len(y)), 4, Cs, tol=1e-12, max_iter=2000, check=lambda: None)
    for C, solution in zip(Cs, path, strict=True):
        assert solution.converged
        fitted = CrammerSingerSVC(C, tol=1e-12).fit(X, y)
        expected = np.column_stack([fitted.coef_, fitted.intercept_])
        size = np.abs(expected).max()
        np.testing.assert_allclose(solution.coefficients, expected, rtol=0, atol=1e-4 * size)


@pytest.mark.parametrize("C", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_gap_is_a_bound_of_what_is_left_to_gain(C, seed):
    X, y = blobs(60, 3)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    rows = np.column_stack([X, np.ones(len(y))])

    def value(W):
        scores = rows @ W.T
        violations = scores - scores[np.arange(len(y)), y][:, None] + (np.arange(3) != y[:, None])
        return 0.5 * np.sum(W**2) + C * weight @ violations.max(axis=1)

    def solve(max_iter):
        return next(walk_path(rows, y, weight, 3, np.array([C]), tol=1e-13, max_iter=max_iter, check=lambda: None))

    best = value(solve(2000).coefficients)
    for max_iter in (1, 3, 6):
        rough = solve(max_iter)
        assert rough.n_iter == max_iter
        assert not rough.converged
        assert value(rough.coefficients) / best - 1 >= -1e-12
        assert value(rough.coefficients) - best <= rough.gap * value(rough.coefficients) * (1 + 1e-9)


@pytest.mark.parametrize("limit", [0, 8, 10**6])
def test_all_ways_to_solve_newtons_system_lead_to_one_optimum(monkeypatch, limit):
    # 0: conjugate gradients only; 8: in the directions with curvature, while they are few
    X, y = blobs(80, 3)
    expected = CrammerSingerSVC(0.5, tol=1e-12).fit(X, y)
    monkeypatch.setattr(crammer_singer_solver, "MOST_UNKNOWNS", limit)
    monkeypatch.setattr(crammer_singer, "MOST_UNKNOWNS", limit)
    for container in (np.asarray, sparse.csr_array):
        fitted = CrammerSingerSVC(0.5, tol=1e-12).fit(container(X), y)
        np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=0, atol=1e-6)
        np.testing.assert_allclose(fitted.intercept_, expected.intercept_, rtol=0, atol=1e-6)


def test_many_sparse_features():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = sparse.random_array((120, 5000), density=0.01, rng=rng).tolil()
    X[np.arange(120), y] = 3.0
    fitted = CrammerSingerSVC(1.0, tol=1e-10).fit(sparse.csr_array(X), y)
    theirs = LinearSVC(multi_class="crammer_singer", C=1.0, tol=1e-9, max_iter=100_001).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(fitted.coef_, theirs.coef_, rtol=0, atol=1e-5)


def test_weights_are_as_good_as_copies():
    X, y = blobs(90, 3)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = CrammerSingerSVC(0.3, tol=1e-12).fit(X, y, sample_weight=times)
    copied = CrammerSingerSVC(0.3, tol=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=0, atol=1e-6)


def test_a_final_fit_that_does_not_converge_warns_once():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"Not converged at C = 4.1e\+03 after 5 steps") as caught:
        fitted = CrammerSingerSVC(2.0**12, max_iter=5).fit(X, y)
    assert len(caught) == 1
    assert fitted.n_iter_ == 5


def test_features_of_a_scale_that_rounding_cannot_cope_with():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    with pytest.warns(ConvergenceWarning, match="Scale the features"):
        fitted = CrammerSingerSVC(2.0**18, max_iter=300).fit(1e10 * X, y)
    assert np.isfinite(fitted.coef_).all()


def test_fits_of_folds_that_do_not_converge_are_counted():
    X, y = wine()
    with pytest.warns(ConvergenceWarning):
        fitted = CrammerSingerSVC(Cs=[0.1, 1.0], cv=3, max_iter=1).fit(X, y)
    assert fitted.n_not_converged_ == 6


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_values_too_large_to_square(container):
    X, y = blobs()
    with pytest.raises(ValueError, match="whose squares overflow, in"):
        CrammerSingerSVC(1.0).fit(container(1e155 * X), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": "best"}, "'C' parameter must be 'cv' or a positive number"),
        ({"C": -1.0}, "'C' parameter"),
        ({"Cs": []}, "'Cs' parameter"),
        ({"cv": 1}, "'cv' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"max_iter": 1.5}, "'max_iter' parameter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CrammerSingerSVC(**parameters).fit(*blobs())


@pytest.mark.parametrize("factor", [1e6, 1e7, 1e10])
def test_rounding_ends_the_search(factor):
    """Errors cost so much more than coefficients that float64 cannot hold both: a warning, and classes told apart."""
    X, y = load_wine(return_X_y=True)
    svm = CrammerSingerSVC(1.0)
    with pytest.warns(ConvergenceWarning, match="Not converged at C = 1"):
        svm.fit(X * factor, y)
    assert svm.n_iter_ < 200
    assert svm.score(X * factor, y) > 0.95
