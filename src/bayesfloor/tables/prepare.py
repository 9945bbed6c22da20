"""Columns of a table, and what is wanted of them -> a `Table`."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.column_order import bits_of, column_keys, hash_of_rows
from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import ColumnSummary, Table, TabularView
from bayesfloor.data.sampling import copy_numbers, stratified_rows
from bayesfloor.data.subgroups import Subgroups, check_subgroups
from bayesfloor.data.target_encoding import N_FOLDS
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, mix64
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.automatic import learn_automatically
from bayesfloor.tables.category_features import OwnLabels, SharesFeatures
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    as_text,
    count_gaps,
    find_gaps,
)
from bayesfloor.tables.encoding import Preparation, learn_preparation
from bayesfloor.tables.kinds import kind_of, possible_groups
from bayesfloor.tables.readings import UnseenValues
from bayesfloor.tables.targets import (
    Labels,
    choose_target,
    choose_task,
    cleaned_target,
    find_column,
    find_missing_labels,
    guess_target,
    number_target,
    read_target,
    said_of_missing,
    without_missing_labels,
)


@dataclass(frozen=True)
class Wishes:
    """What a caller says about the columns of a table; see `read_table`."""

    target: str | int | None = None
    task: str = "auto"
    groups: str | int | None = None
    time: str | int | None = None
    strict: bool = False
    encode: str | None = None
    scale: str = "standard"
    impute: str | None = None
    drop_missing: bool = False
    drop: tuple[str, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)  # of columns whose kind is given
    max_rows: int | None = None
    seed: int = 0
    keep_missing_as_class: bool = False


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

    def for_table(self) -> dict[str, Any]:
        """Return the fields of a `Table` that do not depend on the features."""
        by_name = {column.name: column for column in self.raw.columns}
        groups = None if self.groups is None else group_numbers(by_name[self.groups], self.raw.notes)
        time = None if self.time is None else by_name[self.time]
        assert time is None or isinstance(time, NumberColumn | DateColumn)
        return {
            "y": None if self.labels is None else self.labels.y,
            "classes": np.empty(0) if self.labels is None else self.labels.classes,
            "target": self.target,
            "task": self.task,
            "source": self.raw.source,
            "lines": self.raw.lines,
            "n_samples": self.n_samples,
            "notes": tuple(self.raw.notes),
            "cautions": tuple(self.raw.cautions),
            "row_word": self.raw.unit,
            "files": self.raw.files,
            "file_codes": self.raw.file_codes,
            "groups": groups,
            "time": None if time is None else time.values,
            "by": self.raw.by,
        }


def labelled(raw: RawTable, wishes: Wishes, labels: Labels | None = None, *, is_labelled: bool = True) -> LabelledRows:
    """Find the target, groups and time; leave out columns and rows as asked, and rows without a label.

    Parameters
    ----------
    raw : RawTable
        The columns. They are changed.
    wishes : Wishes
        What the caller says.
    labels : Labels or None
        The labels, where they are no column.
    is_labelled : bool
        Whether there are labels at all.

    Returns
    -------
    LabelledRows
    """
    n_samples = raw.n_rows
    wanted, groups, time = (
        None if name is None else find_column(raw, name) for name in (wishes.target, wishes.groups, wishes.time)
    )
    for name in (*wishes.drop, *wishes.kinds):
        find_column(raw, name)
    if wanted in wishes.drop:
        raise ValueError(f"{raw.source}: {wanted!r} is the target, and cannot be left out")
    raw.columns = [column for column in raw.columns if column.name not in wishes.drop]
    if wishes.drop:
        raw.notes.append(f"Left out as asked: {', '.join(map(repr, wishes.drop))}.")
    if not is_labelled or labels is not None:
        target = "" if labels is None else labels.name
    elif wishes.strict or wanted is not None or raw.target is not None:
        target = choose_target(raw, wanted)
    else:
        target = guess_target(raw, [name for name in (groups, time) if name is not None], wishes.task)
    if raw.by is not None and raw.by.column == target and labels is None:
        raise ValueError(f"{raw.source}: {target!r} is the target; subgroups by it would tell the answer")
    taken = [name for name in (target, groups, time) if name is not None]
    if len(set(taken)) < len(taken):
        raise ValueError(f"{raw.source}: target, groups and time need a column each; got {', '.join(map(repr, taken))}")
    for name in taken:
        if name in wishes.drop:
            raise ValueError(f"{raw.source}: {name!r} is needed, and cannot be left out")
    raw, kept = _with_groups_and_time(raw, groups, time)
    labels = labels if labels is None or len(kept) == n_samples else labels.take(kept)
    reads_target = is_labelled and labels is None
    marks = without_missing_labels(raw, target) if reads_target and not wishes.keep_missing_as_class else {}
    task = choose_task(raw, target, wishes.task, strict=wishes.strict) if reads_target else "classification"
    if wishes.strict:
        categorical = [name for name, kind in wishes.kinds.items() if kind == "category"]
        if len(categorical) < len(wishes.kinds):
            raise ValueError(f"{raw.source}: numeric=, text= and date= need prepare='auto'")
        if categorical:
            raw.notes.append(f"Treated as text, as asked: {', '.join(map(repr, categorical))}.")
        raw.columns = [as_text(c) if c.name in categorical and c.name != target else c for c in raw.columns]
    if not reads_target:
        return LabelledRows(raw, labels, target, groups, time, n_samples)
    if marks:
        hint = "; read_table(keep_missing_as_class=True) (--keep-missing-as-class) keeps such labels as classes"
        hint = hint if task == "classification" else ""
        raw.notes.append(f"Missing labels in {target!r}: {said_of_missing(marks)}{hint}.")
    if task == "regression":
        raw = number_target(raw, target, strict=wishes.strict)
    elif not wishes.strict:
        raw = cleaned_target(raw, target)
    if wishes.strict or wishes.drop_missing:
        raw = _without_missing(raw, target, wishes, list(marks))
    raw, labels = _sampled(raw, read_target(raw, target, task), wishes)
    return LabelledRows(raw, labels, target, groups, time, n_samples)


def subgroups_by(raw: RawTable, by: str | int) -> Subgroups | None:
    """Return the groups of rows that a column tells; the column stays what it is."""
    name = find_column(raw, by)
    column = kind_of(next(column for column in raw.columns if column.name == name), raw).column
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


def make_table(raw: RawTable, wishes: Wishes, *, labels: Labels | None = None, is_labelled: bool = True) -> Table:
    """Make the columns of a file ready, by what the caller says or by what they hold.

    Parameters
    ----------
    raw : RawTable
        The columns. They are changed.
    wishes : Wishes
        What the caller says.
    labels, is_labelled
        As for `labelled`.

    Returns
    -------
    Table
    """
    return prepared(labelled(raw, wishes, labels, is_labelled=is_labelled), wishes)


def prepared(rows: LabelledRows, wishes: Wishes) -> Table:
    """Make features of rows whose labels are known; see `make_table`."""
    raw = rows.raw
    how: dict[str, Any] = {"encode": wishes.encode, "scale": wishes.scale, "impute": wishes.impute}
    apart = {rows.target, rows.groups, rows.time}
    if wishes.strict:
        features = replace(raw, columns=[column for column in raw.columns if column.name not in apart - {rows.target}])
        return _assemble(rows, replace(learn_preparation(features, rows.target, **how), task=rows.task))
    kinds = [kind_of(column, raw, wishes.kinds.get(column.name)) for column in raw.columns if column.name not in apart]
    learnt, summaries = learn_automatically(raw, kinds, rows.target, rows.labels, **how)
    summaries += _summaries_of_others(rows)
    maybe = {} if rows.groups is not None else possible_groups(kinds, raw.n_rows)
    return _assemble(rows, learnt, summaries, maybe)


def _summaries_of_others(rows: LabelledRows) -> tuple[ColumnSummary, ...]:
    """Describe the columns of groups and of time."""
    found = []
    said = ((rows.groups, "groups", "tells which rows belong together"), (rows.time, "time", "the order of the rows"))
    for name, kind, what in said:
        if name is not None:
            column = next(column for column in rows.raw.columns if column.name == name)
            assert not isinstance(column, OtherColumn)
            values = column.codes if isinstance(column, TextColumn) else column.values
            found.append(ColumnSummary(name, kind, what, count_gaps(column), len(np.unique(values)), 0))
    return tuple(found)


def _with_groups_and_time(raw: RawTable, groups: str | None, time: str | None) -> tuple[RawTable, Ints]:
    """Make text of the groups and numbers of the time; rows without a time are left out. Return which rows are kept."""
    kept = np.arange(raw.n_rows)
    if time is not None:
        found = kind_of(next(c for c in raw.columns if c.name == time), raw).column
        if not isinstance(found, NumberColumn | DateColumn):
            raise ValueError(f"{raw.source}: the column {time!r} holds neither dates nor numbers, so it tells no order")
        raw.columns[raw.names.index(time)] = found
        gaps = np.isnan(found.values)
        if gaps.any():
            raw.notes.append(f"{counted(int(gaps.sum()))} rows without a value in {time!r} left out.")
            if gaps.all():
                raise ValueError(f"{raw.source}: the column {time!r} has no values at all, so it tells no order")
            kept = np.flatnonzero(~gaps)
            raw = raw.take(kept)
    if groups is not None:
        column = as_text(next(c for c in raw.columns if c.name == groups))
        if isinstance(column, DateColumn):
            column = as_text(NumberColumn(column.name, column.values))
        if not isinstance(column, TextColumn):
            raise ValueError(f"{raw.source}: the column {groups!r} cannot tell groups apart")
        raw.columns[raw.names.index(groups)] = column
    return raw, kept


def group_numbers(column: Column, notes: list[str]) -> Ints:
    """Return the group of each row; a row without a value is a group of its own."""
    assert isinstance(column, TextColumn)
    numbers = column.codes.copy()
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        numbers[missing] = len(column.categories) + np.arange(len(missing))
        notes.append(f"{counted(len(missing))} rows without a value in {column.name!r} are groups of their own.")
    if len(np.unique(numbers)) < 2:
        raise ValueError(f"the column {column.name!r} has one group only; at least two are needed")
    return numbers


def _sampled(raw: RawTable, labels: Labels, wishes: Wishes) -> tuple[RawTable, Labels]:
    """Keep as many rows as were asked for, as large a share of each class."""
    if wishes.max_rows is None or wishes.max_rows >= raw.n_rows:
        return raw, labels
    if wishes.max_rows < max(2 * len(labels.classes), 2):
        raise ValueError(
            f"max_rows={wishes.max_rows} is less than two rows for each of the {len(labels.classes)} classes"
        )
    rows = stratified_rows(labels.codes, wishes.max_rows, _row_keys(raw, labels.codes, wishes.seed))
    share = "each class" if labels.task == "classification" else "low and high values"
    raw.notes.append(
        f"A sample of {counted(len(rows))} of {counted(raw.n_rows)} rows is used, as large a share of {share}."
    )
    return raw.take(rows), labels.take(rows)


def _row_keys(table: RawTable, codes: Ints, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row, from its values and the seed, whatever the order of the columns.

    Copies of a row get different ones.
    """
    columns = [_bits_of(column) for column in table.columns if not isinstance(column, OtherColumn)]
    hashes = np.zeros(len(codes), np.uint64)
    for column, key in zip(columns, column_keys(columns, hash_of_rows(columns)), strict=True):
        hashes += mix64(column() ^ key)
    copy = copy_numbers(hashes, codes)
    return mix64(hashes + copy * GOLDEN ^ mix64(np.array([seed], np.uint64) + GOLDEN))


def _bits_of(column: NumberColumn | DateColumn | TextColumn) -> Callable[[], NDArray[np.uint64]]:
    """Return what gives a number for each value of a column."""
    if not isinstance(column, TextColumn):
        return partial(bits_of, column.values)
    texts = [*column.categories, "\0missing"]
    return partial(np.take, np.array([_text_hash(text) for text in texts], np.uint64), column.codes)


def _text_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _assemble(
    rows: LabelledRows,
    preparation: Preparation,
    columns: tuple[ColumnSummary, ...] = (),
    maybe: dict[str, Ints] | None = None,
    *,
    is_own: bool = True,
) -> Table:
    """Make the features of a table, the one that was learnt from or another."""
    raw, labels, unseen = rows.raw, rows.labels, UnseenValues()
    read = preparation.read(raw, unseen)
    used = {each.name for each in preparation.columns}
    raw.columns = [column for column in raw.columns if column.name not in used]  # their memory may become that of X
    own = None
    if is_own and labels is not None and any(isinstance(each, SharesFeatures) for each in preparation.columns):
        folds = stratified_folds(labels.codes, N_FOLDS, _row_keys(read, labels.codes, 0))
        own = OwnLabels(labels.codes, len(labels.classes), folds, labels.y if labels.task == "regression" else None)
    by_name = {column.name: column for column in read.columns}
    X = check_points(preparation.features(read, own, consume=True), min_rows=1)
    if not is_own:
        raw.notes += unseen.notes()
    tabular = None
    if columns:
        names = preparation.feature_names
        is_plain = preparation.is_plain
        tabular = TabularView(X, np.zeros(len(names), bool), names) if is_plain else preparation.tabular(read, X)
    return Table(
        X=X,
        feature_names=preparation.feature_names,
        feature_groups=preparation.feature_groups,
        column_names=preparation.column_names,
        preparation=preparation,
        columns=columns,
        tabular=tabular,
        possible_groups=maybe or {},
        kept={each.name: by_name[each.name] for each in preparation.columns if not each.is_recoverable},
        **rows.for_table(),
    )


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


def _without_missing(raw: RawTable, target: str, wishes: Wishes, marks: Sequence[str]) -> RawTable:
    """Leave out rows with gaps where that was asked for; refuse gaps that nothing was asked about.

    `marks` are labels that were taken for missing.
    """
    no_label = find_missing_labels(raw, target)
    features = [column for column in raw.columns if column.name != target]
    if wishes.strict:  # which refuses dates for what they are
        features = [column for column in features if not isinstance(column, DateColumn)]
    if wishes.encode == "drop":
        features = [column for column in features if not hasattr(column, "categories")]
    gaps = [(column.name, count_gaps(column)) for column in features]
    gaps = [(name, number) for name, number in gaps if number]
    if not len(no_label) and not gaps:
        return raw
    has_gap = np.zeros(raw.n_rows, dtype=bool)
    if wishes.impute is None and gaps:
        has_gap = np.logical_or.reduce([marked for column in features if len(marked := find_gaps(column))])
    if not wishes.drop_missing:
        if len(no_label) == raw.n_rows:
            raise ValueError(
                f"{raw.source}: the target {target!r} has no values at all; name another column with target= (--target)"
                f"{', or leave it out with drop= (--drop) where lines end in a separator' * (raw.unit == 'line')}"
            )
        if len(no_label):
            such = f" ({listed(list(map(quoted, marks)), 4)} among them)" if marks else ""
            keep = ", and keep_missing_as_class=True (--keep-missing-as-class) keeps them as classes" if marks else ""
            raise ValueError(
                f"{raw.at(int(no_label[0]))}: {counted(len(no_label))} missing label{'s' * (len(no_label) > 1)} in "
                f"{target!r}{such}, the first here; drop_missing=True (--drop-missing) leaves such rows out{keep}"
            )
        if wishes.impute is None:
            columns = listed([f"{name!r} ({counted(number)})" for name, number in gaps], 6)
            first = int(np.flatnonzero(has_gap)[0])
            raise ValueError(
                f"{raw.at(first)}: missing values in {counted(int(has_gap.sum()))} rows, the first here, columns "
                f"{columns}; add impute='median' (--impute median) to fill them, or drop_missing=True "
                "(--drop-missing) to leave the rows out"
            )
        return raw
    has_gap[no_label] = True
    if not has_gap.any():
        return raw
    if has_gap.all():
        raise ValueError(f"{raw.source}: every row has a missing value; none is left")
    raw.notes.append(
        f"{counted(int(has_gap.sum()))} of {counted(raw.n_rows)} rows were left out: a value or the label is missing."
    )
    return raw.take(np.flatnonzero(~has_gap))
