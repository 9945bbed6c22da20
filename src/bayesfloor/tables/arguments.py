"""How functions of X and y take a data frame: as numbers where it holds nothing else, made ready where it does not.

A frame of numbers without gaps is an array with names, and is used as it is. Any other, and every frame of which a
column is named as y, groups or time, is a table: its columns are treated as `read_table` treats those of a file.
"""

from typing import Any

import numpy as np

from bayesfloor.data.labels import check_labels
from bayesfloor.data.prepared_table import Table, points_and_labels
from bayesfloor.data.row_groups import check_groups, check_time
from bayesfloor.runtime.checks import check_option
from bayesfloor.tables.columns import NumberColumn, RawTable
from bayesfloor.tables.frames import is_eager_frame, raw_of_frame
from bayesfloor.tables.prepare import Labels, Wishes, make_table
from bayesfloor.tables.transformers import transformed_table


def table_of(X: Any, y: Any = None, *, groups: Any = None, time: Any = None, prepare: Any = "auto") -> Table | None:
    """Make a data frame ready where it needs it.

    Parameters
    ----------
    X : array-like, data frame or Table
        What the caller passes as X.
    y : array-like, str or None
        The labels, or the name of their column; None where there are none.
    groups, time : array-like, str or None
        Which rows belong together and when each was seen, or the names of their columns.
    prepare : {"auto", "strict"} or transformer
        As for `read_table`.

    Returns
    -------
    Table or None
        None where X can be used as it is.

    Raises
    ------
    ValueError
        When a column is named that is not there, or X is no data frame.
    """
    if isinstance(prepare, str) or not hasattr(prepare, "fit_transform"):
        check_option("prepare", prepare, ("auto", "strict"))
    named = {name: value for name, value in (("y", y), ("groups", groups), ("time", time)) if isinstance(value, str)}
    if isinstance(X, Table) or not is_eager_frame(X):
        if named:
            name, value = next(iter(named.items()))
            raise ValueError(f"{name}={value!r} names a column, but X is no data frame")
        return None
    if not named and prepare in ("auto", "strict") and (prepare == "strict" or not _needs_preparing(X)):
        return None
    raw = raw_of_frame(X)
    labels = None if y is None or "y" in named else _labels(y, raw)
    for name, given in (("groups", check_groups), ("time", check_time)):
        value = groups if name == "groups" else time
        if value is not None and name not in named:
            column = _unused(name, raw)
            checked = given(value, raw.n_rows)
            assert checked is not None
            raw.columns.append(NumberColumn(column, checked.astype(np.float64)))
            named[name] = column
    wishes = Wishes(
        target=named.get("y"), groups=named.get("groups"), time=named.get("time"), strict=prepare == "strict"
    )
    if not isinstance(prepare, str):
        return transformed_table(raw, wishes, prepare, labels)
    return make_table(raw, wishes, labels=labels, is_labelled=y is not None)


def _needs_preparing(frame: Any) -> bool:
    """Tell whether a data frame holds anything but numbers, or a gap."""
    import narwhals

    if len(set(map(str, frame.columns))) < len(frame.columns):
        return False  # refused below, where all arrays are checked
    columns = narwhals.from_native(frame, eager_only=True)
    if not all(kind.is_numeric() or kind == narwhals.Boolean for kind in columns.schema.values()):
        return True
    return any(bool(series.null_count()) or _has_nan(series) for series in columns.iter_columns())


def _has_nan(series: Any) -> bool:
    return bool(series.dtype.is_float() and series.is_nan().any())


def _labels(y: Any, raw: RawTable) -> Labels:
    classes, codes = check_labels(y, raw.n_rows)
    name = getattr(y, "name", None)
    return Labels(classes[codes], classes, codes, _unused("y" if name is None else str(name), raw))


def _unused(name: str, raw: RawTable) -> str:
    """Return a name that no column has."""
    while name in raw.names:
        name += "_"
    return name


def prepared_points(X: Any, y: Any) -> tuple[Any, Any]:
    """Return points and labels, of a table or of a data frame that is made ready, and anything else unchanged.

    Parameters
    ----------
    X : array-like, data frame or Table
        What the caller passes as X.
    y : array-like, str or None
        The labels, the name of their column, or None with a Table.

    Returns
    -------
    X, y
        Still unchecked.
    """
    table = None if y is None else table_of(X, y)
    return points_and_labels(X, y) if table is None else (table.X, table.y)
