"""Learners of numbers, what they are made of, and how they are combined."""

import numpy as np
import pytest
from scipy import optimize
from scipy.spatial.distance import cdist
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, lasso_path
from sklearn.neighbors import KNeighborsRegressor
from tests.helpers.learners import of_numbers, predicted

from bayesfloor.floor.learned.targets import fit_weights
from bayesfloor.learn import ridge
from bayesfloor.learn.boosting import STEADY, Boosting
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.lasso_kernels import lasso_path as own_lasso_path
from bayesfloor.learn.nearest import MeanOfNearest, nearest_rows
from bayesfloor.learn.registry import NUMBER_LEARNERS, EstimatorLearner
from bayesfloor.learn.ridge import (
    JITTER,
    MOST_FREEDOM,
    PENALTIES,
    Landmarks,
    fit_leaving_one_out,
    fit_ridge,
    gcv_scores,
)
from bayesfloor.learn.training_rows import Codes, Train, standardised, target_means


def friedman(X):
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def rows_of(function, n=300, d=5, noise=1.0, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n + 200, d))
    f = function(X)
    y = f + noise * rng.standard_normal(len(f))
    centre, scale = y[:n].mean(), y[:n].std()
    known, test = standardised(X[:n], X[n:])
    rows = Train.of_numbers(known, (y[:n] - centre) / scale, weight)
    return rows, test, (f[n:] - centre) / scale


@pytest.mark.interpreted
@pytest.mark.timeout(1800)  # by the interpreter
def test_every_family_predicts_and_is_named():
    rows, test, f = rows_of(friedman)
    for learner in NUMBER_LEARNERS.values():
        found = predicted(learner, rows, test, 1)
        assert set(found) <= set(learner.names)
        # which need a table
        assert set(learner.names) - set(found) <= {"trees of means", "additive, levels"}
        for name, values in found.items():
            assert values.shape == (len(test),)
            assert np.isfinite(values).all()
            if name != "mean":
                assert np.mean((values - f) ** 2) < 0.8 * f.var(), name


def test_the_same_seed_gives_the_same_and_rows_stay_as_they_are():
    rows, test, _ = rows_of(friedman, n=120)
    before = rows.X.copy(), rows.y.copy(), test.copy()
    for name, learner in NUMBER_LEARNERS.items():
        first, again = predicted(learner, rows, test, 3), predicted(learner, rows, test, 3)
        assert all(np.array_equal(first[each], again[each]) for each in first), name
    assert all(np.array_equal(a, b) for a, b in zip(before, (rows.X, rows.y, test), strict=True))


def test_a_weight_of_two_is_a_row_twice():
    """Not where rows are sampled or looked up: there the two may differ, but not by much."""
    rng = np.random.default_rng(5)
    rows, test, _ = rows_of(lambda X: 4 * X[:, 0] - 2 * X[:, 1], n=150, d=2)
    weight = rng.integers(1, 3, 150).astype(float)
    twice = np.repeat(np.arange(150), weight.astype(int))
    of_weights = rows._replace(weight=weight / weight.mean())
    of_copies = rows._replace(X=rows.X[twice], y=rows.y[twice], weight=np.ones(len(twice)))
    for learner in NUMBER_LEARNERS.values():
        weighted, plain, repeated = (predicted(learner, each, test, 1) for each in (of_weights, rows, of_copies))
        for name in weighted:
            off = np.mean((weighted[name] - repeated[name]) ** 2)
            assert off < 0.05 + np.mean((plain[name] - repeated[name]) ** 2), name


def test_work_is_given_up():
    rows, test, _ = rows_of(friedman, n=100)

    def stop():
        raise InterruptedError

    for family in ("linear", "additive", "kernels", "gradients", "trees", "boosting"):
        with pytest.raises(InterruptedError):
            of_numbers(family, rows._replace(check=stop), test, 0)


def test_boosting_is_as_good_as_histogram_boosting():
    """Bins that no row of a node is in go with their neighbours; else deep trees are a fifth worse."""
    rows, test, f = rows_of(friedman, n=400, d=10, noise=2.0)
    own = of_numbers("boosting", rows, test, 1)["boosting"]
    theirs = HistGradientBoostingRegressor(
        max_iter=100, max_leaf_nodes=15, min_samples_leaf=8, l2_regularization=1.0, early_stopping=False
    ).fit(rows.X, rows.y)
    assert np.mean((own - f) ** 2) < 1.1 * np.mean((theirs.predict(test) - f) ** 2)


def test_boosting_of_many_rows_takes_a_sample(monkeypatch):
    monkeypatch.setattr("bayesfloor.learn.boosting.FEWEST_ROWS", 200)
    rows, test, _ = rows_of(friedman, n=400)
    few = of_numbers("boosting", rows.first(300), test, 1)["boosting"]
    of_sample = predicted(Boosting(STEADY._replace(most_rows=300)), rows, test, 1)["boosting"]
    np.testing.assert_array_equal(of_sample, few)


@pytest.mark.interpreted
def test_neighbours_are_the_nearest():
    rows, test, _ = rows_of(friedman, n=100)
    found = MeanOfNearest.of_train(rows).of(nearest_rows(rows.X, test, 5))
    expected = KNeighborsRegressor(5).fit(rows.X, rows.y).predict(test) * 5 / 6
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_ridge_is_scikit_learns_at_the_penalty_it_chose():
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, 80)
    rows, test, _ = rows_of(friedman, n=80, weight=weight / weight.mean())
    fit = fit_ridge(rows.X, rows)
    fits = [Ridge(alpha=80 * penalty).fit(rows.X, rows.y, sample_weight=rows.weights) for penalty in PENALTIES]
    distances = [np.abs(each.predict(test) - fit.predict(test)[:, 0]).max() for each in fits]
    assert min(distances) < 1e-8


@pytest.mark.parametrize("p", [40, 200])
def test_rounding_of_single_precision_chooses_no_penalty(p):
    """Repeated rows make the smallest penalties look good, and these are below the rounding of sums of squares."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((50, 3)), 3, axis=0)
    features = np.exp(-0.1 * ((X[:, np.newaxis] - rng.standard_normal((p, 3))) ** 2).sum(axis=2)).astype(np.float32)
    rows = Train.of_numbers(X, np.repeat(rng.standard_normal(50), 3) + 0.1 * rng.standard_normal(150))
    single, double = (fit_ridge(features.astype(kind), rows) for kind in (np.float32, np.float64))
    test = features[::3].astype(np.float64)
    predicted = [test @ fit.coefficients + fit.offset for fit in (single, double)]
    np.testing.assert_allclose(*predicted, atol=1e-3)


def test_along_a_plateau_the_largest_penalty_is_taken():
    """Features so small that every penalty leaves nothing of them: all errors are those of 0, up to rounding."""
    rng = np.random.default_rng(0)
    features, targets = (rng.standard_normal((50, p)).astype(np.float32) for p in (4, 2))
    penalties = 10.0 ** np.arange(-3.0, 3.0)
    fit = fit_leaving_one_out(np.float32(1e-6) * features, targets, penalties)
    assert fit.penalty == penalties[-1]
    assert fit.error == pytest.approx((targets**2).sum(axis=1).mean(), rel=1e-5)


def test_degrees_of_freedom_may_be_bounded():
    s, n = np.geomspace(1e-2, 1e3, 30), 30
    scores, penalties = gcv_scores(s, s, 200.0, n, 1.5)
    used = np.array([1.0 + 1.5 * (s / (s + penalty)).sum() for penalty in penalties])
    np.testing.assert_array_equal(np.isfinite(scores), used <= MOST_FREEDOM * n)
    assert 0 < np.isfinite(scores).sum() < len(scores)
    scores, _ = gcv_scores(np.full(30, 1e9), s, 200.0, n, 1.5)
    assert np.flatnonzero(np.isfinite(scores)).tolist() == [len(penalties) - 1]  # something has to be chosen


@pytest.mark.parametrize("p", [5, 120])
def test_generalised_cross_validation_is_that_of_the_hat_matrix(p):
    """From the definition, for one penalty: n RSS / (n - 1 - 1.2 tr H)², with more features than rows too."""
    rng = np.random.default_rng(1)
    n = 60
    features = rng.standard_normal((n, p))
    y = features[:, 0] + rng.standard_normal(n)
    fit = fit_ridge(features, Train.of_numbers(features, y))
    centred = features - features.mean(axis=0)
    scores = []
    for penalty in n * PENALTIES:
        hat = centred @ np.linalg.solve(centred.T @ centred + penalty * np.eye(p), centred.T)
        rest = (np.eye(n) - hat) @ (y - y.mean())
        freedom = n - 1 - 1.2 * np.trace(hat)
        scores.append(n * rest @ rest / freedom**2 if freedom > 0.05 * n else np.inf)
    assert fit.score == pytest.approx(min(scores), rel=1e-5)


def test_the_lasso_is_scikit_learns():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 8))
    X -= X.mean(axis=0)
    y = X[:, 0] - 2 * X[:, 3] + rng.standard_normal(100)
    y -= y.mean()
    penalties = np.abs(X.T @ y).max() * np.geomspace(1, 1e-2, 6)
    found = np.zeros((6, 8))
    own_lasso_path(X.T @ X, X.T @ y, penalties, 2000, 1e-12, found)
    expected = lasso_path(X, y, alphas=penalties / 100, tol=1e-10)[1].T
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_landmarks_are_kernel_ridge_regression_where_all_rows_are_landmarks():
    rows, test, _ = rows_of(friedman, n=50)
    fit = Landmarks(rows, 0, 50).fit(1.0)
    between = ((rows.X[:, None] - rows.X) ** 2).sum(axis=-1)
    gamma = 0.5 / np.median(between[np.triu_indices(50, 1)])
    errors = []
    for penalty in 50 * PENALTIES:
        exact = KernelRidge(alpha=penalty, kernel="rbf", gamma=gamma).fit(rows.X, rows.y)
        errors.append(np.abs(exact.predict(test) - fit.predict(test)[:, 0]).max())
    # the offset is fitted besides, which a kernel this wide nearly has in itself
    assert min(errors) < 0.1 * np.abs(fit.predict(test)).max()


def test_landmarks_are_ridge_regression_on_whitened_kernels():
    """Of so few landmarks all choose the penalty, so that features made by hand give the same fit."""
    rows, test, _ = rows_of(friedman, n=160)
    space = Landmarks(rows, 0, 60)
    fit = space.fit(0.7)
    gamma = 0.5 / (0.7**2 * space.typical)
    landmarks = space.landmarks.astype(float)
    root = np.linalg.cholesky(np.exp(-gamma * cdist(landmarks, landmarks) ** 2) + JITTER * np.eye(60))
    known, others = (np.linalg.solve(root, np.exp(-gamma * cdist(landmarks, X) ** 2)).T for X in (rows.X, test))
    expected = fit_ridge(known, rows)
    assert fit.fit.score == pytest.approx(expected.score, rel=1e-3)
    np.testing.assert_allclose(fit.predict(test), expected.predict(others), atol=2e-3)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_whitened_and_direct_equations_have_one_solution(is_weighted, monkeypatch):
    weight = np.linspace(0.2, 1.8, 300) if is_weighted else None
    rows, test, _ = rows_of(friedman, n=300, weight=weight)
    found = []
    for least in (0.0, np.inf):
        monkeypatch.setattr(ridge, "LEAST_DIRECT", least)
        found.append(Landmarks(rows, 0, 140).fit(0.5).predict(test))
    np.testing.assert_allclose(*found, atol=1e-6)


def test_the_first_landmarks_choose_the_width_and_the_penalty(monkeypatch):
    """With all of them choosing, the same width is taken, and the fit is nearly as good."""
    rows, test, f = rows_of(friedman, n=600)
    some = Landmarks(rows, 0, 240).best((0.3, 1.5))
    monkeypatch.setattr(ridge, "SHARE_CHOOSING", 1.0)
    every = Landmarks(rows, 0, 240).best((0.3, 1.5))
    assert some.scale == every.scale
    assert len(some.landmarks) == len(every.landmarks) == 240
    errors = [np.mean((fit.predict(test)[:, 0] - f) ** 2) for fit in (some, every)]
    assert errors[0] < 1.1 * errors[1]


def test_gradients_are_differences_of_predictions():
    rows, test, _ = rows_of(friedman, n=120)
    fit = Landmarks(rows, 0, 60).fit(1.0)
    step = 1e-2
    for j in range(2):
        shifted = test.copy()
        shifted[:, j] += step
        back = test.copy()
        back[:, j] -= step
        slopes = (fit.predict(shifted) - fit.predict(back))[:, 0] / (2 * step)
        np.testing.assert_allclose(fit.gradients(test)[:, j], slopes, atol=2e-2 * np.abs(slopes).max())


def test_gradients_find_the_direction_of_a_ridge_function():
    """A wave along one oblique direction of eight: without turning the space no kernel sees it."""
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(8)
    rows, test, f = rows_of(lambda X: np.sin(3 * (X - 0.5) @ direction), n=800, d=8, noise=0.1)
    found = of_numbers("gradients", rows, test, 0)["kernel ridge, turned by gradients"]
    assert np.mean((found - f) ** 2) < 0.02


@pytest.mark.interpreted
def test_trees_are_means_of_leaves():
    rows, test, _ = rows_of(friedman, n=100)
    deep, shallow, importance, _ = grow_ensemble(rows, test, 1, 20)
    for means in (deep, shallow):
        assert rows.y.min() <= means.min() < means.max() <= rows.y.max()
    assert importance.max() == 1.0
    rows, test, _ = rows_of(lambda X: X[:, 2], n=200, d=6)
    assert grow_ensemble(rows, test, 1, 20).importance.argmax() == 2


def table_of(n=200, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, n).astype(float)
    numbers = rng.standard_normal(n)
    values = np.column_stack([codes, numbers])
    values[rng.random((n, 2)) < 0.1] = np.nan
    effect = np.where(np.isnan(values[:, 0]), 2.0, np.sin(3 * values[:, 0]))
    y = 2 * effect + np.nan_to_num(values[:, 1]) + 0.1 * rng.standard_normal(n)
    return values, (y - y.mean()) / y.std()


def test_tables_are_learned_from_codes_and_gaps():
    values, y = table_of(400)
    table = Codes(values[:300], np.array([True, False]))
    one_hot = np.nan_to_num(values[:, 1:])
    rows = Train.of_numbers(one_hot[:300], y[:300], table=table)
    for family in ("additive", "trees", "boosting"):
        found = of_numbers(family, rows, one_hot[300:], codes=values[300:])
        best = min(np.mean((each - y[300:]) ** 2) for each in found.values())
        assert best < 0.15, family
    assert {"additive, levels"} <= set(of_numbers("additive", rows, one_hot[300:], codes=values[300:]))


def test_means_in_categories_do_not_hold_the_row_itself():
    values, y = table_of(100)
    rows = Train.of_numbers(values[:60], y[:60])
    train, means = target_means(values[:60, 0], rows)
    test = means.of(values[60:, 0])
    level = np.where(np.isnan(values[:, 0]), -1, values[:, 0])
    for i in (0, 7, 33):
        others = (np.arange(60) % 5 != i % 5) & (level[:60] == level[i])
        mean = y[:60][np.arange(60) % 5 != i % 5].mean()
        assert train[i, 0] == pytest.approx((y[:60][others].sum() + 5 * mean) / (others.sum() + 5))
    same = level[:60] == level[60]
    assert test[0, 0] == pytest.approx((y[:60][same].sum() + 5 * y[:60].mean()) / (same.sum() + 5))


def test_a_regressor_of_the_caller_is_a_family_of_one():
    rows, test, _ = rows_of(friedman, n=80)
    weight = np.linspace(0.5, 1.5, 80)
    found = predicted(EstimatorLearner("own", LinearRegression()), rows._replace(weight=weight), test, 0)
    expected = LinearRegression().fit(rows.X, rows.y, sample_weight=weight).predict(test)
    np.testing.assert_allclose(found["own"], expected)


def test_weights_of_the_stack_are_not_negative_and_the_best():
    rng = np.random.default_rng(3)
    y = rng.standard_normal(500)
    predicted = np.stack([y + rng.standard_normal(500), y + 0.5 * rng.standard_normal(500), -y])
    weights, offset = fit_weights(predicted, y, np.ones(500), 500)
    expected, _ = optimize.nnls((predicted - predicted.mean(axis=1, keepdims=True)).T, y - y.mean())
    np.testing.assert_allclose(weights, expected, atol=0.02)
    assert weights[2] == 0.0
    assert offset == pytest.approx(y.mean() - weights @ predicted.mean(axis=1))


def test_landmarks_whose_products_are_singular_in_floating_point():
    rng = np.random.default_rng(3)
    cells = np.c_[rng.integers(0, 2, 1500), rng.integers(0, 9, 1500)].astype(float)  # 18 different rows
    means = rng.normal(size=(2, 9))[cells[:, 0].astype(int), cells[:, 1].astype(int)]
    X, _ = standardised(cells, cells)
    train = Train.of_numbers(X, means - means.mean())
    for width in (0.1, 0.5, 2.0):  # at the last one, rounding makes the system indefinite
        fit = Landmarks(train, 0, 400).fit(width)
        error = np.mean((fit.predict(X)[:, 0] - train.targets()[:, 0]) ** 2)
        assert error < 1.5 * fit.fit.score + 1e-6, width


def test_systems_that_rounding_makes_indefinite_are_damped():
    basis = np.random.default_rng(0).normal(size=(50, 7))
    system = basis @ basis.T
    system[0, 0] -= 1e-11
    moments = system @ np.ones((50, 1))
    assert np.linalg.eigvalsh(system)[0] < 0
    assert np.abs(system @ ridge._solved(system.copy(), moments) - moments).max() < 1e-6 * np.abs(moments).max()
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        ridge._solved(np.diag([1.0, -np.inf]), np.ones((2, 1)))


def test_in_time_weights_of_the_stack_sum_to_one():
    """They are the best of those that do, whatever is added to all that was predicted and to what came."""
    rng = np.random.default_rng(3)
    y = rng.standard_normal(500)
    predicted = np.stack([0.7 * y + rng.standard_normal(500), 0.7 * y + 0.5 * rng.standard_normal(500), -y])
    weights, far = fit_weights(predicted, y, np.ones(500), 500, in_time=True)
    tried = rng.dirichlet([1, 1, 0.1], 5000)
    best = tried[((tried @ predicted - y) ** 2).mean(axis=1).argmin()]
    np.testing.assert_allclose(weights, best, atol=0.04)
    assert weights.sum() == pytest.approx(1.0)
    assert far == pytest.approx(((weights @ predicted - y) ** 2).mean() ** 0.5)
    moved, _ = fit_weights(predicted + 9.0, y + 9.0, np.ones(500), 500, in_time=True)
    np.testing.assert_allclose(moved, weights, atol=1e-6)
