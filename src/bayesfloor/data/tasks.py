"""Whether a target asks for a class or for a number, told from its values."""

from typing import Any

import numpy as np

from bayesfloor.data.labels import as_array
from bayesfloor.runtime.arrays import Floats, Ints

#: What a target can be read as; "auto" decides by its values.
TASKS = ("auto", "classification", "regression")
#: Maximum number of distinct whole numbers that are classes: codes, grades, digits. More are an amount, unless they
#: count up.
MOST_CLASSES = 20
#: Minimum number of rows of each class where more whole numbers count up.
_FEWEST_ROWS = 5
#: Number of bins of equally many rows that stand for classes in samples and folds.
_N_BINS = 10


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
    if labels.dtype.kind not in "iuf" or labels.ndim != 1 or not len(labels):
        return "classification"
    values = labels.astype(np.float64)
    known = values[np.isfinite(values)]
    return task_of_numbers(known) if len(known) else "classification"


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
