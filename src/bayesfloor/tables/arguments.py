"""The one door for X and y: arrays, a frame, a file, a source or a Table, with groups, time and more -> a Problem.

A frame of numbers without gaps is an array with names, and is used as it is. Any other, every frame of which a column
is named as y, groups or time, and every file is a table: its columns are treated as `read_table` treats them. A
column that subgroups are named by stays a feature, and changes nothing else. What is larger than memory becomes a table
of rows drawn at random (`at_hand`). Functions of X and y call `check_problem`.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import as_array, check_labels, check_weights
from bayesfloor.data.numbers import check_numbers, find_amounts, task_of
from bayesfloor.data.points import check_points, host_array
from bayesfloor.data.prepared_table import Table, points_and_labels
from bayesfloor.data.problem import Problem, check_row_weights
from bayesfloor.data.row_groups import as_numbers, check_groups, check_subgroups, check_time
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.frames import (
    as_narwhals,
    check_same_index,
    column_named,
    is_collection,
    names_of,
    with_text_names,
    without_arrow,
)
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import NumberColumn, RawTable, UnknownColumnError
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import frame_of_raw, is_eager_frame, raw_of_frame
from bayesfloor.tables.labelled_rows import subgroups_by
from bayesfloor.tables.options import ReadOptions, check_prepare, is_transformer
from bayesfloor.tables.prepare import make_table, transformed_table
from bayesfloor.tables.sources import draw_rows
from bayesfloor.tables.spellings import read_dates
from bayesfloor.tables.targets import Labels, find_column, number_labels
from bayesfloor.tables.unlabelled import find_left_out, find_unlabelled, without_label


def check_problem(X: Any, y: Any = None, **asked: Any) -> Problem:
    """Check points, their target and what else is known of the rows; see `problem_and_table` for the parameters.

    Warns
    -----
    UserWarning
        Where rows were drawn at random, because there are too many for memory.
    """
    problem = problem_and_table(X, y, **asked)[0]
    if problem.n_drawn_from is not None and not isinstance(X, Table):
        used, given = counted(len(problem.X)), counted(problem.n_drawn_from)
        warn_caller(f"{used} of {given} rows are used, drawn at random: all are too many for memory", UserWarning)
    return problem


def problem_and_table(
    X: Any,
    y: Any = None,
    *,
    task: str = "classification",
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    by: Any = None,
    prepare: Any = "auto",
    seed: int = 0,
    needs_all: bool = False,
) -> tuple[Problem, Table | None]:
    """Check points, their target and what else is known of the rows.

    Parameters
    ----------
    X : array-like, sparse matrix, tensor, data frame, Table, str or path-like, LazyFrame, or Dask collection
        The points, or the file that holds them as a table.
    y : array-like, str or None
        The target, or the name of its column; None with a Table, and with a file whose target `read_table` finds.
    task : {"auto", "classification", "regression"}
        Whether the target holds classes or numbers; "auto" decides by its values.
    groups, time, sample_weight, by : array-like, str or None
        Which rows belong together, when each was seen, what each counts, and subgroups that figures are wanted for; or
        the names of their columns. None for what a Table has of its own.
    prepare : {"auto", None} or transformer
        As for `read_table`.
    seed : int
        Seeds which rows are drawn of what is too large for memory.
    needs_all : bool
        Refuse an array of labels in which one is missing, as scikit-learn's estimators do, and take text as it is.

    Returns
    -------
    problem : Problem
        What passed all checks.
    table : Table or None
        The table that it was made of: X itself, or a file or a data frame that was made ready. The `lines` of a frame
        are positions in it. None where X was used as it is.

    Raises
    ------
    ValueError
        For anything that cannot be used; the message names the column, class, row or count.
    """
    X, beside = at_hand(X, y, seed, y=y, groups=groups, time=time, sample_weight=sample_weight, by=by)
    target = str(getattr(y, "name", None) or "y")
    X, beside, kept, left_out = (X, beside, None, {}) if needs_all else _labelled_rows(X, beside, target)
    n_given = None if kept is None else len(kept) + sum(left_out.values())
    y, groups, time, sample_weight, by = beside.values()
    weights = column_named(X, sample_weight)
    if weights is not None:
        # what is left has other names where columns share one: all other columns are looked up before
        y, groups, time, by = (
            value if (name := column_named(X, value)) is None else name for value in (y, groups, time, by)
        )
        X, sample_weight = _taken_out(X, weights)
    by = subgroups_of(X, by)
    table = None
    if y is not None or isinstance(X, RawTable):
        table = table_of(X, y, task=task, groups=groups, time=time, prepare=prepare, by=by)
    in_file, given_rows = isinstance(X, RawTable), kept
    if table is not None:
        if sample_weight is not None:  # of all rows, and some may have been left out
            places, n_rows = (_places_in(X, table), X.n_rows) if in_file else (table.lines, table.n_samples)
            sample_weight = check_weights(sample_weight, n_rows)[places]
        given_rows = None if in_file else table.lines if kept is None else kept[table.lines]
        X, y, groups, time, by = table, None, None, None, table.by
    known: dict[str, Any] = {}
    if isinstance(X, Table):
        table = X
        known = {"feature_names": X.feature_names, "tabular": X.tabular, "supervised": X.supervised}
        groups, time = X.groups if groups is None else groups, X.time if time is None else time
        known["n_drawn_from"] = X.n_samples if X.origin.is_drawn else None
        left_out, n_given, target = {**X.origin.left_out, **left_out}, n_given or X.n_samples, X.target
    else:
        known = {"feature_names": names_of(X)}
    X, y = points_and_labels(X, y, task=table.task if table is not None and task == "auto" else task)
    points = check_points(host_array(X))
    n = len(points)
    if task == "auto":
        task = task_of(y) if table is None else table.task
    # -0 becomes 0: rows are told apart by their bits
    values: tuple[Any, ...] = (check_numbers(y, n) + 0.0,) if task == "regression" else check_labels(y, n)
    weight = known["sample_weight"] = check_row_weights(sample_weight, n)
    known |= {"groups": check_groups(groups, n), "time": check_time(time, n), "by": check_subgroups(by, n)}
    left_out["of weight 0"] = 0 if weight is None else int((weight == 0.0).sum())
    n_given = n_given or n
    found = list(find_left_out(left_out, None if known.get("n_drawn_from") else n_given))
    if task == "classification":
        found += find_amounts(values[0], values[-1], target)
    known |= {"n_given": n_given, "given_rows": given_rows, "findings": tuple(found)}
    make = Problem.of_numbers if task == "regression" else Problem
    return make(points, *values, **known), table


def _labelled_rows(
    X: Any, beside: dict[str, Any], target: str
) -> tuple[Any, dict[str, Any], Ints | None, dict[str, int]]:
    """Leave out rows without a label, where labels stand beside X, from X and from all that is known of the rows.

    Returns
    -------
    X : object
    beside : dict of str to object
    kept : ndarray or None
        Which rows these are; None for all.
    left_out : dict of str to int
        How many others there are, by the reason.
    """
    y = beside["y"]
    if isinstance(X, Table) or y is None or column_named(X, y) is not None:
        return X, beside, None, {}
    labels = as_array(y)
    shape = (X.n_rows,) if isinstance(X, RawTable) else getattr(X, "shape", (len(X),) if isinstance(X, list) else ())
    is_missing, marks = find_unlabelled(labels) if labels.shape == tuple(shape[:1]) else (np.zeros(1, bool), {})
    if not is_missing.any():  # what has another length is refused later
        return X, beside, None, {}
    if is_missing.all():
        raise ValueError(f"y has {counted(len(is_missing), 'missing label')}: no row has one")
    from sklearn.utils import _safe_indexing

    kept = np.flatnonzero(~is_missing)
    for name, value in beside.items():
        if np.ndim(value) and len(value) != len(is_missing):
            raise ValueError(f"{name} has {len(value)} values; one is needed for each of the {len(is_missing)} rows")
        beside[name] = _safe_indexing(value, kept) if np.ndim(value) else value
    X = X.take(kept) if isinstance(X, RawTable) else _safe_indexing(host_array(X), kept)
    return X, beside, kept, {without_label("label", target, marks): len(is_missing) - len(kept)}


def is_file(X: Any) -> bool:
    """Tell whether X is the path of a file, or several of them."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(each, str | os.PathLike) and os.path.isfile(each) for each in X)
    return isinstance(X, str | os.PathLike)


def is_point_file(X: Any) -> bool:
    """Tell whether X is the path of a file whose rows are points as they are, which can be read row by row."""
    return isinstance(X, str | os.PathLike) and Path(X).suffix.lower() in (".npy", ".parquet", ".pq")


def array_of_file(X: Any) -> Any:
    """Return the array of a .npy file, mapped into memory, where X is its path, and anything else unchanged."""
    if not is_point_file(X) or Path(X).suffix.lower() != ".npy":
        return X
    return np.load(X, mmap_mode="r", allow_pickle=False)


def columns_of_file(X: Any, y: Any) -> Any:
    """Return the columns of a file where X is its path, and anything else unchanged."""
    if not is_file(X):
        return X
    return read_raw(X, target=y if isinstance(y, str) else None)


def at_hand(X: Any, target: Any = None, seed: int = 0, **beside: Any) -> tuple[Any, dict[str, Any]]:
    """Have rows in memory, all of them or as many as can be used, and what stands beside them.

    Parameters
    ----------
    X : object
        What the caller passes as X.
    target : object
        The column of labels, where it is named.
    seed : int
        Seeds which rows are drawn.
    **beside
        Values for each row, names of columns, or None.

    Returns
    -------
    X : object
        The columns of a file; a data frame or an array for a lazy frame or a Dask collection; the columns of rows drawn
        at random where there are too many; anything else unchanged.
    beside : dict of str to object
        Values of these rows. What Dask was to compute is computed.

    Raises
    ------
    ValueError
        Where values beside rows that were drawn are not as many as all rows, and where series have another index.
    """
    beside = {name: value.compute() if is_collection(value) else value for name, value in beside.items()}
    X, beside = array_of_file(X), {name: _moments(each) if name == "time" else each for name, each in beside.items()}
    if (found := draw_rows(X, seed, target=target if isinstance(target, str) else None)) is None:
        check_same_index({"X": X, **beside})
        return columns_of_file(X, target), beside
    if not found.is_sampled and found.frame is not None:
        check_same_index({"X": found.frame, **beside})
        return found.frame, beside
    for name, value in beside.items():
        if value is not None and np.ndim(value):
            if len(value) != found.n_rows:
                raise ValueError(f"{name} has {len(value)} values, and {found.source.name} {found.n_rows} rows")
            own = value.iloc[found.rows] if hasattr(value, "iloc") else np.asarray(value)[found.rows]
            beside[name] = own
    return found.raw, beside


def _moments(time: Any) -> Any:
    """Return dates that are written as text as a column of them is read; anything else unchanged."""
    texts = as_array(time)
    if not texts.ndim or not all(isinstance(each, str) for each in texts.tolist()):
        return time
    distinct, codes = np.unique(texts, return_inverse=True)
    seconds = read_dates(distinct.tolist())[0]
    return time if np.isnan(seconds).any() else seconds[codes]


def _places_in(raw: RawTable, table: Table) -> NDArray[np.intp]:
    """Return which rows of a file became rows of a table; the lines of each file of a folder grow."""
    step = int(raw.lines.max()) + 1
    codes = [0 if each is None else each * step for each in (raw.file_codes, table.origin.file_codes)]
    return np.searchsorted(raw.lines + codes[0], table.lines + codes[1])


def _taken_out(X: Any, name: str) -> tuple[Any, Any]:
    """Take the column of weights, by its name, out of a data frame or of the columns of a file."""
    if isinstance(X, RawTable):
        column = X.column(find_column(X, name))
        if not isinstance(column, NumberColumn):
            raise ValueError(f"{X.source}: the column {name!r} holds no numbers, so it is no sample_weight")
        return replace(X, columns=[each for each in X.columns if each is not column]), column.values
    if not is_eager_frame(X):
        raise ValueError(f"sample_weight={name!r} names a column, but X is no data frame")
    frame = as_narwhals(with_text_names(X))
    if name not in frame.columns:
        raise ValueError(f"sample_weight={name!r}: there is no such column")
    return frame.drop(name).to_native(), frame[name].to_native()


def table_of(
    X: Any,
    y: Any = None,
    *,
    task: str = "classification",
    groups: Any = None,
    time: Any = None,
    prepare: Any = "auto",
    by: Any = None,
) -> Table | None:
    """Make a data frame ready where it needs it, and a file always.

    Parameters
    ----------
    X : array-like, data frame, Table, path, or columns of a file
        What the caller passes as X. A path is that of a table unless `is_point_file`, and wherever y names a column.
    y : array-like, str or None
        The labels, or the name of their column; None where there are none.
    task : {"auto", "classification", "regression"}
        Whether the labels are classes or numbers; "auto" decides by their values.
    groups, time : array-like, str or None
        Which rows belong together and when each was seen, or the names of their columns.
    prepare : {"auto", None} or transformer
        As for `read_table`.
    by : array-like, Subgroups or None
        Groups of rows that figures are wanted for, as from `subgroups_of`.

    Returns
    -------
    Table or None
        None where X can be used as it is.

    Raises
    ------
    ValueError
        When a column is named that is not there, or X is no data frame.
    """
    check_prepare(prepare)
    is_labelled = y is not None or isinstance(X, RawTable)
    if isinstance(y, str) or not is_point_file(X):
        X = columns_of_file(X, y)
    in_file = isinstance(X, RawTable)
    given = {"y": y, "groups": groups, "time": time}
    texts = {name: column_named(X, value) for name, value in given.items()}
    named = {name: text for name, text in texts.items() if text is not None}
    if not in_file and (isinstance(X, Table) or not is_eager_frame(X)):
        if named:
            name, text = next(iter(named.items()))
            raise ValueError(f"{name}={text!r} names a column, but X is no data frame")
        if is_transformer(prepare):
            raise ValueError(f"prepare={prepare!r} makes features of a data frame, and X is no data frame")
        return None
    for name, value in given.items():
        if isinstance(value, int | np.integer) and name not in named:
            where = "file" if in_file else "data frame"
            raise UnknownColumnError(f"{name}={value!r}: the {where} has no column of that name")
    if not (named or in_file) and (prepare is None or (isinstance(prepare, str) and not needs_preparing(X))):
        return None
    raw = replace(X, columns=list(X.columns)) if in_file else raw_of_frame(X, named.get("y"))
    raw.by = check_subgroups(by, raw.n_rows)
    labels = None if y is None or "y" in named else _labels(y, raw, task)
    for name, check in (("groups", check_groups), ("time", check_time)):
        if given[name] is not None and name not in named:
            column = _unused(name, raw)
            checked = check(given[name], raw.n_rows)
            assert checked is not None
            raw.columns.append(NumberColumn(column, checked.astype(np.float64)))
            named[name] = column
    options = ReadOptions(
        target=named.get("y"),
        task=task,
        groups=named.get("groups"),
        time=named.get("time"),
        as_given=prepare is None,
        scale="none" if prepare is None else "standard",
    )
    if is_transformer(prepare):
        return transformed_table(raw, options, prepare, labels)
    return make_table(raw, options, labels=labels, is_labelled=is_labelled)


def subgroups_of(X: Any, by: Any) -> Any:
    """Return the subgroups that a column tells, where `by` names one; anything else unchanged.

    Parameters
    ----------
    X : array-like, data frame, Table, or columns of a file
        What the caller passes as X.
    by : array-like, str or None
        Values, or the name of a column of X; None for those of a Table, if it has any.

    Returns
    -------
    Subgroups, array-like or None

    Raises
    ------
    ValueError
        When there is no such column.
    """
    if by is None:
        return X.by if isinstance(X, Table) else None
    name = column_named(X, by)
    if name is None:
        return by
    if isinstance(X, RawTable):
        return subgroups_by(X, name)
    if is_eager_frame(X):
        own = with_text_names(without_arrow(X))
        return subgroups_by(raw_of_frame(own[[name]] if name in own.columns else own), name)
    if not isinstance(X, Table):
        raise ValueError(f"by={by!r} names a column, but X is no data frame")
    if X.by is not None and X.by.column == by:
        return X.by
    if by not in X.column_names:
        raise UnknownColumnError(
            f"{X.source}: no column {by!r} became a feature; read_table(by={by!r}) takes any column of the file"
        )
    return check_subgroups(as_numbers(X.column(by)), len(X.X), by)


def needs_preparing(frame: Any) -> bool:
    """Tell whether a data frame holds anything but numbers, or a gap."""
    import narwhals

    columns = as_narwhals(frame)
    if not all(kind.is_numeric() or kind == narwhals.Boolean for kind in columns.schema.values()):
        return True
    return any(
        bool(series.null_count() or (series.dtype.is_float() and series.is_nan().any()))
        for series in columns.iter_columns()
    )


def _labels(y: Any, raw: RawTable, task: str) -> Labels:
    name = _unused("y" if getattr(y, "name", None) is None else str(y.name), raw)
    if "regression" in (task, task == "auto" and task_of(y)):
        return number_labels(check_numbers(y, raw.n_rows), name)
    classes, codes = check_labels(y, raw.n_rows)
    return Labels(classes[codes], classes, codes, name)


def _unused(name: str, raw: RawTable) -> str:
    """Return a name that no column has."""
    while name in raw.names:
        name += "_"
    return name


def prepared_points(X: Any, y: Any, *, by_rows: bool = False, **beside: Any) -> tuple[Any, Any]:
    """Return points and labels, of a table, a data frame or a file that is made ready, and anything else unchanged.

    Parameters
    ----------
    X : array-like, data frame, Table or path
        What the caller passes as X.
    y : array-like, str or None
        The labels, the name of their column, or None with a Table.
    by_rows : bool, default=False
        Whether the path of a file of points is returned as it is: its rows are read later, some at a time.
    **beside
        What else is passed for each row, whose index is looked at.

    Returns
    -------
    X, y
        Still unchecked.
    """
    check_same_index({"X": X, "y": y, **beside})
    if is_point_file(X) and not by_rows:
        X = array_of_file(X)
        X = frame_of_raw(columns_of_file(X, None)) if is_file(X) else X
    table = None if y is None else table_of(X, y)
    return points_and_labels(X, y) if table is None else (table.X, table.y)
