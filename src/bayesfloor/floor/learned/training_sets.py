"""Rows to learn from and rows to predict, standardised alike."""

from typing import Any

import numpy as np

from bayesfloor.data.folds import grouped_folds
from bayesfloor.data.problem import Problem
from bayesfloor.data.target_encoding import N_FOLDS, classes_to_encode
from bayesfloor.learn.later import Later, as_kind, beside, of_rows
from bayesfloor.learn.training_rows import Codes, Train, encoded, relative_spread, standardised
from bayesfloor.runtime.arrays import Floats, Ints

#: Features that are standardised at once where rows are many, to bound memory.
COLUMNS_AT_ONCE = 16


def training_set(problem: Problem, known: Ints, others: Ints | None, *, is_many: bool = False) -> tuple[Train, Floats]:
    """Return rows to learn from and rows to predict.

    Features that hold labels or targets are computed from the former alone.

    Parameters
    ----------
    problem : Problem
        All rows that are used.
    known : ndarray
        Rows to learn from.
    others : ndarray or None
        Rows to predict; None for rows to come, see `bayesfloor.learn.later`.
    is_many : bool, default=False
        Whether to standardise few columns at a time, in float32.

    Returns
    -------
    train : Train
        Numbers have mean 0 and variance 1; see `mean_and_spread`.
    test : ndarray of shape (n_others, d)
    """
    train = _targets_of(problem, known)
    test: Any
    if problem.supervised is not None:
        if others is None:
            raise ValueError("features that a transformer learns with the labels cannot be made of rows to come")
        points, test = problem.supervised.features(known, others)
        return _standardised(train, points, test, is_many=is_many)
    tabular = problem.tabular
    if tabular is not None:
        codes: Any = Later.codes() if others is None else tabular.values[others]
        train = train._replace(table=Codes(tabular.values[known], codes, tabular.is_category))
    if is_many:
        train, test = _in_parts(problem, train, known, others)
        return _with_encoded(problem, train, test)
    points = problem.X[known]
    test = Later.rows() if others is None else problem.X[others]
    for column, first, last in () if tabular is None else tabular.from_labels:
        assert train.table is not None
        points[:, first:last], of_test = encoded(train.table, column, train, _classes(problem))
        test = _with_columns(test, first, last, of_test)
    return _standardised(train, points, test)


def mean_and_spread(problem: Problem, rows: Ints) -> tuple[float, float]:
    """Return the mean and the standard deviation of the numbers of rows; 1 where they do not vary."""
    weight = _weights_of(problem, rows)
    y = problem.y[rows]
    mean = float(weight @ y / len(y))
    return mean, float(weight @ (y - mean) ** 2 / len(y)) ** 0.5 or 1.0


def _weights_of(problem: Problem, rows: Ints) -> Floats:
    weight = np.ones(len(rows)) if problem.sample_weight is None else problem.sample_weight[rows]
    return weight / weight.mean()


def _targets_of(problem: Problem, known: Ints) -> Train:
    """Return training rows of which the targets alone are filled in."""
    weight, fold = None if problem.sample_weight is None else _weights_of(problem, known), None
    if problem.groups is not None:
        keys = np.arange(len(known), dtype=np.uint64)  # rows are in random order
        fold = grouped_folds(problem.codes[known], problem.groups[known], N_FOLDS, keys)
    if problem.task == "classification":
        return Train(problem.X[:0], problem.codes[known], len(problem.classes), weight=weight, fold=fold)
    mean, spread = mean_and_spread(problem, known)
    return Train.of_numbers(problem.X[:0], (problem.y[known] - mean) / spread, weight, fold=fold)


def _classes(problem: Problem) -> Ints | None:
    """Return the classes whose shares stand for a category: the same in all training sets."""
    if problem.task == "regression":
        return None
    return classes_to_encode(problem.codes, len(problem.classes))


def _standardised(train: Train, points: Floats, test: Floats, *, is_many: bool = False) -> tuple[Train, Floats]:
    spread = relative_spread(points)
    points, test = standardised(points, test)
    if is_many:
        points, test = points.astype(np.float32), as_kind(test, "float32")
    return train._replace(X=points, spread=spread), test


@of_rows
def _with_columns(rows: Floats, first: int, last: int, columns: Floats) -> Floats:
    """Put columns in their places, in a copy."""
    rows = rows.copy()
    rows[:, first:last] = columns
    return rows


def _in_parts(problem: Problem, train: Train, known: Ints, others: Ints | None) -> tuple[Train, Floats]:
    """Standardise few columns at a time."""
    X, d = problem.X, problem.X.shape[1]
    points: Any = np.empty((len(known), d), np.float32)
    test: Any = None if others is None else np.empty((len(others), d), np.float32)
    spread, later = np.empty(d), []
    for first in range(0, d, COLUMNS_AT_ONCE):
        chunk = slice(first, first + COLUMNS_AT_ONCE)
        part = X[:, chunk][known]
        if others is None:
            last = min(first + COLUMNS_AT_ONCE, d)
            points[:, chunk], of_rows_to_come = standardised(part, Later.rows()[:, first:last])
            later.append(of_rows_to_come)
        else:
            points[:, chunk], test[:, chunk] = standardised(part, X[:, chunk][others])
        largest = np.abs(part).max(axis=0)
        spread[chunk] = largest * (part / np.where(largest > 0, largest, 1.0)).std(axis=0)
    test = as_kind(beside(*later), "float32") if others is None else test
    return train._replace(X=points, spread=spread / (spread.max() or 1.0)), test


def _with_encoded(problem: Problem, train: Train, test: Floats) -> tuple[Train, Floats]:
    """Put features that hold labels or targets in their places."""
    for column, first, last in () if problem.tabular is None else problem.tabular.from_labels:
        assert train.table is not None
        of_column = encoded(train.table, column, train, _classes(problem))
        train.X[:, first:last], of_test = standardised(*of_column)
        test = _with_columns(test, first, last, of_test)
    return train, test
