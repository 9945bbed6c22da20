"""Which rows are held out together in a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import check_cv

from bayesfloor.classify.training import Training
from bayesfloor.data.stratified import stratified_folds
from bayesfloor.forest.hashing import hash_rows, mix64

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]


def check_folds(cv: Any, training: Training, keys: U64) -> I64:
    """Return the fold of each row of a training set, counted from 0.

    A splitter divides all rows that the caller has given, as its indices count them; rows of weight zero then leave
    their folds, and a fold without rows is none.

    Parameters
    ----------
    cv : int, splitter or iterable
        A number of folds, or anything that scikit-learn splits by, so long as each row is tested once.
    training : Training
        The rows.
    keys : ndarray of shape (n,)
        Random numbers by which a number of folds is dealt out, see `fold_keys`.

    Returns
    -------
    ndarray of shape (n,)
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"The 'cv' parameter must be an int in the range [2, inf). Got {cv} instead.")
        return stratified_folds(training.codes, int(cv), keys)
    codes = training.given_codes
    folds = np.full(len(codes), -1)
    splits = check_cv(cv, codes, classifier=True).split(np.zeros((len(codes), 1)), codes)
    for number, (train, test) in enumerate(splits):
        if np.any(folds[test] >= 0) or len(train) + len(test) != len(codes):
            raise ValueError("The 'cv' parameter must test each row once and train on all rows that it does not test.")
        folds[test] = number
    if np.any(folds < 0):
        raise ValueError("The 'cv' parameter must test each row once and train on all rows that it does not test.")
    numbers, folds = np.unique(folds[training.rows], return_inverse=True)
    if len(numbers) < 2:
        raise ValueError("The 'cv' parameter must leave rows of a weight above zero in at least two folds.")
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
    return mix64(hashes ^ mix64(np.uint64(seed)))
