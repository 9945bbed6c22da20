"""Columns of names that were numbered, and columns that are 0 or 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from tests.helpers.learners import of_classes

from bayesfloor.learn.marginals import _score_of_names
from bayesfloor.learn.network import _layers_of
from bayesfloor.learn.network_kernels import pass_over
from bayesfloor.learn.training_rows import Codes, Train, is_mostly_binary, is_nominal, standardised


def names(n=900, n_columns=3, n_values=40, seed=0):
    """Numbered names, each with an effect of its own on the log-odds."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, n_columns)).astype(float)
    effect = 1.5 * rng.standard_normal((n_columns, n_values))
    log_odds = sum(effect[j, X[:, j].astype(int)] for j in range(n_columns))
    return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def test_columns_of_few_values():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 100), rng.integers(0, 3, 100), rng.permutation(100) // 2, rng.standard_normal(100)]
    assert_array_equal(is_nominal(np.column_stack(columns)), [False, True, True, False])


def test_names_are_told_from_numbers():
    X, codes = names()
    train = Train(X, codes, 2)
    for j in range(3):
        assert _score_of_names(X[:, j].astype(int), train) > 0
    rng = np.random.default_rng(1)
    ordered = rng.integers(0, 40, 900)
    assert _score_of_names(ordered, Train(X, (ordered > 15).astype(np.int64), 2)) == 0
    assert _score_of_names(rng.integers(0, 40, 900), train) == 0  # says nothing


def test_values_as_names_say_what_their_order_does_not():
    X, codes = names()
    train, test, labels = Train(X[:600], codes[:600], 2), X[600:], codes[600:]
    found = of_classes("nominal", train, test, 0)
    error = {name: np.mean(p.argmax(axis=1) != labels) for name, p in found.items()}
    in_order = np.mean(of_classes("marginals", train, test, 0)["LDA of ranks"].argmax(axis=1) != labels)
    assert max(error.values()) < in_order - 0.05


def test_a_value_that_was_never_seen_says_nothing():
    X, codes = names()
    train = Train(X, codes, 2)
    p = of_classes("nominal", train, np.full((1, 3), 1000.0), 0)["value naive Bayes"]
    assert_allclose(p[0], train.prior)


def test_without_names_there_is_the_prior():
    rng = np.random.default_rng(0)
    train = Train(rng.standard_normal((50, 2)), rng.integers(0, 2, 50), 2)
    for p in of_classes("nominal", train, np.zeros((3, 2)), 0).values():
        assert_allclose(p, np.tile(train.prior, (3, 1)))


def test_mostly_binary():
    rng = np.random.default_rng(0)
    binary = rng.integers(0, 2, (50, 8)).astype(float)
    number = rng.standard_normal((50, 1))
    assert is_mostly_binary(np.hstack([binary, number, np.ones((50, 1))]))
    assert not is_mostly_binary(np.hstack([binary[:, :3], number]))
    assert not is_mostly_binary(np.ones((50, 4)))


@pytest.mark.interpreted
@pytest.mark.parametrize("n_batches", [1, 3])
def test_steps_of_the_network(n_batches):
    """Adam by its formulas, from gradients by differences."""
    rng = np.random.default_rng(0)
    sizes = (3, 4, 4, 3)
    start, step = rng.standard_normal(51).astype(np.float32), 1e-6
    rows, codes = rng.standard_normal((20, 3)).astype(np.float32), rng.integers(0, 3, 20)
    step_sizes = np.array([0.01, 0.005, 0.002], np.float32)[:n_batches]

    def loss(parameters, batch):
        hidden = rows[batch::n_batches].astype(np.float64)
        layers = _layers_of(parameters, sizes)
        for layer in layers[:-1]:
            hidden = np.maximum(hidden @ layer[:-1] + layer[-1], 0.0)
        p = softmax(hidden @ layers[-1][:-1] + layers[-1][-1], axis=1)
        return -np.log(p[np.arange(len(p)), codes[batch::n_batches]]).mean()

    expected, mean, square = start.astype(np.float64), np.zeros(51), np.zeros(51)
    for batch, size in enumerate(step_sizes):
        ends = [[loss(expected + sign * step * unit, batch) for unit in np.eye(51)] for sign in (1, -1)]
        slope = np.subtract(*ends) / (2 * step) + 1e-3 * expected
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        expected = expected - size * mean / (np.sqrt(square) + 1e-8)
    found, of_mean, of_square = start.copy(), np.zeros(51, np.float32), np.zeros(51, np.float32)
    pass_over(rows, codes, step_sizes, np.float32(1e-3), 4, 3, found, of_mean, of_square)
    assert_allclose(found, expected, atol=1e-4)
    assert_allclose(of_mean, mean, atol=1e-5)
    assert_allclose(of_square, square, atol=1e-6)
    assert np.abs(expected - start).max() > 0.01


def test_network_learns_what_no_column_says_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (900, 8)).astype(float)
    codes = (X[:, 0] + X[:, 3] + X[:, 5]).astype(np.int64) % 2
    p = of_classes("network", Train(X[:600], codes[:600], 2), X[600:], 0)["network"]
    assert np.mean(p.argmax(axis=1) != codes[600:]) < 0.05
    assert_array_equal(p, of_classes("network", Train(X[:600], codes[:600], 2), X[600:], 0)["network"])


def test_network_stops_when_the_work_is_given_up():
    def check():
        raise InterruptedError

    X = np.random.default_rng(0).integers(0, 2, (50, 4)).astype(float)
    with pytest.raises(InterruptedError):
        of_classes("network", Train(X, X[:, 0].astype(np.int64), 2, check), X, 0)


def test_a_column_of_many_values_leaves_the_others_their_room():
    rng = np.random.default_rng(0)
    n = 14_000
    wide, narrow = rng.integers(0, 650, n), rng.integers(0, 10, n)
    scores = 3.0 * rng.normal(size=650)[wide] + rng.permutation(np.linspace(-1, 1, 10))[narrow]
    y = (rng.random(n) < expit(scores)).astype(int)
    X, test = standardised(rng.normal(size=(n - 1000, 2)), rng.normal(size=(1000, 2)))
    found = []
    for columns in ((wide, narrow), (narrow,)):
        codes = np.column_stack(columns).astype(float)
        train = Train(X, y[:-1000], 2, table=Codes(codes[:-1000], np.ones(codes.shape[1], bool)))
        requested = frozenset(["value logistic"])
        of_test = of_classes("nominal", train, test, codes=codes[-1000:], requested=requested)
        found.append(of_test["value logistic"])
    assert_array_equal(found[0], found[1])
    assert np.ptp(found[0][:, 1]) > 0.1
