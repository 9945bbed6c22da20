"""What comes back: labels, tables, short texts, and options that mean what they say."""

import sys
from dataclasses import FrozenInstanceError
from datetime import date
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from bayesfloor import bayes_error, henze_penrose_divergence, one_vs_rest_bayes_error, pairwise_bayes_error
from helpers.known_samples import gaussian_classes
from helpers.refusals import options_not_refused

FUNCTIONS = [bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error, henze_penrose_divergence]


@pytest.fixture
def sample():
    return gaussian_classes(np.random.default_rng(0), 400, [0.1, 0.2, 0.3, 0.4], 1.5 * np.eye(4), 4)


LABELS = {
    "int": [30, 10, 40, 20],
    "text": ["d", "NA", "c", "None"],
    "bool-like float": [2.0, 0.0, 3.0, 1.0],
    "date": [date(2020, 1, d) for d in (4, 2, 3, 1)],
    "bytes": [b"x", b"y", b"z", b"w"],
    "datetime64": list(np.array(["2020-01-04", "2019-01-01", "2021-01-01", "2020-01-03"], "M8[ns]")),
    "tuple": [("a", 2), ("a", 1), ("b", 0), ("c", 9)],
}


def test_labels_come_back_as_they_were(sample):
    X, codes = sample
    for kind, labels in LABELS.items():
        y = np.empty(len(codes), object)
        y[:] = [labels[code] for code in codes]
        if kind not in ("tuple", "date"):
            y = np.array(y.tolist(), dtype=None if kind != "datetime64" else "M8[ns]")
        expected = sorted(labels)
        for function in FUNCTIONS:
            assert list(function(X, y).classes) == expected, kind
        pairs = pairwise_bayes_error(X, y)
        assert {label for pair in pairs.hardest() for label in pair[:2]} == set(expected), kind
        assert list(one_vs_rest_bayes_error(X, y).frame()["class"]) == expected, kind


def test_results_are_frozen_and_print_on_one_line(sample):
    X, codes = sample
    for function in FUNCTIONS:
        result = function(X, np.array(["\x1b[31mred", "<script>", "=cmd()", "plain"])[codes])
        with pytest.raises(FrozenInstanceError):
            result.estimate = 0
        assert not {"\n", "\x1b"} & set(repr(result))
        assert len(repr(result)) < 150
        assert type(result).__name__ in repr(result)


def test_frames_have_the_mean_of_cross_edges(sample):
    whole, classes, pairs, divergence = (function(*sample) for function in FUNCTIONS)
    assert whole.frame()["cross_edges"].tolist() == [whole.cross_edges.mean]
    assert classes.frame()["cross_edges"].tolist() == classes.cross_edges.mean.tolist()
    for found in (pairs, divergence):
        assert found.frame()["cross_edges"].tolist() == found.cross_edges.mean[np.triu_indices(4, 1)].tolist()
        assert found.cross_edges.interval.shape == (4, 4, 2)
    assert repr(whole.cross_edges).endswith("3 trees)")
    assert [len(found.frame()) for found in (whole, classes, pairs, divergence)] == [1, 4, 6, 6]
    frame = pairs.frame()
    for first, second, estimate in zip(frame["first"], frame["second"], frame["estimate"], strict=True):
        assert estimate == pairs.estimate[first, second]


def test_tables_are_polars_where_there_is_no_pandas(sample, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for function in FUNCTIONS:
        assert isinstance(function(*sample).frame(), polars.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="needs pandas or polars"):
        bayes_error(*sample).frame()


def test_hardest_is_by_the_lower_end_of_the_normalized_floor(sample):
    pairs = pairwise_bayes_error(*sample)
    ranked = pairs.hardest()
    assert len(ranked) == 6
    assert pairs.hardest(2) == ranked[:2]
    counts = pairs.class_counts
    codes = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    low = {(a, b): pairs.interval[a, b, 0] * (counts[a] + counts[b]) / min(counts[a], counts[b]) for a, b in codes}
    expected = sorted(codes, key=low.__getitem__, reverse=True)
    assert pairs.by_hardness().tolist() == [list(pair) for pair in expected]
    assert [pair[:2] for pair in ranked] == [tuple(pairs.classes[list(pair)]) for pair in expected]
    plain = pairwise_bayes_error(*sample, normalize=False).by_hardness()
    assert plain.tolist() == sorted(plain.tolist(), key=lambda pair: pairs.interval[*pair, 0], reverse=True)
    assert plain.tolist() != pairs.by_hardness().tolist()  # unequal priors: the two orders differ


def test_a_class_of_two_rows_is_not_the_hardest_by_chance():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 0.8, rng.normal(size=(2, 2)) + 0.3])
    y = np.repeat(["a", "b", "rare"], [300, 300, 2])
    pairs, classes = pairwise_bayes_error(X, y), one_vs_rest_bayes_error(X, y)
    assert pairs.normalized[0, 2] > pairs.normalized[0, 1]
    assert pairs.hardest(1)[0][:2] == ("a", "b")
    assert classes.normalized.argmax() == 2
    assert classes.by_hardness()[-1] == 2
    assert "'rare'" not in repr(pairs) + repr(classes)


def test_hardest_of_equals_follows_the_classes():
    X = np.arange(30.0)[:, None] * np.repeat([1, 100, 10_000], 10)[:, None]
    pairs = pairwise_bayes_error(X, np.repeat(["a", "b", "c"], 10))
    assert [pair[:2] for pair in pairs.hardest()] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_matrices_are_symmetric_with_a_zero_diagonal(sample):
    pairs = pairwise_bayes_error(*sample)
    for matrix in (pairs.estimate, pairs.normalized, pairs.lower, pairs.upper, pairs.cross_edges.mean):
        np.testing.assert_array_equal(matrix, matrix.T)
        assert not np.diag(matrix).any()
    assert (np.diag(pairs.p_value) == 1).all()
    assert not pairs.interval[np.arange(4), np.arange(4)].any()
    assert not np.diag(henze_penrose_divergence(*sample).estimate).any()


def test_estimates_lie_within_their_intervals_and_bounds(sample):
    for function in FUNCTIONS[:3]:
        calls = []
        result = function(*sample, progress=lambda done, total, calls=calls: calls.append((done, total)))
        assert calls[-1][0] == calls[-1][1]
        for value, interval in [
            (result.estimate, result.interval),
            (result.lower, result.lower_interval),
            (result.upper, result.upper_interval),
            (result.cross_edges.mean, result.cross_edges.interval),
        ]:
            low, high = np.moveaxis(np.asarray(interval), -1, 0)
            assert np.all(low <= value)
            assert np.all(value <= high)
        assert np.all(np.asarray(result.lower) <= result.estimate)
        assert np.all(np.asarray(result.estimate) <= result.upper)
    narrow, wide = (bayes_error(*sample, confidence=c).interval for c in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_divergence_of_two_classes_is_a_number(sample):
    rng = np.random.default_rng(1)
    X, y = gaussian_classes(rng, 4000, [0.4, 0.6], [[0], [2]], 2)
    divergence = henze_penrose_divergence(X, y)
    x = np.linspace(-9, 11, 20_001)
    f, g = 0.4 * norm.pdf(x), 0.6 * norm.pdf(x, 2)
    exact = (np.trapezoid((f - g) ** 2 / (f + g), x) - 0.2**2) / (4 * 0.4 * 0.6)
    assert float(divergence) == divergence.estimate[0, 1] == divergence.estimate[1, 0]
    assert float(divergence) == pytest.approx(exact, abs=0.05)
    several = henze_penrose_divergence(*sample)
    assert (several.interval[..., 0] <= several.estimate).all()
    assert (several.estimate <= several.interval[..., 1]).all()
    with pytest.raises(TypeError, match="4 classes have 4 x 4 divergences"):
        float(several)


def test_sum_of_pairs_of_two_classes(sample):
    X, y = sample
    two = y < 2
    lower = bayes_error(X[two], y[two]).lower
    assert pairwise_bayes_error(X[two], y[two]).sum_of_pairs[0] == pytest.approx(lower)


def test_correction_holds_the_estimate_at_the_largest_floor():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((500, 2))
    y = np.repeat([0, 1, 2], [300, 150, 50])
    assert bayes_error(X, y).estimate == pytest.approx(0.4)
    assert bayes_error(X, y).normalized == pytest.approx(1)
    assert bayes_error(X, y, bias_correction=False).estimate > 0.42
    assert one_vs_rest_bayes_error(X, y).normalized == pytest.approx([1, 1, 1], abs=0.05)
    assert pairwise_bayes_error(X, y).normalized.max() <= 1 + 1e-9


def test_bad_options(sample):
    table = [
        ({"forced_edges": "some"}, "'forced_edges' parameter must be one of 'drop', 'keep'"),
        ({"confidence": 1.0}, "'confidence' parameter must be a float in the range"),
        ({"confidence": "high"}, "'confidence' parameter"),
        ({"n_trees": 0}, "'n_trees' parameter must be an int in the range"),
        ({"random_state": "x"}, "'random_state' parameter"),
    ]
    for function in FUNCTIONS:
        assert options_not_refused(partial(function, *sample), table) == []
