"""Gradient boosting over histograms, of categories as codes and gaps as gaps, for classes and numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayesfloor.learn.boosting_kernels import MOST_OF_CATEGORY, MOST_SEEN, add_kept_trees, boost
from bayesfloor.learn.later import Later, beside, of_rows
from bayesfloor.learn.training_rows import Train, distinct, encoded, quantiles_of
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


class Pace(NamedTuple):
    """How much time boosting for classes takes.

    Attributes
    ----------
    most_leaves : int
        Maximum number of leaves of a tree.
    rate : float
        Share of each step that is taken, where rows are many.
    rounds : float
        Share of the rounds, there.
    most_rows : int
        Rows at the most.
    """

    most_leaves: int
    rate: float
    rounds: float
    most_rows: int


STEADY, BRISK = Pace(MOST_LEAVES, RATE, 1.0, MOST_ROWS), Pace(31, 0.25, 0.5, 16_000)


def boosting(train: Train, test: Floats, seed: int, *, pace: Pace = STEADY) -> dict[str, Floats]:
    """Return gradient boosting over histograms, held back where rows are few."""
    if not train.wants("boosting"):
        return {}
    n, n_scores, n_rounds, rate = len(train.X), 1, NUMBER_ROUNDS, NUMBER_RATE
    if train.n_classes:
        n_scores = train.n_classes if train.n_classes > 2 else 1
        most = max(MOST_OF_FEW, min(MOST_OF_MANY * n // MANY_ROWS, MOST_OF_MANY))
        wanted = min(most, int(max(N_TREES, TREES_PER_ROW * n)) // n_scores)
        pace = pace if n >= MANY_ROWS else STEADY._replace(most_leaves=pace.most_leaves)
        n_rounds, rate = max(FEWEST_ROUNDS, int(pace.rounds * wanted)), pace.rate
    train = train.first(max(FEWEST_ROWS, min(ROWS_OF_TREES // (n_rounds * n_scores), pace.most_rows)))
    known, others, is_category = columns_to_boost(train, test)
    n, d = known.shape
    is_kept = isinstance(others, Later)
    cuts = tuple(cuts_of(known[:, j], bool(is_category[j])) for j in range(d))
    bins = bins_by(known, cuts, is_category)
    if not is_kept:
        bins = np.hstack([bins, bins_by(others, cuts, is_category)])
    start = np.zeros(1)
    if train.n_classes:
        log_prior = np.log(train.prior)
        start = log_prior if n_scores > 1 else log_prior[1:] - log_prior[:1]
    scores = np.tile(start, (bins.shape[1], 1))
    sizes = min(20, max(3, n // 50)), min(d, MOST_COLUMNS), min(n, MOST_SEEN)
    state = np.array([seed], np.uint64), np.arange(d)
    of_columns = bins, 1 + bins.max(axis=1).astype(np.int64), is_category
    of_targets = train.y.astype(np.float64), train.weights, train.n_classes
    n_leaves = max(FEWEST_LEAVES, min(n // ROWS_OF_LEAF, pace.most_leaves))
    kept = _places_for(n_rounds if is_kept else 0, n_scores, n_leaves)
    for first in range(0, n_rounds, ROUNDS_AT_ONCE):
        train.check()
        n_now = min(ROUNDS_AT_ONCE, n_rounds - first)
        now = [each[first : first + n_now] for each in kept]
        boost(*of_columns, *of_targets, n_now, n_leaves, rate, RIDGE, *sizes, *state, scores, *now)
    found = scores_by(bins_by(others, cuts, is_category), is_category, start, *kept) if is_kept else scores[n:]
    return {"boosting": train.within(shares_of(found) if train.n_classes else found, 0.0)}


def _places_for(n_rounds: int, n_scores: int, n_leaves: int) -> tuple[NDArray[Any], ...]:
    """Return where trees are kept: columns, bins to the left, children and values of their nodes."""
    shape = n_rounds, n_scores, 2 * n_leaves
    return np.full(shape, -1), np.zeros(shape, np.uint64), np.zeros(shape, np.int64), np.zeros(shape)


@of_rows
def scores_by(bins: NDArray[np.uint8], is_category: Bools, start: Floats, *trees: NDArray[Any]) -> Floats:
    """Return what trees that were kept add up to."""
    if len(bins) != len(is_category):
        raise ValueError(f"trees of {len(is_category)} columns are given {len(bins)}")
    scores = np.tile(start, (bins.shape[1], 1))
    add_kept_trees(bins, is_category, *trees, scores)
    return scores


@of_rows
def shares_of(scores: Floats) -> Floats:
    """Return probabilities, from a score for each class, or from the log-odds of the second of two."""
    if scores.shape[1] > 1:
        return np.asarray(softmax(scores, axis=1))
    return np.asarray(expit(np.column_stack([-scores, scores])))


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
        return train.X, test, np.zeros(train.X.shape[1], bool)
    pieces, is_category = [], []
    for column in range(table.train.shape[1]):
        known, others = (side[:, [column]] for side in (table.train, table.test))
        if not np.isfinite(known).any():
            continue  # an empty column
        is_coded = bool(table.is_category[column])
        if is_coded and np.nanmax(known) >= MOST_LEVELS:
            known, others = encoded(table, column, train)
            is_coded = False
        pieces.append((known, others))
        is_category += known.shape[1] * [is_coded]
    if not pieces:
        return train.X, test, np.zeros(train.X.shape[1], bool)
    known, others = (beside(*side) for side in zip(*pieces, strict=True))
    return known, others, np.array(is_category)


def cuts_of(known: Floats, is_category: bool) -> Floats:
    """Return where a column of numbers is cut into bins; nowhere where it holds codes."""
    present = known[~np.isnan(known)]
    low, high = present.min(initial=np.inf), present.max(initial=-np.inf)
    if is_category or not low < high:
        return np.empty(0)
    if np.all((present == low) | (present == high)):  # which need no sorting
        return np.array([high])
    n_bins = max(FEWEST_BINS, min(len(known) // ROWS_OF_BIN, MOST_BINS))
    ordered = np.sort(present)
    cuts = distinct(ordered)[1:]
    return distinct(quantiles_of(ordered, n_bins)) if len(cuts) >= n_bins else cuts


@of_rows
def bins_by(rows: Floats, cuts: tuple[Floats, ...], is_category: Bools) -> NDArray[np.uint8]:
    """Return the bin of each value, column by column: categories by code, numbers by quantiles with gaps below."""
    if not rows.shape[1] == len(cuts) == len(is_category):
        raise ValueError(f"{len(cuts)} columns are cut into bins, and {rows.shape[1]} are given")
    bins = np.empty(rows.shape[::-1], np.uint8)
    for j, of_column in enumerate(cuts):
        values = rows[:, j]
        is_gap = np.isnan(values)
        if is_category[j]:
            bins[j] = np.where(is_gap | (values >= MOST_LEVELS), MOST_LEVELS, values).astype(np.uint8)
        else:
            bins[j] = np.where(is_gap, 0, 1 + np.searchsorted(of_column, values, side="right")).astype(np.uint8)
    return bins
