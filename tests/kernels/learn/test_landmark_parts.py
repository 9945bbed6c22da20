"""The parts of landmark models beside slower ways to the same end."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel

from bayesfloor.learn.landmarks.efforts import EFFORTS
from bayesfloor.learn.landmarks.feature_choice import CONSTANT, Sample, choose_rules, ridge
from bayesfloor.learn.landmarks.feature_kernels import fill_rules, to_probabilities, to_residuals
from bayesfloor.learn.landmarks.feature_map import LINEAR_SCALE, RULE_SCALE, FeatureMap, scale_rows, scaling_of
from bayesfloor.learn.landmarks.fitting import order_rows
from bayesfloor.learn.landmarks.members import fit_stack_weights
from bayesfloor.learn.landmarks.multinomial import Objective, descend, penalty_of
from bayesfloor.learn.landmarks.regression import solve_ridge
from bayesfloor.learn.landmarks.row_sums import RowSums
from bayesfloor.runtime.kernels import plainly
from bayesfloor.runtime.threads import WorkerPool


def small_map(d=3, n_landmarks=6, seed=0):
    rng = np.random.default_rng(seed)
    return FeatureMap(
        np.zeros(d),
        np.ones(d),
        None,
        np.linspace(0.5, 1.5, d).astype(np.float32),
        rng.standard_normal((n_landmarks, d)).astype(np.float32),
        0.3,
        np.array([0, 1, 2]),
        np.array([0.0, 0.5, -0.5], np.float32),
        np.array([0, 0, 1]),
        np.array([0, 1, 2]),
    )


def some_rows(n=300, d=3, n_classes=4, seed=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    return (rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((n_classes, d))[codes]).astype(np.float32), codes


def sums_of(X, codes, feature_map, n_threads=1):
    return RowSums(feature_map, X, codes, np.ones(len(X), np.float32), WorkerPool(n_threads))


@pytest.mark.parametrize("most_kept", [0, 2**30])
def test_features_are_kept_where_memory_allows(most_kept):
    feature_map, (X, codes) = small_map(), some_rows()
    sums = replace(sums_of(X, codes, feature_map), most_kept=most_kept)
    expected = sums_of(X, codes, feature_map).squares()
    np.testing.assert_array_equal(sums.squares(), expected)
    assert (sums.features(sums.block(0)) is sums.features(sums.block(0))) == (most_kept > 0)


def test_features_are_columns_kernels_and_rules():
    feature_map, (X, _) = small_map(), some_rows(50)
    made = feature_map.features(X)
    first, second, third = X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > -0.5
    expected = np.hstack(
        [
            np.ones((50, 1)),
            LINEAR_SCALE * X,
            rbf_kernel(X * feature_map.weights, feature_map.landmarks, gamma=0.3),
            RULE_SCALE * np.column_stack([first, first & second, second & third]),
        ]
    )
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)


def test_far_rows_have_kernels_of_zero_and_no_nan():
    feature_map = small_map()
    far = feature_map.scaled(np.array([[1e300, -1e300, 0.0], [1e8, 1e8, 1e8]]))
    made = feature_map.features(far)
    assert np.isfinite(made).all()
    assert np.abs(made[:, feature_map.kernel_columns]).max() < 1e-30


def test_plain_rules_are_those_of_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)).astype(np.float32)
    columns, cuts = rng.integers(0, 4, 6), X[:6, 0].copy()  # values equal to a cut among them
    first, second = rng.integers(0, 6, (2, 9))
    found = {}
    for plain in (True, False):
        found[plain] = np.full((50, 12), -1.0, np.float32)
        with plainly(plain):
            fill_rules(X, columns, cuts, first, second, 0.3, 2, found[plain])
    np.testing.assert_array_equal(found[True], found[False])
    assert set(np.unique(found[True])) == {np.float32(-1.0), np.float32(0.0), np.float32(0.3)}


def test_probabilities_and_residuals():
    rng = np.random.default_rng(0)
    scores = (20 * rng.standard_normal((200, 7))).astype(np.float32)
    expected = np.exp(scores.astype(float) - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    probabilities, residuals = scores.copy(), scores.copy()
    to_probabilities(probabilities)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5, atol=1e-7)
    codes, weight = rng.integers(0, 7, 200), rng.uniform(0.5, 2, 200).astype(np.float32)
    loss = to_residuals(residuals, codes, weight)
    np.testing.assert_allclose(residuals, (expected - np.eye(7)[codes]) * weight[:, None], rtol=1e-4, atol=1e-6)
    own = np.maximum(expected[np.arange(200), codes], 1e-30)
    assert loss == pytest.approx(-(weight * np.log(own)).sum(), rel=1e-4)


def test_leave_one_out_residuals_are_those_of_fits_without_each_row():
    X, codes = some_rows(40)
    Y = np.eye(4, dtype=np.float32)[codes]
    found = ridge(Sample(X, Y, None), X, X[:8], 0.4, with_linear=True)
    F = np.hstack([np.full((40, 1), CONSTANT), LINEAR_SCALE * X, rbf_kernel(X, X[:8], gamma=0.4)])
    for row in (0, 7, 39):
        others = np.arange(40) != row
        G = F[others].T @ F[others] + found.penalty * np.eye(F.shape[1])
        predicted = F[row] @ np.linalg.solve(G, F[others].T @ Y[others])
        np.testing.assert_allclose(found.residuals[row], Y[row] - predicted, rtol=1e-3, atol=1e-4)
    errors = (found.residuals**2).sum(axis=1)
    assert found.error == pytest.approx(errors.mean(), rel=1e-5)


def test_rules_find_a_product_of_two_columns():
    rng = np.random.default_rng(0)
    columns = np.where(rng.random((500, 6)) < 0.5, -1.0, 1.0).astype(np.float32)
    y = (columns[:, 2] > 0) & (columns[:, 4] > 0)
    residuals = np.column_stack([y - y.mean(), y.mean() - y]).astype(np.float32)
    rules = choose_rules(Sample(columns, residuals, None), residuals, np.ones(6, bool), 3)
    assert {int(rules.rule_first[0]), int(rules.rule_second[0])} == {2, 4}
    assert len(rules.rule_first) == 3


def test_rules_cut_a_column_where_classes_change():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 8, (400, 2)).astype(np.float32)
    y = (columns[:, 1] > 4).astype(np.float32)
    residuals = (y - y.mean())[:, np.newaxis]
    rules = choose_rules(Sample(columns, residuals, None), residuals, np.zeros(2, bool), 5)
    best = rules.rule_first[0]
    assert (rules.cut_columns[best], rules.cut_values[best]) == (1, 4.5)


def test_sums_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("bayesfloor.learn.landmarks.row_sums.BLOCK_VALUES", 512)
    monkeypatch.setattr("bayesfloor.learn.landmarks.row_sums.BLOCK_ROWS", 32)
    from bayesfloor.runtime.threads import supervise

    X, codes = some_rows(1000)
    feature_map = small_map()
    W = np.random.default_rng(0).standard_normal((4, feature_map.n_features)).astype(np.float32)

    def all_sums(pool):
        sums = RowSums(feature_map, X, codes, np.linspace(0.5, 1.5, 1000).astype(np.float32), pool)
        loss, gradient = sums.gradient(W)
        return loss, gradient, np.tril(sums.products(W)), sums.squares()

    one, three = (supervise(all_sums, n_threads, False) for n_threads in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    F = feature_map.features(X).astype(float)
    weight = np.linspace(0.5, 1.5, 1000)
    np.testing.assert_allclose(one[3], weight @ F**2, rtol=1e-5)
    P = np.exp(F @ W.T.astype(float))
    P /= P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(one[1], ((P - np.eye(4)[codes]) * weight[:, None]).T @ F, rtol=1e-3, atol=1e-3)


def test_descent_ends_at_the_optimum():
    """In coordinates where the penalty is the identity, this is scikit-learn's logistic regression."""
    X, codes = some_rows()
    feature_map = small_map()
    sums, penalty = sums_of(X, codes, feature_map), penalty_of(feature_map)
    start = np.zeros((4, feature_map.n_features), np.float32)
    objective = Objective(sums.gradient, sums.products(), penalty, 0.5)
    found = descend(objective, objective.at(start), 200, 1e-6)
    R = np.diag(penalty.diagonal)
    R[penalty.columns, penalty.columns] += penalty.kernel
    root = np.linalg.cholesky(R)
    Z = np.linalg.solve(root, feature_map.features(X).T.astype(float)).T
    model = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(Z, codes)
    expected = np.linalg.solve(root.T, model.coef_.T).T
    loss = -np.log(model.predict_proba(Z)[np.arange(len(codes)), codes]).sum()
    value = loss + 0.25 * np.einsum("ki,ij,kj->", expected, R, expected)
    assert found.value == pytest.approx(value, rel=1e-4)
    P = feature_map.features(X) @ found.coefficients.T
    to_probabilities(P)
    np.testing.assert_allclose(P, model.predict_proba(Z), atol=0.01)


def test_closed_form_is_scikit_learns_ridge_in_other_coordinates():
    X, codes = some_rows(400)
    feature_map, rng = small_map(), np.random.default_rng(0)
    weight, y = rng.choice([0.5, 1.0, 2.0], 400).astype(np.float32), rng.standard_normal(400)
    F, penalty = feature_map.features(X).astype(np.float64), penalty_of(feature_map)
    matrix = np.diag(penalty.diagonal)
    matrix[penalty.columns, penalty.columns] += penalty.kernel
    sums = RowSums(feature_map, X, codes, weight, WorkerPool(1))
    solved = solve_ridge(sums.products(), ((weight * y) @ F).astype(np.float32), penalty, 3.0)
    root = np.linalg.cholesky(matrix)
    model = Ridge(3.0, fit_intercept=False, solver="cholesky").fit(np.linalg.solve(root, F.T).T, y, weight)
    np.testing.assert_allclose(solved, np.linalg.solve(root.T, model.coef_), rtol=2e-3, atol=1e-3)


def test_features_that_depend_on_each_other_raise_the_damping():
    X, codes = some_rows(100)
    feature_map = small_map()
    twins = replace(feature_map, landmarks=np.repeat(feature_map.landmarks, 5, axis=0))
    sums, penalty = sums_of(X, codes, twins), penalty_of(twins)
    objective = Objective(sums.gradient, sums.products(), penalty, 1e-12)
    start = objective.at(np.zeros((4, twins.n_features), np.float32))
    found = descend(objective, start, 20, 100.0)
    assert np.isfinite(found.coefficients).all()
    assert found.value < start.value


def test_stack_weights_are_fitted_to_the_held_out_loss():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 500)
    sure = np.log(np.where(np.eye(3)[codes] > 0, 0.8, 0.1))
    noise = np.log(rng.dirichlet(np.ones(3), 500))
    logarithms = np.stack([noise, sure, noise[::-1]], axis=2).astype(np.float32)
    found = fit_stack_weights(
        dict(zip(("landmarks", "sure", "noise"), np.moveaxis(logarithms, 2, 0), strict=True)),
        codes,
        np.ones(500, np.float32),
    )
    coefficients = np.array([found.get(name, 0.0) for name in ("landmarks", "sure", "noise")])

    def loss(c):
        scores = logarithms @ np.maximum(c, 0)
        return np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(500), codes])

    best = minimize(loss, np.ones(3), method="Nelder-Mead", options={"maxiter": 2000})
    assert coefficients.min() >= 0
    assert loss(coefficients) <= best.fun + 0.01  # a penalty holds the weights near those of the first alone
    assert loss(coefficients) < loss([1, 0, 0]) - 0.5


def test_predictions_that_help_nothing_have_no_weight():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 500)
    sure = np.log(np.where(np.eye(3)[codes] > 0, 0.98, 0.01)).astype(np.float32)
    against = np.log(np.where(np.eye(3)[codes] > 0, 0.1, 0.45)).astype(np.float32)
    found = fit_stack_weights({"landmarks": 4 * sure, "against": against}, codes, np.ones(500, np.float32))
    assert found == {"landmarks": 1.0}


def test_scaling_centres_columns_and_keeps_two_values_apart():
    rng = np.random.default_rng(0)
    X = np.column_stack([5 + 3 * rng.standard_normal(500), rng.integers(0, 2, 500), np.full(500, 7.0), rng.random(500)])
    scaling = scaling_of(X, np.ones(500, np.float32), 0)
    columns = scale_rows(X, scaling)
    assert scaling.is_binary.tolist() == [False, True, False, False]
    np.testing.assert_allclose(columns[:, [0, 3]].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(columns[:, [0, 3]].std(axis=0), 1, atol=1e-5)
    assert set(columns[:, 1]) == {-1.0, 1.0}
    assert set(columns[:, 2]) == {0.0}


def test_order_of_rows_depends_on_their_values_alone_and_holds_out_whole_groups():
    X, codes = some_rows(200)
    X = X.astype(float)
    weight, groups = np.ones(200), np.arange(200) // 8
    rows = order_rows(X, codes, weight, 3, groups, EFFORTS["default"])
    turned = order_rows(X[::-1], codes[::-1], weight, 3, groups[::-1], EFFORTS["default"])
    np.testing.assert_array_equal(rows.X, turned.X)
    assert rows.n_kept == turned.n_kept
    place = {tuple(row): group for row, group in zip(X.tolist(), groups, strict=True)}
    in_order = np.array([place[tuple(row)] for row in rows.X.tolist()])
    assert not set(in_order[: rows.n_kept]) & set(in_order[rows.n_kept :])
    assert 0 < 200 - rows.n_kept <= 50
