"""Learners of tables: categories as codes, gaps as gaps."""

from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from bayesfloor.data.target_encoding import N_FOLDS, class_shares, classes_to_encode, out_of_fold_shares
from bayesfloor.floor.learned.training_rows import Codes, Train
from bayesfloor.floor.learned.tree_kernels import grow_trees
from bayesfloor.runtime.arrays import Floats, Ints

#: Trees of one class in boosting, all classes together, and the fewest rounds.
N_ROUNDS, MOST_TREES, FEWEST_ROUNDS = 100, 400, 25
#: Most values of a category that boosting takes as one; the limit of scikit-learn is that of its bins.
MOST_LEVELS = 63
#: Randomised trees, trees between two checks for cancellation, and fewest rows in a leaf.
N_TREES, TREES_AT_ONCE, MIN_LEAF = 100, 5, 2


def tables(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return boosted trees, and randomised trees of the classes' shares in each category."""
    table = train.table
    if table is None:
        table = Codes(train.X, test, np.zeros(train.X.shape[1], bool))
    return {
        "boosting": _boosting(train, table, seed),
        "trees of shares": _trees_of_shares(train, table, seed),
    }


def _boosting(train: Train, table: Codes, seed: int) -> Floats:
    """Return scikit-learn's histogram boosting, held back where rows are few."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    n = len(train.codes)
    probability = np.zeros((len(table.test), train.n_classes))
    seen = np.unique(train.codes)
    if len(seen) < 2:
        probability[:, seen] = 1.0
        return probability
    known, others, is_category = _few_levels(train, table)
    is_empty = np.isnan(known).all(axis=0)  # which scikit-learn does not take
    known, others = np.where(is_empty, 0.0, known), np.where(is_empty, 0.0, others)
    n_trees = len(seen) if len(seen) > 2 else 1
    model = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=max(FEWEST_ROUNDS, min(N_ROUNDS, MOST_TREES // n_trees)),
        max_leaf_nodes=15,
        min_samples_leaf=min(20, max(3, n // 50)),
        l2_regularization=1.0,
        max_bins=MOST_LEVELS,
        categorical_features=is_category if is_category.any() else None,
        early_stopping=False,
        random_state=seed % 2**32,
    )
    train.check()
    with _controller().limit(limits=1, user_api="openmp"):  # learners run side by side, each in a thread of its own
        model.fit(known, train.codes)
        probability[:, model.classes_] = model.predict_proba(others)
    return probability


@cache
def _controller() -> ThreadpoolController:
    """Look once for the libraries whose threads can be limited; scikit-learn's own are loaded by then."""
    return ThreadpoolController()


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


def _trees_of_shares(train: Train, table: Codes, seed: int) -> Floats:
    """Return extremely randomised trees; gaps lie below all numbers."""
    pieces = []
    for column in range(table.train.shape[1]):
        if table.is_category[column]:
            pieces.append(shares_of(table, column, train))
        else:
            pieces.append(_with_gaps_below(table.train[:, column], table.test[:, column]))
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    n_features = known.shape[1]
    probability, importance = np.zeros((len(others), train.n_classes)), np.zeros(n_features)
    n_tries = min(n_features, max(10, min(n_features // 3, 40)))
    columns, features = np.ascontiguousarray(known.T), np.arange(n_features)
    state, others = np.array([seed], np.uint64), np.ascontiguousarray(others)
    for _ in range(N_TREES // TREES_AT_ONCE):
        train.check()
        grow_trees(
            columns,
            train.codes,
            train.n_classes,
            others,
            TREES_AT_ONCE,
            n_tries,
            MIN_LEAF,
            state,
            features,
            probability,
            importance,
        )
    return probability


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
