"""Rows to learn from and rows to predict, standardised alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import grouped_folds
from bayesfloor.data.problem import Problem
from bayesfloor.data.target_encoding import N_FOLDS, classes_to_encode
from bayesfloor.learn.learner import Rows
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.training_rows import (
    Codes,
    Scaling,
    TargetMeans,
    Train,
    relative_spread,
    standardised_with,
    target_means,
)
from bayesfloor.runtime.arrays import Floats, Ints

#: Features that are standardised at once where rows are many, to bound memory.
COLUMNS_AT_ONCE = 16


@record
class LabelColumns(Record):
    """Features that hold labels or targets: the means in a category.

    Attributes
    ----------
    column : int
        The column of codes.
    first, last : int
        The features that it becomes.
    means : TargetMeans
        What is put there.
    """

    column: int
    first: int
    last: int
    means: TargetMeans


@record
class Standardizer(Record):
    """How rows are made like the training rows.

    Attributes
    ----------
    scaling : Scaling
        Of all features.
    from_labels : tuple of LabelColumns
        Features that hold labels or targets.
    is_single : bool
        Whether rows are many: they become float32, few columns at a time.
    """

    scaling: Scaling
    from_labels: tuple[LabelColumns, ...]
    is_single: bool

    def check(self) -> None:
        """Every column stands for features that are there."""
        n_columns = len(self.scaling.scale)
        require(all(0 <= each.first < each.last <= n_columns and each.column >= 0 for each in self.from_labels))

    def rows(self, X: NDArray[Any], codes: Floats | None = None, at: Any = slice(None)) -> Rows:
        """Return rows to predict, of those that are given all or some."""
        codes = None if codes is None else codes[at]
        n_columns = X.shape[1]
        step = COLUMNS_AT_ONCE if self.is_single else max(n_columns, 1)
        pieces = []
        for start in range(0, n_columns, step):
            chunk = slice(start, start + step)
            pieces.append(self.scaling.alike(X[:, chunk][at], chunk).astype(self._kind))
        points = pieces[0] if len(pieces) == 1 else np.hstack(pieces)
        for each in self.from_labels:
            assert codes is not None
            own = slice(each.first, each.last)
            points[:, own] = self.scaling.alike(each.means.of(codes[:, each.column]), own)
        return Rows(points, codes)

    @property
    def _kind(self) -> Any:
        return np.float32 if self.is_single else np.float64


def training_set(problem: Problem, known: Ints, others: Ints, *, is_many: bool = False) -> tuple[Train, Rows]:
    """Return rows to learn from and rows to predict.

    Features that hold labels or targets are computed from the former alone.

    Parameters
    ----------
    problem : Problem
        All rows that are used.
    known : ndarray
        Rows to learn from.
    others : ndarray
        Rows to predict.
    is_many : bool, default=False
        Whether to standardise few columns at a time, in float32.

    Returns
    -------
    train : Train
        Numbers have mean 0 and variance 1; see `mean_and_spread`.
    rows : Rows
    """
    if problem.supervised is None:
        train, standardizer = standardised_set(problem, known, is_many=is_many)
        codes = None if problem.tabular is None else problem.tabular.values
        return train, standardizer.rows(problem.X, codes, others)
    points, test = problem.supervised.features(known, others)
    train, scaling = _scaled(_targets_of(problem, known), points, is_many=is_many)
    return train, Standardizer(scaling, (), is_many).rows(test)


def standardised_set(problem: Problem, known: Ints, *, is_many: bool = False) -> tuple[Train, Standardizer]:
    """Return rows to learn from, and how others are made like them; see `training_set`."""
    if problem.supervised is not None:
        raise ValueError("features that a transformer learns with the labels cannot be made of rows to come")
    train, tabular = _targets_of(problem, known), problem.tabular
    from_labels = []
    if tabular is not None:
        train = train._replace(table=Codes(tabular.values[known], tabular.is_category))
    encoded = {}
    for column, first, last in () if tabular is None else tabular.from_labels:
        assert train.table is not None
        encoded[first, last], means = target_means(train.table.values[:, column], train, _classes(problem))
        from_labels.append(LabelColumns(column, first, last, means))
    if is_many:
        train, scaling = _in_parts(problem, train, known, encoded)
    else:
        points = problem.X[known]
        for (first, last), values in encoded.items():
            points[:, first:last] = values
        train, scaling = _scaled(train, points)
    return train, Standardizer(scaling, tuple(from_labels), is_many)


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


def _scaled(train: Train, points: Floats, *, is_many: bool = False) -> tuple[Train, Scaling]:
    spread = relative_spread(points)
    points, scaling = standardised_with(points)
    return train._replace(X=points.astype(np.float32) if is_many else points, spread=spread), scaling


def _in_parts(
    problem: Problem, train: Train, known: Ints, encoded: dict[tuple[int, int], Floats]
) -> tuple[Train, Scaling]:
    """Standardise few columns at a time, and features that hold labels or targets by themselves."""
    X, d = problem.X, problem.X.shape[1]
    points, spread = np.empty((len(known), d), np.float32), np.empty(d)
    whole = Scaling(np.empty(d), np.empty(d), np.empty(d))
    parts = [(slice(first, first + COLUMNS_AT_ONCE), None) for first in range(0, d, COLUMNS_AT_ONCE)]
    for chunk, values in [*parts, *((slice(*ends), values) for ends, values in encoded.items())]:
        part = X[:, chunk][known] if values is None else values
        points[:, chunk], scaling = standardised_with(part)
        whole.largest[chunk], whole.centre[chunk] = scaling.largest, scaling.centre
        whole.scale[chunk] = scaling.scale
        if values is None:
            largest = np.abs(part).max(axis=0)
            spread[chunk] = largest * (part / np.where(largest > 0, largest, 1.0)).std(axis=0)
    return train._replace(X=points, spread=spread / (spread.max() or 1.0)), whole
