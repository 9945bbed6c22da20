"""How the cells of a column are read, whoever delivers them.

A CSV has text, a frame has types, and pandas makes floats of integers with gaps: the same values come as numbers, text,
dates or truth values. What was decided about a column when it was first seen is kept in its reading: which numbers mark
a gap, the decimal sign, the format of dates or the unit of a clock, and how its values are spelled. Training and
prediction read by the same function, cell by cell, so a value is read alike in any file, alone or among others.

===============  =============================  =====================================================
class            gives                          keeps
===============  =============================  =====================================================
`NumberReading`  a `NumberColumn`               decimal sign, marks of gaps, whether yes and no are 1 and 0
`LevelReading`   a `TextColumn`                 the values as the first file spells them, marks of gaps
`DateReading`    a `DateColumn`                 format, or unit of a clock, marks of gaps
`TextReading`    a `TextColumn`                 nothing
===============  =============================  =====================================================
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Bools, Floats
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    as_text,
    distinct_numbers,
    text_column,
)
from bayesfloor.tables.spellings import (
    DATE_FORMATS,
    GAP_TEXTS,
    MISSING_TEXTS,
    TIME_FORMATS,
    decimal_sign,
    folded_text,
    has_leading_zero,
    is_gap,
    number_text,
    read_dates_alone,
    to_number,
    truth_of,
    truth_value,
)

#: Maximum distance of a date from 1970, in seconds: what 64 bits of microseconds hold.
FARTHEST = 9.2e12
#: Seconds in one unit of a clock that counts from 1970.
UNITS = (1.0, 1e-3, 1e-6, 1e-9)
#: Maximum number of missing-value codes of a column, such as -999.
_MOST_MARKS = 8


@dataclass
class UnseenValues:
    """What was met in a table that the first one did not have, or that says nothing: rows by column.

    Attributes
    ----------
    gaps : Counter of str
        Rows without a value, or with a mark of a missing one.
    unread : Counter of str
        Rows with something that cannot be read, and is taken for missing.
    unknown : Counter of str
        Rows with a value that the first table did not have.
    example : dict of str to str
        For each column of `unread`, one such value.
    """

    gaps: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def add_unread(self, name: str, n_rows: int, example: str) -> None:
        """Count rows that cannot be read."""
        if n_rows:
            self.unread[name] += n_rows
            self.example.setdefault(name, example)

    def unread_note(self) -> str:
        """Say what could not be read; empty where all could."""
        found = [f"{name!r} ({counted(n)}, such as {self.example[name]})" for name, n in self.unread.items()]
        return f"Values that cannot be read, taken for missing: {listed(found, 6)}." if found else ""

    def notes(self) -> Iterator[str]:
        """Say what was met."""
        if self.unread:
            yield self.unread_note()
        for counts, what in (
            (self.gaps, "no value, filled as in the first table"),
            (self.unknown, "a value that the first table did not have"),
        ):
            found = [f"{name!r} ({counted(number)})" for name, number in counts.items() if number]
            if found:
                yield f"Rows with {what}: {listed(found, 6)}."


@dataclass(frozen=True)
class Reading:
    """How the cells of a column are read."""

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> Column:
        """Return the column as its treatment takes it.

        Parameters
        ----------
        column : Column
            As a reader of files or frames gives it.
        table : RawTable
            Where it is from, for messages.
        unseen : UnseenValues
            Where to count what cannot be read, and what the first table did not have.

        Returns
        -------
        Column
            The same object where there was nothing to do.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"reading": type(self).__name__, **{each.name: getattr(self, each.name) for each in fields(self)}}

    def check(self) -> None:
        """Refuse values that no table can have led to, as in a file that was tampered with."""


def reading_from_dict(stored: Any) -> Reading:
    """Take back what `Reading.to_dict` gave.

    Raises
    ------
    ValueError
        Where it can not have been given by it.
    """
    given = dict(stored) if isinstance(stored, dict) else {}
    name = given.pop("reading", None)
    cls = next(
        (each for each in (NumberReading, LevelReading, DateReading, TextReading) if each.__name__ == name), None
    )
    if cls is None or given.keys() != {each.name for each in fields(cls)}:
        raise ValueError("it is not told how a column is read")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    reading: Reading = cls(**values)
    reading.check()
    return reading


def _refuse_unless(*conditions: bool) -> None:
    if not all(conditions):
        raise ValueError("a column is read by values that do not go together")


def _are_marks(marks: Any) -> bool:
    return (
        isinstance(marks, tuple)
        and len(marks) <= _MOST_MARKS
        and all(isinstance(mark, float) and math.isfinite(mark) for mark in marks)
    )


def _marked(values: Floats, marks: tuple[float, ...]) -> Floats:
    """Return numbers with NaN in place of infinite ones and of marks of gaps; the same array where there are none."""
    gaps: Bools = np.isinf(values)
    for mark in marks:
        gaps |= values == mark
    return np.where(gaps, np.nan, values) if gaps.any() else values


def _texts_of(column: Column) -> Column:
    """Return any column as text: whole numbers without a point, dates with the year first."""
    if not isinstance(column, DateColumn):
        return as_text(column)
    distinct, codes = distinct_numbers(column.values)
    written = replace(column, values=distinct)
    return text_column(column.name, [written.shown(row) for row in range(len(distinct))], codes)


@dataclass(frozen=True)
class NumberReading(Reading):
    """Numbers, NaN where there is none.

    Attributes
    ----------
    decimal : {".", ","} or None
        The decimal sign of text that can be read either way, as 1.234 can; None for that of its file.
    gap_marks : tuple of float
        Numbers that mean a missing one, such as -999.
    is_truth : bool
        Whether all numbers are 0 and 1, so that words for no and yes are these.
    """

    decimal: str | None = None
    gap_marks: tuple[float, ...] = ()
    is_truth: bool = False

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> NumberColumn:
        """Return finite numbers."""
        name = column.name
        if isinstance(column, NumberColumn):
            values = _marked(column.values, self.gap_marks)
            return column if values is column.values else replace(column, values=values)
        if isinstance(column, OtherColumn):
            raise ValueError(f"{table.source}: column {name!r} must hold numbers")
        if isinstance(column, DateColumn):
            if column.type_name.startswith("Duration"):
                return NumberColumn(name, _marked(column.values, self.gap_marks))
            unseen.add_unread(name, int((~np.isnan(column.values)).sum()), "dates")
            return NumberColumn(name, np.full(len(column.values), np.nan))
        numbers, strays = self._numbers(column, table)
        if strays:
            rows = column.counts[np.isin(column.categories, strays)]
            unseen.add_unread(name, int(rows.sum()), quoted(strays[0]))
        return NumberColumn(name, _marked(column.by_row(numbers), self.gap_marks))

    def _numbers(self, column: TextColumn, table: RawTable) -> tuple[Floats, list[str]]:
        """Read the different texts of a column; return their numbers, and the texts that are none."""
        numbers, strays = column.numbers(self.decimal or table.decimal)
        if self.is_truth and strays:
            numbers, truth = numbers.copy(), {text: truth_value(text) for text in strays}
            for place in np.flatnonzero(np.isnan(numbers)).tolist():
                value = truth.get(column.categories[place])
                numbers[place] = math.nan if value is None else float(value)
            strays = [text for text in strays if truth[text] is None]
        return numbers, strays

    def check(self) -> None:
        """Refuse another sign, and marks that are no numbers."""
        _refuse_unless(
            self.decimal is None or (isinstance(self.decimal, str) and self.decimal in (".", ",")),
            _are_marks(self.gap_marks),
            isinstance(self.is_truth, bool),
        )


@dataclass(frozen=True)
class LevelReading(Reading):
    """The values of a category, spelled as the first file spells them; other values as they are.

    Attributes
    ----------
    levels : tuple of str
        The values that the first table had.
    gap_marks : tuple of float
        Numbers that mean a missing value.
    are_numbers : bool
        Whether the values are numbers that serve as codes: 1.0 is then written as 1, and 02139 as it is.
    """

    levels: tuple[str, ...] = ()
    gap_marks: tuple[float, ...] = ()
    are_numbers: bool = False

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> TextColumn:
        """Return text; a value that is spelled in another way than in the first file is spelled as there."""
        text = _texts_of(column)
        if not isinstance(text, TextColumn):
            raise ValueError(f"{table.source}: column {column.name!r} must hold text")
        spelled, is_known = self._spelled(text.categories, table.decimal)
        unknown = [place for place, known in enumerate(is_known) if not known]
        if unknown:
            unseen.unknown[column.name] += int(text.counts[unknown].sum())
        if spelled == list(text.categories):
            return text
        # an empty text marks a gap; no value is empty
        return text_column(text.name, spelled, text.codes, frozenset({""}))

    def _spelled(self, texts: tuple[str, ...], decimal: str | None) -> tuple[list[str], list[bool]]:
        """Return how each text is spelled, empty where it is a gap, and whether it is a known value or a gap."""
        levels = dict.fromkeys(self.levels)
        spelled, is_known = [], []
        by_number: dict[float, str] | None = None
        folded: dict[str, str] | None = None
        truth = truth_of(self.levels)
        for text in texts:
            found = text if text in levels else None
            if found is None and (text in GAP_TEXTS or text in MISSING_TEXTS):
                found = ""
            if found is None and truth is not None:
                value = truth_value(text)
                found = None if value is None else truth[value]
            if found is None:
                folded = folded if folded is not None else _first_of(self.levels, folded_text)
                found = folded.get(folded_text(text))
            if found is None and (number := _number_in(text, decimal)) is not None:
                if number in self.gap_marks:
                    found = ""
                elif by_number is None:
                    by_number = _numbers_among(self.levels)
                if found is None and by_number is not None:
                    found = by_number.get(number)
                if found is None and self.are_numbers and not has_leading_zero(text):
                    text = number_text(number)
            spelled.append(text if found is None else found)
            is_known.append(found is not None)
        return spelled, is_known

    def check(self) -> None:
        """Refuse values that are no text, or that occur twice."""
        _refuse_unless(
            isinstance(self.levels, tuple)
            and all(isinstance(level, str) and level != "" for level in self.levels)
            and len(set(self.levels)) == len(self.levels),
            _are_marks(self.gap_marks),
            isinstance(self.are_numbers, bool),
        )


def _number_in(text: str, decimal: str | None = None) -> float | None:
    """Read a number with a decimal point, or with a decimal comma where it shows that, or its file has it."""
    number = to_number(text)
    if number is None and "," in text:
        number = to_number(text, decimal_sign([text]) or decimal or ".")
    return None if number is None or not math.isfinite(number) else number


def _first_of(levels: tuple[str, ...], write: Any) -> dict[str, str]:
    """Return the first level that is written in each way."""
    found: dict[str, str] = {}
    for level in levels:
        found.setdefault(write(level), level)
    return found


def _numbers_among(levels: tuple[str, ...]) -> dict[float, str]:
    """Return the level of each number; where several are the same number, the one without leading zeros."""
    found: dict[float, str] = {}
    for level in sorted(levels, key=lambda level: (has_leading_zero(level), level)):
        number = _number_in(level)
        if number is not None:
            found.setdefault(number, level)
    return found


@dataclass(frozen=True)
class DateReading(Reading):
    """Seconds since 1970 or since midnight, NaN where there is no date.

    Attributes
    ----------
    date_format : str or None
        How text is written.
    unit : float or None
        Seconds in one unit of a clock that counts from 1970, where dates are numbers.
    gap_marks : tuple of float
        Numbers that mean a missing date.
    is_time : bool
        Whether these are times of day.
    """

    date_format: str | None = None
    unit: float | None = None
    gap_marks: tuple[float, ...] = ()
    is_time: bool = False

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> DateColumn:
        """Return dates."""
        if isinstance(column, OtherColumn):
            raise ValueError(f"{table.source}: column {column.name!r} must hold dates")
        if isinstance(column, NumberColumn):
            values = _marked(column.values, self.gap_marks)
            if self.unit is not None:
                return self._within(column.name, values * self.unit, ~np.isnan(values), unseen)
            column = as_text(replace(column, values=values))
        if isinstance(column, DateColumn):
            return self._within(column.name, column.values, ~np.isnan(column.values), unseen, column.type_name)
        assert isinstance(column, TextColumn)
        texts = column.categories
        seconds, known = np.full(len(texts), np.nan), np.array([not is_gap(text) for text in texts], bool)
        if self.unit is not None or self.gap_marks:
            numbers, _ = column.numbers(table.decimal)
            known &= ~np.isin(numbers, self.gap_marks)
            if self.unit is not None:
                seconds = np.where(known, numbers * self.unit, np.nan)
        left = np.flatnonzero(known & np.isnan(seconds)).tolist()
        if left:
            seconds[left] = read_dates_alone([texts[j] for j in left], self.date_format, is_time=self.is_time)
        is_known = np.append(known, False)[column.codes]
        return self._within(column.name, column.by_row(seconds), is_known, unseen)

    def _within(
        self, name: str, seconds: Floats, known: Bools, unseen: UnseenValues, type_name: str = "dates"
    ) -> DateColumn:
        """Return dates as far as a calendar goes; count what is known to be there and could not be read."""
        seconds = np.where(np.abs(seconds) <= FARTHEST, seconds, np.nan)
        unseen.add_unread(name, int(np.count_nonzero(known & np.isnan(seconds))), "what is no such date")
        return DateColumn(name, seconds, "times of day" if self.is_time else type_name)

    def check(self) -> None:
        """Refuse formats and units that are none."""
        _refuse_unless(
            self.date_format is None
            or (isinstance(self.date_format, str) and self.date_format in (*DATE_FORMATS, *TIME_FORMATS)),
            self.unit is None or (isinstance(self.unit, float) and self.unit in UNITS),
            _are_marks(self.gap_marks),
            isinstance(self.is_time, bool),
        )


@dataclass(frozen=True)
class TextReading(Reading):
    """Text as it is; what stands for a missing value is one."""

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> TextColumn:
        """Return text."""
        text = _texts_of(column)
        if not isinstance(text, TextColumn):
            raise ValueError(f"{table.source}: column {column.name!r} must hold text")
        if not any(each in GAP_TEXTS or each in MISSING_TEXTS for each in text.categories):
            return text
        return text_column(text.name, text.categories, text.codes, GAP_TEXTS | MISSING_TEXTS)
