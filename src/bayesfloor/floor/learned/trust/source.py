"""What a report is about: points, labels, and what to call the rows and columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.numbers import bins_of_numbers
from bayesfloor.data.prepared_table import ColumnSummary, Table
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import Keys, keys_of_hashes
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.tables.arguments import problem_and_table
from bayesfloor.tables.column_evidence import profile_columns
from bayesfloor.tables.columns import Column, NumberColumn, RawTable
from bayesfloor.tables.profiles import possible_groups
from bayesfloor.tables.treatments import NumberFeature

#: What a report on arrays is called where nobody says.
UNTITLED = "Difficulty report"


@dataclass(frozen=True, eq=False)
class Source:
    """A problem with the names that its reader knows.

    Attributes
    ----------
    problem : Problem
        Checked points, and labels or numbers.
    title, target : str
        What the data and the labels are called.
    rows : ndarray
        What each row is called: a line of a file, or its number from 0 in an array.
    row_word : str
        "line" or "row".
    columns : tuple of str
        Columns as the reader has them; several columns of X may be one of them.
    feature_groups : tuple of tuples of int
        The columns of X that each of them became.
    values : callable
        From the number of a row to its values, one text per column.
    n_samples : int
        Rows that there were before any was left out.
    notes, cautions : tuple of str
        What was done to the data, and what deserves a look.
    column_summaries : tuple of ColumnSummary
        What each column of a file holds and what was done with it, left-out ones too; empty where that is not known.
    possible_groups : mapping of str to ndarray
        Columns that may tell which rows belong together.
    scales : mapping of str to (float, float)
        What to multiply columns of X by and then to add to get the numbers of the file, where X alone tells them.
    is_table : bool
        Whether the rows come from a table that was made ready by itself.
    keeps_places : bool
        Whether columns that are left out stay as constants: a model of the caller's may ask for a column by its place.
    """

    problem: Problem
    title: str
    target: str
    rows: NDArray[np.int64]
    row_word: str
    columns: tuple[str, ...]
    feature_groups: tuple[tuple[int, ...], ...]
    values: Callable[[int], Sequence[str]]
    n_samples: int
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    column_summaries: tuple[ColumnSummary, ...] = ()
    possible_groups: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    is_table: bool = False
    keeps_places: bool = False
    _keys: dict[int, Keys] = field(init=False, default_factory=dict, repr=False)

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """What samples of the rows have equal shares of: classes, or bins of numbers."""
        return self.problem.codes if self.problem.task == "classification" else bins_of_numbers(self.problem.y)

    def keys(self, seed: int) -> Keys:
        """Return a random number for each row, from its values, found once."""
        if seed not in self._keys:
            self._keys[seed] = keys_of_hashes(self.problem.row_hashes(_values_of), self.strata, seed)
        return self._keys[seed]


def _values_of(problem: Problem) -> Floats:
    return np.column_stack([problem.X, problem.y]) if problem.task == "regression" else problem.X


def source_of(
    X: Any,
    y: Any,
    title: str | None,
    groups: Any = None,
    time: Any = None,
    prepare: Any = "auto",
    by: Any = None,
    task: str = "classification",
) -> Source:
    """Take points and labels, a table that was read from a file, or a data frame, made ready where it needs it.

    With the task "auto", the values of the labels decide whether they are classes or numbers.
    """
    problem, table = problem_and_table(X, y, task=task, groups=groups, time=time, prepare=prepare, by=by)
    rows = _rows_of(problem, table)
    problem = replace(problem, given_rows=None)  # figures are about rows of the source, which knows where these are
    return replace(source_from(problem, table, y, title), rows=rows)


def source_from(problem: Problem, table: Table | None, y: Any = None, title: str | None = None) -> Source:
    """Name the rows and columns of a problem that was made of arrays, or of a table."""
    rows = _rows_of(problem, table)
    return _of_arrays(y, title, problem, rows) if table is None else _of_table(table, title, problem, rows)


def _rows_of(problem: Problem, table: Table | None) -> Ints:
    """Return what each row is called."""
    if problem.given_rows is not None:
        return problem.given_rows
    return np.arange(len(problem.X)) if table is None else table.lines


def _of_table(table: Table, title: str | None, problem: Problem, rows: Ints) -> Source:
    columns = getattr(table.preparation, "columns", ())
    return Source(
        problem=problem,
        title=title or table.source,
        target=table.target,
        rows=rows,
        row_word=table.origin.row_word,
        columns=table.column_names,
        feature_groups=table.feature_groups,
        values=table.values_of,
        n_samples=problem.n_samples,
        notes=table.notes,
        possible_groups=table.row_info.possible_groups if table.columns else _possible_groups(problem),
        scales={each.name: (each.spread, each.center) for each in columns if isinstance(each, NumberFeature)},
        is_table=bool(table.columns),
        cautions=table.cautions,
        column_summaries=table.columns,
    )


def _of_arrays(y: Any, title: str | None, problem: Problem, rows: Ints) -> Source:
    n_features = problem.X.shape[1]
    label_name = getattr(y, "name", None)
    return Source(
        problem=problem,
        title=title or UNTITLED,
        target="y" if label_name is None else str(label_name),
        rows=rows,
        row_word="row",
        columns=_names_of(problem),
        feature_groups=tuple((column,) for column in range(n_features)),
        values=lambda row: [f"{value:.6g}" for value in problem.X[row]],
        n_samples=problem.n_samples,
        possible_groups=_possible_groups(problem),
    )


def _possible_groups(problem: Problem) -> dict[str, Ints]:
    """Return the columns of points that may tell which rows belong together, as `possible_groups` has it for tables."""
    if problem.groups is not None:
        return {}
    named = zip(_names_of(problem), problem.X.T, strict=True)
    columns: list[Column] = [NumberColumn(name, np.ascontiguousarray(values)) for name, values in named]
    raw = RawTable("X", columns, len(problem.X), np.arange(len(problem.X)))
    return possible_groups(profile_columns(raw.columns, raw, {}), raw.n_rows)


def _names_of(problem: Problem) -> tuple[str, ...]:
    if problem.feature_names is None:
        return tuple(f"x{column}" for column in range(problem.X.shape[1]))
    return tuple(map(str, problem.feature_names))
