"""An order of columns that depends on their values alone: not on where they stand, nor on the order of the rows.

Whatever is drawn by the number of a column, and every sum over columns, would move with the order in which a caller
happens to have them. A column's number adds up hashes of its values, each with the number of its row, and a row's those
of its values:

- `column_keys` takes columns of any kind, one after the other.
- `with_column_order` decides on the order of the columns of a problem by these numbers; labels decide where columns
  tie. Columns are put in it when rows are taken, so that no copy of all rows is made. `given_columns` of the problem
  then leads back, for models of the caller's that may know columns by their numbers.
- `order_of_values` takes a matrix of numbers, dense or sparse, in passes over its rows, which is several times faster.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.problem import ColumnOrder, Problem
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, add_hashes, mix64, sums_of_hashes

U64 = NDArray[np.uint64]
#: Each gives the bits of one column.
Columns = Sequence[Callable[[], U64]]

#: Rounds in which hashes of columns may still tell more of them apart, at the most.
MOST_ROUNDS = 4
#: Rows that are hashed at a time, to bound memory.
BLOCK_ROWS = 2**16


def bits_of(values: Floats) -> U64:
    """Return the bits of numbers, the same for 0.0 and -0.0, and for every NaN."""
    bits = np.empty(len(values), np.uint64)
    for rows in _blocks(len(values)):
        bits[rows] = np.where(np.isnan(values[rows]), np.nan, values[rows] + 0.0).view(np.uint64)
    return bits


def _blocks(n_rows: int) -> Iterator[slice]:
    """Yield the rows of each block."""
    return (slice(first, first + BLOCK_ROWS) for first in range(0, n_rows, BLOCK_ROWS))


def hash_of_rows(columns: Columns, marks: U64 | None = None, keys: U64 | None = None) -> U64:
    """Return a number for each row from its values, whatever the order of the columns.

    Parameters
    ----------
    columns : Columns
        The columns.
    marks : ndarray of shape (n,) or None, default=None
        What else tells rows apart.
    keys : ndarray of shape (n_columns,) or None, default=None
        As from `column_keys`: a value counts as another one in another column.

    Returns
    -------
    ndarray of shape (n,)
    """
    total = None if marks is None else mix64(marks)
    for column, key in zip(columns, np.zeros(len(columns), np.uint64) if keys is None else keys, strict=True):
        bits = column()
        total = np.zeros(len(bits), np.uint64) if total is None else total
        for rows in _blocks(len(bits)):
            total[rows] += mix64(bits[rows] ^ key)
    return np.asarray(mix64(np.uint64(0) if total is None else total))


def column_keys(columns: Columns, of_rows: U64) -> U64:
    """Return a number for each column, from its values and the rows that they stand in.

    Parameters
    ----------
    columns : Columns
        The columns.
    of_rows : ndarray of shape (n,)
        As from `hash_of_rows`: columns of the same values in different rows get different numbers.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    keys = np.empty(len(columns), np.uint64)
    for place, column in enumerate(columns):
        bits = column()
        sums = [mix64(mix64(bits[rows]) ^ of_rows[rows]).sum(dtype=np.uint64) for rows in _blocks(len(bits))]
        keys[place] = np.array(sums, np.uint64).sum(dtype=np.uint64)
    return keys


def order_of_values(X: Any, seed: int) -> tuple[Ints, U64]:
    """Return an order of the columns, and a random number for each row.

    The hash of a column adds up those of its values, each mixed with the hash of its row, and that of a row those of
    its values, each mixed with the hash of its column. A few rounds tell columns apart that differ in more than the
    order of rows. Where columns cannot be told apart so, as equal ones or those of a factorial design, it is by where
    they stand.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_columns), float64
        Rows; a sparse array has no zeros stored.
    seed : int
        Changes the numbers, not the order of columns.

    Returns
    -------
    columns : ndarray of shape (n_columns,)
        Positions of the columns.
    keys : ndarray of shape (n,), uint64
        Equal for equal rows.
    """
    n, n_columns = X.shape
    of_columns, of_rows = np.zeros(n_columns, np.uint64), np.zeros(n, np.uint64)
    n_different = 0
    for _ in range(MOST_ROUNDS):
        told_apart = _hashes(X, mix64(of_rows), of_columns)[1]
        n_before, n_different = n_different, len(np.unique(told_apart))
        if n_different <= n_before:
            break
        of_columns = told_apart
        if n_different == n_columns:
            break
        of_rows = _hashes(X, np.zeros(n, np.uint64), mix64(of_columns))[0]
    columns = np.argsort(of_columns, kind="stable")
    words = np.empty(n_columns, np.uint64)
    words[columns] = mix64(of_columns[columns] ^ (np.arange(1, n_columns + 1, dtype=np.uint64) * GOLDEN))
    keys = _hashes(X, np.zeros(n, np.uint64), words)[0]
    return columns, mix64(keys ^ mix64(np.array([seed], np.uint64)))


def _hashes(X: Any, row_words: U64, column_words: U64) -> tuple[U64, U64]:
    """Return for each row and each column the sum of the hashes of its values other than zero."""
    of_rows, of_columns = np.zeros(X.shape[0], np.uint64), np.zeros(X.shape[1], np.uint64)
    if not issparse(X):
        add_hashes(X.view(np.uint64), row_words, column_words, of_rows, of_columns)
        return of_rows, of_columns
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    hashes = mix64(X.data.view(np.uint64) ^ row_words[rows] ^ column_words[X.indices])
    return sums_of_hashes(hashes, rows, len(of_rows)), sums_of_hashes(hashes, X.indices, len(of_columns))


def in_column_order(problem: Problem) -> Problem:
    """Put the columns of X, and those of the tabular view, in an order that their values decide."""
    return with_column_order(problem).take(np.arange(len(problem.X)))


def with_column_order(problem: Problem) -> Problem:
    """Decide on an order of the columns of X, and of those of the tabular view, by their values.

    Columns that were computed from labels stay together, and count as the category that they encode. Labels tell
    columns apart that nothing else does, such as dummies of equally many rows; which code a class has decides only
    between columns that change places when classes do.

    Returns
    -------
    Problem
        The same values, whose columns are put in order when rows are taken.
    """
    X, tabular = problem.X, problem.tabular
    units, known = _units_of(X, tabular)
    of_rows = hash_of_rows(known)
    labels = problem.codes if problem.task == "classification" else problem.y
    ranks = np.unique(labels, return_inverse=True)[1]
    with_labels = partial(_marked_rows, known, of_rows, ranks)
    order = np.concatenate([units[unit] for unit in _order_of(known, of_rows, with_labels)])
    of_tabular = None
    if tabular is not None:
        columns = [partial(bits_of, column) for column in tabular.values.T]
        of_tabular = order if tabular.values is X else _order_of(columns, of_rows, with_labels, tabular.is_category)
    return replace(problem, column_order=ColumnOrder(order, of_tabular))


def _units_of(X: Floats, tabular: TabularView | None) -> tuple[list[Ints], Columns]:
    """Return columns of X that stay together, and what gives the bits of each."""
    encoded = {} if tabular is None else {first: (column, last) for column, first, last in tabular.from_labels}
    units: list[Ints] = []
    known: list[Callable[[], U64]] = []
    place = 0
    while place < X.shape[1]:
        column, last = encoded.get(place, (-1, place + 1))
        units.append(np.arange(place, last))
        if tabular is None or column < 0:
            known.append(partial(bits_of, X[:, place]))
        else:
            known.append(partial(bits_of, tabular.values[:, column]))
        place = last
    return units, known


def _marked_rows(columns: Columns, of_rows: U64, ranks: Ints) -> tuple[U64, U64]:
    """Return numbers of rows that labels have a part in: by the rows that have the same label, and by its rank."""
    refined = hash_of_rows(columns, keys=column_keys(columns, of_rows))
    of_labels = np.zeros(int(ranks.max(initial=-1)) + 1, np.uint64)
    np.add.at(of_labels, ranks, mix64(refined))
    return mix64(refined + of_labels[ranks]), hash_of_rows(columns, ranks.astype(np.uint64))


def _order_of(
    columns: Columns, of_rows: U64, with_labels: Callable[[], tuple[U64, U64]], kinds: Bools | None = None
) -> Ints:
    """Order columns by their keys; where some tie, by keys that labels have a part in."""
    keys = column_keys(columns, of_rows)
    if kinds is not None:
        keys = mix64(keys + kinds.astype(np.uint64))
    if len(np.unique(keys)) == len(keys):
        return np.argsort(keys)
    by_rows, by_ranks = (column_keys(columns, marked) for marked in with_labels())
    return np.lexsort((by_ranks, by_rows, keys))
