"""Learners that take categories as codes and gaps as gaps: boosting, and trees of shares."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayesfloor.data.target_encoding import N_FOLDS, class_shares, classes_to_encode, out_of_fold_shares
from bayesfloor.floor.learned.boosting_kernels import MOST_OF_CATEGORY, MOST_SEEN, boost
from bayesfloor.floor.learned.local_learners import grow_ensemble
from bayesfloor.floor.learned.training_rows import Codes, Train, quantiles_of
from bayesfloor.runtime.arrays import Floats, Ints

#: Rounds of boosting, at the least and at the most; trees of all classes together, which lie between: so many, or so
#: many for each row.
FEWEST_ROUNDS, MOST_ROUNDS, N_BOOSTED, BOOSTED_PER_ROW = 30, 80, 240, 0.05
#: Rounds between two checks for cancellation.
ROUNDS_AT_ONCE = 5
#: Leaves of a tree, at the least and at the most, and rows for each of them, which lie between.
FEWEST_LEAVES, MOST_LEAVES, ROWS_OF_LEAF = 15, 31, 130
#: Share of each step that is taken, and its ridge penalty. Larger steps diverge on few rows.
RATE, RIDGE = 0.1, 1.0
#: Most columns drawn for each tree.
MOST_COLUMNS = 30
#: Bins of a number, of about equal numbers of rows, beside that of gaps; the same of many rows, and how many these are.
FEW_BINS, MANY_BINS, MANY_ROWS = 62, 254, 2000
#: Most values of a category that boosting takes as one: unknown values have a bin of their own.
MOST_LEVELS = MOST_OF_CATEGORY - 1
#: Randomised trees, and fewest rows in a leaf.
N_TREES, MIN_LEAF = 100, 2


def boosting(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return gradient boosting over histograms, held back where rows are few."""
    table = Codes(train.X, test, np.zeros(train.X.shape[1], bool)) if train.table is None else train.table
    known, others, is_category = _few_levels(train, table)
    n, d = known.shape
    bins = np.vstack([bins_of(known[:, j], others[:, j], bool(is_category[j])) for j in range(d)])
    n_scores = train.n_classes if train.n_classes > 2 else 1
    log_prior = np.log(train.prior)
    scores = np.tile(log_prior if n_scores > 1 else log_prior[1:] - log_prior[:1], (bins.shape[1], 1))
    n_tried = min(d, MOST_COLUMNS)
    sizes = min(20, max(3, n // 50)), n_tried, min(n, MOST_SEEN)
    state = np.array([seed], np.uint64), np.arange(d)
    known_of_columns = bins, 1 + bins.max(axis=1).astype(np.int64), is_category, train.codes
    n_leaves = n_leaves_of(n)
    n_trees = int(max(N_BOOSTED, BOOSTED_PER_ROW * n))
    for _ in range(max(FEWEST_ROUNDS, min(MOST_ROUNDS, n_trees // n_scores)) // ROUNDS_AT_ONCE):
        train.check()
        boost(*known_of_columns, ROUNDS_AT_ONCE, n_leaves, RATE, RIDGE, *sizes, *state, scores)
    found = scores[n:]
    return {"boosting": softmax(found, axis=1) if n_scores > 1 else expit(np.column_stack([-found, found]))}


def n_leaves_of(n: int) -> int:
    """Return the leaves of a tree that is boosted on n rows."""
    return max(FEWEST_LEAVES, min(n // ROWS_OF_LEAF, MOST_LEAVES))


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
    n_bins = FEW_BINS if len(known) < MANY_ROWS else MANY_BINS
    ordered = np.sort(present)
    cuts = np.unique(ordered)[1:]
    if len(cuts) >= n_bins:
        cuts = np.unique(quantiles_of(ordered, n_bins))
    return np.where(is_gap, 0, 1 + np.searchsorted(cuts, values, side="right")).astype(np.uint8)


def _few_levels(train: Train, table: Codes) -> tuple[Floats, Floats, np.ndarray]:
    """Replace categories with more values than boosting takes by the shares of the classes in them."""
    largest = np.nanmax(np.vstack([table.train, np.zeros(table.train.shape[1])]), axis=0)
    is_wide = table.is_category & (largest >= MOST_LEVELS)
    if not is_wide.any():
        return table.train, table.test, table.is_category
    pieces = [(table.train[:, ~is_wide], table.test[:, ~is_wide])]
    pieces += [shares_of(table, int(column), train) for column in np.flatnonzero(is_wide)]
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    is_category = np.zeros(known.shape[1], bool)
    is_category[: int((~is_wide).sum())] = table.is_category[~is_wide]
    return known, others, is_category


def trees_of_shares(train: Train, table: Codes, seed: int) -> Floats:
    """Return extremely randomised trees; gaps lie below all numbers."""
    pieces = []
    for column in range(table.train.shape[1]):
        if table.is_category[column]:
            pieces.append(shares_of(table, column, train))
        else:
            pieces.append(_with_gaps_below(table.train[:, column], table.test[:, column]))
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    return grow_ensemble(train._replace(X=known), others, seed, N_TREES, MIN_LEAF).deep


def _with_gaps_below(known: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Return standardised numbers, and for gaps one that lies below all of them."""
    values = known[~np.isnan(known)]
    if not len(values):
        return np.zeros(len(known)), np.zeros(len(others))
    low, high = float(values.min()), float(values.max())
    width = high - low if high > low else 1.0
    return tuple(np.where(np.isnan(side), -1.0, (side - low) / width) for side in (known, others))  # type: ignore[return-value]


def shares_of(table: Codes, column: int, train: Train, classes: Ints | None = None) -> tuple[Floats, Floats]:
    """Return the shares of the classes in a category, for training rows from other training rows.

    Parameters
    ----------
    table : Codes
        The columns as codes.
    column : int
        Which of them.
    train : Train
        The training rows; their order is random.
    classes : ndarray or None
        The classes whose shares are taken; None for the largest.

    Returns
    -------
    train, test : ndarray of shape (n, n_classes)
    """
    levels, others = (_levels(side[:, column]) for side in (table.train, table.test))
    n_levels = 1 + max(int(levels.max(initial=0)), int(others.max(initial=0)))
    used = classes_to_encode(train.codes, train.n_classes) if classes is None else classes
    folds = np.arange(len(levels)) % N_FOLDS
    known = out_of_fold_shares(levels, train.codes, n_levels, train.n_classes, used, folds)
    shares = class_shares(levels, train.codes, n_levels, train.n_classes, used)
    seen = np.bincount(levels + 1, minlength=n_levels + 1)[1:] > 0
    place = np.where(others < 0, n_levels, others)
    place = np.where((others >= 0) & ~np.append(seen, True)[place], n_levels + 1, place)
    return known, shares[place]


def _levels(values: Floats) -> Ints:
    return np.where(np.isnan(values), -1.0, values).astype(np.int64)
