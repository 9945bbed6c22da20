from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from bayesfloor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error, spanning_forests
from bayesfloor.floor.trees.uncertainty import (
    cross_edge_interval,
    cross_edge_variance,
    permutation_moments,
    permutation_p_value,
)
from bayesfloor.forest.results import EdgeSums
from helpers.dense_graph import averaged_adjacency, cross_edges, label_orders_within_sites, local_variance
from helpers.one_case import for_each


def spread_labels(forests, class_counts):
    """Sums over all edges; the permutation moments may not depend on which rows have which labels."""
    return forests.edge_sums(np.repeat(np.arange(len(class_counts)), class_counts))


def test_averaged_count_is_the_mean_over_all_swaps_of_identical_rows():
    X = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [0, 2], [3, 3], [3, 3]], float)
    y = np.array([0, 1, 2, 0, 1, 2, 2, 0])
    forests = spanning_forests(X, n_trees=2)
    i, j = forests.edges.T
    counts = [np.sum(order[i] != order[j]) for order in label_orders_within_sites(forests.sites, y)]
    assert cross_edges(averaged_adjacency(forests), y) == pytest.approx(np.mean(counts))
    assert forests.cross_counts(y).sum() / 2 == pytest.approx(np.mean(counts))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3), st.sampled_from([1, 2, 4, 100]))
def test_variance_equals_the_dense_sum(seed, n_classes, n_trees, levels):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = rng.integers(0, levels, (n, 2)).astype(float)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    forests = spanning_forests(X, n_trees=n_trees)
    A = averaged_adjacency(forests)
    problems = [(forests.edge_sums(y), y)]
    by_class = forests.one_vs_rest_edge_sums(y)
    for k in range(n_classes):
        problems.append((EdgeSums(*(field[k] for field in by_class)), (y == k).astype(int)))
    for sums, labels in problems:
        q = (cross_edges(A, labels) + 0.5) / (A.sum() / 2 + 1)
        independent = np.sum(A**2) / 2 * q * (1 - q)
        expected = max(local_variance(A, labels), independent)
        assert cross_edge_variance(sums) == pytest.approx(expected, abs=1e-9)
        assert expected > 0


@for_each(
    ("class_counts", "levels"),
    [
        ([50, 10], None),
        ([5, 10, 15, 30], None),
        ([30, 20, 10], 3),
    ],
)
def test_permutation_moments_equal_those_of_random_permutations(class_counts, levels):
    rng = np.random.default_rng(sum(class_counts) + len(class_counts))
    n = sum(class_counts)
    X = rng.standard_normal((n, 2)) if levels is None else rng.integers(0, levels, (n, 2)).astype(float)
    forests = spanning_forests(X)
    mean, variance = permutation_moments(spread_labels(forests, class_counts), class_counts)
    A = averaged_adjacency(forests)
    y = np.repeat(np.arange(len(class_counts)), class_counts)
    indicators = np.eye(len(class_counts))[np.stack([rng.permutation(y) for _ in range(20_000)])]
    same = np.einsum("rik,rik->r", np.einsum("ij,rjk->rik", A, indicators, optimize=True), indicators) / 2
    counts = A.sum() / 2 - same
    assert abs(counts.mean() - mean) < 4 * counts.std() / np.sqrt(len(counts))
    squares = (counts - mean) ** 2
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(len(counts))


def test_moments_of_two_classes_are_those_of_friedman_and_rafsky():
    # their formula for one tree and two classes, written independently
    rng = np.random.default_rng(0)
    m, k = 25, 40
    forests = spanning_forests(rng.standard_normal((m + k, 3)), n_trees=1)
    degree = np.bincount(forests.edges.ravel())
    N, C = m + k, np.sum(degree * (degree - 1)) / 2
    mean = 2 * m * k / N
    variance = (2 * m * k / (N * (N - 1))) * (
        (2 * m * k - N) / N + (C - N + 2) / ((N - 2) * (N - 3)) * (N * (N - 1) - 4 * m * k + 2)
    )
    assert permutation_moments(spread_labels(forests, [m, k]), [m, k]) == pytest.approx((mean, variance))


def test_p_value_is_one_when_the_count_cannot_vary():
    assert permutation_p_value(10.0, 10.0, 0.0) == 1
    assert bayes_error(np.zeros((20, 2)), np.arange(20) % 2).p_value == 1
    assert bayes_error([[0.0], [1.0]], [0, 1]).p_value == 1
    assert bayes_error([[0.0], [1.0], [5.0]], [0, 1, 1]).p_value <= 1


@pytest.mark.parametrize(
    ("X", "y"), [([0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0, 0]), ([0, 0, 1, 1, 2, 2], [0, 1, 2] * 2)]
)
def test_p_values_of_few_values_are_shares_of_all_permutations(X, y):
    X, y = np.array(X, float)[:, np.newaxis], np.array(y)
    forests = spanning_forests(X)
    for label in (None, *np.unique(y)):
        labels = y if label is None else (y == label).astype(int)
        # all ways to deal out the labels, many of them the same
        counts = np.array([forests.cross_counts(order).sum() for order in permutations(labels.tolist())])
        expected = np.mean(counts <= forests.cross_counts(labels).sum() + 1e-9)
        rest = one_vs_rest_bayes_error(X, y).p_value
        found = bayes_error(X, y).p_value if label is None else rest[label]
        assert found == pytest.approx(expected, abs=4 * 0.005)  # of 9999 permutations


def test_p_values_of_a_binary_column_are_as_small_as_they_say():
    # with the normal law 2% of them were below .001
    rng = np.random.default_rng(0)
    values = []
    for _ in range(300):
        X, y = rng.integers(0, 2, (150, 1)), rng.integers(0, 2, 150)
        values.append(bayes_error(X, y, n_jobs=1).p_value)
    assert 0.01 <= np.mean(np.array(values) <= 0.05) <= 0.09  # .013 of Monte-Carlo error
    assert np.mean(np.array(values) <= 0.001) <= 0.007
    pairs = pairwise_bayes_error(X, y, n_jobs=1)
    assert pairs.p_value[0, 1] == values[-1]
    assert bayes_error(y[:, np.newaxis], y, n_jobs=1).p_value == pytest.approx(1e-4)


@given(st.floats(0, 1), st.floats(0.01, 50), st.integers(1, 1000), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_interval_holds_the_count_and_stays_in_range(share, variance, n_edges, confidence):
    R = share * n_edges
    low, high = cross_edge_interval(R, variance, n_edges, confidence)
    assert -1e-9 <= low <= R + 1e-9 * n_edges
    assert R - 1e-9 * n_edges <= high <= n_edges + 1e-9


def test_interval_is_the_normal_one_where_that_is_good():
    low, high = cross_edge_interval(4000.0, 2000.0, 10_000.0, 0.95)
    half = 1.959964 * np.sqrt(2000.0)
    assert (low, high) == pytest.approx((4000 - half, 4000 + half), rel=1e-3)
    # and is not empty where nothing crosses
    assert cross_edge_interval(0.0, 0.5, 100.0, 0.95)[1] > 1


def test_an_estimate_that_is_held_has_the_interval_of_the_prior():
    # labels by chance: cross edges say that nothing is told, and what is left to say is how common the classes are
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 2)), (np.arange(400) >= 360).astype(int)
    floor = bayes_error(X, y, n_jobs=1)
    limits = binomtest(40, 400).proportion_ci(method="wilson")
    assert floor.estimate == pytest.approx(0.1)
    assert floor.interval == pytest.approx((limits.low, limits.high))
    assert floor.lower_interval[0] < floor.lower < floor.lower_interval[1]
    # rows of 40 groups that share their label tell as little of the prior as 40 rows, and Student's t is wider
    groups = np.arange(400) // 10
    of_groups = bayes_error(X, y, groups=groups, n_jobs=1)
    limits = binomtest(4, 40).proportion_ci(method="wilson")
    assert of_groups.interval == pytest.approx((limits.low, limits.high), rel=0.1)
