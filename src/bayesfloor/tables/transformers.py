"""Tables made ready by a transformer of the caller's own, and our preparation as a transformer for others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.runtime.arrays import Floats
from bayesfloor.tables.columns import Column, OtherColumn, RawTable
from bayesfloor.tables.frames import frame_of_raw
from bayesfloor.tables.notes import listed_names
from bayesfloor.tables.prepare import Wishes, labelled
from bayesfloor.tables.targets import Labels


@dataclass(frozen=True, eq=False)
class OwnPreparation:
    """A fitted transformer of the caller's, in place of a `Preparation`."""

    transformer: Any
    columns: tuple[str, ...]
    target: str

    def as_in_file(self, row: Floats, kept: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Write the features of one row; what a transformer did cannot be undone."""
        return tuple(f"{value:.6g}" for value in row)


def transformed_table(raw: RawTable, wishes: Wishes, transformer: Any, labels: Labels | None = None) -> Table:
    """Make a table ready by a transformer, which is fitted to the columns as a data frame and the labels.

    Parameters
    ----------
    raw : RawTable
        The columns.
    wishes : Wishes
        Target, groups, time and columns to leave out.
    transformer : object
        With ``fit_transform(X, y)``; a copy is fitted.
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

    rows = labelled(raw, wishes, labels)
    raw = rows.raw
    apart = {rows.target, rows.groups, rows.time}
    columns: list[Column] = [
        column for column in raw.columns if column.name not in apart and not isinstance(column, OtherColumn)
    ]
    if not columns:
        raise ValueError(f"{raw.source} has no column left besides the target {rows.target!r}")
    assert rows.labels is not None
    fitted = clone(transformer)
    made = fitted.fit_transform(frame_of_raw(replace(raw, columns=columns)), rows.labels.y)
    X = check_points(_as_matrix(made), min_rows=1)
    if len(X) != raw.n_rows:
        raise ValueError(f"{transformer!r} made {len(X)} rows of {raw.n_rows}")
    names = _feature_names(fitted, made, X.shape[1])
    used = tuple(column.name for column in columns)
    raw.notes.append(f"{type(transformer).__name__} made {X.shape[1]} features of {listed_names(used)}.")
    return Table(
        X=X,
        feature_names=names,
        feature_groups=tuple((j,) for j in range(X.shape[1])),
        column_names=names,
        preparation=OwnPreparation(fitted, used, rows.target),
        **rows.for_table(),
    )


def _as_matrix(made: Any) -> Any:
    """Return what a transformer gave as an array or a frame; sparse matrices become dense."""
    return made.toarray() if hasattr(made, "toarray") else made


def _feature_names(fitted: Any, made: Any, n_features: int) -> tuple[str, ...]:
    names = getattr(made, "columns", None)
    if names is None and hasattr(fitted, "get_feature_names_out"):
        names = fitted.get_feature_names_out()
    if names is None or len(names) != n_features:
        return tuple(f"x{j + 1}" for j in range(n_features))
    return tuple(map(str, np.asarray(names).tolist()))
