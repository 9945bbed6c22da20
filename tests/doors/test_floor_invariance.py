"""What must not change the answer."""

from operator import attrgetter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import BayesErrorEstimator, bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error
from helpers.known_samples import gaussian_classes, one_hot_table

NUMBERS = [
    "estimate",
    "lower",
    "upper",
    "interval",
    "normalized",
    "cross_edges.mean",
    "cross_edges.interval",
    "p_value",
]
TABLES = ["continuous", "one-hot", "integers", "duplicates", "two values"]


def sample(kind, rng, n=60, n_classes=3):
    if kind == "continuous":
        return gaussian_classes(rng, n, np.full(n_classes, 1 / n_classes), 2 * np.eye(n_classes)[:, :2], 2)
    if kind == "one-hot":
        return one_hot_table(rng, n, 3, n_classes)
    y = rng.integers(0, n_classes, n)
    if kind == "integers":
        return rng.integers(0, 4, (n, 3)) + y[:, None], y
    if kind == "duplicates":
        return rng.standard_normal((n // 4, 2))[rng.integers(0, n // 4, n)], y
    return rng.integers(0, 2, (n, 1)), y


def assert_same(a, b):
    for name in NUMBERS:
        np.testing.assert_allclose(attrgetter(name)(b), attrgetter(name)(a), rtol=1e-9, atol=1e-12, err_msg=name)


@settings(max_examples=10)
@given(kind=st.sampled_from(TABLES), seed=st.integers(0, 10**6), n_trees=st.integers(1, 4))
def test_row_order(kind, seed, n_trees):
    rng = np.random.default_rng(seed)
    X, y = sample(kind, rng)
    shuffled = rng.permutation(len(y))
    for function in (bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error):
        results = [function(X[rows], y[rows], n_trees=n_trees, n_jobs=1) for rows in (slice(None), shuffled)]
        assert_same(*results)
        assert results[0].findings == results[1].findings


@settings(max_examples=10)
@given(kind=st.sampled_from(TABLES), seed=st.integers(0, 10**6))
def test_names_of_the_classes(kind, seed):
    rng = np.random.default_rng(seed)
    X, y = sample(kind, rng)
    classes = np.unique(y)
    new_names = np.array(["pear", "apple", "fig"])[: len(classes)]
    renamed = new_names[np.searchsorted(classes, y)]
    old_of_new = np.argsort(new_names)  # classes are sorted anew
    numbers = bayes_error(X, y, n_jobs=1)
    assert_same(numbers, bayes_error(X, renamed, n_jobs=1))
    rest = [one_vs_rest_bayes_error(X, labels, n_jobs=1) for labels in (y, renamed)]
    np.testing.assert_allclose(rest[1].estimate, rest[0].estimate[old_of_new], atol=1e-12)
    np.testing.assert_allclose(rest[1].interval, rest[0].interval[old_of_new], atol=1e-12)
    pairs = [pairwise_bayes_error(X, labels, n_jobs=1) for labels in (y, renamed)]
    swapped = np.ix_(old_of_new, old_of_new)
    np.testing.assert_allclose(pairs[1].estimate, pairs[0].estimate[swapped], atol=1e-12)
    np.testing.assert_allclose(pairs[1].interval, pairs[0].interval[swapped], atol=1e-12)
    assert list(pairs[1].classes) == sorted(new_names)


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    n_features=st.integers(1, 5),
    scale=st.sampled_from([1e-150, 1e-3, 0.3, 7.0, 1e6, 1e150]),
    shift=st.sampled_from([0.0, -3.7, 1e4]),
)
def test_translation_rotation_and_scale(seed, n_features, scale, shift):
    rng = np.random.default_rng(seed)
    X, y = gaussian_classes(rng, 80, [0.3, 0.3, 0.4], 2 * np.eye(3)[:, :n_features], n_features)
    rotation = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    moved = (X @ rotation + shift) * scale
    for function in (bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error):
        assert_same(function(X, y, n_jobs=1), function(moved, y, n_jobs=1))


def test_threads_change_nothing():
    rng = np.random.default_rng(5)
    X, y = gaussian_classes(rng, 3000, [0.2, 0.3, 0.5], 2 * np.eye(3), 3)
    assert_same(pairwise_bayes_error(X, y, n_jobs=1), pairwise_bayes_error(X, y, n_jobs=4))


def test_three_functions_and_the_estimator_agree():
    for kind in TABLES:
        X, y = sample(kind, np.random.default_rng(8))
        options = {"n_trees": 2, "confidence": 0.9, "forced_edges": "keep"}
        fitted = BayesErrorEstimator(**options).fit(X, y)
        assert_same(fitted.bayes_error_, bayes_error(X, y, **options))
        assert_same(fitted.pairwise_bayes_error_, pairwise_bayes_error(X, y, **options))
        assert_same(fitted.one_vs_rest_bayes_error_, one_vs_rest_bayes_error(X, y, **options))


def test_two_classes_are_the_same_problem_three_times():
    for kind in TABLES:
        X, y = sample(kind, np.random.default_rng(9), n_classes=2)
        whole, rest, pairs = (f(X, y) for f in (bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error))
        for name in NUMBERS:
            of = attrgetter(name)
            for value in (of(rest)[0], of(rest)[1], of(pairs)[0, 1]):
                np.testing.assert_allclose(value, of(whole), atol=1e-12, err_msg=f"{kind}: {name}")
