"""Targets that are numbers: one check, and what kind of numbers they are."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import as_array, is_missing
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import quoted

#: Largest absolute value: sums of squares of so many rows as memory holds stay finite.
LARGEST = 1e140
#: Maximum number of distinct whole numbers that may as well be classes.
MOST_ORDERED = 20
#: Minimum number of distinct values of a count, as a multiple of the square root of the largest.
COUNT_RUN = 1.0
#: A target is bounded if at least this share of the rows is at an end of its range.
AT_AN_END = 0.02


def check_numbers(y: Any, n_rows: int) -> Floats:
    """Return a target of numbers.

    Parameters
    ----------
    y : array-like or series of shape (n_rows,)
        The target: numbers or booleans.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of shape (n_rows,) and type float64

    Raises
    ------
    ValueError
        For missing or infinite values, values that are no numbers, a wrong length or shape, and a target that is the
        same everywhere.
    """
    numbers = check_finite_numbers(y, n_rows)
    if not len(numbers) or numbers.min() == numbers.max():
        shown = f"is {numbers[0]:g} everywhere" if len(numbers) else "is empty"
        raise ValueError(f"y {shown}: there is nothing to predict")
    if numbers.max() - numbers.min() < 1.0 / LARGEST:
        raise ValueError(f"y varies by less than {1.0 / LARGEST:g}, whose square is 0; multiply it by a constant")
    return numbers


def check_finite_numbers(y: Any, n_rows: int, name: str = "y") -> Floats:
    """Return a target of numbers that may be the same everywhere, or predictions of it; see `check_numbers`."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    values = as_array(y)
    if values.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {values.shape} instead.")
    if len(values) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(values)]}")
    numbers = _as_floats(values, name)
    n_missing = int(np.count_nonzero(np.isnan(numbers)))
    if n_missing:
        raise ValueError(f"{name} has {n_missing} missing value{'s' if n_missing > 1 else ''}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"Input {name} contains infinity")
    if np.abs(numbers).max(initial=0.0) > LARGEST:
        raise ValueError(
            f"{name} holds values beyond {LARGEST:g}, whose squares cannot be added up; divide it by a constant"
        )
    return numbers


def _as_floats(values: NDArray[Any], name: str) -> Floats:
    """Return numbers as float64; anything else is an error that shows the first of it."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O":
        present = [value for value in values.tolist() if not is_missing(value)]
        others = [value for value in present if not isinstance(value, Real | np.bool_)]
        if not others:
            return np.array([np.nan if is_missing(value) else float(value) for value in values.tolist()])
        raise ValueError(f"{name} must hold numbers. Got {quoted(str(others[0]))} of type {type(others[0]).__name__}.")
    first = "" if not len(values) else f", such as {quoted(str(values[0]))}"
    raise ValueError(f"{name} must hold numbers. Got values of type {values.dtype}{first}.")


def kind_of_numbers(y: Floats) -> str:
    """Tell what numbers a target holds.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The target.

    Returns
    -------
    {"ordered", "count", "share", "bounded", "number"}
        Whole numbers of 3 to 20 different values, or two values: "ordered". Other whole numbers from 0 or 1 on, of
        which small ones repeat: "count". Numbers from 0 to 1: "share". Numbers of which at least 2% lie at an end of
        their range: "bounded". "number" for all others.
    """
    distinct, counts = np.unique(y, return_counts=True)
    is_whole = bool((distinct == np.floor(distinct)).all())
    if len(distinct) <= 2 or (is_whole and len(distinct) <= MOST_ORDERED and 5 * len(distinct) <= len(y)):
        return "ordered"
    is_dense = 2 * len(distinct) <= len(y) and len(distinct) >= COUNT_RUN * distinct[-1] ** 0.5
    if is_whole and 0 <= distinct[0] <= 1 and is_dense:
        return "count"
    if distinct[0] >= 0.0 and distinct[-1] <= 1.0 and distinct[-1] - distinct[0] > 0.5:
        return "share"
    if max(counts[0], counts[-1]) >= max(AT_AN_END * len(y), 3.0):
        return "bounded"
    return "number"
