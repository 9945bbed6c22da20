"""Values whose types are told one by one, as in JSON and SQLite -> columns."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import (
    MISSING_TEXTS,
    Column,
    GrowingArray,
    NumberColumn,
    OtherColumn,
    TextColumn,
    check_n_columns,
    check_n_rows,
    number_text,
    text_column,
    to_number,
)
from bayesfloor.tables.unpacking import UNPACKED_LIMIT

#: Rows that are collected before they become columns: bounds the memory for Python's values.
BLOCK_ROWS = 20_000
#: Integers up to this are exact in float64.
_LARGEST_EXACT_INTEGER = 2**53
_OTHER_TYPES = {list: "lists", dict: "objects", bytes: "bytes"}


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
        self.rounded += abs(value) > _LARGEST_EXACT_INTEGER and int(number) != value
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
            codes, more = _add_numbers(codes, self.numbers.room[: self.n_rows, 0], len(texts))
            texts += more
        return numbers_in_text(text_column(self.name, texts, codes, frozenset({""})))


def _filled(dtype: type, value: float, n_rows: int) -> GrowingArray:
    array = GrowingArray(dtype)
    array.write(0, np.full(n_rows, value, dtype))
    return array


def _add_numbers(codes: Any, numbers: Floats, n_texts: int) -> tuple[Any, list[str]]:
    """Give codes to the rows that hold numbers, and the texts of these."""
    known = ~np.isnan(numbers)
    different, inverse = np.unique(numbers[known], return_inverse=True)
    codes = codes.copy()
    codes[known] = n_texts + inverse
    return codes, [number_text(value) for value in different.tolist()]


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
    numbers, rounded = [], []
    for text in column.categories:
        number = math.nan if text in MISSING_TEXTS else to_number(text)
        digits = text.lstrip("+-")
        is_code = digits[:1] == "0" and digits[1:2].isdecimal() and not leading_zeros
        if number is None or math.isinf(number) or is_code:
            return column
        numbers.append(number)
        rounded.append(abs(number) > _LARGEST_EXACT_INTEGER and digits.isdecimal() and int(digits) != abs(number))
    if all(map(math.isnan, numbers)):
        return column
    rounded = [
        text.lstrip("+-").isdecimal() and int(text) != n for text, n in zip(column.categories, numbers, strict=True)
    ]
    n_rounded = int(np.append(rounded, False)[column.codes].sum())
    return NumberColumn(column.name, np.append(numbers, math.nan)[column.codes], n_rounded)


def check_size(n_rows: int, n_columns: int, name: str) -> None:
    """Refuse a table that is too large, before its columns are made: a few bytes can name a new one in each row."""
    check_n_columns(n_columns, name)
    check_n_rows(n_rows, name)
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > UNPACKED_LIMIT:
        raise ValueError(
            f"{name} unpacks to {counted(n_rows)} rows of {counted(n_columns)} columns, {in_gib(n_bytes)}; the limit "
            f"is {in_gib(UNPACKED_LIMIT)}"
        )
    check_memory(3 * n_bytes, f"Reading {name}")
