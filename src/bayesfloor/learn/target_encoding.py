"""Categories with many values -> the mean targets of other rows with the same value."""

import numpy as np

from bayesfloor.data.target_encoding import (
    N_FOLDS,
    class_shares,
    classes_to_encode,
    out_of_fold_means,
    out_of_fold_shares,
    value_means,
)
from bayesfloor.learn.training_rows import Codes, Train
from bayesfloor.runtime.arrays import Floats, Ints


def encoded(table: Codes, column: int, train: Train, classes: Ints | None = None) -> tuple[Floats, Floats]:
    """Return the mean targets in a category, for training rows from other training rows.

    Parameters
    ----------
    table : Codes
        The columns as codes.
    column : int
        Which of them.
    train : Train
        The training rows; their order is random.
    classes : ndarray or None, default=None
        The classes whose shares are taken; None for the largest.

    Returns
    -------
    train, test : ndarray of shape (n, n_encoded)
        Shares of the classes, or the mean number, drawn towards those of all rows. Missing values are a category; new
        ones have the mean of all.
    """
    levels, others = (_levels(side[:, column]) for side in (table.train, table.test))
    n_levels = 1 + max(int(levels.max(initial=0)), int(others.max(initial=0)))
    folds = np.arange(len(levels)) % N_FOLDS
    if train.n_classes:
        used = classes_to_encode(train.codes, train.n_classes) if classes is None else classes
        known = out_of_fold_shares(levels, train.codes, n_levels, train.n_classes, used, folds)
        means = class_shares(levels, train.codes, n_levels, train.n_classes, used)
    else:
        known = out_of_fold_means(levels, train.y, n_levels, folds, train.weight)
        means = value_means(levels, train.y, n_levels, train.weight)
    seen = np.bincount(levels + 1, minlength=n_levels + 1)[1:] > 0
    place = np.where(others < 0, n_levels, others)
    place = np.where((others >= 0) & ~np.append(seen, True)[place], n_levels + 1, place)
    return known, means[place]


def _levels(values: Floats) -> Ints:
    return np.where(np.isnan(values), -1.0, values).astype(np.int64)
