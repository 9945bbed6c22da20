"""How a column becomes features: learnt from one table, applied to any other that has the column.

=================  ======================================  ==========================================
class              the metric view (X)                     the tabular view
=================  ======================================  ==========================================
`NumberFeature`    (value - center) / spread               the number, gaps kept
`CategoryFeatures` 0 and 1 for each value, or codes        the code, gaps kept
`SharesFeatures`   frequent values as 0 and 1, and the     the code, gaps kept
                   share of each class among other rows
`MeansFeatures`    the same for a number: its mean         the code, gaps kept
`DateFeatures`     time passed; sine and cosine of the     time passed, year, month, weekday, hour
                   month, the weekday and the hour
`TextFeatures`     directions of hashed n-grams            the same
=================  ======================================  ==========================================

Distances in the metric view treat columns alike: two rows that differ in a category are as far apart as two rows are,
on average, in a number. What is lenient takes gaps and values that it has not seen, and counts them in `Oddities`.

scikit-learn's ColumnTransformer and skrub's TableVectorizer do much of this. They are not used here: what they learn
cannot be written to a file without code in it, their target encoding depends on the order of the rows, and on 100 000
rows of 30 columns skrub takes half as long as the rest of a report. N-grams and their directions are scikit-learn's.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from bayesfloor.data.target_encoding import (
    class_shares,
    classes_to_encode,
    out_of_fold_means,
    out_of_fold_shares,
    value_means,
)
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, RawTable, TextColumn, as_text, codes_among
from bayesfloor.tables.spellings import GAP_TEXTS, folded_text, read_dates, read_numbers

#: Name of the feature that tells that a value is missing, or that it is rare.
GAP, OTHER = "(missing)", "(other)"
#: The one category of a column of which only counts whether there is a value.
ANY_VALUE = "(any value)"
#: Seconds in the units that parts of dates count.
_HOUR, _DAY = 3600.0, 86400.0
#: Parts of a date that come round, and how often.
_PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}
#: Hash buckets of n-grams, the largest number of texts that directions are learnt from, and of directions.
_N_BUCKETS, _MOST_TEXTS, _N_DIRECTIONS = 4096, 4000, 30
#: Letters of a text that are read, at the most.
_MOST_LETTERS = 2000
#: Letters of a text, on average, from which words are counted: short texts have too few of them.
_LONG_TEXT = 40
#: What is counted in texts.
_N_GRAMS: dict[str, dict[str, Any]] = {
    "letters": {"analyzer": "char_wb", "ngram_range": (3, 4)},
    "words": {"analyzer": "word", "ngram_range": (1, 2)},
}


@dataclass
class Oddities:
    """What was met in a table that the first one did not have: rows by column."""

    gaps: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """Say what was met."""
        for counts, what in ((self.gaps, "no value"), (self.unknown, "a value that the first table did not have")):
            found = [f"{name!r} ({counted(number)})" for name, number in counts.items() if number]
            if found:
                yield f"Rows with {what}, filled as well as can be: {listed(found, 6)}."


@dataclass(frozen=True)
class OwnLabels:
    """The labels of the rows that a preparation was learnt from, so that none has a part in its own features.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    folds : ndarray of shape (n_rows,)
        Features of a row are computed from the labels of the other folds.
    y : ndarray of shape (n_rows,) or None
        The labels themselves, where they are numbers; `codes` are then bins of them.
    """

    codes: Ints
    n_classes: int
    folds: Ints
    y: Floats | None = None


@dataclass(frozen=True)
class Treatment:
    """What was learnt from a column.

    Attributes
    ----------
    name : str
        Its name in the file.
    lenient : bool
        Whether gaps and unknown values are taken where there were none.
    """

    name: str
    lenient: bool = field(default=False, kw_only=True)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of its columns in X."""
        raise NotImplementedError

    @property
    def is_recoverable(self) -> bool:
        """Whether a row of X tells the value that the file has."""
        return False

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return the features of each row."""
        raise NotImplementedError

    def as_in_file(self, features: Floats) -> str:
        """Write the value of one row as the file has it, from its features."""
        raise NotImplementedError

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return columns for learners that take codes and gaps, their names, and whether they are codes.

        `features` are those of the metric view, to be used where they serve as well.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        stored: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"treatment": type(self).__name__, **stored}

    def check(self) -> None:
        """Refuse values that do not go together, as in a file that was tampered with."""
        raise NotImplementedError

    def _refuse_unless(self, *conditions: bool) -> None:
        if not all(conditions):
            raise ValueError(f"column {self.name!r} is described by values that do not go together")


def treatment_from_dict(stored: dict[str, Any]) -> Treatment:
    """Take back what `Treatment.to_dict` gave.

    Raises
    ------
    ValueError
        Where it can not have been given by it.
    """
    cls = _BY_NAME.get(stored.get("treatment", ""))
    expected = {"treatment"} if cls is None else {"treatment", *(each.name for each in fields(cls))}
    if cls is None or stored.keys() != expected:
        raise ValueError(f"a column is described by {sorted(stored)}")
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}
    del given["treatment"]
    if not isinstance(given["name"], str) or not isinstance(given["lenient"], bool):
        raise ValueError("a column is described by values that do not go together")
    treatment = cls(**given)
    treatment.check()
    return treatment


# --- numbers


@dataclass(frozen=True)
class NumberFeature(Treatment):
    """A number: ``(value - center) / spread``, gaps filled, and a column that tells gaps where that says something."""

    fill: float | None = None
    center: float = 0.0
    spread: float = 1.0
    tells_gaps: bool = False

    kind = "number"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Its name, and where gaps say something one for these."""
        return (self.name, f"{self.name}={GAP}") if self.tells_gaps else (self.name,)

    @property
    def is_recoverable(self) -> bool:
        """Whether no gap was filled."""
        return self.fill is None

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return the scaled number, and whether it is missing."""
        values = self.numbers(column, table, odd)
        gaps = np.isnan(values)
        if gaps.any():
            if self.fill is None and not self.lenient:
                raise gap_error(self.name, table, int(np.flatnonzero(gaps)[0]))
            if self.fill is None:
                odd.gaps[self.name] += int(gaps.sum())
            values = np.where(gaps, self.center if self.fill is None else self.fill, values)
        features = scaled(values, self.center, self.spread)[:, np.newaxis]
        return np.column_stack([features, gaps]) if self.tells_gaps else features

    def numbers(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return finite numbers, NaN where there is none."""
        if isinstance(column, TextColumn) and self.lenient:
            numbers, strays = read_numbers(column.categories)
            rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
            odd.unknown[self.name] += int(rows[np.isin(column.categories, strays)].sum())
            return np.append(numbers, np.nan)[column.codes]
        if isinstance(column, DateColumn) and self.lenient:
            return column.values
        if not isinstance(column, NumberColumn):
            raise ValueError(f"{table.source}: column {column.name!r} must hold numbers")
        values = np.ascontiguousarray(column.values)  # columns may lie side by side in memory
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite) and not self.lenient:
            raise ValueError(f"{table.at(int(infinite[0]))}, column {column.name!r}: the number is infinite")
        return np.where(np.isinf(values), np.nan, values) if len(infinite) else values

    def as_in_file(self, features: Floats) -> str:
        """Undo the scale."""
        number = float(features[0]) * self.spread + self.center
        if abs(number) < 1e-9 * self.spread:
            number = 0.0  # what rounding left of it
        return f"{number:.6g}"

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the numbers with their gaps."""
        return self.numbers(column, table, Oddities())[:, np.newaxis], [self.name], False

    def check(self) -> None:
        """Refuse numbers that are none."""
        numbers = [self.center, self.spread, *([] if self.fill is None else [self.fill])]
        self._refuse_unless(_are_finite(numbers), self.spread > 0, isinstance(self.tells_gaps, bool))


# --- categories


@dataclass(frozen=True)
class CategoryFeatures(Treatment):
    """A category: 0 and 1 for its values ("dummies"), or their codes.

    Attributes
    ----------
    kind : str
        "dummies" or "codes".
    categories : tuple of str
        The values that count by themselves, in the order of their codes.
    fill : str or None
        The value that stands in for a missing one.
    n_hidden : int
        1 where the first value has no dummy, so that it is all zeros.
    tells_gaps, has_other : bool
        Whether there is a dummy for missing values, and one for values that are rare or unknown.
    center, spread : float
        Scale of codes.
    """

    kind: str = "dummies"
    categories: tuple[str, ...] = ()
    fill: str | None = None
    n_hidden: int = 1
    tells_gaps: bool = False
    has_other: bool = False
    center: float = 0.0
    spread: float = 1.0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names such as color=red; the name of the column for codes."""
        if self.kind == "codes":
            return (self.name,)
        shown = [*self.categories[self.n_hidden :], *([OTHER] * self.has_other), *([GAP] * self.tells_gaps)]
        return tuple(f"{self.name}={value}" for value in shown)

    @property
    def is_recoverable(self) -> bool:
        """Whether every value has its own dummy or code."""
        return not (self.has_other or self.tells_gaps or self.fill is not None or self.lenient)

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return dummies or codes."""
        codes = self.codes(column, table, odd)
        if self.kind == "codes":
            return scaled(codes.astype(np.float64), self.center, self.spread)[:, np.newaxis]
        features = np.zeros((len(codes), len(self.feature_names)))
        place = codes - self.n_hidden
        rows = np.flatnonzero(place >= 0)
        features[rows, place[rows]] = 1.0
        return features

    def codes(self, column: Column, table: RawTable, odd: Oddities) -> Ints:
        """Return the code of each row; rare and missing values have the codes after those of the categories."""
        text = _as_categories(column, table, lenient=self.lenient)
        n = len(self.categories)
        codes = np.append(_places(text.categories, self.categories, lenient=self.lenient), -1)[text.codes]
        unknown, gaps = codes == -2, codes == -1
        if unknown.any():
            if not self.lenient:
                row = int(np.flatnonzero(unknown)[0])
                value = text.categories[text.codes[row]]
                raise ValueError(
                    f"{table.at(row)}, column {column.name!r}: {quoted(value)} is not among the values known: "
                    f"{listed(list(map(quoted, self.categories)), 6)}"
                )
            is_odd = not self.has_other and self.categories != (ANY_VALUE,)
            odd.unknown[self.name] += int(unknown.sum()) if is_odd else 0
            codes[unknown] = n if self.has_other else self._usual()
        if gaps.any():
            if self.tells_gaps:
                codes[gaps] = n + self.has_other
            elif self.fill is not None:
                codes[gaps] = self.categories.index(self.fill)
            elif self.lenient:
                odd.gaps[self.name] += int(gaps.sum())
                codes[gaps] = n if self.has_other else self._usual()
            else:
                raise gap_error(self.name, table, int(np.flatnonzero(gaps)[0]))
        return codes

    def _usual(self) -> int:
        """Return the code for what is not known: no dummy at all where that can be, else the first value."""
        return 0 if self.n_hidden or self.kind == "codes" else -1

    def as_in_file(self, features: Floats) -> str:
        """Find the dummy that is set, or the code."""
        if self.kind == "codes":
            return self.categories[round(float(features[0]) * self.spread + self.center)]
        marked = np.flatnonzero(features)
        return self.categories[self.n_hidden + int(marked[0]) if len(marked) else 0]

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the codes with their gaps; rare values share one."""
        text = _as_categories(column, table, lenient=True)
        known = _places(text.categories, self.categories, lenient=True).astype(np.float64)
        if self.categories == (ANY_VALUE,):
            known[:] = 0.0
        known[known == -2] = len(self.categories) if self.has_other else np.nan
        known[known == -1] = np.nan
        return np.append(known, np.nan)[text.codes][:, np.newaxis], [self.name], len(self.categories) > 2

    def check(self) -> None:
        """Refuse values that are none, or that occur twice."""
        known = self.categories
        self._refuse_unless(
            self.kind in ("dummies", "codes"),
            _are_texts(known),
            bool(known),
            self.fill is None or self.fill in known,
            _are_finite([self.center, self.spread]),
            self.spread > 0,
            self.n_hidden in (0, 1),
        )


def _as_categories(column: Column, table: RawTable, *, lenient: bool) -> TextColumn:
    text = as_text(column)
    if isinstance(text, TextColumn):
        return text
    if not lenient or not isinstance(text, DateColumn):
        raise ValueError(f"{table.source}: column {column.name!r} must hold text")
    return TextColumn(column.name, (), np.full(table.n_rows, -1))


def _places(texts: Sequence[str], categories: Sequence[str], *, lenient: bool) -> Ints:
    """Return the position of each text among the categories; -2 for an unknown one, -1 for one that means a gap.

    What is lenient takes another case, and other blanks, for the same text.
    """
    places = codes_among(texts, categories, unknown=-2)
    if not lenient or not (places == -2).any():
        return places
    folded = {folded_text(category): place for place, category in enumerate(categories)}
    for place in np.flatnonzero(places == -2).tolist():
        text = texts[place]
        places[place] = -1 if text in GAP_TEXTS else folded.get(folded_text(text), -2)
    return places


@dataclass(frozen=True, eq=False)
class SharesFeatures(Treatment):
    """A category with many values: dummies of the frequent ones, and for each class its share in each value.

    Attributes
    ----------
    categories : tuple of str
        All values.
    frequent : CategoryFeatures
        Dummies of the frequent ones, the rest in one.
    shares : ndarray of shape (n_values + 2, n_encoded)
        Shares of the classes, ready scaled; the last two lines are for missing and for unknown values.
    labels : tuple of str
        The classes that the columns are for.
    center, spread : ndarray of shape (n_encoded,)
        Scale of the shares.
    """

    categories: tuple[str, ...] = ()
    frequent: CategoryFeatures | None = None
    shares: Floats = field(default_factory=lambda: np.zeros((2, 0)))
    labels: tuple[str, ...] = ()
    center: Floats = field(default_factory=lambda: np.zeros(0))
    spread: Floats = field(default_factory=lambda: np.ones(0))

    kind = "shares"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Dummies, then one column for each class."""
        return (*self._dummies(), *(f"{self.name}: share of {label}" for label in self.labels))

    def _dummies(self) -> tuple[str, ...]:
        return () if self.frequent is None else self.frequent.feature_names

    @property
    def n_dummies(self) -> int:
        """Columns that come before the shares."""
        return len(self._dummies())

    def levels(self, column: Column, table: RawTable) -> Ints:
        """Return the value of each row; -1 for a missing one, -2 for an unknown one."""
        text = _as_categories(column, table, lenient=True)
        return np.append(_places(text.categories, self.categories, lenient=True), -1)[text.codes]

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return dummies and shares, as for rows whose labels were not seen."""
        levels = self.levels(column, table)
        odd.unknown[self.name] += int(np.count_nonzero(levels == -2))
        place = np.where(levels == -1, len(self.categories), np.where(levels == -2, len(self.categories) + 1, levels))
        return self._joined(column, table, (self.shares[place] - self.center) / self.spread)

    def apply_to_own(self, column: Column, table: RawTable, own: OwnLabels) -> Floats:
        """Return dummies and shares for the rows that they were learnt from, each from the other folds."""
        shares = self._out_of_fold(self.levels(column, table), own)
        return self._joined(column, table, (shares - self.center) / self.spread)

    def _out_of_fold(self, levels: Ints, own: OwnLabels) -> Floats:
        used = classes_to_encode(own.codes, own.n_classes)
        return out_of_fold_shares(levels, own.codes, len(self.categories), own.n_classes, used, own.folds)

    def _joined(self, column: Column, table: RawTable, shares: Floats) -> Floats:
        if self.frequent is None:
            return shares
        return np.column_stack([self.frequent.apply(column, table, Oddities()), shares])

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the codes with their gaps."""
        levels = self.levels(column, table).astype(np.float64)
        return np.where(levels < 0, np.nan, levels)[:, np.newaxis], [self.name], True

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        frequent = None if self.frequent is None else self.frequent.to_dict()
        return {**super().to_dict(), "frequent": frequent}

    def check(self) -> None:
        """Put the dummies together again; refuse arrays of another shape."""
        stored: Any = self.frequent
        if isinstance(stored, dict):
            frequent = treatment_from_dict(stored)
            self._refuse_unless(isinstance(frequent, CategoryFeatures))
            object.__setattr__(self, "frequent", frequent)
        n = len(self.labels)
        self._refuse_unless(
            _are_texts(self.categories),
            all(isinstance(label, str) for label in self.labels),
            _is_array(self.shares, (len(self.categories) + 2, n)),
            _is_array(self.center, (n,)),
            _is_array(self.spread, (n,)),
        )
        self._refuse_unless(bool((self.spread > 0).all()))


@dataclass(frozen=True, eq=False)
class MeansFeatures(SharesFeatures):
    """A category with many values, where the target is a number: its mean in each value takes the place of shares."""

    kind = "means"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Dummies, then the mean of the target."""
        return (*self._dummies(), *(f"{self.name}: mean of {label}" for label in self.labels))

    def _out_of_fold(self, levels: Ints, own: OwnLabels) -> Floats:
        assert own.y is not None
        return out_of_fold_means(levels, own.y, len(self.categories), own.folds)


# --- dates


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
    date_format : str or None
        How dates are written, where they are text.
    """

    parts: tuple[str, ...] = ("time",)
    fill: float = 0.0
    center: float = 0.0
    spread: float = 1.0
    tells_gaps: bool = False
    date_format: str | None = None

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

    def seconds(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return seconds, NaN where a date is missing or cannot be read."""
        if isinstance(column, DateColumn | NumberColumn):
            if isinstance(column, NumberColumn) and self.date_format == "%Y%m%d":
                column = as_text(column)
            else:
                return column.values
        if not isinstance(column, TextColumn):
            raise ValueError(f"{table.source}: column {column.name!r} must hold dates")
        values, _ = read_dates(column.categories, self.date_format)
        return np.append(values, np.nan)[column.codes]

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return the time, and sine and cosine of what comes round."""
        seconds = self.seconds(column, table, odd)
        gaps = np.isnan(seconds)
        if gaps.any() and not self.tells_gaps:
            odd.gaps[self.name] += int(gaps.sum())
        seconds = np.where(gaps, self.fill, seconds)
        features = []
        for part in self.parts:
            if part == "time":
                features.append((seconds - self.center) / self.spread)
            else:
                angle = 2.0 * np.pi * part_of_date(seconds, part) / _PERIODS[part]
                features += [np.sin(angle), np.cos(angle)]
        return np.column_stack([*features, gaps] if self.tells_gaps else features)

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the parts as numbers, with their gaps."""
        seconds = self.seconds(column, table, Oddities())
        known = ~np.isnan(seconds)
        parts = ("time", "year", *self.parts[1:]) if self.parts[0] == "time" else self.parts
        values = np.full((len(seconds), len(parts)), np.nan)
        for place, part in enumerate(parts):
            values[known, place] = seconds[known] if part == "time" else part_of_date(seconds[known], part)
        return values, [f"{self.name}: {part}" for part in parts], False

    def check(self) -> None:
        """Refuse parts that are none."""
        self._refuse_unless(
            bool(self.parts),
            all(part in ("time", *_PERIODS) for part in self.parts),
            _are_finite([self.fill, self.center, self.spread]),
            self.spread > 0,
            self.date_format is None or isinstance(self.date_format, str),
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


# --- text


@dataclass(frozen=True, eq=False)
class TextFeatures(Treatment):
    """Text: where it lies along the main directions of hashed n-grams.

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
        """Names such as review: direction 1."""
        return tuple(f"{self.name}: direction {number + 1}" for number in range(self.directions.shape[1]))

    def apply(self, column: Column, table: RawTable, odd: Oddities) -> Floats:
        """Return the place along each direction; 0 where there is no text."""
        text = _as_categories(column, table, lenient=True)
        places = np.zeros((len(text.categories) + 1, self.directions.shape[1]))
        if text.categories:
            places[:-1] = n_gram_counts(text.categories, self.unit) @ (self.weights[:, np.newaxis] * self.directions)
        return places[text.codes]

    def tabular(self, column: Column, table: RawTable, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the same, with gaps."""
        values = features.copy()
        values[_as_categories(column, table, lenient=True).codes < 0] = np.nan
        return values, list(self.feature_names), False

    def check(self) -> None:
        """Refuse arrays of another shape."""
        n = self.directions.shape[1] if isinstance(self.directions, np.ndarray) and self.directions.ndim == 2 else -1
        self._refuse_unless(
            self.unit in _N_GRAMS,
            n >= 1,
            _is_array(self.weights, (_N_BUCKETS,)),
            _is_array(self.directions, (_N_BUCKETS, n)),
        )


def n_gram_counts(texts: Sequence[str], unit: str) -> Any:
    """Count n-grams, hashed into buckets; each row has length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(n_features=_N_BUCKETS, alternate_sign=False, norm="l2", **_N_GRAMS[unit])
    return vectorizer.transform(text[:_MOST_LETTERS] for text in texts)


_BY_NAME: dict[str, type[Treatment]] = {
    cls.__name__: cls
    for cls in (NumberFeature, CategoryFeatures, SharesFeatures, MeansFeatures, DateFeatures, TextFeatures)
}


# --- learning


def learn_text(column: TextColumn) -> TextFeatures:
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
    return TextFeatures(column.name, unit, weights, directions / (spread if spread > 0 else 1.0), lenient=True)


def learn_date(column: DateColumn, date_format: str | None, tells_gaps: bool) -> DateFeatures:
    """Learn which parts of a date vary, and its scale."""
    known = column.values[~np.isnan(column.values)]
    is_time_of_day = column.type_name == "times of day"
    span = float(known.max() - known.min())
    parts = [] if is_time_of_day else ["time"]
    if not is_time_of_day:
        if span > 60 * _DAY and len(np.unique(part_of_date(known, "month"))) > 2:
            parts.append("month")
        if len(np.unique(part_of_date(known, "weekday"))) > 2 and span > 7 * _DAY and not _is_monthly(known):
            parts.append("weekday")
    if len(np.unique(np.floor(part_of_date(known, "hour")))) > 1 or is_time_of_day:
        parts.append("hour")
    spread = float(known.std())
    return DateFeatures(
        column.name,
        tuple(parts),
        float(np.median(known)),
        float(known.mean()),
        spread if spread > 0 else 1.0,
        tells_gaps,
        date_format,
        lenient=True,
    )


def _is_monthly(seconds: Floats) -> bool:
    """Tell whether all dates are the first of a month: then weekdays say nothing."""
    days = np.floor(seconds / _DAY).astype(np.int64).astype("datetime64[D]")
    return bool((days == days.astype("datetime64[M]").astype("datetime64[D]")).all())


def learn_shares(
    column: TextColumn, frequent: CategoryFeatures | None, codes: Ints, labels: Sequence[str], table: RawTable
) -> SharesFeatures:
    """Learn the share of each class among the rows of each value."""
    used = classes_to_encode(codes, len(labels))
    shares = class_shares(column.codes, codes, len(column.categories), len(labels), used)
    of_rows = shares[np.where(column.codes < 0, len(column.categories), column.codes)]
    center, spread = of_rows.mean(axis=0), of_rows.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0) * len(used) ** 0.5  # together as far apart as one number
    names = tuple(str(labels[k]) for k in used)
    return SharesFeatures(column.name, column.categories, frequent, shares, names, center, spread, lenient=True)


def learn_means(column: TextColumn, frequent: CategoryFeatures | None, y: Floats, target: str) -> MeansFeatures:
    """Learn the mean of a number among the rows of each value."""
    means = value_means(column.codes, y, len(column.categories))
    of_rows = means[np.where(column.codes < 0, len(column.categories), column.codes), 0]
    center, spread = learn_scale(of_rows, "standard")
    scale = np.array([center]), np.array([spread])
    return MeansFeatures(column.name, column.categories, frequent, means, (target,), *scale, lenient=True)


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
    exponent = exponent_of(values)  # squares must neither overflow nor vanish
    moderate = np.ldexp(values, -exponent)
    return float(np.ldexp(moderate.mean(), exponent)), float(np.ldexp(moderate.std(), exponent))


def exponent_of(values: Floats) -> int:
    """Return the exponent of the largest number."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def scaled(values: Floats, center: float, spread: float) -> Floats:
    """Return ``(values - center) / spread``."""
    if center == 0.0 and spread == 1.0:
        return values
    if np.abs(values).max(initial=0.0) > 1e300:
        return (values / 4 - center / 4) / (spread / 4)  # a difference of two such numbers may overflow
    return (values - center) / spread


def gap_error(name: str, table: RawTable, row: int) -> ValueError:
    """Say where a value is missing."""
    return ValueError(f"{table.at(row)}, column {name!r}: the value is missing")


def _are_finite(numbers: Sequence[Any]) -> bool:
    return all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)


def _are_texts(texts: Sequence[Any]) -> bool:
    return all(isinstance(text, str) for text in texts) and len(set(texts)) == len(texts)


def _is_array(values: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == shape
        and bool(np.isfinite(values).all())
    )
