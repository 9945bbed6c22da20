"""Products of residuals over edges, and where the squared error ends."""

import numpy as np
import pytest

from bayesfloor.floor.learned.regression.curve_end import OF_EQUAL, Points, end_of_curve
from bayesfloor.floor.learned.regression.residuals import Edges, draw_means, replicate_edges, tree_edges
from helpers.one_case import for_each


def test_every_row_counts_the_same():
    """A star: its centre has all edges, and yet no more weight than any other row."""
    i, j = np.zeros(5, np.int64), np.arange(1, 6)
    edges = Edges.of(i, j, np.ones(6))
    of_rows = np.bincount(i, edges.share / 2, minlength=6) + np.bincount(j, edges.share / 2, minlength=6)
    assert edges.share.sum() == pytest.approx(6.0)
    np.testing.assert_allclose(edges.share, 1 + 1 / 5)
    assert of_rows[0] == pytest.approx(3.0)


def test_products_by_hand():
    """Two repeats, each with edges of its own."""
    rng = np.random.default_rng(0)
    y, residuals = rng.standard_normal(40), [rng.standard_normal((2, 2, 40)), rng.standard_normal((2, 1, 40))]
    weight = rng.uniform(0.5, 1.5, 40)
    pairs = [(rng.integers(0, 20, 30), rng.integers(20, 40, 30)) for _ in range(2)]
    draws = draw_means(residuals, y, weight, [[Edges.of(i, j, weight) for i, j in pairs]], None, 0)
    mean = np.average(y, weights=weight)
    variance = np.average((y - mean) ** 2, weights=weight)
    for size, of_size in enumerate(residuals):
        error = np.average((of_size**2).mean(axis=(0, 1)), weights=weight)
        assert draws.errors[0, size] == pytest.approx(error / variance)
        products, shares = [], []
        for r, (i, j) in zip(of_size, pairs, strict=True):
            degree = np.bincount(np.append(i, j), minlength=40)
            shares.append(weight[i] / degree[i] + weight[j] / degree[j])
            products.append((r[:, i] * r[:, j]).mean(axis=0))
        product = np.average(np.concatenate(products), weights=np.concatenate(shares))
        assert draws.products[0][0, size] == pytest.approx(product / variance)


def test_draws_vary_as_means_do():
    """The standard error of a mean square of normal residuals is √(2/n), and that of products over n pairs 1/√n."""
    rng = np.random.default_rng(1)
    n = 2000
    y = 1000.0 * np.tile([1.0, -1.0], n // 2)  # a variance that does not vary
    residuals = [1000.0 * rng.standard_normal((1, 1, n))]
    i = np.arange(0, n, 2)
    draws = draw_means(residuals, y, np.ones(n), [[Edges.of(i, i + 1, np.ones(n))]], None, 0)
    assert draws.errors[1:, 0].std() == pytest.approx((2 / n) ** 0.5, rel=0.2)
    assert draws.products[0][1:, 0].std() == pytest.approx((2 / n) ** 0.5, rel=0.2)
    pairs = np.repeat(np.arange(n // 2), 2)
    together = draw_means(residuals, y, np.ones(n), [[Edges.of(i, i + 1, np.ones(n))]], pairs, 0)
    assert together.products[0][1:, 0].std() == pytest.approx((2 / n) ** 0.5, rel=0.2)


def test_edges_stay_within_folds_and_out_of_groups():
    rng = np.random.default_rng(2)
    X, folds, groups = rng.standard_normal((90, 2)), np.arange(90) % 3, np.arange(90) // 9
    edges = tree_edges(X, folds, np.ones(90), groups, 1, 0)
    assert np.array_equal(folds[edges.i], folds[edges.j])
    assert not np.any(groups[edges.i] == groups[edges.j])
    assert len(tree_edges(X, folds, np.ones(90), None, 1, 0).i) == 3 * 3 * 29


def test_equal_rows_are_paired():
    X = np.array([[1.0], [2.0], [1.0], [3.0], [1.0], [2.0]])
    edges = replicate_edges(X, np.array([0, 0, 0, 0, 1, 0]), np.ones(6), None)
    assert sorted(zip(edges.i.tolist(), edges.j.tolist(), strict=True)) == [(0, 2), (1, 5)]
    grouped = replicate_edges(X, np.zeros(6, int), np.ones(6), np.array([0, 1, 0, 2, 3, 2]))
    assert sorted(zip(grouped.i.tolist(), grouped.j.tolist(), strict=True)) == [(1, 5), (2, 4)]


def points_of(theta, c, b, v=0.0, phi=None, error=0.005):
    """Errors, averages and products exactly on a curve."""
    size = np.array([1.0, 0.5, 0.25, 0.5, 0.25])
    averaged = np.array([1.0, 1.0, 1.0, 2.0, 4.0])
    mean = theta + c * size**-b + v / (size * averaged)
    if phi is not None:
        mean = np.append(mean, phi * (mean[:3] - theta))
        size, averaged = np.append(size, size[:3]), np.append(averaged, np.ones(3))
    covariance = 0.9 * error**2 * np.ones((len(mean), len(mean))) + 0.1 * error**2 * np.eye(len(mean))
    if phi is not None:
        covariance[:5, 5:] = covariance[5:, :5] = 0.0
    return Points(mean, covariance, size, averaged, np.arange(len(mean)) >= 5)


@for_each(("theta", "c", "b", "v"), [(0.3, 0.02, 0.8, 0.01), (0.1, 0.05, 1.0, 0.0)])
def test_the_end_of_a_curve_is_found(theta, c, b, v):
    found = end_of_curve(points_of(theta, c, b, v))
    assert found.mean == pytest.approx(theta, abs=0.03)
    assert found.quantile(0.025) < theta < found.quantile(0.975)


def test_products_tell_what_a_flat_curve_does_not():
    """The error does not fall with more rows; four fifths of it are what neighbours have in common."""
    flat = points_of(0.2, 0.8, 0.0, phi=1.0, error=0.03)
    assert end_of_curve(flat, common=OF_EQUAL).mean == pytest.approx(0.2, abs=0.05)
    without = flat._replace(
        mean=flat.mean[:5],
        covariance=flat.covariance[:5, :5],
        size=flat.size[:5],
        averaged=flat.averaged[:5],
        is_product=flat.is_product[:5],
    )
    assert end_of_curve(without).mean > 0.8


def test_equal_rows_may_miss_half_of_what_others_do():
    """They stand where rows are many: were all rows like them, the noise would be .23 for sure."""
    points = points_of(0.2, 0.06, 0.5, phi=0.5, error=0.004).of_largest()
    found = end_of_curve(points, common=OF_EQUAL)
    assert found.quantile(0.025) < 0.2 < 0.23 < found.quantile(0.975)
    assert end_of_curve(points, common=(1.0,)).quantile(0.025) > 0.2
