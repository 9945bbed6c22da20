"""Affinities against the records of the floor room, the authors' code, theory and the plain formula."""

import numpy as np
import pytest
from scipy import sparse

from bayesfloor.classify import affinity
from bayesfloor.classify.affinity import affinity_matrix, bhattacharyya_coefficients, class_affinity
from bayesfloor.floor import pairwise_bayes_error
from helpers.estimator_contract import blobs


def star(rng):
    """A hub whose edges the first tree uses up, so that the next ones cannot span."""
    directions = rng.standard_normal((12, 12))
    q, _ = np.linalg.qr(directions)
    return np.concatenate([np.zeros((1, 12)), q, -q]), np.arange(25) % 3


def in_few_places(rng):
    return rng.integers(0, 3, (80, 2)).astype(float), rng.integers(0, 4, 80)


POINT_SETS = {
    "blobs": lambda rng: blobs(300, 5),
    "one feature": lambda rng: (rng.standard_normal((60, 1)), rng.integers(0, 3, 60)),
    "classes of one to three rows": lambda rng: (rng.standard_normal((12, 2)), np.arange(12) * np.arange(12) // 20),
    "identical rows in different classes": in_few_places,
    "all rows identical": lambda rng: (np.full((20, 2), 3.0), np.arange(20) % 3),
    "two rows": lambda rng: (np.array([[0.0], [1.0]]), np.array([0, 1])),
    "star": star,
    "far apart": lambda rng: (rng.standard_normal((40, 2)) + 1e3 * (np.arange(40) % 4)[:, None], np.arange(40) % 4),
}


@pytest.mark.parametrize("points", POINT_SETS)
def test_henze_penrose_is_the_normalised_floor_of_each_pair(points):
    X, y = POINT_SETS[points](np.random.default_rng(0))
    for n_trees in (1, 3):
        classes, matrix = class_affinity(X, y, affinity="henze-penrose", n_trees=n_trees)
        expected = pairwise_bayes_error(X, y, n_trees=n_trees)
        np.testing.assert_array_equal(classes, expected.classes)
        np.testing.assert_allclose(matrix, expected.normalized, rtol=0, atol=1e-12)


def test_the_star_does_not_span():
    X, y = star(np.random.default_rng(0))
    forests = affinity.class_forests(X, y)
    assert not all(forests.pair(a, b).spans for a, b in [(0, 1), (0, 2), (1, 2)])


def test_threads_and_seeds_of_ties():
    rng = np.random.default_rng(3)
    X = np.stack(np.divmod(np.arange(144), 12), axis=1).astype(float)  # a lattice: all shortest distances are equal
    y = np.where(rng.random(144) < 0.2, rng.integers(0, 3, 144), X[:, 0] // 4).astype(int)
    matrices = [class_affinity(X, y, affinity="henze-penrose", n_jobs=n, random_state=4)[1] for n in (1, 2)]
    np.testing.assert_array_equal(*matrices)
    others = [class_affinity(X, y, affinity="henze-penrose", random_state=seed)[1] for seed in range(5)]
    assert any((other != matrices[0]).any() for other in others)


def plain_coefficients(X, y, weight):
    """exp(-D) with every matrix written out: correlations within classes, shrunk by formula (23) of Chen et al."""
    K, d, n = y.max() + 1, X.shape[1], weight.sum()
    means = np.array([np.average(X[y == k], axis=0, weights=weight[y == k]) for k in range(K)])
    residuals = X - means[y]
    S = sum(w * np.outer(r, r) for w, r in zip(weight, residuals, strict=True)) / n
    scale = np.sqrt(np.diag(S))
    S = S / np.outer(scale, scale)
    trace, squares = np.trace(S), np.trace(S @ S)
    share = ((1 - 2 / d) * squares + trace**2) / ((n + 1 - 2 / d) * (squares - trace**2 / d))
    S = (1 - min(share, 1)) * S + min(share, 1) * np.eye(d)
    B = np.zeros((K, K))
    for k in range(K):
        for j in range(K):
            difference = (means[k] - means[j]) / scale
            B[k, j] = (k != j) * np.exp(-difference @ np.linalg.inv(S) @ difference / 8)
    return B


@pytest.mark.parametrize(("n", "d", "weighted"), [(200, 3, True), (40, 38, False), (30, 33, False), (20, 60, True)])
def test_bhattacharyya_is_the_plain_formula(n, d, weighted):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + y[:, None] * rng.standard_normal(d)
    weight = rng.uniform(0.2, 2, n) if weighted else np.ones(n)
    found = bhattacharyya_coefficients(X, y, weight if weighted else None)
    np.testing.assert_allclose(found, plain_coefficients(X, y, weight), rtol=1e-8, atol=1e-14)


def test_bhattacharyya_of_gaussians_is_what_theory_says():
    rng = np.random.default_rng(0)
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    means = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 2.0]])
    y = np.arange(60_000) % 3
    X = means[y] + rng.multivariate_normal([0, 0], covariance, len(y))
    _, matrix = class_affinity(X, y, affinity="bhattacharyya")
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        difference = means[a] - means[b]
        exact = np.exp(-difference @ np.linalg.solve(covariance, difference) / 8)
        assert matrix[a, b] == matrix[b, a] == pytest.approx(exact, abs=0.005)


def test_bhattacharyya_does_not_mind_units_offsets_or_order():
    X, y = blobs(200, 4)
    _, expected = class_affinity(X, y, affinity="bhattacharyya")
    order = np.random.default_rng(1).permutation(200)
    for changed in (X * [1e-150, 1.0, 1e150], X * [1e-320, 1, 1], X - [1e6, -1e6, 0]):
        _, found = class_affinity(changed, y, affinity="bhattacharyya")
        np.testing.assert_allclose(found, expected, rtol=1e-3 if changed.min() < 1e-300 else 1e-8)
    _, found = class_affinity(X[order], y[order], affinity="bhattacharyya")
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_weight_counts_like_repeated_rows():
    X, y = blobs(100, 3)
    times = np.random.default_rng(0).integers(1, 4, 100)
    weighted = bhattacharyya_coefficients(X, y, times.astype(float))
    repeated = bhattacharyya_coefficients(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


def test_bhattacharyya_of_awkward_data():
    rng = np.random.default_rng(0)
    X, y = blobs(100, 3)
    _, plain = class_affinity(X, y, affinity="bhattacharyya")
    constant = np.column_stack([X, np.full(100, 0.1)])
    np.testing.assert_allclose(class_affinity(constant, y, affinity="bhattacharyya")[1], plain, rtol=1e-12)
    collinear = np.column_stack([X, X @ [1.0, 2.0, -1.0]])
    matrix = class_affinity(collinear, y, affinity="bhattacharyya")[1]
    np.testing.assert_allclose(matrix, plain, rtol=0, atol=0.1)
    leak = np.column_stack([X, y == 2])  # constant within each class, and tells one of them from the others
    matrix = class_affinity(leak, y, affinity="bhattacharyya")[1]
    assert matrix[0, 2] == matrix[1, 2] == 0
    np.testing.assert_allclose(matrix[0, 1], plain[0, 1], rtol=0.1)
    np.testing.assert_array_equal(
        class_affinity(np.full((9, 2), 5.0), np.arange(9) % 3, affinity="bhattacharyya")[1], 1 - np.eye(3)
    )
    one_row_each = class_affinity(rng.standard_normal((5, 3)), np.arange(5), affinity="bhattacharyya")[1]
    np.testing.assert_array_equal(one_row_each, np.zeros((5, 5)))


def test_values_are_between_zero_and_one():
    for make in POINT_SETS.values():
        X, y = make(np.random.default_rng(5))
        for name in ("bhattacharyya", "class-means"):
            classes, matrix = class_affinity(X, y, affinity=name)
            assert matrix.shape == (len(classes), len(classes))
            assert 0 <= matrix.min() <= matrix.max() <= 1
            assert not np.diag(matrix).any()
            np.testing.assert_array_equal(matrix, matrix.T)


def test_sparse_points_are_the_same_points():
    X, y = blobs(60, 3)
    X = np.where(np.abs(X) < 1, 0.0, X)
    for name in ("henze-penrose", "bhattacharyya"):
        expected = class_affinity(X, y, affinity=name)[1]
        np.testing.assert_array_equal(class_affinity(sparse.csc_array(X), y, affinity=name)[1], expected)


def test_class_means_by_hand():
    # means at 0, 3 and 7: distances 3, 7 and 4, of which 7 is the largest
    X, y = np.array([[-1.0], [1.0], [3.0], [5.0], [9.0]]), np.array(["a", "a", "b", "c", "c"])
    _, matrix = class_affinity(X, y, affinity="class-means")
    expected = np.exp(-15 * np.array([[0, 3, 7], [3, 0, 4], [7, 4, 0]]) / 7) * (1 - np.eye(3))
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    for unit in (1e-300, 1e300):
        np.testing.assert_allclose(class_affinity(X * unit, y, affinity="class-means")[1], expected, rtol=1e-12)
    np.testing.assert_allclose(class_affinity(sparse.csr_array(X), y, affinity="class-means")[1], expected, rtol=1e-12)
    weight = np.array([1.0, 3.0, 2.0, 0.5, 0.5])
    twice = affinity_matrix(X, np.array([0, 0, 1, 2, 2]), np.arange(3), "class-means", sample_weight=weight)
    expected = np.exp(-15 * np.array([[0, 2.5, 6.5], [2.5, 0, 4], [6.5, 4, 0]]) / 6.5) * (1 - np.eye(3))
    np.testing.assert_allclose(twice, expected, rtol=1e-12)


def test_given_values_are_checked_and_copied():
    X, y = blobs(30, 3)
    given = np.array([[5.0, 1.0, 2.0], [1.0, 7.0, 3.0], [2.0, 3.0, np.nan]])
    _, matrix = class_affinity(X, y, affinity=given)
    np.testing.assert_array_equal(matrix, [[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    assert given[0, 0] == 5
    np.testing.assert_array_equal(affinity_matrix(X, y, np.arange(3), given.tolist()), matrix)


def test_values_that_cannot_be_used():
    X, y = blobs(30, 3)
    for given, message in [
        ("cosine", "'affinity' parameter must be .* Got 'cosine'"),
        (np.ones((2, 2)), r"3 classes need affinity of shape \(3, 3\), got \(2, 2\)"),
        (np.ones((3, 3)) - 2 * np.eye(3)[::-1], "affinity should be 0 or more: row 0, column 2 has -1"),
        (np.full((3, 3), np.nan), "affinity should be finite: row 0, column 1 has nan"),
        (np.arange(9.0).reshape(3, 3), "symmetric"),
    ]:
        with pytest.raises(ValueError, match=message):
            class_affinity(X, y, affinity=given)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="needs two classes, got 1: 'a'"):
        class_affinity(np.eye(3), ["a"] * 3, affinity="bhattacharyya")
