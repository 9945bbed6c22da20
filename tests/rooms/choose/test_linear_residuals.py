"""Differences of what a linear function leaves, over edges of trees: against brute force."""

import numpy as np
import pytest

from bayesfloor.choose.linear_residuals import EdgeDifferences, kept_share, standard_columns


def test_sums_over_pairs_of_rows_equal_brute_force():
    rng = np.random.default_rng(0)
    place, values = np.array([0, 0, 0, 1, 1, 2, 3, 3]), rng.standard_normal(8)
    first, second = np.array([0, 0, 0, 1, 2, 3, 0]), np.array([0, 1, 2, 2, 3, 3, 0])
    tree, kept = np.array([0, 0, 0, 0, 0, 1, 1]), rng.uniform(0.8, 1.0, 7)
    edges = EdgeDifferences(first, second, tree, kept, values, place, None)
    level, share = edges.tree_means()
    coefficient = np.array([0.7, 0.3])
    sums, squares = edges.row_terms(coefficient, level)

    expected_sums, expected_squares, differences = np.zeros(8), 0.0, []
    for a, b, t, k in zip(first, second, tree, kept, strict=True):
        pairs = [(i, j) for i in np.flatnonzero(place == a) for j in np.flatnonzero(place == b) if a != b or i < j]
        differences.append(np.mean([(values[i] - values[j]) ** 2 / 2 for i, j in pairs]))
        for i, j in pairs:
            term = coefficient[t] / share[t] / len(pairs) * ((values[i] - values[j]) ** 2 / 2 - level[t] * k)
            expected_sums[[i, j]] += term
            expected_squares += term**2
    np.testing.assert_allclose(edges.differences(), differences)
    np.testing.assert_allclose(sums, expected_sums, atol=1e-14)
    assert squares == pytest.approx(expected_squares)


def test_differences_of_residuals_hold_a_known_share_of_the_noise():
    rng = np.random.default_rng(0)
    Z = standard_columns(rng.random((150, 3)))
    axes = np.linalg.qr(np.column_stack([np.ones(150), Z]))[0]
    left = np.eye(150) - axes @ axes.T  # the covariance of residuals of noise of variance 1
    i, j = np.arange(149), np.arange(1, 150)
    np.testing.assert_allclose(kept_share(axes, i, j), (left[i, i] + left[j, j] - 2 * left[i, j]) / 2, atol=1e-12)


def test_standard_columns_of_any_size():
    X = np.random.default_rng(0).random((40, 3))
    expected = standard_columns(X)
    np.testing.assert_allclose(standard_columns(X * [1e150, 1e-150, 1.0] + [0, 0, 1e6]), expected, atol=1e-8)
    assert standard_columns(np.full((5, 1), 1e300)).tolist() == [[0.0]] * 5
