"""Votes as callers have them -> one record for each vote: its row, its annotator, its label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesfloor.data.labels import as_array, check_labels, is_missing
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import ParameterError, check_option
from bayesfloor.runtime.frames import as_narwhals, column_named, column_texts
from bayesfloor.runtime.text import listed, shown
from bayesfloor.tables.columns import UnknownColumnError
from bayesfloor.tables.frames import is_eager_frame

FORMS = ("counts", "labels", "long")
#: Names by which the columns of a long table are found, whatever the case; the first that is there counts.
ROW_NAMES = ("row", "row_id", "item", "item_id", "task", "task_id", "sample", "example", "id")
ANNOTATOR_NAMES = ("annotator", "annotator_id", "worker", "worker_id", "rater", "rater_id", "user", "user_id")
LABEL_NAMES = ("label", "vote", "class", "answer", "response", "rating", "annotation")
#: Maximum number of votes at one row; more are no votes but something else.
_MOST_VOTES = 1_000_000
#: Maximum number of classes that have a column each in the model; a fit of that size takes about a second.
MOST_COLUMNS = 32


@dataclass(frozen=True)
class VoteTable:
    """Votes that passed all checks.

    Attributes
    ----------
    row, label : ndarray of shape (n_votes,)
        The row of each vote, from 0, and its label's position among the classes.
    annotator : ndarray of shape (n_votes,) or None
        Its annotator's position among the names; None where nobody says who voted.
    n_samples : int
        Rows given, those without a vote among them.
    classes : ndarray
        The labels, sorted; of counts, in the order of the columns.
    names : ndarray or None
        The annotators.
    """

    row: Ints
    label: Ints
    annotator: Ints | None
    n_samples: int
    classes: NDArray[Any]
    names: NDArray[Any] | None = None

    @cached_property
    def counts(self) -> Ints:
        """Votes at each row for each class, of shape (n_samples, n_classes)."""
        return count_votes(self.row, self.label, self.n_samples, len(self.classes))


def count_votes(row: Ints, label: Ints, n_rows: int, n_classes: int) -> Ints:
    """Count votes by row and label."""
    flat = np.bincount(row * n_classes + label, minlength=n_rows * n_classes)
    return flat.reshape(n_rows, n_classes)


def check_votes(
    votes: Any, *, rows: Any = None, annotators: Any = None, labels: Any = None, form: Any = None, classes: Any = None
) -> VoteTable:
    """Read votes in any of their forms; see `vote_floor`."""
    if form is not None:
        check_option("form", form, FORMS)
    is_frame = is_eager_frame(votes)
    form = _form_of(votes, rows, labels, is_frame) if form is None else form
    if form != "counts" and classes is not None:
        raise ValueError("classes names the columns of a matrix of counts; labels carry their own names")
    if form != "long" and (rows is not None or labels is not None):
        raise ValueError("rows and labels describe a long table, with a line for each vote")
    if form == "counts":
        if annotators is not None:
            raise ValueError("counts do not tell who voted: leave annotators out, or pass labels or a long table")
        return _from_counts(votes, classes, is_frame)
    if form == "labels":
        return _from_matrix(votes, annotators, is_frame)
    return _from_long(votes, rows, annotators, labels, is_frame)


def _form_of(votes: Any, rows: Any, labels: Any, is_frame: bool) -> str:
    if rows is not None or labels is not None:
        return "long"
    if is_frame:
        names = column_texts(votes)
        if find_name(names, ROW_NAMES) is not None and find_name(names, LABEL_NAMES) is not None:
            return "long"
    matrix = _matrix(votes, is_frame)
    return "counts" if _is_numeric(matrix) else "labels"


def find_name(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the column that bears the first of the wanted names, whatever the case."""
    lowered = {name.lower(): name for name in reversed(names)}
    return next((lowered[each] for each in wanted if each in lowered), None)


def _matrix(votes: Any, is_frame: bool) -> NDArray[Any]:
    """Return a matrix with the types that its values had."""
    if is_frame:
        of_rows = find_name(column_texts(votes), ROW_NAMES)
        if of_rows is not None:
            raise ValueError(
                f"column {of_rows!r} looks like a name of the rows; leave it out of a matrix of votes, or give the "
                "frame a column of labels"
            )
        columns = [_values(votes, place) for place in range(len(votes.columns))]
        matrix = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        for place, column in enumerate(columns):
            matrix[:, place] = column
        return matrix
    if isinstance(votes, np.ma.MaskedArray):
        matrix = votes.data.astype(object)
        matrix[np.ma.getmaskarray(votes)] = None
    elif hasattr(votes, "toarray"):
        matrix = votes.toarray()
    else:
        # numpy would read [1, "a"] as text
        matrix = votes if isinstance(votes, np.ndarray) else np.asarray(votes, dtype=object)
    if matrix.ndim != 2 or not matrix.shape[0] or not matrix.shape[1]:
        raise ValueError(f"votes should be a matrix with a line for each row, got an array of shape {matrix.shape}")
    return matrix


def _values(frame: Any, place: int) -> list[Any]:
    columns = as_narwhals(frame)
    return list(columns[:, place].to_list())


def _is_numeric(matrix: NDArray[Any]) -> bool:
    if matrix.dtype.kind in "iuf":
        return True
    return matrix.dtype == object and all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in matrix.ravel().tolist()
    )


def _from_counts(votes: Any, classes: Any, is_frame: bool) -> VoteTable:
    matrix = _matrix(votes, is_frame)
    if not _is_numeric(matrix):
        raise ValueError("counts of votes should be numbers; for a matrix of labels pass form='labels'")
    counts = matrix.astype(np.float64)
    for is_bad, what in (
        (np.isnan(counts), "missing; for a matrix of labels with gaps pass form='labels'"),
        (counts < 0, "below zero; for a matrix of labels pass form='labels'"),
        (counts != np.floor(counts), "no whole number; for shares or probabilities there is soft_label_floor"),
    ):
        if is_bad.any():
            row, column = np.argwhere(is_bad)[0]
            raise ValueError(
                f"{np.count_nonzero(is_bad)} counts of votes cannot be used, the first at row {row}, column {column}: "
                f"{counts[row, column]:g} is {what}"
            )
    if counts.shape[1] < 2:
        raise ValueError(f"needs two classes, got {counts.shape[1]} column of counts")
    _check_most(counts.sum(axis=1))
    if classes is None:
        names = np.array(column_texts(votes)) if is_frame else np.arange(counts.shape[1])
    else:
        names = as_array(classes)
        if names.shape != (counts.shape[1],) or len(set(names.tolist())) != len(names):
            raise ValueError(f"classes should name each of the {counts.shape[1]} columns of counts once")
    whole = counts.astype(np.int64)
    row, label = np.nonzero(whole)
    times = whole[row, label]
    return VoteTable(np.repeat(row, times), np.repeat(label, times), None, len(counts), names)


def _check_most(n_votes: Any) -> None:
    if n_votes.max(initial=0) > _MOST_VOTES:
        row = int(n_votes.argmax())
        raise ValueError(f"row {row} has {n_votes[row]:g} votes; more than {_MOST_VOTES:,} are refused")


def _from_matrix(votes: Any, annotators: Any, is_frame: bool) -> VoteTable:
    matrix = _matrix(votes, is_frame).astype(object)
    flat = matrix.ravel()
    known = np.array([not _is_gap(value) for value in flat.tolist()], dtype=bool)
    row, column = np.divmod(np.flatnonzero(known), matrix.shape[1])
    classes, codes = check_labels(flat[known].tolist(), int(known.sum()))
    if annotators is None:
        names = np.array(column_texts(votes)) if is_frame else np.arange(matrix.shape[1])
    else:
        names = as_array(annotators)
    if names.shape != (matrix.shape[1],) or len(set(names.tolist())) != len(names):
        raise ValueError(f"annotators should name each of the {matrix.shape[1]} columns of labels once")
    return VoteTable(row, codes, column, len(matrix), classes, names)


def _is_gap(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _from_long(votes: Any, rows: Any, annotators: Any, labels: Any, is_frame: bool) -> VoteTable:
    if is_frame:
        names = column_texts(votes)
        row_values = _column(votes, names, rows, ROW_NAMES, "rows")
        label_values = _column(votes, names, labels, LABEL_NAMES, "labels")
        who = None
        if annotators is not None or find_name(names, ANNOTATOR_NAMES) is not None:
            who = _column(votes, names, annotators, ANNOTATOR_NAMES, "annotators")
    else:
        if rows is None or labels is not None or isinstance(rows, str):
            raise ValueError("a long table is a data frame, or the labels of all votes with rows= for the row of each")
        label_values, row_values = _flat(votes, "votes"), _flat(rows, "rows")
        who = None if annotators is None else _flat(annotators, "annotators")
    lengths = [len(each) for each in (label_values, row_values, who) if each is not None]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    for values, what in ((row_values, "row"), (who, "annotator")):
        missing = [place for place, value in enumerate(values or ()) if _is_gap(value)]
        if missing:
            raise ValueError(f"{len(missing)} votes have no {what}, the first at line {missing[0]}")
    row_names, row = _codes_of(row_values)
    known = np.array([not _is_gap(value) for value in label_values], dtype=bool)
    classes, label = check_labels([value for value in label_values if not _is_gap(value)], int(known.sum()))
    row = row[known]
    _check_most(np.bincount(row, minlength=len(row_names)))
    if who is None:
        return VoteTable(row, label, None, len(row_names), classes)
    annotator_names, annotator = _codes_of(who)
    annotator = annotator[known]
    places, times = np.unique(row * len(annotator_names) + annotator, return_counts=True)
    if times.max(initial=0) > 1:
        at, voter = divmod(int(places[times.argmax()]), len(annotator_names))
        raise ValueError(
            f"annotator {shown(annotator_names[voter])} voted {times.max()} times at row {shown(row_names[at])}; "
            "keep one vote of each annotator at a row"
        )
    return VoteTable(row, label, annotator, len(row_names), classes, annotator_names)


def _flat(values: Any, what: str) -> list[Any]:
    array = as_array(values)
    if array.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {array.shape} instead.")
    return list(array.tolist())


def _column(frame: Any, names: list[str], given: Any, usual: Sequence[str], what: str) -> list[Any]:
    if given is None:
        name = find_name(names, usual)
        if name is None:
            raise UnknownColumnError(
                f"no column looks like the {what} ({listed(list(usual), 4)}); name it: {what}='...', one of "
                f"{listed([repr(each) for each in names], 8)}"
            )
    else:
        name = column_named(frame, given)
        if name is None:
            raise ParameterError(what, "the name of a column of the data frame", given)
        if name not in names:
            from difflib import get_close_matches

            close = get_close_matches(name, names, n=3) or names[:5]
            raise UnknownColumnError(
                f"there is no column {name!r} for the {what}; there are {listed([repr(each) for each in close])}"
            )
    return _values(frame, names.index(name))


def _codes_of(values: list[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct names of rows or annotators, sorted where they can be, and each value's place among them."""
    distinct = set(values)
    try:
        ordered = sorted(distinct)
    except TypeError:
        ordered = sorted(distinct, key=lambda value: (type(value).__name__, str(value)))
    names = np.empty(len(ordered), dtype=object)
    names[:] = ordered
    place = {name: code for code, name in enumerate(ordered)}
    return names, np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))


def with_shared_columns(table: VoteTable) -> VoteTable:
    """Return votes in which many classes share few columns.

    The model of votes has a probability for each hidden class and each label: its time and memory grow with the square
    of their number. What it is for is how votes at a row differ, and that stays as it is where classes share a column
    that no row has votes for both of. Such columns are the colours of a graph in which classes are joined that meet at
    some row. There are more columns than `MOST_COLUMNS` only where so many classes meet each other.

    Parameters
    ----------
    table : VoteTable
        Votes.

    Returns
    -------
    VoteTable
        The same votes. Its classes are numbers of columns.
    """
    if len(table.classes) <= MOST_COLUMNS:
        return table
    column = _columns_of(table)
    return replace(table, label=column[table.label], classes=np.arange(int(column.max()) + 1))


def _columns_of(table: VoteTable) -> Ints:
    """Give each class the column with the fewest votes that no class which it meets has; the commonest first."""
    n_classes = len(table.classes)
    shape = (table.n_samples, n_classes)
    named = sparse.csr_array((np.ones(len(table.row)), (table.row, table.label)), shape=shape)
    named.data[:] = 1.0
    meets = (named.T @ named).tocsr()
    n_votes = np.bincount(table.label, minlength=n_classes)
    column = np.full(n_classes, -1)
    held = np.zeros(MOST_COLUMNS, np.int64)
    for code in np.argsort(-n_votes, kind="stable").tolist():
        of_others = column[meets.indices[meets.indptr[code] : meets.indptr[code + 1]]]
        is_free = np.ones(len(held), bool)
        is_free[of_others[of_others >= 0]] = False
        if is_free.any():
            column[code] = np.where(is_free, held, np.iinfo(np.int64).max).argmin()
        else:
            column[code] = len(held)
            held = np.append(held, 0)
        held[column[code]] += n_votes[code]
    return column
