"""Stratified samples of rows, by a random number for each row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, add_hashes, hash_rows, mix64, sums_of_hashes
from bayesfloor.runtime.settings import limits

Keys = NDArray[np.uint64]

#: Most values, rows times features, of the learned floor where `max_rows` is None: about ten minutes of one core.
LEARNED_VALUES = 64_000_000
#: Features that a row counts for at the least: trees and distances cost as much with fewer.
FEWEST_FEATURES = 64
#: Most rows for choices of features and transforms where `max_rows` is None: every candidate needs forests.
CHOICE_ROWS = 5_000
#: Rows that a rare class keeps in a sample, where it has so many: an AUC is then known to about .02.
RARE_ROWS = 200


def affordable_rows(n_features: int, n_values: int = LEARNED_VALUES) -> int:
    """Return how many rows the learned floor uses of its own accord, for so many values in all."""
    return max(limits().learned_rows, n_values // max(n_features, FEWEST_FEATURES))


def copy_numbers(hashes: Keys, codes: Ints) -> Keys:
    """Number the rows of one class that share a hash, from 0, so that copies are not all taken or all left out."""
    ordered = np.sort(hashes)
    if (ordered[1:] != ordered[:-1]).all():  # most tables have none
        return np.zeros(len(codes), np.uint64)
    order = np.lexsort((hashes, codes))
    is_first = np.append(True, (np.diff(codes[order]) != 0) | (hashes[order[1:]] != hashes[order[:-1]]))
    place = np.arange(len(codes))
    numbers = np.empty(len(codes), np.uint64)
    numbers[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return numbers


def stratified_rows(codes: Ints, n_rows: int | None, keys: Keys, at_least: int | Ints = 1) -> Ints:
    """Choose rows by rising key, each class in proportion to its size and with at least one row.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row.
    n_rows : int or None
        How many to choose, at least one per class; None, or more than there are, for all.
    keys : ndarray of shape (n,)
        Random numbers.
    at_least : int or ndarray of shape (n_classes,), default=1
        Rows that a class, or each of them, keeps, where it has so many, at the expense of the larger ones; no more than
        half of an equal share of the sample. `class_weights` undoes the change of shares.

    Returns
    -------
    ndarray of int64
        The rows, ascending.
    """
    if n_rows is None or n_rows >= len(codes):
        return np.arange(len(codes))
    counts = np.bincount(codes)
    quota = _in_proportion(counts, n_rows)
    kept = np.minimum(counts, np.minimum(at_least, n_rows // (2 * len(counts))))
    is_rare = np.zeros(len(counts), bool)
    while np.any(falls_short := ~is_rare & (quota < kept)):
        is_rare |= falls_short
        quota[is_rare] = kept[is_rare]
        quota[~is_rare] = _in_proportion(counts[~is_rare], n_rows - int(kept[is_rare].sum()))
    order = np.lexsort((keys, codes))
    place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[place < np.repeat(quota, counts)])


def class_weights(counts: Ints, sample: Ints) -> Floats | None:
    """Return what a row of each class counts in a sample, so that the classes have their shares of all rows again.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Rows of each class.
    sample : ndarray of shape (n_sample,)
        Class of each row that was chosen, at least one of each.

    Returns
    -------
    ndarray of shape (n_classes,) or None
        Weights whose mean over the sample is 1; None where each class has its share, as nearly as whole rows allow. The
        one row that a class keeps whose share is less than that is more than its share.
    """
    in_sample = np.bincount(sample, minlength=len(counts))
    exact = len(sample) * counts / counts.sum()
    if np.array_equal(in_sample, _in_proportion(counts, len(sample))) and exact.min() > 1.0 - 1e-9:
        return None
    return exact / in_sample


def _in_proportion(counts: Ints, n_rows: int) -> Ints:
    """Share rows out to classes in proportion to their size, at least one to each."""
    return 1 + _shared_out(n_rows - len(counts), counts - 1)


def _shared_out(total: int, sizes: Ints) -> Ints:
    """Share out a total in proportion to sizes, in whole numbers; what is left over goes to the largest remainders."""
    exact = total * sizes / max(int(sizes.sum()), 1)
    shares = np.floor(exact).astype(np.int64)
    left_over = total - int(shares.sum())
    shares[np.argsort(shares - exact, kind="stable")[:left_over]] += 1
    return shares


def keys_of_values(X: Floats, codes: Ints, seed: int) -> Keys:
    """Return a random number for each row, from its values, its class and the seed."""
    hashes = np.empty(len(X), np.uint64)
    hash_rows(X.view(np.uint64), 0, len(X), hashes)
    return keys_of_hashes(hashes, codes, seed)


def keys_of_points(X: Any, seed: int) -> Keys:
    """Return a random number for each row of a dense or CSR matrix, the same for equal rows; no stored zeros."""
    words = mix64(np.arange(1, X.shape[1] + 1, dtype=np.uint64) * GOLDEN)
    if hasattr(X, "indptr"):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        keys = sums_of_hashes(mix64(X.data.view(np.uint64) ^ words[X.indices]), rows, X.shape[0])
    else:
        keys = np.zeros(len(X), np.uint64)
        add_hashes(X.view(np.uint64), words, keys)
    return np.asarray(mix64(keys ^ mix64(np.array([seed], np.uint64))))


def keys_of_hashes(hashes: Keys, codes: Ints, seed: int, groups: Ints | None = None) -> Keys:
    """Return a random number for each row, from a hash of its values, its class, its group and the seed.

    Where a row stands does not matter, nor what groups are called, so the same rows in another order give the same
    sample. Identical rows of one class and group are numbered, so that they are not all taken or all left out.
    """
    if groups is not None:
        hashes = hashes ^ _hashes_of_groups(hashes, codes, groups)[groups]
    copy = copy_numbers(hashes, codes)
    return mix64((hashes + copy * GOLDEN) ^ mix64(np.array([seed], np.uint64) + GOLDEN))


def _hashes_of_groups(hashes: Keys, codes: Ints, groups: Ints) -> Keys:
    """Return a different number for each group, from its rows and their classes.

    A class is known by its rows, as a group is: neither needs a name. Groups with the same rows are numbered.
    """
    of_classes = mix64(sums_of_hashes(mix64(hashes), codes, int(codes.max()) + 1))
    n_groups = int(groups.max()) + 1
    of_groups = mix64(sums_of_hashes(mix64(hashes ^ of_classes[codes]), groups, n_groups))
    return mix64(of_groups + copy_numbers(of_groups, np.zeros(n_groups, np.int64)) * GOLDEN)


def halves(codes: Ints, keys: Keys) -> tuple[Ints, Ints]:
    """Cut the rows into two halves, each with half of every class."""
    order = np.lexsort((keys, codes))
    return np.sort(order[::2]), np.sort(order[1::2])
