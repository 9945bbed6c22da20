"""What callers compare -> features of the same rows, read when they are needed.

A *part* is one block of features: an array, which stays as it is and where it is (float16, float32, in memory or in a
file) until its rows are trained on; a table, whose columns are made ready once; or a step, such as a scaler or a
vectoriser, that is fitted in each training set. A *representation* is one part, or several side by side.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bayesfloor.choose.comparing.steps import fitted_rows, is_step, needs_labels, takes_new_rows
from bayesfloor.data.points import check_points, host_array
from bayesfloor.data.prepared_table import Table, TabularView
from bayesfloor.data.problem import Problem
from bayesfloor.data.supervised_features import SupervisedFeatures, matrix_of
from bayesfloor.floor.learned.agreeing_rows import MOST_COLUMNS, hashed_columns
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.frames import as_narwhals, names_of, with_text_names
from bayesfloor.runtime.hash_kernels import hash_rows
from bayesfloor.runtime.text import counted, listed_names, quoted
from bayesfloor.tables.arguments import needs_preparing
from bayesfloor.tables.frames import is_eager_frame

#: The word for X as it is.
PASSTHROUGH = "passthrough"
#: Rows of an array that become float64 at a time.
_ROWS_AT_ONCE = 8192

#: Makes a problem of features that need the labels of all rows to be made ready.
Labelled = Callable[[Any], Problem]


@dataclass(frozen=True, eq=False)
class Part:
    """One block of features.

    Attributes
    ----------
    name : str
        What messages call it.
    source : object
        An array of shape (n_rows, n_features), or what the step is given.
    n_rows : int
        Rows that it has.
    tabular : TabularView or None
        The same rows as codes with gaps, where the source is a table that was made ready.
    step : transformer or None
        What makes features of the source.
    columns : sequence of str or None
        What the features are called, where they have names.
    """

    name: str
    source: Any
    n_rows: int
    tabular: TabularView | None = None
    step: Any = None
    columns: Sequence[Any] | None = None

    @property
    def is_fitted(self) -> bool:
        """Whether features are made in each training set."""
        return self.step is not None and takes_new_rows(self.step)

    def on(self, rows: Ints) -> "Part":
        """Return the part of some rows; a map that takes no others is fitted to them."""
        source = self._of_source(rows)
        if self.step is not None and not self.is_fitted:
            with naming(self.name):
                return Part(self.name, fitted_rows(self.step, source, len(rows)), len(rows))
        tabular = None if self.tabular is None else self.tabular.take(rows)
        return replace(self, source=source, n_rows=len(rows), tabular=tabular)

    def features(self, rows: Ints | None = None) -> Floats:
        """Return the features of all rows, or of some; a step is fitted to them without labels."""
        taken = self.source if rows is None else self._of_source(rows)
        if self.step is None:
            return check_points(taken, min_rows=1)
        with naming(self.name):
            return fitted_rows(self.step, taken, self.n_rows if rows is None else len(rows))

    def learned(self, train: Ints, y: NDArray[Any]) -> Any:
        """Fit the step to some rows, with their labels where it needs them, and return it with their features."""
        fitted = clone(self.step)
        known = (y,) if needs_labels(self.step) else ()
        taken = self._of_source(train)
        with naming(self.name):
            if hasattr(fitted, "fit_transform"):
                return fitted, fitted.fit_transform(taken, *known)
            return fitted.fit(taken, *known), fitted.transform(taken)

    def made_by(self, fitted: Any, rows: Ints) -> Any:
        """Return the features that a fitted step makes of some rows."""
        with naming(self.name):
            return fitted.transform(self._of_source(rows))

    def _of_source(self, rows: Ints) -> Any:
        if len(rows) == self.n_rows and bool(np.all(np.diff(rows) == 1)):
            return self.source
        return self.source[rows] if isinstance(self.source, np.ndarray) else _safe_indexing(self.source, rows)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A number for each row, from what the source holds of it."""
        out = np.empty(self.n_rows, np.uint64)
        if not _holds_numbers(self.source):
            items = _safe_indexing(self.source, np.arange(self.n_rows))
            rows = as_narwhals(items).iter_rows() if is_eager_frame(items) else items
            for place, item in enumerate(rows):
                out[place] = int.from_bytes(blake2b(repr(item).encode(), digest_size=8).digest(), "little")
            return out
        for start in range(0, self.n_rows, _ROWS_AT_ONCE):
            some = np.arange(start, min(start + _ROWS_AT_ONCE, self.n_rows))
            block = np.ascontiguousarray(check_points(self._of_source(some), min_rows=1))
            hash_rows(block.view(np.uint64), 0, len(block), out[some[0] : some[-1] + 1])
        return out

    def marks(self) -> Floats:
        """Return columns that tell the rows of the source apart.

        They are its own where these are few. Else several stand for one, beside the one with the most distinct values.
        """
        if not _holds_numbers(self.source):
            return np.unique(self.hashes, return_inverse=True)[1][:, np.newaxis].astype(np.float64)
        if self.source.shape[1] <= MOST_COLUMNS:
            return check_points(self.source, min_rows=1)
        blocks = np.array_split(np.arange(self.n_rows), -(-self.n_rows // _ROWS_AT_ONCE))
        together = np.vstack([hashed_columns(check_points(self._of_source(some), min_rows=1)) for some in blocks])
        codes = [np.unique(column, return_inverse=True)[1] for column in together.T]
        return np.column_stack([*codes, self._most_distinct()]).astype(np.float64)

    def _most_distinct(self) -> Floats:
        """Return the column of the source with the most distinct values."""
        some = check_points(self._of_source(np.arange(min(self.n_rows, _ROWS_AT_ONCE))), min_rows=1)
        counts = [len(np.unique(column)) for column in some.T]
        place = int(np.argmax(counts))
        column = (
            self.source[:, [place]]
            if isinstance(self.source, np.ndarray)
            else _safe_indexing(self.source, [place], axis=1)
        )
        return check_points(column, min_rows=1)[:, 0]


def _holds_numbers(source: Any) -> bool:
    """Tell whether rows are told apart by numbers, and not by text."""
    if is_eager_frame(source):
        return not needs_preparing(source)
    return np.ndim(source) == 2 and getattr(source, "dtype", np.dtype(object)).kind in "biuf"


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the representation in a note on any error that comes up in it."""
    try:
        yield
    except Exception as error:
        error.add_note(f"This came up in the features {quoted(name)}.")
        raise


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """Parts as one transformer of row numbers, for `SupervisedFeatures`; nothing is copied when it is cloned."""

    parts: tuple[Part, ...]
    fitted: tuple[Any, ...] = ()

    def __sklearn_clone__(self) -> "RowFeatures":
        return RowFeatures(self.parts)

    def fit_transform(self, rows: Ints, y: NDArray[Any]) -> Floats:
        """Fit the steps to some rows and their labels, and return the features."""
        fitted, made = [], []
        for part in self.parts:
            step, features = part.learned(rows, y) if part.is_fitted else (None, part.features(rows))
            fitted.append(step)
            made.append(_matrix(features, len(rows), part))
        object.__setattr__(self, "fitted", tuple(fitted))
        return np.hstack(made)

    def transform(self, rows: Ints) -> Floats:
        """Return the features of other rows."""
        pairs = zip(self.parts, self.fitted, strict=True)
        made = [part.features(rows) if step is None else part.made_by(step, rows) for part, step in pairs]
        return np.hstack([_matrix(each, len(rows), part) for each, part in zip(made, self.parts, strict=True)])


def _matrix(made: Any, n_rows: int, part: Part) -> Floats:
    with naming(part.name):
        return matrix_of(made, n_rows, part.step if part.step is not None else part.name)


@dataclass(frozen=True, eq=False)
class Representation:
    """Features that are compared.

    Attributes
    ----------
    name : str
        What the caller calls them.
    parts : tuple of Part
        Side by side.
    sides : tuple of str
        Names of other representations that they are made of; empty where there are none.
    """

    name: str
    parts: tuple[Part, ...]
    sides: tuple[str, ...] = ()

    @property
    def is_fitted(self) -> bool:
        """Whether some features are made in each training set."""
        return any(part.is_fitted for part in self.parts)

    @property
    def needs_labels(self) -> bool:
        """Whether some features are learned from labels."""
        return any(part.is_fitted and needs_labels(part.step) for part in self.parts)

    @property
    def takes_new_rows(self) -> bool:
        """Whether features can be made of rows that come later."""
        return all(part.step is None or part.is_fitted for part in self.parts)

    @property
    def n_columns(self) -> int:
        """Columns of the sources, before any step."""
        return sum(int(part.source.shape[1]) if np.ndim(part.source) == 2 else 1 for part in self.parts)

    def on(self, rows: Ints) -> "Representation":
        """Return the representation of some rows; maps that take no others are fitted to them."""
        return replace(self, parts=tuple(part.on(rows) for part in self.parts))

    def problem(self, shared: Problem, y: NDArray[Any], rows: Ints) -> Problem:
        """Return the problem of some rows with these features; `shared` has all that is known of all rows but them."""
        parts = tuple(part.on(rows) for part in self.parts)
        own: dict[str, Any] = {"X": check_points(np.hstack([_known_points(part) for part in parts]))}
        if self.is_fitted:
            own["supervised"] = SupervisedFeatures(RowFeatures(parts), np.arange(len(rows)), y[rows])
        elif any(part.tabular is not None for part in parts):
            own["tabular"] = _side_by_side(parts)
        return replace(shared.take(rows), **own)

    def points(self, rows: Ints) -> Floats:
        """Return the features of some rows, made without labels."""
        return check_points(np.hstack([part.on(rows).features() for part in self.parts]))


def _known_points(part: Part) -> Floats:
    """Return features; where a step takes labels, those that it is given, or a number for each different row."""
    if not (part.is_fitted and needs_labels(part.step)):
        return part.features()
    if _holds_numbers(part.source):
        return check_points(part.source, min_rows=1)
    return np.unique(part.hashes, return_inverse=True)[1][:, np.newaxis].astype(np.float64)


def _side_by_side(parts: tuple[Part, ...]) -> TabularView:
    """Return the tabular views of the parts side by side; columns of an array are numbers."""
    values: list[Floats] = []
    kinds: list[Bools] = []
    names: list[str] = []
    from_labels: list[tuple[int, int, int]] = []
    n_columns = n_features = 0
    for part in parts:
        X = part.features()
        view = part.tabular
        if view is None:
            view = TabularView(X, np.zeros(X.shape[1], bool), tuple(f"{part.name} {j}" for j in range(X.shape[1])))
        values.append(view.values)
        kinds.append(view.is_category)
        names += view.names
        from_labels += [(c + n_columns, a + n_features, b + n_features) for c, a, b in view.from_labels]
        n_columns, n_features = n_columns + view.values.shape[1], n_features + X.shape[1]
    return TabularView(np.hstack(values), np.concatenate(kinds), tuple(names), tuple(from_labels))


def check_features(
    features: Any, X: Any, n_rows: int, labelled: Labelled, rows: Ints | None = None
) -> list[Representation]:
    """Return what is to be compared.

    Parameters
    ----------
    features : mapping of str to features
        As for `compare_features`.
    X : object or None
        The rows that steps and names of columns are about.
    n_rows : int
        Rows of y.
    labelled : callable
        Makes a problem of a frame or a file that has to be made ready.
    rows : ndarray or None, default=None
        Those that have a label; None for all.

    Returns
    -------
    list of Representation

    Raises
    ------
    TypeError
        For values that are no features.
    ValueError
        For other numbers of rows, empty values, and names that are not there.
    """
    if not isinstance(features, Mapping) or not features:
        raise ParameterError("features", "a dict of features by name", features)
    for name in features:
        if not isinstance(name, str):
            raise TypeError(f"Names of features must be text, got {name!r}.")
    return _Reader(features, X, n_rows, labelled, rows).all()


class _Reader:
    """Looks each value up once, whoever names it."""

    def __init__(self, features: Mapping[str, Any], X: Any, n_rows: int, labelled: Labelled, rows: Ints | None) -> None:
        self.features, self.X, self.n_rows, self.labelled, self.rows = features, X, n_rows, labelled, rows
        self.known: dict[str, Representation] = {}

    def all(self) -> list[Representation]:
        return [self.named(name, ()) for name in self.features]

    def named(self, name: str, within: tuple[str, ...]) -> Representation:
        """Return the representation of a name; `within` are those that name it."""
        if name in within:
            raise ValueError(f"The features {quoted(name)} are made of themselves: {' > '.join((*within, name))}.")
        if name not in self.known:
            value = self.features[name]
            if _is_side_by_side(value):
                self.known[name] = self._side_by_side(name, value, (*within, name))
            else:
                self.known[name] = Representation(name, (self._part(name, value),))
        return self.known[name]

    def _side_by_side(self, name: str, items: Sequence[Any], within: tuple[str, ...]) -> Representation:
        parts: list[Part] = []
        sides: list[str] = []
        columns: list[str] = []
        for item in items:
            if not isinstance(item, str):
                parts.append(self._part(name, item))
            elif item in self.features and item != name:
                parts += self.named(item, within).parts
                sides.append(item)
            elif item == PASSTHROUGH:
                parts.append(self._part(name, item))
            elif item in (names := self._columns_of_x()):
                columns.append(item)
            else:
                near = get_close_matches(item, [*self.features, *names], 1)
                raise ValueError(
                    f"The features {quoted(name)} name {quoted(item)}, which is none of the features"
                    + (" and no column of X." if names else "; columns need X, a data frame.")
                    + (f" Did you mean {quoted(near[0])}?" if near else "")
                )
        if columns:
            frame = as_narwhals(with_text_names(self.X)).select(list(dict.fromkeys(columns))).to_native()
            parts.insert(0, self._part(name, frame))
        if not parts:
            raise ValueError(f"The features {quoted(name)} are an empty list.")
        return Representation(name, tuple(parts), tuple(sides))

    def _columns_of_x(self) -> list[str]:
        return list(map(str, self.X.columns)) if self.X is not None and is_eager_frame(self.X) else []

    def _part(self, name: str, value: Any) -> Part:
        if (isinstance(value, str) and value == PASSTHROUGH) or is_step(value):
            if self.X is None:
                raise ValueError(f"The features {quoted(name)} are made of X. Give X=.")
            return (
                self._checked(Part(name, self.X, _n_rows(self.X), step=value))
                if is_step(value)
                else self._part(name, self.X)
            )
        if isinstance(value, str | os.PathLike):
            value = _of_file(name, Path(value))
        if isinstance(value, Table):
            return self._checked(Part(name, value.X, len(value.X), value.tabular, columns=value.feature_names))
        if isinstance(value, Path) or (is_eager_frame(value) and needs_preparing(value)):
            self._check_count(name, value)
            with naming(name):
                problem = self.labelled(value)
            return self._checked(Part(name, problem.X, len(problem.X), problem.tabular, columns=problem.feature_names))
        columns = names_of(value)
        with naming(name):
            if is_eager_frame(value):
                value = check_points(value, min_rows=1)
            value = host_array(value)
            array = value if hasattr(value, "tocsr") or isinstance(value, np.ndarray) else np.asarray(value)
            if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
                check_points(value, min_rows=1)  # says what is wrong
                raise TypeError(f"The features {quoted(name)} are no table of numbers.")
        source = array.tocsr() if hasattr(array, "tocsr") else array
        return self._checked(Part(name, source, array.shape[0], columns=columns))

    def _check_count(self, name: str, value: Any) -> None:
        if not isinstance(value, Path) and len(value) != self.n_rows:
            raise _other_count(name, len(value), self.n_rows)

    def _checked(self, part: Part) -> Part:
        rows = self.rows
        if rows is not None and part.n_rows == self.n_rows:
            tabular = None if part.tabular is None else part.tabular.take(rows)
            return replace(part, source=part._of_source(rows), n_rows=len(rows), tabular=tabular)
        if part.n_rows != (self.n_rows if rows is None else len(rows)):
            raise _other_count(part.name, part.n_rows, self.n_rows)
        return part


def _other_count(name: str, n_rows: int, n_labels: int) -> ValueError:
    return ValueError(
        f"The features {quoted(name)} have {counted(n_rows, 'row')}, and y has {counted(n_labels)}: "
        "all must be of the same rows, in the same order."
    )


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _is_side_by_side(value: Any) -> bool:
    """Tell a list of names, arrays or steps from the rows of an array."""
    if not isinstance(value, list | tuple):
        return False
    if not value:
        return True
    return any(isinstance(item, str) or is_step(item) or np.ndim(item) == 2 or is_eager_frame(item) for item in value)


def _of_file(name: str, path: Path) -> Any:
    """Return the array of a file of NumPy's, mapped into memory where that can be, and the path of any other."""
    if not path.exists():
        raise FileNotFoundError(f"The features {quoted(name)}: there is no file {str(path)!r}.")
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix != ".npz":
        return path
    with np.load(path, allow_pickle=False) as arrays:
        names = arrays.files
        wanted = "X" if "X" in names else names[0] if len(names) == 1 else None
        if wanted is None:
            raise ValueError(
                f"The features {quoted(name)}: {path.name} has the arrays {listed_names(names)}, and none is called "
                "'X'. Load one of them."
            )
        return arrays[wanted]
