"""A transformer that learns from labels is fitted on those of the training set alone."""

import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFpr, SelectKBest, f_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

from bayesfloor import difficulty_report, floor_gap, learned_floor, read_table, regression_floor
from bayesfloor.floor.learned.splits import splits_of
from bayesfloor.tables.arguments import check_problem
from helpers.one_case import for_each


def noise(n=80, d=100, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.standard_normal((n, d)), columns=[f"x{j}" for j in range(d)]), np.arange(n) % 2


def test_the_best_of_many_columns_of_noise_predict_nothing():
    X, y = noise()
    own = make_pipeline(SelectKBest(k=5), StandardScaler())
    floor = learned_floor(X, y, metric=["error", "roc_auc"], prepare=own, learners=["gaussian"])
    assert floor.interval[1] >= 0.5
    assert floor.metrics["roc_auc"].reached < 0.65  # .85 where it has seen the labels of all rows
    numbers = np.random.default_rng(1).standard_normal(len(X))
    floor = regression_floor(X, numbers, prepare=SelectKBest(f_regression, k=5), learners=["linear"])
    assert floor.reached < 0.1  # .35


class Spy(TransformerMixin, BaseEstimator):
    """Writes down the rows that it is fitted on, by their first column."""

    seen: ClassVar = []

    def __init__(self, uses_y=True):
        self.uses_y = uses_y

    def fit(self, X, y=None):
        self.seen.append(frozenset(np.asarray(X)[:, 0]))
        self.shift_ = float(np.mean(y)) if self.uses_y and y is not None else 0.0
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:] + self.shift_


@for_each("task", ["classes", "numbers"])
def test_it_is_fitted_in_each_training_set(task):
    X, y = noise(60, 3)
    Spy.seen.clear()
    if task == "classes":
        learned_floor(X, y, prepare=Spy(), learners=["gaussian"], n_jobs=1)
    else:
        regression_floor(X, np.random.default_rng(0).standard_normal(60), prepare=Spy(), learners=["linear"], n_jobs=1)
    at_the_door, in_training = Spy.seen[:2], Spy.seen[2:]
    assert [len(rows) for rows in at_the_door] == [60, 60]  # with labels and without: does it need them?
    n_splits = len(splits_of(np.arange(60) % 5))
    assert len(in_training) == n_splits
    assert sorted(map(len, in_training)) == sorted(len(split.train) for split in splits_of(np.arange(60) % 5))
    of_folds = [frozenset(X["x0"]) - rows for rows in in_training if len(rows) == 48]
    assert sum(map(len, of_folds)) == len(frozenset.union(*of_folds)) == 60  # each row is left out of one of them


def test_one_that_does_not_use_labels_is_fitted_once():
    X, y = noise(60, 3)
    Spy.seen.clear()
    table = read_table(X.assign(y=y), target="y", prepare=Spy(uses_y=False))
    assert table.supervised is None
    assert_array_equal(table.X, X.to_numpy()[:, 1:])
    assert len(Spy.seen) == 2
    assert read_table(X.assign(y=y), target="y", prepare=PCA(2)).supervised is None


def test_all_else_sees_the_columns_as_they_are_made_ready_without_it():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": [f"a{v}" for v in rng.integers(0, 50, 120)], "x": rng.standard_normal(120)})
    own = TargetEncoder()
    table = read_table(frame.assign(y=np.arange(120) % 2), target="y", prepare=own)
    assert_array_equal(table.X, read_table(frame.assign(y=np.arange(120) % 2), target="y").X)
    assert any("TargetEncoder learns from the labels" in note for note in table.notes)
    problem = pickle.loads(pickle.dumps(check_problem(table, None)))  # as workers of a cluster get it
    train, others = np.arange(60), np.arange(60, 120)
    found = [made.supervised.features(train, others)[1] for made in (problem, table)]
    assert_array_equal(*found)
    assert check_problem(frame, rng.standard_normal(120), task="regression", prepare=own).supervised is not None


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_a_training_set_without_any_feature():
    X, y = noise(60, 6)
    floor = learned_floor(X, y, prepare=SelectFpr(alpha=1e-6), learners=["gaussian", "trees", "boosting"])
    assert floor.reached == pytest.approx(0.5, abs=0.2)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_report_and_gap():
    X, y = noise(80, 60)
    report = difficulty_report(X.assign(y=y), "y", prepare=SelectKBest(k=3))
    assert report.learned.interval[1] >= 0.5
    assert report.learned.reached > 0.35
    gap = floor_gap(None, X, y, predictions=y, prepare=SelectKBest(k=3), learners=["gaussian"])
    assert gap.reached > 0.35


def test_an_array_takes_no_transformer():
    X, y = noise(60, 6)
    with pytest.raises(ValueError, match=r"prepare=SelectKBest\(\) makes features of a data frame"):
        learned_floor(X.to_numpy(), y, prepare=SelectKBest())
