"""Columns of a table, and what is wanted of them -> a `Table`: by our own rules, or by the caller's transformer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.data.folds import grouped_folds, stratified_folds
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import ColumnSummary, Table, TabularView
from bayesfloor.data.supervised_features import SupervisedFeatures, matrix_of
from bayesfloor.data.target_encoding import N_FOLDS
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import counted, listed_names
from bayesfloor.tables.automatic import learn_automatically
from bayesfloor.tables.category_features import OwnLabels, SharesFeatures
from bayesfloor.tables.column_evidence import profile_columns
from bayesfloor.tables.columns import (
    Column,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
)
from bayesfloor.tables.frames import frame_of_raw
from bayesfloor.tables.labelled_rows import LabelledRows, group_numbers, labelled, row_keys
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.profiles import possible_groups
from bayesfloor.tables.readings import UnseenValues
from bayesfloor.tables.targets import (
    Labels,
    choose_task,
    find_missing_labels,
    put_numbers,
    read_target,
    without_missing_labels,
)
from bayesfloor.tables.treatments import GivenNumber, check_finite, learn_scale

#: How numbers that are taken as they are were scaled.
_SCALED = {
    "standard": "Numbers are scaled to mean 0 and standard deviation 1.",
    "minmax": "Numbers are scaled to the range from 0 to 1.",
    "none": "Numbers are not scaled.",
}


def make_table(raw: RawTable, options: ReadOptions, *, labels: Labels | None = None, is_labelled: bool = True) -> Table:
    """Make the columns of a file ready, by what the caller says or by what they hold.

    Parameters
    ----------
    raw : RawTable
        The columns. They are changed.
    options : ReadOptions
        What the caller says.
    labels, is_labelled
        As for `labelled`.

    Returns
    -------
    Table
    """
    return prepared(labelled(raw, options, labels, is_labelled=is_labelled), options)


def prepared(rows: LabelledRows, options: ReadOptions) -> Table:
    """Make features of rows whose labels are known; see `make_table`."""
    raw = rows.raw
    how: dict[str, Any] = {"encode": options.encode, "scale": options.scale, "impute": options.impute}
    apart = {rows.target, rows.groups, rows.time}
    features = [column for column in raw.columns if column.name not in apart]
    if options.as_given:
        return _assemble(rows, _as_given(rows, features, options.scale))
    profiles = profile_columns(features, raw, options.kinds)
    learnt, summaries = learn_automatically(raw, profiles, rows.target, rows.labels, **how)
    summaries += _summaries_of_others(rows)
    possible = {} if rows.groups is not None else possible_groups(profiles, raw.n_rows)
    return _assemble(rows, learnt, {each.column.name: each.column for each in profiles}, summaries, possible)


def _as_given(rows: LabelledRows, features: list[Column], scale: str) -> Preparation:
    """Take columns of numbers as they are, or scaled; refuse any other column."""
    raw = rows.raw
    if not features:
        raise ValueError(f"{raw.source} has no column left besides the target {rows.target!r}")
    treatments = []
    for column in features:
        if not isinstance(column, NumberColumn):
            raise ValueError(
                f"{raw.source}: column {column.name!r} does not hold numbers alone; prepare='auto' of read_table makes "
                f"numbers of it, and drop=[{column.name!r}] leaves it out"
            )
        check_finite(column, raw)
        if column.rounded:
            raw.cautions.append(
                f"Column {column.name!r} has {counted(column.rounded, 'integer')} beyond 2**53, rounded: "
                "an id? Numbers that differ may have become equal."
            )
        center, spread = learn_scale(column.values, "none" if "=" in column.name else scale)  # dummies stay 0 and 1
        treatments.append(GivenNumber(column.name, center=center, spread=spread))
    raw.notes.append(_SCALED[scale])
    return Preparation(tuple(treatments), rows.target, rows.task)


def _summaries_of_others(rows: LabelledRows) -> tuple[ColumnSummary, ...]:
    """Describe the columns of groups and of time."""
    found = []
    roles = ((rows.groups, "groups", "tells which rows belong together"), (rows.time, "time", "the order of the rows"))
    for name, kind, what in roles:
        if name is not None:
            column = rows.raw.column(name)
            assert not isinstance(column, OtherColumn)
            values = column.codes if isinstance(column, TextColumn) else column.values
            found.append(ColumnSummary(name, kind, what, int(column.gaps.sum()), len(np.unique(values)), 0))
    return tuple(found)


def _assemble(
    rows: LabelledRows,
    preparation: Preparation,
    read: Mapping[str, Column] | None = None,
    summaries: tuple[ColumnSummary, ...] = (),
    possible: Mapping[str, Ints] | None = None,
    *,
    is_own: bool = True,
) -> Table:
    """Make the features of a table, the one that was learnt from or another.

    `read` are the columns as their profiles have them; None where they are still to be read.
    """
    raw, labels, unseen = rows.raw, rows.labels, UnseenValues()
    used = [each.name for each in preparation.columns]
    ready = preparation.read(raw, unseen) if read is None else replace(raw, columns=[read[name] for name in used])
    left = set(raw.names).difference(used)
    raw.columns = [column for column in raw.columns if column.name in left]  # the others' memory may become that of X
    own = None
    if is_own and labels is not None and any(isinstance(each, SharesFeatures) for each in preparation.columns):
        keys = row_keys(ready, labels.codes, 0)
        if rows.groups is None:
            folds = stratified_folds(labels.codes, N_FOLDS, keys)
        else:
            folds = grouped_folds(labels.codes, group_numbers(raw.column(rows.groups), []), N_FOLDS, keys)
        own = OwnLabels(labels.codes, len(labels.classes), folds, labels.y if labels.task == "regression" else None)
    by_name = {column.name: column for column in ready.columns}
    X = check_points(preparation.features(ready, own, consume=True), min_rows=1)
    if not is_own:
        raw.notes += unseen.notes()
    tabular = None
    if summaries or not is_own:  # numbers as they are need none
        names = preparation.feature_names
        is_plain = preparation.is_plain
        tabular = TabularView(X, np.zeros(len(names), bool), names) if is_plain else preparation.tabular(ready, X)
    kept = {each.name: by_name[each.name] for each in preparation.columns if not each.is_recoverable}
    return rows.table(X, preparation, columns=summaries, tabular=tabular, kept=kept, possible=possible)


def prepare_alike(raw: RawTable, preparation: Preparation, *, keep_missing_as_class: bool = False) -> Table:
    """Make a table ready as another was; its target may be missing."""
    used = {column.name for column in preparation.columns}
    unused = [name for name in raw.names if name not in used and name != preparation.target]
    if unused:
        raw.notes.append(f"Columns not used: {', '.join(map(repr, unused[:6]))}{' and more' * (len(unused) > 6)}.")
    labels = None
    target = preparation.target
    if target in raw.names and not keep_missing_as_class:
        without_missing_labels(raw, target)
    if target in raw.names and preparation.task == "regression" and not raw.column(target).gaps.all():
        choose_task(raw, target, preparation.task)
        put_numbers(raw, target)
    n_missing = len(find_missing_labels(raw, target)) if target in raw.names else raw.n_rows
    if 0 < n_missing < raw.n_rows:
        what = f"{counted(n_missing)} of {counted(raw.n_rows)} rows have no label in {target!r}"
        raw.notes.append(f"{what}: the labels are left aside.")
    if n_missing == 0:
        labels = read_target(raw, target, preparation.task)
    raw.notes.append("The columns were made ready as those of the first table were.")
    rows = LabelledRows(raw, labels, target, None, None, raw.n_samples)
    return _assemble(rows, preparation, is_own=False)


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
