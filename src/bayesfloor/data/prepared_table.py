"""A table made ready for analysis, and how functions of (X, y) take one in place of both."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.frames import data_frame
from bayesfloor.runtime.text import counted


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table made ready: numbers, labels, and what was done to get there.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite float64 values, read-only.
    y : ndarray of shape (n_rows,) or None
        The labels; None where a table without its target was made ready as another one was.
    feature_names : tuple of str
        Names of the columns of X; a dummy is called ``column=value``.
    classes : ndarray
        The distinct labels, sorted.
    target : str
        Name of the column of labels.
    groups : tuple of tuples of int
        For each column of the file, its columns in X, as ``BayesErrorSelector(groups=...)`` takes them.
    group_names : tuple of str
        The columns of the file that `groups` stand for.
    source : str
        Name of the file.
    lines : ndarray of shape (n_rows,)
        The line of the file on which each row begins, or the row's number from 1 where a file has no lines.
    n_samples : int
        Number of rows in the file.
    notes : tuple of str
        Everything that was detected, assumed or done, in plain sentences.
    cautions : tuple of str
        What deserves a look before the results are trusted.
    preparation : Preparation
        How the columns became X, to make another file ready in the same way.
    row_word : str
        What `lines` counts: "line" or "row".
    """

    X: Floats
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    classes: NDArray[Any]
    target: str
    groups: tuple[tuple[int, ...], ...]
    group_names: tuple[str, ...]
    source: str
    lines: Ints
    n_samples: int
    notes: tuple[str, ...]
    cautions: tuple[str, ...]
    preparation: Any
    row_word: str = "row"

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        return (
            f"Table({self.source!r}: {counted(n_rows)} row{'s' * (n_rows != 1)}, {counted(n_features)} "
            f"feature{'s' * (n_features != 1)}, {counted(len(self.classes))} classes of {self.target!r})"
        )

    def frame(self) -> Any:
        """Return X and, last, y as a data frame: pandas where it is installed, else polars."""
        columns: dict[str, Any] = {name: self.X[:, j] for j, name in enumerate(self.feature_names)}
        if self.y is not None:
            target = self.target
            while target in columns:
                target += "_"
            columns[target] = self.y
        return data_frame(columns)


def points_of(X: Any) -> Any:
    """Return the points of a `Table`, and anything else unchanged."""
    return X.X if isinstance(X, Table) else X


def points_and_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the points and labels of a `Table`, and anything else unchanged.

    Parameters
    ----------
    X : Table, or points of any type
        What the caller passes as X.
    y : array-like or None
        What the caller passes as y; None with a Table.

    Returns
    -------
    X, y
        Still unchecked.

    Raises
    ------
    ValueError
        When there are no labels, or a Table and labels beside it.
    """
    if not isinstance(X, Table):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None; only a Table has its labels with it")
        return X, y
    if y is not None:
        raise ValueError("A Table has its labels with it; leave out y.")
    if X.y is None:
        raise ValueError(f"{X.source} was read without its labels, and they are needed here.")
    return X.X, X.y
