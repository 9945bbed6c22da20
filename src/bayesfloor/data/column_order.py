"""An order of columns that depends on their values alone: not on where they stand, nor on the order of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, add_hashes, mix64, sums_of_hashes

U64 = NDArray[np.uint64]

#: Rounds in which hashes of columns may still tell more of them apart, at the most.
MOST_ROUNDS = 4


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
