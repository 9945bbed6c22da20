"""One cell: the test part must not be seen before the test."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import accuracy_score, adjusted_rand_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bayesfloor import SmartSVC, build_class_tree, pairwise_bayes_error
from benchmarks.study import protocol as protocol_module
from benchmarks.study.methods import find_method
from benchmarks.study.plan import Protocol
from benchmarks.study.protocol import Parts, measure_cell, split_and_scale

SMALL = Protocol(n_folds=3, n_values=4, gensvm="small")
SPLIT = 1


def with_wild_test_rows(X, y):
    """The data with other values in all rows that split 1 holds out."""
    _, held = train_test_split(np.arange(len(y)), test_size=SMALL.test_share, stratify=y, random_state=SPLIT)
    wild = X.copy()
    wild[held] = 1e3 * np.random.default_rng(0).standard_cauchy((len(held), X.shape[1]))
    return wild


def all_that_was_learned(X, y, method):
    """Everything that a cell has fitted, as bytes, and its result."""
    fitted, scalers = [], []

    def make(seed):
        fitted.append(method.make(seed))
        return fitted[-1]

    original = protocol_module.split_and_scale

    def split(*arguments):
        parts = original(*arguments)
        scalers.append(parts.scaler)
        return parts

    protocol_module.split_and_scale = split
    try:
        result = measure_cell(X, y, SPLIT, replace(method, make=make), SMALL)
    finally:
        protocol_module.split_and_scale = original
    classifier = fitted[-1]
    tree = classifier.tree_.to_text() if hasattr(classifier, "tree_") else ""
    arrays = [classifier.coef_, classifier.intercept_, scalers[-1].mean_, scalers[-1].scale_]
    return [array.tobytes() for array in arrays], tree, result["chosen"], result


@pytest.mark.parametrize("name", ["SmartSVM", "SmartSVM+", "OvO", "GenSVM", "C&S"])
def test_no_leakage(name):
    X, y = load_wine(return_X_y=True)
    wild = with_wild_test_rows(X, y)
    method = find_method(name, SMALL)
    *learned, result = all_that_was_learned(X, y, method)
    *learned_again, result_again = all_that_was_learned(wild, y, method)
    assert learned == learned_again
    assert result["accuracy"] > 0.9
    assert result_again["accuracy"] < 0.8  # the rows that changed are those that are tested


def test_the_leakage_test_sees_a_scaler_that_sees_test_rows(monkeypatch):
    def leaking(X, y, split, protocol):
        parts = split_and_scale(X, y, split, protocol)
        scaler = StandardScaler().fit(X)
        X_train, X_test = (parts.scaler.inverse_transform(part) for part in (parts.X_train, parts.X_test))
        return Parts(scaler.transform(X_train), parts.y_train, scaler.transform(X_test), parts.y_test, scaler)

    monkeypatch.setattr(protocol_module, "split_and_scale", leaking)
    X, y = load_wine(return_X_y=True)
    wild = with_wild_test_rows(X, y)
    method = find_method("OvO", SMALL)
    arrays, _, _, _ = all_that_was_learned(X, y, method)
    wild_arrays, _, _, _ = all_that_was_learned(wild, y, method)
    assert all(one != other for one, other in zip(arrays, wild_arrays, strict=True))


def test_the_leakage_test_sees_a_tree_that_sees_test_rows():
    X, _ = load_wine(return_X_y=True)
    y = np.repeat(np.arange(10), 18)[: len(X)]  # ten classes, so that there are trees to choose from
    wild = with_wild_test_rows(X, y)

    def tree_of(points, method):
        return all_that_was_learned(points, y, method)[1]

    def with_tree_of_all(points):
        tree = build_class_tree(pairwise_bayes_error(points, y).normalized, np.arange(10))
        make = partial(SmartSVC, tree=tree, Cs=[1.0], cv=2, n_jobs=1)
        return replace(find_method("SmartSVM", SMALL), make=lambda seed: make())

    honest = find_method("SmartSVM", SMALL)
    assert tree_of(X, honest) == tree_of(wild, honest)
    assert tree_of(X, with_tree_of_all(X)) != tree_of(wild, with_tree_of_all(wild))


def test_scaling_by_the_training_part():
    X, y = load_iris(return_X_y=True)
    parts = split_and_scale(X, y, 0, SMALL)
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(parts.X_train.std(axis=0), 1)
    assert np.abs(parts.X_test.mean(axis=0)).max() > 1e-3
    ranged = split_and_scale(X, y, 0, replace(SMALL, scale="minmax"))
    np.testing.assert_allclose([ranged.X_train.min(axis=0), ranged.X_train.max(axis=0)], [[-1] * 4, [1] * 4])


def test_splits_are_stratified_and_differ():
    X, y = load_wine(return_X_y=True)
    first, second = (split_and_scale(X, y, split, SMALL) for split in (0, 1))
    for parts in (first, second):
        np.testing.assert_allclose(np.bincount(parts.y_test), 0.2 * np.bincount(y), atol=1)
    assert not np.array_equal(first.scaler.mean_, second.scaler.mean_)
    again = split_and_scale(X, y, 0, SMALL)
    assert np.array_equal(first.X_test, again.X_test)


def test_result_is_that_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    result = measure_cell(X, y, 0, find_method("OvR", SMALL), SMALL)
    parts = split_and_scale(X, y, 0, SMALL)
    peer = LinearSVC(C=result["chosen"]["C"], dual=False, tol=1e-10, intercept_scaling=1e3)
    predicted = peer.fit(parts.X_train, parts.y_train).predict(parts.X_test)
    assert result["ari"] == pytest.approx(adjusted_rand_score(parts.y_test, predicted))
    assert result["accuracy"] == pytest.approx(accuracy_score(parts.y_test, predicted))
    assert result["macro_f1"] == pytest.approx(f1_score(parts.y_test, predicted, average="macro"))
    assert (result["n_train"], result["n_test"], result["n_features"], result["n_classes"]) == (142, 36, 13, 3)
    assert result["n_configurations"] == 4
    assert result["seconds"] > 0
    assert result["cpu_seconds"] > 0


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", ["SmartSVM", "SmartSVM+", "OvO", "OvR", "DAG", "GenSVM", "C&S"])
def test_a_class_with_fewer_rows_than_folds(name):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 40, 4])
    X = rng.normal(size=(84, 3)) + 3 * y[:, None]
    many = replace(SMALL, n_folds=10)
    result = measure_cell(X, y, 0, find_method(name, many), many)
    assert 0.5 < result["accuracy"] <= 1
