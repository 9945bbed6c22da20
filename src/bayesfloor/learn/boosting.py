"""Gradient boosting over histograms, of categories as codes and gaps as gaps, for classes and numbers.

Our own is fast where rows are few; above that scikit-learn's is.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from threadpoolctl import ThreadpoolController

from bayesfloor.learn.boosting_kernels import MOST_OF_CATEGORY, MOST_SEEN, boost
from bayesfloor.learn.training_rows import Train, encoded, quantiles_of
from bayesfloor.runtime.arrays import Bools, Floats

#: Rows up to which boosting is our own, whose trees see 8191 rows at the most.
OWN_BOOSTING = 10_000
#: Rounds of our own boosting of numbers. Of classes: at the least and at the most; in between, so many trees of all
#: classes together, or so many for each row.
NUMBER_ROUNDS = 100
FEWEST_ROUNDS, MOST_ROUNDS, N_BOOSTED, BOOSTED_PER_ROW = 30, 80, 240, 0.05
#: Rounds between two checks for cancellation.
ROUNDS_AT_ONCE = 5
#: Minimum and maximum number of leaves of a tree; in between, one for so many rows.
FEWEST_LEAVES, MOST_LEAVES, ROWS_OF_LEAF = 15, 31, 130
#: Share of each step that is taken, and its ridge penalty. Larger steps diverge on few rows.
RATE, RIDGE = 0.1, 1.0
#: Most columns drawn for each tree.
MOST_COLUMNS = 30
#: Bins of a number, of about equal numbers of rows, beside that of gaps; the same of many rows, and how many these are.
FEW_BINS, MANY_BINS, MANY_ROWS = 62, 254, 2000
#: Most values of a category that boosting takes as one: unknown values have a bin of their own. The same of
#: scikit-learn's.
MOST_LEVELS, MOST_LEVELS_OF_MANY = MOST_OF_CATEGORY - 1, 255
#: Minimum and maximum number of rounds of scikit-learn's boosting of classes; in between, so many trees in all.
FEWEST_OF_MANY, MOST_OF_MANY, TREES_OF_MANY = 20, 100, 400
#: Share of each of its steps that is taken, for classes and for numbers.
RATE_OF_CLASSES, RATE_OF_NUMBERS = 0.15, 0.1
#: Values that all of its trees look at together, which bound its rows, and its fewest rows.
BOOSTED_VALUES, FEWEST_BOOSTED = 8e8, 5000


def boosting(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return gradient boosting over histograms, held back where rows are few."""
    if not train.wants("boosting"):
        return {}
    if len(train.X) > OWN_BOOSTING:
        return boosting_of_many(train, test, seed)
    known, others, is_category = columns_to_boost(train, test, MOST_LEVELS)
    n, d = known.shape
    bins = np.vstack([bins_of(known[:, j], others[:, j], bool(is_category[j])) for j in range(d)])
    n_scores, start, n_rounds = 1, np.zeros(1), NUMBER_ROUNDS
    if train.n_classes:
        n_scores = train.n_classes if train.n_classes > 2 else 1
        log_prior = np.log(train.prior)
        start = log_prior if n_scores > 1 else log_prior[1:] - log_prior[:1]
        n_trees = int(max(N_BOOSTED, BOOSTED_PER_ROW * n))
        n_rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, n_trees // n_scores))
    scores = np.tile(start, (bins.shape[1], 1))
    sizes = min(20, max(3, n // 50)), min(d, MOST_COLUMNS), min(n, MOST_SEEN)
    state = np.array([seed], np.uint64), np.arange(d)
    of_columns = bins, 1 + bins.max(axis=1).astype(np.int64), is_category
    of_rows = train.y.astype(np.float64), train.weights, train.n_classes
    n_leaves = max(FEWEST_LEAVES, min(n // ROWS_OF_LEAF, MOST_LEAVES))
    for _ in range(n_rounds // ROUNDS_AT_ONCE):
        train.check()
        boost(*of_columns, *of_rows, ROUNDS_AT_ONCE, n_leaves, RATE, RIDGE, *sizes, *state, scores)
    found = scores[n:]
    if train.n_classes:
        found = softmax(found, axis=1) if n_scores > 1 else expit(np.column_stack([-found, found]))
    return {"boosting": train.within(found, 0.0)}


def boosting_of_many(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return scikit-learn's histogram boosting, of as many rows as its work allows."""
    if not train.wants("boosting"):
        return {}
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind, n_rounds, rate, n_trees, fewest = (
        HistGradientBoostingRegressor, NUMBER_ROUNDS, RATE_OF_NUMBERS, 1, OWN_BOOSTING
    )  # fmt: skip
    if train.n_classes:
        seen = np.unique(train.codes)
        if len(seen) < 2:
            return {"boosting": np.tile(np.eye(train.n_classes)[seen], (len(test), 1))}
        n_trees = len(seen) if len(seen) > 2 else 1
        n_rounds = int(np.clip(TREES_OF_MANY // n_trees, FEWEST_OF_MANY, MOST_OF_MANY))
        kind, rate, fewest = HistGradientBoostingClassifier, RATE_OF_CLASSES, FEWEST_BOOSTED
    known, others, is_category = columns_to_boost(train, test, MOST_LEVELS_OF_MANY)
    n = int(max(BOOSTED_VALUES / (n_rounds * n_trees * known.shape[1]), fewest))
    model = kind(
        learning_rate=rate,
        max_iter=n_rounds,
        l2_regularization=1.0,
        categorical_features=is_category if is_category.any() else None,
        early_stopping=False,
        random_state=seed % 2**32,
    )
    train.check()
    with _controller().limit(limits=1, user_api="openmp"):  # learners run side by side, each in a thread of its own
        model.fit(known[:n], train.y[:n], sample_weight=None if train.weight is None else train.weight[:n])
        if not train.n_classes:
            return {"boosting": np.asarray(model.predict(others), np.float64)}
        probability = np.zeros((len(test), train.n_classes))
        probability[:, model.classes_] = model.predict_proba(others)
    return {"boosting": probability}


def columns_to_boost(train: Train, test: Floats, most_levels: int) -> tuple[Floats, Floats, Bools]:
    """Return what boosting is given: codes of categories, or the mean targets in those of many values.

    Parameters
    ----------
    train : Train
        Rows with targets.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    most_levels : int
        Most values of a category that boosting takes as one.

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
            continue  # an empty column, which scikit-learn does not take
        is_coded = bool(table.is_category[column])
        if is_coded and max(np.nanmax(known), np.nanmax(others, initial=0.0)) >= most_levels:
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
    n_bins = FEW_BINS if len(known) < MANY_ROWS else MANY_BINS
    ordered = np.sort(present)
    cuts = np.unique(ordered)[1:]
    if len(cuts) >= n_bins:
        cuts = np.unique(quantiles_of(ordered, n_bins))
    return np.where(is_gap, 0, 1 + np.searchsorted(cuts, values, side="right")).astype(np.uint8)


@cache
def _controller() -> Any:
    """Look once for the libraries whose threads can be limited; scikit-learn's own are loaded by then."""
    return ThreadpoolController()
