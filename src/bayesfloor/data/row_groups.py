"""Rows that belong together, and the order of rows in time."""

from typing import Any

import numpy as np

from bayesfloor.data.labels import as_array, is_missing
from bayesfloor.runtime.arrays import Floats, Ints


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
    if array.dtype.kind in "fMm":
        n_missing = int(np.count_nonzero(array != array))
    else:
        n_missing = sum(map(is_missing, array)) if array.dtype.kind == "O" else 0
    if n_missing:
        raise ValueError(f"{name} has {n_missing} missing value{'s' if n_missing > 1 else ''}")
    return array
