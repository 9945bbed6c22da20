"""Categories: a column of 0 and 1 for each value, codes, or the shares of the classes among rows of a value."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesfloor.data.target_encoding import (
    MOST_CLASSES,
    class_shares,
    classes_to_encode,
    out_of_fold_means,
    out_of_fold_shares,
    value_means,
)
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.tables.columns import RawTable, TextColumn, codes_among
from bayesfloor.tables.readings import LevelReading
from bayesfloor.tables.treatments import GAP, Treatment, are_texts, is_array, is_number, learn_scale, scaled

#: Name of the feature that tells that a value is rare.
OTHER = "(other)"
#: Largest mean or spread that a model file may hold: the square of a larger one overflows.
_LARGEST = 1e150


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

    def apply(self, column: TextColumn, table: RawTable) -> Floats:
        """Return dummies or codes."""
        codes = self.codes(column, table)
        if self.kind == "codes":
            return scaled(codes.astype(np.float64), self.center, self.spread)[:, np.newaxis]
        features = np.zeros((len(codes), len(self.feature_names)))
        place = codes - self.n_hidden
        rows = np.flatnonzero(place >= 0)
        features[rows, place[rows]] = 1.0
        return features

    def codes(self, column: TextColumn, table: RawTable) -> Ints:
        """Return the code of each row; rare and missing values have the codes after those of the categories."""
        n = len(self.categories)
        codes = levels_of(column, self.categories)
        unknown, gaps = codes == -2, codes == -1
        if unknown.any():
            codes[unknown] = n if self.has_other else self._usual()
        if gaps.any():
            if self.tells_gaps:
                codes[gaps] = n + self.has_other
            elif self.fill is not None:
                codes[gaps] = self.categories.index(self.fill)
            else:
                codes[gaps] = n if self.has_other else self._usual()
        return codes

    def _usual(self) -> int:
        """Return the code for what is not known: no dummy at all where that can be, else the first value."""
        return 0 if self.n_hidden or self.kind == "codes" else -1

    def tabular(self, column: TextColumn, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the codes with their gaps; rare values share one."""
        codes = levels_of(column, self.categories).astype(np.float64)
        codes[codes == -2] = len(self.categories) if self.has_other else np.nan
        codes[codes == -1] = np.nan
        return codes[:, np.newaxis], [self.name], len(self.categories) > 2

    def check(self) -> None:
        """Refuse values that are none, that occur twice, or that were never read."""
        known = self.categories
        self.refuse_unless(
            isinstance(self.reading, LevelReading),
            isinstance(self.kind, str) and self.kind in ("dummies", "codes"),
            are_texts(known) and bool(known),
            isinstance(self.tells_gaps, bool) and isinstance(self.has_other, bool),
            type(self.n_hidden) is int and self.n_hidden in (0, 1),
        )
        self.refuse_unless(
            self.fill is None or (isinstance(self.fill, str) and self.fill in known),
            is_number(self.center) and abs(self.center) <= len(known),
            is_number(self.spread) and 0 < self.spread <= len(known),
            self.kind == "dummies" or not (self.tells_gaps or self.has_other),
        )


def levels_of(column: TextColumn, categories: Sequence[str]) -> Ints:
    """Return the position of each row's value among categories; -1 for a missing one, -2 for one that is not there."""
    return np.append(codes_among(column.categories, categories, unknown=-2), -1)[column.codes]


@dataclass(frozen=True, eq=False)
class SharesFeatures(Treatment):
    """A category with many values: dummies of the frequent ones, and for each class its share in each value.

    Attributes
    ----------
    frequent : CategoryFeatures
        Dummies of the frequent values, the rest in one.
    shares : ndarray of shape (n_levels + 2, n_encoded)
        Shares of the classes for each level of `reading`; the last two lines are for missing and for unknown values.
    labels : tuple of str
        The classes that the columns are for.
    center, spread : ndarray of shape (n_encoded,)
        Scale of the shares.
    """

    frequent: CategoryFeatures = CategoryFeatures("")
    shares: Floats = field(default_factory=lambda: np.zeros((2, 0)))
    labels: tuple[str, ...] = ()
    center: Floats = field(default_factory=lambda: np.zeros(0))
    spread: Floats = field(default_factory=lambda: np.ones(0))

    kind = "shares"

    @property
    def categories(self) -> tuple[str, ...]:
        """All values."""
        assert isinstance(self.reading, LevelReading)
        return self.reading.levels

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Dummies, then one column for each class."""
        return (*self.frequent.feature_names, *(f"{self.name}: share of {label}" for label in self.labels))

    def apply(self, column: TextColumn, table: RawTable, own: OwnLabels | None = None) -> Floats:
        """Return dummies and shares: those of all rows, or, for rows that were learnt from, of the other folds."""
        levels, n_levels = levels_of(column, self.categories), len(self.categories)
        if own is None:
            shares = self.shares[np.where(levels == -1, n_levels, np.where(levels == -2, n_levels + 1, levels))]
        else:
            shares = self._out_of_fold(levels, own)
        shares = (shares - self.center) / self.spread
        return np.column_stack([self.frequent.apply(column, table), shares])

    def _out_of_fold(self, levels: Ints, own: OwnLabels) -> Floats:
        used = classes_to_encode(own.codes, own.n_classes)
        return out_of_fold_shares(levels, own.codes, len(self.categories), own.n_classes, used, own.folds)

    def tabular(self, column: TextColumn, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the codes with their gaps."""
        levels = levels_of(column, self.categories).astype(np.float64)
        return np.where(levels < 0, np.nan, levels)[:, np.newaxis], [self.name], True

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return {**super().to_dict(), "frequent": self.frequent.to_dict()}

    def check(self) -> None:
        """Put the dummies together again; refuse arrays of another shape."""
        stored: Any = self.frequent
        if not isinstance(stored, CategoryFeatures):
            object.__setattr__(self, "frequent", CategoryFeatures.from_dict(stored))
        self.refuse_unless(
            isinstance(self.reading, LevelReading),
            isinstance(self.labels, tuple) and all(isinstance(label, str) for label in self.labels),
        )
        n, most = len(self.labels), self._most()
        self.refuse_unless(1 <= n <= MOST_CLASSES)
        self.refuse_unless(
            is_array(self.shares, (len(self.categories) + 2, n), -most, most),
            is_array(self.center, (n,), -most, most),
            is_array(self.spread, (n,), 1e-300, 2.0 * n**0.5 * most),
        )

    def _most(self) -> float:
        """Return the largest value that a share can have."""
        return 1.0


@dataclass(frozen=True, eq=False)
class MeansFeatures(SharesFeatures):
    """A category with many values, where the target is a number: its mean in each value takes the place of shares."""

    kind = "means"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Dummies, then the mean of the target."""
        return (*self.frequent.feature_names, *(f"{self.name}: mean of {label}" for label in self.labels))

    def _out_of_fold(self, levels: Ints, own: OwnLabels) -> Floats:
        assert own.y is not None
        return out_of_fold_means(levels, own.y, len(self.categories), own.folds)

    def _most(self) -> float:
        return _LARGEST


def learn_shares(
    column: TextColumn, reading: LevelReading, frequent: CategoryFeatures, codes: Ints, labels: Sequence[str]
) -> SharesFeatures:
    """Learn the share of each class among the rows of each value."""
    used = classes_to_encode(codes, len(labels))
    shares = class_shares(column.codes, codes, len(column.categories), len(labels), used)
    center, spread = _scale_of_rows(column, shares)
    spread = spread * len(used) ** 0.5  # together as far apart as one number
    names = tuple(str(labels[k]) for k in used)
    return SharesFeatures(column.name, frequent, shares, names, center, spread, reading=reading)


def learn_means(
    column: TextColumn, reading: LevelReading, frequent: CategoryFeatures, y: Floats, target: str
) -> MeansFeatures:
    """Learn the mean of a number among the rows of each value."""
    means = value_means(column.codes, y, len(column.categories))
    scale = _scale_of_rows(column, means)
    return MeansFeatures(column.name, frequent, means, (target,), *scale, reading=reading)


def _scale_of_rows(column: TextColumn, encoded: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation over the rows of what each value is encoded by."""
    of_rows = encoded[np.where(column.codes < 0, len(column.categories), column.codes)]
    scales = np.array([learn_scale(values, "standard") for values in of_rows.T])
    return scales[:, 0].copy(), scales[:, 1].copy()


def ordinal_codes(
    column: TextColumn, reading: LevelReading, table: RawTable, fill: str | None, scale: str
) -> CategoryFeatures:
    """Learn codes in the order of the values, and their scale."""
    how: dict[str, Any] = {"fill": fill, "reading": reading}
    plain = CategoryFeatures(column.name, "codes", column.categories, **how)
    center, spread = learn_scale(plain.codes(column, table).astype(np.float64), scale)
    return CategoryFeatures(column.name, "codes", column.categories, center=center, spread=spread, **how)
