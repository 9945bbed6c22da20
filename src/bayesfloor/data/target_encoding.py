"""Categories with many values -> shares of the classes, or means of a number, among other rows of the same value.

scikit-learn's TargetEncoder does the same, but its folds depend on the order of the rows.
"""

from collections.abc import Callable

import numpy as np

from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Most classes whose shares are taken as features; the largest ones.
MOST_CLASSES = 8
#: Rows of the prior that every value is given.
PRIOR_ROWS = 5.0
#: Folds that features of training rows are computed by.
N_FOLDS = 5


def classes_to_encode(codes: Ints, n_classes: int) -> Ints:
    """Return the classes whose shares become features: one of two, and the largest of many."""
    if n_classes == 2:
        return np.array([1])
    counts = np.bincount(codes, minlength=n_classes)
    return np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])


def class_shares(
    levels: Ints, codes: Ints, n_levels: int, n_classes: int, classes: Ints, weight: Floats | None = None
) -> Floats:
    """Return the share of each class among the rows of each value, drawn towards the share among all rows.

    Parameters
    ----------
    levels : ndarray of shape (n,)
        Value of each row, from 0 to n_levels - 1; -1 where it is missing.
    codes : ndarray of shape (n,)
        Class of each row.
    n_levels, n_classes : int
        Number of values and of classes.
    classes : ndarray
        The classes to return.
    weight : ndarray of shape (n,) or None, default=None
        What each row counts; None for 1.

    Returns
    -------
    ndarray of shape (n_levels + 2, len(classes))
        The last two lines are for missing values, and for values that no row has.
    """
    place = np.where(levels < 0, n_levels, levels)
    if weight is not None:  # in the order of weights, sums do not depend on that of the rows
        order = np.argsort(weight)
        place, codes, weight = place[order], codes[order], weight[order]
    counts = np.bincount(place * n_classes + codes, weight, (n_levels + 2) * n_classes).reshape(-1, n_classes)
    of_classes = np.bincount(codes, weight, n_classes)
    totals = np.bincount(place, weight, n_levels + 2)[:, np.newaxis]
    prior = (of_classes[classes] + 0.5) / (of_classes.sum() + 1.0)
    shares: Floats = (counts[:, classes] + PRIOR_ROWS * prior) / (totals + PRIOR_ROWS)
    return shares


def value_means(levels: Ints, y: Floats, n_levels: int, weight: Floats | None = None) -> Floats:
    """Return the mean of a number among the rows of each value, drawn towards the mean of all rows.

    Parameters
    ----------
    levels : ndarray of shape (n,)
        Value of each row, from 0 to n_levels - 1; -1 where it is missing.
    y : ndarray of shape (n,)
        The number of each row.
    n_levels : int
        Number of values.
    weight : ndarray of shape (n,) or None, default=None
        What each row counts; None for 1.

    Returns
    -------
    ndarray of shape (n_levels + 2, 1)
        The last two lines are for missing values, and for values that no row has.
    """
    place = np.where(levels < 0, n_levels, levels)
    mass = np.ones(len(y)) if weight is None else weight
    # in the order of values, sums do not depend on that of the rows
    order, by_value = np.lexsort((mass, y, place)), np.lexsort((mass, y))
    centre = float(np.average(y[by_value], weights=mass[by_value])) if len(y) else 0.0
    sums = np.bincount(place[order], mass[order] * (y[order] - centre), minlength=n_levels + 2)
    rows = np.bincount(place[order], mass[order], minlength=n_levels + 2)
    return (centre + sums / (rows + PRIOR_ROWS))[:, np.newaxis]


def out_of_fold_shares(
    levels: Ints,
    codes: Ints,
    n_levels: int,
    n_classes: int,
    classes: Ints,
    folds: Ints,
    weight: Floats | None = None,
) -> Floats:
    """Return the shares that each row's value has among the rows of the other folds; see `class_shares`."""

    def learn(rows: Bools) -> Floats:
        of_rows = None if weight is None else weight[rows]
        return class_shares(levels[rows], codes[rows], n_levels, n_classes, classes, of_rows)

    return _out_of_fold(levels, n_levels, folds, learn)


def out_of_fold_means(levels: Ints, y: Floats, n_levels: int, folds: Ints, weight: Floats | None = None) -> Floats:
    """Return the mean that each row's value has among the rows of the other folds; see `value_means`."""

    def learn(rows: Bools) -> Floats:
        return value_means(levels[rows], y[rows], n_levels, None if weight is None else weight[rows])

    return _out_of_fold(levels, n_levels, folds, learn)


def _out_of_fold(levels: Ints, n_levels: int, folds: Ints, learn: Callable[[Bools], Floats]) -> Floats:
    """Look up each row's value in what `learn` makes of the rows of the other folds."""
    parts: list[tuple[Bools, Floats]] = []
    for fold in range(int(folds.max(initial=0)) + 1):
        held_out, others = folds == fold, folds != fold
        learnt = learn(others)
        # a value that no other fold has is not known there
        is_known = np.bincount(levels[others] + 1, minlength=n_levels + 1)[1:] > 0
        place = np.where(levels[held_out] < 0, n_levels, levels[held_out])
        place = np.where((levels[held_out] >= 0) & ~np.append(is_known, True)[place], n_levels + 1, place)
        parts.append((held_out, learnt[place]))
    encoded = np.empty((len(levels), parts[0][1].shape[1]))
    for held_out, values in parts:
        encoded[held_out] = values
    return encoded
