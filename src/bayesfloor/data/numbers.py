"""Targets that are numbers: one check, what kind of numbers they are, and whether they are classes or amounts."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import as_array, is_missing, target_array
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import counted, quoted

#: Largest absolute value: sums of squares of so many rows as memory holds stay finite.
LARGEST = 1e140
#: Maximum number of distinct whole numbers that may as well be classes.
MOST_ORDERED = 20
#: Minimum number of distinct values of a count, as a multiple of the square root of the largest.
COUNT_RUN = 1.0
#: A target is bounded if at least this share of the rows is at an end of its range.
AT_AN_END = 0.02

#: What a target can be read as; "auto" decides by its values.
TASKS = ("auto", "classification", "regression")
#: Maximum number of distinct whole numbers that are classes: codes, grades, digits. More are an amount, unless they
#: count up.
MOST_CLASSES = 20
#: Minimum number of rows of each class where more whole numbers count up.
_FEWEST_ROWS = 5
#: Number of bins of equally many rows that stand for classes in samples and folds.
_N_BINS = 10


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
    numbers = _as_floats(target_array(y, n_rows, name), name)
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


def task_of_numbers(values: Floats) -> str:
    """Tell whether numbers are classes or amounts.

    Fractions are amounts, and so are many whole numbers: nearly as many as rows, or more than 20 of them, unless they
    count up from 0 or 1 without a gap and each has a few rows.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers, one for each row.

    Returns
    -------
    {"classification", "regression"}
    """
    distinct, counts = np.unique(values, return_counts=True)
    if (distinct != np.floor(distinct)).any():
        return "regression"
    n_values = len(distinct)
    counts_up = n_values > 2 and bool(distinct[0] in (0.0, 1.0) and distinct[-1] - distinct[0] == n_values - 1)
    if n_values == len(values) and counts_up and n_values > MOST_CLASSES:
        return "classification"  # the number of the row, which is refused as an id
    if n_values > max(2, len(values) / 2):
        return "regression"
    if n_values <= MOST_CLASSES:
        return "classification"
    return "classification" if counts_up and counts.min() >= _FEWEST_ROWS else "regression"


def task_of(y: Any) -> str:
    """Tell whether an array of labels holds classes or amounts; anything but numbers is classes.

    Parameters
    ----------
    y : array-like or series of shape (n,)
        The labels, not yet checked.

    Returns
    -------
    {"classification", "regression"}
    """
    labels = as_array(y)
    if labels.dtype.kind == "O":  # numbers, among which some were missing
        labels = as_array(labels.tolist())
    if labels.dtype.kind not in "iuf" or labels.ndim != 1 or not len(labels):
        return "classification"
    values = labels.astype(np.float64)
    known = values[np.isfinite(values)]
    return task_of_numbers(known) if len(known) else "classification"


def find_amounts(classes: NDArray[Any], codes: Ints, target: str) -> Iterator[Finding]:
    """Say so where classes are many whole numbers, which are rather an amount."""
    if len(classes) <= MOST_CLASSES or classes.dtype.kind not in "iuf":
        return
    if task_of_numbers(classes[codes].astype(np.float64)) == "regression":
        yield Finding(
            "BF015",
            f"The {counted(len(classes))} different whole numbers of {quoted(target)} are read as classes, in "
            f"{counted(len(codes))} rows.",
            "Where they are an amount, regression_floor and difficulty_report(task='regression') (--task regression) "
            "take it as a number.",
        )


def bins_of_numbers(values: Floats) -> Ints:
    """Put numbers into at most ten bins of about equally many rows; equal numbers share a bin.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers.

    Returns
    -------
    ndarray of shape (n,)
        The bin of each, from 0, without empty ones.
    """
    places = np.arange(1, _N_BINS) * len(values) // _N_BINS
    edges = np.sort(values)[places]
    return np.unique(np.searchsorted(edges, values, side="right"), return_inverse=True)[1].astype(np.int64)


def weighted_median(values: Floats, weight: Floats, axis: int = -1) -> Floats:
    """Return values that half of the weight is at most, and half at least, along an axis."""
    order = np.argsort(values, axis=axis, kind="stable")
    up_to = np.cumsum(np.take_along_axis(np.broadcast_to(weight, values.shape), order, axis), axis=axis)
    at = np.argmax(up_to >= 0.5 * np.take(up_to, [-1], axis), axis=axis, keepdims=True)
    return np.take_along_axis(values, np.take_along_axis(order, at, axis), axis).squeeze(axis)
