"""LandmarkRegressor: ridge regression by another way, and what any regressor must do."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

from bayesfloor.classify.landmarks import LandmarkRegressor
from bayesfloor.classify.prediction_intervals import interval_ends
from bayesfloor.learn.landmarks.multinomial import DAMPING, penalty_of
from bayesfloor.learn.landmarks.regression import HeldOutRows


@pytest.fixture(scope="module")
def data():
    return make_friedman1(800, noise=1.0, random_state=0)


def penalty_matrix(feature_map):
    penalty = penalty_of(feature_map)
    matrix = np.diag(penalty.diagonal)
    matrix[penalty.columns, penalty.columns] += penalty.kernel
    return matrix


def ridge(F, y, matrix, strength, weight=None):
    """Scikit-learn's coefficients, with the penalty matrix turned into the identity."""
    root = np.linalg.cholesky(matrix)
    turned = np.linalg.solve(root, F.T).T
    model = Ridge(strength, fit_intercept=False, solver="cholesky").fit(turned, y, weight)
    return np.linalg.solve(root.T, model.coef_)


def test_model_is_the_ridge_regression_of_all_rows(data):
    X, y = data
    weight = np.random.default_rng(1).choice([1.0, 3.0], len(y))
    model = LandmarkRegressor("fast", n_rules=0, n_landmarks=30).fit(X, y, weight)
    assert model.target_mean_ == pytest.approx(np.average(y, weights=weight))
    assert model.target_deviation_ == pytest.approx(np.sqrt(np.cov(y, aweights=weight, ddof=0)))
    F = model.feature_map_.features(model.feature_map_.scaled(X)).astype(np.float64)
    weight /= weight.mean()
    damping = DAMPING * (weight @ F**2).sum()  # what keeps products of float32 positive definite
    matrix = penalty_matrix(model.feature_map_) + damping / model.penalty_ * np.eye(F.shape[1])
    found = ridge(F, y - model.target_mean_, matrix, model.penalty_, weight)
    assert_array_equal(model.predict(X)[:5], model.predict(X[:5]))
    assert_allclose(model.predict(X), F @ found + model.target_mean_, atol=0.01 * y.std())  # float32


def test_accuracy_is_near_what_noise_allows(data):
    """Noise has variance 1 and the function 23.8: no regressor gets above R² = .96, and a linear one to .75."""
    X, y = make_friedman1(2000, noise=1.0, random_state=1)
    model = LandmarkRegressor().fit(*data)
    assert model.score(X, y) > 0.88
    assert np.mean((model.predict(X) - y) ** 2) == pytest.approx(model.held_out_mse_, rel=0.25)


@pytest.mark.slow
def test_held_out_rows_have_no_say_in_what_predicts_them():
    """The smallest error of many penalties flatters the rows that it was found on, most where these are few."""
    held_out, fresh = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(1080, 4))
        y = 4 * X[:, 0] + rng.standard_normal(1080)
        model = LandmarkRegressor(n_jobs=1).fit(X[:80], y[:80])
        held_out.append(model.held_out_mse_)
        fresh.append(np.mean((model.predict(X[80:]) - y[80:]) ** 2))
    # 32 rows in each, so that 30 draws have a standard error of .05
    assert np.mean(held_out) > 0.88 * np.mean(fresh)


def test_rules_find_products_of_columns_among_many():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 40)).astype(float)
    y = (X[:, :20:2] * X[:, 1:20:2]).sum(axis=1) + 0.5 * rng.standard_normal(2000)
    with_rules, without = (
        LandmarkRegressor(n_rules=n_rules).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) for n_rules in (40, 0)
    )
    assert with_rules > without + 0.02


def test_rows_of_weight_zero_are_absent(data):
    X, y = data
    weight = np.arange(len(y)) % 2.0
    kept = weight > 0
    assert_array_equal(
        LandmarkRegressor().fit(X, y, weight).predict(X), LandmarkRegressor().fit(X[kept], y[kept]).predict(X)
    )


def test_targets_on_any_scale(data):
    X, y = data
    plain = LandmarkRegressor("fast").fit(X, y)
    for offset, scale in [(0.0, 1e100), (1e6, 1.0), (0.0, 1e-100)]:
        fitted = LandmarkRegressor("fast").fit(X, scale * y + offset)
        assert_allclose(fitted.predict(X), scale * plain.predict(X) + offset, rtol=1e-3)
        assert_allclose(fitted.predict_interval(X), scale * plain.predict_interval(X) + offset, rtol=1e-3)
    constant = LandmarkRegressor("fast").fit(X, np.full(len(X), 7.0))
    assert_array_equal(constant.predict(X[:9]), np.full(9, 7.0))
    assert_array_equal(constant.predict_interval(X[:9]), np.full((9, 2), 7.0))


def test_few_rows():
    X = np.array([[0.0], [1.0], [2.0]])
    for n in (2, 3):
        assert np.isfinite(LandmarkRegressor().fit(X[:n], X[:n, 0]).predict(X)).all()


def test_sparse_rows_are_as_good_as_dense(data):
    X, y = data
    X = np.where(X > 0.5, X, 0.0)
    dense, thin = LandmarkRegressor().fit(X, y), LandmarkRegressor().fit(sparse.csr_array(X), y)
    assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), rtol=1e-3, atol=0.02)


def test_whole_groups_are_held_out():
    """A row that comes several times with the same noise is easy to remember, and that is no merit."""
    rng = np.random.default_rng(0)
    X, y = rng.random((150, 3)), rng.standard_normal(150)
    groups = np.repeat(np.arange(150), 6)
    X, y = X[groups] + 1e-6 * rng.random((900, 3)), y[groups]
    honest = LandmarkRegressor().fit(X, y, groups=groups)
    assert honest.held_out_mse_ > 0.9
    assert LandmarkRegressor().fit(X, y).held_out_mse_ < 0.7


def test_pickle_and_clone(data):
    X, y = data
    model = LandmarkRegressor("fast", n_landmarks=20).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


def test_what_is_refused(data):
    for y, message in [
        ([1.0, np.nan, 2.0], "y has 1 missing value"),
        ([1.0, np.inf, 2.0], "contains infinity"),
        (["a", "b", "c"], "y must hold numbers"),
        ([1.0, 2.0], "inconsistent numbers of samples"),
        (np.ones((3, 2)), "should be a 1d array"),
    ]:
        with pytest.raises(ValueError, match=message):
            LandmarkRegressor().fit([[0.0], [1.0], [2.0]], y)
    for wrong in ({"effort": "most"}, {"n_landmarks": 0}, {"n_rules": -1}, {"n_jobs": 0}):
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            LandmarkRegressor(**wrong).fit(*data)


def test_the_scale_of_weights_does_not_matter():
    X, y = make_friedman1(200, noise=1.0, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 200)
    expected = LandmarkRegressor().fit(X, y, sample_weight=weight).predict(X)
    found = LandmarkRegressor().fit(X, y, sample_weight=2.0**60 * weight).predict(X)
    assert_array_equal(found, expected)
    unweighted = LandmarkRegressor().fit(X, y).predict(X)
    for heavy in (1e300, 5e-324):
        assert_allclose(LandmarkRegressor().fit(X, y, sample_weight=np.full(200, heavy)).predict(X), unweighted)


def rows_of(kind, n, rng):
    """Points and numbers with noise that is even, that grows with the mean, or that is skewed."""
    X = rng.standard_normal((n, 4))
    mean, noise = 2.0 * np.sin(X[:, 0]) + X[:, 1], rng.standard_normal(n)
    if kind == "even":
        return X, mean + noise
    return X, mean + noise * np.exp(0.5 * mean) if kind == "growing" else np.exp(0.5 * mean + 0.5 * noise)


@pytest.mark.parametrize(
    ("kind", "n", "n_draws"),
    [
        ("growing", 600, 4),
        *(pytest.param(kind, 100, 40, marks=pytest.mark.slow) for kind in ("even", "growing", "skewed")),
        *(pytest.param(kind, 600, 4, marks=pytest.mark.slow) for kind in ("even", "skewed")),
    ],
)
def test_intervals_hold_the_share_that_was_asked_for(kind, n, n_draws):
    """Over draws of the training rows, and as many rows above as below."""
    below, above = [], []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        model = LandmarkRegressor("fast", n_jobs=1).fit(*rows_of(kind, n, rng))
        X, y = rows_of(kind, 1000, rng)
        low, high = model.predict_interval(X, confidence=0.8).T
        below.append(np.mean(y < low))
        above.append(np.mean(y > high))
    assert 1.0 - np.mean(below) - np.mean(above) == pytest.approx(0.8, abs=0.04)
    assert np.mean(below) == pytest.approx(np.mean(above), abs=0.05)


def test_intervals_are_wider_where_there_is_more_noise():
    """The deviation of the noise is exp(f / 2): between f = -1 and f = 1 it grows by a factor of e."""
    X, y = rows_of("growing", 3000, np.random.default_rng(0))
    model = LandmarkRegressor("fast").fit(X, y)
    predicted, (low, high) = model.predict(X), model.predict_interval(X).T
    width = [np.median((high - low)[np.abs(predicted - place) < 0.3]) for place in (-1.0, 1.0)]
    assert width[1] / width[0] == pytest.approx(np.e, rel=0.3)
    assert np.all((low < predicted) & (predicted < high))


def test_equal_weights_give_the_quantiles_of_conformal_prediction():
    """With one deviation for all rows, the ends are order statistics of scaled residuals, at (k + 1) q."""
    rng = np.random.default_rng(0)
    target = rng.standard_normal(19).astype(np.float32)
    rows = HeldOutRows(np.zeros(19, np.float32), target, np.ones(19, np.float32), np.arange(19))
    low, high = interval_ends(rows, np.array([5.0]), 0.9)[0]
    root = np.sqrt(np.mean(target.astype(float) ** 2))
    others = [np.arange(19) % 5 != part for part in range(5)]
    scores = [target[i] / np.sqrt(np.mean(target[others[i % 5]].astype(float) ** 2)) for i in range(19)]
    assert (low, high) == pytest.approx((5.0 + root * min(scores), 5.0 + root * max(scores)))
    heavier = replace(rows, weight=np.full(19, 3.0, np.float32))
    assert_allclose(interval_ends(heavier, np.array([5.0]), 0.9)[0], (low, high))


@pytest.mark.slow
def test_intervals_for_new_groups():
    """Rows of a group share half of the noise: a few groups tell little, and that is said."""
    inside = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(300), 8)
        X, of_groups = rng.normal(size=(2400, 3)), rng.normal(size=300)
        y = X[:, 0] + of_groups[groups] + 0.5 * rng.normal(size=2400)
        known = groups < 120
        model = LandmarkRegressor("fast", n_jobs=1).fit(X[known], y[known], groups=groups[known])
        low, high = model.predict_interval(X[~known], confidence=0.8).T
        inside.append(np.mean((low <= y[~known]) & (y[~known] <= high)))
    assert 0.77 <= np.mean(inside) <= 0.88
    few = groups < 40
    with pytest.raises(ValueError, match="needs more held-out groups than the 10 of this fit"):
        LandmarkRegressor().fit(X[few], y[few], groups=groups[few]).predict_interval(X, confidence=0.9)
    renamed = LandmarkRegressor("fast", n_jobs=1).fit(X[known], y[known], groups=1000 - groups[known])
    assert_array_equal(renamed.predict_interval(X[:9], confidence=0.8), model.predict_interval(X[:9], confidence=0.8))


def test_too_few_held_out_rows_for_an_interval():
    X = np.arange(30.0)[:, np.newaxis]
    model = LandmarkRegressor().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"confidence=0.95 needs more held-out rows than the 12 .* at most 0.846"):
        model.predict_interval(X)
    assert model.predict_interval(X, confidence=0.84).shape == (30, 2)
    uneven = np.where(np.arange(30) == 3, 1e6, 1.0)
    with pytest.raises(ValueError, match="at most"):
        LandmarkRegressor().fit(X, X[:, 0], uneven).predict_interval(X, confidence=0.9999)
    with pytest.raises(ValueError, match="confidence"):
        model.predict_interval(X, confidence=1.0)
