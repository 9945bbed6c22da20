"""Some of the rows in place of all: as large a share of each class, chosen by a seed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.mixing import GOLDEN
from bayesfloor.data.stratified import copy_numbers, stratified_rows
from bayesfloor.forest.hashing import hash_rows, mix64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

__all__ = ["check_max_rows", "halves", "keys_of_values", "stratified_rows"]


def check_max_rows(max_rows: Any, n_classes: int) -> int | None:
    """Return the largest number of rows to use, or None for all."""
    if max_rows is None:
        return None
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer):
        raise TypeError(f"The 'max_rows' parameter must be an int or None. Got {max_rows!r} instead.")
    if max_rows < 2 * n_classes:
        raise ValueError(f"max_rows={max_rows} is less than two rows for each of the {n_classes} classes.")
    return int(max_rows)


def keys_of_values(X: Floats, codes: Ints, seed: int) -> Keys:
    """Return a random number for each row, from its values, its class and the seed.

    Where a row stands does not matter, so the same rows in another order give the same sample. Identical rows of one
    class are numbered, so that they are not all taken or all left out.
    """
    hashes = np.empty(len(X), np.uint64)
    hash_rows(X.view(np.uint64), 0, len(X), hashes)
    copy = copy_numbers(hashes, codes)
    return mix64((hashes + copy * GOLDEN) ^ mix64(np.uint64(seed) + GOLDEN))


def halves(codes: Ints, keys: Keys) -> tuple[Ints, Ints]:
    """Cut the rows into two halves, each with half of every class."""
    order = np.lexsort((keys, codes))
    return np.sort(order[::2]), np.sort(order[1::2])
