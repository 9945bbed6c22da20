"""Crammer & Singer's SVM: what scikit-learn's solver finds, the choice of C, and fits that do not converge."""

import doctest
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesfloor.classify import crammer_singer
from bayesfloor.classify.crammer_singer import MOST_ITERATIONS, CrammerSingerSVC

from .estimator_contract import (
    BAD_INPUT,
    CONTRACT,
    OBJECTS,
    assert_same_outputs,
    blobs,
    check_kinds_of_array,
    check_search_in_processes,
)

CLASSIFIERS = [CrammerSingerSVC(0.1), CrammerSingerSVC(Cs=[0.02, 0.03], cv=3)]
STOCHASTIC = "liblinear stops at a tolerance, on rows in random order: other rows, other steps"


def expected_failures(classifier):
    return {
        "check_dtype_object": OBJECTS,
        "check_sample_weight_equivalence_on_dense_data": STOCHASTIC,
        "check_sample_weight_equivalence_on_sparse_data": STOCHASTIC,
    }


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_contract(classifier, check):
    check(clone(classifier))


def test_kinds_of_array(tmp_path):
    check_kinds_of_array(clone(CLASSIFIERS[1]), tmp_path)


@pytest.mark.slow
def test_search_in_processes():
    check_search_in_processes(CrammerSingerSVC(Cs=[0.1, 1.0], cv=2, n_jobs=2))


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input(case):
    spoil, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        CrammerSingerSVC().fit(*spoil(*blobs()))


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
    theirs = LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-9, max_iter=MOST_ITERATIONS + 1, random_state=1)
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
            LinearSVC(multi_class="crammer_singer", C=C, tol=1e-6, max_iter=MOST_ITERATIONS + 1, random_state=0),
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


@pytest.mark.slow
def test_processes_do_not_matter():
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


def test_a_final_fit_that_does_not_converge_warns_once():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"not converged at C = 4.1e\+03 after 100000") as caught:
        fitted = CrammerSingerSVC(2.0**12).fit(X, y)
    assert len(caught) == 1
    assert fitted.n_iter_ == MOST_ITERATIONS
    assert accuracy_score(y, fitted.predict(X)) > 0.9


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_values_too_large_for_liblinear(container):
    X, y = blobs()
    with pytest.raises(ValueError, match="above 1e\\+150"):
        CrammerSingerSVC(1.0).fit(container(1e160 * X), y)


@pytest.mark.parametrize(("patience", "n_tried", "n_failed"), [(1, 3, 3), (2, 4, 6), (None, 5, 9)])
def test_larger_C_are_left_untried_once_patience_ends(monkeypatch, patience, n_tried, n_failed):
    Cs = [0.001, 0.002, 0.1, 0.2, 0.4]
    monkeypatch.setattr(crammer_singer, "_has_converged", lambda model: model.C < 0.03)
    monkeypatch.setattr(crammer_singer, "warnings", Mock())
    fitted = CrammerSingerSVC(Cs=Cs, cv=3, patience=patience).fit(*wine())
    assert np.isfinite(fitted.cv_scores_[:n_tried]).all()
    assert np.isnan(fitted.cv_scores_[n_tried:]).all()
    assert fitted.n_not_converged_ == n_failed
    assert fitted.C_ in fitted.Cs_[:n_tried]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": "best"}, "'C' parameter must be 'cv' or a positive number"),
        ({"C": -1.0}, "'C' parameter"),
        ({"Cs": []}, "'Cs' parameter"),
        ({"cv": 1}, "'cv' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"patience": 0}, "'patience' parameter"),
        ({"patience": 1.5}, "'patience' parameter"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CrammerSingerSVC(**parameters).fit(*blobs())
