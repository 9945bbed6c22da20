"""A table made ready for analysis, and how functions of (X, y) take one in place of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_groups import Subgroups
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.results import Result, plain, table_html
from bayesfloor.runtime.text import counted

#: Maximum number of columns of a table that a notebook shows.
_MOST_SHOWN = 12


@dataclass(frozen=True)
class ColumnSummary:
    """What a column of a file holds, and what was done with it.

    Attributes
    ----------
    name : str
        Its name in the file.
    kind : str
        "number", "category", "yes/no", "date", "text", "id", "constant", "empty", "groups", "time" or "other".
    treatment : str
        What was done, in a few words: "scaled", "one column of 0 and 1 for each of 5 values", "left out".
    n_missing, n_values : int
        Rows without a value, and different values.
    n_features : int
        Columns of X that it became; 0 where it was left out.
    """

    name: str
    kind: str
    treatment: str
    n_missing: int
    n_values: int
    n_features: int


@dataclass(frozen=True, eq=False)
class TabularView:
    """The same rows for learners that take codes and gaps: trees and boosting.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers; codes from 0 for categories; NaN where a value is missing.
    is_category : ndarray of shape (n_columns,)
        Which columns hold codes.
    names : tuple of str
        Names of the columns.
    from_labels : tuple of (int, int, int)
        Columns of X that were computed from the labels of other rows, shares of classes or the mean of a number: the
        column of `values` that they encode, the first of them, and the one after the last. Whoever holds rows out
        computes them anew from the rest.
    """

    values: Floats
    is_category: Bools
    names: tuple[str, ...]
    from_labels: tuple[tuple[int, int, int], ...] = ()

    def take(self, rows: Ints) -> "TabularView":
        """Keep some of the rows."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the rows of a table come from.

    Attributes
    ----------
    source : str
        Name of the file.
    lines : ndarray of shape (n_rows,)
        The line of the file on which each row begins, or the row's number from 1 where a file has no lines.
    n_samples : int
        Number of rows in the file.
    row_word : str
        What `lines` counts: "line" or "row".
    files : tuple of str
        Names of the files, where there are several; `lines` counts in each of them.
    file_codes : ndarray of shape (n_rows,) or None
        Each row's position among `files`.
    kept : mapping of str to object
        Columns whose values X does not tell, as they were read.
    is_drawn : bool
        Whether the rows were drawn at random from a file that is too large to be used as a whole.
    left_out : mapping of str to int
        How many rows were left out, by the reason.
    """

    source: str
    lines: Ints
    n_samples: int
    row_word: str = "row"
    files: tuple[str, ...] = ()
    file_codes: Ints | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)
    is_drawn: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RowInfo:
    """What is known of rows beside their features and labels.

    Attributes
    ----------
    groups : ndarray of shape (n_rows,) or None
        Rows that belong together have the same number.
    time : ndarray of shape (n_rows,) or None
        When each row was seen, as a number that grows with time.
    by : Subgroups or None
        Subgroups that figures are wanted for.
    possible_groups : mapping of str to ndarray
        Columns, not named as groups, that may tell which rows belong together; -1 where a value is missing.
    """

    groups: Ints | None = None
    time: Floats | None = None
    by: Subgroups | None = None
    possible_groups: Mapping[str, Ints] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Table(Result):
    """A table made ready: numbers, labels, and what was done to get there.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite float64 values, read-only.
    y : ndarray of shape (n_rows,) or None
        The labels: classes, or float64 numbers; None where a table without its target was made ready as another was.
    target : str
        Name of the column of labels.
    classes : ndarray
        The distinct labels, sorted; empty where they are numbers.
    task : {"classification", "regression"}
        Whether the labels are classes or numbers.
    feature_names : tuple of str
        Names of the columns of X; a dummy is called ``column=value``.
    feature_groups : tuple of tuples of int
        For each column of the file, its columns in X, as ``FloorSelector(feature_groups=...)`` takes them.
    column_names : tuple of str
        The columns of the file that `feature_groups` stand for.
    preparation : Preparation
        How the columns became X, to make another file ready in the same way.
    origin : Origin
        Where the rows come from; `source`, `lines` and `n_samples` are taken from there.
    notes : tuple of str
        Everything that was detected, assumed or done, in plain sentences.
    cautions : tuple of str
        What deserves a look before the results are trusted.
    columns : tuple of ColumnSummary
        What each column of the file holds, and what was done with it.
    row_info : RowInfo
        What else is known of the rows; `groups`, `time` and `by` are taken from there.
    tabular : TabularView or None
        The same rows for learners that take codes and gaps; None where X says it all.
    supervised : SupervisedFeatures or None
        What makes the features of models in place of X, where that takes labels.
    """

    X: Floats
    y: NDArray[Any] | None
    target: str
    classes: NDArray[Any]
    task: str
    feature_names: tuple[str, ...]
    feature_groups: tuple[tuple[int, ...], ...]
    column_names: tuple[str, ...]
    preparation: Any
    origin: Origin
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    columns: tuple[ColumnSummary, ...] = ()
    row_info: RowInfo = field(default_factory=RowInfo)
    tabular: TabularView | None = None
    supervised: SupervisedFeatures | None = None

    @property
    def source(self) -> str:
        """Name of the file."""
        return self.origin.source

    @property
    def lines(self) -> Ints:
        """The line of the file on which each row begins, or the row's number."""
        return self.origin.lines

    @property
    def n_samples(self) -> int:
        """Number of rows in the file."""
        return self.origin.n_samples

    @property
    def groups(self) -> Ints | None:
        """Rows that belong together have the same number."""
        return self.row_info.groups

    @property
    def time(self) -> Floats | None:
        """When each row was seen."""
        return self.row_info.time

    @property
    def by(self) -> Subgroups | None:
        """Subgroups that figures are wanted for."""
        return self.row_info.by

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        labels = f"{counted(len(self.classes))} classes of" if self.task == "classification" else "the number"
        return (
            f"Table({self.source!r}: {counted(n_rows)} row{'s' * (n_rows != 1)}, {counted(n_features)} "
            f"feature{'s' * (n_features != 1)}, {labels} {self.target!r})"
        )

    def values_of(self, row: int) -> tuple[str, ...]:
        """Return the values of a row as the file has them, one for each of `column_names`."""
        kept = {name: column.shown(row) for name, column in self.origin.kept.items()}
        written: tuple[str, ...] = self.preparation.as_in_file(self.X[row], kept)
        return written

    def column(self, name: str) -> list[str]:
        """Return the values of one of `column_names` as the file has them; empty text where one is missing."""
        if name in self.origin.kept:
            return [self.origin.kept[name].shown(row) for row in range(len(self.X))]
        place = self.column_names.index(name)
        members = list(self.feature_groups[place])
        _, first, which = np.unique(self.X[:, members], axis=0, return_index=True, return_inverse=True)
        written = [self.values_of(int(row))[place] for row in first]
        return [written[code] for code in which.ravel()]

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, without the rows, as values that JSON can hold."""
        return {
            "source": self.source,
            "target": self.target,
            "task": self.task,
            "n_rows": len(self.X),
            "n_samples": self.n_samples,
            "n_features": self.X.shape[1],
            "classes": plain(self.classes),
            "notes": list(self.notes),
            "cautions": list(self.cautions),
        }

    def _table_html(self) -> str:
        """Show the columns of the file and what was done with them, in place of millions of rows."""
        names = ("name", "kind", "treatment", "n_missing", "n_values")
        shown = [[getattr(column, name) for name in names] for column in self.columns[:_MOST_SHOWN]]
        n_more = len(self.columns) - _MOST_SHOWN
        note = f"{n_more} more in <code>columns</code>" if n_more > 0 else ""
        return table_html(("column", "kind", "treatment", "missing", "values"), shown, note) if shown else ""

    def frame(self) -> Any:
        """Return X and, last, y as a data frame of the caller's library; of a file pandas, or polars without it."""
        columns: dict[str, Any] = {name: self.X[:, j] for j, name in enumerate(self.feature_names)}
        if self.y is not None:
            target = self.target
            while target in columns:
                target += "_"
            columns[target] = self.y
        return self._frame_of(columns)


def points_of(X: Any) -> Any:
    """Return the points of a `Table`, and anything else unchanged."""
    return X.X if isinstance(X, Table) else X


def points_and_labels(X: Any, y: Any, *, task: str = "classification") -> tuple[Any, Any]:
    """Return the points and labels of a `Table`, and anything else unchanged.

    Parameters
    ----------
    X : Table, or points of any type
        What the caller passes as X.
    y : array-like or None
        What the caller passes as y; None with a Table.
    task : {"classification", "regression"}
        What the labels are needed for.

    Returns
    -------
    X, y
        Still unchecked.

    Raises
    ------
    ValueError
        When there are no labels, or a Table and labels beside it, or a Table of numbers where classes are needed.
    """
    if not isinstance(X, Table):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None; only a Table has its labels with it")
        return X, y
    if y is not None:
        raise ValueError("A Table has its labels with it; leave out y.")
    if X.y is None:
        raise ValueError(f"{X.source} was read without its labels, and they are needed here.")
    if X.task == "regression" and task == "classification":
        raise ValueError(
            f"{X.source}: the target {X.target!r} holds numbers: this is regression, and classes are needed here. "
            "regression_floor and difficulty_report take numbers; read_table(task='classification') reads classes."
        )
    return X.X, X.y
