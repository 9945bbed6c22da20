"""A problem: rows whose points and target passed all checks, and what else is known of each row.

`bayesfloor.tables.arguments.check_problem` makes one of whatever callers pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_weights
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.row_groups import Subgroups
from bayesfloor.data.row_parts import StoredRows
from bayesfloor.data.sampling import Keys, keys_of_hashes
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.hash_kernels import hash_rows

#: Rows that are hashed at a time: functions that tell what is known of them may make copies.
HASHED_ROWS = 2**16
#: Largest ratio of two weights above 0. Smaller weights are lost in sums.
MOST_RATIO = 1e12


@dataclass(frozen=True, eq=False)
class Problem:
    """Points and a target of classes or numbers, with what else is known of the rows.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The points.
    classes : ndarray
        The distinct labels, sorted; a single 0 where the target holds numbers.
    codes : ndarray of shape (n,)
        Position of each row's label in `classes`; all 0 where the target holds numbers.
    feature_names : sequence or None
        Names of the columns of X.
    groups : ndarray of shape (n,) or None
        Rows that belong together have the same number.
    time : ndarray of shape (n,) or None
        When each row was seen.
    tabular : TabularView or None
        The same rows as codes with gaps.
    by : Subgroups or None
        Subgroups that figures are wanted for.
    supervised : SupervisedFeatures or None
        What makes the features of models in place of X, where that takes labels.
    y : ndarray of shape (n,)
        The target, where it holds numbers; empty where it holds classes.
    sample_weight : ndarray of shape (n,) or None
        What each row counts, 1 on average over those that count; None where all count the same.
    stored : StoredRows or None
        All rows, on disk, where these are some of them: first those that are tested, then a sample.
    n_drawn_from : int or None
        Rows of the table that these were drawn from at random; None where they are all.
    n_given : int or None
        Rows given, of which these are some; None for all.
    given_rows : ndarray of shape (n,) or None
        Where each row is among those that the caller has; None where it is there, or a `Table` tells.
    findings : tuple of Finding
        What was found before anything was computed.
    """

    X: Floats
    classes: NDArray[Any]
    codes: Ints
    feature_names: Sequence[Any] | None = None
    groups: Ints | None = None
    time: Floats | None = None
    tabular: TabularView | None = None
    by: Subgroups | None = None
    supervised: SupervisedFeatures | None = None
    y: Floats = field(default_factory=lambda: np.empty(0))
    sample_weight: Floats | None = None
    stored: StoredRows | None = None
    n_drawn_from: int | None = None
    n_given: int | None = None
    given_rows: Ints | None = None
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of_numbers(cls, X: Floats, y: Floats, **known: Any) -> "Problem":
        """Make a problem whose target holds numbers; all rows are of one class."""
        return cls(X, np.zeros(1), np.zeros(len(X), np.int64), y=y, **known)

    @property
    def task(self) -> str:
        """Return "classification" or "regression"."""
        return "regression" if len(self.y) else "classification"

    @property
    def n_samples(self) -> int:
        """Rows given, with or without a label, whether they are in memory, on disk, or were drawn from."""
        if self.stored is not None:
            return self.stored.n_samples
        found = self.n_given if self.n_drawn_from is None else self.n_drawn_from
        return len(self.X) if found is None else found

    @property
    def n_drawn(self) -> int | None:
        """Rows that were drawn at random from a table; None where they are all."""
        return None if self.n_drawn_from is None else len(self.X)

    @property
    def class_counts(self) -> Ints:
        """Rows per class."""
        if self.stored is not None and self.stored.class_counts is not None:
            return self.stored.class_counts
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def class_totals(self) -> Ints | Floats:
        """What the rows of each class count together."""
        if self.sample_weight is None:
            return self.class_counts
        return np.bincount(self.codes, self.sample_weight, minlength=len(self.classes))

    def take(self, rows: Ints) -> "Problem":
        """Keep some of the rows; all classes stay."""
        of_rows = ("codes", "groups", "time", "tabular", "by", "supervised", "sample_weight", "given_rows")
        taken: dict[str, Any] = {name: value for name in of_rows if (value := getattr(self, name)) is not None}
        for name, value in taken.items():
            taken[name] = value[rows] if isinstance(value, np.ndarray) else value.take(rows)
        y = self.y[rows] if len(self.y) else self.y
        return replace(self, X=np.ascontiguousarray(self.X[rows]), y=y, stored=None, **taken)

    def places(self, rows: Ints) -> Ints:
        """Tell where some rows are among those that the caller has."""
        return rows if self.given_rows is None else self.given_rows[rows]

    def without_features(self) -> "Problem":
        """Let go of the values of the columns, which take nearly all of the memory."""
        return replace(self, X=np.empty((len(self.X), 0)), tabular=None, supervised=None)

    def row_hashes(self, known_of: Callable[["Problem"], Floats]) -> Keys:
        """Hash the numbers that a function tells of each row: it is given some rows at a time."""
        problem, hashes = replace(self, by=None, supervised=None), np.empty(len(self.X), np.uint64)
        for first in range(0, len(hashes), HASHED_ROWS):
            rows = np.arange(first, min(first + HASHED_ROWS, len(hashes)))
            values = np.ascontiguousarray(known_of(problem.take(rows)), np.float64)
            hash_rows(values.view(np.uint64), 0, len(rows), hashes[first : first + len(rows)])
        return hashes

    def keys(self, seed: int) -> Keys:
        """Return a random number for each row, from all that is known of it and the seed; where it stands is not."""
        hashes = replace(self, tabular=None).row_hashes(_all_known)
        return keys_of_hashes(hashes, self.codes, seed, self.groups)


def _all_known(problem: Problem) -> Floats:
    """Return the points of rows beside their numbers, times and weights, where they have any."""
    columns = [problem.y if len(problem.y) else None, problem.time, problem.sample_weight]
    return np.column_stack([problem.X, *(each for each in columns if each is not None)])


def check_row_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return weights whose mean, over the rows that count, is 1.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        What each row counts.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        None where all rows count the same.

    Raises
    ------
    ValueError
        For what `check_weights` refuses, and weights above 0 of a ratio beyond `MOST_RATIO`.
    """
    if sample_weight is None:
        return None
    weight = check_weights(sample_weight, n_rows)
    least, largest = float(weight[weight > 0].min()), float(weight.max())
    if largest / MOST_RATIO > least:
        raise ValueError(
            f"sample_weight ranges from {least:g} to {largest:g}: rows of less than {1 / MOST_RATIO:g} of the "
            "largest weight count for nothing. Set their weight to 0"
        )
    weight = np.ldexp(weight, -np.frexp(largest)[1])  # sums stay finite; a power of two rounds nothing
    # the exact sum does not depend on the order of the rows
    return None if weight.min() == weight.max() else weight / (fsum(weight) / np.count_nonzero(weight))
