"""Columns of a file -> a matrix of numbers.

What was learnt from one table is kept in a `Preparation`, so that another table can be made ready in the same way.
`automatic` learns it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.data.numbers import TASKS
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.text import counted, listed_names
from bayesfloor.tables.category_features import (
    CategoryFeatures,
    MeansFeatures,
    OwnLabels,
    SharesFeatures,
)
from bayesfloor.tables.columns import RawTable
from bayesfloor.tables.readings import NumberReading, UnseenValues
from bayesfloor.tables.treatments import (
    DateFeatures,
    GivenNumber,
    NumberFeature,
    PresenceFeature,
    TextFeatures,
    Treatment,
)

#: Treatments by their names in model files.
_TREATMENTS: dict[str, type[Treatment]] = {
    cls.__name__: cls
    for cls in (
        NumberFeature,
        GivenNumber,
        PresenceFeature,
        CategoryFeatures,
        SharesFeatures,
        MeansFeatures,
        DateFeatures,
        TextFeatures,
    )
}


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
        if not isinstance(stored, dict) or stored.keys() != {"target", "task", "columns"}:
            raise ValueError("a table is described by other values than it needs")
        if not isinstance(stored["columns"], list | tuple):
            raise ValueError("a table is described by other values than it needs")
        names: list[Any] = [each.get("treatment") if isinstance(each, dict) else None for each in stored["columns"]]
        if not all(isinstance(name, str) and name in _TREATMENTS for name in names):
            raise ValueError("a column is described by no known treatment")
        columns = tuple(_TREATMENTS[name].from_dict(each) for name, each in zip(names, stored["columns"], strict=True))
        named = [stored["target"], *(column.name for column in columns)]
        if not columns or not isinstance(stored["target"], str) or len(set(named)) < len(named):
            raise ValueError("the columns need different names")
        check_unique(columns, "a preparation")
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
        """Whether every column is a number without gaps, in one form, so that X tells all."""
        return all(
            isinstance(column, NumberFeature) and column.is_recoverable and not column.levels for column in self.columns
        )

    def read(self, table: RawTable, unseen: UnseenValues | None = None) -> RawTable:
        """Read the columns of a table that has these, in any order, as those of the first table were read.

        Parameters
        ----------
        table : RawTable
            The table, as a reader of files or frames gives it.
        unseen : UnseenValues or None
            Where to count gaps, and what the first table did not have.

        Returns
        -------
        RawTable
            The columns in use, in the order of `columns`.

        Raises
        ------
        ValueError
            For columns that are missing.
        """
        by_name = {column.name: column for column in table.columns}
        absent = [column.name for column in self.columns if column.name not in by_name]
        if absent:
            raise ValueError(f"{table.source} lacks the columns {listed_names(absent)}")
        unseen = UnseenValues() if unseen is None else unseen
        columns = []
        for treatment in self.columns:
            column = treatment.read(by_name[treatment.name], table, unseen)
            n_gaps = int(column.gaps.sum()) - unseen.unread[treatment.name]
            if n_gaps > 0:
                unseen.gaps[treatment.name] += n_gaps
            columns.append(column)
        return replace(table, columns=columns)

    def apply(self, table: RawTable, unseen: UnseenValues | None = None) -> Floats:
        """Make X of a table that has these columns, as `read` and `features` do one after the other."""
        return self.features(self.read(table, unseen))

    def features(self, read: RawTable, own: OwnLabels | None = None, *, consume: bool = False) -> Floats:
        """Make X of columns that `read` gave.

        Parameters
        ----------
        read : RawTable
            The columns.
        own : OwnLabels or None
            The labels, for the table that was learnt from.
        consume : bool, default=False
            Whether the memory of the columns may become that of X; the table then loses them.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Raises
        ------
        ValueError
            For gaps, where the first table was taken as it is.
        """
        places = self._places()
        n_features = places[-1][2]
        check_memory(16 * read.n_rows * n_features, f"{read.source} as {counted(n_features)} columns of numbers")
        columns: list[Any] = list(read.columns)
        X = read.take_matrix(read.names) if consume and self.is_plain else None
        if X is None:
            X = np.empty((read.n_rows, n_features))
        for (treatment, first, last), column in zip(places, columns, strict=True):
            if own is not None and isinstance(treatment, SharesFeatures):
                X[:, first:last] = treatment.apply(column, read, own)
            else:
                X[:, first:last] = treatment.apply(column, read)
        return X

    def tabular(self, read: RawTable, X: Floats) -> TabularView:
        """Return columns that `read` gave for learners that take codes and gaps; X is what `features` made of them."""
        values: list[Floats] = []
        names: list[str] = []
        is_category: list[bool] = []
        from_labels: list[tuple[int, int, int]] = []
        for (treatment, first, last), column in zip(self._places(), read.columns, strict=True):
            part, part_names, are_codes = treatment.tabular(column, X[:, first:last])
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


def decimal_signs(preparation: Preparation) -> dict[str, str]:
    """Return the decimal sign of each column of numbers that may be written in another way than expected."""
    return {
        each.name: each.reading.decimal
        for each in preparation.columns
        if isinstance(each.reading, NumberReading) and each.reading.decimal is not None
    }


def check_unique(columns: Sequence[Treatment], source: str) -> None:
    """Refuse two columns that give features of the same name."""
    seen: dict[str, str] = {}
    for column in columns:
        for name in column.feature_names:
            if name in seen:
                raise ValueError(f"{source}: columns {seen[name]!r} and {column.name!r} both give a feature {name!r}")
            seen[name] = column.name
