"""The column of labels: which it is, and whether its values are classes or numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_labels
from bayesfloor.data.numbers import MOST_CLASSES, bins_of_numbers, task_of_numbers
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.columns import (
    TARGET_NAMES,
    Column,
    NumberColumn,
    RawTable,
    TextColumn,
    UnknownColumnError,
    as_text,
    text_column,
    usual_spellings,
)
from bayesfloor.tables.profiles import numbers_of
from bayesfloor.tables.spellings import to_number
from bayesfloor.tables.unlabelled import missing_labels, without_label

#: A target with more classes than this, and few rows of each, gets a caution: it may be a number.
MANY_CLASSES = 50
#: Mean number of rows per class below which they are few.
_FEW_ROWS = 10
#: Columns with more values than this are not suggested as targets.
_MOST_OFFERED = 30
#: What to do with a target of numbers where classes are needed.
_TAKE_NUMBERS = "difficulty_report and regression_floor (report, floor) take numbers"
#: Minimum mean number of rows per value for numbers with fractions to be read as classes, if asked for.
_ROWS_OF_FRACTION = 5


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a table: as they are, their classes, the class of each row, and what they are called.

    Numbers have no classes; `codes` are then bins of about equally many rows.
    """

    y: NDArray[Any]
    classes: NDArray[Any]
    codes: Ints
    name: str
    task: str = "classification"

    def take(self, rows: Ints) -> "Labels":
        """Keep some of the rows, and the classes that they have."""
        codes = self.codes[rows]
        used, places = np.unique(codes, return_inverse=True)
        if self.task == "classification" and len(used) < len(self.classes):
            return replace(self, y=self.y[rows], classes=self.classes[used], codes=places)
        return replace(self, y=self.y[rows], codes=codes)


def number_labels(y: Floats, name: str) -> Labels:
    """Return labels that are numbers."""
    return Labels(y, np.empty(0), bins_of_numbers(y), name, "regression")


def find_column(table: RawTable, wanted: str | int, *, what: str = "column") -> str:
    """Return the name of a column that is given by name or by position.

    Parameters
    ----------
    table : RawTable
        The table.
    wanted : str or int
        A name, or a position from 0; negative ones count from the end.
    what : str
        What it is, for the message.

    Returns
    -------
    str

    Raises
    ------
    UnknownColumnError
        With the names that come close.
    """
    names = table.names
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if -len(names) <= wanted < len(names):
            return names[wanted]
        raise UnknownColumnError(f"{table.source} has {len(names)} columns; there is no {what} number {wanted}")
    if wanted in names:
        return wanted
    raise UnknownColumnError(f"{table.source} has no {what} {wanted!r}; {_close_names(str(wanted), names)}")


def _close_names(wanted: str, names: Sequence[str]) -> str:
    lower = {name.lower().strip(): name for name in names}
    close = [lower[match] for match in get_close_matches(str(wanted).lower().strip(), lower, n=3, cutoff=0.6)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"its columns are {listed(list(map(repr, names)), 8)}"


def guess_target(table: RawTable, taken: Sequence[str] = (), task: str = "auto") -> str:
    """Return the target where none is named: by a column's name, else the last column if it can be one.

    A last column of numbers is the target where numbers are asked for, or no other column can be one; else it may be a
    feature like the others.

    Parameters
    ----------
    table : RawTable
        The table.
    taken : sequence of str
        Columns that are something else.
    task : {"auto", "classification", "regression"}
        What the target is to be read as.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Where neither tells, with the columns that could be meant.
    """
    columns = [column for column in table.columns if column.name not in taken]
    named = [column.name for column in columns if column.name.strip().lower() in TARGET_NAMES]
    if len(named) == 1:
        table.notes.append(f"Target: {named[0]!r}, by its name; target= (--target) names another.")
        return named[0]
    last = columns[-1]
    offered = [column.name for column in columns if 2 <= _n_labels(column) <= _MOST_OFFERED]
    may_be_number = task == "regression" or (task == "auto" and not offered)
    is_number = may_be_number and _read_numbers(last) is not None
    if is_number or 2 <= _n_labels(last) <= max(_MOST_OFFERED, table.n_rows / 20):
        table.notes.append(f"Target: {last.name!r}, the last column, since none was named.")
        return last.name
    which = f"it may be {listed(list(map(repr, offered)), 8)}" if offered else "no column has 2 to 30 values"
    raise ValueError(
        f"{table.source}: the last column, {last.name!r}, does not look like classes; name the target with target= "
        f"(--target): {which}"
    )


def _n_labels(column: Column) -> int:
    """Count the values of a column that can hold classes; 0 for one that cannot."""
    if isinstance(column, NumberColumn):
        distinct = np.unique(column.values[~column.gaps])
        return 0 if (distinct != np.floor(distinct)).any() else len(distinct)
    if not isinstance(column, TextColumn):
        return 0
    numbers = [to_number(label) for label in column.categories]
    has_fraction = any(math.isfinite(number) and not number.is_integer() for number in numbers if number is not None)
    return 0 if has_fraction and None not in numbers else len(column.categories)


def without_missing_labels(table: RawTable, *targets: str) -> dict[str, int]:
    """Empty the cells of text targets that say that there is no label; return how often each of them stood there."""
    columns = [column for column in map(table.column, targets) if isinstance(column, TextColumn)]
    n_rows = Counter[str]()
    for column in columns:
        n_rows.update(dict(zip(column.categories, column.counts.tolist(), strict=True)))
    if len(columns) == 1:  # of several, those of annotators, an empty cell is no mark
        n_rows[""] += int(columns[0].gaps.sum())
    of_all = [table.label_counts[name] for name in targets if name in table.label_counts]
    found = missing_labels(of_all[0] if of_all else n_rows)
    for column in columns:
        table.put(text_column(column.name, column.categories, column.codes, frozenset(found)))
    return {label: n_rows[label] for label in found if label and n_rows[label]}


def cleaned_target(table: RawTable, target: str, marks: Mapping[str, int]) -> RawTable:
    """Merge labels that differ by case or blanks alone, and leave out rows without a label, with a note for each.

    `marks` are labels that were taken for missing, and their rows.

    Raises
    ------
    ValueError
        When no row has a label.
    """
    column = as_text(table.column(target))
    if not isinstance(column, TextColumn):
        return table  # read_target refuses it
    texts = usual_spellings(column)
    if len(set(texts)) < len(texts):
        odd = [label for label, text in zip(column.categories, texts, strict=True) if label != text]
        table.cautions.append(
            f"Labels of {target!r} that differ by case or blanks alone count as one class: "
            f"{listed(list(map(quoted, odd)), 4)}."
        )
    if not isinstance(table.column(target), NumberColumn):
        table.put(text_column(target, texts, column.codes, frozenset()))
    return _without_gaps(table, target, "label", marks)


def _without_gaps(table: RawTable, target: str, what: str, marks: Mapping[str, int]) -> RawTable:
    """Leave out rows without a label or a number, with a note; refuse a target that has none."""
    gaps = table.column(target).gaps
    n_gaps = int(gaps.sum())
    if n_gaps == table.n_rows:
        raise ValueError(
            f"{table.source}: the target {target!r} has no values at all; name another column with target= (--target)"
        )
    if not n_gaps:
        return table
    table.notes.append(f"{counted(n_gaps)} row{'s' * (n_gaps > 1)} without a {what} in {target!r} left out.")
    table.left_out[without_label(what, target, marks)] = n_gaps
    return table.take(np.flatnonzero(~gaps))


def choose_task(table: RawTable, target: str, task: str) -> str:
    """Return whether the target is read as classes or as a number, and say so where it could be either.

    Parameters
    ----------
    table : RawTable
        The table.
    target : str
        Name of the column.
    task : {"auto", "classification", "regression"}
        What the caller says; "auto" decides by the values.

    Returns
    -------
    {"classification", "regression"}

    Raises
    ------
    ValueError
        When a number is asked for and the column holds none.
    """
    column = table.column(target)
    found = None if task == "classification" else _read_numbers(column)
    if task == "regression" and found is None:
        text = as_text(column)
        example = f" such as {quoted(text.categories[0])}" if isinstance(text, TextColumn) and text.categories else ""
        raise ValueError(
            f"{table.source}: the target {target!r} holds values{example}, not numbers. Classes need "
            "learned_floor, or task='classification' of read_table and difficulty_report (--task classification); or "
            "name another column"
        )
    if task != "auto":
        return task
    if found is None or (isinstance(column, NumberColumn) and column.rounded):
        return "classification"
    known = found[0][np.isfinite(found[0])]
    task = task_of_numbers(known) if len(known) else "classification"
    n_values = len(np.unique(known))
    if task == "classification" and n_values > 2:
        table.notes.append(
            f"The {counted(n_values)} whole numbers of {target!r} are read as classes; task='regression' "
            "(--task regression) reads them as a number."
        )
    elif task == "regression":
        several = n_values <= MOST_CLASSES and table.n_rows >= _ROWS_OF_FRACTION * n_values
        classes = "; task='classification' (--task classification) reads its values as classes" * several
        ends = f"from {known.min():g} to {known.max():g}"
        table.notes.append(f"{target!r} is read as a number, with {counted(n_values)} values {ends}{classes}.")
    return task


def _read_numbers(column: Column) -> tuple[Floats, list[str]] | None:
    """Read a target as numbers, NaN where one is missing, with what is left empty; None where it holds others."""
    if isinstance(column, NumberColumn):
        return None if column.is_truth else (column.values, [])
    if not isinstance(column, TextColumn):
        return None
    found = numbers_of(column)
    return None if found is None else (found[0].values, found[1])


def number_target(table: RawTable, target: str, marks: Mapping[str, int]) -> RawTable:
    """Make numbers of the target; leave out rows without one, with a note.

    `marks` are labels that were taken for missing, and their rows.

    Raises
    ------
    ValueError
        For infinite values, and when no row has a number.
    """
    strays = put_numbers(table, target)
    if strays:
        texts, verb = listed(list(map(quoted, strays)), 4), "is" if len(strays) == 1 else "are"
        table.cautions.append(f"The target {target!r} holds numbers, but {texts} {verb} none: taken for missing.")
    return _without_gaps(table, target, "number", marks)


def put_numbers(table: RawTable, target: str) -> list[str]:
    """Put numbers in the place of a target that `choose_task` has looked at, and return the texts that are none."""
    found = _read_numbers(table.column(target))
    assert found is not None
    values, strays = found
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(
            f"{table.at(int(infinite[0]))}: the target {target!r} is infinite in {counted(len(infinite))} "
            f"row{'s' * (len(infinite) > 1)}, the first here"
        )
    table.put(NumberColumn(target, values))
    return strays


def choose_target(table: RawTable, target: str | int | None) -> str:
    """Return the target that is named, by the caller or by the file, and say so in the table's notes."""
    if target is not None:
        name, why = find_column(table, target), "as asked"
    else:
        assert table.target is not None
        name, why = find_column(table, table.target, what="target"), "as the file says"
    table.notes.append(f"Target: {name!r}, {why}.")
    return name


def find_missing_labels(table: RawTable, target: str) -> Ints:
    """Return the rows without a label."""
    return np.flatnonzero(table.column(target).gaps)


def read_target(table: RawTable, target: str, task: str) -> Labels:
    """Return the labels of a target in which none is missing.

    Classes are integers where all labels are whole numbers, booleans where they are, else text.

    Parameters
    ----------
    table : RawTable
        The table; after `number_target` where the target is a number.
    target : str
        Name of the column.
    task : {"classification", "regression"}
        What it is read as.

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        For numbers with fractions, about as many classes as rows, and fewer than two classes; for a number that is the
        same in every row.
    """
    if task == "classification":
        return _read_classes(table, target)
    column = table.column(target)
    assert isinstance(column, NumberColumn)
    y = column.values
    if y.min() == y.max():
        raise ValueError(f"{table.source}: the target {target!r} is {y[0]:g} in every row: there is nothing to predict")
    return number_labels(y, target)


def _read_classes(table: RawTable, target: str) -> Labels:
    where = f"{table.source}: the target {target!r}"
    column = table.column(target)
    is_truth = isinstance(column, NumberColumn) and column.is_truth
    if isinstance(column, NumberColumn) and column.rounded:
        raise ValueError(f"{where} has integers beyond 2**53, which cannot be told apart here; is it an id?")
    text = as_text(column)
    if not isinstance(text, TextColumn):
        raise ValueError(f"{where} holds {getattr(text, 'type_name', 'numbers')}; labels are text or whole numbers")
    labels = text.categories
    _check_continuous(labels, where, table.n_rows)
    values = _as_values(labels, is_truth)
    n_rows, n_classes = table.n_rows, len(set(values.tolist()))
    if n_classes > max(2, n_rows / 2):
        raise ValueError(
            f"{where} has {counted(n_classes)} different values in {counted(n_rows)} rows, like an id or a measured "
            f"number, not classes; {_TAKE_NUMBERS}, or name another column with target= (--target)"
        )
    if n_classes < 2:
        raise ValueError(f"{where} needs two classes, got {n_classes}: {', '.join(map(repr, labels))}")
    if n_classes < len(labels):
        table.notes.append(f"Labels of {target!r} that are the same number, such as '1' and '1.0', count as one class.")
    y = values[text.codes]
    classes, place = check_labels(values, len(values))
    codes = place[text.codes]
    if n_classes > MANY_CLASSES and n_rows < _FEW_ROWS * n_classes:
        table.cautions.append(
            f"The target {target!r} has {counted(n_classes)} classes and fewer than {_FEW_ROWS} rows for each on "
            "average: is it a number rather than a class?"
        )
    return Labels(y, classes, codes, target)


def labels_alike(table: RawTable, target: str, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Read the labels of further rows of a table whose classes are known.

    Parameters
    ----------
    table : RawTable
        The rows.
    target : str
        Name of the column.
    classes : ndarray or None
        The classes, as `read_target` gave them for other rows; None for numbers.

    Returns
    -------
    ndarray of shape (n_rows,)
        Positions among the classes, -1 for labels that are missing or none of these; or numbers, NaN where missing.

    Raises
    ------
    ValueError
        Where numbers are wanted and there are none, or infinite ones.
    """
    if classes is None:
        without_missing_labels(table, target)
        column = table.column(target)
        if column.gaps.all():
            return np.full(table.n_rows, np.nan)
        if _read_numbers(column) is None:
            raise ValueError(f"{table.at(0)} and below: the target {target!r} holds no numbers, unlike other rows")
        put_numbers(table, target)
        return table.column(target).values  # type: ignore[union-attr]
    # a label such as "-" is a class or a missing one by all labels, of which these rows may have few: `classes` tell
    text = as_text(table.column(target))
    if not isinstance(text, TextColumn):
        raise ValueError(f"{table.source}: the target {target!r} holds {getattr(text, 'type_name', 'numbers')}")
    code_of: dict[Any, int] = {value: code for code, value in enumerate(classes.tolist())}
    if classes.dtype.kind == "b":
        own = [code_of.get(label == "True", -1) for label in text.categories]
    elif classes.dtype.kind == "i":
        own = [code_of.get(to_number(label), -1) for label in text.categories]
    else:
        own = [code_of.get(label, -1) for label in text.categories]
    return np.array([*own, -1], np.int64)[text.codes]


def _check_continuous(labels: Sequence[str], where: str, n_rows: int) -> None:
    """Refuse numbers with fractions, but for a few that many rows have."""
    if len(labels) <= MOST_CLASSES and n_rows >= _ROWS_OF_FRACTION * len(labels):
        return
    numbers = [to_number(label) for label in labels]
    if any(number is None for number in numbers):
        numbers = [to_number(label, ",") for label in labels]
    if any(number is None for number in numbers):
        return
    for label, number in zip(labels, numbers, strict=True):
        if number is not None and np.isfinite(number) and number != np.floor(number):
            raise ValueError(
                f"{where} holds numbers with fractions, such as {label}: this looks like regression, and classes are "
                f"needed here; {_TAKE_NUMBERS}, or cut it into classes first"
            )


def _as_values(labels: Sequence[str], is_truth: bool) -> NDArray[Any]:
    """Return labels as booleans or integers where all of them are, else as text."""
    if is_truth:
        return np.array([label == "True" for label in labels])
    numbers = [to_number(label) for label in labels]
    if all(number is not None and number.is_integer() and abs(number) <= 2**53 for number in numbers):
        return np.array([int(number) for number in numbers if number is not None], dtype=np.int64)
    return np.array(labels, dtype=str)
