"""The columns of a file before anything is done to them: numbers, text or dates.

Every format is read into a `RawTable`. Text is kept as a list of different values and a code for each row, so that a
column of a million "yes" and "no" stays small. What a text column tells by its different values alone is computed once:
how many rows have each, and which numbers they are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_groups import Subgroups
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.tables.spellings import MISSING_TEXTS, decimal_sign, folded_text, number_text, read_numbers, to_number

#: Names of columns that are the target where none is named.
TARGET_NAMES = ("target", "label", "labels", "class", "y", "outcome", "diagnosis", "response", "survived", "churn")


class UnknownColumnError(ValueError):
    """A column was named that the table does not have."""


@dataclass
class _Values:
    """A number for each row; NaN where one is missing."""

    name: str
    values: Floats

    @property
    def gaps(self) -> Bools:
        """Rows without a value."""
        return np.isnan(self.values)

    def take(self, rows: NDArray[Any]) -> Self:
        """Keep some of the rows."""
        return replace(self, values=self.values[rows])


@dataclass
class NumberColumn(_Values):
    """Numbers; NaN where one is missing. `rounded` counts integers that float64 cannot hold."""

    rounded: int = 0
    is_truth: bool = False

    def shown(self, row: int) -> str:
        """Write the value of a row."""
        return "" if math.isnan(self.values[row]) else f"{self.values[row]:.6g}"


@dataclass
class TextColumn:
    """Text: the different values, and each row's position among them, or -1 where it is missing."""

    name: str
    categories: tuple[str, ...]
    codes: Ints
    _numbers: dict[str, tuple[Floats, list[str]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def gaps(self) -> Bools:
        """Rows without a value."""
        return self.codes < 0

    @cached_property
    def counts(self) -> Ints:
        """Rows of each of the `categories`."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.categories))

    @cached_property
    def decimal(self) -> str | None:
        """The decimal sign that its numbers show; None where each can be read either way, as 1.234 can."""
        return decimal_sign(self.categories)

    def numbers(self, decimal: str | None = None) -> tuple[Floats, list[str]]:
        """Read the `categories` as numbers; the column's own decimal sign comes before the given one.

        Returns the numbers, NaN for what is none, and the texts that are neither numbers nor gaps.
        """
        sign = self.decimal or decimal or "."
        if sign not in self._numbers:
            self._numbers[sign] = read_numbers(self.categories, sign)
        return self._numbers[sign]

    def by_row(self, values: Floats) -> Floats:
        """Return the value of each row from those of the `categories`; NaN where text is missing."""
        return np.append(values, np.nan)[self.codes]

    def take(self, rows: NDArray[Any]) -> "TextColumn":
        """Keep some of the rows, and the values that they have."""
        return without_unused(replace(self, codes=self.codes[rows]))

    def shown(self, row: int) -> str:
        """Write the value of a row."""
        return "" if self.codes[row] < 0 else self.categories[self.codes[row]]


@dataclass
class DateColumn(_Values):
    """Dates, moments and times of day, as seconds since 1970, UTC, or since midnight; NaN where one is missing."""

    type_name: str

    def shown(self, row: int) -> str:
        """Write the value of a row."""
        seconds = float(self.values[row])
        if math.isnan(seconds):
            return ""
        text = np.datetime_as_string(np.datetime64(round(seconds), "s")).replace("T", " ")
        return text[11:] if self.type_name == "times of day" else text.removesuffix(" 00:00:00")


@dataclass
class OtherColumn:
    """What is none of these: lists and the like. Only its type is kept."""

    name: str
    type_name: str

    @property
    def gaps(self) -> Bools:
        """No rows: nothing is known of them."""
        return np.zeros(0, dtype=bool)

    def take(self, rows: NDArray[Any]) -> "OtherColumn":
        """Keep what there is."""
        return self


Column = NumberColumn | TextColumn | DateColumn | OtherColumn


@dataclass
class RawTable:
    """What a file holds.

    Attributes
    ----------
    source : str
        The file's name, for messages.
    columns : list
        Its columns.
    n_rows : int
        Number of rows.
    lines : ndarray
        The line on which each row begins; the row's number from 1 where a file has no lines.
    target : str or None
        The target that the file itself names.
    notes, cautions : list of str
        What was detected or assumed, and what to look at.
    row_word : str
        What `lines` counts: "line" or "row".
    files : tuple of str
        Names of the files, where there are several.
    file_codes : ndarray or None
        Each row's position among `files`.
    by : Subgroups or None
        Groups of rows that figures are wanted for.
    decimal : {".", ","} or None
        The decimal sign that its numbers were written with; None where they were not written as text.
    n_drawn_from : int or None
        Rows of the table that these were drawn from at random; None where they are all.
    label_counts : mapping of str to (mapping of str to int)
        Of rows that were drawn, how many of all rows have each value of the column of labels; empty text where none.
    left_out : dict of str to int
        How many rows were left out, by the reason.
    """

    source: str
    columns: list[Column]
    n_rows: int
    lines: Ints
    target: str | None = None
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    row_word: str = "line"
    files: tuple[str, ...] = ()
    file_codes: Ints | None = None
    by: Subgroups | None = None
    decimal: str | None = None
    n_drawn_from: int | None = None
    label_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """Number of rows before any were drawn."""
        return self.n_rows if self.n_drawn_from is None else self.n_drawn_from

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return the column of a name."""
        return next(column for column in self.columns if column.name == name)

    def put(self, column: Column) -> None:
        """Put a column in the place of that of the same name."""
        self.columns[self.names.index(column.name)] = column

    def at(self, row: int) -> str:
        """Say where a row stands, as messages do: 'data.csv, line 17'."""
        source = self.source if self.file_codes is None else self.files[self.file_codes[row]]
        return f"{source}, {self.row_word} {int(self.lines[row])}"

    def take(self, rows: NDArray[Any]) -> "RawTable":
        """Keep some of the rows."""
        columns: list[Column] = [column.take(rows) for column in self.columns]
        lines = self.lines[rows]
        file_codes = None if self.file_codes is None else self.file_codes[rows]
        by = None if self.by is None else self.by.take(rows)
        return replace(self, columns=columns, n_rows=len(lines), lines=lines, file_codes=file_codes, by=by)

    def take_matrix(self, names: Sequence[str]) -> Floats | None:
        """Take columns of numbers out of the table as one array, where they already lie in memory so.

        Parameters
        ----------
        names : sequence of str
            The columns, in the order that is wanted.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or None
            C-contiguous, and the caller's to write to: it is the memory of these columns, which the table loses. None
            where they lie elsewhere; then the table keeps them.
        """
        by_name = {column.name: column for column in self.columns}
        columns = [by_name[name] for name in names]
        values = [column.values for column in columns if isinstance(column, NumberColumn)]
        base = values[0].base if values else None
        if base is None or len(values) < len(names) or base.shape[1:] != (len(names),):
            return None
        matrix: Floats = base[: self.n_rows]
        for column, own in zip(matrix.T, values, strict=True):
            if own.base is not base or own.ctypes.data != column.ctypes.data or own.shape != column.shape:
                return None
        taken = set(names)
        self.columns = [column for column in self.columns if column.name not in taken]
        return matrix


def text_column(name: str, texts: Sequence[str], codes: Ints, missing: frozenset[str] = MISSING_TEXTS) -> TextColumn:
    """Make a column of the texts that codes point to (-1: missing); equal texts are merged, and all sorted."""
    stripped = [text.strip() for text in texts]
    categories = in_natural_order({text for text in stripped if text not in missing})
    new_code = np.append(codes_among(stripped, categories), -1)
    return without_unused(TextColumn(name, tuple(categories), new_code[codes]))


def likely_target(names: Sequence[str], dropped: Sequence[str] = ()) -> str:
    """Return the column that is the target by its name, else the last: where none is named, by the names alone."""
    left = [name for name in names if name not in dropped] or names
    named = [name for name in left if name.strip().lower() in TARGET_NAMES]
    return named[0] if len(named) == 1 else left[-1]


def codes_among(texts: Iterable[str], categories: Sequence[str], unknown: int = -1) -> Ints:
    """Return the position of each text among the categories."""
    place = {text: code for code, text in enumerate(categories)}
    return np.array([place.get(text, unknown) for text in texts], dtype=np.int64)


def without_unused(column: TextColumn) -> TextColumn:
    """Leave out values that no row has."""
    used = column.counts > 0
    if used.all():
        return column
    new_code = np.append(np.cumsum(used) - 1, -1)
    kept = tuple(text for text, is_used in zip(column.categories, used, strict=True) if is_used)
    return replace(column, categories=kept, codes=new_code[column.codes])


def in_natural_order(texts: Iterable[str]) -> list[str]:
    """Sort texts; as numbers when all of them are."""
    texts = sorted(texts)
    numbers = [to_number(text) for text in texts]
    if all(number is not None and not math.isnan(number) for number in numbers):
        return [text for _, text in sorted(zip(numbers, texts, strict=True), key=lambda pair: pair[0] or 0.0)]
    return texts


def usual_spellings(column: TextColumn) -> list[str]:
    """Return each value as most rows spell it, where values that differ by case and blanks alone are the same."""
    spelled: dict[str, str] = {}
    for code in np.argsort(-column.counts, kind="stable").tolist():
        spelled.setdefault(folded_text(column.categories[code]), column.categories[code])
    return [spelled[folded_text(text)] for text in column.categories]


def distinct_numbers(values: Floats) -> tuple[Floats, Ints]:
    """Return the different numbers, sorted, and each row's position among them, -1 where a number is missing."""
    known = ~np.isnan(values)
    present, codes = values[known], np.full(len(values), -1, np.int64)
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, math.inf)
    if high - low < 4 * len(present) and (present == np.floor(present)).all():  # a table of all whole numbers between
        offsets = (present - low).astype(np.int64)
        is_used = np.bincount(offsets) > 0
        codes[known] = (np.cumsum(is_used) - 1)[offsets]
        return np.flatnonzero(is_used).astype(np.float64) + low, codes
    distinct, codes[known] = np.unique(present, return_inverse=True)
    return distinct, codes


def as_text(column: Column) -> Column:
    """Return a column of numbers as one of text: whole numbers without a point."""
    if not isinstance(column, NumberColumn):
        return column
    distinct, codes = distinct_numbers(column.values)
    texts = [number_text(value, column.is_truth) for value in distinct.tolist()]
    order = in_natural_order(texts)
    return TextColumn(column.name, tuple(order), np.append(codes_among(texts, order), -1)[codes])


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse a name that two columns share."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise ValueError(f"{where}: columns {seen[name]} and {position} have the same name, {name!r}")
        seen[name] = position
