"""Input checks of all classifiers and regressors: rows, labels and weights.

X and y are checked as everywhere in this package, so that messages name the columns and labels at fault. Names and
number of features are left to scikit-learn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from bayesfloor.data.folds import check_folds
from bayesfloor.data.labels import as_array, check_labels, check_weights
from bayesfloor.data.numbers import check_finite_numbers
from bayesfloor.data.points import check_points, check_sparse_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.row_groups import check_groups
from bayesfloor.runtime.checks import ParameterError, warn_caller
from bayesfloor.runtime.frames import check_same_index, column_named, with_text_names
from bayesfloor.runtime.text import counted
from bayesfloor.tables.arguments import at_hand
from bayesfloor.tables.chunked import chunks_like, columns_as_frame, numbers_in_chunks
from bayesfloor.tables.columns import NumberColumn, RawTable, TextColumn
from bayesfloor.tables.frames import is_eager_frame, raw_of_array, raw_of_frame
from bayesfloor.tables.labelled_rows import group_numbers, labelled
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.prepare import prepare_alike
from bayesfloor.tables.targets import find_column

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Training:
    """Rows of a weight above zero, with their labels.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Finite, float64. It may share memory with the caller's data, and must not be written to.
    classes : ndarray of shape (n_classes,)
        The labels of these rows, sorted.
    codes : ndarray of shape (n_rows,), int64
        ``classes[codes]`` gives the labels back.
    sample_weight : ndarray of shape (n_rows,) or None
        What the caller gave, above zero.
    class_weight : ndarray of shape (n_rows,) or None
        What each row weighs because of its class, above zero.
    rows : ndarray of shape (n_rows,), int64
        Which of the caller's rows these are.
    given_codes : ndarray of shape (n_samples,), int64
        The classes of all of the caller's rows, those of weight zero included.
    """

    X: Any
    classes: NDArray[Any]
    codes: I64
    sample_weight: F64 | None
    class_weight: F64 | None
    rows: I64
    given_codes: I64

    @property
    def weight(self) -> F64:
        """What each row weighs in all."""
        weight = np.ones(len(self.codes))
        for factor in (self.sample_weight, self.class_weight):
            if factor is not None:
                weight *= factor
        return weight

    def groups_of(self, groups: Any) -> I64 | None:
        """Check groups of all of the caller's rows, and return those of these rows."""
        codes = check_groups(groups, len(self.given_codes))
        return None if codes is None else codes[self.rows]

    def folds(self, cv: Any, keys: NDArray[np.uint64], groups: Any = None) -> I64:
        """Return the fold of each row, see `check_folds`; groups, unchecked, are those of all of the caller's rows."""
        given_groups = check_groups(groups, len(self.given_codes))
        return check_folds(cv, self.codes, keys, self.given_codes, self.rows, given_groups)


def check_training(
    classifier: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    class_weight: Any = None,
    groups: Any = None,
    accept_sparse: bool = False,
    squares: bool = False,
) -> Training:
    """Check what a classifier is fitted on, and note its features in the classifier.

    A row of weight zero is as good as absent: it is left out here, and with it a class that has no other rows.

    Parameters
    ----------
    classifier : estimator
        Gets ``n_features_in_`` and, where X has names, ``feature_names_in_``.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The points.
    y : array-like of shape (n_samples,)
        The labels.
    sample_weight : array-like of shape (n_samples,), number or None, default=None
        Weights.
    class_weight : dict, "balanced" or None, default=None
        What rows of each class weigh; "balanced" gives all classes the same weight in sum.
    groups : array-like of shape (n_samples,) or None, default=None
        Rows that belong together, whose index is looked at.
    accept_sparse : bool, default=False
        Whether the classifier can work on a sparse X. Otherwise one is refused.
    squares : bool, default=False
        Whether to refuse values whose squares cannot be added up, as in `check_points`.

    Returns
    -------
    Training
    """
    check_same_index({"X": X, "y": y, "sample_weight": sample_weight, "groups": groups})
    points, y = _check_fit(classifier, X, y, accept_sparse, squares)
    classes, codes = check_labels(y, points.shape[0])
    given_codes = codes
    weight = None if sample_weight is None else check_weights(sample_weight, points.shape[0])
    of_class = class_weights(class_weight, classes, codes, weight)

    rows = np.flatnonzero(total_weights(weight, of_class))
    if len(rows) < len(codes):
        points, of_class = points[rows], of_class[rows]
        weight = None if weight is None else weight[rows]
        classes, codes = check_labels(classes[codes[rows]], len(rows))
    return Training(points, classes, codes, weight, None if class_weight is None else of_class, rows, given_codes)


class RegressionTraining(NamedTuple):
    """Rows of a weight above zero, with the numbers to predict.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Finite, float64. It may share memory with the caller's data, and must not be written to.
    y : ndarray of shape (n_rows,)
        The numbers.
    weight : ndarray of shape (n_rows,)
        Above zero.
    groups : ndarray of shape (n_rows,), int64, or None
        Codes of groups.
    """

    X: Any
    y: F64
    weight: F64
    groups: I64 | None


def check_regression(
    regressor: Any, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None
) -> RegressionTraining:
    """Check what a regressor is fitted on, sparse or not, and note its features in the regressor.

    Parameters
    ----------
    regressor : estimator
        Gets ``n_features_in_`` and, where X has names, ``feature_names_in_``.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The points. Values whose squares cannot be added up are refused.
    y : array-like of shape (n_samples,)
        The numbers to predict.
    sample_weight : array-like of shape (n_samples,), number or None, default=None
        Weights. Rows of weight zero are left out.
    groups : array-like of shape (n_samples,) or None, default=None
        Rows that belong together have the same value.

    Returns
    -------
    RegressionTraining
    """
    points, y = _check_fit(regressor, X, y, accept_sparse=True, squares=True)
    numbers = check_finite_numbers(y, points.shape[0])
    weight = check_weights(sample_weight, points.shape[0])
    codes = check_groups(groups, points.shape[0])
    rows = np.flatnonzero(weight)
    if len(rows) < len(weight):
        points, numbers, weight = points[rows], numbers[rows], weight[rows]
        codes = None if codes is None else codes[rows]
    return RegressionTraining(points, numbers, weight, codes)


def _check_fit(estimator: Any, X: Any, y: Any, accept_sparse: bool, squares: bool) -> tuple[Any, Any]:
    """Check points, note their features in the estimator, and make a column of labels one-dimensional."""
    points = _check_points(X, 2, accept_sparse, squares)
    validate_data(estimator, with_text_names(X), skip_check_array=True)  # only n_features_in_, feature_names_in_
    return points, column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y


class FittingRows(NamedTuple):
    """Rows in memory that a model is fitted to, unchecked: points, target, weights and groups."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any


def rows_to_fit(X: Any, y: Any, task: str, sample_weight: Any, groups: Any, seed: int) -> FittingRows:
    """Have rows in memory whose columns are numbers, and take out the columns that are named.

    Parameters
    ----------
    X : object
        Array-like, data frame or sparse matrix; or a path, a lazy frame or a Dask collection.
    y, sample_weight, groups : array-like, str or None
        Values of all rows, or names of columns.
    task : {"classification", "regression"}
        What the target is.
    seed : int
        Seeds which rows are drawn where there are too many for memory.

    Returns
    -------
    FittingRows
        Rows without a label are left out where it is a column.

    Warns
    -----
    UserWarning
        Where rows were drawn at random, because there are too many for memory.
    """
    X, beside = at_hand(X, y, seed=seed, y=y, sample_weight=sample_weight, groups=groups)
    names = {name: column_named(X, value) for name, value in beside.items()}
    if not isinstance(X, RawTable) and not any(names.values()):
        return FittingRows(X, **beside)
    if not isinstance(X, RawTable) and not is_eager_frame(X):
        name, text = next((name, text) for name, text in names.items() if text is not None)
        raise ValueError(f"{name}={text!r} names a column, but X is no data frame")
    raw = X if isinstance(X, RawTable) else raw_of_frame(X, names["y"])
    if raw.n_drawn_from is not None:
        used, given = counted(raw.n_rows), counted(raw.n_drawn_from)
        warn_caller(f"the model is fitted to {used} of {given} rows, drawn at random: all are too many", UserWarning)
    raw.lines = np.arange(raw.n_rows)
    for name in ("sample_weight", "groups"):
        if (wanted := names[name]) is not None:
            column = raw.column(find_column(raw, wanted))
            raw.columns = [each for each in raw.columns if each is not column]
            if isinstance(column, TextColumn) and name == "groups":
                beside[name] = group_numbers(column, raw.notes)
            elif isinstance(column, NumberColumn):
                beside[name] = column.values
            else:
                raise ValueError(f"{raw.source}: the column {wanted!r} holds no numbers, so it is no {name}")
    if names["y"] is None and y is not None:
        return FittingRows(columns_as_frame(raw), **beside)
    rows = labelled(raw, ReadOptions(target=names["y"], task=task))
    assert rows.labels is not None
    features = replace(rows.raw, columns=[column for column in rows.raw.columns if column.name != rows.target])
    weight, group = (
        None if beside[name] is None else as_array(beside[name])[rows.raw.lines] for name in ("sample_weight", "groups")
    )
    return FittingRows(columns_as_frame(features), rows.labels.y, weight, group)


def chunks_to_predict(estimator: Any, X: Any) -> Iterator[Any]:
    """Yield the rows that a fitted estimator is asked about, chunk by chunk where X is not in memory."""
    X, chunks = with_text_names(X), None
    if isinstance(estimator.preparation_, Preparation):
        chunks = chunks_like(X, estimator.preparation_)
    return numbers_in_chunks(X, getattr(estimator, "feature_names_in_", None)) if chunks is None else chunks


def table_alike(X: Any, preparation: Preparation) -> Table:
    """Make rows ready as those of the fit were.

    Parameters
    ----------
    X : data frame, columns of a file, or array
        An array where that of the fit was too large for memory.
    preparation : Preparation
        What was learnt from the rows of the fit.

    Returns
    -------
    Table
    """
    names = [each.name for each in preparation.columns]
    if isinstance(X, np.ndarray) and X.ndim == 2 and set(names) <= {f"x{j}" for j in range(X.shape[1])}:
        raw = raw_of_array(X, "X")
    elif is_eager_frame(X) or isinstance(X, RawTable):
        raw = X if isinstance(X, RawTable) else raw_of_frame(X)
    else:
        raise ValueError(f"X must be a data frame, as in fit. Got {type(X).__name__} instead.")
    raw.columns = [column for column in raw.columns if column.name in names]
    return prepare_alike(raw, preparation)


def check_rows(classifier: Any, X: Any, *, accept_sparse: bool = False) -> Any:
    """Check rows that a fitted classifier is asked about: the same features as those it was fitted on."""
    points = _check_points(X, 1, accept_sparse)
    validate_data(classifier, with_text_names(X), reset=False, skip_check_array=True)
    return points


def _check_points(X: Any, min_rows: int, accept_sparse: bool, squares: bool = False) -> Any:
    """Return X as a finite float64 array, or as a CSR array where it is sparse and may be."""
    if not issparse(X):
        return check_points(X, min_rows=min_rows, squares=squares)
    points = check_array(
        X,
        accept_sparse="csr" if accept_sparse else False,
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_min_samples=min_rows,
        input_name="X",
    )
    return check_sparse_points(points, min_rows=min_rows, squares=squares)


def class_weights(class_weight: Any, classes: NDArray[Any], codes: I64, sample_weight: F64 | None = None) -> F64:
    """Return what each row weighs because of its class."""
    if class_weight is None:
        return np.ones(len(codes))
    if isinstance(class_weight, Mapping):
        of_class = compute_class_weight(dict(class_weight), classes=classes, y=classes[codes])
        if not (np.isfinite(of_class) & (of_class >= 0)).all():
            raise ValueError(f"class_weight must be finite and not below zero. Got {class_weight!r}.")
        return of_class[codes].astype(np.float64)
    if isinstance(class_weight, str) and class_weight == "balanced":
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight / sample_weight.max()
        rising = np.argsort(weight, kind="stable")  # so that sums do not depend on the order of the rows
        totals = np.bincount(codes[rising], weight[rising], len(classes))
        mean_total = totals.sum() / np.count_nonzero(totals)
        with np.errstate(over="ignore"):  # refused by `total_weights`
            return (mean_total / np.where(totals > 0, totals, 1.0))[codes]
    raise ParameterError("class_weight", "a dict, 'balanced' or None", class_weight)


def total_weights(sample_weight: F64 | None, of_class: F64) -> F64:
    """Return what each row weighs in all."""
    with np.errstate(over="ignore", under="ignore"):
        total = of_class if sample_weight is None else sample_weight * of_class
    if not np.isfinite(total).all():
        raise ValueError("sample_weight times class_weight is too large for float64; divide the weights by a constant")
    return total
