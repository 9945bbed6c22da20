"""Rows may come in any order; columns are used as they are given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression

from bayesfloor import floor_gap, learned_floor, read_table, regression_floor


def numbers(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    X[:, 3:5] = rng.integers(0, 2, (n, 2))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)


def frame_of(X, rng):
    """The same columns with gaps, and categories of many and of few values."""
    many, few = ([f"v{level}" for level in rng.integers(0, n_levels, len(X))] for n_levels in (40, 4))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(many=many, few=few)
    frame.loc[::9, "b"] = np.nan
    return frame


def beside(kind, n, rng):
    """Options with a value for each row; equal ones, so that ties have to be broken."""
    groups = rng.permutation(np.arange(n) % (n // 6))
    return {
        "groups": {"groups": groups},
        "a sample of groups": {"groups": groups, "max_rows": 100},
        "time": {"time": np.arange(n) // 3},
        "by, weights": {"by": groups % 3, "sample_weight": 1.0 + groups % 2},
    }.get(kind, {})


@pytest.mark.parametrize(
    ("kind", "task"),
    [("array", "classes"), ("array", "numbers"), ("frame", "classes"), ("frame", "numbers"), ("groups", "numbers"),
     ("a sample of groups", "classes"), ("time", "classes"), ("by, weights", "classes")],
)  # fmt: skip
def test_neither_the_order_of_rows_nor_threads_nor_names_of_groups_matter(kind, task):
    X, y = numbers(60 if kind in ("array", "frame") else 150)
    rng = np.random.default_rng(1)
    options, points = beside(kind, len(X), rng), frame_of(X, rng) if kind == "frame" else np.round(X, 1)
    # learners that draw columns, add over them, or break ties among them
    learners = ["gaussian", "boosting", "pairs"] if kind in ("array", "frame") else ["neighbours", "gaussian"]
    if task == "numbers":
        learners = ["linear", "boosting"] if kind in ("array", "frame") else ["linear", "neighbours"]

    def floor(rows, n_jobs):
        given = {name: value[rows] if np.ndim(value) else value for name, value in options.items()}
        if "groups" in given and n_jobs == 2:
            given["groups"] = np.array([f"patient {(7 * group) % 31}" for group in given["groups"]])
        asked = {"learners": learners, "n_jobs": n_jobs, "checks": False, **given}
        of_rows = points.iloc[rows].reset_index(drop=True) if kind == "frame" else points[rows]
        if task == "numbers":
            return regression_floor(of_rows, y[rows], **asked)
        return learned_floor(of_rows, y[rows] > 0, metric=["error", "log_loss"], **asked)

    order = rng.permutation(len(X))
    one, other = floor(np.arange(len(X)), 1), floor(order, 2)
    assert one.residual_z == pytest.approx(other.residual_z, rel=1e-9)
    assert one.findings == other.findings
    for name, of_one in one.metrics.items():
        of_other = other.metrics[name]
        for figure in ("estimate", "interval", "reached", "reached_interval"):
            assert_allclose(getattr(of_one, figure), getattr(of_other, figure), rtol=1e-9, err_msg=f"{name} {figure}")
        assert_allclose(of_one.curve.value, of_other.curve.value, rtol=1e-9)
    assert_array_equal(one.suspicious.row, order[other.suspicious.row])
    if kind == "by, weights":
        for name in ("estimate", "interval", "reached", "share_of_errors", "reached_p_value", "floor_p_value"):
            assert_allclose(getattr(one.subgroups, name), getattr(other.subgroups, name), rtol=1e-9)


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
