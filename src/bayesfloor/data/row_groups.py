"""Rows that belong together, the order of rows in time, and subgroups that figures are wanted for.

A subgroup is made of the values of a column, or of an array beside X; there are a few of them, each with a name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import as_array, find_missing, is_missing
from bayesfloor.runtime.arrays import Floats, Ints

#: Different numbers or dates that are a group each; more are cut at quantiles.
MOST_NUMBERS = 10
#: Parts that such a column is cut into.
N_PARTS = 4
#: Groups that have figures of their own, the largest; all others have one together.
MOST_GROUPS = 20
#: What rows without a value are called.
MISSING = "(missing)"


def check_groups(groups: Any, n_rows: int) -> Ints | None:
    """Return the group of each row as a number from 0, in the order of the sorted values.

    Parameters
    ----------
    groups : array-like or series of shape (n_rows,), or None
        What tells groups apart, of any type that can be sorted: patients, users, machines.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        None where none are given.

    Raises
    ------
    ValueError
        For a missing value, a wrong length or shape, and fewer than two groups.
    """
    if groups is None:
        return None
    values = _checked(groups, n_rows, "groups")
    distinct = set(values.tolist())
    if len(distinct) < 2:
        raise ValueError(f"groups holds one value only, {next(iter(distinct))!r}; at least two groups are needed")
    try:
        ordered = sorted(distinct)
    except TypeError as error:
        raise ValueError(f"groups holds values that cannot be sorted: {error}") from error
    code_of = {value: code for code, value in enumerate(ordered)}
    return np.fromiter(map(code_of.__getitem__, values.tolist()), np.int64, count=n_rows)


def in_order_of_appearance(groups: Ints) -> Ints:
    """Number groups as they come, so that what they are called does not decide the order of sums over them."""
    _, first, place = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[place]


def check_time(time: Any, n_rows: int) -> Floats | None:
    """Return when each row was seen, as a number that grows with time.

    Parameters
    ----------
    time : array-like or series of shape (n_rows,), or None
        Numbers or dates.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        None where none are given.

    Raises
    ------
    ValueError
        For a missing or infinite value, a wrong length or shape, and values that are neither numbers nor dates.
    """
    if time is None:
        return None
    values = _checked(time, n_rows, "time")
    if values.dtype.kind == "O":
        try:
            values = values.astype("datetime64[us]")
        except (TypeError, ValueError) as error:
            raise ValueError(f"time must hold numbers or dates: {error}") from error
    if values.dtype.kind in "Mm":
        values = values.astype(f"{values.dtype.kind}8[us]").view(np.int64)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"time must hold numbers or dates. Got {values.dtype} instead.")
    moments = values.astype(np.float64)
    if not np.isfinite(moments).all():
        raise ValueError("time contains infinity")
    if len(moments) and moments.min() == moments.max():
        raise ValueError("time holds one value only; rows cannot be put in order")
    return moments


def _checked(values: Any, n_rows: int, name: str) -> Any:
    """Return a one-dimensional array of the right length in which nothing is missing."""
    array = as_array(values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}; one value for each of the {n_rows} rows is needed")
    n_missing = int(find_missing(array).sum())
    if n_missing:
        raise ValueError(f"{name} has {n_missing} missing value{'s' if n_missing > 1 else ''}")
    return array


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Named groups of rows.

    Attributes
    ----------
    column : str
        What tells the groups apart is called so.
    names : tuple of str
        Names of the groups, in the order of their values; rows without a value and small groups together come last.
    codes : ndarray of shape (n,)
        The group of each row.
    note : str
        How groups were made of the values, where they are not the values themselves.
    """

    column: str
    names: tuple[str, ...]
    codes: Ints
    note: str = ""

    def take(self, rows: Ints) -> "Subgroups":
        """Keep some of the rows."""
        return replace(self, codes=self.codes[rows])


def check_subgroups(by: Any, n_rows: int, column: str | None = None) -> Subgroups | None:
    """Make groups of values of any type.

    Parameters
    ----------
    by : array-like or series of shape (n_rows,), Subgroups or None
        What tells groups apart. A missing value is a group of its own. More than 10 numbers or dates are cut at
        quartiles. Of more than 20 groups, the largest 20 stay and the others are put together.
    n_rows : int
        The number of rows of X.
    column : str or None, default=None
        What the values are called; None for the name of a series, else "subgroup".

    Returns
    -------
    Subgroups or None
        None where none are asked for.

    Raises
    ------
    ValueError
        For a wrong length or shape.
    """
    if by is None or isinstance(by, Subgroups):
        return by
    if column is None:
        named = getattr(by, "name", None)
        column = "subgroup" if named is None else str(named)
    values = _as_values(by)
    if values.shape != (n_rows,):
        raise ValueError(f"by has shape {values.shape}; one value for each of the {n_rows} rows is needed")
    is_gap = find_missing(values)
    names, codes, note = _named(values[~is_gap])
    of_rows = np.full(n_rows, len(names), np.int64)
    of_rows[~is_gap] = codes
    if is_gap.any():
        names.append(_unused(MISSING, names))
    return _largest(Subgroups(column, tuple(names), of_rows, note))


def as_numbers(texts: Sequence[str]) -> NDArray[Any]:
    """Return texts as an array, of numbers where all of them are, without a value where one is empty."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array([text or None for text in texts], object)


def _as_values(by: Any) -> NDArray[Any]:
    """Return values as an array, of numbers where all that are known are; cells that are lists are written out."""
    if isinstance(by, np.ma.MaskedArray):
        by = by.tolist()  # gaps become None
    if isinstance(by, list | tuple) and any(isinstance(value, list | tuple | dict | set | np.ndarray) for value in by):
        by = [str(value) for value in by]
    values = as_array(by)
    if values.dtype.kind == "O" and values.ndim == 1:
        known = [value for value in values if not is_missing(value)]
        if known and all(isinstance(value, Real) and not isinstance(value, bool) for value in known):
            return np.array([np.nan if is_missing(value) else float(value) for value in values])
    return values


def _named(values: NDArray[Any]) -> tuple[list[str], Ints, str]:
    """Return the names of the groups, in order, the group of each value, and how they were made."""
    if values.dtype.kind not in "iufMm":
        texts = [str(value) for value in values]
        names = _in_order(set(texts))
        place = {name: code for code, name in enumerate(names)}
        return names, np.fromiter(map(place.__getitem__, texts), np.int64, len(texts)), ""
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) <= MOST_NUMBERS:
        return [_written(value) for value in distinct], codes, ""
    # Quantiles that are values of the data: those between two values need not exist for dates or infinity.
    cuts = np.unique(np.quantile(codes, np.arange(1, N_PARTS) / N_PARTS, method="inverted_cdf"))
    # where most rows have the largest value, it is a group
    cuts = np.unique(np.minimum(cuts, len(distinct) - 2)).astype(np.int64)
    ends = [_written(distinct[cut]) for cut in cuts]
    names = [f"up to {ends[0]}", *(f"above {low}, up to {high}" for low, high in pairwise(ends))]
    names.append(f"above {ends[-1]}")
    return names, np.searchsorted(cuts, codes), f"{len(distinct)} different values were cut at quantiles."


def _in_order(texts: set[str]) -> list[str]:
    """Sort texts; as numbers where all of them are."""
    try:
        return sorted(texts, key=lambda text: (float(text), text))
    except ValueError:
        return sorted(texts)


def _written(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ").partition(".")[0].removesuffix(" 00:00:00")
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _largest(found: Subgroups) -> Subgroups:
    """Put all but the largest groups together."""
    n_groups = len(found.names)
    if n_groups <= MOST_GROUPS:
        return found
    counts = np.bincount(found.codes, minlength=n_groups)
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    names = [found.names[code] for code in kept]
    place = np.full(n_groups, MOST_GROUPS, np.int64)
    place[kept] = np.arange(MOST_GROUPS)
    n_others = n_groups - MOST_GROUPS
    names.append(_unused(f"the other {n_others}", names))
    note = f"There are {n_groups} groups: the largest {MOST_GROUPS} are shown, and the others together."
    return Subgroups(found.column, tuple(names), place[found.codes], f"{found.note} {note}".strip())


def _unused(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name
