"""Bad and strange input: an error that says what is wrong, or the right answer with a finding."""

import threading

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binomtest

from bayesfloor.floor import bayes_error, henze_penrose_divergence, one_vs_rest_bayes_error, pairwise_bayes_error
from bayesfloor.floor.trees.estimator import BayesErrorEstimator

from .samples import gaussian_classes

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


@pytest.mark.parametrize("case", BAD)
def test_refused_with_a_reason(sample, case):
    change, message = BAD[case]
    for function in FUNCTIONS:
        with pytest.raises(ValueError, match=message):
            function(*change(*sample))


def codes(result):
    return {finding.code for finding in result.findings}


def test_class_with_one_row(sample):
    X, y = sample
    y = np.where(np.arange(120) == 7, 9, y)
    pairs, rest = pairwise_bayes_error(X, y), one_vs_rest_bayes_error(X, y)
    assert "BF001" in codes(pairs)
    assert pairs.interval[0, 3, 0] == rest.interval[3, 0] == 0
    # as wide as it can be: to the upper limit of the prior, where the limit of the cross edges is no lower
    assert 1 / 120 < rest.interval[3, 1] <= binomtest(1, 120).proportion_ci(method="wilson").high + 1e-12
    n = 1 + int(np.sum(y == 0))
    assert 1 / n < pairs.interval[0, 3, 1] <= binomtest(1, n).proportion_ci(method="wilson").high + 1e-12


def test_two_rows():
    floor = bayes_error([[0.0], [1.0]], ["a", "b"])
    assert floor.estimate == 0  # the only edge is forced
    assert floor.interval == (0, 0.5)  # and nothing is known
    assert {"BF001", "BF010"} <= codes(floor)
    assert pairwise_bayes_error([[0.0], [1.0]], ["a", "b"]).interval[0, 1].tolist() == [0, 0.5]
    same = bayes_error([[1.0], [1.0]], ["a", "b"])
    assert same.estimate == 0.5


@pytest.mark.parametrize("counts", [[50, 50], [15, 85], [20, 30, 50], [1, 99]])
def test_all_rows_identical(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    floor = bayes_error(np.full((100, 3), 4.0), y)
    assert floor.estimate == pytest.approx(1 - max(counts) / 100)
    assert "BF005" in codes(floor)
    for k, value in enumerate(one_vs_rest_bayes_error(np.full((100, 3), 4.0), y).estimate):
        assert value == pytest.approx(min(counts[k], 100 - counts[k]) / 100)


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


def test_one_feature(sample):
    X, y = sample
    assert 0 < bayes_error(X[:, :1], y).estimate < 0.7


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales(sample, scale):
    X, y = sample
    plain, scaled = bayes_error(X, y), bayes_error(scale * X, y)
    assert scaled.cross_edges.mean == plain.cross_edges.mean
    assert scaled.findings == plain.findings


def test_offset(sample):
    X, y = sample
    X = np.round(X * 2**20) / 2**20  # so that the offset loses nothing
    assert bayes_error(X + 2.0**27, y).cross_edges.mean == bayes_error(X, y).cross_edges.mean


def test_kinds_of_array(sample, tmp_path):
    X, y = sample
    X = X.astype(np.float32)
    expected = pairwise_bayes_error(X.astype(np.float64), y).cross_edges.mean
    memory_map = np.memmap(tmp_path / "points", np.float64, "w+", shape=X.shape)
    memory_map[:] = X
    read_only = X.astype(np.float64)
    read_only.flags.writeable = False
    for points in (X, np.asfortranarray(X), X.astype(">f8"), memory_map, read_only, sparse.csr_array(X)):
        np.testing.assert_array_equal(pairwise_bayes_error(points, y).cross_edges.mean, expected)
    np.testing.assert_array_equal(memory_map, X)


def test_input_is_not_written_to(sample):
    X, y = sample
    before = X.copy(), y.copy()
    BayesErrorEstimator().fit(X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_more_trees_than_the_points_can_hold():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((7, 2)), np.array([0, 0, 0, 1, 1, 1, 1])
    floor = bayes_error(X, y, n_trees=10)
    assert "BF010" in codes(floor)
    assert 0 <= floor.estimate <= 3 / 7 + 1e-12
    assert floor.cross_edges.mean <= 6


def test_trees_that_cannot_span_count_by_their_share():
    # 4 points: T1 and T2 have 3 edges each, all 6 there are; the third tree has none
    X, y = np.array([[0.0], [1.0], [2.1], [3.3]]), np.array([0, 0, 1, 1])
    floor = bayes_error(X, y, n_trees=3)
    assert floor.cross_edges.mean == pytest.approx(3 * 4 / 6)


def test_several_threads_at_once(sample):
    expected = pairwise_bayes_error(*sample).estimate
    results = [None] * 4

    def work(i):
        results[i] = pairwise_bayes_error(*sample).estimate

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 60
    X = rng.standard_normal((60, 3))[y] * 10 + rng.standard_normal((240, 3))
    fitted = BayesErrorEstimator().fit(X, y)
    assert fitted.pairwise_bayes_error_.estimate.shape == (60, 60)
    assert np.isfinite(fitted.pairwise_bayes_error_.interval).all()
    assert len(fitted.pairwise_bayes_error_.hardest(10)) == 10


@pytest.mark.slow
def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    y = np.arange(5000) % 1000
    X = rng.standard_normal((1000, 3))[y] * 10 + rng.standard_normal((5000, 3))
    fitted = BayesErrorEstimator().fit(X, y)
    assert fitted.pairwise_bayes_error_.estimate.shape == (1000, 1000)
    assert np.isfinite(fitted.bayes_error_.estimate)
