"""The columns of a file before anything is done to them: numbers, or text.

Every format is read into a `RawTable`. Text is kept as a list of different values and a code for each row, so that a
column of a million "yes" and "no" stays small.
"""

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.subgroups import Subgroups
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.text import counted, quoted

#: Texts that stand for a missing value in a feature. In a target only empty text does: "NA" may be a class.
MISSING_TEXTS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "<null>"})

#: Share of values that are no numbers, above which a column is text; up to it they are errors in a column of numbers.
STRAY_SHARE = 0.1

#: Most columns of a file: each is a Python object, and a million of them take minutes before the first distance.
MOST_COLUMNS = 100_000

#: Most rows of a file: models are trained on a million at the most, and a few kilobytes can unpack to any number.
MOST_ROWS = 20_000_000

#: Integers up to this are exact in float64.
_LARGEST_EXACT_INTEGER = 2**53
_LEADING_ZERO = re.compile(r"[+-]?0\d+")


class UnknownColumnError(ValueError):
    """A column was named that the table does not have."""


@dataclass
class NumberColumn:
    """Numbers; NaN where one is missing. `rounded` counts integers that float64 cannot hold; dummies are not scaled."""

    name: str
    values: Floats
    rounded: int = 0
    is_truth: bool = False
    is_dummy: bool = False

    def shown(self, row: int) -> str:
        """Write the value of a row."""
        return "" if math.isnan(self.values[row]) else f"{self.values[row]:.6g}"


@dataclass
class TextColumn:
    """Text: the different values, and each row's position among them, or -1 where it is missing."""

    name: str
    categories: tuple[str, ...]
    codes: Ints
    was_stripped: bool = False  # blanks around values were taken off

    def shown(self, row: int) -> str:
        """Write the value of a row."""
        return "" if self.codes[row] < 0 else self.categories[self.codes[row]]


@dataclass
class DateColumn:
    """Dates, moments and times of day, as seconds since 1970, UTC, or since midnight; NaN where one is missing."""

    name: str
    values: Floats
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
    unit : str
        What `lines` counts: "line" or "row".
    files : tuple of str
        Names of the files, where there are several.
    file_codes : ndarray or None
        Each row's position among `files`.
    by : Subgroups or None
        Groups of rows that figures are wanted for.
    decimal : {".", ","} or None
        The decimal sign that its numbers were written with; None where they were not written as text.
    """

    source: str
    columns: list[Column]
    n_rows: int
    lines: Ints
    target: str | None = None
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    unit: str = "line"
    files: tuple[str, ...] = ()
    file_codes: Ints | None = None
    by: Subgroups | None = None
    decimal: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def at(self, row: int) -> str:
        """Say where a row stands, as messages do: 'data.csv, line 17'."""
        source = self.source if self.file_codes is None else self.files[self.file_codes[row]]
        return f"{source}, {self.unit} {int(self.lines[row])}"

    def take(self, rows: NDArray[Any]) -> "RawTable":
        """Keep some of the rows."""
        columns: list[Column] = []
        for column in self.columns:
            if isinstance(column, NumberColumn | DateColumn):
                column = replace(column, values=column.values[rows])
            elif isinstance(column, TextColumn):
                column = without_unused(replace(column, codes=column.codes[rows]))
            columns.append(column)
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


def to_number(text: str, decimal: str = ".") -> float | None:
    """Read a number; None when the text is none. Underscores, which Python allows, are none."""
    if "_" in text or not text.isascii():
        return None
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


class GrowingArray:
    """An array that gets more rows, column by column.

    Room is made for as many rows as are expected. What is never written to takes no memory, and no second copy is made
    at the end.

    Parameters
    ----------
    dtype : type
        Of its values.
    n_expected : int
        Number of rows, as far as it is known.
    n_columns : int
        Number of columns; they lie side by side, as in X.
    """

    def __init__(self, dtype: type, n_expected: int = 0, n_columns: int = 1):
        self.room: NDArray[Any] = np.empty((n_expected, n_columns), dtype)

    def write(self, start: int, values: NDArray[Any], column: int = 0) -> None:
        """Write values below the first rows, which every column must have."""
        end = start + len(values)
        if end > len(self.room):
            larger = np.empty((max(end, len(self.room) * 5 // 4), self.room.shape[1]), self.room.dtype)
            larger[:start] = self.room[:start]
            self.room = larger
        self.room[start:end, column] = values


class NumberBuilder:
    """Collects a column of numbers block by block, with the values that are none."""

    def __init__(self, name: str, decimal: str = ".", place: tuple[GrowingArray, int] | None = None):
        self.name = name
        self.decimal = decimal
        self.array, self.place = place or (GrowingArray(np.float64), 0)  # an array that is shared, and a column of it
        self.n_rows = 0
        self.n_missing = 0
        self.strays: list[tuple[int, str]] = []  # row, text
        self.infinite: tuple[int, str] | None = None
        self.rounded = 0
        self.has_leading_zeros = False

    def add(self, texts: Any) -> None:
        """Read the next values: a sequence of str, or a polars Series of strings."""
        values = self._read_all(texts) if isinstance(texts, Sequence) else self._read_series(texts)
        self.n_missing += int(np.count_nonzero(np.isnan(values)))
        self._look_at_large(values, texts)
        self._look_at_zeros(texts)
        self.array.write(self.n_rows, values, self.place)
        self.n_rows += len(texts)

    def _read_all(self, texts: Sequence[str]) -> Floats:
        joined = "".join(texts)
        if self.decimal == "." and "_" not in joined and joined.isascii():
            with suppress(ValueError):  # missing, or no number: look at each
                return np.array(list(map(float, texts)))
        return np.array([self._read(text, self.n_rows + i) for i, text in enumerate(texts)])

    def _read_series(self, texts: Any) -> Floats:
        """Read texts by polars; whatever it takes for no number is looked at one by one."""
        import polars

        numbers = texts
        if self.decimal == ",":
            has_point = texts.str.contains(".", literal=True)
            numbers = texts.set(has_point, "").str.replace_all(",", ".", literal=True)
        read = numbers.cast(polars.Float64, strict=False)
        if not read.null_count():
            return read.to_numpy()
        values: Floats = read.to_numpy(writable=True)
        for place in np.flatnonzero(read.is_null().to_numpy()).tolist():
            values[place] = self._read(texts[place], self.n_rows + place)
        return values

    def _read(self, text: str, row: int) -> float:
        text = text.strip()
        if text in MISSING_TEXTS:
            return math.nan
        value = to_number(text, self.decimal)
        if value is None:
            self.strays.append((row, text))
            return math.nan
        return value

    def _look_at_large(self, values: Floats, texts: Any) -> None:
        for place in np.flatnonzero(np.abs(values) >= _LARGEST_EXACT_INTEGER):
            text = texts[int(place)].strip()
            if np.isinf(values[place]):
                self.infinite = self.infinite or (self.n_rows + int(place), text)
            elif text.lstrip("+-").isdecimal() and int(text) != int(values[place]):
                self.rounded += 1

    def _look_at_zeros(self, texts: Any) -> None:
        """Note numbers such as 02139: they may be codes."""
        if self.has_leading_zeros:
            return
        if isinstance(texts, Sequence):
            self.has_leading_zeros = any(text[:1] in "0+- " and has_leading_zero(text.strip()) for text in texts)
        else:
            self.has_leading_zeros = bool(texts.str.contains(r"^\s*[+-]?0\d+\s*$").any())

    @property
    def is_text(self) -> bool:
        """Whether so many values are no numbers that this is a column of text."""
        n_values = self.n_rows - self.n_missing + len(self.strays)
        return len(self.strays) > STRAY_SHARE * n_values

    def column(self) -> NumberColumn:
        """Return the finished column."""
        return NumberColumn(self.name, self.array.room[: self.n_rows, self.place], self.rounded)

    def complain(self, table: RawTable, hint: str = "") -> None:
        """Raise an error that names the first value that is no number, or is infinite."""
        if self.strays:
            row, text = self.strays[0]
            n_others = self.n_rows - self.n_missing
            more = f"; {counted(len(self.strays))} such values" if len(self.strays) > 1 else ""
            raise ValueError(
                f"{table.at(row)}, column {self.name!r}: {quoted(text)} is not a number "
                f"(the other {counted(n_others)} values are{more}){hint}"
            )
        if self.infinite:
            row, text = self.infinite
            raise ValueError(
                f"{table.at(row)}, column {self.name!r}: {quoted(text)} is infinite or too large for a float64"
            )


class TextBuilder:
    """Collects a column of text block by block: the different values, and a code for each row."""

    def __init__(self, name: str, missing: Iterable[str] = MISSING_TEXTS, n_expected: int = 0):
        self.name = name
        self.missing = frozenset(missing)
        self.code_of: dict[str, int] = {}
        self._codes = GrowingArray(np.int64, n_expected)
        self.n_rows = 0

    def add(self, texts: Any) -> None:
        """Read the next values: a sequence of str, or a polars Series of strings."""
        known = self.code_of
        if isinstance(texts, Sequence):
            codes = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        else:
            different = texts.unique().to_list()
            code_of_each = [known.setdefault(text, len(known)) for text in different]
            codes = texts.replace_strict(different, code_of_each).to_numpy()
        self._codes.write(self.n_rows, codes)
        self.n_rows += len(texts)

    @property
    def codes(self) -> Ints:
        """Each row's position among `code_of`."""
        return self._codes.room[: self.n_rows, 0]

    def column(self) -> TextColumn:
        """Return the finished column: blanks around values stripped, missing values coded as -1, values sorted."""
        return text_column(self.name, list(self.code_of), self.codes, self.missing)


def text_column(name: str, texts: Sequence[str], codes: Ints, missing: frozenset[str] = MISSING_TEXTS) -> TextColumn:
    """Make a column of the texts that codes point to (-1: missing); equal texts are merged, and all sorted."""
    stripped = [text.strip() for text in texts]
    categories = in_natural_order({text for text in stripped if text not in missing})
    new_code = np.append(codes_among(stripped, categories), -1)
    was_stripped = any(text != short for text, short in zip(texts, stripped, strict=True) if short)
    return without_unused(TextColumn(name, tuple(categories), new_code[codes], was_stripped))


def codes_among(texts: Iterable[str], categories: Sequence[str], unknown: int = -1) -> Ints:
    """Return the position of each text among the categories."""
    place = {text: code for code, text in enumerate(categories)}
    return np.array([place.get(text, unknown) for text in texts], dtype=np.int64)


def without_unused(column: TextColumn) -> TextColumn:
    """Leave out values that no row has."""
    used = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories)) > 0
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


def count_gaps(column: Column) -> int:
    """Count the missing values of a column."""
    return int(np.count_nonzero(find_gaps(column)))


def find_gaps(column: Column) -> Bools:
    """Mark the rows where a column has no value."""
    if isinstance(column, NumberColumn | DateColumn):
        return np.isnan(column.values)
    if isinstance(column, TextColumn):
        return column.codes < 0
    return np.zeros(0, dtype=bool)


def as_text(column: Column) -> Column:
    """Return a column of numbers as one of text: whole numbers without a point."""
    if not isinstance(column, NumberColumn):
        return column
    known = ~np.isnan(column.values)
    distinct, inverse = np.unique(column.values[known], return_inverse=True)
    texts = [number_text(value, column.is_truth) for value in distinct.tolist()]
    order = in_natural_order(texts)
    codes = np.full(len(column.values), -1, dtype=np.int64)
    codes[known] = codes_among(texts, order)[inverse]
    return TextColumn(column.name, tuple(order), codes)


def number_text(value: float, is_truth: bool = False) -> str:
    """Write a number as a label."""
    if is_truth:
        return str(bool(value))
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def has_leading_zero(text: str) -> bool:
    """Tell whether a whole number is written as codes often are, with more digits than it needs: 02139."""
    return _LEADING_ZERO.fullmatch(text) is not None


def is_rounded(value: int) -> bool:
    """Tell whether float64 cannot hold an integer."""
    return abs(value) > _LARGEST_EXACT_INTEGER and (abs(value) > 10**300 or int(float(value)) != value)


def is_rounded_text(text: str) -> bool:
    """Tell whether a text is an integer that float64 cannot hold."""
    digits = text.lstrip("+-")
    return len(digits) > 15 and digits.isdecimal() and (len(digits) > 300 or is_rounded(int(digits)))


def check_n_columns(n_columns: int, name: str) -> None:
    """Refuse a file with too many columns, before any work is done on each."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {counted(n_columns)} columns; the limit is {counted(MOST_COLUMNS)}. Are rows and columns "
            "exchanged?"
        )


def check_n_rows(n_rows: int, name: str) -> None:
    """Refuse a file with too many rows, before its columns are unpacked."""
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"{name} has {counted(n_rows)} rows or more; the limit is {counted(MOST_ROWS)}. Draw a sample of them first"
        )


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse a name that two columns share."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise ValueError(f"{where}: columns {seen[name]} and {position} have the same name, {name!r}")
        seen[name] = position
