"""Families of classes that look at one column at a time: as numbers in order, or as values without one."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, xlogy

from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.learn.decision_trees import grow_ensemble, numbers_of_table
from bayesfloor.learn.discriminants import fit_logistic, linear_discriminant, shares_of
from bayesfloor.learn.later import beside, of_rows, repeated
from bayesfloor.learn.training_rows import Codes, Train, narrow, standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Values of a nominal column: the fewest, the most, and rows for each of them on average.
FEWEST_VALUES, MOST_VALUES, ROWS_OF_VALUE = 3, 600, 2
#: Names say so much of the classes, as a z-score, and neighbouring ones differ by this share of what distant ones do.
NAMES_Z, NEIGHBOURS_SHARE = 2.0, 0.6
#: What stands for a gap among the values of a column: no number that is read is as large.
GAP = np.finfo(np.float64).max
#: Most indicators of values in the logistic regression.
MOST_INDICATORS = 600
#: Trees of shares, fewest rows in their leaves, and most of their features that are shares of the classes.
N_TREES, MIN_LEAF, MOST_SHARES = 100, 2, 64


def marginals(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return LDA of normal scores."""
    return train.asked_for({"LDA of ranks": lambda: linear_discriminant(*narrow(*_normal_scores(train, test)))})


def _normal_scores(train: Train, test: Floats) -> tuple[Train, Floats]:
    """Return features whose ranks are those of normal variables."""
    n = len(train.X)
    values, scores = [], []
    ranks = ndtri((np.arange(n) + 0.5) / n)
    for line in np.sort(np.ascontiguousarray(train.X.T), axis=1):
        first = np.flatnonzero(np.append(True, line[1:] > line[:-1]))
        if len(first) <= 2:  # scores of two values are those values, standardised
            first = first[:0]
        count = np.diff(first, append=n)
        values.append(line[first])
        scores.append(ranks[np.minimum(first + count // 2, n - 1)])
    known, others = (_interpolated(rows, tuple(values), tuple(scores)) for rows in (train.X, test))
    points, rest = standardised(known, others)
    return Train(points, train.codes, train.n_classes), rest


@of_rows
def _interpolated(rows: Floats, values: tuple[Floats, ...], scores: tuple[Floats, ...]) -> Floats:
    """Return the score of each value, from those of known ones; columns without any stay as they are."""
    columns = np.array(rows.T, order="C")
    for j, known in enumerate(values):
        if len(known):
            columns[j] = np.interp(columns[j], known, scores[j])
    return columns.T


def log_ratios(bins: Ints, n_bins: int, train: Train) -> Floats:
    """Return the logarithm of how much more probable each bin is in a class than in all."""
    counts = np.bincount(bins * train.n_classes + train.codes, minlength=n_bins * train.n_classes)
    table = counts.reshape(n_bins, train.n_classes)
    of_all = (table.sum(axis=1, keepdims=True) + 1.0) / (len(bins) + n_bins)
    return np.log((table + 2.0 * of_all) / (train.counts + 2.0) / of_all)


# --- values without an order


def is_nominal(X: Floats) -> Bools:
    """Tell which columns have few values, each of them in several rows, and so may be names that were numbered."""
    n_values = 1 + (np.diff(np.sort(X, axis=0), axis=0) > 0).sum(axis=0)
    return (n_values >= FEWEST_VALUES) & (n_values <= min(MOST_VALUES, len(X) // ROWS_OF_VALUE))


class Values(NamedTuple):
    """A column whose values are taken for names.

    Attributes
    ----------
    train, test : ndarray of shape (n,)
        The number of each row's value; `n_values` for those that no training row has.
    n_values : int
        Values of the training rows.
    score : float
        z-score of what is lost where values are taken together that are far from each other.
    """

    train: Ints
    test: Ints
    n_values: int
    score: float


def nominal(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return naive Bayes and logistic regression of values, and randomised trees of the classes' shares in each."""
    names = "value naive Bayes", "value logistic", "trees of shares"
    if not train.wants(*names):
        return {}
    if train.table is not None:
        known, others, is_value = train.table
    else:
        known, others, is_value = train.X, test, is_nominal(train.X)
    columns = [_values_of(known[:, j], others[:, j], train) for j in np.flatnonzero(is_value)]
    if train.table is None:
        columns = [column for column in columns if column.score > 0]
        if not columns:
            prior = repeated(test, train.prior)
            return train.asked_for(dict.fromkeys(names, lambda: prior))
    by_score = sorted(columns, key=lambda column: -column.score)
    return train.asked_for({
        "value naive Bayes": lambda: _naive_bayes_of_values(columns, train, test),
        "value logistic": lambda: _logistic_of_values(by_score, train, test),
        "trees of shares": lambda: _trees_of_shares(by_score, train, test, seed),
    })  # fmt: skip


def _naive_bayes_of_values(columns: list[Values], train: Train, test: Floats) -> Floats:
    """Return naive Bayes of values; one that no training row has says nothing."""
    log_p = repeated(test, np.log(train.prior))
    for column in columns:
        table = np.vstack([log_ratios(column.train, column.n_values, train), np.zeros(train.n_classes)])
        log_p = _with_line_of(log_p, column.test, table)
    return shares_of(log_p)


@of_rows
def _with_line_of(log_p: Floats, places: Ints, table: Floats) -> Floats:
    """Add the line of a table that each row has."""
    return log_p + table[places]


def _trees_of_shares(columns: list[Values], train: Train, test: Floats, seed: int) -> Floats:
    """Return randomised trees of the classes' shares in each value."""
    table = _with_values(columns, train, test) if train.table is None else train.table
    known, others = numbers_of_table(train, table)
    return grow_ensemble(train._replace(X=known), others, seed, N_TREES, MIN_LEAF).deep


def _values_of(known: Floats, others: Floats, train: Train) -> Values:
    """Number the values of a column; a gap is a value as well."""
    values, numbers = np.unique(np.where(np.isnan(known), GAP, known), return_inverse=True)
    return Values(numbers, _places_among(others, values), len(values), _score_of_names(numbers, train))


@of_rows
def _places_among(others: Floats, values: Floats) -> Ints:
    """Return the number of each value among known ones, which are sorted, and how many there are for any other."""
    others = np.where(np.isnan(others), GAP, others)
    place = np.minimum(np.searchsorted(values, others), len(values) - 1)
    return np.where(values[place] == others, place, len(values))


def _score_of_names(numbers: Ints, train: Train) -> float:
    """Return how much values say of the classes beyond their order, as a z-score; 0 for numbers, and for noise.

    Values are taken together two by two, once neighbours and once values that are far apart. Where order matters,
    neighbours are alike, and less is lost by the former.
    """
    half = int(numbers.max()) // 2 + 1
    dof = max(half - 1, 1) * max(int((train.counts > 0).sum()) - 1, 1)
    whole = _information(numbers, train)
    near, far = (2.0 * (whole - _information(merged, train)) - dof for merged in (numbers // 2, numbers % half))
    z = far / np.sqrt(2.0 * dof)
    return float(z) if z > NAMES_Z and near > NEIGHBOURS_SHARE * far else 0.0


def _information(cells: Ints, train: Train) -> float:
    """Return the sum of n log(n / N) over cells and classes, of n rows of a class among N in a cell."""
    counts = np.bincount(cells * train.n_classes + train.codes, minlength=(cells.max() + 1) * train.n_classes)
    counts = counts.reshape(-1, train.n_classes)
    totals = counts.sum(axis=1)
    return float(xlogy(counts, counts).sum() - xlogy(totals, totals).sum())


def _logistic_of_values(columns: list[Values], train: Train, test: Floats) -> Floats:
    """Return logistic regression of the features and of indicators of values, from the column that says most on."""
    taken: list[Values] = []
    for column in columns:  # one that is too wide leaves the others their room
        if sum(each.n_values for each in taken) + column.n_values <= MOST_INDICATORS:
            taken.append(column)
    known = [np.eye(column.n_values)[column.train] for column in taken]
    others = [_indicators(column.test, column.n_values) for column in taken]
    return fit_logistic(np.hstack([train.X, *known]), train, beside(test, *others))


@of_rows
def _indicators(places: Ints, n_values: int) -> Floats:
    """Return a column of 0 and 1 for each value; none of them for one that is not known."""
    return np.eye(n_values + 1)[places, :-1]


def _with_values(columns: list[Values], train: Train, test: Floats) -> Codes:
    """Return the features and, as categories beside them, the columns whose values say most."""
    taken = columns[: MOST_SHARES // len(classes_to_encode(train.codes, train.n_classes))]
    known, others = [column.train for column in taken], [column.test for column in taken]
    is_category = np.arange(train.X.shape[1] + len(taken)) >= train.X.shape[1]
    return Codes(beside(train.X, *known), beside(test, *others), is_category)
