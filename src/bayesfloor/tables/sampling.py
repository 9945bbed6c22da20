"""Some of the rows of a file in place of all: as large a share of each class, whatever the order of the rows."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.sampling import copy_numbers, stratified_rows
from bayesfloor.runtime.hashing import GOLDEN, mix64
from bayesfloor.tables.columns import NumberColumn, RawTable, TextColumn

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


def stratified_sample(table: RawTable, codes: Ints, n_rows: int, seed: int) -> Ints:
    """Choose rows, each class in proportion to its size and with at least one row.

    Parameters
    ----------
    table : RawTable
        The rows; which are chosen depends on their values, not on where they stand.
    codes : ndarray of shape (n,)
        Class of each row.
    n_rows : int
        How many to choose, at least one per class.
    seed : int
        Another seed, another choice.

    Returns
    -------
    ndarray of int64
        The rows, ascending.
    """
    return stratified_rows(codes, n_rows, _row_keys(table, codes, seed))


def _row_keys(table: RawTable, codes: Ints, seed: int) -> Keys:
    """Return a random number for each row, from its values and the seed; copies of a row get different ones."""
    hashes = np.zeros(len(codes), np.uint64)
    for column in table.columns:
        if isinstance(column, NumberColumn):
            values = np.where(np.isnan(column.values), np.nan, column.values + 0.0).view(np.uint64)
        elif isinstance(column, TextColumn):
            texts = [*column.categories, "\0missing"]
            values = np.array([_text_hash(text) for text in texts], np.uint64)[column.codes]
        else:
            continue
        hashes = mix64(hashes + GOLDEN ^ values)
    copy = copy_numbers(hashes, codes)
    return mix64(hashes + copy * GOLDEN ^ mix64(np.array([seed], np.uint64) + GOLDEN))


def _text_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
