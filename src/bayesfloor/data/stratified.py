"""Rows chosen class by class, by random numbers of their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


def copy_numbers(hashes: Keys, codes: Ints) -> Keys:
    """Number the rows of one class that share a hash, from 0, so that copies are not all taken or all left out."""
    order = np.lexsort((hashes, codes))
    is_first = np.append(True, (np.diff(codes[order]) != 0) | (hashes[order[1:]] != hashes[order[:-1]]))
    place = np.arange(len(codes))
    numbers = np.empty(len(codes), np.uint64)
    numbers[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return numbers


def stratified_rows(codes: Ints, n_rows: int | None, keys: Keys) -> Ints:
    """Choose rows by rising key, each class in proportion to its size and with at least one row.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    n_rows : int or None
        How many to choose, at least one per class; None, or more than there are, for all.
    keys : ndarray of shape (n,)
        Random numbers.

    Returns
    -------
    ndarray of int64
        The rows, ascending.
    """
    if n_rows is None or n_rows >= len(codes):
        return np.arange(len(codes))
    counts = np.bincount(codes)
    quota = 1 + _shared_out(n_rows - len(counts), counts - 1)
    order = np.lexsort((keys, codes))
    place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[place < np.repeat(quota, counts)])


def stratified_folds(codes: Ints, n_folds: int, keys: NDArray[Any]) -> Ints:
    """Deal the rows of each class out to the folds, by rising key.

    Where one class stops the next goes on, so folds differ by at most one row in all and in each class. There are never
    more folds than rows.
    """
    order = np.lexsort((keys, codes))
    folds = np.empty(len(codes), np.int64)
    folds[order] = np.arange(len(codes)) % min(n_folds, len(codes))
    return folds


def _shared_out(total: int, sizes: Ints) -> Ints:
    """Share out a total in proportion to sizes, in whole numbers; what is left over goes to the largest remainders."""
    exact = total * sizes / max(int(sizes.sum()), 1)
    shares = np.floor(exact).astype(np.int64)
    left_over = total - int(shares.sum())
    shares[np.argsort(shares - exact, kind="stable")[:left_over]] += 1
    return shares
