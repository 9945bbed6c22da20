"""Checked points and a target of numbers, and what else is known of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np

from bayesfloor.data.labels import check_weights
from bayesfloor.data.numbers import check_numbers
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table, TabularView, points_and_labels
from bayesfloor.data.row_groups import check_groups, check_time
from bayesfloor.data.sampling import Keys, keys_of_values
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.floor.trees.remote_points import names_of
from bayesfloor.forest.gpu.device import host_array
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.frames import as_narwhals, column_named, with_text_names
from bayesfloor.tables.arguments import table_of
from bayesfloor.tables.frames import is_eager_frame

#: Largest ratio of two weights above 0: sums lose what is smaller by more.
MOST_RATIO = 1e12


@dataclass(frozen=True, eq=False)
class NumberProblem:
    """Points and a target of numbers that passed all checks, and what else is known of the rows.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The points.
    y : ndarray of shape (n,)
        The target.
    feature_names : sequence or None
        Names of the columns of X.
    groups : ndarray of shape (n,) or None
        Rows that belong together have the same number.
    time : ndarray of shape (n,) or None
        When each row was seen.
    tabular : TabularView or None
        The same rows as codes with gaps.
    sample_weight : ndarray of shape (n,) or None
        What each row counts; None where all count the same.
    given_columns : ndarray of shape (d,) or None
        Where each column, as it was given, is now; None where all are where they were.
    supervised : SupervisedFeatures or None
        What makes the features of models in place of X, where that takes labels.
    """

    X: Floats
    y: Floats
    feature_names: Sequence[Any] | None
    groups: Ints | None = None
    time: Floats | None = None
    tabular: TabularView | None = None
    sample_weight: Floats | None = None
    given_columns: Ints | None = None
    supervised: SupervisedFeatures | None = None

    def take(self, rows: Ints) -> "NumberProblem":
        """Keep some of the rows."""
        return replace(
            self,
            X=np.ascontiguousarray(self.X[rows]),
            y=self.y[rows],
            groups=None if self.groups is None else self.groups[rows],
            time=None if self.time is None else self.time[rows],
            tabular=None if self.tabular is None else self.tabular.take(rows),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            supervised=None if self.supervised is None else self.supervised.take(rows),
        )

    def keys(self, seed: int) -> Keys:
        """Return a random number for each row, from all that is known of it and the seed; where it stands is not."""
        known = [self.X, self.y[:, np.newaxis]]
        known += [each[:, np.newaxis] for each in (self.time, self.sample_weight) if each is not None]
        values = np.ascontiguousarray(np.column_stack(known))
        return keys_of_values(values, np.zeros(len(values), np.int64), seed, self.groups)

    @property
    def without_target(self) -> Problem:
        """The same rows for functions that look at points alone: all are of one class."""
        codes = np.zeros(len(self.X), np.int64)
        return Problem(self.X, np.zeros(1), codes, self.feature_names, self.groups, self.time, self.tabular)


def check_number_problem(
    X: Any, y: Any, groups: Any = None, time: Any = None, prepare: Any = "auto", sample_weight: Any = None
) -> NumberProblem:
    """Check points and a target of numbers, or a table that holds both.

    A table's own groups and time are taken if none are given. With a data frame, columns of it may be named.
    """
    weights = column_named(X, sample_weight)
    if weights is not None:
        # what is left has other names where columns share one: y, groups and time are looked up before
        y, groups, time = (value if (name := column_named(X, value)) is None else name for value in (y, groups, time))
        X, sample_weight = _column_of(X, "sample_weight", weights)
    table = None if y is None else table_of(X, y, task="regression", groups=groups, time=time, prepare=prepare)
    if table is not None:
        if sample_weight is not None:  # of all rows, and some may have been left out
            sample_weight = check_weights(sample_weight, table.n_samples)[table.lines]
        X, y, groups, time = table, None, None, None
    names, tabular, supervised = names_of(X), None, None
    if isinstance(X, Table):
        names, tabular, supervised = X.feature_names, X.tabular, X.supervised
        groups, time = X.groups if groups is None else groups, X.time if time is None else time
    X, y = points_and_labels(X, y, task="regression")
    points = check_points(host_array(X))
    n = len(points)
    numbers = check_numbers(y, n) + 0.0  # -0 becomes 0: rows are told apart by their bits
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, n)
        least, largest = float(weight[weight > 0].min()), float(weight.max())
        if largest / MOST_RATIO > least:
            raise ValueError(
                f"sample_weight ranges from {least:g} to {largest:g}: rows of less than {1 / MOST_RATIO:g} of the "
                "largest weight count for nothing. Set their weight to 0"
            )
        weight = np.ldexp(weight, -np.frexp(largest)[1])  # sums stay finite; a power of two rounds nothing
        # the exact sum does not depend on the order of the rows
        weight = None if weight.min() == weight.max() else weight / (fsum(weight) / n)
    checked = check_groups(groups, n), check_time(time, n), tabular, weight
    return NumberProblem(points, numbers, names, *checked, supervised=supervised)


def _column_of(X: Any, parameter: str, name: str) -> tuple[Any, Any]:
    """Take a named column out of a data frame."""
    if not is_eager_frame(X):
        raise ValueError(f"{parameter}={name!r} names a column, but X is no data frame")
    frame = as_narwhals(with_text_names(X))
    if name not in frame.columns:
        raise ValueError(f"{parameter}={name!r}: there is no such column")
    return frame.drop(name).to_native(), frame[name].to_native()
