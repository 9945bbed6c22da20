"""Columns of a file -> a matrix of numbers: text encoded, gaps filled, scales made alike.

What was learnt from one table (the values of each text column, means, spreads) is kept in a `Preparation`, so that
another table can be made ready in the same way.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.text import counted, quoted
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, TextColumn, as_text, codes_among
from bayesfloor.tables.notes import (
    PreparedColumn,
    check_feature,
    check_text,
    listed_names,
    what_to_look_at,
    what_was_done,
)

ENCODINGS = ("onehot", "ordinal", "drop", None)
SCALES = ("standard", "minmax", "none")
IMPUTATIONS = (None, "mean", "median", "most_frequent")


@dataclass(frozen=True)
class Preparation:
    """How a table becomes a matrix, to do the same to another table.

    Attributes
    ----------
    columns : tuple of PreparedColumn
        The columns in use, in the order of X.
    target : str
        Name of the column of labels.
    """

    columns: tuple[PreparedColumn, ...]
    target: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def feature_groups(self) -> tuple[tuple[int, ...], ...]:
        """For each column of the file, its columns in X."""
        groups, place = [], 0
        for column in self.columns:
            width = len(column.feature_names)
            if width:
                groups.append(tuple(range(place, place + width)))
            place += width
        return tuple(groups)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the file that `feature_groups` stand for."""
        return tuple(column.name for column in self._used())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"target": self.target, "columns": [asdict(column) for column in self.columns]}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Preparation":
        """Take back what `to_dict` gave.

        Raises
        ------
        ValueError
            Where a column is not one that `to_dict` can have given.
        """
        expected = {field.name for field in fields(PreparedColumn)}
        for column in stored["columns"]:
            if column.keys() != expected:
                raise ValueError(f"a column is described by {sorted(column)} in place of {sorted(expected)}")
        columns = tuple(PreparedColumn(**{**c, "categories": tuple(c["categories"])}) for c in stored["columns"])
        names = [stored["target"], *(column.name for column in columns)]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ValueError("the columns need different names")
        for column in columns:
            _check_prepared(column)
        return cls(columns, stored["target"])

    def as_in_file(self, row: Floats) -> tuple[str, ...]:
        """Write one row of X as the file has it, column by column of `column_names`.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            A row that `apply` gave.

        Returns
        -------
        tuple of str
            Numbers with six digits; for a text column, its value.
        """
        values = []
        for column, members in zip(self._used(), self.feature_groups, strict=True):
            if column.kind == "dummies":
                marked = np.flatnonzero(row[list(members)])
                values.append(column.categories[1 + int(marked[0]) if len(marked) else 0])
            else:
                number = float(row[members[0]]) * column.spread + column.center
                if abs(number) < 1e-9 * column.spread:
                    number = 0.0  # what rounding left of it
                values.append(f"{number:.6g}" if column.kind == "number" else column.categories[round(number)])
        return tuple(values)

    def _used(self) -> tuple[PreparedColumn, ...]:
        """Return the columns that have a part in X; a text column with one value has none."""
        return tuple(column for column in self.columns if column.feature_names)

    def apply(self, table: RawTable, *, consume: bool = False) -> Floats:
        """Make X of a table that has these columns, in any order.

        Parameters
        ----------
        table : RawTable
            The table.
        consume : bool, default=False
            Whether the memory of its columns may become that of X; the table then loses them.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Raises
        ------
        ValueError
            For columns that are missing or of another kind, values that the first table did not have, and gaps where
            there were none.
        """
        by_name = {column.name: column for column in table.columns}
        absent = [column.name for column in self.columns if column.name not in by_name]
        if absent:
            raise ValueError(f"{table.source} lacks the columns {listed_names(absent)}")
        n_features = len(self.feature_names)
        check_memory(16 * table.n_rows * n_features, f"{table.source} as {counted(n_features)} columns of numbers")
        only_numbers = consume and all(column.kind == "number" for column in self.columns)
        X = table.take_matrix([column.name for column in self.columns]) if only_numbers else None
        if X is None:
            X = np.zeros((table.n_rows, n_features))
        place = 0
        for prepared in self.columns:
            width = len(prepared.feature_names)
            column = by_name[prepared.name]
            if prepared.kind == "number":
                X[:, place] = _scaled(_numbers(prepared, column, table), prepared.center, prepared.spread)
            else:
                codes = _codes(prepared, column, table)
                if prepared.kind == "codes":
                    X[:, place] = _scaled(codes.astype(np.float64), prepared.center, prepared.spread)
                else:
                    rows = np.flatnonzero(codes > 0)
                    X[rows, place + codes[rows] - 1] = 1.0
            place += width
        return X


def _check_prepared(column: PreparedColumn) -> None:
    """Refuse a column that `learn_preparation` does not make."""
    numbers: list[Any] = [column.center, column.spread]
    if column.kind == "number" and column.fill is not None:
        numbers.append(column.fill)
    known = column.categories
    if (
        column.kind not in ("number", "codes", "dummies")
        or not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        or column.spread <= 0
        or not all(isinstance(category, str) for category in known)
        or len(set(known)) < len(known)
        or (column.kind == "number") == bool(known)
        or (column.kind != "number" and column.fill is not None and column.fill not in known)
    ):
        raise ValueError(f"column {column.name!r} is described by values that do not go together")


def _numbers(prepared: PreparedColumn, column: Column, table: RawTable) -> Floats:
    if not isinstance(column, NumberColumn):
        raise ValueError(f"{table.source}: column {column.name!r} must hold numbers")
    values = np.ascontiguousarray(column.values)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(f"{table.at(int(infinite[0]))}, column {column.name!r}: the number is infinite")
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    if prepared.fill is None:
        raise _gap(prepared, table, int(np.flatnonzero(gaps)[0]))
    return np.where(gaps, float(prepared.fill), values)


def _codes(prepared: PreparedColumn, column: Column, table: RawTable) -> Ints:
    column = as_text(column)
    if not isinstance(column, TextColumn):
        raise ValueError(f"{table.source}: column {column.name!r} must hold text")
    fill = -1 if prepared.fill is None else prepared.categories.index(str(prepared.fill))
    codes = np.append(codes_among(column.categories, prepared.categories, unknown=-2), fill)[column.codes]
    if (codes == -2).any():
        row = int(np.flatnonzero(codes == -2)[0])
        text = column.categories[column.codes[row]]
        raise ValueError(
            f"{table.at(row)}, column {column.name!r}: {quoted(text)} is not among the values known: "
            f"{listed_names(prepared.categories)}"
        )
    if (codes == -1).any():
        raise _gap(prepared, table, int(np.flatnonzero(codes == -1)[0]))
    return codes


def _gap(prepared: PreparedColumn, table: RawTable, row: int) -> ValueError:
    return ValueError(f"{table.at(row)}, column {prepared.name!r}: the value is missing")


def learn_preparation(
    table: RawTable, target: str, *, encode: str | None, scale: str, impute: str | None
) -> Preparation:
    """Learn from a table how to make it ready; say what was done in its notes and cautions.

    Parameters
    ----------
    table : RawTable
        The table; its target is left out.
    target : str
        Name of the column of labels.
    encode, scale, impute
        As in `read_table`.

    Returns
    -------
    Preparation
    """
    features = [column for column in table.columns if column.name != target]
    texts = [column for column in features if not isinstance(column, NumberColumn)]
    if texts and encode == "drop":
        table.notes.append(f"Left out, being no numbers: {listed_names([column.name for column in texts])}.")
        features = [column for column in features if isinstance(column, NumberColumn)]
        texts = []
    for column in features:
        check_feature(column, table)
    check_text(texts, table, encode)
    if not features:
        raise ValueError(f"{table.source} has no column left besides the target {target!r}")
    columns = tuple(_learn_column(column, table, encode, scale, impute) for column in features)
    if not any(column.feature_names for column in columns):
        raise ValueError(f"{table.source}: every column besides the target {target!r} has one value only")
    _check_unique(columns, table.source)
    table.notes += what_was_done(columns, table, encode, scale, impute)
    table.cautions += what_to_look_at(features)
    return Preparation(columns, target)


def _learn_column(
    column: Column, table: RawTable, encode: str | None, scale: str, impute: str | None
) -> PreparedColumn:
    if isinstance(column, NumberColumn):
        fill = None if impute is None else _fill_number(column.values, impute)
        prepared = PreparedColumn(column.name, "number", (), fill)
        center, spread = _learn_scale(_numbers(prepared, column, table), "none" if column.is_dummy else scale)
        return PreparedColumn(column.name, "number", (), fill, center, spread)
    assert isinstance(column, TextColumn)
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
    mode = None if impute is None else column.categories[int(counts.argmax())]
    if encode == "onehot":
        return PreparedColumn(column.name, "dummies", column.categories, mode)
    prepared = PreparedColumn(column.name, "codes", column.categories, mode)
    center, spread = _learn_scale(_codes(prepared, column, table).astype(np.float64), scale)
    return PreparedColumn(column.name, "codes", column.categories, mode, center, spread)


def _fill_number(values: Floats, impute: str) -> float:
    known = values[np.isfinite(values)]
    if impute == "median":
        return float(np.median(known))
    if impute == "mean":
        exponent = _exponent(known)
        return float(np.ldexp(np.ldexp(known, -exponent).mean(), exponent))
    distinct, counts = np.unique(known, return_counts=True)
    return float(distinct[counts.argmax()])


def _learn_scale(values: Floats, scale: str) -> tuple[float, float]:
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
    exponent = _exponent(values)  # squares must neither overflow nor vanish
    moderate = np.ldexp(values, -exponent)
    return float(np.ldexp(moderate.mean(), exponent)), float(np.ldexp(moderate.std(), exponent))


def _exponent(values: Floats) -> int:
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _scaled(values: Floats, center: float, spread: float) -> Floats:
    if center == 0.0 and spread == 1.0:
        return values
    if np.abs(values).max(initial=0.0) > 1e300:
        return (values / 4 - center / 4) / (spread / 4)  # a difference of two such numbers may overflow
    return (values - center) / spread


def _check_unique(columns: Sequence[PreparedColumn], source: str) -> None:
    seen: dict[str, str] = {}
    for column in columns:
        for name in column.feature_names:
            if name in seen:
                raise ValueError(f"{source}: columns {seen[name]!r} and {column.name!r} both give a feature {name!r}")
            seen[name] = column.name
