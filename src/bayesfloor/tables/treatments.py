"""How a column becomes features: learnt from one table, applied to any other that has the column.

==================  ====================  =====================================  =======================================
class               file                  the metric view (X)                    the tabular view
==================  ====================  =====================================  =======================================
`NumberFeature`     here                  (value - center) / spread; each of a   the number, gaps kept
                                          few values too where they may be codes
`GivenNumber`       here                  the same, without gaps                 the number
`PresenceFeature`   here                  whether it is missing                  the same
`CategoryFeatures`  `category_features`   0 and 1 for each value, or codes       the code, gaps kept
`SharesFeatures`    `category_features`   frequent values as 0 and 1, and the    the code, gaps kept
                                          share of each class among other rows
`MeansFeatures`     `category_features`   the same for a number: its mean        the code, gaps kept
`DateFeatures`      here                  time passed; sine and cosine of the    time passed, year, month, weekday, hour
                                          month, the weekday and the hour
`TextFeatures`      here                  components of hashed n-grams           the same, gaps kept
==================  ====================  =====================================  =======================================

A treatment holds all that was decided about its column: how cells are read (`readings`), and what is made of them. The
features of the table that it was learnt from are made by the same `apply`; shares and means alone are computed there
from other rows. Distances in the metric view treat columns alike: two rows that differ in a category are as far apart
as two rows are, on average, in a number. Gaps and values that were not seen are taken, but by
`GivenNumber`.

scikit-learn's ColumnTransformer and skrub's TableVectorizer do much of this. They are not used here: what they learn
cannot be written to a file without code in it, their target encoding depends on the order of the rows, and on 100 000
rows of 30 columns skrub takes half as long as the rest of a report. N-grams and their components are scikit-learn's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import quoted
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, RawTable, TextColumn
from bayesfloor.tables.readings import (
    FARTHEST,
    DateReading,
    NumberReading,
    Reading,
    TextReading,
    UnseenValues,
    reading_from_dict,
)

#: Name of the feature that tells that a value is missing.
GAP = "(missing)"
#: Maximum number of levels of a number that may be a code (in real tables more were amounts), and what stands for one
#: in the metric view. A number in both forms is to count as one column: each has half of its squared distance.
MOST_LEVELS, LEVEL_WEIGHT = 12, 0.5**0.5

#: Seconds in an hour and in a day.
_HOUR, _DAY = 3600.0, 86400.0
#: Cyclic parts of a date, and their periods.
_PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}

#: Hash buckets of n-grams, maximum number of texts to learn directions from, and maximum number of directions.
_N_BUCKETS, _MOST_TEXTS, _N_DIRECTIONS = 4096, 4000, 30
#: Maximum number of letters of a text to read.
_MOST_LETTERS = 2000
#: Mean length of texts, in letters, above which words are counted and not letters: short texts have too few words.
_LONG_TEXT = 40
#: Texts whose coordinates spread less than this coincide, up to rounding.
_LEAST_SPREAD = 1e-9
#: N-grams of letters and of words, as HashingVectorizer takes them.
_N_GRAMS: dict[str, dict[str, Any]] = {
    "letters": {"analyzer": "char_wb", "ngram_range": (3, 4)},
    "words": {"analyzer": "word", "ngram_range": (1, 2)},
}


def learn_scale(values: Floats, scale: str) -> tuple[float, float]:
    """Return what to subtract and what to divide by; a constant column is only moved to 0."""
    lowest, highest = float(values.min()), float(values.max())
    if scale == "none":
        return 0.0, 1.0
    if lowest == highest:
        return lowest, 1.0
    if scale == "minmax":
        if not math.isfinite(highest - lowest):
            raise ValueError(f"the range from {lowest:g} to {highest:g} is too large for scale='minmax'")
        return lowest, highest - lowest
    exponent = _exponent_of(values)  # squares must neither overflow nor vanish
    moderate = np.ldexp(np.sort(values), -exponent)
    return float(np.ldexp(moderate.mean(), exponent)), float(np.ldexp(moderate.std(), exponent))


def fill_number(values: Floats, impute: str) -> float:
    """Return what stands in for missing numbers."""
    known = np.sort(values[np.isfinite(values)])
    if impute == "median":
        return float(np.median(known))
    if impute == "mean":
        exponent = _exponent_of(known)
        return float(np.ldexp(np.ldexp(known, -exponent).mean(), exponent))
    distinct, counts = np.unique(known, return_counts=True)
    return float(distinct[counts.argmax()])


def scaled(values: Floats, center: float, spread: float) -> Floats:
    """Return ``(values - center) / spread``."""
    if center == 0.0 and spread == 1.0:
        return values
    far = np.abs(values) > 1e300
    if far.any():  # a difference of two such numbers may overflow
        return np.where(far, (values / 4 - center / 4) / (spread / 4), (np.where(far, 0.0, values) - center) / spread)
    return (values - center) / spread


def _exponent_of(values: Floats) -> int:
    """Return the exponent of the largest number."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


@dataclass(frozen=True)
class Treatment:
    """What was learnt from a column.

    Attributes
    ----------
    name : str
        Its name in the file.
    reading : Reading
        How its cells are read.
    """

    name: str
    reading: Reading = field(default=NumberReading(), kw_only=True)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of its columns in X."""
        raise NotImplementedError

    @property
    def is_recoverable(self) -> bool:
        """Whether a row of X tells the value that the file has."""
        return False

    def read(self, column: Column, table: RawTable, unseen: UnseenValues) -> Column:
        """Read a column of a file or a frame; `apply` and `tabular` take what this returns."""
        return self.reading.read(column, table, unseen)

    def apply(self, column: Any, table: RawTable) -> Floats:
        """Return the features of each row."""
        raise NotImplementedError

    def as_in_file(self, features: Floats) -> str:
        """Write the value of one row as the file has it, from its features."""
        raise NotImplementedError

    def tabular(self, column: Any, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return columns for learners that take codes and gaps, their names, and whether they are codes.

        `features` are those of the metric view, to be used where they serve as well.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        stored: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"treatment": type(self).__name__, **stored, "reading": self.reading.to_dict()}

    @classmethod
    def from_dict(cls, stored: Any) -> Self:
        """Take back what `to_dict` gave.

        Raises
        ------
        ValueError
            Where it can not have been given by it.
        """
        given = dict(stored) if isinstance(stored, dict) else {}
        if given.pop("treatment", None) != cls.__name__ or given.keys() != {each.name for each in fields(cls)}:
            raise ValueError("a column is described by other values than it needs")
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
        if not isinstance(given["name"], str):
            raise ValueError("a column is described by values that do not go together")
        treatment = cls(**{**given, "reading": reading_from_dict(given["reading"])})
        treatment.check()
        return treatment

    def check(self) -> None:
        """Refuse values that no fit can give, as in a file that was tampered with."""
        raise NotImplementedError

    def refuse_unless(self, *conditions: bool) -> None:
        """Raise a ValueError where a condition does not hold."""
        if not all(conditions):
            raise ValueError(f"column {quoted(self.name)} is described by values that do not go together")


@dataclass(frozen=True)
class NumberFeature(Treatment):
    """A number: ``(value - center) / spread``, gaps filled, plus a was-missing flag where there are enough.

    Where it may be a code as well, each of its `levels` has a column, with `LEVEL_WEIGHT` in rows of that number.
    """

    fill: float | None = None
    center: float = 0.0
    spread: float = 1.0
    tells_gaps: bool = False
    levels: tuple[float, ...] = ()

    kind = "number"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Its name, one for each level and one for gaps."""
        values = [*(f"{value:.0f}" for value in self.levels), *([GAP] * self.tells_gaps)]
        return (self.name, *(f"{self.name}={value}" for value in values))

    @property
    def is_recoverable(self) -> bool:
        """Whether no gap was filled."""
        return self.fill is None

    def apply(self, column: NumberColumn, table: RawTable) -> Floats:
        """Return the scaled number, whether it is each of the levels, and whether it is missing."""
        values = np.ascontiguousarray(column.values)  # columns may lie side by side in memory
        gaps = np.isnan(values)
        if gaps.any():
            values = np.where(gaps, self.center if self.fill is None else self.fill, values)
        features = scaled(values, self.center, self.spread)[:, np.newaxis]
        if not self.levels and not self.tells_gaps:
            return features
        is_level = column.values[:, np.newaxis] == np.array(self.levels)
        return np.column_stack([features, LEVEL_WEIGHT * is_level, *([gaps] * self.tells_gaps)])

    def as_in_file(self, features: Floats) -> str:
        """Undo the scale."""
        number = float(features[0]) * self.spread + self.center
        if abs(number) < 1e-9 * self.spread:
            number = 0.0  # what rounding left of it
        return f"{number:.6g}"

    def tabular(self, column: NumberColumn, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the numbers with their gaps."""
        return column.values[:, np.newaxis], [self.name], False

    def check(self) -> None:
        """Refuse numbers that are none."""
        self.refuse_unless(
            isinstance(self.reading, NumberReading),
            self.fill is None or is_number(self.fill),
            is_number(self.center),
            is_number(self.spread) and self.spread > 0,
            isinstance(self.tells_gaps, bool),
            isinstance(self.levels, tuple) and all(is_number(value) and value == int(value) for value in self.levels),
        )
        self.refuse_unless(len(set(self.levels)) == len(self.levels) <= MOST_LEVELS)


@dataclass(frozen=True)
class GivenNumber(NumberFeature):
    """A number as it is, or scaled; what is no finite number is refused."""

    def apply(self, column: NumberColumn, table: RawTable) -> Floats:
        """Return the number of each row."""
        check_finite(column, table)
        return super().apply(column, table)


def check_finite(column: NumberColumn, table: RawTable) -> None:
    """Refuse a column with gaps, or with infinite numbers."""
    odd = np.flatnonzero(~np.isfinite(column.values))
    if len(odd):
        raise ValueError(f"{table.at(int(odd[0]))}, column {column.name!r}: there is no finite number")


@dataclass(frozen=True)
class PresenceFeature(Treatment):
    """A column of which only counts whether there is a value: an id, or one that has a single value."""

    kind = "presence"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name, that of gaps."""
        return (f"{self.name}={GAP}",)

    def apply(self, column: Column, table: RawTable) -> Floats:
        """Return whether the value is missing."""
        return column.gaps.astype(np.float64)[:, np.newaxis]

    def tabular(self, column: Column, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the same."""
        return features, list(self.feature_names), False

    def check(self) -> None:
        """Refuse nothing: the reading has checked itself."""


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def are_texts(texts: Any) -> bool:
    """Tell whether values are different texts."""
    is_tuple = isinstance(texts, tuple) and all(isinstance(text, str) for text in texts)
    return is_tuple and len(set(texts)) == len(texts)


def is_array(values: Any, shape: Sequence[int], low: float, high: float) -> bool:
    """Tell whether an array has a shape, and numbers within limits."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == tuple(shape)
        and bool(((values >= low) & (values <= high)).all())
    )


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

    def apply(self, column: DateColumn, table: RawTable) -> Floats:
        """Return the time, and sine and cosine of what comes round."""
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

    def tabular(self, column: DateColumn, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the parts as numbers, with their gaps."""
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
    return DateFeatures(column.name, tuple(parts), fill, center, spread, tells_gaps, reading=reading)


def _is_monthly(seconds: Floats) -> bool:
    """Tell whether all dates are the first of a month: then weekdays say nothing."""
    days = np.floor(seconds / _DAY).astype(np.int64).astype("datetime64[D]")
    return bool((days == days.astype("datetime64[M]").astype("datetime64[D]")).all())


@dataclass(frozen=True, eq=False)
class TextFeatures(Treatment):
    """Text: where it lies along the main components of text n-grams.

    Attributes
    ----------
    unit : str
        "letters" for three and four letters within words, "words" for single words and pairs of them.
    weights : ndarray of shape (n_buckets,)
        Rare n-grams weigh more.
    directions : ndarray of shape (n_buckets, n_directions)
        The directions, ready scaled.
    """

    unit: str = "letters"
    weights: Floats = field(default_factory=lambda: np.zeros(_N_BUCKETS))
    directions: Floats = field(default_factory=lambda: np.zeros((_N_BUCKETS, 0)))

    kind = "text"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names such as review: component 1."""
        return tuple(f"{self.name}: component {number + 1}" for number in range(self.directions.shape[1]))

    def apply(self, column: TextColumn, table: RawTable) -> Floats:
        """Return the place along each direction; 0 where there is no text."""
        places = np.zeros((len(column.categories) + 1, self.directions.shape[1]))
        if column.categories:
            places[:-1] = n_gram_counts(column.categories, self.unit) @ (self.weights[:, np.newaxis] * self.directions)
        return places[column.codes]

    def tabular(self, column: TextColumn, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the same, with gaps."""
        values = features.copy()
        values[column.codes < 0] = np.nan
        return values, list(self.feature_names), False

    def check(self) -> None:
        """Refuse arrays of another shape, and numbers that texts do not lead to."""
        n = self.directions.shape[1] if isinstance(self.directions, np.ndarray) and self.directions.ndim == 2 else -1
        self.refuse_unless(
            isinstance(self.reading, TextReading),
            isinstance(self.unit, str) and self.unit in _N_GRAMS,
            1 <= n <= _N_DIRECTIONS,
            is_array(self.weights, (_N_BUCKETS,), 1.0, 2.0 + np.log(_MOST_TEXTS)),
            is_array(self.directions, (_N_BUCKETS, n), -2.0 / _LEAST_SPREAD, 2.0 / _LEAST_SPREAD),
        )


def n_gram_counts(texts: Sequence[str], unit: str) -> Any:
    """Count n-grams, hashed into buckets; each row has length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(n_features=_N_BUCKETS, alternate_sign=False, norm="l2", **_N_GRAMS[unit])
    return vectorizer.transform(text[:_MOST_LETTERS] for text in texts)


def learn_text(column: TextColumn, reading: TextReading) -> TextFeatures:
    """Learn the main directions of the different texts, in an order that the rows have no part in."""
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits

    texts = sorted(column.categories)
    texts = texts[:: max(1, -(-len(texts) // _MOST_TEXTS))]
    unit = "words" if np.mean([len(text) for text in texts]) > _LONG_TEXT else "letters"
    counts = n_gram_counts(texts, unit)
    n_with = np.bincount(counts.indices, minlength=_N_BUCKETS)
    weights = np.log((1.0 + len(texts)) / (1.0 + n_with)) + 1.0
    n_directions = max(1, min(_N_DIRECTIONS, len(texts) - 1))
    with threadpool_limits(1):  # the same directions with any number of threads
        svd = TruncatedSVD(n_directions, random_state=0).fit(counts.multiply(weights).tocsr())
        directions = np.ascontiguousarray(svd.components_.T)
        places = counts @ (weights[:, np.newaxis] * directions)
    spread = float(places.std(axis=0).max())
    directions = directions / (spread if spread > _LEAST_SPREAD else 1.0)
    return TextFeatures(column.name, unit, weights, directions, reading=reading)
