"""Columns of a table -> the rows that have a label, and which columns are no features: target, groups and time."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import ColumnSummary, Origin, RowInfo, Table, TabularView
from bayesfloor.data.row_groups import Subgroups, check_subgroups
from bayesfloor.data.sampling import copy_numbers, stratified_rows
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, mix64
from bayesfloor.runtime.text import counted, quoted
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    as_text,
)
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.profiles import profile_column
from bayesfloor.tables.targets import (
    Labels,
    choose_target,
    choose_task,
    cleaned_target,
    find_column,
    guess_target,
    number_target,
    read_target,
    without_missing_labels,
)
from bayesfloor.tables.unlabelled import counted_labels, missing_kind


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows that have a label, and the columns that are no features."""

    raw: RawTable
    labels: Labels | None
    target: str
    groups: str | None
    time: str | None
    n_samples: int

    @property
    def task(self) -> str:
        """Whether the labels are classes or numbers."""
        return "classification" if self.labels is None else self.labels.task

    def table(
        self,
        X: Floats,
        preparation: Any,
        *,
        columns: tuple[ColumnSummary, ...] = (),
        tabular: TabularView | None = None,
        kept: Mapping[str, Column] | None = None,
        possible: Mapping[str, Ints] | None = None,
    ) -> Table:
        """Put the features of these rows together with all that is known of them."""
        raw = self.raw
        groups = None if self.groups is None else group_numbers(raw.column(self.groups), raw.notes)
        time = None if self.time is None else raw.column(self.time)
        assert time is None or isinstance(time, NumberColumn | DateColumn)
        return Table(
            X=X,
            y=None if self.labels is None else self.labels.y,
            target=self.target,
            classes=np.empty(0) if self.labels is None else self.labels.classes,
            task=self.task,
            feature_names=preparation.feature_names,
            feature_groups=preparation.feature_groups,
            column_names=preparation.column_names,
            preparation=preparation,
            origin=Origin(
                raw.source,
                raw.lines,
                self.n_samples,
                raw.row_word,
                raw.files,
                raw.file_codes,
                kept or {},
                is_drawn=raw.n_drawn_from is not None,
                left_out=raw.left_out,
            ),
            notes=tuple(raw.notes),
            cautions=tuple(raw.cautions),
            columns=columns,
            row_info=RowInfo(groups, None if time is None else time.values, raw.by, possible or {}),
            tabular=tabular,
        )


def labelled(
    raw: RawTable, options: ReadOptions, labels: Labels | None = None, *, is_labelled: bool = True
) -> LabelledRows:
    """Find the target, groups and time; leave out columns and rows as asked, and rows without a label.

    Parameters
    ----------
    raw : RawTable
        The columns. They are changed.
    options : ReadOptions
        What the caller says.
    labels : Labels or None
        The labels, where they are no column.
    is_labelled : bool
        Whether there are labels at all.

    Returns
    -------
    LabelledRows
    """
    n_samples, n_rows = raw.n_samples, raw.n_rows
    wanted, groups, time = (
        None if name is None else find_column(raw, name) for name in (options.target, options.groups, options.time)
    )
    for name in (*options.drop, *options.kinds):
        find_column(raw, name)
    if wanted in options.drop:
        raise ValueError(f"{raw.source}: {wanted!r} is the target, and cannot be left out")
    raw.columns = [column for column in raw.columns if column.name not in options.drop]
    if options.drop:
        raw.notes.append(f"Left out as asked: {', '.join(map(repr, options.drop))}.")
    if not is_labelled or labels is not None:
        target = "" if labels is None else labels.name
    elif wanted is not None or raw.target is not None:
        target = choose_target(raw, wanted)
    else:
        target = guess_target(raw, [name for name in (groups, time) if name is not None], options.task)
    if raw.by is not None and raw.by.column == target and labels is None:
        raise ValueError(f"{raw.source}: {target!r} is the target; subgroups by it would tell the answer")
    taken = [name for name in (target, groups, time) if name is not None]
    if len(set(taken)) < len(taken):
        raise ValueError(f"{raw.source}: target, groups and time need a column each; got {', '.join(map(repr, taken))}")
    for name in taken:
        if name in options.drop:
            raise ValueError(f"{raw.source}: {name!r} is needed, and cannot be left out")
    raw, kept = _with_groups_and_time(raw, groups, time)
    labels = labels if labels is None or len(kept) == n_rows else labels.take(kept)
    reads_target = is_labelled and labels is None
    marks = without_missing_labels(raw, target) if reads_target and not options.keep_missing_as_class else {}
    task = choose_task(raw, target, options.task) if reads_target else "classification"
    if not reads_target:
        return LabelledRows(raw, labels, target, groups, time, n_samples)
    if marks:
        hint = "; read_table(keep_missing_as_class=True) (--keep-missing-as-class) keeps such labels as classes"
        hint = hint if task == "classification" else ""
        raw.notes.append(f"Missing labels in {target!r}: {counted_labels(marks)}{hint}.")
    if task == "regression":
        raw = number_target(raw, target, marks)
    else:
        raw = cleaned_target(raw, target, marks)
    if options.drop_missing:
        raw = _without_missing(raw, target, options)
    read = read_target(raw, target, task)
    odd = [quoted(str(label)) for label in read.classes if missing_kind(str(label))]
    if odd and not options.keep_missing_as_class:
        raw.cautions.append(
            f"The target {target!r} has the label {', '.join(odd)}, which is kept as a class of its own; should it "
            "mean a missing label, empty the field."
        )
    raw, labels = _sampled(raw, read, options)
    return LabelledRows(raw, labels, target, groups, time, n_samples)


def subgroups_by(raw: RawTable, by: str | int) -> Subgroups | None:
    """Return the groups of rows that a column tells; the column stays what it is."""
    name = find_column(raw, by)
    column = profile_column(raw.column(name), raw).column
    if isinstance(column, OtherColumn):
        raise ValueError(f"{raw.source}: the column {name!r} cannot tell subgroups apart")
    if isinstance(column, NumberColumn) and column.is_truth:
        column = as_text(column)
    values: NDArray[Any]
    if isinstance(column, TextColumn):
        values = np.array([*column.categories, None], object)[column.codes]
    elif isinstance(column, DateColumn) and column.type_name != "times of day":
        gaps = np.isnan(column.values)
        values = np.where(gaps, 0.0, column.values).round().astype("datetime64[s]")
        values[gaps] = np.datetime64("NaT")
    else:
        assert not isinstance(column, OtherColumn)
        values = column.values
    return check_subgroups(values, raw.n_rows, name)


def _with_groups_and_time(raw: RawTable, groups: str | None, time: str | None) -> tuple[RawTable, Ints]:
    """Make text of the groups and numbers of the time; rows without a time are left out. Return which rows are kept."""
    kept = np.arange(raw.n_rows)
    if time is not None:
        found = profile_column(raw.column(time), raw).column
        if not isinstance(found, NumberColumn | DateColumn):
            raise ValueError(f"{raw.source}: the column {time!r} holds neither dates nor numbers, so it tells no order")
        raw.put(found)
        gaps = found.gaps
        if gaps.any():
            raw.notes.append(f"{counted(int(gaps.sum()), 'row')} without a value in {time!r} left out.")
            raw.left_out[f"without a value in {quoted(time)}"] = int(gaps.sum())
            if gaps.all():
                raise ValueError(f"{raw.source}: the column {time!r} has no values at all, so it tells no order")
            kept = np.flatnonzero(~gaps)
            raw = raw.take(kept)
    if groups is not None:
        column = as_text(raw.column(groups))
        if isinstance(column, DateColumn):
            column = as_text(NumberColumn(column.name, column.values))
        if not isinstance(column, TextColumn):
            raise ValueError(f"{raw.source}: the column {groups!r} cannot tell groups apart")
        raw.put(column)
    return raw, kept


def group_numbers(column: Column, notes: list[str]) -> Ints:
    """Return the group of each row; a row without a value is a group of its own."""
    assert isinstance(column, TextColumn)
    numbers = column.codes.copy()
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        numbers[missing] = len(column.categories) + np.arange(len(missing))
        notes.append(f"{counted(len(missing), 'row')} without a value in {column.name!r}: each is a group of its own.")
    if len(np.unique(numbers)) < 2:
        raise ValueError(f"the column {column.name!r} has one group only; at least two are needed")
    return numbers


def _sampled(raw: RawTable, labels: Labels, options: ReadOptions) -> tuple[RawTable, Labels]:
    """Keep as many rows as were asked for, as large a share of each class."""
    if options.max_rows is None or options.max_rows >= raw.n_rows:
        return raw, labels
    if options.max_rows < max(2 * len(labels.classes), 2):
        raise ValueError(
            f"max_rows={options.max_rows} is less than two rows for each of the {len(labels.classes)} classes"
        )
    rows = stratified_rows(labels.codes, options.max_rows, row_keys(raw, labels.codes, options.seed))
    share = "each class" if labels.task == "classification" else "low and high values"
    raw.notes.append(
        f"A sample of {counted(len(rows))} of {counted(raw.n_rows)} rows is used, as large a share of {share}."
    )
    return raw.take(rows), labels.take(rows)


def row_keys(table: RawTable, codes: Ints, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row, from its values and the seed, whatever the order of the columns.

    Copies of a row get different ones.
    """
    columns = [_bits_of(column) for column in table.columns if not isinstance(column, OtherColumn)]
    of_rows = np.zeros(len(codes), np.uint64)
    for column in columns:
        of_rows += mix64(column())
    of_rows = mix64(of_rows)
    hashes = np.zeros(len(codes), np.uint64)
    for column in columns:
        bits = column()
        # a number for the column, from its values and the rows that they stand in
        key = mix64(mix64(bits) ^ of_rows).sum(dtype=np.uint64)
        hashes += mix64(bits ^ key)
    copy = copy_numbers(hashes, codes)
    return mix64(hashes + copy * GOLDEN ^ mix64(np.array([seed], np.uint64) + GOLDEN))


def _bits_of(column: NumberColumn | DateColumn | TextColumn) -> Callable[[], NDArray[np.uint64]]:
    """Return what gives a number for each value of a column: the same for 0.0 and -0.0, and for every gap."""
    if not isinstance(column, TextColumn):
        values = column.values
        return lambda: np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    texts = [*column.categories, "\0missing"]
    return partial(np.take, np.array([_text_hash(text) for text in texts], np.uint64), column.codes)


def _text_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _without_missing(raw: RawTable, target: str, options: ReadOptions) -> RawTable:
    """Leave out rows with gaps."""
    if options.impute is not None:
        return raw
    features = [column for column in raw.columns if column.name != target]
    if options.encode == "drop":
        features = [column for column in features if not hasattr(column, "categories")]
    has_gap = np.zeros(raw.n_rows, dtype=bool)
    for column in features:
        if len(gaps := column.gaps):
            has_gap |= gaps
    if not has_gap.any():
        return raw
    if has_gap.all():
        raise ValueError(f"{raw.source}: every row has a missing value; none is left")
    raw.notes.append(
        f"{counted(int(has_gap.sum()))} of {counted(raw.n_rows)} rows were left out: a value or the label is missing."
    )
    raw.left_out["without a value or a label"] = int(has_gap.sum())
    return raw.take(np.flatnonzero(~has_gap))
