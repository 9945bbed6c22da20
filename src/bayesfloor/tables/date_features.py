"""Dates, moments and times of day: the time that passes, and the parts that come round."""

from dataclasses import dataclass

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.tables.columns import Column, DateColumn, RawTable
from bayesfloor.tables.readings import FARTHEST, DateReading
from bayesfloor.tables.scaling import fill_number, learn_scale
from bayesfloor.tables.treatments import GAP, Treatment, are_texts, is_number

#: Seconds in an hour and in a day.
_HOUR, _DAY = 3600.0, 86400.0
#: Cyclic parts of a date, and their periods.
_PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}


@dataclass(frozen=True, eq=False)
class DateFeatures(Treatment):
    """A date, a moment or a time of day.

    Attributes
    ----------
    parts : tuple of str
        Of "time", "month", "weekday" and "hour", those that vary.
    fill : float
        Seconds that stand in for a missing value.
    center, spread : float
        Scale of the time, in seconds.
    tells_gaps : bool
        Whether there is a column for missing values.
    """

    parts: tuple[str, ...] = ("time",)
    fill: float = 0.0
    center: float = 0.0
    spread: float = 1.0
    tells_gaps: bool = False

    kind = "date"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names such as date: month (sine)."""
        names = []
        for part in self.parts:
            if part == "time":
                names.append(f"{self.name}: time")
            else:
                names += [f"{self.name}: {part} (sine)", f"{self.name}: {part} (cosine)"]
        return (*names, f"{self.name}={GAP}") if self.tells_gaps else tuple(names)

    def apply(self, column: Column, table: RawTable) -> Floats:
        """Return the time, and sine and cosine of what comes round."""
        assert isinstance(column, DateColumn)
        gaps = np.isnan(column.values)
        seconds = np.where(gaps, self.fill, column.values)
        features = []
        for part in self.parts:
            if part == "time":
                features.append((seconds - self.center) / self.spread)
            else:
                angle = 2.0 * np.pi * part_of_date(seconds, part) / _PERIODS[part]
                features += [np.sin(angle), np.cos(angle)]
        return np.column_stack([*features, gaps] if self.tells_gaps else features)

    def tabular(self, column: Column, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the parts as numbers, with their gaps."""
        assert isinstance(column, DateColumn)
        seconds = column.values
        known = ~np.isnan(seconds)
        parts = ("time", "year", *self.parts[1:]) if self.parts[0] == "time" else self.parts
        values = np.full((len(seconds), len(parts)), np.nan)
        for place, part in enumerate(parts):
            values[known, place] = seconds[known] if part == "time" else part_of_date(seconds[known], part)
        return values, [f"{self.name}: {part}" for part in parts], False

    def check(self) -> None:
        """Refuse parts that are none, or come twice, and moments that no calendar has."""
        self.refuse_unless(
            isinstance(self.reading, DateReading),
            are_texts(self.parts) and bool(self.parts),
        )
        self.refuse_unless(
            self.parts == tuple(part for part in ("time", *_PERIODS) if part in self.parts),
            all(is_number(value) and abs(value) <= FARTHEST for value in (self.fill, self.center)),
            is_number(self.spread) and 0 < self.spread <= 2 * FARTHEST,
            isinstance(self.tells_gaps, bool),
        )


def part_of_date(seconds: Floats, part: str) -> Floats:
    """Return the year, the month from 0, the weekday from Monday = 0 or the hour with its fraction."""
    if part == "hour":
        return np.mod(seconds, _DAY) / _HOUR
    days = np.floor(seconds / _DAY).astype(np.int64)
    if part == "weekday":
        return np.mod(days + 3, 7).astype(np.float64)  # 1970 began on a Thursday
    dates = days.astype("datetime64[D]")
    years = dates.astype("datetime64[Y]").astype(np.int64)
    if part == "year":
        return years.astype(np.float64) + 1970.0
    return (dates.astype("datetime64[M]").astype(np.int64) - 12 * years).astype(np.float64)


def learn_date(column: DateColumn, reading: DateReading, tells_gaps: bool) -> DateFeatures:
    """Learn which parts of a date vary, and its scale."""
    known = column.values[~np.isnan(column.values)]
    span = float(known.max() - known.min())
    parts = [] if reading.is_time else ["time"]
    if not reading.is_time:
        if span > 60 * _DAY and len(np.unique(part_of_date(known, "month"))) > 2:
            parts.append("month")
        if len(np.unique(part_of_date(known, "weekday"))) > 2 and span > 7 * _DAY and not _is_monthly(known):
            parts.append("weekday")
    if len(np.unique(np.floor(part_of_date(known, "hour")))) > 1 or reading.is_time:
        parts.append("hour")
    center, spread = learn_scale(known, "standard")
    fill = fill_number(known, "median")
    return DateFeatures(column.name, tuple(parts), fill, center, spread, tells_gaps, lenient=True, reading=reading)


def _is_monthly(seconds: Floats) -> bool:
    """Tell whether all dates are the first of a month: then weekdays say nothing."""
    days = np.floor(seconds / _DAY).astype(np.int64).astype("datetime64[D]")
    return bool((days == days.astype("datetime64[M]").astype("datetime64[D]")).all())
