"""The noise variance from spanning trees: against brute force, against known noise, and on hostile input."""

import numpy as np
import pandas as pd
import pytest

from bayesfloor import noise_variance_from_trees
from bayesfloor.floor.trees.edge_differences import EdgeDifferences
from bayesfloor.floor.trees.noise_variance import standard_columns
from bayesfloor.floor.trees.smooth_part import kept_share, smooth_part


def smooth_problem(n, d=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    return X, np.sin(5 * X[:, 0]) + 2 * X[:, 1] + noise * rng.standard_normal(n)


def codes(result):
    return [finding.code for finding in result.findings]


def same(first, second):
    figures = ("estimate", "interval", "r2", "r2_interval")
    return all(getattr(first, name) == getattr(second, name) for name in figures)


def test_sums_over_pairs_of_rows_equal_brute_force():
    rng = np.random.default_rng(0)
    place, values = np.array([0, 0, 0, 1, 1, 2, 3, 3]), rng.standard_normal(8)
    first, second = np.array([0, 0, 0, 1, 2, 3, 0]), np.array([0, 1, 2, 2, 3, 3, 0])
    tree, kept, weight = np.array([0, 0, 0, 0, 0, 1, 1]), rng.uniform(0.8, 1.0, 7), rng.uniform(0.5, 1.5, 7)
    edges = EdgeDifferences(first, second, tree, np.ones(7), kept, weight, values, place, None)
    level, _, share = edges.tree_means()
    coefficient = np.array([0.7, 0.3])
    sums, squares = edges.row_terms(coefficient, level)

    expected_sums, expected_squares, differences = np.zeros(8), 0.0, []
    for a, b, t, k, w in zip(first, second, tree, kept, weight, strict=True):
        pairs = [(i, j) for i in np.flatnonzero(place == a) for j in np.flatnonzero(place == b) if a != b or i < j]
        differences.append(np.mean([(values[i] - values[j]) ** 2 / 2 for i, j in pairs]))
        for i, j in pairs:
            term = coefficient[t] / share[t] * w / len(pairs) * ((values[i] - values[j]) ** 2 / 2 - level[t] * k)
            expected_sums[[i, j]] += term
            expected_squares += term**2
    np.testing.assert_allclose(edges.differences(), differences)
    np.testing.assert_allclose(sums, expected_sums, atol=1e-14)
    assert squares == pytest.approx(expected_squares)


def test_differences_of_residuals_hold_a_known_share_of_the_noise():
    X, y = smooth_problem(150, noise=0.3)
    part = smooth_part(standard_columns(X)[0], (y - y.mean()) / y.std(), 0, len(y))
    H = (part.axes * part.shares) @ part.axes.T
    np.testing.assert_allclose(part.residual, (np.eye(150) - H) @ ((y - y.mean()) / y.std()), atol=1e-6)
    left = (np.eye(150) - H) @ (np.eye(150) - H).T  # the covariance of residuals of noise of variance 1
    i, j = np.arange(149), np.arange(1, 150)
    np.testing.assert_allclose(kept_share(part, i, j), (left[i, i] + left[j, j] - 2 * left[i, j]) / 2, atol=1e-6)
    assert part.freedom == pytest.approx(np.trace(H), abs=1e-3)


@pytest.mark.parametrize(("n", "d", "noise"), [(800, 1, 0.3), (800, 3, 0.5), (800, 12, 1.0)])
def test_known_noise(n, d, noise):
    X, y = smooth_problem(n, max(d, 2), noise)
    result = noise_variance_from_trees(X[:, :d] if d > 1 else X[:, :1], y - (2 * X[:, 1] if d == 1 else 0))
    assert result.estimate == pytest.approx(noise**2, rel=0.1)
    assert result.interval[0] < noise**2 < result.interval[1]
    assert result.rmse == pytest.approx(result.estimate**0.5)
    assert result.r2 == pytest.approx(1 - result.estimate / result.variance)
    assert result.r2_interval[0] < result.r2 < result.r2_interval[1]


def test_what_matters_has_a_large_scale():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((800, 30))
    y = X[:, 3] * X[:, 7] + 0.3 * rng.standard_normal(800)  # neither says anything by itself
    result = noise_variance_from_trees(X, y)
    assert set(np.argsort(-result.column_scale)[:2]) == {3, 7}
    assert result.r2 > 0.8  # 0.917; differences to nearest rows in 30 features see next to nothing


def test_noise_alone():
    rng = np.random.default_rng(2)
    result = noise_variance_from_trees(rng.random((500, 4)), rng.standard_normal(500))
    assert result.r2 < 0.1
    assert result.r2_interval[0] == 0.0


def test_steps_are_extrapolated_and_said():
    rng = np.random.default_rng(3)
    X = rng.random((1500, 2))
    y = (np.floor(4 * X) % 2).sum(axis=1) % 2 + 0.2 * rng.standard_normal(1500)
    result = noise_variance_from_trees(X, y)
    assert "BF063" in codes(result)
    assert result.interval[0] < 0.04 < result.interval[1]
    assert np.all(np.diff(result.frame()["half_mean_squared_difference"]) > 0)


def test_a_line_below_zero_is_no_certainty():
    # Waves that are too short for the fit: differences grow so fast that a line through them ends below 0.
    rng = np.random.default_rng(11)
    X = rng.random((1500, 2))
    y = np.sin(40 * X[:, 0]) * np.sin(40 * X[:, 1]) + 0.1 * rng.standard_normal(1500)
    result = noise_variance_from_trees(X, y)
    assert "BF063" in codes(result)
    line = np.polynomial.Polynomial.fit(result.lengths, result.differences, 1)
    assert line(0.0) < 0.0
    assert result.r2_interval[0] < 1.0 - 0.01 / result.variance  # the best R² is not claimed to be surely higher


def test_replicates_need_no_model():
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((150, 20)), 3, axis=0)
    levels = np.repeat(rng.standard_normal(150), 3)  # nothing that a model could know
    y = levels + 0.5 * rng.standard_normal(450)
    result = noise_variance_from_trees(X, y)
    within = y.reshape(150, 3).var(axis=1, ddof=1).mean()  # mean square within, of analysis of variance
    assert result.replicates.freedom == 300
    assert result.replicates.variance == pytest.approx(within)
    assert result.estimate == pytest.approx(within, rel=0.2)
    assert result.interval[1] < 0.4


def test_order_of_rows_and_threads_change_nothing():
    X, y = smooth_problem(300)
    X[100:200] = X[:100]  # replicates
    X = np.round(X, 1)  # and ties
    order = np.random.default_rng(5).permutation(300)
    first = noise_variance_from_trees(X, y, n_jobs=1)
    assert same(first, noise_variance_from_trees(X[order], y[order], n_jobs=2))


def test_units_change_nothing():
    X, y = smooth_problem(300)
    plain = noise_variance_from_trees(X, y)
    scaled = noise_variance_from_trees(X * [1e150, 1e-150, 1.0] + [0, 0, 1e6], 1000 * y + 7)
    assert scaled.r2 == pytest.approx(plain.r2, abs=1e-4)
    assert scaled.estimate == pytest.approx(1e6 * plain.estimate, rel=1e-3)


def test_groups():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(60), 8)
    X = np.repeat(rng.random((60, 2)), 8, axis=0) + 0.01 * rng.standard_normal((480, 2))
    y = X[:, 0] + np.repeat(rng.standard_normal(60), 8) + 0.1 * rng.standard_normal(480)
    rows = noise_variance_from_trees(X, y)
    new_groups = noise_variance_from_trees(X, y, groups=groups)
    assert rows.estimate < 0.1
    assert new_groups.estimate == pytest.approx(1.01, rel=0.4)
    assert new_groups.interval[0] < 1.01 < new_groups.interval[1]


def test_every_row_a_group_is_no_groups():
    X, y = smooth_problem(200)
    names = np.random.default_rng(0).permutation(200)
    assert same(noise_variance_from_trees(X, y), noise_variance_from_trees(X, y, groups=names))


def test_weights():
    X, y = smooth_problem(400, noise=0.5)
    y[200:] += 2.0 * np.random.default_rng(7).standard_normal(200)
    X[200:, 0] += 2.0
    weight = np.where(np.arange(400) < 200, 1.0, 0.1)
    all_alike = noise_variance_from_trees(X, y)
    assert same(all_alike, noise_variance_from_trees(X, y, sample_weight=np.full(400, 3.0)))
    assert noise_variance_from_trees(X, y, sample_weight=weight).estimate < 0.5 * all_alike.estimate
    weight[200:] = 0.0
    none_left = noise_variance_from_trees(X, y, sample_weight=weight)
    assert none_left.n_rows == 200
    assert none_left.estimate == pytest.approx(0.25, rel=0.3)


def test_copies_of_rows_with_their_target_are_no_replicates():
    X, y = smooth_problem(200)
    once = noise_variance_from_trees(X, y)
    copied = noise_variance_from_trees(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert same(once, copied)
    assert (copied.n_samples, copied.n_rows) == (400, 200)
    assert "BF064" in codes(copied)


def test_copies_are_known_where_the_target_has_few_values():
    X, y = smooth_problem(300)
    y = np.round(y)  # two rows are often the same in it
    once = noise_variance_from_trees(X, y)
    X, y = np.vstack([X, X[:60], X[:60]]), np.concatenate([y, y[:60], y[:60]])
    copied = noise_variance_from_trees(X, y)
    assert same(once, copied)
    assert "BF064" in codes(copied)


def test_equal_counts_at_equal_rows_are_replicates():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 5, (600, 1)).astype(float)
    y = rng.poisson(3.0 + X[:, 0])  # Var(y | x) = 3 + x, 5 on average
    result = noise_variance_from_trees(X, y)
    assert result.n_rows == 600
    assert result.estimate == pytest.approx(5.0, rel=0.15)


def test_too_many_features_are_said():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((150, 60))
    result = noise_variance_from_trees(X, X.sum(axis=1) + rng.standard_normal(150))
    assert "BF008" in codes(result)
    assert result.r2_interval[1] > 0.98  # 60 / 61


def test_a_frame_with_categories():
    rng = np.random.default_rng(10)
    level = rng.integers(0, 60, 1200)
    frame = pd.DataFrame({"town": [f"town {code}" for code in level], "size": rng.random(1200)})
    frame["price"] = rng.standard_normal(60)[level] + frame["size"] + 0.5 * rng.standard_normal(1200)
    result = noise_variance_from_trees(frame, "price")
    assert result.estimate == pytest.approx(0.25, rel=0.15)
    assert len(result.column_scale) == len(result.feature_names)


def test_what_cannot_be_used():
    X, y = smooth_problem(50)
    with pytest.raises(ValueError, match="nothing to predict"):
        noise_variance_from_trees(X, np.ones(50))
    with pytest.raises(ValueError, match="50 missing labels"):
        noise_variance_from_trees(X, np.full(50, np.nan))
    with pytest.raises(ValueError, match="NaN"):
        noise_variance_from_trees(np.where(X > 0.9, np.nan, X), y)
    with pytest.raises(ValueError, match="n_trees"):
        noise_variance_from_trees(X, y, n_trees=0)
    with pytest.raises(ValueError, match="1 sample"):
        noise_variance_from_trees(X[:1], y[:1])
    with pytest.raises(ValueError, match="nothing to predict"):
        noise_variance_from_trees(X, y, sample_weight=np.arange(50) == 7)


def test_two_rows_and_constant_features():
    two = noise_variance_from_trees([[0.0], [1.0]], [1.0, 2.0])
    assert two.r2_interval == (0.0, 1.0)
    alike = noise_variance_from_trees(np.zeros((40, 2)), np.arange(40.0))
    assert alike.estimate == pytest.approx(np.arange(40.0).var(ddof=1))
    assert "BF006" in codes(alike)


def test_frame_plot_and_words():
    X, y = smooth_problem(100)
    X.flags.writeable = False
    result = noise_variance_from_trees(X, y)
    assert list(result.frame().columns) == ["tree", "mean_length", "half_mean_squared_difference", "n_edges"]
    assert result.frame()["n_edges"].tolist() == [99, 99, 99]
    assert repr(result).startswith("NoiseFromTrees(r2 0.")
    display = result.plot()
    np.testing.assert_array_equal(display.tree_marks_.get_ydata(), result.differences)
    assert display.estimate_mark_.get_ydata()[0] == result.estimate
    assert display.frame()["value"].tolist()[1:] == result.differences.tolist()
