"""Columns, and rows, may come in any order."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression

from bayesfloor import floor_gap, learned_floor, read_table, regression_floor
from bayesfloor.data import column_order, prepared_table, problem
from bayesfloor.data.column_order import in_column_order, with_column_order
from bayesfloor.data.problem import Problem
from bayesfloor.tables.arguments import check_problem

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
def test_order_of_columns_and_rows_of_an_array(task):
    X, y = numbers()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(6)
    assert_same(of_task(task, X, y), of_task(task, X[rows][:, columns], y[rows]))


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_order_of_columns_of_a_frame(task):
    X, y = numbers()
    rng = np.random.default_rng(2)
    many, few = ([f"v{level}" for level in rng.integers(0, n_levels, len(X))] for n_levels in (40, 4))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(many=many, few=few)
    frame.loc[::9, "b"] = np.nan
    assert_same(of_task(task, frame, y), of_task(task, frame[rng.permutation(frame.columns)], y))


def equal_dummies(n):
    """Return columns of 0 and 1 that nothing but their labels tells apart."""
    column = np.arange(n) % 4
    return np.eye(4)[column], (np.arange(n) // 4 < 3 * column).astype(int)


@pytest.mark.parametrize("draw", [lambda n: numbers(n)[0], lambda n: equal_dummies(n)[0], lambda n: np.ones((n, 3))])
def test_the_order_follows_from_the_values(draw):
    X = draw(48)
    codes = equal_dummies(48)[1]
    rng = np.random.default_rng(3)
    expected = in_column_order(Problem(X, np.arange(2), codes, None))
    assert_array_equal(expected.X[:, expected.given_columns], X)
    for _ in range(5):
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        given = np.ascontiguousarray(X[rows][:, columns])
        found = in_column_order(Problem(given, np.arange(2), codes[rows], None))
        assert_array_equal(found.X, expected.X[rows])
        assert_array_equal(found.X[:, found.given_columns], given)


def test_rows_are_hashed_in_blocks(monkeypatch):
    X, codes = equal_dummies(48)
    problem = Problem(np.column_stack([X, numbers(48)[0]]), np.arange(2), codes, None)
    expected = in_column_order(problem)
    monkeypatch.setattr(column_order, "BLOCK_ROWS", 7)
    assert_array_equal(in_column_order(problem).given_columns, expected.given_columns)


def test_no_rows_are_copied_before_they_are_taken(monkeypatch):
    X, y = numbers(48)
    given = Problem(X, np.arange(2), (y > 0).astype(int), list("abcdef"), groups=np.arange(48) // 2)
    found, expected = with_column_order(given), in_column_order(given)
    assert found.X is X
    rows = np.random.default_rng(5).permutation(48)[:20]
    monkeypatch.setattr(prepared_table, "BLOCK_ROWS", 7)
    monkeypatch.setattr(problem, "HASHED_ROWS", 7)
    some = found.take(rows)
    assert_array_equal(some.X, expected.X[rows])
    assert_array_equal(some.given_columns, expected.given_columns)
    assert some.feature_names == expected.feature_names
    assert some.column_order is None
    assert_array_equal(found.keys(3), expected.keys(3))  # of rows with columns in order


def test_names_of_classes_do_not_decide_the_order():
    X, codes = equal_dummies(48)
    order = in_column_order(Problem(X, np.arange(2), codes, None)).given_columns
    assert_array_equal(in_column_order(Problem(X, np.arange(2), 1 - codes, None)).given_columns, order)


def test_columns_that_change_places_with_classes_do_so_when_classes_are_renamed():
    codes = np.repeat([0, 1], 20)
    first = np.tile(np.arange(20) < 6, 2) ^ np.repeat([False, True], 20)  # in 6 rows of one class, 14 of the other
    X = np.stack([first, ~first], axis=1).astype(float)
    given, renamed = (in_column_order(Problem(X, np.arange(2), each, None)) for each in (codes, 1 - codes))
    assert_array_equal(given.X, renamed.X[:, ::-1])


def test_columns_that_encode_a_category_stay_together():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: [f"{name}{v}" for v in rng.integers(0, 40, 200)] for name in "ab"})
    problem = check_problem(frame.assign(x=rng.standard_normal(200)), rng.permutation(np.arange(200) % 3))
    found = in_column_order(problem)
    assert len(found.tabular.from_labels) == 2
    of_name = {problem.tabular.names[column]: slice(first, last) for column, first, last in problem.tabular.from_labels}
    for column, first, last in found.tabular.from_labels:
        name = found.tabular.names[column]
        assert_array_equal(found.X[:, first:last], problem.X[:, of_name[name]])
        place = problem.tabular.names.index(name)
        assert_array_equal(found.tabular.values[:, column], problem.tabular.values[:, place])
    order = [problem.feature_names.index(name) for name in found.feature_names]
    assert order == np.argsort(found.given_columns).tolist()


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
