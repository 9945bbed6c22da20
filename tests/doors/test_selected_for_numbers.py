"""Selection of features for a target of numbers, by the noise variance."""

import numpy as np
import pytest

from bayesfloor import FloorSelector
from helpers.refusals import options_not_refused


def sample(n=300, d=6, seed=0):
    """Return rows of which columns 2 and 4 matter."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    return Z * np.arange(1, d + 1), np.sin(2 * Z[:, 2]) + Z[:, 2] + Z[:, 4] + 0.3 * rng.standard_normal(n)


def chosen(selector, X, y):
    return selector.fit(X, y).get_support(indices=True).tolist()


def test_finds_the_features_that_matter():
    for options in ({}, {"n_features_to_select": 2}, {"direction": "backward"}):
        assert chosen(FloorSelector(**options), *sample()) == [2, 4]
    rng = np.random.default_rng(4)
    X = np.column_stack([np.full(60, 7.0), rng.standard_normal(60)])
    assert chosen(FloorSelector(), X, X[:, 1]) == [1]


def test_backward_finds_a_product():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 6))
    y = X[:, 1] * X[:, 3] + 0.2 * rng.standard_normal(300)
    assert chosen(FloorSelector(direction="backward"), X, y) == [1, 3]


def test_path_and_noise():
    X, y = sample(200)
    selector = FloorSelector(confidence=0.8).fit(X, y)
    frame = selector.path_.frame()
    assert frame["floor"].iloc[0] == 1.0
    assert frame["selected"].tolist() == [True, True, True, False]
    assert (frame["interval_low"] <= frame["floor"]).all()
    assert (frame["floor"] <= frame["interval_high"]).all()
    assert selector.n_rows_ == selector.path_.n_rows == 200
    assert selector.floor_ == selector.path_.steps[2].level
    assert 0.09 / y.var() < frame["floor"].iloc[2] < frame["floor"].iloc[1]  # quick, and above the noise


def test_the_task_is_told_from_y_or_by_the_caller():
    X, y = sample(80)
    classes = (y > 0).astype(int)
    assert FloorSelector(1).fit(X, y).task_ == "regression"
    selector = FloorSelector(1).fit(X, classes)
    assert selector.task_ == "classification"
    assert selector.classes_.tolist() == [0, 1]
    selector.set_params(task="regression").fit(X, classes)
    assert selector.path_.criterion == "noise"
    assert not hasattr(selector, "classes_")
    with pytest.raises(ValueError, match="regression"):
        FloorSelector(1, task="classification").fit(X, y)


def test_one_feature_equals_differences_in_its_order():
    # In one dimension the first tree is the order of the values, and the figure is Rice's estimator of the residuals.
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(100))
    y = 3 * x + rng.standard_normal(100)
    path = FloorSelector(1, n_trees=1).fit(x[:, None], y).path_
    design = np.column_stack([np.ones(100), x])
    H = design @ np.linalg.pinv(design)
    residual = (np.eye(100) - H) @ y
    D = np.diff(np.eye(100), axis=0)
    left = D @ (np.eye(100) - H)
    rice = np.sum(np.diff(residual) ** 2) / np.sum(left**2)
    assert path.steps[1].level.floor == pytest.approx(rice / y.var())


def test_groups_of_rows():
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(50), 6)
    effect = rng.standard_normal(50)[patient]
    X = np.column_stack([rng.standard_normal(50)[patient] + 1e-3 * rng.standard_normal(300), rng.standard_normal(300)])
    y = 2 * effect + X[:, 1] + 0.1 * rng.standard_normal(300)  # the first column tells patients apart, and no more
    assert chosen(FloorSelector(1), X, y) == [0]
    assert FloorSelector(1).fit(X, y, groups=patient).get_support(indices=True).tolist() == [1]


def test_what_cannot_be_used():
    X, y = sample(40)
    table = [
        ({"n_features_to_select": 7}, "number of features, 6. Got 7"),
        ({"max_rows": 1}, "max_rows"),
        ({"task": "ranking"}, "'task' parameter"),
    ]
    assert options_not_refused(lambda **parameters: FloorSelector(**parameters).fit(X, y), table) == []
    with pytest.raises(ValueError, match="nothing to predict"):
        FloorSelector(task="regression").fit(X, np.ones(40))
