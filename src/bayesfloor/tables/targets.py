"""The column of labels: which it is, and whether its values can be classes."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_labels
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.columns import (
    Column,
    NumberColumn,
    RawTable,
    TextColumn,
    UnknownColumnError,
    as_text,
    find_gaps,
    text_column,
    to_number,
)
from bayesfloor.tables.spellings import folded_text

#: Classes from which a target with few rows for each is reported as a possible number.
MANY_CLASSES = 50
#: Rows for each class, on average, that are few in this sense.
_FEW_ROWS = 10
#: Labels that often stand for a missing one; strict rules keep them as classes, with a caution.
_LOOK_MISSING = frozenset({"NA", "N/A", "NaN", "nan", "null", "NULL", "?", "None"})
#: Labels that automatic rules take for a missing one.
_MISSING_LABELS = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "?", "<NA>", "#N/A"})
#: Names of columns that are the target where none is named.
_TARGET_NAMES = ("target", "label", "labels", "class", "y", "outcome", "diagnosis", "response", "survived", "churn")
#: Values of a column from which it is not offered as a target.
_MOST_OFFERED = 30


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


def guess_target(table: RawTable, taken: Sequence[str] = ()) -> str:
    """Return the target where none is named: by a column's name, else the last column if it can hold classes.

    Parameters
    ----------
    table : RawTable
        The table.
    taken : sequence of str
        Columns that are something else.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Where neither tells, with the columns that could be meant.
    """
    columns = [column for column in table.columns if column.name not in taken]
    named = [column.name for column in columns if column.name.strip().lower() in _TARGET_NAMES]
    if len(named) == 1:
        table.notes.append(f"Target: {named[0]!r}, by its name; target= (--target) names another.")
        return named[0]
    last = columns[-1]
    if 2 <= _n_labels(last) <= max(_MOST_OFFERED, table.n_rows / 20):
        table.notes.append(f"Target: {last.name!r}, the last column, since none was named.")
        return last.name
    offered = [column.name for column in columns if 2 <= _n_labels(column) <= _MOST_OFFERED]
    which = f"it may be {listed(list(map(repr, offered)), 8)}" if offered else "no column has 2 to 30 values"
    raise ValueError(
        f"{table.source}: the last column, {last.name!r}, does not look like classes; name the target with target= "
        f"(--target): {which}"
    )


def _n_labels(column: Column) -> int:
    """Count the values of a column that can hold classes; 0 for one that cannot."""
    text = as_text(column)
    if not isinstance(text, TextColumn):
        return 0
    numbers = [to_number(label) for label in text.categories]
    if all(number is not None for number in numbers) and any(number != int(number) for number in numbers if number):
        return 0
    return len(text.categories)


def cleaned_target(table: RawTable, target: str) -> RawTable:
    """Merge labels that differ by case or blanks alone, and leave out rows without a label, with a note for each.

    Raises
    ------
    ValueError
        When no row has a label.
    """
    column = as_text(_column(table, target))
    if not isinstance(column, TextColumn):
        return table  # read_labels refuses it
    spelled: dict[str, str] = {}
    rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
    for code in np.argsort(-rows, kind="stable").tolist():
        label = column.categories[code]
        spelled.setdefault(folded_text(label), label)
    texts = [spelled[folded_text(label)] for label in column.categories]
    if len(spelled) < len(texts):
        odd = [label for label, text in zip(column.categories, texts, strict=True) if label != text]
        table.cautions.append(
            f"Labels of {target!r} that differ by case or blanks alone count as one class: "
            f"{listed(list(map(quoted, odd)), 4)}."
        )
    is_truth = isinstance(_column(table, target), NumberColumn)
    if not is_truth:
        cleaned = text_column(target, texts, column.codes, _MISSING_LABELS)
        table.columns[table.names.index(target)] = cleaned
    no_label = find_missing_labels(table, target)
    if len(no_label) == table.n_rows:
        raise ValueError(
            f"{table.source}: the target {target!r} has no values at all; name another column with target= (--target)"
        )
    if not len(no_label):
        return table
    plural = "s" * (len(no_label) > 1)
    table.notes.append(f"{counted(len(no_label))} row{plural} without a label in {target!r} left out.")
    return table.take(np.delete(np.arange(table.n_rows), no_label))


def choose_target(table: RawTable, target: str | int | None) -> str:
    """Return the name of the target, the last column where none is named, and say so in the table's notes."""
    if target is not None:
        name, why = find_column(table, target), "as asked"
    elif table.target is not None:
        name, why = find_column(table, table.target, what="target"), "as the file says"
    else:
        name, why = table.names[-1], "the last column, since none was named"
    table.notes.append(f"Target: {name!r}, {why}.")
    return name


def find_missing_labels(table: RawTable, target: str) -> Ints:
    """Return the rows without a label."""
    return np.flatnonzero(find_gaps(_column(table, target)))


def read_labels(table: RawTable, target: str) -> tuple[NDArray[Any], NDArray[Any], Ints]:
    """Return the labels, the classes and the codes of a target in which none is missing.

    Parameters
    ----------
    table : RawTable
        The table.
    target : str
        Name of the column.

    Returns
    -------
    y : ndarray of shape (n,)
        Integers where all labels are whole numbers, booleans where they are, else text.
    classes : ndarray
        The distinct labels, sorted.
    codes : ndarray of shape (n,)
        Each row's position in `classes`.

    Raises
    ------
    ValueError
        For numbers with fractions, about as many classes as rows, and fewer than two classes.
    """
    where = f"{table.source}: the target {target!r}"
    column = _column(table, target)
    is_truth = isinstance(column, NumberColumn) and column.is_truth
    if isinstance(column, NumberColumn) and column.rounded:
        raise ValueError(f"{where} has integers beyond 2**53, which cannot be told apart here; is it an id?")
    text = as_text(column)
    if not isinstance(text, TextColumn):
        raise ValueError(f"{where} holds {getattr(text, 'type_name', 'numbers')}; labels are text or whole numbers")
    labels = text.categories
    _check_continuous(labels, where)
    values = _as_values(labels, is_truth)
    n_rows, n_classes = table.n_rows, len(set(values.tolist()))
    if n_classes > max(2, n_rows / 2):
        raise ValueError(
            f"{where} has {counted(n_classes)} different values in {counted(n_rows)} rows, like an id or a measured "
            "number, not classes; name another column with target= (--target)"
        )
    if n_classes < 2:
        raise ValueError(f"{where} needs two classes, got {n_classes}: {', '.join(map(repr, labels))}")
    _say_what_is_odd(table, labels, target)
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
    return y, classes, codes


def _column(table: RawTable, name: str) -> Column:
    return next(column for column in table.columns if column.name == name)


def _check_continuous(labels: Sequence[str], where: str) -> None:
    numbers = [to_number(label) for label in labels]
    if any(number is None for number in numbers):
        numbers = [to_number(label, ",") for label in labels]
    if any(number is None for number in numbers):
        return
    for label, number in zip(labels, numbers, strict=True):
        if number is not None and np.isfinite(number) and number != np.floor(number):
            raise ValueError(
                f"{where} holds numbers with fractions, such as {label}: this looks like regression, and classes are "
                "needed here; name another column with target= (--target), or cut it into classes first"
            )


def _as_values(labels: Sequence[str], is_truth: bool) -> NDArray[Any]:
    """Return labels as booleans or integers where all of them are, else as text."""
    if is_truth:
        return np.array([label == "True" for label in labels])
    numbers = [to_number(label) for label in labels]
    if all(number is not None and np.isfinite(number) and abs(number) <= 2**53 for number in numbers):
        return np.array([int(number) for number in numbers if number is not None], dtype=np.int64)
    return np.array(labels, dtype=str)


def _say_what_is_odd(table: RawTable, labels: Sequence[str], target: str) -> None:
    odd = [label for label in labels if label in _LOOK_MISSING]
    if odd:
        table.cautions.append(
            f"The target {target!r} has the label {', '.join(map(quoted, odd))}, which is kept as a class of its "
            "own; should it mean a missing label, empty the field."
        )
