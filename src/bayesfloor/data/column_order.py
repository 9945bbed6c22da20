"""An order of columns that depends on their values alone: not on where they stand, nor on the order of the rows.

Whatever is drawn by the number of a column, and every sum over columns, would move with the order in which a caller
happens to have them.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.hash_kernels import mix64

U64 = NDArray[np.uint64]


def bits_of(values: Floats) -> U64:
    """Return the bits of numbers, the same for 0.0 and -0.0, and for every NaN."""
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


def hash_of_rows(columns: Sequence[Callable[[], U64]], marks: U64 | None = None) -> U64:
    """Return a number for each row from its values, whatever the order of the columns.

    Parameters
    ----------
    columns : sequence of callable
        Each gives the bits of one column.
    marks : ndarray of shape (n,) or None, default=None
        What else tells rows apart.

    Returns
    -------
    ndarray of shape (n,)
    """
    total = np.uint64(0) if marks is None else mix64(marks)
    for column in columns:
        total = total + mix64(column())
    return np.asarray(mix64(total))


def column_keys(columns: Sequence[Callable[[], U64]], of_rows: U64) -> U64:
    """Return a number for each column, from its values and the rows that they stand in.

    Parameters
    ----------
    columns : sequence of callable
        Each gives the bits of one column.
    of_rows : ndarray of shape (n,)
        As from `hash_of_rows`: columns of the same values in different rows get different numbers.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    return np.array([mix64(mix64(column()) ^ of_rows).sum(dtype=np.uint64) for column in columns], np.uint64)
