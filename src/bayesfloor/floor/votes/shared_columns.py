"""Classes that never stand beside each other at a row may share a column of the model of votes.

The model has a probability for each hidden class and each label: its time and memory grow with the square of their
number. What it is for is how votes at a row differ, and that stays as it is where classes share a column that no row
has votes for both of. Such columns are the colours of a graph in which classes are joined that meet at some row.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from bayesfloor.floor.votes.vote_table import VoteTable
from bayesfloor.runtime.arrays import Ints

#: Maximum number of classes that have a column each; a fit of that size takes about a second.
MOST_COLUMNS = 32


def with_shared_columns(table: VoteTable) -> VoteTable:
    """Return votes in which many classes share few columns.

    Rows agree exactly as before. There are more columns than `MOST_COLUMNS` only where so many classes meet each other.

    Parameters
    ----------
    table : VoteTable
        Votes.

    Returns
    -------
    VoteTable
        The same votes. Its classes are numbers of columns.
    """
    if len(table.classes) <= MOST_COLUMNS:
        return table
    column = _columns_of(table)
    return replace(table, label=column[table.label], classes=np.arange(int(column.max()) + 1))


def _columns_of(table: VoteTable) -> Ints:
    """Give each class the column with the fewest votes that no class which it meets has; the commonest first."""
    n_classes = len(table.classes)
    shape = (table.n_samples, n_classes)
    named = sparse.csr_array((np.ones(len(table.row)), (table.row, table.label)), shape=shape)
    named.data[:] = 1.0
    meets = (named.T @ named).tocsr()
    n_votes = np.bincount(table.label, minlength=n_classes)
    column = np.full(n_classes, -1)
    held = np.zeros(MOST_COLUMNS, np.int64)
    for code in np.argsort(-n_votes, kind="stable").tolist():
        of_others = column[meets.indices[meets.indptr[code] : meets.indptr[code + 1]]]
        is_free = np.ones(len(held), bool)
        is_free[of_others[of_others >= 0]] = False
        if is_free.any():
            column[code] = np.where(is_free, held, np.iinfo(np.int64).max).argmin()
        else:
            column[code] = len(held)
            held = np.append(held, 0)
        held[column[code]] += n_votes[code]
    return column
