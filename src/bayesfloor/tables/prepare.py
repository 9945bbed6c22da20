"""Columns of a table, and what is wanted of them -> a `Table`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import ColumnSummary, Table, TabularView
from bayesfloor.data.target_encoding import N_FOLDS
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.text import counted
from bayesfloor.tables.automatic import learn_automatically
from bayesfloor.tables.category_features import OwnLabels, SharesFeatures
from bayesfloor.tables.columns import (
    Column,
    OtherColumn,
    RawTable,
    TextColumn,
)
from bayesfloor.tables.labelled_rows import LabelledRows, labelled, row_keys
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.profiles import possible_groups, profile_column
from bayesfloor.tables.readings import UnseenValues
from bayesfloor.tables.strict import learn_preparation
from bayesfloor.tables.targets import (
    Labels,
    find_missing_labels,
    number_target,
    read_target,
    without_missing_labels,
)


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
    if options.strict:
        known = replace(raw, columns=[column for column in raw.columns if column.name not in apart - {rows.target}])
        return _assemble(rows, replace(learn_preparation(known, rows.target, **how), task=rows.task))
    features = [column for column in raw.columns if column.name not in apart]
    profiles = [profile_column(column, raw, options.kinds.get(column.name)) for column in features]
    learnt, summaries = learn_automatically(raw, profiles, rows.target, rows.labels, **how)
    summaries += _summaries_of_others(rows)
    possible = {} if rows.groups is not None else possible_groups(profiles, raw.n_rows)
    return _assemble(rows, learnt, {each.column.name: each.column for each in profiles}, summaries, possible)


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
        folds = stratified_folds(labels.codes, N_FOLDS, row_keys(ready, labels.codes, 0))
        own = OwnLabels(labels.codes, len(labels.classes), folds, labels.y if labels.task == "regression" else None)
    by_name = {column.name: column for column in ready.columns}
    X = check_points(preparation.features(ready, own, consume=True), min_rows=1)
    if not is_own:
        raw.notes += unseen.notes()
    tabular = None
    if summaries:
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
    n_missing = len(find_missing_labels(raw, target)) if target in raw.names else raw.n_rows
    if 0 < n_missing < raw.n_rows:
        what = f"{counted(n_missing)} of {counted(raw.n_rows)} rows have no label in {target!r}"
        raw.notes.append(f"{what}: the labels are left aside.")
    if n_missing == 0:
        if preparation.task == "regression":
            raw = number_target(raw, target, strict=True)
        labels = read_target(raw, target, preparation.task)
    raw.notes.append("The columns were made ready as those of the first table were.")
    rows = LabelledRows(raw, labels, target, None, None, raw.n_rows)
    return _assemble(rows, preparation, is_own=False)
