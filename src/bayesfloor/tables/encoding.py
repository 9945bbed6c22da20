"""Columns of a file -> a matrix of numbers.

What was learnt from one table is kept in a `Preparation`, so that another table can be made ready in the same way. Here
are the strict rules, which do what they were told and refuse the rest; `automatic` has those that decide by themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.tasks import TASKS
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, TextColumn
from bayesfloor.tables.notes import check_feature, check_text, listed_names, what_to_look_at, what_was_done
from bayesfloor.tables.treatments import (
    CategoryFeatures,
    NumberFeature,
    Oddities,
    OwnLabels,
    SharesFeatures,
    Treatment,
    exponent_of,
    learn_scale,
    treatment_from_dict,
)

ENCODINGS = ("onehot", "ordinal", "drop", None)
SCALES = ("standard", "minmax", "none")
IMPUTATIONS = (None, "mean", "median", "most_frequent")


@dataclass(frozen=True)
class Preparation:
    """How a table becomes a matrix, to do the same to another table.

    Attributes
    ----------
    columns : tuple of Treatment
        The columns in use, in the order of X.
    target : str
        Name of the column of labels.
    task : {"classification", "regression"}
        Whether the labels are classes or numbers.
    """

    columns: tuple[Treatment, ...]
    target: str
    task: str = "classification"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def feature_groups(self) -> tuple[tuple[int, ...], ...]:
        """For each column of the file, its columns in X."""
        return tuple(tuple(range(first, last)) for _, first, last in self._places() if last > first)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the file that `feature_groups` stand for."""
        return tuple(column.name for column, first, last in self._places() if last > first)

    def _places(self) -> list[tuple[Treatment, int, int]]:
        """Return each column with its first place in X and the one after its last; a constant text has none."""
        places, place = [], 0
        for column in self.columns:
            width = len(column.feature_names)
            places.append((column, place, place + width))
            place += width
        return places

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays, which `from_dict` takes back."""
        columns = [column.to_dict() for column in self.columns]
        return {"target": self.target, "task": self.task, "columns": columns}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Preparation":
        """Take back what `to_dict` gave.

        Raises
        ------
        ValueError
            Where a column is not one that `to_dict` can have given.
        """
        columns = tuple(treatment_from_dict(column) for column in stored["columns"])
        names = [stored["target"], *(column.name for column in columns)]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ValueError("the columns need different names")
        return cls(columns, stored["target"], check_option("task", stored["task"], TASKS[1:]))

    def as_in_file(self, row: Floats, kept: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Write one row of X as the file has it, column by column of `column_names`.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            A row that `apply` gave.
        kept : mapping of str to str or None
            The values of columns that X does not tell.

        Returns
        -------
        tuple of str
            Numbers with six digits; for a text column, its value.
        """
        kept = kept or {}
        return tuple(
            kept[column.name] if column.name in kept else column.as_in_file(row[first:last])
            for column, first, last in self._places()
            if last > first
        )

    @property
    def is_plain(self) -> bool:
        """Whether every column is a number without gaps, so that X tells all."""
        return all(isinstance(column, NumberFeature) and column.is_recoverable for column in self.columns)

    def apply(
        self, table: RawTable, odd: Oddities | None = None, own: OwnLabels | None = None, *, consume: bool = False
    ) -> Floats:
        """Make X of a table that has these columns, in any order.

        Parameters
        ----------
        table : RawTable
            The table.
        odd : Oddities or None
            Where to count what the first table did not have.
        own : OwnLabels or None
            The labels, for the table that was learnt from.
        consume : bool, default=False
            Whether the memory of its columns may become that of X; the table then loses them.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Raises
        ------
        ValueError
            For columns that are missing; with strict rules also for those of another kind, values that the first table
            did not have, and gaps where there were none.
        """
        by_name = {column.name: column for column in table.columns}
        absent = [column.name for column in self.columns if column.name not in by_name]
        if absent:
            raise ValueError(f"{table.source} lacks the columns {listed_names(absent)}")
        n_features = len(self.feature_names)
        check_memory(16 * table.n_rows * n_features, f"{table.source} as {counted(n_features)} columns of numbers")
        X = table.take_matrix([column.name for column in self.columns]) if consume and self.is_plain else None
        if X is None:
            X = np.empty((table.n_rows, n_features))
        odd = Oddities() if odd is None else odd
        for treatment, first, last in self._places():
            column = by_name.pop(treatment.name)
            if own is not None and isinstance(treatment, SharesFeatures):
                X[:, first:last] = treatment.apply_to_own(column, table, own)
            else:
                X[:, first:last] = treatment.apply(column, table, odd)
        return X

    def tabular(self, table: RawTable, X: Floats) -> TabularView:
        """Return the rows of a table for learners that take codes and gaps; X is what `apply` made of them."""
        by_name = {column.name: column for column in table.columns}
        values: list[Floats] = []
        names: list[str] = []
        is_category: list[bool] = []
        from_labels: list[tuple[int, int, int]] = []
        for treatment, first, last in self._places():
            column = by_name[treatment.name]
            part, part_names, are_codes = treatment.tabular(column, table, X[:, first:last])
            if isinstance(treatment, SharesFeatures):
                from_labels.append((len(names), last - len(treatment.labels), last))
            values.append(part)
            names += part_names
            is_category += [are_codes] * len(part_names)
        return TabularView(
            np.ascontiguousarray(np.column_stack(values)), np.array(is_category), tuple(names), tuple(from_labels)
        )


def text_columns(preparation: Preparation) -> list[str]:
    """Return the columns that are read as text, even where another table has numbers in them alone."""
    return [each.name for each in preparation.columns if not isinstance(each, NumberFeature)]


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
    check_unique(columns, table.source)
    table.notes += what_was_done(columns, table, encode, scale, impute)
    table.cautions += what_to_look_at(features)
    return Preparation(columns, target)


def _learn_column(column: Column, table: RawTable, encode: str | None, scale: str, impute: str | None) -> Treatment:
    if isinstance(column, NumberColumn):
        fill = None if impute is None else fill_number(column.values, impute)
        values = NumberFeature(column.name).numbers(column, table, Oddities())
        values = values if fill is None else np.where(np.isnan(values), fill, values)
        if np.isnan(values).any():
            NumberFeature(column.name).apply(column, table, Oddities())  # refuses the gap
        center, spread = learn_scale(values, "none" if column.is_dummy else scale)
        return NumberFeature(column.name, fill, center, spread)
    assert isinstance(column, TextColumn)
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
    mode = None if impute is None else column.categories[int(counts.argmax())]
    if encode == "onehot":
        return CategoryFeatures(column.name, "dummies", column.categories, mode)
    return ordinal_codes(column, table, mode, scale)


def ordinal_codes(
    column: TextColumn, table: RawTable, fill: str | None, scale: str, *, lenient: bool = False
) -> CategoryFeatures:
    """Learn codes in the order of the values, and their scale."""
    plain = CategoryFeatures(column.name, "codes", column.categories, fill, lenient=lenient)
    center, spread = learn_scale(plain.codes(column, table, Oddities()).astype(np.float64), scale)
    return CategoryFeatures(
        column.name, "codes", column.categories, fill, center=center, spread=spread, lenient=lenient
    )


def fill_number(values: Floats, impute: str) -> float:
    """Return what stands in for missing numbers."""
    known = values[np.isfinite(values)]
    if impute == "median":
        return float(np.median(known))
    if impute == "mean":
        exponent = exponent_of(known)
        return float(np.ldexp(np.ldexp(known, -exponent).mean(), exponent))
    distinct, counts = np.unique(known, return_counts=True)
    return float(distinct[counts.argmax()])


def check_unique(columns: Sequence[Treatment], source: str) -> None:
    """Refuse two columns that give features of the same name."""
    seen: dict[str, str] = {}
    for column in columns:
        for name in column.feature_names:
            if name in seen:
                raise ValueError(f"{source}: columns {seen[name]!r} and {column.name!r} both give a feature {name!r}")
            seen[name] = column.name
