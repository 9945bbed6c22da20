"""Rows may come in any order; columns are used as they are given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression

from bayesfloor import floor_gap, learned_floor, read_table, regression_floor
from bayesfloor.data import problem
from bayesfloor.data.problem import Problem

#: Learners that draw columns, add over them, or break ties among them.
FOR_CLASSES, FOR_NUMBERS = ["gaussian", "boosting", "pairs"], ["linear", "boosting"]


def numbers(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    X[:, 3:5] = rng.integers(0, 2, (n, 2))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)


def of_task(task, X, y):
    if task == "classes":
        return learned_floor(X, y > 0, metric=["error", "log_loss"], learners=FOR_CLASSES, n_jobs=1)
    return regression_floor(X, y, learners=FOR_NUMBERS, n_jobs=1)


def assert_same(one, other):
    assert one.residual_z == other.residual_z
    for name, floor in one.metrics.items():
        assert (floor.estimate, floor.interval) == (other.metrics[name].estimate, other.metrics[name].interval)
        assert floor.reached == other.metrics[name].reached
        assert_array_equal(floor.curve.value, other.metrics[name].curve.value)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_order_of_rows_of_an_array(task):
    X, y = numbers()
    rows = np.random.default_rng(1).permutation(len(X))
    assert_same(of_task(task, X, y), of_task(task, X[rows], y[rows]))


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_order_of_rows_of_a_frame(task):
    X, y = numbers()
    rng = np.random.default_rng(2)
    many, few = ([f"v{level}" for level in rng.integers(0, n_levels, len(X))] for n_levels in (40, 4))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(many=many, few=few)
    frame.loc[::9, "b"] = np.nan
    rows = rng.permutation(len(X))
    assert_same(of_task(task, frame, y), of_task(task, frame.iloc[rows].reset_index(drop=True), y[rows]))


def test_rows_are_hashed_in_blocks(monkeypatch):
    X, y = numbers(48)
    given = Problem(X, np.arange(2), (y > 0).astype(int), list("abcdef"), groups=np.arange(48) // 2)
    keys = given.keys(3)
    monkeypatch.setattr(problem, "HASHED_ROWS", 7)
    assert_array_equal(given.keys(3), keys)


class FirstColumn(BaseEstimator, ClassifierMixin):
    """Knows a column by its number."""

    def fit(self, X, y):
        self.own_ = LogisticRegression().fit(X[:, :1], y)
        self.classes_ = self.own_.classes_
        return self

    def predict(self, X):
        return self.own_.predict(X[:, :1])

    def predict_proba(self, X):
        return self.own_.predict_proba(X[:, :1])


class FirstColumnOfNumbers(BaseEstimator, RegressorMixin):
    """The same for numbers."""

    def fit(self, X, y):
        self.own_ = LinearRegression().fit(X[:, :1], y)
        return self

    def predict(self, X):
        return self.own_.predict(X[:, :1])


def test_models_of_the_caller_get_columns_as_they_were_given(tmp_path):
    X = np.random.default_rng(5).standard_normal((80, 12))
    X[:, 0] *= 3.0
    y = X[:, 0] > 0
    assert learned_floor(X, y, learners=[FirstColumn()], checks=False).reached < 0.1
    assert regression_floor(X, X[:, 0], learners=[FirstColumnOfNumbers()], checks=False).reached > 0.9
    file = tmp_path / "table.csv"
    pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]).assign(y=np.where(y, "yes", "no")).to_csv(file, index=False)
    asked = {"learners": ["gaussian"], "checks": False}
    assert floor_gap(FirstColumn(), read_table(file, target="y"), **asked).value < 0.1
