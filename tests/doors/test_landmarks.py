"""LandmarkClassifier: what is its own, beside the contract of the room."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor import LandmarkClassifier, LandmarkRegressor
from helpers.estimator_contract import (
    assert_same_outputs,
    blobs,
)


def test_neither_order_of_rows_nor_threads_matter():
    X, y = load_digits(return_X_y=True)
    X, y = X[:700], y[:700]
    order = np.random.default_rng(0).permutation(len(X))
    straight = LandmarkClassifier(n_jobs=1).fit(X, y)
    shuffled = LandmarkClassifier(n_jobs=3).fit(X[order], y[order])
    np.testing.assert_array_equal(straight.coef_, shuffled.coef_)
    assert_same_outputs(straight, shuffled, X, rtol=0, atol=0)


def test_accuracy_is_near_that_of_kernel_methods():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X, y).score(X_test, y_test)
    kernel = make_pipeline(StandardScaler(), SVC(C=10)).fit(X, y).score(X_test, y_test)
    default = LandmarkClassifier().fit(X, y)
    assert default.score(X_test, y_test) >= linear
    assert default.score(X_test, y_test) > kernel - 0.02
    assert log_loss(y_test, default.predict_proba(X_test)) < 0.15


def test_held_out_figures_are_near_those_of_new_rows():
    X, y = blobs(3000, 4)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    fits = [LandmarkClassifier(random_state=seed).fit(X, y) for seed in range(3)]
    error = np.mean([1 - fitted.score(X_test, y_test) for fitted in fits])
    loss = np.mean([log_loss(y_test, fitted.predict_proba(X_test)) for fitted in fits])
    assert np.mean([fitted.held_out_error_ for fitted in fits]) == pytest.approx(error, abs=0.05)
    assert np.mean([fitted.held_out_log_loss_ for fitted in fits]) == pytest.approx(loss, abs=0.12)


def test_weights_move_the_decision():
    X, y = blobs(600, 2, 2, seed=3)
    plain = LandmarkClassifier().fit(X, y).predict(X)
    heavy = LandmarkClassifier().fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0)).predict(X)
    by_class = LandmarkClassifier(class_weight={0: 1, 1: 20}).fit(X, y).predict(X)
    assert (heavy == 1).sum() > (plain == 1).sum()
    np.testing.assert_array_equal(heavy, by_class)


def test_rare_class_that_is_held_out_does_not_raise_the_penalty():
    """Its one row lies far away; the loss of a class that the first fit has not seen would outweigh all others."""
    X, y = blobs()
    y[7], X[7] = 9, 40.0
    assert LandmarkClassifier().fit(X, y).predict_proba(X[7:8])[0, -1] > 0.5


def test_as_many_classes_as_rows():
    X, y = np.random.default_rng(0).standard_normal((150, 4)), np.arange(150)
    model = LandmarkClassifier().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.2  # scores of scikit-learn 1.7 warn of so many classes
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_wide_rows_dense_and_sparse(density):
    """The same model to the last bit: the share of zeros decides how rows are held, not the container."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = sparse.random_array((200, 700), density=density, rng=rng).toarray()
    X[np.arange(200), 5 + y] += 3.0
    dense = LandmarkClassifier("fast").fit(X, y)
    assert dense.feature_map_.n_axes == 200
    assert np.mean(dense.predict(X) == y) > 0.9
    twice = sparse.coo_array(
        (np.tile(X.ravel() / 2, 2), (np.tile(np.arange(200).repeat(700), 2), np.tile(np.arange(700), 400)))
    )
    for container in (sparse.csr_array(X), sparse.csc_matrix(X), twice):
        fitted = LandmarkClassifier("fast").fit(container, y)
        np.testing.assert_array_equal(fitted.coef_, dense.coef_)
        np.testing.assert_allclose(fitted.predict_proba(container), dense.predict_proba(X), atol=1e-5)


def test_scale_of_weights_does_not_matter():
    X, y = blobs(240, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 240)
    for class_weight in (None, "balanced"):
        model = LandmarkClassifier("fast", class_weight=class_weight)
        expected = model.fit(X, y, sample_weight=weight).coef_
        for scale in (2.0**-900, 2.0**20, 2.0**900):
            np.testing.assert_array_equal(model.fit(X, y, sample_weight=scale * weight).coef_, expected)


HOSTILE = {
    "constant": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
    "duplicates": lambda X: np.repeat(X[:3], len(X) // 3, axis=0),
    "huge": lambda X: 1e150 * X,
    "tiny": lambda X: 1e-170 * X,
    "denormal": lambda X: 1e-310 * X,
    "mixed scales": lambda X: X * np.r_[1e-150, 1e150, np.ones(X.shape[1] - 2)],
    "one far value": lambda X: np.vstack([X[:-1], np.full(X.shape[1], 1e24)]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_columns(kind):
    X, y = blobs(120)
    X = HOSTILE[kind](X)
    y[0] = 9  # a class of one row
    fitted = LandmarkClassifier().fit(X, y)
    far = np.full((1, X.shape[1]), 1.7e308)
    assert np.isfinite(fitted.predict_proba(np.vstack([X, far, -far]))).all()


def test_hostile_weights():
    X, y = blobs(120)
    for weight in (5e-324, 1.7e308, np.r_[1e300, np.full(119, 1e-300)]):
        fitted = LandmarkClassifier().fit(X, y, sample_weight=np.broadcast_to(weight, 120).copy())
        assert np.isfinite(fitted.predict_proba(X)).all()
    with pytest.raises(ValueError, match="sample_weight times class_weight is too large"):
        LandmarkClassifier(class_weight={0: 1e300}).fit(X, y, sample_weight=np.full(120, 1e300))


def test_columns_without_spread_and_equal_rows():
    X = np.zeros((40, 3))
    y = np.arange(40) % 2
    fitted = LandmarkClassifier().fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), 0.5, atol=0.01)
    fitted = LandmarkClassifier().fit(np.repeat(np.eye(3), 20, axis=0), np.repeat([0, 1, 2], 20))
    np.testing.assert_array_equal(fitted.predict(np.eye(3)), [0, 1, 2])


def test_bad_parameters_are_named():
    for parameters in (
        {"effort": "most"},
        {"n_landmarks": 0},
        {"n_rules": -1},
        {"n_jobs": 0},
        {"class_weight": "even"},
        {"progress": "yes"},
    ):
        with pytest.raises((ValueError, TypeError), match=next(iter(parameters))):
            LandmarkClassifier(**parameters).fit(*blobs())


def test_progress_is_told():
    told = []
    LandmarkClassifier(progress=lambda done, total: told.append((done, total))).fit(*blobs())
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize(("kind", "is_named"), [(LandmarkClassifier, True), (LandmarkRegressor, False)])
def test_text_dates_and_gaps_of_a_frame(kind, is_named):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["word"], frame["day"] = rng.choice(["x", "y", "z"], 200), pd.date_range("2020", "2021", periods=200)
    frame.loc[::7, "a"] = np.nan
    y = (frame["word"] == "x").to_numpy().astype(float)
    given = (frame.assign(target=y), "target") if is_named else (frame, y)
    model = kind("fast", n_jobs=1).fit(*given)
    assert model.score(frame, y) > 0.9
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.predict(frame.iloc[5:9, ::-1]), model.predict(frame)[5:9])
    with pytest.raises(ValueError, match="lacks the columns 'word'"):
        model.predict(frame.drop(columns="word"))
    with pytest.raises(ValueError, match="must be a data frame, as in fit"):
        model.predict(np.ones((3, 4)))
