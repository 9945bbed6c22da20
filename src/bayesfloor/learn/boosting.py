"""Gradient boosting over histograms, of categories as codes and gaps as gaps, for classes and numbers."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayesfloor.learn.boosting_kernels import MOST_OF_CATEGORY, MOST_SEEN, boost
from bayesfloor.learn.training_rows import Train, encoded, quantiles_of
from bayesfloor.runtime.arrays import Bools, Floats

#: Fewest and most rows that bound the work, and rows of all trees together; a tree is grown to 8191 rows, drawn at
#: random.
FEWEST_ROWS, MOST_ROWS, ROWS_OF_TREES = 5000, 50_000, 40_000_000
#: Rounds of numbers. Of classes: at the least, and at the most with few rows and with many; in between, so many trees
#: of all classes together, or so many for each row.
NUMBER_ROUNDS = 100
FEWEST_ROUNDS, MOST_OF_FEW, MOST_OF_MANY, N_TREES, TREES_PER_ROW = 20, 55, 100, 160, 0.033
#: Rows at which they are many.
MANY_ROWS = 10_000
#: Rounds between two checks for cancellation.
ROUNDS_AT_ONCE = 5
#: Minimum and maximum number of leaves of a tree; in between, one for so many rows.
FEWEST_LEAVES, MOST_LEAVES, ROWS_OF_LEAF = 15, 63, 130
#: Share of each step that is taken, for classes and for numbers, and its ridge penalty.
RATE, NUMBER_RATE, RIDGE = 0.15, 0.1, 1.0
#: Most columns drawn for each tree.
MOST_COLUMNS = 30
#: Bins of a number, of about equal numbers of rows, beside that of gaps: at the least, at the most, and rows of a bin.
FEWEST_BINS, MOST_BINS, ROWS_OF_BIN = 62, 254, 48
#: Most values of a category that is taken as one: unknown values have a bin of their own.
MOST_LEVELS = MOST_OF_CATEGORY - 1


def boosting(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return gradient boosting over histograms, held back where rows are few."""
    if not train.wants("boosting"):
        return {}
    n, n_scores, n_rounds, rate = len(train.X), 1, NUMBER_ROUNDS, NUMBER_RATE
    if train.n_classes:
        n_scores = train.n_classes if train.n_classes > 2 else 1
        most = max(MOST_OF_FEW, min(MOST_OF_MANY * n // MANY_ROWS, MOST_OF_MANY))
        n_rounds = max(FEWEST_ROUNDS, min(most, int(max(N_TREES, TREES_PER_ROW * n)) // n_scores))
        rate = RATE
    train = train.first(max(FEWEST_ROWS, min(ROWS_OF_TREES // (n_rounds * n_scores), MOST_ROWS)))
    known, others, is_category = columns_to_boost(train, test)
    n, d = known.shape
    bins = np.vstack([bins_of(known[:, j], others[:, j], bool(is_category[j])) for j in range(d)])
    start = np.zeros(1)
    if train.n_classes:
        log_prior = np.log(train.prior)
        start = log_prior if n_scores > 1 else log_prior[1:] - log_prior[:1]
    scores = np.tile(start, (bins.shape[1], 1))
    sizes = min(20, max(3, n // 50)), min(d, MOST_COLUMNS), min(n, MOST_SEEN)
    state = np.array([seed], np.uint64), np.arange(d)
    of_columns = bins, 1 + bins.max(axis=1).astype(np.int64), is_category
    of_rows = train.y.astype(np.float64), train.weights, train.n_classes
    n_leaves = max(FEWEST_LEAVES, min(n // ROWS_OF_LEAF, MOST_LEAVES))
    for first in range(0, n_rounds, ROUNDS_AT_ONCE):
        train.check()
        n_now = min(ROUNDS_AT_ONCE, n_rounds - first)
        boost(*of_columns, *of_rows, n_now, n_leaves, rate, RIDGE, *sizes, *state, scores)
    found = scores[n:]
    if train.n_classes:
        found = softmax(found, axis=1) if n_scores > 1 else expit(np.column_stack([-found, found]))
    return {"boosting": train.within(found, 0.0)}


def columns_to_boost(train: Train, test: Floats) -> tuple[Floats, Floats, Bools]:
    """Return what boosting is given: codes of categories, or the mean targets in those of many values.

    Parameters
    ----------
    train : Train
        Rows with targets.
    test : ndarray of shape (n_test, d)
        Rows to predict.

    Returns
    -------
    train, test : ndarray of shape (n, n_columns)
    is_category : ndarray of shape (n_columns,)
    """
    table = train.table
    if table is None:
        return train.X, test, np.zeros(test.shape[1], bool)
    pieces, is_category = [], []
    for column in range(table.train.shape[1]):
        known, others = (side[:, column, np.newaxis] for side in (table.train, table.test))
        if not np.isfinite(known).any():
            continue  # an empty column
        is_coded = bool(table.is_category[column])
        if is_coded and max(np.nanmax(known), np.nanmax(others, initial=0.0)) >= MOST_LEVELS:
            known, others = encoded(table, column, train)
            is_coded = False
        pieces.append((known, others))
        is_category += known.shape[1] * [is_coded]
    if not pieces:
        return train.X, test, np.zeros(test.shape[1], bool)
    known, others = (np.hstack(side) for side in zip(*pieces, strict=True))
    return known, others, np.array(is_category)


def bins_of(known: Floats, others: Floats, is_category: bool) -> NDArray[np.uint8]:
    """Put the values of a column into bins: categories by code, numbers by quantiles with gaps below."""
    values = np.concatenate([known, others])
    is_gap = np.isnan(values)
    if is_category:
        return np.where(is_gap | (values >= MOST_LEVELS), MOST_LEVELS, values).astype(np.uint8)
    present = known[~is_gap[: len(known)]]
    low, high = present.min(initial=np.inf), present.max(initial=-np.inf)
    if np.all((present == low) | (present == high)):  # which need no sorting
        return np.where(is_gap, 0, 1 + (values >= high if low < high else 0)).astype(np.uint8)
    n_bins = max(FEWEST_BINS, min(len(known) // ROWS_OF_BIN, MOST_BINS))
    ordered = np.sort(present)
    cuts = np.unique(ordered)[1:]
    if len(cuts) >= n_bins:
        cuts = np.unique(quantiles_of(ordered, n_bins))
    return np.where(is_gap, 0, 1 + np.searchsorted(cuts, values, side="right")).astype(np.uint8)
