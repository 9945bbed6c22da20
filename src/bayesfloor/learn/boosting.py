"""Gradient boosting over histograms, of categories as codes and gaps as gaps, for classes and numbers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayesfloor.learn.boosting_kernels import MOST_NODES, MOST_OF_CATEGORY, MOST_SEEN, Columns, Trees, add_trees, boost
from bayesfloor.learn.learner import Fitted, Learner, Output, Rows
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.training_rows import TargetMeans, Train, distinct, quantiles_of, target_means
from bayesfloor.runtime.arrays import Bools, Floats, Ints

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


@record
class BoostedColumns(Record):
    """Columns that are boosted: the features, or of a table codes, and the mean targets in categories of many values.

    Attributes
    ----------
    columns : tuple of int or None
        Those of the table; None for the features.
    means : tuple of (TargetMeans or None)
        What codes are replaced by.
    is_category : ndarray of shape (n_boosted,)
        Which of them hold codes.
    """

    columns: tuple[int, ...] | None
    means: tuple[TargetMeans | None, ...]
    is_category: Bools

    @classmethod
    def of_train(cls, train: Train) -> tuple[Floats, "BoostedColumns"]:
        """Return the columns of training rows, and how to get those of others."""
        table = train.table
        pieces: list[Floats] = []
        columns: list[int] = []
        of_columns: list[TargetMeans | None] = []
        is_category: list[bool] = []
        for column in range(0 if table is None else table.values.shape[1]):
            assert table is not None
            known, means = table.values[:, [column]], None
            if not np.isfinite(known).any():
                continue  # an empty column
            is_coded = bool(table.is_category[column])
            if is_coded and np.nanmax(known) >= MOST_LEVELS:
                known, means = target_means(table.values[:, column], train)
                is_coded = False
            pieces.append(known)
            columns.append(column)
            of_columns.append(means)
            is_category += known.shape[1] * [is_coded]
        if not pieces:
            return train.X, cls(None, (), np.zeros(train.X.shape[1], bool))
        return np.column_stack(pieces), cls(tuple(columns), tuple(of_columns), np.array(is_category))

    def of(self, rows: Rows) -> Floats:
        """Return the columns of rows."""
        if self.columns is None:
            return rows.X
        assert rows.codes is not None
        pieces = [
            rows.codes[:, [column]] if means is None else means.of(rows.codes[:, column])
            for column, means in zip(self.columns, self.means, strict=True)
        ]
        return np.column_stack(pieces)


@record
class FittedBoosting(Fitted):
    """Trees that add up to scores.

    Attributes
    ----------
    name : str
        Of the output.
    columns : BoostedColumns
        What trees are given.
    cuts : tuple of ndarray
        Where columns of numbers are cut into bins.
    start : ndarray of shape (n_scores,)
        What trees are added to.
    column, left, child, value : ndarray of shape (n_rounds, n_scores, n_nodes)
        Columns, bins to the left, children and values of nodes.
    are_classes : bool
        Whether scores become probabilities.
    """

    name: str
    columns: BoostedColumns
    cuts: tuple[Floats, ...]
    start: Floats
    column: Ints
    left: NDArray[np.uint64]
    child: Ints
    value: Floats
    are_classes: bool

    def check(self) -> None:
        """Every node leads on to nodes behind it."""
        column, child, n_columns = self.column, self.child, len(self.columns.is_category)
        require(column.ndim == 3 and column.shape[2] <= MOST_NODES)
        require(len({each.shape for each in (column, self.left, child, self.value)}) == 1)
        require(column.shape[1] == len(self.start) and (column >= -1).all() and (column < n_columns).all())
        # a leaf has no children; what lies behind the last node was never written
        is_split = column >= 0
        node = np.broadcast_to(np.arange(column.shape[2]), column.shape)
        require((child[is_split] > node[is_split]).all() and (child[is_split] + 1 < column.shape[2]).all())

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return probabilities, or numbers."""
        is_category = self.columns.is_category
        bins = bins_by(self.columns.of(rows), self.cuts, is_category)
        scores = scores_by(bins, is_category, self.start, Trees(self.column, self.left, self.child, self.value))
        return {self.name: shares_of(scores) if self.are_classes else scores[:, 0]}


@dataclass(frozen=True, eq=False)
class Boosting(Learner):
    """Gradient boosting over histograms, held back where rows are few."""

    pace: Pace = STEADY

    name = "boosting"
    outputs = (Output("boosting", "tree"),)
    takes_weights = True

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Boost trees."""
        n, n_scores, n_rounds, rate, pace = len(train.X), 1, NUMBER_ROUNDS, NUMBER_RATE, self.pace
        if train.n_classes:
            n_scores = train.n_classes if train.n_classes > 2 else 1
            most = max(MOST_OF_FEW, min(MOST_OF_MANY * n // MANY_ROWS, MOST_OF_MANY))
            wanted = min(most, int(max(N_TREES, TREES_PER_ROW * n)) // n_scores)
            pace = pace if n >= MANY_ROWS else STEADY._replace(most_leaves=pace.most_leaves)
            n_rounds, rate = max(FEWEST_ROUNDS, int(pace.rounds * wanted)), pace.rate
        train = train.first(max(FEWEST_ROWS, min(ROWS_OF_TREES // (n_rounds * n_scores), pace.most_rows)))
        known, columns = BoostedColumns.of_train(train)
        n, d = known.shape
        is_category = columns.is_category
        cuts = tuple(cuts_of(known[:, j], bool(is_category[j])) for j in range(d))
        bins = bins_by(known, cuts, is_category)
        start = prior_scores(train.prior) if train.n_classes else np.zeros(1)
        scores = np.tile(start, (n, 1))
        sizes = min(20, max(3, n // 50)), min(d, MOST_COLUMNS), min(n, MOST_SEEN)
        state = np.array([seed], np.uint64), np.arange(d)
        of_columns = Columns(bins.T.copy(), bins, 1 + bins.max(axis=1).astype(np.int64), is_category)
        of_targets = train.y.astype(np.float64), train.weights, train.n_classes
        trees = Trees.unsplit(n_rounds, n_scores, max(FEWEST_LEAVES, min(n // ROWS_OF_LEAF, pace.most_leaves)))
        for first in range(0, n_rounds, ROUNDS_AT_ONCE):
            train.check()
            now = trees.at(slice(first, first + ROUNDS_AT_ONCE))
            boost(of_columns, *of_targets, rate, RIDGE, *sizes, *state, scores, now)
        return FittedBoosting(self.name, columns, cuts, start, *trees, train.n_classes > 0)


def prior_scores(prior: Floats) -> Floats:
    """Return a score for each class, or the log-odds of the second of two, as the shares of the classes have it."""
    log_prior = np.log(prior)
    return log_prior if len(prior) > 2 else log_prior[1:] - log_prior[:1]


def scores_by(bins: NDArray[np.uint8], is_category: Bools, start: Floats, trees: Trees) -> Floats:
    """Return what trees that were kept add up to."""
    if len(bins) != len(is_category):
        raise ValueError(f"trees of {len(is_category)} columns are given {len(bins)}")
    scores = np.tile(start, (bins.shape[1], 1))
    add_trees(bins.T, is_category, trees, scores)
    return scores


def shares_of(scores: Floats) -> Floats:
    """Return probabilities, from a score for each class, or from the log-odds of the second of two."""
    if scores.shape[1] > 1:
        return np.asarray(softmax(scores, axis=1))
    return np.asarray(expit(np.column_stack([-scores, scores])))


def cuts_of(known: Floats, is_category: bool) -> Floats:
    """Return where a column of numbers is cut into bins; nowhere where it holds codes."""
    present = known[~np.isnan(known)]
    low, high = present.min(initial=np.inf), present.max(initial=-np.inf)
    if is_category or not low < high:
        return np.empty(0)
    if np.all((present == low) | (present == high)):  # which need no sorting
        return np.array([high], np.float64)
    n_bins = max(FEWEST_BINS, min(len(known) // ROWS_OF_BIN, MOST_BINS))
    ordered = np.sort(present).astype(np.float64)
    cuts = distinct(ordered)[1:]
    return distinct(quantiles_of(ordered, n_bins)) if len(cuts) >= n_bins else cuts


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
