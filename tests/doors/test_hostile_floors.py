"""Bad and strange input: an error that says what is wrong, or the right answer with a finding."""

import numpy as np
import pytest
from scipy.stats import binomtest

from bayesfloor import (
    BayesErrorEstimator,
    bayes_error,
    henze_penrose_divergence,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
)
from helpers.agreement import codes_of
from helpers.known_samples import gaussian_classes
from helpers.one_case import for_each
from helpers.refusals import options_not_refused

FUNCTIONS = [
    bayes_error,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    henze_penrose_divergence,
    lambda X, y: BayesErrorEstimator().fit(X, y),
]


@pytest.fixture
def sample():
    X, y = gaussian_classes(np.random.default_rng(0), 120, [0.3, 0.3, 0.4], 2 * np.eye(3), 3)
    return X, y


def with_value(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


BAD = {
    "NaN": (lambda X, y: (with_value(X, np.nan), y), "NaN.*1 row.*column 1"),
    "inf": (lambda X, y: (with_value(X, np.inf), y), "infinity.*column 1"),
    "text": (lambda X, y: (with_value(X.astype(object), "a"), y), "could not convert to float: column 1"),
    "complex": (lambda X, y: (X * 1j, y), "Complex data not supported"),
    "3-D": (lambda X, y: (X[None], y), "dim"),
    "1-D": (lambda X, y: (X[:, 0], y), "Expected 2D array"),
    "empty": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no feature": (lambda X, y: (X[:, :0], y), r"0 feature\(s\)"),
    "one row": (lambda X, y: (X[:1], y[:1]), "minimum of 2 is required"),
    "lengths differ": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "one class": (lambda X, y: (X, ["a"] * len(X)), "needs two classes, got 1: 'a'"),
    "continuous y": (lambda X, y: (X, X[:, 0]), "regression"),
    "no label": (lambda X, y: (X, [None] * len(y)), "120 missing labels"),
    "mixed labels": (lambda X, y: (X, ["a", *y[1:].tolist()]), "mixed types.*int and str"),
}


def test_refused_with_a_reason(sample):
    for function in FUNCTIONS:
        table = [(dict(zip("Xy", change(*sample), strict=True)), words) for change, words in BAD.values()]
        assert options_not_refused(function, table) == []


def test_class_with_one_row(sample):
    X, y = sample
    y = np.where(np.arange(120) == 7, 9, y)
    pairs, rest = pairwise_bayes_error(X, y), one_vs_rest_bayes_error(X, y)
    assert "BF001" in codes_of(pairs)
    assert pairs.interval[0, 3, 0] == rest.interval[3, 0] == 0
    # as wide as it can be: to the upper limit of the prior, where the limit of the cross edges is no lower
    assert 1 / 120 < rest.interval[3, 1] <= binomtest(1, 120).proportion_ci(method="wilson").high + 1e-12
    n = 1 + int(np.sum(y == 0))
    assert 1 / n < pairs.interval[0, 3, 1] <= binomtest(1, n).proportion_ci(method="wilson").high + 1e-12


def test_two_rows():
    floor = bayes_error([[0.0], [1.0]], ["a", "b"])
    assert floor.estimate == 0  # the only edge is forced
    assert floor.interval == (0, 0.5)  # and nothing is known
    assert {"BF001", "BF010"} <= {*codes_of(floor)}
    assert pairwise_bayes_error([[0.0], [1.0]], ["a", "b"]).interval[0, 1].tolist() == [0, 0.5]
    same = bayes_error([[1.0], [1.0]], ["a", "b"])
    assert same.estimate == 0.5


@for_each("counts", [[50, 50], [20, 30, 50], [1, 99]])
def test_all_rows_identical(counts):
    X, y = np.full((100, 3), 4.0), np.repeat(np.arange(len(counts)), counts)
    floor = bayes_error(X, y)
    assert floor.estimate == pytest.approx(1 - max(counts) / 100)
    assert "BF005" in codes_of(floor)
    assert one_vs_rest_bayes_error(X, y).estimate == pytest.approx(np.minimum(counts, 100 - np.array(counts)) / 100)


def test_classes_far_apart():
    X = np.concatenate([np.random.default_rng(0).standard_normal((50, 2)) + centre for centre in (0, 1e3, 1e6)])
    y = np.repeat([0, 1, 2], 50)
    floor = bayes_error(X, y)
    assert floor.estimate == floor.lower == floor.upper == 0
    assert 0 < floor.interval[1] < 0.05
    assert not pairwise_bayes_error(X, y).estimate.any()


def test_more_cross_edges_than_points_allow():
    # a checkerboard on a line: every edge of the first tree crosses
    y = np.arange(40) % 2
    floor = bayes_error(np.arange(40.0)[:, None], y, n_trees=1, bias_correction=False)
    assert floor.cross_edges.mean == 39
    assert floor.estimate == floor.lower == floor.upper == 0.5
    assert np.isfinite(floor.interval).all()


def test_more_trees_than_the_points_can_hold():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((7, 2)), np.array([0, 0, 0, 1, 1, 1, 1])
    floor = bayes_error(X, y, n_trees=10)
    assert "BF010" in codes_of(floor)
    assert 0 <= floor.estimate <= 3 / 7 + 1e-12
    assert floor.cross_edges.mean <= 6


def test_trees_that_cannot_span_count_by_their_share():
    # 4 points: T1 and T2 have 3 edges each, all 6 there are; the third tree has none
    X, y = np.array([[0.0], [1.0], [2.1], [3.3]]), np.array([0, 0, 1, 1])
    floor = bayes_error(X, y, n_trees=3)
    assert floor.cross_edges.mean == pytest.approx(3 * 4 / 6)


@pytest.mark.parametrize("n_classes", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_classes(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(4 * n_classes) % n_classes
    X = rng.standard_normal((n_classes, 3))[y] * 10 + rng.standard_normal((len(y), 3))
    fitted = BayesErrorEstimator().fit(X, y)
    assert fitted.pairwise_bayes_error_.estimate.shape == (n_classes, n_classes)
    assert np.isfinite(fitted.pairwise_bayes_error_.interval).all()
    assert len(fitted.pairwise_bayes_error_.hardest(10)) == 10
