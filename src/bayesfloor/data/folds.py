"""Which rows are held out together in a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import ParameterError, check_int, is_int
from bayesfloor.runtime.hashing import hash_rows, mix64

U64 = NDArray[np.uint64]

_EACH_ROW_ONCE = "a splitter that tests each row once and trains on all rows that it does not test"


def stratified_folds(codes: Ints, n_folds: int, keys: NDArray[Any]) -> Ints:
    """Deal the rows of each class out to the folds, by rising key.

    Each class continues where the one before stopped, so folds differ by at most one row in all and in each class.
    There are never more folds than rows.
    """
    order = np.lexsort((keys, codes))
    folds = np.empty(len(codes), np.int64)
    folds[order] = np.arange(len(codes)) % min(n_folds, len(codes))
    return folds


def check_folds(cv: Any, codes: Ints, keys: U64, given_codes: Ints, rows: Ints) -> Ints:
    """Return the fold of each row that is used, counted from 0.

    A splitter divides all rows that the caller has given, as its indices count them; rows that are not used, such as
    those of weight zero, then leave their folds, and a fold without rows is none.

    Parameters
    ----------
    cv : int, splitter or iterable
        A number of folds, or anything that scikit-learn splits by, so long as each row is tested once.
    codes : ndarray of shape (n,)
        Class of each row that is used.
    keys : ndarray of shape (n,)
        Random numbers by which a number of folds is dealt out, see `fold_keys`.
    given_codes : ndarray of shape (n_given,)
        Class of each row that the caller has given.
    rows : ndarray of shape (n,)
        Which of these are used.

    Returns
    -------
    ndarray of shape (n,)
    """
    if is_int(cv):
        return stratified_folds(codes, check_int("cv", cv, 2), keys)
    from sklearn.model_selection import check_cv  # loads all of scikit-learn

    folds = np.full(len(given_codes), -1)
    splits = check_cv(cv, given_codes, classifier=True).split(np.zeros((len(given_codes), 1)), given_codes)
    for number, (train, test) in enumerate(splits):
        if np.any(folds[test] >= 0) or len(train) + len(test) != len(given_codes):
            raise ParameterError("cv", _EACH_ROW_ONCE, cv)
        folds[test] = number
    if np.any(folds < 0):
        raise ParameterError("cv", _EACH_ROW_ONCE, cv)
    numbers, folds = np.unique(folds[rows], return_inverse=True)
    if len(numbers) < 2:
        raise ParameterError("cv", "a splitter that leaves rows of a weight above zero in at least two folds", cv)
    return folds


def fold_keys(X: Any, seed: int) -> U64:
    """Return a random number for each row that depends on its values and the seed, not on where the row stands."""
    n = X.shape[0]
    if sparse.issparse(X):
        entries = mix64(X.data.view(np.uint64) ^ mix64(X.indices.astype(np.uint64)))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        hashes = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    else:
        hashes = np.empty(n, np.uint64)
        hash_rows(X.view(np.uint64), 0, n, hashes)
    return mix64(hashes ^ mix64(np.array([seed], np.uint64)))
