"""How a column becomes features: learnt from one table, applied to any other that has the column.

==================  ====================  =====================================  =======================================
class               file                  the metric view (X)                    the tabular view
==================  ====================  =====================================  =======================================
`NumberFeature`     here                  (value - center) / spread              the number, gaps kept
`PresenceFeature`   here                  whether it is missing                  the same
`CategoryFeatures`  `category_features`   0 and 1 for each value, or codes       the code, gaps kept
`SharesFeatures`    `category_features`   frequent values as 0 and 1, and the    the code, gaps kept
                                          share of each class among other rows
`MeansFeatures`     `category_features`   the same for a number: its mean        the code, gaps kept
`DateFeatures`      `date_features`       time passed; sine and cosine of the    time passed, year, month, weekday, hour
                                          month, the weekday and the hour
`TextFeatures`      `text_features`       directions of hashed n-grams           the same, gaps kept
==================  ====================  =====================================  =======================================

A treatment holds all that was decided about its column: how cells are read (`readings`), and what is made of them. The
features of the table that it was learnt from are made by the same `apply`; shares and means alone are computed there
from other rows. Distances in the metric view treat columns alike: two rows that differ in a category are as far apart
as two rows are, on average, in a number. What is lenient takes gaps and values that it has not seen.

scikit-learn's ColumnTransformer and skrub's TableVectorizer do much of this. They are not used here: what they learn
cannot be written to a file without code in it, their target encoding depends on the order of the rows, and on 100 000
rows of 30 columns skrub takes half as long as the rest of a report. N-grams and their directions are scikit-learn's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import quoted
from bayesfloor.tables.columns import Column, NumberColumn, RawTable
from bayesfloor.tables.readings import NumberReading, Reading, UnseenValues, reading_from_dict
from bayesfloor.tables.scaling import scaled

#: Name of the feature that tells that a value is missing.
GAP = "(missing)"


@dataclass(frozen=True)
class Treatment:
    """What was learnt from a column.

    Attributes
    ----------
    name : str
        Its name in the file.
    lenient : bool
        Whether gaps and unknown values are taken where there were none.
    reading : Reading
        How its cells are read.
    """

    name: str
    lenient: bool = field(default=False, kw_only=True)
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
        return self.reading.read(column, table, unseen, lenient=self.lenient)

    def apply(self, column: Column, table: RawTable) -> Floats:
        """Return the features of each row."""
        raise NotImplementedError

    def as_in_file(self, features: Floats) -> str:
        """Write the value of one row as the file has it, from its features."""
        raise NotImplementedError

    def tabular(self, column: Column, features: Floats) -> tuple[Floats, list[str], bool]:
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
        if not isinstance(given["name"], str) or not isinstance(given["lenient"], bool):
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
    """A number: ``(value - center) / spread``, gaps filled, and a column that tells gaps where there are enough."""

    fill: float | None = None
    center: float = 0.0
    spread: float = 1.0
    tells_gaps: bool = False

    kind = "number"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Its name, and one for gaps."""
        return (self.name, f"{self.name}={GAP}") if self.tells_gaps else (self.name,)

    @property
    def is_recoverable(self) -> bool:
        """Whether no gap was filled."""
        return self.fill is None

    def apply(self, column: Column, table: RawTable) -> Floats:
        """Return the scaled number, and whether it is missing."""
        assert isinstance(column, NumberColumn)
        values = np.ascontiguousarray(column.values)  # columns may lie side by side in memory
        gaps = np.isnan(values)
        if gaps.any():
            if self.fill is None and not self.lenient:
                raise gap_error(self.name, table, int(np.flatnonzero(gaps)[0]))
            values = np.where(gaps, self.center if self.fill is None else self.fill, values)
        features = scaled(values, self.center, self.spread)[:, np.newaxis]
        return np.column_stack([features, gaps]) if self.tells_gaps else features

    def as_in_file(self, features: Floats) -> str:
        """Undo the scale."""
        number = float(features[0]) * self.spread + self.center
        if abs(number) < 1e-9 * self.spread:
            number = 0.0  # what rounding left of it
        return f"{number:.6g}"

    def tabular(self, column: Column, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the numbers with their gaps."""
        assert isinstance(column, NumberColumn)
        return column.values[:, np.newaxis], [self.name], False

    def check(self) -> None:
        """Refuse numbers that are none."""
        self.refuse_unless(
            isinstance(self.reading, NumberReading),
            self.fill is None or is_number(self.fill),
            is_number(self.center),
            is_number(self.spread) and self.spread > 0,
            isinstance(self.tells_gaps, bool),
        )


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


def gap_error(name: str, table: RawTable, row: int) -> ValueError:
    """Say where a value is missing."""
    return ValueError(f"{table.at(row)}, column {name!r}: the value is missing")


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
