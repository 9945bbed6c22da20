"""What is stacked with a landmark model: where it helps, where it is dropped, and that figures are of all of it."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

from bayesfloor import LandmarkClassifier, LandmarkRegressor
from bayesfloor.learn.landmarks import members
from benchmarks.problems.landmark_sets import make_blobs
from helpers.estimator_contract import assert_same_outputs


def steps_of_columns(n_rows, seed=0):
    """Squares of a board in two of ten columns, 10% of the labels wrong: no smooth function of them all."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n_rows, 10))
    y = (np.floor(X[:, 0]) + np.floor(X[:, 1])).astype(np.int64) % 2
    return X, np.where(rng.random(n_rows) < 0.1, 1 - y, y)


def parity(n_rows, seed=0):
    """Of four of twelve columns of two values, 5% of the labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 12)).astype(float)
    y = X[:, :4].sum(axis=1).astype(np.int64) % 2
    return X, np.where(rng.random(n_rows) < 0.05, 1 - y, y)


@pytest.mark.parametrize(("make", "member"), [(steps_of_columns, "boosting"), (parity, "network")])
def test_members_know_what_landmarks_smooth_over(make, member):
    X, y = make(3000)
    X_test, y_test = make(3000, seed=1)
    alone, stacked = LandmarkClassifier("fast").fit(X, y), LandmarkClassifier().fit(X, y)
    assert alone.members_ is None
    assert member in stacked.members_.weights
    assert stacked.score(X_test, y_test) > alone.score(X_test, y_test) + 0.02


def test_members_that_do_not_help_are_dropped():
    """Two normal distributions that differ in their means: a line is best, and landmarks have it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    X = rng.standard_normal((4000, 20)) + np.where(y == 1, 0.25, -0.25)[:, np.newaxis]
    fitted = LandmarkClassifier().fit(X, y)
    weights = {"landmarks": 1.0} if fitted.members_ is None else fitted.members_.weights
    assert weights["landmarks"] > 3 * weights.get("boosting", 0.0)


def test_held_out_figures_are_of_the_model_itself():
    """Of 9000 rows and 20 classes, a sample of 1000 teaches much less; figures were once those of its fit."""
    X, y, _ = make_blobs(14_000, 10, 20, 5.5)
    fitted = LandmarkClassifier("fast", n_jobs=1).fit(X[:9000], y[:9000])
    error = 1 - fitted.score(X[9000:], y[9000:])
    spread = (error * (1 - error) * (1 / 1000 + 1 / 5000)) ** 0.5
    assert abs(fitted.held_out_error_ - error) < 3 * spread
    of_sample = LandmarkClassifier("fast", n_jobs=1).fit(X[:1000], y[:1000])
    assert 1 - of_sample.score(X[9000:], y[9000:]) > error + 3 * spread


@pytest.mark.parametrize("effort", ["fast", "default"])
def test_few_rows_are_not_overfitted(effort):
    """Two normal distributions that differ in their means; the loss was once twice that of a logistic regression."""
    rng = np.random.default_rng(1)
    y = np.arange(2300) % 2
    X = rng.standard_normal((2300, 10)) + 0.7 * (2 * y[:, np.newaxis] - 1) * (np.arange(10) < 5)
    losses = [
        log_loss(y[300:], model.fit(X[:300], y[:300]).predict_proba(X[300:]))
        for model in (LandmarkClassifier(effort, n_jobs=1), LogisticRegression())
    ]
    assert losses[0] < losses[1] + 0.02


@pytest.mark.slow
def test_nearest_rows_of_many_classes():
    X, y, _ = make_blobs(8000, 6, 160, 12.0)
    alone, stacked = (
        LandmarkClassifier(effort, n_landmarks=64, n_jobs=1).fit(X[:6000], y[:6000]) for effort in ("fast", "default")
    )
    assert stacked.members_.weights["local ridge 0.25, scaled"] > 0
    assert stacked.members_.n_rows_kept == 6000
    assert stacked.score(X[6000:], y[6000:]) > alone.score(X[6000:], y[6000:]) + 0.03


def test_weights_of_rows_count_in_members():
    """Rows of hardly any weight, whose labels are the opposite, are nearly as good as absent."""
    X, y = steps_of_columns(1500)
    X_more, y_more = steps_of_columns(1500, seed=2)
    rows, labels = np.vstack([X, X_more]), np.r_[y, 1 - y_more]
    X_test, y_test = steps_of_columns(2000, seed=1)
    weighted = LandmarkClassifier(n_jobs=1).fit(rows, labels, sample_weight=np.repeat([1.0, 1e-9], 1500))
    alike = LandmarkClassifier(n_jobs=1).fit(rows, labels)
    clean = LandmarkClassifier(n_jobs=1).fit(X, y)
    assert weighted.members_ is not None
    assert alike.score(X_test, y_test) < 0.6
    assert weighted.score(X_test, y_test) > clean.score(X_test, y_test) - 0.05


def test_order_of_rows_with_members():
    X, y = parity(1500)
    rows = np.random.default_rng(3).permutation(len(X))
    straight = LandmarkClassifier(n_jobs=1).fit(X, y)
    assert straight.members_ is not None
    assert_same_outputs(straight, LandmarkClassifier(n_jobs=2).fit(X[rows], y[rows]), X, rtol=0, atol=0)


# --- numbers


def steps_of_numbers(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n_rows, 6))
    return X, np.floor(X[:, 0]) * np.floor(X[:, 1]) + rng.normal(scale=0.5, size=n_rows)


def test_boosting_beside_ridge_regression():
    X, y = steps_of_numbers(2000)
    X_test, y_test = steps_of_numbers(2000, seed=1)
    alone, stacked = LandmarkRegressor("fast").fit(X, y), LandmarkRegressor().fit(X, y)
    assert alone.members_ is None
    assert stacked.members_.weights["boosting"] > 0.1
    assert stacked.score(X_test, y_test) > alone.score(X_test, y_test) + 0.02
    mse = np.mean((y_test - stacked.predict(X_test)) ** 2)
    assert stacked.held_out_mse_ == pytest.approx(mse, rel=0.25)
    low, high = stacked.predict_interval(X_test, confidence=0.9).T
    assert np.mean((low <= y_test) & (y_test <= high)) == pytest.approx(0.9, abs=0.04)
    order = np.random.default_rng(2).permutation(2000)
    again = LandmarkRegressor(n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict(X_test), stacked.predict(X_test))


def test_numbers_on_a_line_need_no_boosting():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 8))
    y = X @ np.arange(8.0) + rng.standard_normal(1500)
    assert LandmarkRegressor().fit(X, y).members_ is None


def test_weights_of_predicted_numbers_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 4000)).astype(np.float32)
    weight = rng.uniform(0.1, 2.0, 4000).astype(np.float32)
    target = (0.3 * first + 0.6 * second + rng.normal(scale=0.2, size=4000)).astype(np.float32)
    found = members.fit_number_weights({"landmarks": first, "boosting": second}, target, weight)
    expected = LinearRegression(fit_intercept=False).fit(np.c_[first, second], target, weight).coef_
    assert list(found.values()) == pytest.approx(expected, abs=1e-3)
    against = members.fit_number_weights({"landmarks": first, "boosting": second}, first - second, weight)
    assert against == {"landmarks": 1.0}
