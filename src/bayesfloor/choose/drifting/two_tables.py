"""Two tables -> one whose columns mean the same in all rows, and what tells which rows are new.

Kinds of columns are told from both tables together, and one preparation is learnt from both. A column that numbers the
rows, names them, or tells when they were seen differs between any two tables, so it is left out, and named.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.choose.drifting.moved import gap_of
from bayesfloor.data.labels import as_array
from bayesfloor.data.points import check_points, host_array
from bayesfloor.data.prepared_table import Table, TabularView
from bayesfloor.data.sampling import stratified_rows
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import check_same_index, column_named
from bayesfloor.runtime.text import counted, listed_names
from bayesfloor.tables.arguments import array_of_file, is_file
from bayesfloor.tables.automatic import learn_automatically
from bayesfloor.tables.column_evidence import profile_columns
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, RawTable, TextColumn, text_column
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import is_eager_frame, raw_of_array, raw_of_frame
from bayesfloor.tables.joining import join_tables, names_of_text_in_some
from bayesfloor.tables.labelled_rows import group_numbers, labelled, row_keys
from bayesfloor.tables.options import ReadOptions, as_names
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.profiles import ColumnProfile, profile_column, words_of
from bayesfloor.tables.sources import draw_rows
from bayesfloor.tables.targets import Labels, find_column
from bayesfloor.tables.unlabelled import find_left_out

#: Rows that are compared at the most, of both tables together, where the caller does not say.
MOST_ROWS = 50_000
#: Share of the rows that lie elsewhere from which a date, or a number named like one, tells when rows were seen.
_APART = 0.9
_TIME_NAME = re.compile(r"(.*_)?(year|yr|date|timestamp|epoch)")


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Two tables as one, in an order that does not depend on that of their rows.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The features.
    tabular : TabularView
        The same for trees and boosting.
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table.
    profiles : tuple of ColumnProfile
        The columns in use, as they are read.
    preparation : Preparation
        How they became features.
    left_out : dict of str to str
        Columns that would tell any two tables apart, and why.
    labels : Labels or None
        The target of `labelled_rows`.
    labelled_rows : ndarray of int
        The rows that have a label; empty without a target.
    groups : ndarray of shape (n_rows,) or None
        Rows that belong together.
    time : ndarray of shape (n_rows,) or None
        When each row was seen.
    given : ndarray of shape (n_rows,)
        The place of each row as they were given, those of the old table first.
    n_samples : int
        Rows given.
    findings : tuple of Finding
        About rows without a label.
    """

    X: Floats
    tabular: TabularView
    is_new: Bools
    profiles: tuple[ColumnProfile, ...]
    preparation: Preparation
    left_out: dict[str, str]
    labels: Labels | None
    labelled_rows: Ints
    groups: Ints | None
    time: Floats | None
    given: Ints
    n_samples: int
    findings: tuple[Finding, ...]

    @property
    def words(self) -> dict[str, Floats]:
        """The components of columns of text."""
        places = dict(zip(self.preparation.column_names, self.preparation.feature_groups, strict=True))
        return {p.column.name: self.X[:, places[p.column.name]] for p in self.profiles if p.kind == "text"}


def two_tables(
    old: Any,
    new: Any,
    *,
    y: Any = None,
    task: str = "auto",
    groups: Any = None,
    time: Any = None,
    drop: Any = (),
    max_rows: int | None = None,
    seed: int = 0,
) -> TwoTables:
    """Read two tables, and make their columns ready together; see `drift` for the parameters."""
    if groups is not None and time is not None:
        raise ValueError("give groups or time, not both: names are dealt out to groups, or to stretches of time")
    beside = {"y": y, "groups": groups, "time": time}
    names = {name: _name_of(name, given, old) for name, given in beside.items()}
    pairs = {name: given for name, given in beside.items() if given is not None and names[name] is None}
    tables, drawn = _read_both(old, new, names["y"], seed)
    dropped = as_names(drop, "drop", old)
    for name, given in pairs.items():
        for side, table, values in zip(("old", "new"), (old, new), given, strict=True):
            check_same_index({side: table, f"{name} of {side}": values})
        unused = names[name] = _unused(name, tables)
        for raw, rows, values in zip(tables, drawn, given, strict=True):
            raw.columns.append(_column_of(unused, values, raw, rows, name))
    without = [raw.source for raw in tables if names["y"] not in raw.names]
    if len(without) == 1 and names["y"] is not None:  # as new data is, as long as nobody knows its labels
        warn_caller(f"{without[0]} has no column {names['y']!r}: labels are not compared", UserWarning)
        dropped, names["y"] = (*dropped, names["y"]), None
    _check_columns(tables[0], tables[1], dropped)
    for raw in tables:
        raw.columns = [column for column in raw.columns if column.name not in dropped]
    raw = join_tables(tables)
    used = {name: find_column(raw, wanted) for name, wanted in names.items() if wanted is not None}
    apart = [used[name] for name in ("y", "groups", "time") if name in used]
    labels, labelled_rows = _labels_of(raw, used.get("y"), task)
    n_among = None if raw.n_drawn_from else raw.n_rows
    findings = tuple(find_left_out(raw.left_out, n_among, "Figures of the target"))
    group_codes = _groups_of(raw, used["groups"]) if "groups" in used else None
    moments = _time_of(raw, used["time"]) if "time" in used else None
    is_new = np.arange(raw.n_rows) >= tables[0].n_rows
    profiles = profile_columns([column for column in raw.columns if column.name not in apart], raw, {})
    left_out = _telling_columns(profiles, raw, is_new)
    order = _order_of_rows(raw, is_new, max_rows, seed)
    kept = [replace(each, column=each.column.take(order)) for each in profiles if each.column.name not in left_out]
    ready = replace(raw.take(order), columns=[each.column for each in kept])
    _check_any(kept, left_out)
    preparation, _ = learn_automatically(ready, kept, "", None, encode=None, scale="standard", impute=None)
    by_name = {each.column.name: each for each in kept}
    ready = replace(ready, columns=[by_name[each.name].column for each in preparation.columns])
    X = check_points(preparation.features(ready), min_rows=2)
    place = np.full(raw.n_rows, -1)
    place[order] = np.arange(len(order))
    if labels is not None:
        is_kept = place[labelled_rows] >= 0
        in_order = np.argsort(place[labelled_rows[is_kept]])
        rows = np.flatnonzero(is_kept)[in_order]
        labels, labelled_rows = labels.take(rows), place[labelled_rows[rows]]
    return TwoTables(
        X=X,
        tabular=preparation.tabular(ready, X),
        is_new=is_new[order],
        profiles=tuple(by_name[each.name] for each in preparation.columns),
        preparation=preparation,
        left_out=left_out,
        labels=labels,
        labelled_rows=labelled_rows,
        groups=None if group_codes is None else np.unique(group_codes[order], return_inverse=True)[1],
        time=None if moments is None else moments[order],
        given=order,
        n_samples=raw.n_samples,
        findings=findings,
    )


def _name_of(parameter: str, given: Any, old: Any) -> str | None:
    """Return the column that is named; None for a pair of arrays, and where nothing is given."""
    named = column_named(old, given)
    if given is None or named is not None:
        return named
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"{parameter} must name a column of both tables, or be a pair of arrays, one for each table")
    return None


def _read_both(old: Any, new: Any, target: str | None, seed: int) -> tuple[list[RawTable], list[Ints | None]]:
    """Return the columns of both tables, and which rows were drawn of a table that is too large, by the seed.

    Text that one of them has as numbers is text in both.
    """
    how: dict[str, Any] = {"target": target or ""}
    read = [_raw(given, name, how, seed) for given, name in ((old, "old"), (new, "new"))]
    tables = [raw for raw, _ in read]
    mixed = names_of_text_in_some(tables)
    if mixed and not any(isinstance(given, str) and given == "-" for given in (old, new)):
        # numbers are read again as they are written: "007" is not "7"
        how["categorical"] = mixed
        tables = [_raw(given, name, how, seed)[0] for given, name in ((old, "old"), (new, "new"))]
    names = [raw.source for raw in tables]
    for raw, name in zip(tables, ("old", "new"), strict=True):
        raw.source = f"{name} ({raw.source})" if names[0] == names[1] and raw.source != name else raw.source
        raw.target = None
    return tables, [rows for _, rows in read]


def _raw(given: Any, name: str, how: dict[str, Any], seed: int) -> tuple[RawTable, Ints | None]:
    """Return the columns of a file, a data frame or an array, and the rows of it that were drawn; None for all."""
    if isinstance(given, Table):
        raise TypeError(f"{name} is a Table, which was made ready by itself; give the file or the data frame instead")
    given = array_of_file(given)
    if (drawn := draw_rows(given, seed, **how)) is not None:
        if drawn.is_sampled or drawn.frame is None:
            return drawn.raw, drawn.rows
        given = drawn.frame
    if is_file(given):
        return read_raw(given, **how), None
    if is_eager_frame(given):
        return replace(raw_of_frame(given, how["target"] or None), source=name), None
    points = np.asarray(host_array(given))
    if points.ndim != 2 or points.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a file, a data frame or a matrix of numbers; got an array of shape "
                         f"{points.shape} and type {points.dtype}")  # fmt: skip
    if not all(points.shape):
        raise ValueError(f"{name} has {points.shape[0]} rows and {points.shape[1]} columns")
    return raw_of_array(points.astype(np.float64), name), None


def _column_of(name: str, given: Any, raw: RawTable, rows: Ints | None, parameter: str) -> Column:
    """Make a column of values that stand beside a table, of which some rows may have been drawn."""
    values = as_array(given)
    if values.shape != (raw.n_samples,):
        raise ValueError(f"{parameter} has shape {values.shape} for {raw.source}, which has {raw.n_samples} rows")
    values = values if rows is None else values[rows]
    if values.dtype.kind in "biuf":
        return NumberColumn(name, values.astype(np.float64), is_truth=values.dtype.kind == "b")
    texts = ["" if value is None or value != value else str(value) for value in values.tolist()]
    return text_column(name, texts, np.arange(len(texts)), frozenset({""}))


def _unused(name: str, tables: Sequence[RawTable]) -> str:
    while any(name in raw.names for raw in tables):
        name += "_"
    return name


def _check_columns(old: RawTable, new: RawTable, dropped: Sequence[str]) -> None:
    """Refuse tables whose columns differ, and tables too small to be compared."""
    for raw in (old, new):
        if raw.n_rows < 2:
            raise ValueError(f"{raw.source} has {raw.n_rows} row{'s' * (raw.n_rows != 1)}; at least two are needed")
    for raw, other in ((old, new), (new, old)):
        lacking = [name for name in other.names if name not in raw.names and name not in dropped]
        if lacking:
            raise ValueError(
                f"{raw.source} lacks {listed_names(lacking)}, which {other.source} has; both tables need the same "
                "columns, and drop= (--drop) leaves some out"
            )
    for name in dropped:
        if name not in old.names and name not in new.names:
            find_column(old, name)


def _labels_of(raw: RawTable, target: str | None, task: str) -> tuple[Labels | None, Ints]:
    """Return the target, and the rows that have one."""
    if target is None:
        return None, np.empty(0, np.int64)
    own = replace(raw, columns=[raw.column(target)], lines=np.arange(raw.n_rows), notes=[], cautions=[], by=None)
    found = labelled(own, ReadOptions(target=target, task=task))
    return found.labels, found.raw.lines


def _groups_of(raw: RawTable, name: str) -> Ints:
    column = raw.column(name)
    if isinstance(column, NumberColumn | DateColumn):
        values = column.values
        texts = np.array([repr(value) for value in values.tolist()])
        column = text_column(name, texts.tolist(), np.where(column.gaps, -1, np.arange(len(values))), frozenset())
    return group_numbers(column, raw.notes)


def _time_of(raw: RawTable, name: str) -> Floats:
    column = profile_column(raw.column(name), raw).column
    if not isinstance(column, NumberColumn | DateColumn):
        raise ValueError(f"the column {name!r} holds neither dates nor numbers, so it tells no order")
    if column.gaps.any():
        raise ValueError(f"rows of the tables without a value in {name!r}, the time: {counted(int(column.gaps.sum()))}")
    return column.values


def _telling_columns(profiles: Sequence[ColumnProfile], raw: RawTable, is_new: Bools) -> dict[str, str]:
    """Return columns that number, name or date the rows, so that they would tell any two tables apart."""
    numbered = []
    for rows in (np.flatnonzero(~is_new), np.flatnonzero(is_new)):
        own = raw.take(rows)
        own.columns = [column for column in own.columns if isinstance(column, NumberColumn | TextColumn)]
        numbered.append({each.column.name for each in profile_columns(own.columns, own, {}) if each.kind == "id"})
    found = {}
    for each in profiles:
        name = each.column.name
        if each.kind == "id" or all(name in of_table for of_table in numbered):
            found[name] = "names or numbers the rows"
        elif _is_time(each) and gap_of(each.column)(is_new) >= _APART:
            found[name] = "tells when rows were seen"
    return found


def _is_time(each: ColumnProfile) -> bool:
    if each.kind == "date":
        return True
    column = each.column
    if not isinstance(column, NumberColumn) or not _TIME_NAME.fullmatch(words_of(column.name)):
        return False
    known = column.values[~column.gaps]
    return bool((known == np.floor(known)).all())


def _order_of_rows(raw: RawTable, is_new: Bools, max_rows: int | None, seed: int) -> Ints:
    """Choose rows, as large a share of each table, in an order by their values alone."""
    codes = is_new.astype(np.int64)
    keys = row_keys(raw, codes, seed)
    rows = stratified_rows(codes, MOST_ROWS if max_rows is None else max_rows, keys)
    return rows[np.argsort(keys[rows], kind="stable")]


def _check_any(kept: Sequence[ColumnProfile], left_out: dict[str, str]) -> None:
    """Refuse tables that have nothing to compare."""
    if any(each.kind not in ("constant", "empty", "other") for each in kept):
        return
    why = [f"{name!r} {reason}" for name, reason in left_out.items()]
    why += [f"{each.column.name!r} is {each.kind}" for each in kept]
    raise ValueError(f"no column is left to compare: {'; '.join(why[:6])}")
