"""Columns that grow block by block, while a file is read.

`NumberBuilder` and `TextBuilder` take texts. `ValueBuilder` takes values of any type, as in JSON.
"""

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import counted, quoted
from bayesfloor.tables.columns import (
    Column,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    distinct_numbers,
    text_column,
)
from bayesfloor.tables.spellings import LARGEST_EXACT_INTEGER, MISSING_TEXTS, number_text, to_number

#: Number of rows to collect before they become columns; limits the memory for Python's values.
BLOCK_ROWS = 20_000
#: A number such as 02139 among texts that are joined by zero bytes.
_SOME_LEADING_ZERO = re.compile(r"(?:^|\0)\s*[+-]?0\d+\s*(?:$|\0)")
_OTHER_TYPES = {list: "lists", dict: "objects", bytes: "bytes"}


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
        is_odd = read.is_null() & ~texts.is_in(sorted(MISSING_TEXTS))
        for place in np.flatnonzero(is_odd.to_numpy()).tolist():
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
        for place in np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER):
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
            self.has_leading_zeros = _SOME_LEADING_ZERO.search("\0".join(texts)) is not None
        else:
            self.has_leading_zeros = bool(texts.str.contains(r"^\s*[+-]?0\d+\s*$").any())

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


class ValueBuilder:
    """Collects a column of numbers, text, booleans and None, block by block.

    Parameters
    ----------
    name : str
        Its name.
    n_before : int
        Rows that came before it was first seen, in which it is missing.
    """

    def __init__(self, name: str, n_before: int = 0):
        self.name = name
        self.n_rows = n_before
        self.numbers: GrowingArray | None = None
        self.codes: GrowingArray | None = None
        self.code_of: dict[str | bool, int] = {}
        self.rounded = 0
        self.other_types: dict[str, None] = {}

    def add(self, values: Sequence[Any]) -> None:
        """Read the next values."""
        types = set(map(type, values))
        if types & {int, float}:
            self.numbers = self.numbers or _filled(np.float64, math.nan, self.n_rows)
        if types & {str, bool}:
            self.codes = self.codes or _filled(np.int64, -1, self.n_rows)
        self.other_types |= dict.fromkeys(what for kind, what in _OTHER_TYPES.items() if kind in types)
        if self.numbers is not None:
            self.numbers.write(self.n_rows, np.array([self._number(value) for value in values]))
        if self.codes is not None:
            known = self.code_of
            codes = [known.setdefault(v, len(known)) if type(v) in (str, bool) else -1 for v in values]
            self.codes.write(self.n_rows, np.array(codes, dtype=np.int64))
        self.n_rows += len(values)

    def _number(self, value: Any) -> float:
        if type(value) is float:
            return value
        if type(value) is not int:
            return math.nan
        try:
            number = float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
        self.rounded += abs(value) > LARGEST_EXACT_INTEGER and int(number) != value
        return number

    def column(self) -> Column:
        """Return the finished column: numbers, booleans, or text where types are mixed."""
        if self.other_types:
            return OtherColumn(self.name, " and ".join(self.other_types))
        if self.codes is None:
            values = _filled(np.float64, math.nan, self.n_rows) if self.numbers is None else self.numbers
            return NumberColumn(self.name, values.room[: self.n_rows, 0], self.rounded)
        codes = self.codes.room[: self.n_rows, 0]
        if self.numbers is None and all(type(key) is bool for key in self.code_of):
            truth = np.array([*map(float, self.code_of), math.nan])
            return NumberColumn(self.name, truth[codes], is_truth=True)
        texts = [str(key) for key in self.code_of]
        if self.numbers is not None:
            distinct, places = distinct_numbers(self.numbers.room[: self.n_rows, 0])
            codes = np.where(places < 0, codes, len(texts) + places)
            texts += map(number_text, distinct.tolist())
        return numbers_in_text(text_column(self.name, texts, codes, frozenset({""})))


def _filled(dtype: type, value: float, n_rows: int) -> GrowingArray:
    array = GrowingArray(dtype)
    array.write(0, np.full(n_rows, value, dtype))
    return array


def numbers_in_text(column: TextColumn, *, leading_zeros: bool = False) -> Column:
    """Return a column of text as numbers where all of its values are, apart from those that stand for a missing one.

    Parameters
    ----------
    column : TextColumn
        The text.
    leading_zeros : bool, default=False
        Whether "007" is a number too; it is often a code.

    Returns
    -------
    Column
    """
    numbers = []
    for text in column.categories:
        number = math.nan if text in MISSING_TEXTS else to_number(text)
        digits = text.lstrip("+-")
        is_code = digits[:1] == "0" and digits[1:2].isdecimal() and not leading_zeros
        if number is None or math.isinf(number) or is_code:
            return column
        numbers.append(number)
    if all(map(math.isnan, numbers)):
        return column
    rounded = [
        text.lstrip("+-").isdecimal() and int(text) != n for text, n in zip(column.categories, numbers, strict=True)
    ]
    n_rounded = int(np.append(rounded, False)[column.codes].sum())
    return NumberColumn(column.name, np.append(numbers, math.nan)[column.codes], n_rounded)
