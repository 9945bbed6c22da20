"""Learners of a matrix of targets: an indicator is a number, and a weight of two is a row twice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.helpers.learners import of_classes

from bayesfloor.learn import ridge
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.nearest import LocalRidge, MeanOfNearest, nearest_rows
from bayesfloor.learn.ridge import Landmarks, fit_ridge
from bayesfloor.learn.training_rows import Train, single


def problem(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + 50, 4))
    codes = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n + 50) > 0).astype(np.int64)
    return Train(X[:n], codes[:n], 2), X[n:]


def near(train, test):
    return nearest_rows(train.X, test, 20)


def local_ridge(train, test, nearest):
    return LocalRidge.of_train(train).of(single(train.X), test, nearest)


#: Regressions of rows. Splits that tie are told apart by rounding, and differ for other rows than those trained on.
REGRESSIONS = {
    "ridge": lambda train, test: fit_ridge(train.X, train).predict(test),
    "landmarks": lambda train, test: Landmarks(train, 0, 60).fit(1.0).predict(test),
    "trees": lambda train, _: grow_ensemble(train, train.X, 0, 20, min_leaf=2).deep,
    "shallow trees": lambda train, _: grow_ensemble(train, train.X, 0, 20, min_leaf=2).shallow,
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_an_indicator_is_a_number(name, monkeypatch):
    """The squared error of two indicators is twice that of one, so that penalties, and splits, are the same."""
    monkeypatch.setattr(ridge, "COST_OF_CLASSES", ridge.COST_OF_NUMBERS)
    train, test = problem()
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(train.y))  # without which splits of few rows tie
    of_classes = REGRESSIONS[name](train._replace(weight=weight), test)
    of_numbers = REGRESSIONS[name](Train.of_numbers(train.X, train.y.astype(float), weight), test)
    assert_allclose(of_classes[:, 1], of_numbers.ravel(), atol=1e-6)
    assert_allclose(of_classes.sum(axis=1), 1.0, atol=1e-6)


def test_neighbours_of_an_indicator():
    train, test = problem()
    numbers = Train.of_numbers(train.X, train.y.astype(float))
    nearest = near(train, test)
    # the prior of classes has half a row more of each
    prior, mean = train.prior[1], train.y.mean()
    of_classes, of_numbers = (MeanOfNearest.of_train(each).of(nearest) for each in (train, numbers))
    assert_allclose(of_classes[:, 1] * 21 - prior, of_numbers * 21 - mean)
    assert_allclose(
        local_ridge(train, test, nearest)[:, 1], np.clip(local_ridge(numbers, test, nearest), 1e-3, None), atol=0.01
    )


@pytest.mark.parametrize("is_number", [False, True])
def test_a_weight_of_two_is_a_row_twice(is_number):
    train, _ = problem()
    if is_number:
        train = Train.of_numbers(train.X, train.X[:, 0] ** 2 + train.y)
    weight = np.random.default_rng(1).integers(1, 3, len(train.y)).astype(float)
    twice = np.repeat(np.arange(len(train.y)), weight.astype(int))
    repeated = train._replace(X=train.X[twice], y=train.y[twice])
    weighted = train._replace(weight=weight)
    predicted = [grow_ensemble(each, train.X, 0, 20, 1, 2, 30).deep for each in (weighted, repeated)]
    assert_allclose(*predicted, atol=1e-9)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_equal_weights_are_none(name):
    train, test = problem()
    weighted = REGRESSIONS[name](train._replace(weight=np.ones(len(train.y))), test)
    assert_allclose(weighted, REGRESSIONS[name](train, test), atol=1e-9)


def test_rows_without_weight_are_absent_from_trees():
    train, _ = problem()
    rng = np.random.default_rng(0)
    train = Train.of_numbers(train.X, train.X[:, 0] + rng.standard_normal(len(train.y)))
    counts = rng.random(len(train.y)) < 0.5
    absent = Train.of_numbers(train.X[counts], train.y[counts])
    found = grow_ensemble(train._replace(weight=counts.astype(float)), train.X, 0, 20)
    assert_allclose(found.deep, grow_ensemble(absent, train.X, 0, 20).deep)


def test_rows_of_hardly_any_weight_have_no_say():
    """Mislabelled ones, in every learner that takes weights."""
    train, test = problem()
    flipped = Train(np.vstack([train.X, train.X]), np.append(train.y, 1 - train.y), 2)
    weight = np.repeat([1.0, 1e-6], len(train.y))
    weighted = flipped._replace(weight=weight / weight.mean())
    nearest = nearest_rows(flipped.X, test, 20)
    for found, expected in [
        (fit_ridge(weighted.X, weighted).predict(test), fit_ridge(train.X, train).predict(test)),
        (local_ridge(weighted, test, nearest), local_ridge(train, test, nearest_rows(train.X, test, 10))),
        (of_classes("boosting", weighted, test, 0)["boosting"], of_classes("boosting", train, test, 0)["boosting"]),
    ]:
        assert np.abs(found - expected).mean() < 0.1
