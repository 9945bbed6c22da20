"""Tables made ready by a transformer of the caller's own, and our preparation as a transformer for others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.supervised_features import SupervisedFeatures, matrix_of
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import listed_names
from bayesfloor.tables.columns import Column, OtherColumn, RawTable
from bayesfloor.tables.frames import frame_of_raw
from bayesfloor.tables.labelled_rows import labelled
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.prepare import prepared
from bayesfloor.tables.targets import Labels


@dataclass(frozen=True, eq=False)
class OwnPreparation:
    """A fitted transformer of the caller's, in place of a `Preparation`."""

    transformer: Any
    columns: tuple[str, ...]
    target: str
    feature_names: tuple[str, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The features themselves: which columns went into each is not known."""
        return self.feature_names

    @property
    def feature_groups(self) -> tuple[tuple[int, ...], ...]:
        """Each feature by itself."""
        return tuple((j,) for j in range(len(self.feature_names)))

    def as_in_file(self, row: Floats, kept: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Write the features of one row; what a transformer did cannot be undone."""
        return tuple(f"{value:.6g}" for value in row)


def transformed_table(raw: RawTable, options: ReadOptions, transformer: Any, labels: Labels | None = None) -> Table:
    """Make a table ready by a transformer, which is fitted to the columns as a data frame.

    One that makes the same features without the labels is fitted once, on all rows. Any other needs the labels, and
    has to be fitted anew wherever labels are held out: `Table.supervised` does that for models. All that is not trained
    and tested on different rows, such as spanning trees, sees X: the columns as ``prepare="auto"`` makes them.

    Parameters
    ----------
    raw : RawTable
        The columns.
    options : ReadOptions
        Target, groups, time and columns to leave out.
    transformer : object
        With ``fit_transform(X, y)``; copies are fitted.
    labels : Labels or None
        The labels, where they are no column.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        When what comes out is no matrix of finite numbers with a row for each row.
    """
    from sklearn.base import clone

    rows = labelled(raw, options, labels)
    raw = rows.raw
    apart = {rows.target, rows.groups, rows.time}
    columns: list[Column] = [
        column for column in raw.columns if column.name not in apart and not isinstance(column, OtherColumn)
    ]
    if not columns:
        raise ValueError(f"{raw.source} has no column left besides the target {rows.target!r}")
    assert rows.labels is not None
    name, used = type(transformer).__name__, tuple(column.name for column in columns)
    frame, y = frame_of_raw(replace(raw, columns=columns)), rows.labels.y
    fitted = clone(transformer)
    made = fitted.fit_transform(frame, y)
    X = matrix_of(made, raw.n_rows, fitted)
    if _needs_labels(transformer, frame, X):
        raw.notes.append(
            f"{name} learns from the labels, so it is fitted anew in each training set of a model. All else, spanning "
            "trees and what is told of columns, has the columns as they are made ready without it."
        )
        return replace(prepared(rows, options), supervised=SupervisedFeatures(transformer, frame, y))
    names = _feature_names(fitted, made, X.shape[1])
    raw.notes.append(f"{name} made {X.shape[1]} features of {listed_names(used)}.")
    return rows.table(check_points(X, min_rows=1), OwnPreparation(fitted, used, rows.target, names))


def _needs_labels(transformer: Any, frame: Any, with_labels: Floats) -> bool:
    """Tell whether a transformer makes other features, or none, without the labels.

    What is said of an estimator (its tags) does not tell: a Pipeline has those of its last step. One that draws at
    random without a seed is taken to need them.
    """
    from sklearn.base import clone

    fitted = clone(transformer)
    try:
        without = matrix_of(fitted.fit_transform(frame), len(with_labels), fitted)
    except Exception:  # whatever it is that fails, it did not with the labels
        return True
    return not np.array_equal(without, with_labels)


def _feature_names(fitted: Any, made: Any, n_features: int) -> tuple[str, ...]:
    names = getattr(made, "columns", None)
    if names is None and hasattr(fitted, "get_feature_names_out"):
        names = fitted.get_feature_names_out()
    if names is None or len(names) != n_features:
        return tuple(f"x{j + 1}" for j in range(n_features))
    return tuple(map(str, np.asarray(names).tolist()))
