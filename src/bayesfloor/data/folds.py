"""Which rows are held out together in a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_int, is_int
from bayesfloor.runtime.hash_kernels import hash_rows, mix64, sums_of_hashes

U64 = NDArray[np.uint64]

_EACH_ROW_ONCE = (
    "a splitter that tests each row once and trains on all rows that it does not test; for rows in an order of time "
    "there is learned_floor(time=...)"
)


def stratified_folds(codes: Ints, n_folds: int, keys: NDArray[Any]) -> Ints:
    """Deal the rows of each class out to the folds, by rising key.

    Each class continues where the one before stopped, so folds differ by at most one row in all and in each class.
    There are never more folds than rows.
    """
    order = np.lexsort((keys, codes))
    folds = np.empty(len(codes), np.int64)
    folds[order] = np.arange(len(codes)) % min(n_folds, len(codes))
    return folds


def grouped_folds(codes: Ints, groups: Ints, n_folds: int, keys: U64, *, spread_classes: bool = False) -> Ints:
    """Deal whole groups out to the folds, as even in rows as large groups allow.

    The largest group comes first, and each goes to the fold that has the fewest rows so far. A class in no more groups
    than there are folds is spread over them too: with c_k of the n_k rows of such a class in the group, and r_fk in
    fold f already, the fold is that with the smallest Σ_k c_k r_fk / n_k + c r_f / n. This adds least to the squared
    distances from even shares.

    Other classes are left to chance. How frequent a class is differs between groups, and folds of the same class shares
    would hide from a model that those of new groups are others: with 15 groups whose labels lean one way or the other,
    the error came out .008 too low, and without bias where only rows are even.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    groups : ndarray of shape (n,)
        Group of each row.
    n_folds : int
        How many folds; never more than there are groups.
    keys : ndarray of shape (n,)
        A random number for each row. Among groups of one size their sums decide, so what the groups are called does
        not matter, nor where the rows stand.
    spread_classes : bool, default=False
        Spread all classes, not only those in few groups.

    Returns
    -------
    ndarray of shape (n,)
    """
    _, groups = np.unique(groups, return_inverse=True)
    n_groups, n_classes = int(groups.max()) + 1, int(codes.max()) + 1
    counts = np.bincount(groups * n_classes + codes, minlength=n_groups * n_classes).reshape(n_groups, n_classes)
    of_groups = sums_of_hashes(mix64(keys ^ mix64(codes.astype(np.uint64))), groups, n_groups)
    size = counts.sum(axis=1)
    if not spread_classes:
        counts = counts[:, np.count_nonzero(counts, axis=0) <= n_folds]
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    in_fold = np.zeros((min(n_folds, n_groups), counts.shape[1]))  # shares of the classes to spread
    rows_in_fold = [0] * len(in_fold)
    has_any, sizes = (counts.sum(axis=1) > 0).tolist(), size.tolist()
    fold_of = np.empty(n_groups, np.int64)
    for group in np.lexsort((of_groups, -size)).tolist():
        fold = rows_in_fold.index(min(rows_in_fold))
        if has_any[group]:
            even_rows = sizes[group] / len(codes) * np.array(rows_in_fold)
            fold = int(np.argmin(in_fold @ counts[group] + even_rows))
            in_fold[fold] += shares[group]
        rows_in_fold[fold] += sizes[group]
        fold_of[group] = fold
    return fold_of[groups]


def time_blocks(time: Floats, n_blocks: int) -> Ints:
    """Cut rows into blocks that follow each other in time, as equal in rows as equal times allow.

    Rows of the same time are in the same block: the one in which the middle of them falls. Where many share a time,
    some blocks stay empty.

    Parameters
    ----------
    time : ndarray of shape (n,)
        When each row was seen.
    n_blocks : int
        How many blocks.

    Returns
    -------
    ndarray of shape (n,)
        Blocks from 0, the earliest.
    """
    _, moment, counts = np.unique(time, return_inverse=True, return_counts=True)
    twice_the_middle = 2 * np.cumsum(counts) - counts
    return (twice_the_middle * n_blocks // (2 * len(time)))[moment]


def check_folds(
    cv: Any, codes: Ints, keys: U64, given_codes: Ints, rows: Ints, given_groups: Ints | None = None
) -> Ints:
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
    given_groups : ndarray of shape (n_given,) or None, default=None
        Group of each row that the caller has given. No group is then in two folds.

    Returns
    -------
    ndarray of shape (n,)
    """
    if is_int(cv):
        n_folds = check_int("cv", cv, 2)
        if given_groups is None:
            return stratified_folds(codes, n_folds, keys)
        return grouped_folds(codes, given_groups[rows], n_folds, keys)
    from sklearn.model_selection import check_cv  # loads all of scikit-learn

    folds = np.full(len(given_codes), -1)
    with_groups = () if given_groups is None else (given_groups,)
    splitter = check_cv(cv, given_codes, classifier=True)
    splits = splitter.split(np.zeros((len(given_codes), 1)), given_codes, *with_groups)
    for number, (train, test) in enumerate(splits):
        if np.any(folds[test] >= 0) or len(train) + len(test) != len(given_codes):
            raise ParameterError("cv", _EACH_ROW_ONCE, cv)
        folds[test] = number
    if np.any(folds < 0):
        raise ParameterError("cv", _EACH_ROW_ONCE, cv)
    if given_groups is not None:
        first = np.empty(int(given_groups.max()) + 1, np.int64)
        first[given_groups] = folds
        n_torn = len(np.unique(given_groups[first[given_groups] != folds]))
        if n_torn:
            expected = "an int, or a splitter that keeps the rows of a group together, such as GroupKFold"
            raise ParameterError("cv", f"{expected} ({n_torn} groups are on both sides of a split)", cv)
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
